"""Graphs, results and samples as Dask's own: data frames, published data sets, reports, the command `dask`."""

from __future__ import annotations

import pickle
import subprocess
import sys
from operator import attrgetter

import dask
import dask.array
import dask.dataframe
import pandas as pd
import pytest
from dask.graph_manipulation import bind
from dask.tokenize import tokenize
from distributed import Client, performance_report
from gangs import active

import graphdask as gd
from graphdask.errors import InputError, Unsupported


@pytest.fixture
def strings():
    return gd.from_edges(["a", "b", "c", "d"], ["b", "c", "a", "x"])


def test_a_result_is_a_data_frame_made_where_its_values_are(two_workers):
    G = gd.generate.preferential_attachment(500, 3, seed=2).to_undirected().partition(3, by="random")
    with active(two_workers):
        result = gd.sssp(G, 4)
        lazy = result.to_dask_dataframe()
        frame = lazy.compute()
        known = result.to_frame()
    assert lazy.npartitions == 3
    assert (frame.dtypes == lazy.dtypes).all()
    assert frame.sort_values("vertex", ignore_index=True).equals(known)


def test_ids_that_are_strings_stay_strings(strings):
    with dask.config.set(scheduler="synchronous"):
        lazy = gd.bfs(strings, "b").to_dask_dataframe()
        frame = lazy.compute().set_index("vertex").loc[["a", "b", "c", "d", "x"]]
    assert (frame.dtypes == lazy.dtypes[["depth", "parent"]]).all()
    assert frame.depth.tolist() == [2, 0, 1, -1, -1]
    assert frame.parent.tolist()[:3] == ["c", "b", "b"]
    assert frame.parent.isna().tolist() == [False, False, False, True, True]


def test_samples_are_a_data_frame_too(two_workers):
    G = gd.generate.preferential_attachment(300, 3, seed=2).to_undirected()
    with active(two_workers):
        samples = gd.sample.random_walk(G, list(range(40)), 4, seed=1)
        lazy = samples.to_dask_dataframe()
        frame = lazy.compute(scheduler=two_workers)
        known = samples.to_frame()
    assert lazy.npartitions == 2
    assert (frame.dtypes == lazy.dtypes).all()
    assert list(lazy.columns) == list(known.columns)
    assert [list(row) for row in frame.walks] == [list(row) for row in known.walks]
    assert frame.lengths.tolist() == known.lengths.tolist()


def test_a_published_graph_is_the_same_graph_to_another_client(two_workers):
    G = gd.generate.preferential_attachment(300, 3, seed=2).to_undirected()
    with active(two_workers):
        known = gd.pagerank(G).rank
    two_workers.publish_dataset(G, name="friends")
    try:
        with Client(two_workers.scheduler.address, set_as_default=False) as other:
            H = other.get_dataset("friends")
            assert repr(H) == repr(G)
            assert (gd.pagerank(H, client=other).rank == known).all()
            H.built = None
    finally:
        two_workers.unpublish_dataset("friends")


def test_a_result_is_published_as_a_data_frame_and_says_so(two_workers):
    G = gd.generate.preferential_attachment(300, 3, seed=2).to_undirected()
    with active(two_workers):
        result = gd.bfs(G, 0)
        with pytest.raises(Unsupported, match=r"take r.to_dask_dataframe\(\).persist\(\)"):
            two_workers.publish_dataset(result, name="depths")
        two_workers.publish_dataset(result.to_dask_dataframe().persist(), name="depths")
        sent = pickle.loads(pickle.dumps(result))
        known = result.to_frame()
    del result
    assert sent.to_frame().equals(known)
    try:
        with Client(two_workers.scheduler.address, set_as_default=False) as other:
            frame = other.compute(other.get_dataset("depths")).result(60)
        assert frame.sort_values("vertex", ignore_index=True).equals(known)
    finally:
        two_workers.unpublish_dataset("depths")


def test_results_in_this_process_pass_through_dask_as_they_are(strings):
    r = gd.bfs(strings, "a")
    assert not dask.is_dask_collection(r)
    assert dask.compute(r) == dask.persist(r) == dask.optimize(r) == (r,)
    samples = gd.sample.random_walk(strings, ["a"], 2)
    assert tokenize(r) == tokenize(r) != tokenize(gd.bfs(strings, "a"))
    assert tokenize(samples) == tokenize(samples) != tokenize(gd.sample.random_walk(strings, ["a"], 2))
    other = gd.sample.neighbors(strings, ["a"], [2], edge_rows=False)
    known = tokenize(other)
    assert len(other.edge) == len(other.src)
    assert tokenize(other) == known


def kinds_of_graphs():
    frame = dask.dataframe.from_pandas(pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]}), npartitions=2)
    G = gd.from_edges([0, 1, 2], [1, 2, 3], weights=[3, 1, 2])
    return {
        "arrays": G,
        "generated": gd.generate.preferential_attachment(50, 2, seed=1),
        "chunks": gd.from_dask_dataframe(frame, "src", "dst"),
        "typed": gd.from_frames({("user", "rates", "item"): ([1, 2], [5, 6])}),
        "dynamic": gd.DynamicGraph(G),
    }


@pytest.mark.parametrize("kind", ["arrays", "generated", "chunks", "typed", "dynamic"])
def test_graphs_are_collections_that_dask_gives_back(kind):
    G, lazy = kinds_of_graphs()[kind], dask.array.arange(4, chunks=2).sum()
    assert dask.is_dask_collection(G)
    assert dask.optimize(G)[0] is G
    assert G.present.built is None
    found, total = dask.compute({"graph": [G]}, lazy)
    assert found["graph"][0] is G
    assert total == 6
    assert G.present.built is None
    assert dask.delayed(repr)(G).compute() == repr(G)
    assert dask.persist(G, lazy, scheduler="synchronous")[0] is G
    assert G.present.built is not None
    with pytest.raises(Unsupported, match=r"use G.to_dask_dataframe\(\)"):
        bind(G, lazy)


