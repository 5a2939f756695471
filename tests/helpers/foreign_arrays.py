"""Arrays as other libraries have them: each with one of the protocols only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


class WithDlpack:
    """An array of the host that has DLPack only."""

    def __init__(self, values: np.ndarray):
        self.values = np.array(values)

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


class WithStream:
    """Arrow's chunks, by its interface of streams only."""

    def __init__(self, values: Any):
        pa = pytest.importorskip("pyarrow")
        self.values = pa.chunked_array([pa.array(values[:2]), pa.array(values[2:])])

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return self.values.__arrow_c_stream__(schema)


class WithArrow:
    """An Arrow array, by its interface of arrays only."""

    def __init__(self, values: Any):
        self.values = pytest.importorskip("pyarrow").array(values)

    def __arrow_c_array__(self, schema: Any = None) -> Any:
        return self.values.__arrow_c_array__(schema)


class OnDevice:
    """What PyTorch's tensors of a GPU are: DLPack, and no array of NumPy."""

    def __init__(self, array: Any):
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("can't convert a tensor of a device; use Tensor.cpu()")

    def device_array(self) -> Any:
        """What stands for the values in the capsule where the device is emulated."""
        return self.array
