"""How many features fit into a block, from sizes alone.

While a block is encoded the next one is read, so the memory holds the values of two blocks, what
reading holds besides, and the codes of one with the two copies that the writer makes of them.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from srs.errors import MemoryBudgetError
from srs.ingest.block import Source
from srs.memory import INTERPRETER_MEM, MB, format_bytes
from srs.store.layout import chunk_features
from srs.store.writing_plan import chunk_buffers, holds_codes

PIECE_BYTES = 4 * MB  # values that one thread sorts and encodes at a time
ENCODE_COPIES = 4  # two threads, each a piece sorted, its codes and masks
FEATURE_MEM = 72  # the writer's tables, ids and hashes, kinds and levels
NAME_MEM = 320  # a name as text in the source's header and ours, and packed (measured: 290)
SAMPLE_MEM = 32  # targets
SAMPLE_ID_MEM = 160  # an id as text, and packed
MAX_SPILL_FILES = 256  # of the writer, each with 64 KB of buffer
CHUNK_COPIES = 2  # of a chunk, beside those that are made and written
BLOCK_BYTES = 256 * MB  # larger blocks gain nothing


@dataclass(frozen=True)
class IngestPlan:
    """What an ingest may hold.

    block_features  features of a block
    writer_mem      bytes for sorting the spilled codes, when all blocks have gone
    """

    block_features: int
    writer_mem: int


def return_freed_mem() -> None:
    """Give freed memory back to the system, where its allocator can.

    glibc keeps it for each thread; with zarr's threads that was 60 MB of 400 allowed.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def buffer_mem(allowed_mem: int) -> int:
    """What is left for buffers beside the interpreter; used before sizes are known."""
    return max(16 * MB, allowed_mem - INTERPRETER_MEM - ENCODE_COPIES * PIECE_BYTES)


def plan_ingest(source: Source, store_in_memory: bool, allowed_mem: int) -> IngestPlan:
    """The plan, or MemoryBudgetError if even one feature at a time does not fit."""
    n, p = source.n_samples, source.n_features
    fixed = INTERPRETER_MEM + source.fixed_mem
    fixed += ENCODE_COPIES * max(PIECE_BYTES, n * source.dtype.itemsize)
    fixed += n * (SAMPLE_MEM + (SAMPLE_ID_MEM if source.sample_ids is not None else 0))
    fixed += p * (FEATURE_MEM + (NAME_MEM if source.names is not None else 0))
    fixed += n * p if store_in_memory else 0
    feature_mem = n * (source.held + source.dtype.itemsize + 3)
    writer_mem = max(4 * MB, 4 * n * p // MAX_SPILL_FILES)
    chunk_mem = (CHUNK_COPIES + chunk_buffers(n, p)) * n * chunk_features(n, p)
    needed = fixed + max(feature_mem, writer_mem, chunk_mem + writer_mem // 4)
    if needed > allowed_mem:
        advice = ", or give a path, so that the store is not kept in memory" * store_in_memory
        raise MemoryBudgetError(
            f"ingesting {p} features x {n} samples needs {format_bytes(needed)} of memory and "
            f"{format_bytes(allowed_mem)} are allowed: allow more (--memory){advice}.",
            needed,
            allowed_mem,
        )
    # Freed blocks below the allocator's threshold may stay with the process while the writer
    # sorts, so neither gets all that is left.
    left = allowed_mem - fixed
    writer_mem = max(writer_mem, (left - chunk_mem) // 2)
    held = n * p if holds_codes(n, p, writer_mem) else 0
    largest = BLOCK_BYTES // (n * source.dtype.itemsize)
    block_features = max(1, min(p, largest, (int(0.85 * left) - held) // feature_mem))
    return IngestPlan(block_features, writer_mem)
