"""Descriptors that other distributions bring, by entry points.

A package adds a kind of evidence, for example, by these lines of its pyproject.toml:

    [project.entry-points."srs.evidence"]
    toy = "toy_package:TOY"

What is broken or has a name that is taken is ignored with a warning: it must not keep anybody from
using the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

log = logging.getLogger("srs")

T = TypeVar("T")
# (descriptor, those before it) -> the descriptor without what others have already, and a sentence
# for each part that is ignored. ValueError: all of it.
Fit = Callable[[T, Sequence[T]], tuple[T, list[str]]]


def with_plugins(group: str, built_in: Sequence[T], fit: Fit[T] | None = None) -> tuple[T, ...]:
    """The descriptors of this package, and after them those that entry points of `group` name.

    built_in  of one type, each with a `name`; those of others must be of this type
    fit       what of a descriptor can be used beside the others
    """
    found = {name_of(one): one for one in built_in}
    for point in sorted(entry_points(group=group), key=lambda point: point.name):
        try:
            one = _load(point, type(built_in[0]))
            if name_of(one) in found:
                raise ValueError(f"there is a {name_of(one)!r} already")
            one, ignored = (one, []) if fit is None else fit(one, tuple(found.values()))
        except Exception as error:  # whatever the module of others raises
            why = str(error).rstrip(".") or type(error).__name__
            log.warning("%s of the package %s (%s) is ignored: %s.", *_say(point), group, why)
            continue
        for sentence in ignored:
            log.warning("%s of the package %s (%s): %s", *_say(point), group, sentence)
        found[name_of(one)] = one
    return tuple(found.values())


def _load(point: EntryPoint, expected: type[T]) -> T:
    one = point.load()
    if not isinstance(one, expected):
        raise TypeError(f"it is not of the type srs.{expected.__name__}")
    return one


def _say(point: EntryPoint) -> tuple[str, str]:
    """What an entry point names, and the package that has it."""
    return point.value, "unknown" if point.dist is None else point.dist.name


def name_of(descriptor: Any) -> str:
    return str(descriptor.name)
