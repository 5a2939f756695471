"""Have a processor fetch what a twin is about to read: an instruction that waits for nothing and never fails.

Source: LLVM Language Reference, `llvm.prefetch`.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

READ, KEEP, DATA = 0, 3, 1


def fetch(builder, address):
    """The instruction, while code is generated: the cache line of a pointer."""
    byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), [byte, word, word, word]), "llvm.prefetch.p0"
    )
    builder.call(function, [builder.bitcast(address, byte), word(READ), word(KEEP), word(DATA)])


@intrinsic
def prefetch(typing_context, array, place):
    """Of a one-dimensional array without gaps the cache line that element `place` is in; it may lie past the end."""

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        fetch(builder, builder.gep(view.data, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
