"""Count the samples in which two bits are set: 8 features against 32 others, in vector registers.

Covers `count_together` and its two ways. What the counts are good for is in `kernel`, how bits are
laid out in `bits`.

Bits stand as [tile][word][lane]: a word of 32 samples of 32 features side by side. The word of a
row feature is broadcast and counts stay in their lanes, so nothing is summed across a register.
8 rows x 32 lanes keep 16 registers of counts. The limit is an AND, a population count and an
addition for 16 words: 20.5 words a cycle measured on a Zen 5 core (`benchmarks.processor`), where a
scan has 0.57 of it with 1,000 samples and 0.93 with 10,000. (Words of 64 samples, 4 rows x 32
lanes, have the same limit, but twice the work before and after the words of a group.)

LLVM makes of the vectors what a processor has. With AVX512_VPOPCNTDQ registers are 4 to 8 times as
fast as the plain loop, with AVX2 alone 1.9 times. The loop is what they are tested against.
"""

# ruff: noqa: ARG001  (numba passes what an intrinsic is called with by the names it has)

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic as numba_intrinsic

intrinsic: Any = numba_intrinsic  # its calls have other arguments than its definition

ROWS = 8  # features whose words are broadcast at a time
CACHE_LINE = 64  # bytes
LANES = 32  # features side by side


def has_vector_counts() -> bool:
    """Whether this processor counts the bits of 16 words at once (AVX512_VPOPCNTDQ)."""
    return bool(llvmlite.binding.get_host_cpu_features().get("avx512vpopcntdq", False))


def aligned_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros that begin with a cache line, so that no register is loaded from two."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    found: np.ndarray = room[start : start + size].view(dtype).reshape(shape)
    return found


@intrinsic
def borrowed(typing_context, array):
    """The same array, whose references are not counted: something else must hold it meanwhile.

    numba counts references to arrays atomically where they are taken from tuples, or cut, within
    loops; that was 40 % of the time of a scan.
    """

    def generate(context, builder, signature, args):
        found = context.make_array(signature.return_type)(context, builder, args[0])
        for name in ("meminfo", "parent"):
            setattr(found, name, cgutils.get_null_value(getattr(found, name).type))
        return found._getvalue()

    return array(array), generate


@intrinsic
def popcount(typing_context, word):
    """The number of bits that are set in a uint32."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.uint32(types.uint32), generate


@intrinsic
def trailing_zeros(typing_context, word):
    """The number of the lowest bit that is set in a uint32; 32 if there is none."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(0))

    return types.uint32(types.uint32), generate


@intrinsic
def _count_in_registers(typing_context, rows, columns, out, places):
    """See `count_together`; places: number of words, offsets of the first word of the rows and of
    the columns, offset in `out`, and offset there from a row to the next."""
    signature = types.void(rows, columns, out, types.UniTuple(types.intp, 5))

    def generate(context, builder, signature, args):
        i32, i64 = ir.IntType(32), ir.IntType(64)
        words, floats = ir.VectorType(i32, LANES), ir.VectorType(ir.FloatType(), LANES)
        n_words, row_at, column_at, out_at, step = cgutils.unpack_tuple(builder, args[3])

        def pointer(i, offset):
            array = context.make_array(signature.args[i])(context, builder, args[i])
            return builder.gep(array.data, [offset])

        row, column, out = pointer(0, row_at), pointer(1, column_at), pointer(2, out_at)
        count_bits = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(words, [words]), f"llvm.ctpop.v{LANES}i32"
        )
        undefined = ir.Constant(words, ir.Undefined)
        all_first = ir.Constant(ir.VectorType(i32, LANES), [0] * LANES)

        entry = builder.block
        loop = builder.append_basic_block("word")
        done = builder.append_basic_block("counted")
        builder.branch(loop)
        builder.position_at_end(loop)
        word = builder.phi(i64)
        word.add_incoming(i64(0), entry)
        counts = [builder.phi(words) for _ in range(ROWS)]
        start = builder.mul(word, i64(LANES))
        place = builder.bitcast(builder.gep(column, [start]), words.as_pointer())
        loaded = builder.load(place, align=4)
        sums = []
        for r, count in enumerate(counts):
            single = builder.load(builder.gep(row, [builder.add(start, i64(r))]))
            single = builder.insert_element(undefined, single, i32(0))
            broadcast = builder.shuffle_vector(single, undefined, all_first)
            both = builder.call(count_bits, [builder.and_(broadcast, loaded)])
            sums.append(builder.add(count, both))
            count.add_incoming(ir.Constant(words, [0] * LANES), entry)
            count.add_incoming(sums[r], loop)
        next_word = builder.add(word, i64(1))
        word.add_incoming(next_word, loop)
        builder.cbranch(builder.icmp_signed("<", next_word, n_words), loop, done)
        builder.position_at_end(done)
        for r, count in enumerate(sums):
            place = builder.gep(out, [builder.mul(step, i64(r))])
            number = builder.sitofp(count, floats)
            builder.store(number, builder.bitcast(place, floats.as_pointer()), align=4)
        return context.get_dummy_value()

    return signature, generate


@njit(nogil=True, cache=True)
def _count_in_a_loop(row_words, column_words, sums, out):
    """See `count_together`; of one row (n_words,) and the words of a tile (n_words, LANES)."""
    sums[:] = 0
    for w in range(len(row_words)):
        word = row_words[w]
        for lane in range(LANES):
            sums[lane] += popcount(word & column_words[w, lane])
    for lane in range(LANES):
        out[lane] = np.float32(sums[lane])


@njit(nogil=True, cache=True, forceinline=True)
def count_together(rows, columns, first, at, in_registers, sums, out):
    """Samples of each group in which the bits of a row and of a column are both set.

    rows, columns  uint32 (n_tiles, n_words, LANES)
    first          int64 (n_groups + 1,): first word of each group
    at             tile of the rows, lane of the first of ROWS rows, tile of the columns
    in_registers   whether to use vector registers, or a plain loop
    sums           uint32 (LANES,): room to work
    out            float32 (ROWS, n_groups, LANES): exact below 2^24 samples
    """
    row_tile, row_lane, column_tile = at
    n_words, n_groups = rows.shape[1], len(first) - 1
    for g in range(n_groups):
        begin, end = first[g], first[g + 1]
        if in_registers:
            _count_in_registers(
                rows,
                columns,
                out,
                (
                    end - begin,
                    (row_tile * n_words + begin) * LANES + row_lane,
                    (column_tile * n_words + begin) * LANES,
                    g * LANES,
                    n_groups * LANES,
                ),
            )
        else:
            for r in range(ROWS):
                _count_in_a_loop(
                    rows[row_tile, begin:end, row_lane + r],
                    columns[column_tile, begin:end],
                    sums,
                    out[r, g],
                )
