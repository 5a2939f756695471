"""The bar of betweenness shows how many sources are done of all, and the time left; a finished call shows all."""

from __future__ import annotations

import re
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from gangs import active
from graphs import GRAPHS

import graphdask as gd
from graphdask.algorithms.tuning import BETWEENNESS
from graphdask.display.tuning import DISPLAY
from graphdask.engine.loop import Superstep
from graphdask.errors import InputError
from graphdask.gang import progress
from graphdask.gang.pulse import Pulse
from graphdask.gang.watch import RunWatch

STATE = re.compile(r"(\d+)%\|.*?\| (\d+) of (\d+) sources \[[\d:]+<([\d:?]+), superstep \d+, [^\]]*edges/s\]")
SOURCES = {"all": (None, 40), "drawn": (10, 10), "given": ([3, 5, 8], 3)}


@pytest.fixture(autouse=True)
def drawn_at_once(tuned):
    """Every call shows a bar, drawn anew in each superstep."""
    tuned(DISPLAY, delay=0, apart=0)


def graph(weighted):
    n, src, dst, directed = 40, *np.random.default_rng(3).integers(0, 40, (2, 200)), True
    weights = np.random.default_rng(4).integers(1, 5, 200) if weighted else None
    return gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)


def shown(text):
    """What the bar showed, one after the other: how many were done, of how many, and the time left."""
    return [(int(done), int(total), left) for _, done, total, left in STATE.findall(text)]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sources", SOURCES)
def test_in_this_process(sources, weighted, parts, tuned, capsys):
    tuned(BETWEENNESS, lanes=4)
    given, total = SOURCES[sources]
    gd.betweenness(graph(weighted).partition(parts, device="cpu"), given, progress=True)
    states = shown(capsys.readouterr().err)
    done = [state[0] for state in states]
    assert {state[1] for state in states} == {total}
    assert done == sorted(done)
    assert states[-1][0] == total
    assert re.fullmatch(r"00:00", states[-1][2])
    if parts == 1:  # of several, the caller's thread draws when it wakes
        assert set(done) >= {min(batch, total) for batch in range(0, total, 4)}
        assert all("?" not in left for count, _, left in states if count)


@pytest.mark.parametrize("where", ["one rank", "two ranks", "workers"])
def test_streamed(cluster_of, where, tmp_path, capsys):
    n, src, dst, directed = GRAPHS["scale-free"]()
    path = tmp_path / "graph.gdl"
    gd.stream.build(gd.from_edges(src, dst, num_vertices=n, directed=directed), path, chunk=1024, memory="1MiB")
    S = gd.stream.open(path, "1MiB", device="cpu").partition(1 if where == "one rank" else 2)
    with active(cluster_of(2)) if where == "workers" else nullcontext():
        gd.betweenness(S, 200, progress=True)
    states = shown(capsys.readouterr().err)
    assert states[-1][:2] == (200, 200)
    if where == "one rank":
        assert len({state[0] for state in states}) > 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sources", SOURCES)
def test_on_workers(cluster_of, sources, weighted, capsys):
    given, total = SOURCES[sources]
    with active(cluster_of(2)):
        G = graph(weighted).partition(2)
        for _ in range(2):  # by tasks, and by messages
            gd.betweenness(G, given, progress=True)
            assert shown(capsys.readouterr().err)[-1][:2] == (total, total)


def test_workers_send_how_many_are_done_while_they_run(monkeypatch, capsys):
    sent = []
    plan = SimpleNamespace(topic="graphdask-1", run=7, worker="w0", heartbeat_interval=1.0)
    loop = SimpleNamespace(call_later=lambda *wait: None)
    state = SimpleNamespace(tasks={"run": SimpleNamespace(state="executing")})
    worker = SimpleNamespace(log_event=lambda *event: sent.append(event), loop=loop, state=state)
    pulse = Pulse(worker, plan, SimpleNamespace(done=160), "run")
    for rank, done in ((0, 96.0), (1, 64.0)):
        pulse.of_rank(rank)(Superstep(5, 1, 10, 0, 0, (), 0.0, 0.0, 0.0, 0.0, done))
    pulse._beat()
    with progress.Progress("betweenness", True, goal=(256, "sources")) as bar:
        watch = RunWatch(None, "graphdask-1", 7, bar, SimpleNamespace(pulse=lambda address, estimate: None))
        for event in sent:
            watch._take(event)
        bar.draw()
        assert shown(capsys.readouterr().err)[-1][:2] == (64, 256)


def test_a_refused_graph_shows_what_was_done(capsys):
    G = gd.from_edges([0, 1, 2], [1, 2, 3], [1, 0, 1], directed=False).partition(1, device="cpu")
    with pytest.raises(InputError, match="not defined"):
        gd.betweenness(G, progress=True)
    assert shown(capsys.readouterr().err)[-1][:2] == (0, 4)


def test_the_time_left_is_that_of_the_mean_pace(host, monkeypatch, capsys):
    clock = host.clock(progress, 100.0)
    monkeypatch.setattr("tqdm.std.time", clock.time)
    with progress.Progress("betweenness", True, goal=(400, "sources")) as bar:
        clock.now += 30
        bar.note(0, 70, 9, 10**6, 120.0)
        bar.note(1, 70, 9, 10**6, 100.0)  # the rank that is behind
        bar.draw()
        text = capsys.readouterr().err
    assert "25%|" in text
    assert "100 of 400 sources [00:30<01:30, superstep 70, 66.7 kedges/s]" in text


def test_without_progress_nothing_is_shown(capsys):
    gd.betweenness(graph(True), progress=False)
    assert capsys.readouterr().err == ""
