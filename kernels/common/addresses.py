"""What compiled code of a host finds at addresses: words that others write to, and functions of C.

Source: LLVM Language Reference, atomic loads and stores, and the calling convention of C, by which a function takes
integers and addresses as words.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)


@intrinsic
def load(typing_context, address):
    """The word at an address, which others write to: read anew, and before what is read afterwards."""

    def generate(context, builder, signature, arguments):
        return builder.load_atomic(builder.inttoptr(arguments[0], _WORD.as_pointer()), "acquire", 8)

    return types.int64(types.int64), generate


@intrinsic
def store(typing_context, address, word):
    """Write a word to an address, after all that was written before."""

    def generate(context, builder, signature, arguments):
        builder.store_atomic(arguments[1], builder.inttoptr(arguments[0], _WORD.as_pointer()), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


@intrinsic
def call(typing_context, function, arguments):
    """Call a C function at an address with a tuple of words; what it returns, as a word."""

    def generate(context, builder, signature, given):
        count = len(signature.args[1])
        pointer = builder.inttoptr(given[0], ir.FunctionType(_WORD, [_WORD] * count).as_pointer())
        return builder.call(pointer, [builder.extract_value(given[1], place) for place in range(count)])

    return types.int64(types.int64, arguments), generate
