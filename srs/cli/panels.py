"""Help of commands with many options, in panels: the settings by group, then all other options."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperCommand

from srs.cli.kinds import name_kinds
from srs.cli.setting_options import PANELS

OTHERS = "Options"


class CommandWithPanels(TyperCommand):
    """Plain help that keeps the panels of options, which typer shows only in its rich help."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        name_kinds(self.params)
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            panel = getattr(parameter, "rich_help_panel", None) or OTHERS
            if isinstance(parameter, TyperArgument):
                panel = "Arguments"
            panels.setdefault(panel, []).append(record)
        for title in ("Arguments", *PANELS, OTHERS):
            if title in panels:
                with formatter.section(title):
                    formatter.write_dl(panels[title])
