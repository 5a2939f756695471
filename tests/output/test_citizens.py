"""Graphs, results and samples as Dask's own: data frames, published data sets, reports, the command `dask`."""

from __future__ import annotations

import pickle
import subprocess
import sys

import dask
import pytest
from dask.tokenize import tokenize
from distributed import Client, performance_report
from gangs import active

import graphdask as gd
from graphdask.errors import Unsupported


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
        with pytest.raises(Unsupported, match="stay with the workers"):
            dask.delayed(len)(result)
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


def test_what_is_not_lazy_passes_through_dask_as_it_is(strings):
    r = gd.bfs(strings, "a")
    assert dask.compute(strings, r) == dask.persist(strings, r) == (strings, r)
    with pytest.raises(ValueError, match="No collections"):
        dask.visualize(strings)
    samples = gd.sample.random_walk(strings, ["a"], 2)
    assert tokenize(r) == tokenize(r) != tokenize(gd.bfs(strings, "a"))
    assert tokenize(samples) == tokenize(samples) != tokenize(gd.sample.random_walk(strings, ["a"], 2))
    other = gd.sample.neighbors(strings, ["a"], [2], edge_rows=False)
    known = tokenize(other)
    assert len(other.edge) == len(other.src)
    assert tokenize(other) == known


def test_a_scattered_result_says_what_to_take(two_workers):
    with active(two_workers):
        result = gd.bfs(gd.generate.preferential_attachment(300, 3, seed=2), 0)
        with pytest.raises(Unsupported, match=r"hand them to tasks .* take r.to_dask_dataframe\(\).persist\(\)"):
            two_workers.scatter(result)
        samples = gd.sample.random_walk(result.graph, [0, 1], 3)
        with pytest.raises(Unsupported, match=r"take s.to_dask_dataframe\(\)"):
            two_workers.scatter([samples])
        for collect in (dask.compute, dask.persist, dask.visualize):
            with pytest.raises(Unsupported, match=r"r.to_dask_dataframe\(\)"):
                collect(result)


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
