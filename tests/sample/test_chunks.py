"""Samples in chunks are those in one piece; what is written, what is alive, and what is refused."""

from __future__ import annotations

import gc
import weakref

import dask
import numpy as np
import pyarrow.parquet
import pytest

import graphdask as gd
from graphdask import sample
from graphdask.display.tuning import DISPLAY
from graphdask.errors import InputError, OutputExists, OverBudget, Unsupported, VerificationError
from graphdask.sample import Samples, in_chunks

G = gd.from_edges(*gd.generate.preferential_attachment(300, 4, seed=2).edges()[:2], directed=False)
STARTS = np.arange(0, 300, 7)
CALLS = {
    "walks that go back": (sample.random_walk, STARTS, 9, {"restart": 0.2, "bias": "degree"}),
    "node2vec": (sample.node2vec, STARTS, 9, {"p": 3.0, "q": 0.5}),
    "neighbours": (sample.neighbors, [STARTS[i : i + 3] for i in range(41)], [3, 2], {"bias": "degree"}),
    "layers": (sample.layer, STARTS, [3, 2], {}),
    "fires": (sample.forest_fire, STARTS, 0.5, {}),
    "pools": (sample.frontier_sampling, STARTS[:42].reshape(21, 2), 5, {}),
    "temporal neighbours": (
        sample.temporal_neighbors,
        STARTS,
        [3, 2],
        {"seed_times": STARTS, "times": np.arange(G.num_edges) % 300},
    ),
    "metapaths": (sample.metapath_walk, STARTS, 4, {"metapath": [0, 1], "edge_types": np.arange(G.num_edges) % 2}),
    "PageRank": (sample.personalized_pagerank, STARTS, 30, {}),
    "a spec": (sample.run, sample.Spec(neighbor_size=2, depth=2), STARTS, {}),
}


def folder_of(path):
    return pyarrow.parquet.read_table(path).to_pydict()


@pytest.mark.parametrize("name", CALLS)
def test_chunks_are_the_whole(name):
    function, *arguments, options = CALLS[name]
    for parts, placement in ((1, "replicated"), (3, "partitioned")):
        H = G.partition(parts, device="cpu")
        whole = function(H, *arguments, seed=3, placement=placement, **options)
        chunks = in_chunks(function, H, *arguments, seed=3, placement=placement, **options, chunk=19)
        found = [some.verify() for some in chunks]
        assert len(found) == len(chunks) > 1
        assert {type(some) for some in found} == {type(whole)}
        for column in whole.columns:
            together = np.concatenate([getattr(some, column) for some in found])
            assert together.tolist() == getattr(whole, column).tolist()
    if name in ("walks that go back", "neighbours"):
        where = sample.Streamed(partitions=3, resident=1, batch=5)
        streamed = list(in_chunks(function, G, *arguments, seed=3, placement=where, **options, chunk=19))
        assert [some.verify().placement for some in streamed] == ["streamed"] * len(chunks)
        together = np.concatenate([getattr(some, whole.columns[0]) for some in streamed])
        assert together.tolist() == getattr(whole, whole.columns[0]).tolist()


def test_a_chunk_numbers_its_instances_as_the_whole_does():
    seeds = [STARTS[i : i + 3] for i in range(41)]
    whole = sample.neighbors(G, seeds, [3, 2])
    _, second, _ = in_chunks(sample.neighbors, G, seeds, [3, 2], chunk=19)
    for instance in (19, 37):
        mine, theirs = second.subgraph(instance), whole.subgraph(instance)
        for name in ("nodes", "row", "col", "hop"):
            assert getattr(mine, name).tolist() == getattr(theirs, name).tolist()
        assert mine.sizes == theirs.sizes
    assert second.node_offsets.tolist() == (whole.node_offsets[19:39] - whole.node_offsets[19]).tolist()
    with pytest.raises(InputError, match="instance=18 is none of the 19 instances, 19 to 37"):
        second.subgraph(18)


