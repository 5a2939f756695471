"""The machinery under the samplers: instances that travel, or that are divided among workers with the whole graph."""

from __future__ import annotations

import numpy as np
import pytest
from followers import STEPS, Follow
from graphs import GRAPHS

import graphdask as gd
from graphdask import execute
from graphdask.errors import InputError


def expected(n, src, dst, starts):
    largest = np.full(n, -1)
    np.maximum.at(largest, src, dst)
    path = np.full((len(starts), STEPS + 1), -1)
    path[:, 0] = starts
    for step in range(STEPS):
        here = path[:, step]
        path[:, step + 1] = np.where(here < 0, -1, largest[here])
    return path


def drawn(graph, starts, placement, client=None):
    return execute.sample(graph, Follow(starts), placement, client=client, progress=False)


@pytest.mark.parametrize("placement", ["replicated", "partitioned", "auto"])
@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("name", ["dense random, directed", "short path", "star outward"])
def test_instances_go_the_same_way_wherever_they_are(name, parts, placement, rng):
    n, src, dst, directed = GRAPHS[name]()[:4]
    graph = gd.from_edges(src, dst, num_vertices=n, directed=directed)
    starts = rng.integers(0, n, 23)
    if not directed:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    r = drawn(graph.partition(parts, by="random", device="cpu"), starts, placement)
    np.testing.assert_array_equal(r.path, expected(n, src, dst, starts))
    assert r.placement == ("partitioned" if placement == "partitioned" else "replicated")
    assert r.stats.ranks == parts
    assert (r.stats.bytes_sent > 0) == (placement == "partitioned" and parts > 1)


def test_on_a_cluster(two_workers, tmp_path, rng):
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    names = np.array([f"v{i:03d}" for i in range(n)])
    starts = rng.integers(0, n, 23)
    paths = names[expected(n, src, dst, starts)]
    graph = gd.from_edges(names[src], names[dst], directed=True)
    numbers = np.array([graph.ids.to_internal(names[start], "start") for start in starts])
    for placement in ("replicated", "partitioned"):
        r = drawn(graph, numbers, placement, two_workers)
        np.testing.assert_array_equal(r.path, paths)
        assert r.stats.ranks == 2
        np.testing.assert_array_equal(two_workers.compute(r.to_dask()["path"]).result(timeout=120), paths)
    r.to_parquet(tmp_path / "out")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(tmp_path / "out")
    assert table["path"].to_pylist() == paths.tolist()
    with pytest.raises(InputError, match="exists; pass overwrite=True"):
        r.to_parquet(tmp_path / "out")


def test_files_of_workers_are_of_one_type_where_one_has_no_rows(tmp_path):
    import pyarrow.parquet

    graph = gd.from_edges(["a", "b"], ["b", "c"]).partition(2, device="cpu")
    gd.sample.random_walk(graph, ["a"], 2).to_parquet(tmp_path / "walks")
    gd.sample.neighbors(graph, ["a"], [1]).to_parquet(tmp_path / "edges")
    assert len(list((tmp_path / "walks").iterdir())) == len(list((tmp_path / "edges").iterdir())) == 2
    assert pyarrow.parquet.read_table(tmp_path / "walks").to_pylist() == [{"walks": ["a", "b", "c"], "lengths": 2}]
    found = pyarrow.parquet.read_table(tmp_path / "edges").to_pylist()
    assert found == [{"src": "a", "dst": "b", "hop": 0, "instance": 0}]


def test_replicas_are_kept_and_shared():
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=True).partition(3, device="cpu")
    first = drawn(graph, np.arange(5), "replicated")
    second = drawn(graph, np.arange(5), "replicated")
    assert first.built.held is second.built.held
    assert len({id(first.built.parts[rank]) for rank in range(3)}) == 1


def test_the_only_partition_is_the_replica():
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    graph = gd.from_edges(src, dst, num_vertices=n, directed=True).partition(1, device="cpu").persist()
    assert drawn(graph, np.arange(5), "auto").built.held is graph.built.parts
