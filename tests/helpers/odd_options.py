"""Values of wrong types, and odd ones of right types, to give for any argument: by name, what makes each anew."""

from __future__ import annotations

import array
import concurrent.futures
import datetime
import decimal
import enum
import fractions
import io
import itertools
import threading
import warnings
from collections import OrderedDict, UserDict, UserString, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import dask
import dask.array
import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp

import graphdask as gd


class Number(enum.IntEnum):
    ONE = 1


class Text(str):
    """A text of a class of its own."""


class Bare:
    """An object that can do nothing."""


class Hostile:
    """An object that cannot be shown, compared, hashed, measured or converted."""

    def refuse(self, *args: Any) -> Any:
        raise RuntimeError("this object does nothing that it is asked for")

    __repr__ = __str__ = __eq__ = __lt__ = __bool__ = __len__ = __iter__ = __index__ = __float__ = refuse  # type: ignore[assignment]
    __array__ = __fspath__ = __getitem__ = __contains__ = refuse
    __hash__ = None  # type: ignore[assignment]


class Endless:
    """A sequence that claims to be long, and has an element at each place."""

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, place: int) -> int:
        return 0


class LikeAClient:
    """What has the methods of a client, and no cluster."""

    asynchronous = False
    status = "running"

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("there is no cluster")

    def scheduler_info(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("there is no cluster")


class NamedPath:
    """A path of a class of its own."""

    def __fspath__(self) -> str:
        return "no such file.txt"


class PathOfBytes:
    """A path whose name is bytes."""

    def __fspath__(self) -> bytes:
        return b"no such file.txt"


Pair = namedtuple("Pair", "src dst")


def generator() -> Iterator[int]:
    yield 0
    yield 1


async def coroutine() -> int:
    return 0


def _ended_coroutine() -> Any:
    """A coroutine that nobody needs to await."""
    made = coroutine()
    made.close()
    return made


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _itself() -> list[Any]:
    value: list[Any] = [0]
    value.append(value)
    return value


def _object_array(*values: Any) -> np.ndarray:
    made = np.empty(len(values), object)
    for place, value in enumerate(values):
        made[place] = value
    return made


def _matrix() -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.asmatrix([[0, 1]])


@cache
def _graph() -> gd.Graph:
    return gd.from_edges([0, 1], [1, 2]).partition(1, device="cpu")


ODD: dict[str, Callable[[], Any]] = {
    # What is there once
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    # Numbers
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "3": lambda: 3,
    "10**12": lambda: 10**12,
    "2**31 - 1 over 2": lambda: (2**31 - 1) / 2,
    "2**63 - 1": lambda: 2**63 - 1,
    "2**63": lambda: 2**63,
    "2**64 - 1": lambda: 2**64 - 1,
    "2**64": lambda: 2**64,
    "-2**63": lambda: -(2**63),
    "-2**63 - 1": lambda: -(2**63) - 1,
    "10**400": lambda: 10**400,
    "10**5000": lambda: 10**5000,
    "0.5": lambda: 0.5,
    "1.0": lambda: 1.0,
    "1.5": lambda: 1.5,
    "-0.0": lambda: -0.0,
    "5e-324": lambda: 5e-324,
    "1e308": lambda: 1e308,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "1j": lambda: 1j,
    "Decimal": lambda: decimal.Decimal("1"),
    "Decimal NaN": lambda: decimal.Decimal("NaN"),
    "Fraction": lambda: fractions.Fraction(1, 3),
    "IntEnum": lambda: Number.ONE,
    # Text, bytes and paths
    "''": lambda: "",
    "'x'": lambda: "x",
    "'1'": lambda: "1",
    "'-'": lambda: "-",
    "' '": lambda: " ",
    "'a newline'": lambda: "a\nb",
    "'a NUL'": lambda: "a\0b",
    "'a lone surrogate'": lambda: "\ud800",
    "'an escaped byte'": lambda: "\udcff",
    "'a digit of another script'": lambda: "\u0661",
    "'{}'": lambda: "{} %s {0} \\",
    "'very long'": lambda: "x" * 100_000,
    "'../..'": lambda: "../..",
    "'/dev/null'": lambda: "/dev/null",
    "'no/such/folder/file.txt'": lambda: "no/such/folder/file.txt",
    "text of a class": lambda: Text("x"),
    "UserString": lambda: UserString("x"),
    "bytes": lambda: b"x",
    "no bytes": lambda: b"",
    "bytearray": lambda: bytearray(b"x"),
    "memoryview": lambda: memoryview(b"x"),
    "Path": lambda: Path("no such file"),
    "PurePath": lambda: PurePosixPath("no such file.txt"),
    "Path of a folder": lambda: Path("."),
    "path of a class": NamedPath,
    "path of bytes": PathOfBytes,
    "StringIO": lambda: io.StringIO("0 1\n"),
    "BytesIO": lambda: io.BytesIO(b"0 1\n"),
    # Objects
    "object": object,
    "object of a class": Bare,
    "hostile object": Hostile,
    "a class": lambda: Bare,
    "int": lambda: int,
    "a function": lambda: generator,
    "a lambda": lambda: lambda *args, **kwargs: None,
    "a lambda of one": lambda: lambda x: x,
    "a builtin": lambda: len,
    "a module": lambda: itertools,
    "a lock": threading.Lock,
    "an exception": lambda: ValueError("x"),
    "date": lambda: datetime.date(2020, 1, 1),
    "timedelta": lambda: datetime.timedelta(1),
    "slice": lambda: slice(None),
    "a future": concurrent.futures.Future,
    "a coroutine": _ended_coroutine,
    "a coroutine function": lambda: coroutine,
    # Collections
    "a generator": generator,
    "an iterator": lambda: iter([0, 1]),
    "an endless iterator": itertools.count,
    "an endless sequence": Endless,
    "zip": lambda: zip([0], [1], strict=True),
    "range": lambda: range(2),
    "a long range": lambda: range(10**12),
    "()": lambda: (),
    "(1,)": lambda: (1,),
    "(0, 1)": lambda: (0, 1),
    "(None, None)": lambda: (None, None),
    "([0], [1])": lambda: ([0], [1]),
    "([0], [1], [2])": lambda: ([0], [1], [2]),
    "namedtuple": lambda: Pair([0], [1]),
    "[]": list,
    "[0]": lambda: [0],
    "[1]": lambda: [1],
    "[-1]": lambda: [-1],
    "[2**63]": lambda: [2**63],
    "[2**64]": lambda: [2**64],
    "[10**400]": lambda: [10**400],
    "[1.5]": lambda: [1.5],
    "[1.0]": lambda: [1.0],
    "[nan]": lambda: [float("nan")],
    "[inf]": lambda: [float("inf")],
    "['a']": lambda: ["a"],
    "['']": lambda: [""],
    "['lone surrogate']": lambda: ["\ud800"],
    "[b'a']": lambda: [b"a"],
    "[None]": lambda: [None],
    "[True]": lambda: [True],
    "[0, 'a']": lambda: [0, "a"],
    "[0, None]": lambda: [0, None],
    "[object]": lambda: [object()],
    "[hostile]": lambda: [Hostile()],
    "[[0]]": lambda: [[0]],
    "[[0, 1], [1, 2]]": lambda: [[0, 1], [1, 2]],
    "ragged": lambda: [[0, 1], [2]],
    "nested": lambda: _nested(200),
    "in itself": _itself,
    "deque": lambda: deque([0, 1]),
    "{}": dict,
    "{0: 1}": lambda: {0: 1},
    "{'a': 1}": lambda: {"a": 1},
    "{'a': [1]}": lambda: {"a": [1]},
    "OrderedDict": lambda: OrderedDict(a=1),
    "defaultdict": lambda: defaultdict(list),
    "UserDict": lambda: UserDict(a=1),
    "set()": set,
    "{0}": lambda: {0},
    "frozenset": lambda: frozenset(["a"]),
    "dict_keys": lambda: {0: 1}.keys(),
    "array.array": lambda: array.array("i", [0, 1]),
    # NumPy
    **{f"np.{name}": (lambda kind=kind: kind(1)) for name, kind in [(t.__name__, t) for t in (
        np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32,
        np.float64, np.longdouble, np.complex64, np.complex128, np.bool_, np.str_, np.bytes_,
    )]},
    "np.float64 nan": lambda: np.float64("nan"),
    "np.float32 inf": lambda: np.float32("inf"),
    "np.uint64 of 2**64 - 1": lambda: np.uint64(2**64 - 1),
    "np.datetime64": lambda: np.datetime64("2020-01-01"),
    "np.datetime64 NaT": lambda: np.datetime64("NaT", "D"),
    "np.timedelta64": lambda: np.timedelta64(1, "D"),
    "np.timedelta64 without a unit": lambda: np.int64(1).view("m8"),
    "np.void": lambda: np.void(b"abc"),
    "np.dtype": lambda: np.dtype("int64"),
    "np.dtype, structured": lambda: np.dtype([("a", int)]),
    "array of no axes": lambda: np.array(1),
    "array of no axes, float": lambda: np.array(1.5),
    "array of no axes, text": lambda: np.array("x"),
    "array": lambda: np.array([0, 1]),
    "array of one": lambda: np.array([0]),
    "array, 2-d": lambda: np.zeros((2, 2), int),
    "array, 3-d": lambda: np.zeros((1, 1, 1), int),
    "array, empty": lambda: np.array([]),
    "array, empty of int": lambda: np.array([], int),
    "array, 0 x 2": lambda: np.zeros((0, 2), int),
    "array of int8": lambda: np.array([0, 1], np.int8),
    "array of uint64": lambda: np.array([0, 2**64 - 1], np.uint64),
    "array of float": lambda: np.array([0.0, 1.0]),
    "array of float16": lambda: np.array([0.5], np.float16),
    "array of longdouble": lambda: np.array([0.5], np.longdouble),
    "array of NaN": lambda: np.array([np.nan, np.inf]),
    "array of complex": lambda: np.array([1j]),
    "array of bool": lambda: np.array([True, False]),
    "array of text": lambda: np.array(["a", "b"]),
    "array of StringDType": lambda: np.array(["a", "b"], np.dtypes.StringDType()),
    "array of bytes": lambda: np.array([b"a"]),
    "array of objects": lambda: np.array([0, "a", None], object),
    "array of hostile": lambda: _object_array(Hostile(), 1),
    "array of arrays": lambda: _object_array(np.zeros(1), np.zeros(2)),
    "array, structured": lambda: np.zeros(2, [("src", int), ("dst", int)]),
    "recarray": lambda: np.zeros(2, [("src", int), ("dst", int)]).view(np.recarray),
    "array of datetime64": lambda: np.array(["2020-01-01", "NaT"], "datetime64[D]"),
    "array of timedelta64": lambda: np.array([1, 2], "timedelta64[s]"),
    "array of void": lambda: np.zeros(2, "V3"),
    "array, big-endian": lambda: np.array([0, 1], ">i8"),
    "array, read-only": lambda: np.broadcast_to(np.int64(0), 3),
    "array, strided": lambda: np.arange(6)[::-2],
    "array, masked": lambda: np.ma.masked_array([0, 1], [True, False]),
    "np.ma.masked": lambda: np.ma.masked,
    "matrix": _matrix,
    "Generator": lambda: np.random.default_rng(1),
    # What other packages hold
    "sparse matrix": lambda: sp.csr_matrix(np.eye(3)),
    "sparse array": lambda: sp.coo_array(np.eye(3)),
    "sparse array, 2 x 3": lambda: sp.csc_array((2, 3)),
    "sparse array of complex": lambda: sp.csr_array(np.eye(3) * 1j),
    "sparse array of objects": lambda: sp.coo_array((np.array([1.5]), ([0], [1])), shape=(2, 2)).astype(bool),
    "DataFrame": lambda: pd.DataFrame({"src": [0, 1], "dst": [1, 2]}),
    "DataFrame, empty": pd.DataFrame,
    "Series": lambda: pd.Series([0, 1]),
    "Series of text": lambda: pd.Series(["a", None]),
    "Categorical": lambda: pd.Categorical(["a", "b"]),
    "Index": lambda: pd.Index([0, 1]),
    "pd.NA": lambda: pd.NA,
    "pd.NaT": lambda: pd.NaT,
    "Series with NA": lambda: pd.Series([0, None], dtype="Int64"),
    "Timestamp": lambda: pd.Timestamp("2020-01-01"),
    "Arrow array": lambda: pa.array([0, None]),
    "Arrow table": lambda: pa.table({"src": [0, 1], "dst": [1, 2]}),
    "Arrow scalar": lambda: pa.scalar(1),
    "Dask array": lambda: dask.array.from_array(np.array([0, 1]), chunks=1),
    "delayed": lambda: dask.delayed(1),
    "NetworkX graph": lambda: nx.path_graph(3),
    "NetworkX multigraph": lambda: nx.MultiDiGraph([("a", "b"), ("a", "b")]),
    # Graphdask's own
    "Graph": _graph,
    "DynamicGraph": lambda: gd.DynamicGraph(_graph()),
    "Result": cache(lambda: gd.connected_components(_graph())),
    "Samples": cache(lambda: gd.sample.random_walk(_graph(), [0], 1)),
    "Spec": lambda: gd.sample.Spec(neighbor_size=1, depth=1),
    "Streamed": gd.sample.Streamed,
    "EdgeList": lambda: gd.io.EdgeList(np.array([0]), np.array([1])),
    "like a client": LikeAClient,
}  # fmt: skip
