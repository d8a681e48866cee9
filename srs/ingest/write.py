"""The entry: write a feature store from any source, within a memory budget.

Two threads encode a block while the next one is read. Kinds of sources are in
`srs.ingest.formats.registry`, targets in `srs.targets.parse`, the arithmetic of memory in
`srs.ingest.plan`, and the layout on disk in `srs.store`.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import srs
from srs.errors import SourceError
from srs.ingest.block import Source, Wanted, float_values
from srs.ingest.encode.encoder import Encoded, Encoder, Piece
from srs.ingest.encode.recategorise import Recategoriser
from srs.ingest.formats.registry import open_source
from srs.ingest.kernels import ensure_compiled
from srs.ingest.notices import Tally, describe_names
from srs.ingest.plan import buffer_mem, plan_ingest, return_freed_mem
from srs.ingest.tables.names import given_names
from srs.ingest.tables.table import SampleTable, read_table
from srs.ingest.tables.targets import TargetOptions, column_names, join_targets
from srs.memory import parse_bytes
from srs.store.layout import chunk_features
from srs.store.opening import open_root, open_store
from srs.store.reader import FeatureStore
from srs.store.writer import StoreWriter
from srs.store.writing_plan import refuse_existing
from srs.targets.parse import check_kinds
from srs.targets.target import Target

Progress = Callable[[int, int], None]


def write_store(
    source: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    target: Any = None,
    memory: str | int = "1GB",
    orientation: str = "samples",
    names: Sequence[str] | str | os.PathLike[str] | None = None,
    sample_ids: Sequence[str] | str | os.PathLike[str] | None = None,
    categorical: Sequence[str | int] = (),
    target_kind: str | Mapping[str, str] | None = None,
    event: Any = None,
    exposure: Any = None,
    ordinal: Sequence[Any] | str | None = None,
    keep_values: bool | None = None,
    table: Any = None,
    covariates: Sequence[str] = (),
    dataset: str | None = None,
    mask: str | os.PathLike[str] | None = None,
    id_column: str | None = None,
    overwrite: bool = False,
    on_progress: Progress | None = None,
) -> FeatureStore:
    """Write a feature store from a source, and open it; see `srs.ingest.ingest`."""
    allowed_mem = parse_bytes(memory)
    table_of_samples = None if table is None else read_table(table, id_column)
    destination = None if path is None else Path(path)
    refuse_existing(destination, overwrite)
    _refuse_itself(source, destination)
    check_kinds(target_kind)
    options = _target_options(target, target_kind, event, exposure, ordinal)
    wanted = Wanted(
        orientation=orientation,
        columns=tuple(_source_columns(target, options, table_of_samples)),
        categorical=frozenset(_plain(c) for c in categorical),
        mem=buffer_mem(allowed_mem),
        folder=_temporary_folder(destination),
        dataset=dataset,
        mask=None if mask is None else Path(mask),
        id_column=id_column,
    )
    ensure_compiled()
    with contextlib.closing(open_source(source, wanted)) as whole:
        _override(whole, given_names(names), given_names(sample_ids))
        _check_id_column(id_column, whole, table_of_samples)
        opened, targets = join_targets(whole, target, table_of_samples, covariates, options)
        plan = plan_ingest(opened, path is None, allowed_mem)
        if keep_values is None:
            keep_values = path is not None and "path" not in opened.record
        order = _Order(opened, targets, plan.block_features, keep_values, on_progress)
        prepare = Recategoriser(opened, wanted.categorical)
        tally = Tally([*opened.notices, *describe_names(opened, targets)], prepare.ids)
        # The last: it makes a folder, which goes only when it is closed.
        writer = StoreWriter(
            destination, opened.n_samples, opened.n_features, plan.writer_mem, overwrite
        )
        root = _write(order, prepare, tally, writer)
    return open_store(root) if isinstance(root, Path) else open_root(root)


@dataclass(frozen=True)
class _Order:
    """What is written into a store.

    source          whose features they are
    targets         and sample columns
    block_features  features that are read and coded at a time
    keep_values     whether original values are kept, too
    on_progress     called with features done and all features
    """

    source: Source
    targets: Sequence[Target]
    block_features: int
    keep_values: bool
    on_progress: Progress | None


def _write(order: _Order, prepare: Recategoriser, tally: Tally, writer: StoreWriter) -> Any:
    """Code all features and write them; the root of the store."""
    source = order.source
    with writer:
        writer.describe(
            names=source.names,
            sample_ids=source.sample_ids,
            targets=order.targets,
            annotations=source.annotations,
        )
        encoded = _encode_all(
            source,
            prepare,
            block_features=order.block_features,
            writer=writer,
            tally=tally,
            on_progress=order.on_progress,
        )
        kept = _values(source, prepare, order.block_features) if order.keep_values else None
        return writer.finish(
            kinds=encoded.kinds,
            n_levels=encoded.n_levels,
            dosages=encoded.dosages,
            labels=encoded.labels,
            source=source.record,
            notices=tally.sentences(source),
            srs_version=srs.__version__,
            values=kept,
        )


def _target_options(
    target: Any,
    kind: str | Mapping[str, str] | None,
    event: Any,
    exposure: Any,
    ordinal: Sequence[Any] | str | None,
) -> TargetOptions:
    """What was said of targets; what makes no sense without one is refused."""
    beside = {"event": event, "exposure": exposure}
    beside = {what: given for what, given in beside.items() if given is not None}
    for what in (*beside, *([] if ordinal is None else ["ordinal"])):
        if target is None:
            raise SourceError(f"{what} needs a target: also give target (--target).")
    levels = ordinal
    if isinstance(ordinal, str):
        levels = [one.strip() for one in ordinal.split(",")]
    return TargetOptions(kind, beside, None if levels is None else [str(one) for one in levels])


def _source_columns(target: Any, options: TargetOptions, table: SampleTable | None) -> list[str]:
    """Columns that the source must take out of its features: those that the table has not."""
    inside = () if table is None else table.columns
    return [name for name in [*column_names(target), *options.columns()] if name not in inside]


def _plain(feature: Any) -> str | int:
    return feature if isinstance(feature, str) else int(feature)


def _temporary_folder(destination: Path | None) -> Path:
    if destination is None:
        return Path(tempfile.gettempdir())
    folder = destination.absolute().parent
    with contextlib.suppress(OSError):  # the writer says why, if it cannot be made
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _refuse_itself(source: Any, destination: Path | None) -> None:
    if destination is None or not isinstance(source, (str, os.PathLike)):
        return
    if Path(source).resolve() == destination.resolve():
        raise SourceError(f"{destination} is the source itself: choose another path for the store.")


def _override(
    source: Source, names: Sequence[str] | None, sample_ids: Sequence[str] | None
) -> None:
    """Put the names and ids that the user gave in place of the source's, and check all."""
    if names is not None:
        source.names = names
    if sample_ids is not None:
        source.sample_ids = sample_ids
    if source.names is not None and len(source.names) != source.n_features:
        raise SourceError(
            f"there are {len(source.names)} names and the source has {source.n_features} features."
        )
    if source.sample_ids is not None and len(source.sample_ids) != source.n_samples:
        raise SourceError(
            f"there are {len(source.sample_ids)} sample ids and the source has "
            f"{source.n_samples} samples."
        )
    if source.n_features == 0:
        raise SourceError("the source has no features: all its columns are ids or targets.")
    if source.n_samples < 2:
        n = f"{source.n_samples} sample{'' if source.n_samples == 1 else 's'}"
        raise SourceError(f"the source has {n}; at least 2 are needed.")


