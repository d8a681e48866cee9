"""Upper bounds of the statistic for all lanes of a tile, in vector registers.

Covers the arithmetic of `kernel.scan` that every pair goes through; which bound is used when, and
why it is one, is said there. Each function is a straight run of operations on 32 float32 values:
LLVM cuts these into the registers that a processor has. (With loops in numba in their place, and
references counted, a scan of known bests had 4.5e8 pairs a second with 1,000 samples; now 7.7e8.)
"""

# ruff: noqa: ARG001  (numba passes what an intrinsic is called with by the names it has)

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils

from srs.evidence.pairs.lanes import LANES, intrinsic

LEAST_VARIANCE = 1e-30
ERROR_FIXED, ERROR_GROUP = 1e-6, 2.5e-7  # bound of what float32 loses of a covariance
SLACK = 1 - 1e-5  # and of a variance

FLOAT = ir.FloatType()
FLOATS = ir.VectorType(FLOAT, LANES)
I32, I64 = ir.IntType(32), ir.IntType(64)
FLAGS = ("contract",)  # multiply and add in one operation


class _Lanes:
    """Operations on all lanes, written to a builder."""

    def __init__(self, context, builder, signature, args):
        self.context, self.builder, self.signature, self.args = context, builder, signature, args

    def place(self, i, line):
        """Where a line of lanes of argument i is, a C-contiguous float32 array."""
        array = self.context.make_array(self.signature.args[i])(
            self.context, self.builder, self.args[i]
        )
        line = I64(line) if isinstance(line, int) else line
        whole = self.builder.gep(array.data, [self.builder.mul(line, I64(LANES))])
        return self.builder.bitcast(whole, FLOATS.as_pointer())

    def load(self, i, line=0):
        return self.builder.load(self.place(i, line), align=4)

    def store(self, i, line, value):
        self.builder.store(value, self.place(i, line), align=4)

    def lines(self, i):
        """The whole numbers of argument i, a tuple."""
        return cgutils.unpack_tuple(self.builder, self.args[i])

    def behind(self, line):
        return self.builder.add(line, I64(1))

    def scalars(self, i):
        """The numbers of argument i, a tuple, each in all lanes."""
        return [self.spread(x) for x in cgutils.unpack_tuple(self.builder, self.args[i])]

    def spread(self, x):
        undefined = ir.Constant(FLOATS, ir.Undefined)
        single = self.builder.insert_element(undefined, x, I32(0))
        first = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
        return self.builder.shuffle_vector(single, undefined, first)

    def constant(self, x):
        return ir.Constant(FLOATS, [x] * LANES)

    def add(self, x, y):
        return self.builder.fadd(x, y, flags=FLAGS)

    def subtract(self, x, y):
        return self.builder.fsub(x, y, flags=FLAGS)

    def multiply(self, x, y):
        return self.builder.fmul(x, y, flags=FLAGS)

    def divide(self, x, y):
        return self.builder.fdiv(x, y)

    def smaller(self, x, y):
        return self.builder.select(self.builder.fcmp_ordered("<", x, y), x, y)

    def larger(self, x, y):
        return self.builder.select(self.builder.fcmp_ordered(">", x, y), x, y)

    def magnitude(self, x):
        return self.larger(x, self.builder.fneg(x))

    def as_bits(self, condition):
        return self.builder.bitcast(condition, I32)


def _exceeds(lanes, difference, variance, limits, limit, error):
    """(|difference| + error)^2 >= limit * variance, not in doubt."""
    most = lanes.add(lanes.magnitude(difference), error)
    least = lanes.multiply(lanes.smaller(limit, limits), lanes.constant(SLACK))
    is_below = lanes.builder.fcmp_ordered(
        "<", lanes.multiply(most, most), lanes.multiply(least, variance)
    )
    return lanes.as_bits(lanes.builder.not_(is_below))


@intrinsic
def above_two_groups(typing_context, counts, moments, limits, at, numbers):
    """Lanes whose bound is not below the limit, as bits of a uint32; a group in each of two arms.

    counts   float32 (.., LANES): of the first group, then of the second
    moments  float32 (.., LANES): shares of both groups, then spreads of both
    limits   float32 (.., LANES)
    at       line of each of these where to begin: 3 intp
    numbers  of each group what counts, shares and spreads are multiplied with; then the limit of
             the row, and the error of a difference: 8 float32
    """
    lines, eight = types.UniTuple(types.intp, 3), types.UniTuple(types.float32, 8)
    signature = types.uint32(counts, moments, limits, lines, eight)

    def generate(context, builder, signature, args):
        lanes = _Lanes(context, builder, signature, args)
        at_counts, at_shares, at_limits = lanes.lines(3)
        w0, w1, o0, o1, f0, f1, limit, error = lanes.scalars(4)

        def combine(x, y, i, line):
            return lanes.add(
                lanes.multiply(x, lanes.load(i, line)),
                lanes.multiply(y, lanes.load(i, lanes.behind(line))),
            )

        at_spreads = lanes.behind(lanes.behind(at_shares))
        counted, expected = combine(w0, w1, 0, at_counts), combine(o0, o1, 1, at_shares)
        variance = combine(f0, f1, 1, at_spreads)
        difference = lanes.subtract(counted, expected)
        limits = lanes.load(2, at_limits)
        return _exceeds(lanes, difference, variance, limits=limits, limit=limit, error=error)

    return signature, generate