def test_a_graph_that_changes_has_another_name_then():
    D = gd.DynamicGraph(gd.from_edges([0], [1]))
    before = tokenize(D)
    assert tokenize(D) == before
    D.update(insert=([1], [2]))
    assert tokenize(D) != before
    assert tokenize(pickle.loads(pickle.dumps(D))) != tokenize(D)


@pytest.mark.parametrize(("parts", "tasks"), [(1, 2), (3, 7)])
def test_dask_draws_a_task_for_the_edges_and_the_partition_of_each_rank(monkeypatch, parts, tasks):
    drawn = []
    monkeypatch.setattr(dask.base, "visualize_dsk", lambda dsk, **options: drawn.append(dsk))
    G = gd.from_edges([0, 1, 2], [1, 2, 3]).partition(parts)
    dask.visualize(G)
    assert len(drawn[0]) == tasks
    assert G.built is None


@pytest.mark.parametrize("kind", ["arrays", "chunks", "dynamic"])
def test_graphs_are_persisted_on_the_workers_of_the_client(kind, two_workers):
    G = kinds_of_graphs()[kind]
    known = repr(G)
    with active(two_workers):
        assert dask.persist(G)[0] is G
        assert G.present.built.gang.client is two_workers
        computed = dask.compute(G, [1])[0]
        assert repr(computed) == known
        assert gd.bfs(computed, 0).depth.tolist() == [0, 1, 2, 3]
        assert dask.delayed(repr)(G).compute() == known
    G = kinds_of_graphs()[kind]
    assert two_workers.persist(G) is G
    assert G.present.built.gang.client is two_workers
    assert repr(two_workers.compute(G).result(60)) == two_workers.submit(repr, G, pure=False).result(60)


def test_values_on_workers_are_a_collection_too(two_workers):
    lazy = dask.array.arange(4, chunks=2).sum()
    with active(two_workers):
        G = gd.generate.preferential_attachment(300, 3, seed=2)
        r, s = gd.bfs(G, 0), gd.sample.neighbors(G, [5, 9], [3, 2], seed=4)
        here, total, drawn = dask.compute(r, lazy, s)
        assert total == 6
        assert type(here) is type(r)
        assert here.to_frame().equals(r.to_frame())
        assert drawn.to_frame().equals(s.to_frame())
        with pytest.raises(Unsupported, match="verify it where it was made"):
            here.verify()
        assert dask.persist(r)[0] is r
        assert dask.optimize(r)[0] is r
        assert dask.delayed(attrgetter("depth"))(r).compute().tolist() == r.depth.tolist()
        assert two_workers.compute(s).result(60).src.tolist() == s.src.tolist()


def test_a_scattered_result_says_what_to_take(two_workers):
    with active(two_workers):
        result = gd.bfs(gd.generate.preferential_attachment(300, 3, seed=2), 0)
        with pytest.raises(Unsupported, match=r"hand them to tasks .* take r.to_dask_dataframe\(\).persist\(\)"):
            two_workers.scatter(result)
        samples = gd.sample.random_walk(result.graph, [0, 1], 3)
        with pytest.raises(Unsupported, match=r"take s.to_dask_dataframe\(\)"):
            two_workers.scatter([samples])
        with pytest.raises(TypeError, match="Could not serialize") as caught:
            two_workers.submit(repr, result)
        assert "dask.delayed(function)(r)" in str(caught.value.__cause__)


def test_a_graph_on_disk_is_persisted_and_does_not_travel(two_workers, tmp_path):
    with gd.stream.build(gd.from_edges([0, 1], [1, 2]), tmp_path / "path.gdl") as S:
        assert dask.compute(S, scheduler="synchronous")[0] is S
        with active(two_workers):
            assert dask.persist(S)[0] is S
            assert S.built.gang.client is two_workers
            with pytest.raises(InputError, match="does not travel; open it where it is needed"):
                dask.compute(S)


def test_results_and_samples_that_were_sent_have_their_values_but_no_proof(strings):
    for made in (gd.bfs(strings, "a"), gd.sample.random_walk(strings, ["a", "b"], 2)):
        sent = pickle.loads(pickle.dumps(made))
        assert repr(sent) == repr(made)
        assert sent.to_frame().astype(str).equals(made.to_frame().astype(str))
        assert len(sent.to_dask_dataframe().compute(scheduler="synchronous")) == len(made.to_frame())
        with pytest.raises(Unsupported, match="verify it where it was made"):
            sent.verify()


def test_a_performance_report_names_what_ran(two_workers, tmp_path):
    pytest.importorskip("bokeh", reason="Dask's reports are drawn by Bokeh")
    G = gd.generate.preferential_attachment(300, 3, seed=2).to_undirected().partition(2, seed=9)
    with active(two_workers), performance_report(filename=tmp_path / "report.html"):
        gd.core_number(G)
    text = (tmp_path / "report.html").read_text()
    assert "graphdask partitioning" in text
    assert "graphdask core number" in text or "graphdask values of core number" in text


def test_dask_has_the_command():
    command = [sys.executable, "-m", "dask", "graphdask", "--help"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "run" in shown
    assert "pagerank-stream" in shown or "sample" in shown
