"""What a folder is, by what it holds: asked before anything that reads data is imported.

A format says in its descriptor by which signs its folders are known. The client of the service asks
too, where nothing that reads data is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

METADATA = ("zarr.json", ".zarray", ".zgroup")  # one of them is in every zarr folder


@dataclass(frozen=True)
class FolderSigns:
    """By what a folder of a format is known. All that is said must be true of it.

    zarr    whether it is a zarr folder; None: either
    all_of  names that are in it: "obs/" is a folder, "*.csv" a file anywhere below, in small
            letters, and other names are files
    one_of  names of which at least one is in it
    """

    zarr: bool | None = None
    all_of: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(isinstance(names, tuple) for names in (self.all_of, self.one_of)):
            raise ValueError('the signs of a folder are tuples of names, e.g. ("obs/", "var/")')
        if self.zarr is None and not (self.all_of or self.one_of):
            raise ValueError("a folder needs a sign by which it is known")

    def are_in(self, folder: Path) -> bool:
        """Whether a folder has them."""
        if self.zarr is not None and is_zarr(folder) != self.zarr:
            return False
        if not all(_has(folder, name) for name in self.all_of):
            return False
        return not self.one_of or any(_has(folder, name) for name in self.one_of)


def is_zarr(folder: Path) -> bool:
    """Whether a folder is zarr, by its name or by what is in it."""
    return folder.suffix.lower() == ".zarr" or any((folder / n).is_file() for n in METADATA)


def _has(folder: Path, name: str) -> bool:
    if name.startswith("*"):
        return any(path.name.lower().endswith(name[1:]) for path in folder.rglob("*"))
    return (folder / name).is_dir() if name.endswith("/") else (folder / name).is_file()