@intrinsic
def add_group(typing_context, counts, moments, at, numbers, room):
    """Add a group to covariance and variance of its arm, lines 0 and 1 of room.

    at       line of the counts, of the share and of the spread of the group: 3 intp
    numbers  what these are multiplied with: 3 float32
    room     float32 (5, LANES)
    """
    lines, three = types.UniTuple(types.intp, 3), types.UniTuple(types.float32, 3)
    signature = types.void(counts, moments, lines, three, room)

    def generate(context, builder, signature, args):
        lanes = _Lanes(context, builder, signature, args)
        at_counts, at_share, at_spread = lanes.lines(2)
        weight, offset, factor = lanes.scalars(3)
        covariance = lanes.add(lanes.load(4, 0), lanes.multiply(weight, lanes.load(0, at_counts)))
        expected = lanes.multiply(offset, lanes.load(1, at_share))
        lanes.store(4, 0, lanes.subtract(covariance, expected))
        variance = lanes.multiply(factor, lanes.load(1, at_spread))
        lanes.store(4, 1, lanes.add(lanes.load(4, 1), variance))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def above_two_arms(typing_context, limits, line, numbers, room):
    """As `above_two_groups` after `add_group` of all groups, those of arm 0 with other signs.

    line     of the limits: intp
    numbers  limit of the row, error of a difference: 2 float32
    """
    signature = types.uint32(limits, types.intp, types.UniTuple(types.float32, 2), room)

    def generate(context, builder, signature, args):
        lanes = _Lanes(context, builder, signature, args)
        limit, error = lanes.scalars(2)
        difference, variance = lanes.load(3, 0), lanes.load(3, 1)
        limits = lanes.load(0, args[1])
        return _exceeds(lanes, difference, variance, limits=limits, limit=limit, error=error)

    return signature, generate


@intrinsic
def close_arm(typing_context, room):
    """Add an arm to the sums over arms, rows 2 to 4 of room: 1 / v, cov / v, cov^2 / v."""
    signature = types.void(room)

    def generate(context, builder, signature, args):
        lanes = _Lanes(context, builder, signature, args)
        covariance, variance = lanes.load(0, 0), lanes.load(0, 1)
        least, zero = lanes.constant(LEAST_VARIANCE), lanes.constant(0.0)
        inverse = lanes.divide(lanes.constant(1.0), lanes.larger(variance, least))
        is_known = builder.fcmp_ordered(">", variance, least)
        inverse = builder.select(is_known, inverse, zero)
        part = lanes.multiply(covariance, inverse)
        lanes.store(0, 2, lanes.add(lanes.load(0, 2), inverse))
        lanes.store(0, 3, lanes.add(lanes.load(0, 3), part))
        lanes.store(0, 4, lanes.add(lanes.load(0, 4), lanes.multiply(part, covariance)))
        lanes.store(0, 0, zero)
        lanes.store(0, 1, zero)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def above_arms(typing_context, limits, line, numbers, room):
    """As `above_two_arms`, for any number of arms, after `close_arm` of each.

    A covariance that is wrong by e changes the root of the statistic by at most e times the root
    of sum 1 / v; with (x + d)^2 <= x^2 (1 + 1e-3) + d^2 (1 + 1e3) that is the margin here. What
    cancels in the difference of sums is a part of 1e-5 of the first, at most.
    """
    signature = types.uint32(limits, types.intp, types.UniTuple(types.float32, 2), room)

    def generate(context, builder, signature, args):
        lanes = _Lanes(context, builder, signature, args)
        limit, error = lanes.scalars(2)
        precision, total, squares = lanes.load(3, 2), lanes.load(3, 3), lanes.load(3, 4)
        mean = lanes.divide(total, lanes.larger(precision, lanes.constant(LEAST_VARIANCE)))
        value = lanes.subtract(squares, lanes.multiply(total, mean))
        value = lanes.multiply(value, lanes.constant(1.002))
        value = lanes.add(value, lanes.multiply(squares, lanes.constant(1e-5)))
        error = lanes.multiply(lanes.multiply(error, error), lanes.constant(1002.0))
        value = lanes.add(value, lanes.multiply(precision, error))
        is_below = builder.fcmp_ordered("<", value, lanes.smaller(limit, lanes.load(0, args[1])))
        return lanes.as_bits(builder.not_(is_below))

    return signature, generate
