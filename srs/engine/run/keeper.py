"""What keeps the state of a run in its folder: when a checkpoint is written, and which fits."""

from __future__ import annotations

import logging
from pathlib import Path
from time import monotonic
from typing import Any

from srs.engine.checkpoint import has_checkpoint, read_checkpoint, write_checkpoint
from srs.engine.context import RunContext
from srs.engine.state import ENDED, State
from srs.errors import CheckpointError

CHECKPOINT_SECONDS = 5.0  # between two checkpoints within a round
SYNC_SHARE = 0.05  # of the time may be spent on syncing them to the disk

log = logging.getLogger("srs")


class Keeper:
    """Writes and reads the checkpoints of one run.

    folder  where they are; None: nowhere
    """

    def __init__(self, context: RunContext, folder: Path | None) -> None:
        self.folder = folder
        self._context = context
        self._saved = self._synced = monotonic()
        self._sync_seconds = 0.0
        self._newest_synced = True
        self._n_restored = 0

    def _identity(self) -> dict[str, Any]:
        """What must be equal for a checkpoint to be continued."""
        settings = self._context.settings.to_json()
        for name in ("allowed_mem", "max_trees", "max_passes", "max_seconds"):
            settings.pop(name)  # a run may be continued with more of these
        settings["subspace_size"] = self._context.shape.subspace_size
        store = self._context.store
        found = {"settings": settings, "fingerprint": store.fingerprint}
        if (mark := store.added_mark(self._context.settings.target)) is not None:
            found["target"] = mark
        return found

    def save(self, state: State, sync: bool = True) -> None:
        """Write a checkpoint into the folder of the run."""
        assert self.folder is not None
        header, arrays = state.pack()
        header["identity"] = self._identity()
        started = monotonic()
        write_checkpoint(self.folder, header, arrays, sync=sync, keep_newest=self._newest_synced)
        self._saved, self._newest_synced = monotonic(), sync
        if sync:
            self._synced, self._sync_seconds = self._saved, self._saved - started

    def save_if_due(self, state: State) -> None:
        """Try to save, if the last checkpoint is some seconds old."""
        if monotonic() - self._saved > CHECKPOINT_SECONDS:
            self.try_to_save(state)

    def try_to_save(self, state: State) -> None:
        """Write a checkpoint, if the run has a folder; it is synced where that is not too dear.

        One that cannot be written does not end the run: the one before stays.
        """
        if self.folder is None:
            return
        try:
            self.save(state, sync=monotonic() - self._synced >= self._sync_seconds / SYNC_SHARE)
        except OSError as error:
            self._saved = monotonic()
            log.warning("%s", self._not_saved(error))

    def _not_saved(self, error: OSError) -> str:
        assert self.folder is not None
        kept = "the one before it is kept" if has_checkpoint(self.folder) else "there is none yet"
        return f"the checkpoint in {self.folder} could not be written ({error.strerror}); {kept}."

    def restore(self) -> State:
        """The state of the checkpoint in the folder of the run."""
        assert self.folder is not None
        header, arrays, notice = read_checkpoint(self.folder)
        if notice is not None:
            log.warning("%s", notice)
        if "n_steps" not in header:
            raise CheckpointError(
                f"the checkpoint in {self.folder} was written by an earlier version, which decided "
                "by another rule. Start without --resume, or finish the run with that version."
            )
        mine, its = self._identity(), header["identity"]
        if mine != its:
            names = [k for k in mine["settings"] if mine["settings"][k] != its["settings"].get(k)]
            what = "the data" if mine["fingerprint"] != its["fingerprint"] else ", ".join(names)
            what = what or "the values of the target"
            raise CheckpointError(
                f"the checkpoint in {self.folder} belongs to another run: {what} changed. Use the "
                f"same settings and data, or start without --resume."
            )
        state = State.unpack(header, arrays)
        self._n_restored = _n_done(state)
        return state

    def keep(self, state: State) -> str:
        """Save what was gathered, if it can be continued; a sentence that says where it is."""
        if self.folder is None:
            return "it had no folder for a checkpoint."
        trouble = ""
        if not state.changing and _n_done(state) > self._n_restored:
            try:
                self.save(state)
            except OSError as error:
                trouble = self._not_saved(error) + " "
        if not has_checkpoint(self.folder):
            return trouble + "it had not yet reached its first checkpoint."
        return trouble + (
            f"the work so far is in the checkpoint in {self.folder} ({state.n_trees} trees "
            "were grown): repeat the command with --resume to continue."
        )


def _n_done(state: State) -> int:
    """Trees, and steps of kinds of evidence: what is worth a checkpoint."""
    return state.n_trees + sum(1 if n == ENDED else n for n in state.n_steps.values())
