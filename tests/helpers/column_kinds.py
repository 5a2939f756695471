"""Columns of every type that pandas and Arrow have."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa


def column_kinds(count):
    """A pandas column of every type, of so many values, some of them missing."""
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 50, count)
    some = numbers % 7 != 0
    times = pd.Series(pd.to_datetime("2026-01-01") + pd.to_timedelta(numbers, unit="h"))
    return {
        "int8": numbers.astype(np.int8),
        "int64": numbers.astype(np.int64) - 2**62,
        "uint64": numbers.astype(np.uint64) + np.uint64(2**64 - 100),
        "float32": rng.random(count, np.float32),
        "float64": np.where(some, rng.random(count), np.nan),
        "bool": numbers % 2 == 0,
        "nullable_int": pd.array(np.where(some, numbers + 2**60, 0), "Int64").copy(),
        "nullable_bool": pd.array([bool(n % 2) if n % 7 else None for n in numbers], "boolean"),
        "text": [f"k{n}" if here else None for n, here in zip(numbers, some, strict=True)],
        "category": pd.Categorical([f"c{n % 5}" if here else None for n, here in zip(numbers, some, strict=True)]),
        "numbers_category": pd.Categorical(numbers % 4, ordered=True),
        "time": times.where(some),
        "zoned": times.dt.tz_localize("Europe/Berlin"),
        "duration": pd.Series(pd.to_timedelta(numbers, unit="s")).where(some),
        "date": [datetime.date(2026, 1, 1 + int(n) % 28) for n in numbers],
        "list": [[int(n), 1] for n in numbers],
        "bytes": [bytes([n]) for n in numbers],
        "decimal": [decimal.Decimal(int(n)).scaleb(-9) if n % 7 else None for n in numbers],
        "struct": [{"a": int(n), "b": f"s{n}"} for n in numbers],
        "lists": [[[int(n)], []] for n in numbers],
        "period": pd.Series(pd.period_range("2026-01", periods=count, freq="M")),
        "interval": pd.Series(pd.interval_range(0, count)),
        "arrow_list": pd.array([[int(n)] for n in numbers], pd.ArrowDtype(pa.list_(pa.int32()))),
        "arrow_int": pd.array([int(n) if n % 7 else None for n in numbers], pd.ArrowDtype(pa.int64())),
        "arrow_zoned": pd.array(list(times), pd.ArrowDtype(pa.timestamp("us", "Europe/Berlin"))),
    }  # fmt: skip
