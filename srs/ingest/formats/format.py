"""What a format is: described once, and read by the library, the program, the service and the page.

The descriptors of `srs` stand beside what reads their formats, and hold functions. In formats.json
these are named as "module:function", and imported when they are used. Descriptors of other packages
may do either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from srs.errors import SourceError
from srs.ingest.formats.folders import FolderSigns

if TYPE_CHECKING:
    from srs.ingest.block import Source, Wanted

FILE, FOLDER, OBJECT = "file", "folder", "object"

# Options of `srs.ingest` that only some formats use, and what is said where they are given to
# another: an option that is ignored would give other features than the user expects.
UNUSED = {
    "orientation": "{where} says itself what its samples are: leave out the orientation.",
    "dataset": "{where} is not a file of several arrays: leave out the name {value!r} (--dataset).",
    "mask": "a mask chooses voxels, and {where} is not an image: leave it out (--mask).",
}
DEFAULTS = {"orientation": "samples", "dataset": None, "mask": None}


@dataclass(frozen=True)
class Format:
    """A kind of source.

    name        what it is called in lists; no other format has it
    title       for people, e.g. "PLINK 1"
    help        one line: what a sample and a feature are, what to say of it; options by their names
                in backticks, e.g. `dataset`, which the shell shows as --dataset
    open        (source, Wanted) -> Source; the source is a path, or an object in memory
    kinds       what it may be: FILE, FOLDER, OBJECT; some are a file or a folder
    suffixes    how names of its files end, in small letters, e.g. ".csv" and ".csv.gz"
    signs       by what its folders are known
    fits        (folder or object) -> whether it is of this format, where signs and types do not
                tell; not asked of files. It is called for sources of other formats too: it imports
                nothing that reads data
    types       public names of the classes of its objects, e.g. "pandas.DataFrame"
    options     those of UNUSED that it uses; the others are refused
    companions  suffixes of the files that must stand beside a file, e.g. ".bim"
    beside      suffixes of files that are read with it if they are there: one that begins with
                that of a companion, e.g. ".pvar.zst", stands for this
    extra       the extra of this distribution that its files, or some of them, need; None: none
    safe        whether its reader may open files of strangers: it runs no code of theirs, follows
                no link out of them, and holds no more memory than it was given
    check       (path) -> None: look at a stranger's file before it is opened; SourceError if it
                must not be
    reread      (path, Wanted, feature ids, number of features) -> values (k, n_samples): reads some
                features again where that is cheaper than opening the source; None from it, or in
                its place: the source is opened
    missing     values of a table of the samples that mean that there is none, as programs of this
                format write it
    """

    name: str
    title: str
    help: str
    open: str | Callable[[Any, Wanted], Source]
    kinds: tuple[str, ...] = (FILE,)
    suffixes: tuple[str, ...] = ()
    signs: FolderSigns | None = None
    fits: str | Callable[[Any], bool] | None = None
    types: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    extra: str | None = None
    safe: bool = False
    check: str | Callable[[Path], None] | None = None
    reread: str | Callable[..., Any] | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        listed = ("kinds", "suffixes", "types", "options", "companions", "beside", "missing")
        for name in listed:
            if not isinstance(getattr(self, name), tuple):
                raise ValueError(f"{name} of the format {self.name!r} must be a tuple")
        for suffix in self.all_suffixes:
            if not suffix.startswith(".") or suffix != suffix.lower():
                raise ValueError(
                    f"the suffix {suffix!r} of the format {self.name!r} must start with a dot and "
                    "be in small letters"
                )
        for name, known in (("kinds", (FILE, FOLDER, OBJECT)), ("options", tuple(UNUSED))):
            wrong = [one for one in getattr(self, name) if one not in known]
            if wrong:
                raise ValueError(
                    f"{name} of the format {self.name!r} cannot be {wrong[0]!r}; there are "
                    f"{', '.join(known)}"
                )

    @property
    def all_suffixes(self) -> tuple[str, ...]:
        """Of its files, and of those that belong to them."""
        return (*self.suffixes, *self.companions, *self.beside)

    @property
    def is_stored(self) -> bool:
        """Whether it is a file or a folder, and not an object in memory."""
        return FILE in self.kinds or FOLDER in self.kinds

    def is_of(self, source: Any) -> bool:
        """Whether a folder or an object is of this format.

        Classes are compared by package and name, so that no package is imported; the module in
        between is often a private one, and changes.

        >>> Format("pairs", "Pairs", "", "", types=("builtins.tuple",)).is_of((1, 2))
        True
        """
        known = {(name.split(".")[0], name.split(".")[-1]) for name in self.types}
        mro = type(source).__mro__
        if any((one.__module__.split(".")[0], one.__qualname__) in known for one in mro):
            return True
        if self.signs is not None and isinstance(source, Path) and self.signs.are_in(source):
            return True
        return self.fits is not None and bool(resolve(self.fits)(source))

    def suffix_of(self, name: str) -> str:
        """The longest of all its suffixes that a name ends with; "": none.

        >>> Format("text", "Text", "", "", suffixes=(".csv", ".csv.gz")).suffix_of("A.CSV.gz")
        '.csv.gz'
        """
        ends = (s for s in self.all_suffixes if name.lower().endswith(s))
        return max(ends, key=len, default="")

    def main_file(self, path: Path) -> Path:
        """The file that is opened, where the user named a companion of it."""
        suffix = self.suffix_of(path.name)
        if suffix not in (*self.companions, *self.beside):
            return path
        return path.with_name(path.name[: -len(suffix)] + self.suffixes[0])

    def files_of(
        self, path: Path, is_there: Callable[[Path], bool] = Path.is_file
    ) -> tuple[Path, ...]:
        """The file that is opened, its companions, and what is beside it, where the user named one
        of them.

        >>> plink = Format("p", "P", "", "", suffixes=(".bed",), companions=(".bim", ".fam"))
        >>> [file.name for file in plink.files_of(Path("x.fam"))]
        ['x.bed', 'x.bim', 'x.fam']
        """
        main = self.main_file(path)
        bare = main.name[: -len(self.suffix_of(main.name)) or None]
        there = [end for end in self.beside if is_there(main.with_name(bare + end))]
        ends = [
            end if is_there(main.with_name(bare + end)) else _stand_in(end, there)
            for end in self.companions
        ]
        ends += [end for end in there if not end.startswith(self.companions)]
        return (main, *(main.with_name(bare + end) for end in ends))

    def say_missing(self, path: Path, is_there: Callable[[Path], bool]) -> str:
        """What to say of the files of `files_of` that are not there; "" if all are.

        >>> plink = Format("p", "P", "", "", suffixes=(".bed",), companions=(".bim", ".fam"))
        >>> plink.say_missing(Path("x.bed"), lambda file: file.name != "x.fam")
        'the file x.fam is missing: x.bed, x.bim, x.fam belong together'
        """
        files = self.files_of(path, is_there) if self.companions or self.beside else ()
        missing = [file.name for file in files if not is_there(file)]
        if not missing:
            return ""
        what = f"file {missing[0]} is" if len(missing) == 1 else f"files {', '.join(missing)} are"
        together = ", ".join(file.name for file in files)
        return f"the {what} missing: {together} belong together"

    def refuse_unused(self, wanted: Wanted, where: str) -> None:
        """SourceError if the user gave an option that this format does not use."""
        for name, sentence in UNUSED.items():
            value = getattr(wanted, name)
            if value != DEFAULTS[name] and name not in self.options:
                raise SourceError(sentence.format(where=where, value=value))

    def open_source(self, source: Any, wanted: Wanted) -> Source:
        """Open a source of this format."""
        is_path = isinstance(source, Path)
        self.refuse_unused(wanted, str(source) if is_path else "the source")
        opened: Source = resolve(self.open)(self.main_file(source) if is_path else source, wanted)
        return opened

    def check_stranger(self, path: Path) -> None:
        """SourceError if a file or folder of a stranger must not be opened."""
        if not self.safe:
            raise SourceError(
                f"{self.title} files from other people are not read: their reader is not "
                "declared safe."
            )
        if self.check is not None:
            resolve(self.check)(path)

    def describe_suffixes(self) -> str:
        """Its suffixes in a list for people; "" if it has none.

        >>> Format("t", "T", "", "", suffixes=(".csv", ".tsv", ".csv.gz")).describe_suffixes()
        '.csv, .tsv (also .gz)'
        """
        packed = [s for s in self.suffixes if s.endswith(".gz")]
        plain = ", ".join(s for s in self.suffixes if s not in packed)
        also = [".gz"] * bool(packed) + ["a folder"] * (FOLDER in self.kinds and FILE in self.kinds)
        return plain + (f" (also {', '.join(also)})" if plain and also else "")

    def to_json(self) -> dict[str, Any]:
        """As JSON values; functions by name."""
        return {
            key: f"{value.__module__}:{value.__qualname__}" if callable(value) else value
            for key, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        fields = _tuples(document)
        signs = fields.get("signs")
        return cls(**{**fields, "signs": None if signs is None else FolderSigns(**_tuples(signs))})


def _stand_in(companion: str, there: list[str]) -> str:
    return next((end for end in there if end.startswith(companion)), companion)


def _tuples(document: Mapping[str, Any]) -> dict[str, Any]:
    """What JSON has as lists, as tuples."""
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in document.items()
    }


def resolve(named: str | Callable[..., Any]) -> Callable[..., Any]:
    """The function of "module:function", imported now; a function as it is."""
    if not isinstance(named, str):
        return named
    module, _, function = named.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
