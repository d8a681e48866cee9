"""Upper bounds of the statistic for all lanes of a tile, in vector registers.

Covers the arithmetic of `kernel.scan` that every pair goes through; which bound is used when, and
why it is one, is said there. Each function is a straight run of operations on 32 float32 values:
LLVM cuts these into the registers that a processor has.
"""

# ruff: noqa: ARG001  (numba passes what an intrinsic is called with by the names it has)

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils

from srs.evidence.pairs.lanes import LANES, ROWS, intrinsic

LEAST_VARIANCE = 1e-30
ERROR_FIXED, ERROR_GROUP = 1e-6, 2.5e-7  # bound of what float32 loses of a covariance
SLACK = 1 - 1e-5  # and of a variance
AT_ONCE = 4  # rows whose sums are in registers together

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

    def address(self, i, offset):
        """Where an element of argument i is, a C-contiguous array."""
        array = self.context.make_array(self.signature.args[i])(
            self.context, self.builder, self.args[i]
        )
        return self.builder.gep(array.data, [offset])

    def number(self, i, offset):
        """An element of argument i."""
        return self.builder.load(self.address(i, offset))

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
        absolute = cgutils.get_or_insert_function(
            self.builder.module, ir.FunctionType(FLOATS, [FLOATS]), f"llvm.fabs.v{LANES}f32"
        )
        return self.builder.call(absolute, [x])

    def as_bits(self, condition):
        return self.builder.bitcast(condition, I32)


@intrinsic
def above_two_arms(typing_context, counts, moments, limits, row_limits, factors, masks, at):
    """Lanes of some rows whose bound is not below the limit; the bits of all rows or-ed.

    The bound: (|difference of the arms| + error)^2 >= limit * variance, not in doubt.

    counts      float32 (ROWS, n_groups, LANES)
    moments     float32 (.., LANES): by tile the shares of all groups, then their spreads
    limits      float32 (.., LANES): of the columns
    row_limits  float32 (.., LANES): of the rows
    factors     float32 (1 + LANES, 2, n_groups): what counts are multiplied with, then by row what
                shares and spreads are; those of arm 0 with other signs. Behind the first of these,
                at [0, 1, 0], the error of a difference
    masks       uint32 (ROWS,): gets the bits of each row
    at          groups, line of the moments, line of the limits, line of the limits of the rows,
                lane of the first row: 5 intp
    """
    five = types.UniTuple(types.intp, 5)
    arrays = [counts, moments, limits, row_limits, factors, masks]
    signature = types.uint32(*arrays, five)

    def generate(context, builder, signature, args):
        lanes = _Lanes(context, builder, signature, args)
        n_groups, at_moments, at_limits, at_rows, first = lanes.lines(6)
        limits = lanes.load(2, at_limits)
        error = lanes.spread(lanes.number(4, n_groups))
        any_bits = I32(0)
        for start in range(0, ROWS, AT_ONCE):
            rows = [builder.add(first, I64(start + r)) for r in range(AT_ONCE)]
            sums = _sums_over_groups(lanes, start, rows, (n_groups, at_moments))
            for r in range(AT_ONCE):
                at_limit = builder.add(builder.mul(at_rows, I64(LANES)), rows[r])
                limit = lanes.smaller(lanes.spread(lanes.number(3, at_limit)), limits)
                most = lanes.add(lanes.magnitude(sums[r]), error)
                least = lanes.multiply(limit, sums[AT_ONCE + r])
                is_below = builder.fcmp_ordered("<", lanes.multiply(most, most), least)
                bits = lanes.as_bits(builder.not_(is_below))
                builder.store(bits, lanes.address(5, I64(start + r)))
                any_bits = builder.or_(any_bits, bits)
        return any_bits

    return signature, generate


def _sums_over_groups(lanes, start, rows, at):
    """Differences of some rows, then their variances: a loop over groups."""
    builder = lanes.builder
    n_groups, at_moments = at
    entry = builder.block
    loop, done = builder.append_basic_block("group"), builder.append_basic_block("summed")
    builder.branch(loop)
    builder.position_at_end(loop)
    group = builder.phi(I64)
    group.add_incoming(I64(0), entry)
    sums = [builder.phi(FLOATS) for _ in range(2 * AT_ONCE)]
    share = lanes.load(1, builder.add(at_moments, group))
    spread = lanes.load(1, builder.add(builder.add(at_moments, n_groups), group))
    weight = lanes.spread(lanes.number(4, group))
    differences, variances = [], []
    for r in range(AT_ONCE):
        counted = lanes.load(0, builder.add(builder.mul(n_groups, I64(start + r)), group))
        place = builder.mul(builder.mul(builder.add(rows[r], I64(1)), n_groups), I64(2))
        offset = lanes.spread(lanes.number(4, builder.add(place, group)))
        factor = lanes.spread(lanes.number(4, builder.add(builder.add(place, n_groups), group)))
        difference = lanes.add(sums[r], lanes.multiply(weight, counted))
        differences.append(lanes.subtract(difference, lanes.multiply(offset, share)))
        variances.append(lanes.add(sums[AT_ONCE + r], lanes.multiply(factor, spread)))
    found = differences + variances
    for before, after in zip(sums, found, strict=True):
        before.add_incoming(lanes.constant(0.0), entry)
        before.add_incoming(after, loop)
    following = builder.add(group, I64(1))
    group.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, n_groups), loop, done)
    builder.position_at_end(done)
    return found


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
