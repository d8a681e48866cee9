"""Places for work that requests wait for: who waits holds no thread, and no user holds them all.

A lane has a number of places, and one user may hold some of them only, so that another finds one
free. Those who wait are served in turn: first the users that hold fewest places.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from srs_service.errors import TooMany

PATIENCE = 20.0  # seconds that a request waits for a place
MAX_WAITING = 100  # requests of one user that wait


@dataclass(frozen=True)
class LaneSize:
    """How many may work at once: in all, and of one user."""

    total: int
    per_user: int


class Lane:
    """Places of one kind of work, in one event loop.

    what  that is done here, in the plural: for refusals
    """

    def __init__(self, what: str, size: LaneSize, patience: float = PATIENCE) -> None:
        self._what = what
        self._size = size
        self._patience = patience
        self._held: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @property
    def n_held(self) -> int:
        return self._held.total()

    @property
    def n_waiting(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def place(self, owner: str) -> AsyncIterator[None]:
        """A place for one piece of work; TooMany if there is none in time."""
        await self._take(owner)
        try:
            yield
        finally:
            self._held[owner] -= 1
            if not self._held[owner]:
                del self._held[owner]
            self._serve()

    async def _take(self, owner: str) -> None:
        mine = sum(1 for who, _ in self._waiting if who == owner)
        if mine >= MAX_WAITING:
            raise self._too_many(f"{mine} {self._what} of yours wait: try again when some are done")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((owner, turn))
        self._serve()
        try:
            async with asyncio.timeout(self._patience):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():  # its turn came, and nobody is there
                self._held[owner] -= 1
            self._waiting = [entry for entry in self._waiting if entry[1] is not turn]
            self._serve()
            if isinstance(error, TimeoutError):
                raise self._too_many(f"too many {self._what} at once: try again") from None
            raise

    def _serve(self) -> None:
        """Give free places to those whose turn it is."""
        while self.n_held < self._size.total:
            fitting = [e for e in self._waiting if self._held[e[0]] < self._size.per_user]
            if not fitting:
                return
            entry = min(fitting, key=lambda e: self._held[e[0]])  # the first of equals
            self._waiting.remove(entry)
            owner, turn = entry
            if not turn.done():
                self._held[owner] += 1
                turn.set_result(None)

    @staticmethod
    def _too_many(why: str) -> TooMany:
        return TooMany(f"{why}.", retry_after=5)
