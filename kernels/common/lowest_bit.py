"""The place of the lowest bit of a word, as one instruction.

Source: LLVM Language Reference, `llvm.cttz`.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def lowest_bit(typing_context, word):
    """The place of the lowest bit that is set in a uint64 other than 0, uint64."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate
