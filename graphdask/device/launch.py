"""Launch CUDA kernels with little work on the host: each argument is a word, and a launch is one call of the driver.

A superstep is a handful of launches. Most of them are shorter than the time that CuPy needs to process a dozen
arguments (about 20 us; here a third). All arguments are 8 bytes wide: pointers, int64, float64. A NumPy scalar occupies
the first bytes of its word, because the machines are little-endian. A pack is the words of its fields, each of which is
a parameter of the kernel.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any

import numpy as np

from graphdask.kernels.common.packs import Pack

MOST = 128
"""Words of the arguments of a kernel."""

_PACKED = [struct.Struct(f"={n}q") for n in range(MOST + 1)]
_FLOAT, _WORD = struct.Struct("=d"), struct.Struct("=q")


class _Words(threading.local):
    """Memory for the arguments of one launch in each thread, and where the driver finds each of them."""

    def __init__(self) -> None:
        self.memory = (ctypes.c_int64 * MOST)()
        first = ctypes.addressof(self.memory)
        self._pointers = (ctypes.c_void_p * MOST)(*range(first, first + 8 * MOST, 8))
        self.pointers = ctypes.addressof(self._pointers)
        self.device = -1


_words = _Words()


def make_current(runtime: Any, device: int) -> None:
    """Make a device's context the thread's, as calls of the driver need it: `setDevice`, once in each thread."""
    if _words.device != device:
        runtime.setDevice(device)
        _words.device = device


def packed_arguments(arguments: tuple[Any, ...], array_type: type) -> int:
    """Write arguments where the driver reads them; return the address of their pointers, good until the next call.

    Parameters
    ----------
    arguments : tuple
        Arrays of `array_type`, Python numbers, NumPy scalars, None for a null pointer, and, as the last, a pack.
    array_type : type
        `cupy.ndarray`.
    """
    words = []
    for argument in arguments:
        kind = type(argument)
        if isinstance(argument, array_type):
            words.append(argument.data.ptr)  # type: ignore[attr-defined]
        elif kind is int:
            words.append(argument)
        elif isinstance(argument, Pack):
            words += argument.as_words(word_of, array_type)
        else:
            words.append(word_of(argument, array_type))
    _PACKED[len(words)].pack_into(_words.memory, 0, *words)
    return _words.pointers


def word_of(argument: Any, array_type: type) -> int:
    """The word that stands for an argument."""
    kind = type(argument)
    if isinstance(argument, array_type):
        return argument.data.ptr  # type: ignore[attr-defined, no-any-return]
    if kind is int or kind is bool:
        return int(argument)
    if argument is None:
        return 0
    if kind is float:
        return int(_WORD.unpack(_FLOAT.pack(argument))[0])
    if kind is np.uint64:  # a seed, in every launch of a sampler
        number = int(argument)
        return number if number < 1 << 63 else number - (1 << 64)
    if isinstance(argument, np.generic):
        return int.from_bytes(argument.tobytes().ljust(8, b"\0"), "little", signed=True)
    raise TypeError(f"a kernel takes arrays of its device and numbers, not {kind.__name__}")
