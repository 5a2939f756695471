"""Arrays of other libraries are taken wherever arrays are: of the host by each protocol, and of a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulated import emulated, stand_in
from foreign_arrays import OnDevice, WithArrow, WithDlpack, WithStream

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import GraphdaskError, InputError, MissingDependency
from graphdask.partition.given import given_array, given_where_it_is, plain_numbers

VERTICES, EDGES = 60, 300


def of_library(module: str, name: str) -> Callable[[Any], Any]:
    return lambda values: getattr(pytest.importorskip(module), name)(values)


HOST = {
    "dlpack": WithDlpack,
    "stream": WithStream,
    "arrow-array": WithArrow,
    "list": lambda values: values.tolist(),
    "pyarrow": of_library("pyarrow", "array"),
    "pandas": of_library("pandas", "Series"),
    "polars": of_library("polars", "Series"),
    "torch": of_library("torch", "as_tensor"),
}


@pytest.fixture(params=["cupy", "dlpack"])
def of_device(request, device, monkeypatch) -> Callable[[np.ndarray], Any]:
    """Puts an array on the device, as CuPy's or as one with DLPack only."""
    if device == "emulated":
        stand_in(monkeypatch, emulated())
    xp = get_backend("cuda").xp
    return xp.asarray if request.param == "cupy" else lambda values: OnDevice(xp.asarray(values))


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request) -> str:
    return request.param


def ends_and_weights() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    src, dst = rng.integers(0, VERTICES, (2, EDGES))
    return src, dst, rng.integers(1, 9, EDGES).astype(np.float32)


def answers(of: Callable[[np.ndarray], Any]) -> list[Any]:
    """Of calls that take every kind of argument that is an array, made by `of`."""
    src, dst, weights = ends_and_weights()
    vertices, some = np.arange(VERTICES + 3), np.array([3, 5, 8])
    G = gd.from_edges(of(src), of(dst), of(weights), vertices=of(vertices)).partition(device="cpu")
    undirected = gd.from_edges(of(src), of(dst), directed=False, vertices=of(vertices))
    shares = np.linspace(0.0, 1.0, len(vertices))
    found = [
        G.report,
        gd.bfs(G, of(some[:1])).depth,
        gd.sssp(G, of(some), targets=of(some + 1)).distance[some + 1],
        gd.betweenness(G, sources=of(some)).score,
        gd.pagerank(G, personalization=of(shares)).rank,
        gd.modularity(undirected, of(vertices % 5)).modularity,
        gd.jaccard(G, pairs=of(np.stack([some, some[::-1]], axis=1))).score,
        gd.sample.random_walk(G, of(some), 6).walks,
        gd.sample.neighbors(G, of(some), of(np.array([2, 2]))).dst,
        gd.sample.neighbors(G, [of(some), of(some[:2])], [2]).src,
        gd.subgraph(G, of(some)).src,
        gd.k_hop_neighbors(G, of(some), 2).vertex,
        gd.bfs(G.partition(by=of(np.arange(len(vertices)) % 2), parts=2, device="cpu"), 3).depth,
    ]
    D = gd.DynamicGraph(G)
    D.update(insert=(of(src[:9] + 1), of(dst[:9]), of(weights[:9])), delete=(of(src[:4]), of(dst[:4])))
    D.update(delete=of(np.stack([src[5:9], dst[5:9]])))
    return [*found, D.num_edges, gd.sssp(D, 3).distance]


def assert_same(found: list[Any], expected: list[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, np.ndarray):
            np.testing.assert_array_equal(one, other)
        else:
            assert one == other


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in HOST if kind not in ("list", "stream", "arrow-array", "pyarrow",
                                                                        "pandas", "polars")])  # fmt: skip
def test_host_arrays_of_any_dimensions_are_taken_everywhere(kind):
    assert_same(answers(HOST[kind]), answers(np.asarray))


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOST)
def test_host_columns_are_taken_everywhere(kind):
    def of(values: np.ndarray) -> Any:
        return HOST[kind](values) if values.ndim == 1 else values

    assert_same(answers(of), answers(np.asarray))


@pytest.mark.slow
def test_device_arrays_are_taken_everywhere(of_device):
    assert_same(answers(of_device), answers(np.asarray))


@pytest.mark.parametrize("kind", ["stream", "arrow-array", "pyarrow", "pandas", "polars"])
def test_names_are_taken_from_columns(kind):
    names = ["Ada", "Grace", "Emmy", "Ada"]
    G = gd.from_edges(HOST[kind](names), HOST[kind](names[::-1]))
    assert G.vertex_ids.tolist() == ["Ada", "Emmy", "Grace"]


@pytest.mark.parametrize("kind", ["stream", "arrow-array", "pyarrow", "polars"])
@pytest.mark.parametrize("values", [[4, None, 6], ["a", None, "b"]], ids=["numbers", "names"])
def test_missing_ids_are_named(kind, values):
    with pytest.raises(InputError, match=r"src\[1\].* is missing"):
        gd.from_edges(HOST[kind](values), HOST[kind](values))


def in_chunks(values: list[Any], kind: Any) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.chunked_array([pa.array(values[:2], kind), pa.array(values[2:], kind)])


