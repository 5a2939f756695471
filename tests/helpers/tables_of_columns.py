"""Tables of columns of every Arrow type that a file may hold, for tests of reading and writing."""

import datetime
import decimal

import numpy as np
import pyarrow as pa


def string_array(strings):
    """Strings of any length, in an array of NumPy."""
    return np.array(strings, np.dtypes.StringDType())


def table_of_types(count, seed=3):
    """A column of every type, some with nulls; categories that no row holds, and with an order."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 50, count)
    some = numbers % 7 != 0

    def nullable(values, kind):
        return pa.array([value if here else None for value, here in zip(values, some.tolist(), strict=True)], kind)

    def coded(indices, words, kind, ordered=False):
        indices = pa.array([index if here else None for index, here in zip(indices, some.tolist(), strict=True)], kind)
        return pa.DictionaryArray.from_arrays(indices, words, ordered=ordered)

    listed = numbers.tolist()
    words = [f'k{n}, "{n}"' for n in listed]
    floats = pa.float64()
    seconds = [datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=n) for n in listed]
    return pa.table({
        "int8": pa.array(numbers.astype(np.int8)),
        "int64": nullable((numbers + 2**60).tolist(), pa.int64()),
        "uint64": pa.array(numbers.astype(np.uint64) + np.uint64(2**64 - 100)),
        "float32": pa.array(rng.random(count, np.float32)),
        "float64": nullable(rng.random(count).tolist(), pa.float64()),
        "bool": nullable([n % 2 == 0 for n in listed], pa.bool_()),
        "string": nullable(words, pa.string()),
        "large_string": nullable(words, pa.large_string()),
        "category": coded([n % 3 for n in listed], ["a", "b", "c", "none"], pa.int8()),
        "ordered": coded([n % 3 for n in listed], pa.array([9, 4, 7, 1]), pa.int16(), True),
        "date": nullable([datetime.date(2026, 1, 1 + n % 28) for n in listed], pa.date32()),
        "date64": nullable([datetime.date(2026, 1, 1 + n % 28) for n in listed], pa.date64()),
        "timestamp_s": nullable(seconds, pa.timestamp("s")),
        "timestamp_ns": nullable(seconds, pa.timestamp("ns")),
        "zoned": nullable(seconds, pa.timestamp("us", "Europe/Berlin")),
        "clock": nullable([datetime.time(n % 24, 5) for n in listed], pa.time32("s")),
        "duration": nullable(listed, pa.duration("s")),
        "decimal": nullable([decimal.Decimal(n) / 4 for n in listed], pa.decimal128(8, 2)),
        "binary": nullable([bytes([n]) for n in listed], pa.binary()),
        "list": nullable([[n, 1] for n in listed], pa.list_(pa.int32())),
        "struct": nullable([{"x": n, "y": [0.5]} for n in listed], pa.struct({"x": pa.int8(), "y": pa.list_(floats)})),
        "nothing": pa.nulls(count),
    })  # fmt: skip


def same_columns(table, expected):
    """Whether tables have the same names, types and values, whatever chunks they are in."""
    if table.column_names != expected.column_names or table.num_rows != expected.num_rows:
        return False
    return all(
        table[name].type == expected[name].type and table[name].combine_chunks().equals(expected[name].combine_chunks())
        for name in expected.column_names
    )