def test_files_hold_the_whole_and_one_chunk_is_alive_at_a_time(tmp_path, monkeypatch, watched):
    alive: weakref.WeakSet[Samples] = weakref.WeakSet()
    watched(Samples, "__init__", lambda made, *given: alive.add(made))

    def count(*given):
        gc.collect()
        return len(alive)

    most = watched(Samples, "write_into", count)
    H = G.partition(2, device="cpu")
    found = in_chunks(sample.random_walk, H, STARTS, 9, chunk=10).to_parquet(tmp_path / "walks", verify=True)
    assert most == [1] * 5
    assert (found.chunks, found.instances, found.rows, found.edges) == (5, 43, 43, 43 * 9)
    names = sorted(file.name for file in (tmp_path / "walks").iterdir())
    assert names[0] == "part-00000-00000.parquet"
    monkeypatch.undo()
    whole = sample.random_walk(G, STARTS, 9)
    assert folder_of(tmp_path / "walks") == {"walks": whole.walks.tolist(), "lengths": whole.lengths.tolist()}


def test_nothing_is_left_of_files_where_a_chunk_fails(tmp_path, fault):
    fault(Samples, "verify", VerificationError("wrong"), lambda samples: samples.sampler.first)
    with pytest.raises(VerificationError):
        in_chunks(sample.random_walk, G, STARTS, 9, chunk=10).to_parquet(tmp_path / "walks", verify=True)
    assert not (tmp_path / "walks").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    with pytest.raises(InputError, match="holds what graphdask did not write"):
        in_chunks(sample.random_walk, G, STARTS, 9, chunk=10).to_parquet(tmp_path / "full")
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["mine"]


@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_call_that_broke_off_goes_on_after_its_complete_chunks(after, tmp_path, fault, watched):
    path = tmp_path / "walks"

    def half(samples, folder, prefix, out):
        if broken := prefix == f"part-{after:05d}":
            (folder / f"{prefix}-00000.parquet").write_bytes(b"half")
        return broken

    fault(Samples, "write_into", KeyboardInterrupt, half)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            in_chunks(sample.random_walk, G.partition(3), STARTS, 9, chunk=10).to_parquet(path, resume=True)
    fault.over()
    assert not path.exists()
    drawn = watched(Samples, "write_into", lambda made, folder, prefix, out: prefix)
    found = in_chunks(sample.random_walk, G.partition(2), STARTS, 9, chunk=10).to_parquet(path, resume=True)
    assert drawn == ["again"] * (after > 0) + [f"part-{k:05d}" for k in range(after, 5)]
    assert (found.chunks, found.instances, found.rows, found.edges) == (5, 43, 43, 43 * 9)
    whole = sample.random_walk(G, STARTS, 9)
    assert folder_of(path) == {"walks": whole.walks.tolist(), "lengths": whole.lengths.tolist()}
    assert [file.name for file in tmp_path.iterdir()] == ["walks"]


def test_chunks_of_another_call_are_refused_and_stay(tmp_path, fault):
    path = tmp_path / "walks"
    fault(Samples, "write_into", KeyboardInterrupt, lambda samples, folder, prefix, out: prefix == "part-00002")
    with pytest.raises(KeyboardInterrupt):
        in_chunks(sample.random_walk, G, STARTS, 9, chunk=10).to_parquet(path, resume=True)
    kept = sorted(file.name for file in (tmp_path / "walks.unfinished").iterdir())
    for given in ({"seed": 4}, {"length": 8}, {"chunk": 11}):
        given = {"chunk": 10, "length": 9} | given
        with pytest.raises(InputError, match="holds chunks of another call: of chunk 1 the rows differ"):
            in_chunks(sample.random_walk, G, STARTS, **given).to_parquet(path, resume=True)
        assert sorted(file.name for file in (tmp_path / "walks.unfinished").iterdir()) == kept


@pytest.mark.parametrize("given", [{}, {"edge_rows": True}, {"verify": True, "overwrite": True}], ids=str)
def test_a_call_whose_folder_is_complete_draws_its_last_chunk_alone(given, tmp_path, watched):
    path = tmp_path / "walks"
    made = in_chunks(sample.random_walk, G.partition(2), STARTS, 9, chunk=10).to_parquet(path, resume=True, **given)
    before = {file: file.stat().st_mtime_ns for file in path.iterdir()}
    drawn = watched(Samples, "write_into", lambda samples, folder, prefix, out: samples.sampler.first)
    found = in_chunks(sample.random_walk, G.partition(3), STARTS, 9, chunk=10).to_parquet(path, resume=True, **given)
    assert drawn == [40]
    assert {file: file.stat().st_mtime_ns for file in path.iterdir()} == before
    assert [file.name for file in tmp_path.iterdir()] == ["walks"]
    for name in ("path", "chunks", "instances", "rows", "edges", "placement"):
        assert getattr(found, name) == getattr(made, name)


