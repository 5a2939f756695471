"""Data frames and columns as cuDF has them, for tests where cuDF cannot be installed.

A column of numbers is an array of the device behind `__cuda_array_interface__`, which has a mask only where values are
missing, and which columns of strings do not have. Nothing becomes an array of the host unasked: `__array__` and
`__arrow_array__` raise, `to_arrow` copies, `to_numpy` refuses missing values. There is no `__arrow_c_stream__`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import dask
import numpy as np
import pandas as pd
import pyarrow as pa

from graphdask.device.backend import get_backend


def _refuse(*_: Any, **__: Any) -> Any:
    raise TypeError("Implicit conversion to a host array is not allowed, consider using .to_arrow()")


class _Explicit:
    """What does not become an array of the host unasked."""

    __array__ = _refuse
    __arrow_array__ = _refuse


class Series(_Explicit):
    """A column."""

    __module__ = "cudf.core.series"

    def __init__(self, values: Any, copied: list[str] | None = None, name: str = ""):
        self._values, self._copied, self.name = pa.array(values), [] if copied is None else copied, name
        kind = self._values.type
        self.dtype = np.dtype(object if pa.types.is_string(kind) else kind.to_pandas_dtype())
        full = self._values.fill_null(0) if pa.types.is_integer(kind) else self._values
        self._array = None if self.dtype == object else get_backend("cuda").xp.asarray(full.to_numpy(False))

    def __len__(self) -> int:
        return len(self._values)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._array is None:
            raise AttributeError("dtype object is not yet supported via `__cuda_array_interface__`")
        found = getattr(self._array, "__cuda_array_interface__", None) or {
            "shape": self._array.shape, "typestr": self.dtype.str, "data": (0, False), "version": 3,
        }  # fmt: skip
        return dict(found) | ({"mask": self} if self._values.null_count else {})

    def device_array(self) -> Any:
        """What stands for the memory behind the interface where the device is emulated."""
        if self._values.null_count:
            raise ValueError("CuPy currently does not support masked arrays.")
        return self._array

    def to_arrow(self) -> pa.Array:
        self._copied.append(self.name)
        return self._values

    def to_numpy(self) -> np.ndarray:
        if self._values.null_count:
            raise ValueError("Column must have no nulls.")
        return self.to_arrow().to_numpy(zero_copy_only=False)


class DataFrame(_Explicit):
    """Columns of one length."""

    __module__ = "cudf.core.dataframe"
    iloc = None

    def __init__(self, columns: Mapping[str, Any], copied: list[str] | None = None):
        self.copied: list[str] = [] if copied is None else copied
        """Names of the columns that were copied to the host."""
        self._columns = {
            name: each if isinstance(each, Series) else Series(each, self.copied, name)
            for name, each in columns.items()
        }

    @property
    def columns(self) -> pd.Index:
        return pd.Index(list(self._columns))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, list):
            return DataFrame({name: self._columns[name] for name in key}, self.copied)
        return self._columns[key]

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def to_arrow(self) -> pa.Table:
        return pa.table({name: column.to_arrow() for name, column in self._columns.items()})


class DaskFrame:
    """A lazy frame of cuDF, as Dask-cuDF has it: a collection of Dask whose partitions and `_meta` are of cuDF."""

    def __init__(self, parts: list[DataFrame]):
        self._parts, self._meta = parts, DataFrame({name: parts[0][name].to_arrow()[:0] for name in parts[0].columns})

    @property
    def columns(self) -> pd.Index:
        return self._meta.columns

    def __getitem__(self, names: list[str]) -> DaskFrame:
        return DaskFrame([part[names] for part in self._parts])

    def to_delayed(self) -> list[Any]:
        return [dask.delayed(part, traverse=False) for part in self._parts]

    def compute(self, **_: Any) -> DataFrame:
        tables = [part.to_arrow() for part in self._parts]
        return DataFrame({name: pa.concat_tables(tables)[name].combine_chunks() for name in self.columns})


def stand_in_for_cudf(monkeypatch: Any) -> None:
    """Let `import cudf` give a module with what narwhals asks it for."""
    module = ModuleType("cudf")
    made = staticmethod(lambda table: DataFrame({name: table[name].combine_chunks() for name in table.column_names}))
    module.__version__ = "26.10.0"  # type: ignore[attr-defined]
    module.DataFrame = type("DataFrame", (DataFrame,), {"from_arrow": made, "__module__": "cudf"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cudf", module)
