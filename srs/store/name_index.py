"""Look up by name where several may have the same one: genes of repeated symbols, for example."""

from __future__ import annotations

from collections.abc import Iterable


class NameIndex:
    """Numbers by name, in their order.

    >>> index = NameIndex(["a", "b", "a"])
    >>> index.find("a"), index.find("c")
    ([0, 2], [])
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._first: dict[str, int] = {}
        self._others: dict[str, list[int]] = {}  # few, so most names have no list of their own
        for number, name in enumerate(names):
            if self._first.setdefault(name, number) != number:
                self._others.setdefault(name, []).append(number)

    def find(self, name: str) -> list[int]:
        """All numbers of a name."""
        if name not in self._first:
            return []
        return [self._first[name], *self._others.get(name, ())]
