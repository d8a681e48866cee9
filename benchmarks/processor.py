"""What a core of this machine can do: cycles a second, and words whose bits it counts.

The limit that the kernel of pairs is compared with (`benchmarks.pair_kernel`): an AND, a population
count and an addition for each word of 32 samples, on values that stay in vector registers. Nothing
is loaded, stored or compared. Cycles come from a chain of multiplications and additions, each of
which waits for the one before: 3 cycles and 1 on processors of the last ten years.
"""

# ruff: noqa: ARG001  (numba passes what an intrinsic is called with by the names it has)

from __future__ import annotations

from collections.abc import Callable
from time import thread_time

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils

from srs.evidence.pairs.lanes import LANES, ROWS, intrinsic

CHAIN_CYCLES = 4
N_CHAIN, N_WORDS, REPEATS = 100_000_000, 20_000_000, 5


def cycles_a_second() -> float:
    """Of one core, while it does this; the best of some tries."""
    return CHAIN_CYCLES * N_CHAIN / _least_seconds(_chain, N_CHAIN)


def words_a_second() -> float:
    """Words of 32 samples that one core counts in registers, the best of some tries."""
    return ROWS * LANES * N_WORDS / _least_seconds(_count_bare, N_WORDS)


def _least_seconds(function: Callable[[int], object], n: int) -> float:
    function(10)
    times = []
    for _ in range(REPEATS):
        start = thread_time()
        function(n)
        times.append(thread_time() - start)
    return min(times)


@njit(nogil=True)
def _chain(n):
    x = np.uint64(n)
    for i in range(n):
        x = x * x + np.uint64(i)
    return x


@njit(nogil=True)
def _count_bare(n):
    sums = np.zeros(LANES, np.uint32)
    _count_in_registers(n, sums)
    return sums


@intrinsic
def _count_in_registers(typing_context, n, sums):
    """ROWS x LANES counts of a word that changes with every turn, as in the kernel of pairs."""
    signature = types.void(types.intp, sums)

    def generate(context, builder, signature, args):
        i32, i64 = ir.IntType(32), ir.IntType(64)
        words = ir.VectorType(i32, LANES)
        array = context.make_array(signature.args[1])(context, builder, args[1])
        count_bits = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(words, [words]), f"llvm.ctpop.v{LANES}i32"
        )
        undefined = ir.Constant(words, ir.Undefined)
        first = ir.Constant(ir.VectorType(i32, LANES), [0] * LANES)
        entry = builder.block
        loop, done = builder.append_basic_block("turn"), builder.append_basic_block("end")
        builder.branch(loop)
        builder.position_at_end(loop)
        turn = builder.phi(i64)
        turn.add_incoming(i64(0), entry)
        counts = [builder.phi(words) for _ in range(ROWS)]
        single = builder.insert_element(undefined, builder.trunc(turn, i32), i32(0))
        word = builder.shuffle_vector(single, undefined, first)
        found = []
        for r, count in enumerate(counts):
            # One AND a row and turn, with a word that the compiler cannot know: the count so far.
            both = builder.and_(word, count)
            found.append(builder.add(count, builder.call(count_bits, [both])))
            start = [r * LANES + lane for lane in range(LANES)]
            count.add_incoming(ir.Constant(words, start), entry)
            count.add_incoming(found[r], loop)
        following = builder.add(turn, i64(1))
        turn.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, args[0]), loop, done)
        builder.position_at_end(done)
        total = found[0]
        for other in found[1:]:
            total = builder.add(total, other)
        place = builder.bitcast(array.data, words.as_pointer())
        builder.store(total, place, align=4)
        return context.get_dummy_value()

    return signature, generate