@pytest.mark.parametrize("given", [{"seed": 4}, {"length": 8}, {"chunk": 11}, {"chunk": 43}], ids=str)
def test_a_complete_folder_of_another_call_is_replaced_only_where_that_is_asked(given, tmp_path):
    path, given = tmp_path / "walks", {"chunk": 10, "length": 9} | given
    in_chunks(sample.random_walk, G, STARTS, 9, chunk=10).to_parquet(path, resume=True)
    before = folder_of(path)
    chunks = in_chunks(sample.random_walk, G, STARTS, **given)
    with pytest.raises(OutputExists, match="exists; pass overwrite=True"):
        chunks.to_parquet(path, resume=True)
    assert folder_of(path) == before
    chunks.to_parquet(path, resume=True, overwrite=True)
    options = {name: value for name, value in given.items() if name != "chunk"}
    assert folder_of(path)["walks"] == sample.random_walk(G, STARTS, **options).walks.tolist()
    assert [file.name for file in tmp_path.iterdir()] == ["walks"]


def test_a_folder_that_lacks_a_chunk_is_not_complete(tmp_path):
    path = tmp_path / "walks"
    chunks = in_chunks(sample.random_walk, G, STARTS, 9, chunk=10)
    chunks.to_parquet(path)
    next(path.glob("part-00002-*.parquet")).unlink()
    with pytest.raises(OutputExists):
        chunks.to_parquet(path, resume=True)


def test_no_instances_make_an_empty_file(tmp_path):
    chunks = in_chunks(sample.neighbors, G, [], [2], chunk=5)
    assert (len(chunks), chunks.to_parquet(tmp_path / "none").rows) == (1, 0)
    assert folder_of(tmp_path / "none") == {"src": [], "dst": [], "hop": [], "instance": []}


@pytest.mark.slow
def test_workers_of_a_cluster_write_the_same(two_workers, tmp_path):
    whole = sample.random_walk(G, STARTS, 9)
    for placement in ("replicated", "partitioned"):
        chunks = in_chunks(
            sample.random_walk, G.partition(), STARTS, 9, chunk=20, placement=placement, client=two_workers
        )
        assert chunks.to_parquet(tmp_path / placement).placement == placement
        assert folder_of(tmp_path / placement)["walks"] == whole.walks.tolist()
        arrays = [some.to_dask()["walks"] for some in chunks]
        assert [len(array) for array in arrays] == [20, 20, 3]
        with dask.config.set(scheduler=two_workers):
            assert arrays[1].compute().tolist() == whole.walks[20:40].tolist()


def test_progress_counts_instances(capsys, tuned):
    tuned(DISPLAY, delay=0)
    list(in_chunks(sample.random_walk, G, STARTS, 2, chunk=43, progress=True))
    assert "random walk:   0%" in capsys.readouterr().err
    list(in_chunks(sample.random_walk, G, STARTS, 2, chunk=43, progress=False))
    assert capsys.readouterr().err == ""


def test_what_cannot_be_divided_is_refused():
    with pytest.raises(InputError, match="chunk=0"):
        in_chunks(sample.random_walk, G, STARTS, 2, chunk=0)
    with pytest.raises(InputError, match="is none of graphdask"):
        in_chunks("random_walk", G, STARTS, 2, chunk=1)
    with pytest.raises(InputError, match="length=-1"):
        in_chunks(sample.random_walk, G, STARTS, -1, chunk=1)
    with pytest.raises(Unsupported, match="edge sampling draws all"):
        in_chunks(sample.random_edges, G, 5, chunk=1)
    with pytest.raises(Unsupported, match="GraphSAINT subgraphs are of vertices"):
        in_chunks(sample.saint_walks, G, 3, 2, instances=4, chunk=1)
    with pytest.raises(Unsupported, match="function=random_nodes draws no instances"):
        in_chunks(sample.random_nodes, G, 5, chunk=1)


def test_too_little_memory_points_here():
    with pytest.raises(OverBudget, match=r"random walk needs about .*draw fewer instances at a time .*in_chunks"):
        sample.random_walk(G.partition(1, device="cpu"), STARTS, 2**31 - 64, walks_per_start=1000)
