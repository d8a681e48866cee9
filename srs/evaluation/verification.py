"""Repeat a run from what its folder says, and compare every byte but those that were measured.

The folder of a run names its store, its settings and its seed; the fingerprint says whether the
store still holds the same data. What was measured (times, memory, versions) differs, and so does
the report, which shows it.
"""

from __future__ import annotations

import inspect
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from srs.display import card
from srs.errors import InputError
from srs.results.result import JSON_NAME, Result, load_result
from srs.selection.select import select
from srs.store import open_store

NOT_REPEATABLE = ("asked to finish", "seconds was reached")  # see `srs.engine.loop`


@dataclass(frozen=True, repr=False)
class Verification:
    """Whether a run could be repeated. Made by `srs.verify`.

    same         files that have the same bytes; of result.json all but the part "measured"
    different    file -> what differs
    versions     package -> its version then and now, of those that changed
    fingerprint  of the data
    """

    same: tuple[str, ...]
    different: Mapping[str, str]
    versions: Mapping[str, tuple[str | None, str | None]]
    fingerprint: str

    @property
    def ok(self) -> bool:
        """Whether everything is the same."""
        return not self.different

    def __repr__(self) -> str:
        return f"<Verification: {self.describe()}>"

    def _repr_html_(self) -> str:
        facts = {"same": ", ".join(self.same), "versions": _versions(self.versions)}
        return card(self.describe(), facts, ("file", "differs in"), list(self.different.items()))

    def describe(self) -> str:
        """The outcome in one line."""
        if self.ok:
            return f"repeated with the same bytes in {', '.join(self.same)}"
        return f"repeated with differences in {', '.join(self.different)}"

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self)}


def verify(
    run: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    feature_sets: Any = None,
    threads: int | None = None,
    on_progress: Callable[[Any], None] | None = None,
) -> Verification:
    """Repeat the run of a folder, and compare.

    store         the feature store, if it is not where the run found it
    feature_sets  those of the run, if it tested any; None: the file that its run.toml names
    threads       None: all cores; the result does not depend on it
    """
    folder = Path(run)
    before = load_result(folder)
    _refuse_limits(before)
    where = store if store is not None else before.document["measured"]["store"]
    if where is None:
        raise InputError(f"{folder} does not say where its data are: give the store.")
    opened = before.part_of(open_store(where))
    expected = before.document["data"]["fingerprint"]
    if opened.fingerprint != expected:
        raise InputError(
            f"{where} has other data than the run: its fingerprint is {opened.fingerprint}, that "
            f"of the run {expected}."
        )
    sets = feature_sets if feature_sets is not None else _sets_of(folder, before)
    repeated = select(
        opened,
        **settings_of(before),
        feature_sets=sets,
        threads=threads,
        on_progress=on_progress,
    )
    with tempfile.TemporaryDirectory(prefix="srs-") as other:
        repeated.save(other)
        same, different = compare_folders(folder, Path(other))
    return Verification(tuple(same), different, _changed_versions(before, repeated), expected)


def settings_of(result: Result) -> dict[str, Any]:
    """The settings of a result as arguments of `srs.select`."""
    known = set(inspect.signature(select).parameters)
    settings = dict(result.document["settings"])
    settings["memory"] = settings.pop("allowed_mem")
    settings.pop("keep_trees", None)  # trees are written to the folder of a run
    unknown = sorted(set(settings) - known)
    if unknown:
        raise InputError(f"this version of srs does not know the setting {unknown[0]!r}.")
    return settings


def _refuse_limits(result: Result) -> None:
    """A run that the clock or somebody ended cannot be repeated to the same tree."""
    reason = result.stop_reason
    if any(words in reason for words in NOT_REPEATABLE):
        raise InputError(
            f"this run ended by the clock or by hand ({reason}): where it stopped does not follow "
            "from data, settings and seed, so it cannot be repeated."
        )


def _sets_of(folder: Path, result: Result) -> Any:
    """The file of feature sets that run.toml names; None if the run tested none."""
    if result.document["outcome"].get("sets") is None:
        return None
    from srs.results.record import read_record

    path = read_record(folder).get("feature_sets")
    if path is None or not Path(path).exists():
        raise InputError("the run tested feature sets: give them, or their file.")
    return path


def compare_folders(one: Path, other: Path) -> tuple[list[str], dict[str, str]]:
    """Files of a result that have the same bytes in both folders, and what differs in others."""
    same, different = [], {}
    for path in sorted(p for p in other.iterdir() if p.suffix in (".json", ".parquet")):
        mine = one / path.name
        if not mine.exists():
            different[path.name] = "it is missing"
        elif path.name == JSON_NAME:
            parts = _changed_parts(mine, path)
            if parts:
                different[path.name] = ", ".join(parts)
        elif mine.read_bytes() != path.read_bytes():
            different[path.name] = _table_difference(mine, path)
        if path.name not in different:
            same.append(path.name)
    return same, different


def _changed_parts(one: Path, other: Path) -> list[str]:
    """Parts of result.json that differ, with the keys inside; "measured" is not compared."""
    here, there = (json.loads(path.read_text(encoding="utf-8")) for path in (one, other))
    changed = []
    for part in dict.fromkeys([*here, *there]):
        a, b = here.get(part), there.get(part)
        if part == "measured" or a == b:
            continue
        inside = sorted(k for k in {*a, *b} if a.get(k) != b.get(k)) if isinstance(a, dict) else []
        changed += [f"{part}.{key}" for key in inside] or [part]
    return changed


def _table_difference(one: Path, other: Path) -> str:
    import pyarrow.parquet as pq

    equal = pq.read_table(one).equals(pq.read_table(other))
    return "the bytes, not the values (another version wrote it)" if equal else "the values"


def _changed_versions(before: Result, after: Result) -> dict[str, tuple[str | None, str | None]]:
    then, now = (r.document["measured"]["versions"] for r in (before, after))
    names = dict.fromkeys([*then, *now])
    return {n: (then.get(n), now.get(n)) for n in names if then.get(n) != now.get(n)}


def _versions(changed: Mapping[str, tuple[str | None, str | None]]) -> str:
    return ", ".join(f"{name} {then} -> {now}" for name, (then, now) in changed.items())