def _check_id_column(name: str | None, source: Source, table: SampleTable | None) -> None:
    """SourceError if neither the source nor the table has the column that the user named."""
    of_table = () if table is None else table.keys
    if name and source.record.get("id_column") != name and name not in of_table:
        raise SourceError(
            f"the id column {name!r}: neither the source nor a table (--table) has a column of "
            f"this name."
        )


def _encode_all(
    source: Source,
    prepare: Recategoriser,
    block_features: int,
    writer: StoreWriter,
    tally: Tally,
    on_progress: Progress | None,
) -> Encoded:
    all_encoded = Encoded.empty(source.n_features)
    blocks = source.blocks(block_features)
    begun: deque[list[Future[Piece]]] = deque()

    def take() -> None:
        """Wait for the oldest block that was begun."""
        for future in begun.popleft():
            piece = future.result()
            ids = np.arange(piece.first, piece.first + len(piece.codes))
            writer.add(ids, piece.codes, piece.content)
        return_freed_mem()
        if on_progress is not None:
            on_progress(int(ids[-1]) + 1, source.n_features)

    try:
        with Encoder() as encoder:
            for block in blocks:
                begun.append(encoder.submit(prepare(block), source.names, all_encoded, tally))
                del block  # else three would be held while the next is read, not two
                if len(begun) == 2:
                    take()
            while begun:
                take()
    finally:
        close = getattr(blocks, "close", None)  # of generators, so that their files are gone
        if close is not None:
            close()
    return all_encoded


def _values(
    source: Source, prepare: Recategoriser, block_features: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of values for the writer, of whole chunks of its array where the memory allows."""
    width = max(1, chunk_features(source.n_samples, source.n_features) // 8)
    if block_features > width:
        block_features -= block_features % width
    for block in source.blocks(block_features):
        block = prepare(block)
        yield np.arange(block.first, block.first + len(block.values)), float_values(block.values)