@pytest.mark.parametrize("of", [lambda column: column, WithStream], ids=["pyarrow", "stream"])
@pytest.mark.parametrize("values", [[5, None, 7], ["x", None, "y"]], ids=["numbers", "names"])
def test_a_missing_category_is_none_of_the_others(of, values):
    column = of(in_chunks(values, None).dictionary_encode())
    with pytest.raises(InputError, match=r"src\[1\].* is missing"):
        gd.from_edges(column, [0, 1, 2])
    with pytest.raises(InputError, match=r"weights"):
        gd.from_edges([0, 1, 2], [1, 2, 0], column)
    assert gd.from_edges([0, 1, 2], [1, 2, 0], edge_columns={"c": column}).edge_column("c").tolist() == values


def test_columns_of_pandas_with_views_of_strings_are_taken():
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    names = pd.Series(["a", "b" * 30], dtype=pd.ArrowDtype(pa.string_view()))
    assert gd.from_edges(names, names).vertex_ids.tolist() == ["a", "b" * 30]


@pytest.mark.parametrize(
    ("weights", "named"),
    [([1, None, 3], r"\[1\] is None"), ([2**70, 1, 2], r"\[0\] is 1180"), (["4", "5"], r"\[0\] is '4'")],
)
def test_a_weight_that_is_no_number_is_named(weights, named):
    with pytest.raises(InputError, match=f"weights are whole numbers or floats .{named}"):
        gd.from_edges([0] * len(weights), [1] * len(weights), weights)


def test_a_device_array_stays_where_it_is(of_device):
    there = of_device(np.arange(5))
    found = given_where_it_is("seeds", there)
    assert isinstance(found, get_backend("cuda").xp.ndarray)
    assert given_array("seeds", there).tolist() == list(range(5))


def test_a_device_array_without_cupy_or_device_is_refused(host):
    host.without("cupy")
    given = OnDevice(emulated().xp.asarray(np.arange(5)))
    with pytest.raises(MissingDependency, match=r"src is on a GPU, and CuPy.* pip install"):
        gd.from_edges(given, given)


def test_what_cupy_refuses_says_why(monkeypatch):
    stand_in(monkeypatch, emulated())

    class Refused(OnDevice):
        def device_array(self) -> Any:
            raise BufferError("can't export tensors that require gradient")

    with pytest.raises(InputError, match="weights is on a GPU, and CuPy makes no array of it: can't export"):
        gd.from_edges([0], [1], Refused(emulated().xp.asarray(np.ones(1))))


@pytest.mark.parametrize(
    "values",
    [range(5), range(7, 2, -2), range(0), [3, 1], (2**62, 2**63 - 1), [2**63], [True, 4], [1.5, 2], [],
     [4, True, 2], [4, 2.5, 7], (-(2**31), 2**31 - 1), [0, 2**31, 1], [1, 2**70, 0],
     [3, np.int64(4), 5], [np.uint8(3), np.uint8(255)], [np.int64(3), np.uint8(4)], [np.float32(1), np.float32(2)],
     [np.uint64(2**63 + 5)] * 2, [np.timedelta64(3, "s")] * 2, [1, [2][0], 1j], [105] * 5],
    ids=str,
)  # fmt: skip
def test_sequences_become_what_numpy_makes_of_them(values):
    found, expected = given_array("seeds", values), np.asarray(values)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([2**63 + 5, 1], np.uint64), ([1, np.uint64(2**63 + 1)], np.uint64), ([2**63 - 1, np.int8(-1)], np.int64),
     ([2**63 + 5, -1], object), ([2**64, 1], object)],
    ids=str,
)  # fmt: skip
def test_whole_numbers_of_a_list_stay_as_they_are(values, dtype):
    found = given_array("seeds", values)
    assert (found.dtype, found.tolist()) == (dtype, [int(value) for value in values])


@pytest.mark.parametrize("wide", [2**63 + 5, 2**64 - 1, 2**64, np.uint64(2**63)], ids=str)
def test_ids_and_weights_that_64_bits_do_not_hold_are_named(wide):
    for src, dst, name in (([wide], [1], "src"), ([1, 2], [3, wide], "dst")):
        with pytest.raises(InputError, match=rf"{name}\[{len(src) - 1}\] = {wide} is above the largest vertex id"):
            gd.from_edges(src, dst)
    if wide < 2**64:
        with pytest.raises(
            InputError, match=rf"weights\[1\] = {wide} is above 2\*\*63 - 1; give the weights as floats"
        ):
            gd.from_edges([0, 1], [1, 2], [3, wide])


@pytest.mark.parametrize("value", [True, None, 2.0, "7", b"7", 2**31, np.int64(7), np.array([7]), (7,), 1j, object()])
def test_only_plain_plain_numbers_are_read_in_one_pass(value):
    for some in ([7, value, 7], (7, value, 7), [np.uint8(7), value], []):
        assert plain_numbers(some) is None
    np.testing.assert_array_equal(
        plain_numbers([7, -(2**31), 2**31 - 1, 0x69696969]), [7, -(2**31), 2**31 - 1, 0x69696969]
    )


@pytest.mark.parametrize(("value", "message"), [
    (2.0, r"seed .\.0 is not a whole number"), ("7", "seed '7' is not a whole number"), (-1, "seed -1 is not"),
    (None, "seed None is not a whole number"), (2**70, f"seed {2**70} is not"), ([[1]], "not all of them have one"),
])  # fmt: skip
def test_a_wrong_element_of_a_list_of_seeds_is_named(value, message):
    G = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    for seeds in ([3, value, 2], (3, value, 2), [value]):
        with pytest.raises(GraphdaskError, match=message):
            gd.sample.neighbors(G, seeds, [1])


def test_a_source_given_twice_is_named_among_many():
    G = gd.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    with pytest.raises(InputError, match="source 2 is given twice"):
        gd.betweenness(G, sources=[3, 2, 1, 2, 3])
