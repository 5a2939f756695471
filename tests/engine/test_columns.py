"""Columns of results on the host and on a device: the same values, in the caller's order, without needless copies."""

from __future__ import annotations

import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError, Unsupported

PARTS = (1, 2, 3, 4, 7)


def ring(count: int = 40, first: int = 0, step: int = 1) -> gd.Graph:
    ids = first + step * np.arange(count)
    return gd.from_edges(ids, np.roll(ids, -1), directed=False)


@pytest.fixture(params=["emulated", pytest.param("cuda", marks=pytest.mark.gpu)])
def gpu(request, monkeypatch):
    """A GPU, and what stands for CuPy."""
    if request.param == "emulated":
        stand_in(monkeypatch, emulated())
    return get_backend("cuda").xp


@pytest.mark.parametrize("by", ["range", "random", "owners"])
@pytest.mark.parametrize("parts", PARTS)
def test_a_column_is_in_the_callers_order(parts, by):
    owners = np.arange(40) * 3 % parts if by == "owners" else by
    found = gd.bfs(ring().partition(parts, by=owners, device="cpu"), 7)
    expected = np.minimum(np.abs(np.arange(40) - 7), 40 - np.abs(np.arange(40) - 7))
    for values in (found.depth, found.column("depth"), found.column("depth", "cpu")):
        np.testing.assert_array_equal(values, expected)
        assert not values.flags.writeable


def test_one_partition_in_the_callers_order_is_not_copied():
    found = gd.bfs(ring().partition(1, by="range", device="cpu"), 7)
    (of_rank,) = found.parts.values
    assert np.shares_memory(found.depth, of_rank.columns["depth"])
    assert np.shares_memory(found.column("depth"), found.depth)


@pytest.mark.parametrize(("first", "step"), [(0, 1), (5, 1), (4, 3)], ids=["identity", "shifted", "sparse"])
@pytest.mark.parametrize("by", ["range", "random"])
@pytest.mark.parametrize("parts", PARTS)
def test_a_column_of_a_device_stays_there(gpu, parts, by, first, step):
    G = ring(first=first, step=step)
    source = int(G.vertex_ids[3])
    found = gd.bfs(G.partition(parts, by=by, device="cuda"), source)
    expected = gd.bfs(G.partition(1, device="cpu"), source)
    for name in ("depth", "parent"):
        for values in (found.column(name), found.column(name, "cuda")):
            assert isinstance(values, gpu.ndarray)
            assert hasattr(values, "__dlpack__")
        assert gpu.asnumpy(found.column("depth")).tolist() == expected.depth.tolist()
    parent = gpu.asnumpy(found.column("parent"))
    assert parent.tolist() == found.parent.tolist()
    assert isinstance(found.column("depth", device="cpu"), np.ndarray)
    found.verify()


def test_one_partition_of_a_device_is_not_copied(gpu):
    found = gd.bfs(ring().partition(1, by="range", device="cuda"), 7)
    assert found.column("depth") is found.parts.values[0].columns["depth"]


def test_values_of_the_host_are_brought_to_the_device(gpu):
    found = gd.bfs(ring().partition(2, by="random", device="cpu"), 7)
    assert isinstance(found.column("depth"), np.ndarray)
    values = found.column("depth", device="cuda")
    assert isinstance(values, gpu.ndarray)
    assert gpu.asnumpy(values).tolist() == found.depth.tolist()


def test_columns_of_samples_stay_on_the_device(gpu):
    G = ring().partition(device="cuda")
    walks = gd.sample.random_walk(G, range(9), 5)
    assert isinstance(walks.column("walks"), gpu.ndarray)
    assert gpu.asnumpy(walks.column("walks")).tolist() == walks.walks.tolist()
    hops = gd.k_hop_neighbors(G, [3, 5], 2)
    assert isinstance(hops.column("vertex"), np.ndarray)
    assert gpu.asnumpy(hops.column("vertex", "cuda")).tolist() == hops.vertex.tolist()


def test_names_are_values_of_the_host(gpu):
    found = gd.bfs(gd.from_edges(["a", "b"], ["b", "c"]).partition(device="cuda"), "a")
    assert found.column("parent", "cpu").tolist() == ["a", "a", "b"]
    assert gpu.asnumpy(found.column("depth")).tolist() == [0, 1, 2]
    with pytest.raises(Unsupported, match=r'values of parent are names.*take device="cpu"'):
        found.column("parent", device="cuda")


def test_errors_say_what_to_do(host):
    host.without("cupy")
    found = gd.bfs(ring().partition(device="cpu"), 7)
    with pytest.raises(Unsupported, match=r'column\(\'depth\', device="cuda"\) needs CuPy and a GPU.*device="cpu"'):
        found.column("depth", device="cuda")
    with pytest.raises(InputError, match="there is no column 'rank'; columns: depth, parent"):
        found.column("rank")
    with pytest.raises(InputError, match="device='gpu' is neither None nor one of cpu, cuda"):
        found.column("depth", "gpu")


@pytest.mark.slow
def test_a_column_of_workers_comes_to_the_host(two_workers):
    found = gd.bfs(ring().partition(2, by="random", device="cpu"), 7, client=two_workers)
    assert found.column("depth").tolist() == found.depth.tolist()
