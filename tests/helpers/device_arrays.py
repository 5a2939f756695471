"""Arrays of a device that is not there: NumPy's behind CuPy's manners, for tests of what runs on a GPU.

A device array is no `numpy.ndarray`, does not become one unasked and does not mix with one; results of reductions are
arrays of no dimension; memory that nobody filled holds noise; `add.at` takes the dtypes that CuPy's takes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

NOISE = 0xA5
ADDED_AT = ("int32", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128")


def unwrapped(value: Any) -> Any:
    """NumPy's arrays of device arrays, also within lists and tuples; an array of the host is refused."""
    if isinstance(value, DeviceArray):
        return value.memory
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>: an array of the host among arrays of the device")
    if isinstance(value, tuple | list):
        return type(value)(unwrapped(part) for part in value)
    return value


def wrapped(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return DeviceArray(np.asarray(value))
    if isinstance(value, tuple | list):
        return type(value)(wrapped(part) for part in value)
    return value


class DeviceArray(NDArrayOperatorsMixin):
    """An array that only the functions of `DeviceNumpy` and kernels see into."""

    def __init__(self, memory: np.ndarray):
        self.memory = memory

    def get(self) -> np.ndarray:
        """Copy to the host."""
        return self.memory.copy()

    def set(self, values: np.ndarray) -> None:
        """Copy from the host."""
        if not isinstance(values, np.ndarray) or values.dtype != self.dtype or values.shape != self.shape:
            raise ValueError("set takes a NumPy array of the same dtype and shape")
        self.memory[...] = values

    @property
    def device(self) -> Any:
        return SimpleNamespace(id=0)

    @property
    def data(self) -> Any:
        return Memory(self.memory)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError("nothing but DeviceNumpy takes this array")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if ufunc is np.add and method == "at" and self.dtype.name not in ADDED_AT:
            raise TypeError(f"CuPy adds at no {self.dtype}")
        kwargs = {name: unwrapped(value) for name, value in options.items()}
        if out is not None:
            kwargs["out"] = unwrapped(out)
        result = getattr(ufunc, method)(*map(unwrapped, inputs), **kwargs)
        return out[0] if out is not None and len(out) == 1 else wrapped(result)

    def __array_function__(self, function: Callable, _: Any, args: Any, kwargs: Any) -> Any:
        return wrapped(function(*unwrapped(args), **{name: unwrapped(value) for name, value in kwargs.items()}))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        attribute = getattr(self.memory, name)
        return Function(attribute, None) if callable(attribute) else wrapped(attribute)

    def __len__(self) -> int:
        return len(self.memory)

    def __iter__(self) -> Any:
        return (wrapped(value) for value in self.memory)

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self.memory[unwrapped(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.memory[unwrapped(key)] = unwrapped(value)

    def __bool__(self) -> bool:
        return bool(self.memory)

    def __int__(self) -> int:
        return int(self.memory)

    def __float__(self) -> float:
        return float(self.memory)

    def __index__(self) -> int:
        return self.memory.__index__()

    def __repr__(self) -> str:
        return f"DeviceArray({self.memory!r})"


class Memory:
    """What `cupy.ndarray.data` is."""

    def __init__(self, array: np.ndarray):
        self.array = array

    @property
    def ptr(self) -> int:
        return self.array.__array_interface__["data"][0]

    def memset_async(self, value: int, nbytes: int) -> None:
        self.array.reshape(-1).view(np.uint8)[:nbytes] = value

    def copy_from_device_async(self, source: Memory, nbytes: int, _: Any) -> None:
        self.array.reshape(-1).view(np.uint8)[:nbytes] = source.array.reshape(-1).view(np.uint8)[:nbytes]


class Function:
    """A function or method of NumPy for device arrays."""

    def __init__(self, function: Any, name: str | None):
        self.function, self.name = function, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.name == "add.at" and args[0].dtype.name not in ADDED_AT:
            raise TypeError(f"CuPy adds at no {args[0].dtype}")
        out = kwargs.get("out")
        result = self.function(*unwrapped(args), **{name: unwrapped(value) for name, value in kwargs.items()})
        return out if isinstance(out, DeviceArray) else wrapped(result)

    def __getattr__(self, name: str) -> Any:
        return Function(getattr(self.function, name), f"{self.name}.{name}")


class Stream:
    def synchronize(self) -> None:
        pass


class DeviceNumpy:
    """What stands for the module `cupy`."""

    cuda = SimpleNamespace(get_current_stream=Stream, Device=lambda number=0: nullcontext())
    ndarray = DeviceArray

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(np, name)
        return attribute if isinstance(attribute, type) or not callable(attribute) else Function(attribute, name)

    def asarray(self, values: Any, dtype: Any = None) -> DeviceArray:
        """A copy of what the host has; the same array where it is on the device with the same dtype, also within an
        object with `__cuda_array_interface__`, which has `device_array()` here."""
        if isinstance(values, DeviceArray):
            return values if dtype in (None, values.dtype) else values.astype(dtype)
        if hasattr(values, "device_array"):
            return self.asarray(values.device_array(), dtype)
        return DeviceArray(np.array(values, dtype, order="C"))

    array = asarray

    def ascontiguousarray(self, values: Any, dtype: Any = None) -> DeviceArray:
        return DeviceArray(np.ascontiguousarray(self.asarray(values, dtype).memory))

    @staticmethod
    def from_dlpack(values: Any) -> DeviceArray:
        """What `device_array()` of an object gives, in place of a capsule."""
        return values.device_array()

    @staticmethod
    def asnumpy(values: Any) -> np.ndarray:
        return values.get() if isinstance(values, DeviceArray) else np.asarray(values)

    @staticmethod
    def empty(shape: Any, dtype: Any = float) -> DeviceArray:
        made = np.empty(unwrapped(shape), dtype)
        made.reshape(-1).view(np.uint8)[...] = NOISE
        return DeviceArray(made)

    def empty_like(self, array: DeviceArray, dtype: Any = None) -> DeviceArray:
        return self.empty(array.shape, array.dtype if dtype is None else dtype)
