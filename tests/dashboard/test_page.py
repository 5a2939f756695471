"""The page of the Dask dashboard: what it has heard, what it shows, and that it is there without being asked for."""

from __future__ import annotations

import shutil
import time
import urllib.request
from types import SimpleNamespace
from typing import ClassVar

import dask
import pytest
from browsers import blue_pixels, browsing
from distributed import Client, LocalCluster
from gangs import active, dask_cluster

import graphdask as gd
from graphdask.dashboard import attach
from graphdask.dashboard.board import KEPT, NAME, RUNS, STEPS, Board, report_of

WAIT = 120.0


def until(found, what: str):
    """What `found` gives once it is true; the page gets there by itself, a moment after a call."""
    deadline = time.monotonic() + WAIT
    while not (value := found()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return value


def message(stats, topic: str = "graphdask-0", run: int = 1):
    return [report_of(stats, [f"w{rank}" for rank in range(stats.ranks)]) | {"topic": topic, "run": run}]


def search(length: int, parts: int):
    return gd.bfs(gd.from_edges(range(length), range(1, length + 1)).partition(parts), 0).stats


def test_a_run_is_reported_as_columns_of_its_supersteps():
    stats = search(3, 2)
    board = Board()
    board.log_event(RUNS, message(stats))
    columns = board.supersteps()
    assert columns["superstep"] == list(range(len(stats)))
    assert columns["frontier"] == [step["frontier"] for step in stats]
    assert columns["bytes"] == [step["bytes_sent"] for step in stats]
    assert sum(columns["milliseconds"]) == pytest.approx(1e3 * sum(step["seconds"] for step in stats))
    assert board.workers()["worker"] == ["w0", "w1"]
    assert sum(board.workers()["bytes"]) == stats.bytes_sent
    assert board.table()["algorithm"] == ["BFS"]
    assert board.title().startswith(f"BFS: {len(stats)} supersteps in ")


def test_many_supersteps_share_bars_and_old_runs_go():
    stats = search(900, 2)
    board = Board()
    for _ in range(KEPT + 5):
        board.log_event(RUNS, message(stats))
    columns = board.supersteps()
    assert len(columns["superstep"]) <= STEPS
    assert columns["superstep"][1] == board.runs[-1]["each"] == 5
    assert len(board.table()["seconds"]) == KEPT


def test_ranks_are_seen_while_they_run_and_gone_afterwards():
    now = [0.0]
    board = Board(lambda: now[0])
    board.log_event("graphdask-0a", {"run": 3, "worker": "w1", "ranks": [[1, 7, 50, 900, 64]]})
    board.log_event("graphdask-0a", {"run": 3, "worker": "w0", "ranks": [[0, 6, 40, 800, 32]]})
    board.log_event("others", {"run": 3, "worker": "w0", "ranks": [[0, 9, 9, 9, 9]]})
    assert board.running() == {
        "worker": ["w0", "w1"], "rank": [0, 1], "superstep": [6, 7], "frontier": [40, 50], "edges": [800, 900],
        "bytes": [32, 64],
    }  # fmt: skip
    board.log_event([RUNS, "x"], message(search(3, 1), "graphdask-0a", 3))
    assert board.running()["rank"] == []
    board.log_event("graphdask-0b", {"run": 1, "worker": "w0", "ranks": [[0, 1, 1, 1, 1]]})
    now[0] = 60.0
    assert board.running()["rank"] == []


def test_an_empty_board_has_columns_without_rows():
    board = Board()
    assert {len(values) for name in ("supersteps", "workers", "running", "table")
            for values in getattr(board, name)().values()} == {0}  # fmt: skip
    assert board.title() == "No run is over yet"


@pytest.fixture(scope="module")
def served():
    """A scheduler that two runs have told of themselves: the address of the page, the board, the runs."""
    pytest.importorskip("bokeh", reason="the dashboard is drawn by Bokeh")
    G = gd.generate.preferential_attachment(3000, 3, seed=1).to_undirected()
    with dask_cluster(2, dashboard=True) as client:
        plugins = client.cluster.scheduler.plugins
        with active(client):
            runs = [gd.pagerank(G).stats]
            board = until(lambda: plugins.get(NAME), "the page")
            until(lambda: len(board.runs) == 1, "the first run")
            runs.append(gd.bfs(G, 0).stats)
            until(lambda: len(board.runs) == 2, "the second run")
        G.built = None
        yield client.dashboard_link, board, runs


@pytest.mark.slow
def test_the_scheduler_hears_of_runs(served):
    _, board, (first, second) = served
    assert board.table()["algorithm"] == ["BFS", "PageRank"]
    assert board.runs[0]["supersteps"] == len(first)
    assert sum(board.workers()["bytes"]) == second.bytes_sent


@pytest.mark.slow
def test_the_page_is_served_beside_dasks_own_with_the_data_of_the_last_run(served):
    from bokeh.client import pull_session
    from bokeh.models import ColumnDataSource, FactorRange

    link, _, (_, second) = served
    for name, text in (("/status", "Dask"), ("/graphdask", "Dask: graphdask")):
        with urllib.request.urlopen(link.replace("/status", name), timeout=WAIT) as answer:
            assert answer.status == 200
            assert text in answer.read().decode()
    session = pull_session(url=link.replace("/status", "/graphdask"))
    try:
        sources = list(session.document.select({"type": ColumnDataSource}))
        shown = next(source.data for source in sources if "milliseconds" in source.data)
        assert list(shown["frontier"]) == [step["frontier"] for step in second]
        assert [sorted(names.factors) for names in session.document.select({"type": FactorRange})] == [["0", "1"]]
    finally:
        session.close()


def test_a_browser_draws_the_page(served, tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs chromium or google-chrome")
    with browsing(browser, served[0].replace("/status", "/graphdask"), tmp_path) as picture:
        until(lambda: blue_pixels(picture()) > 2000, "the bars")


@pytest.mark.slow
def test_a_page_that_is_not_wanted_or_cannot_be_is_not_there():
    G = gd.from_edges([0, 1, 2], [1, 2, 3])
    with dask_cluster(1, dashboard=True) as client, active(client), dask.config.set({"graphdask.dashboard": False}):
        gd.bfs(G, 0)
        gd.pagerank(G)
        assert NAME not in client.cluster.scheduler.plugins
        G.built = None


def test_schedulers_without_dashboard_and_workers_are_left_alone():
    class Scheduler:
        plugins: ClassVar[dict] = {}
        http_application = SimpleNamespace(applications=[object()])

        def add_plugin(self, *arguments, **keywords):
            raise AssertionError

    assert attach(Scheduler()) is False
    assert attach(SimpleNamespace(plugins={})) is False


def test_a_scheduler_has_the_page_from_the_start_with_the_preload():
    pytest.importorskip("bokeh", reason="the dashboard is drawn by Bokeh")
    settings = {"distributed.scheduler.preload": ["graphdask.dashboard"]}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        assert NAME in cluster.scheduler.plugins
        with urllib.request.urlopen(client.dashboard_link.replace("/status", "/graphdask"), timeout=WAIT) as answer:
            assert answer.status == 200
