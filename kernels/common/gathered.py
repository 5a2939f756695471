"""Sums of what an array has at given places, in eight lanes that are one vector: eight numbers an instruction, where a
processor can gather them.

The lanes and the tree are those of lanes.py, so a sum has the same bits as one lane after the other.

Source: LLVM Language Reference, `llvm.masked.gather` and `llvm.masked.load`.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
"""float64 values of a vector of 512 bits."""
_bit, _word, _wide, _real = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _each(of, number):
    """A vector of a constant for each lane, or of the numbers of a list."""
    return ir.Constant(ir.VectorType(of, LANES), number if isinstance(number, list) else [number] * LANES)


def _spread(builder, value):
    """A vector with the value in each lane."""
    none = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    return builder.shuffle_vector(builder.insert_element(none, value, _word(0)), none, _each(_word, 0))


def _masked(builder, name, result, address, size, mask, instead):
    """Call an intrinsic that loads the lanes of a mask."""
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(result, [address.type, _word, mask.type, result]), f"llvm.masked.{name}"
    )
    return builder.call(function, [address, _word(size), mask, instead])


def _gather(builder, indices, x, at, mask):
    """x[indices[at]], x[indices[at + 1]], ... of the lanes of a mask as float64, 0 of the others."""
    index_t, real_t = indices.type.pointee, x.type.pointee
    places, numbers = ir.VectorType(index_t, LANES), ir.VectorType(real_t, LANES)
    begin = builder.bitcast(builder.gep(indices, [at]), places.as_pointer())
    index = _masked(builder, f"load.v8i{index_t.width}.p0", places, begin, 1, mask, _each(index_t, 0))
    if index_t != _wide:
        index = builder.zext(index, ir.VectorType(_wide, LANES))
    bits = 64 if real_t == _real else 32
    offsets = builder.mul(index, _each(_wide, bits // 8))
    addresses = builder.add(_spread(builder, builder.ptrtoint(x, _wide)), offsets)
    addresses = builder.inttoptr(addresses, ir.VectorType(x.type, LANES))
    found = _masked(builder, f"gather.v8f{bits}.v8p0", numbers, addresses, bits // 8, mask, _each(real_t, 0.0))
    return found if real_t == _real else builder.fpext(found, ir.VectorType(_real, LANES))


@intrinsic
def sum_gathered(typing_context, indices, x, first, last):
    """The sum of x[indices[k]], float64, for k from `first` up to `last`, both uint64; arrays are without gaps, indices
    not negative, and x of float32 or float64. Nothing is fetched ahead: no addition waits for where the next gather
    reads, so that a processor has several of them under way by itself."""

    def generate(context, builder, signature, arguments):
        indices, x = (
            context.make_array(of)(context, builder, array).data
            for of, array in zip(signature.args[:2], arguments[:2], strict=True)
        )
        first, last = arguments[2:]
        sums = cgutils.alloca_once_value(builder, _each(_real, 0.0))

        def add(at, mask):
            builder.store(builder.fadd(builder.load(sums), _gather(builder, indices, x, at, mask)), sums)

        length = builder.sub(last, first)
        with cgutils.for_range(builder, builder.lshr(length, _wide(3))) as loop:
            at = builder.add(first, builder.shl(loop.index, _wide(3)))
            add(at, _each(_bit, 1))
        rest = builder.and_(length, _wide(LANES - 1))
        with builder.if_then(builder.icmp_unsigned("!=", rest, _wide(0))):
            lanes = _each(_wide, list(range(LANES)))
            add(builder.sub(last, rest), builder.icmp_unsigned("<", lanes, _spread(builder, rest)))
        found = builder.load(sums)
        lane = [builder.extract_element(found, _word(i)) for i in range(LANES)]
        even, odd = (
            builder.fadd(builder.fadd(lane[i], lane[i + 4]), builder.fadd(lane[i + 2], lane[i + 6])) for i in (0, 1)
        )
        return builder.fadd(even, odd)

    unsigned = types.uint64
    return types.float64(indices, x, unsigned, unsigned), generate
