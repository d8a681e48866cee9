"""Options that name kinds: help lists those that are installed, when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand


class KindsCommand(TyperCommand):
    """Kinds are looked for only when help is shown: it takes longer than most commands do to start.

    What an option names is checked where it is used, as for the library.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        name_kinds(self.params)
        super().format_options(ctx, formatter)


def name_kinds(parameters: Iterable[Any]) -> None:
    """Let options that name kinds list those that are installed."""
    for parameter in parameters:
        if parameter.name in _NAMES:
            parameter.metavar = f"[{'|'.join(_NAMES[parameter.name]())}]"


def _evidence() -> Iterable[str]:
    from srs.evidence.registry import evidence_kinds

    return evidence_kinds()


def _targets() -> Iterable[str]:
    from srs.targets.registry import target_kinds

    return target_kinds()


_NAMES = {"evidence": _evidence, "target_kind": _targets}  # by parameter
