"""Each argument of each public function that takes a sequence of numbers takes it from every library, with one answer.

The calls are those of `public_calls`, and what is optional in them is below. Other tests compare the answers of arrays
of NumPy with those of others; here arrays of others are compared with these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from emulated import emulated, stand_in
from foreign_arrays import OnDevice, WithArrow, WithDlpack, WithStream
from public_calls import CALLS, Fuzzed
from tiny_world import World

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.device.residency import fetched
from graphdask.results.result import Result
from graphdask.sample import Samples

OPTIONAL: dict[str, dict[str, Any]] = {
    "bfs": {"source": [1, 2], "targets": [1, 2]},
    "sssp": {"source": [1, 2], "targets": [1, 2]},
    **{
        measure: {"sources": [1, 2]}
        for measure in ("betweenness", "edge_betweenness", "closeness_centrality", "harmonic_centrality")
    },
    "eigenvector_centrality": {"start": [0.1, 0.2, 0.3, 0.4]},
    "hits": {"start": [0.1, 0.2, 0.3, 0.4]},
    "pagerank": {"personalization": [0.1, 0.2, 0.3, 0.4], "start": [0.1, 0.2, 0.3, 0.4]},
    "from_edges": {
        "weights": [1.0, 2.0], "vertices": [0, 1, 2, 5], "edge_columns": {"t": [1, 2]},
        "vertex_columns": {"s": [1, 2, 3]},
    },
    **{
        measure: {"pairs": [[0, 1], [1, 2]], "vertices": [0, 1]}
        for measure in ("jaccard", "overlap", "cosine", "sorensen")
    },
    "run": {"init": {"label": [1, 2, 3, 4]}},
    "Graph.partition": {"by": [0, 1, 0, 1, 0]},
    "GraphQueries.has_edge": {"u": [0, 1], "v": [0, 1]},
    "TypedGraph.subgraph": {"vertices": [0, 1, 2]},
    "DynamicGraph.update": {"insert": ([0], [2]), "delete": ([0], [1])},
    "from_frame": {
        "df": {"src": [0, 1], "dst": [1, 2], "w": [1.0, 2.0], "t": [1, 2]}, "vertex_columns": {"id": [5], "s": [1]},
    },
    "from_frames": {"edges": {("a", "x", "b"): ([0, 1], [3, 2])}, "vertices": {"a": [0, 1, 2], "b": [2, 3]}},
    **{loader: {"x": [[1.0, 2.0]] * 5, "y": [1, 2, 3, 4, 5]} for loader in ("ClusterLoader", "ShaDowLoader")},
    "NeighborLoader": {
        "x": [[1.0, 2.0]] * 5, "y": [1, 2, 3, 4, 5], "input_time": [5.0, 6.0], "times": [1, 2, 3, 4, 5, 6],
    },
    "TypedNeighborLoader": {
        "input_nodes": ("b", [2, 3]), "x": {"a": [[1.0], [2.0]], "b": [[1.0], [2.0]]}, "y": {"a": [1, 2], "b": [1, 2]},
        "input_time": [8, 9], "times": {"x": [7, 8]},
    },
    "LinkNeighborLoader": {
        "edge_label_index": [[0, 1], [1, 2]], "edge_label": [1, 0, 1, 0, 1, 0], "x": [[1.0, 2.0]] * 5,
        "y": [1, 2, 3, 4, 5], "edge_label_time": [6, 5, 4, 3, 2, 1], "times": [1, 2, 3, 4, 5, 6],
    },
    "TypedLinkNeighborLoader": {
        "edge_label_index": ("x", [[0, 1], [3, 2]]), "edge_label": [1.0],
        "x": {"a": [[1.0], [2.0]], "b": [[1.0], [2.0]]}, "y": {"a": [1, 2], "b": [1, 2]}, "edge_label_time": [8],
        "times": {"x": [7, 8]},
    },
    "HGTLoader": {
        "input_nodes": ("b", [2, 3]), "x": {"a": [[1.0], [2.0]], "b": [[1.0], [2.0]]}, "y": {"a": [1, 2], "b": [1, 2]},
    },
    "NegativeSampling": {"src_weight": [1.0, 2.0, 3.0, 4.0, 5.0], "dst_weight": [1.0, 2.0, 3.0, 4.0, 5.0]},
    "sample.frontier_sampling": {"pools": [[0, 1], [2, 3]]},
    "sample.temporal_neighbors": {"times": [1, 2, 3, 4, 5, 6]},
    "plot.curves": {"ticks": [1, 2]},
    "plot.draw": {"layout": [[0.0, 1.0]] * 4},
    "scale.run": {"workers": [1], "scales": [2]},
    "Spec": {"neighbor_size": [2, 1]},
}  # fmt: skip
"""Arguments of base calls in place of, or beside, their own."""

BESIDE: dict[tuple[str, str], dict[str, Any]] = {
    ("NeighborLoader", "times"): {"input_time": 6},
    ("LinkNeighborLoader", "times"): {"edge_label_time": 6},
    ("TypedNeighborLoader", "input_time"): {"times": "t"},
    ("TypedNeighborLoader", "times"): {"input_time": 9},
    ("TypedLinkNeighborLoader", "edge_label_time"): {"times": "t"},
    ("TypedLinkNeighborLoader", "times"): {"edge_label_time": 9},
}
"""What an argument goes with."""

LOW = {"EdgeList": "columns of files, which are NumPy's", "io.slices": "as EdgeList"}
"""What takes arrays of NumPy only, with the reason; it refuses others by name."""


def chunked(values: Any) -> Any:
    """In two chunks, of which the second may be empty."""
    column = pa.array(values)
    return pa.chunked_array([column[:1], column[1:]])


HOST = {
    "dlpack": WithDlpack, "stream": WithStream, "arrow": WithArrow, "pyarrow": pa.array, "pandas": pd.Series,
    "chunks": chunked, "categories": lambda values: pa.array(values).dictionary_encode(), "index": pd.Index,
}  # fmt: skip


def numbers(value: Any) -> bool:
    """Whether a value is a list or an array of numbers."""
    if isinstance(value, list):
        return bool(value) and all(type(each) in (int, float) for each in value)
    return isinstance(value, np.ndarray) and value.dtype.kind in "iuf"


def arguments(name: str, world: World) -> Iterator[tuple[str, Any]]:
    """What to vary of a call."""
    given = {argument: value for argument, value in CALLS[name].arguments(world).items() if numbers(value)}
    yield from (given | OPTIONAL.get(name, {})).items()


def made(value: Any, of: Callable[[np.ndarray], Any], flat: bool) -> Any:
    """A value with each of its sequences made by `of`, but those of two dimensions where these are `flat` only."""
    if isinstance(value, dict):
        return {key: made(each, of, flat) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(made(each, of, flat) for each in value)
    if not isinstance(value, list | np.ndarray):
        return value
    array = np.asarray(value)
    return array if flat and array.ndim != 1 else of(array)


def plain(value: Any) -> Any:
    """What a call returned, for `==`."""
    if isinstance(value, gd.Graph):
        return {"edges": [None if each is None else each.tolist() for each in value.edges("cpu")],
                "ids": np.asarray(value.vertex_ids).tolist()}  # fmt: skip
    if isinstance(value, Result | Samples):
        return {name: np.asarray(fetched(value.column(name))).tolist() for name in value.columns}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if hasattr(value, "tolist"):
        return fetched(value).tolist()
    if hasattr(value, "numpy"):
        return value.numpy().tolist()
    if is_dataclass(value) and not isinstance(value, type) and type(value).__name__.endswith("Batch"):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    return value if isinstance(value, int | float | str | None) else type(value).__name__


def called(name: str, world: World, argument: str, value: Any) -> Any:
    """What the base call returns, with a value of an argument and what that goes with."""
    each, beside = Fuzzed.of(name, world), BESIDE.get((name, argument), {})
    call = replace(each.call, arguments=lambda world: each.call.arguments(world) | beside)
    return replace(each, call=call).with_value(argument, value)


def check(world: World, kinds: dict[str, Callable[[np.ndarray], Any]], flat: tuple[str, ...] = ()) -> None:
    """Call everything with arrays of each kind."""
    wrong = []
    for name in sorted(CALLS.keys() - LOW.keys()):
        for argument, value in arguments(name, world):
            expected = plain(called(name, world, argument, made(value, np.asarray, False)))
            for kind, of in kinds.items():
                try:
                    found = plain(called(name, world, argument, made(value, of, kind in flat)))
                except Exception as error:
                    wrong.append(f"{name}({argument}) of {kind}: {type(error).__name__}: {error}")
                else:
                    if found != expected:
                        wrong.append(f"{name}({argument}) of {kind}: {found} for {expected}")
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    return World(tmp_path_factory.mktemp("world"))


pytestmark = pytest.mark.filterwarnings("ignore::graphdask.GraphdaskWarning")


def test_arrays_of_the_host(world):
    check(world, HOST, flat=tuple(kind for kind in HOST if kind != "dlpack"))


@pytest.mark.parametrize("package", ["torch", "polars"])
def test_arrays_of_libraries_that_may_be_missing(world, package):
    library = pytest.importorskip(package)
    make = library.as_tensor if package == "torch" else library.Series
    check(world, {package: make}, flat=("polars",))


@pytest.mark.slow
@pytest.mark.parametrize("device", ["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_arrays_of_a_device(world, device, monkeypatch):
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    xp = get_backend("cuda").xp
    check(world, {"cupy": xp.asarray, "tensor": lambda values: OnDevice(xp.asarray(values))})


def test_rows_of_tables_are_taken_by_place():
    G = gd.from_edges([0, 1, 2], [1, 2, 0])
    rows = np.arange(6.0).reshape(3, 2)
    series = pd.Series([5, 6, 7], index=[2, 1, 0])
    for x in (
        pd.DataFrame(rows, index=[2, 0, 1]),
        pa.table({"a": rows[:, 0], "b": rows[:, 1]}).to_pandas(),
        rows.tolist(),
    ):
        (batch,) = gd.sample.NeighborLoader(G, [1], [2], x=x, y=series)
        assert batch.x.tolist() == rows[batch.n_id].tolist()
        assert batch.y.tolist() == [5 + vertex for vertex in batch.n_id]


def test_each_call_whose_arguments_are_listed_is_there():
    assert OPTIONAL.keys() | LOW.keys() <= CALLS.keys()
