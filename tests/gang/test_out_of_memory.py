"""The error of a worker that ran out of memory says so, with the estimate that was wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import dask
import pytest
from gangs import FillingRanks, dask_cluster, eventually, generated

from graphdask import execute
from graphdask.device import estimates, host_memory
from graphdask.errors import InputError, PeerLost
from graphdask.gang.out_of_memory import explain_loss
from graphdask.gang.watch import KnownWorker, LifeSigns


@pytest.mark.chaos
@pytest.mark.slow
def test_a_worker_that_dask_ends_for_its_memory():
    settings = {"graphdask.retries": 0, "graphdask.heartbeat-interval": 0.2}
    with dask_cluster(2, memory_limit="900MiB") as client, dask.config.set(settings):
        with pytest.raises(PeerLost) as raised:
            execute.run(generated(), FillingRanks(0.85, 0.0, 10_000), client=client)
        said = str(raised.value)
        assert "probably ran out of memory: it used" in said
        assert "of 900 MiB that Dask allows it" in said
        assert "PageRank was estimated to need" in said
        assert "which was too little" in said


@pytest.fixture
def control_group():
    """Make control groups with a limit of so many bytes; they are removed afterwards."""
    made = []

    def make(limit):
        top, name = Path("/sys/fs/cgroup"), "memory.max"
        if (top / "memory").is_dir():
            top, name = top / "memory", "memory.limit_in_bytes"
        group = top / f"graphdask-test-{os.getpid()}-{len(made)}"
        try:
            group.mkdir()
            made.append(group)
            (group / name).write_text(str(limit))
        except OSError as error:
            pytest.skip(f"needs the right to make control groups: {error}")
        return group

    yield make
    for group in made:
        eventually(lambda group=group: not (group / "cgroup.procs").read_text())
        group.rmdir()


@pytest.mark.chaos
@pytest.mark.slow
def test_a_worker_that_the_kernel_ends_for_its_memory(control_group):
    """In a control group that takes no more, as that of a job."""
    settings = {"graphdask.retries": 0, "graphdask.heartbeat-interval": 0.2}
    with dask_cluster(2) as client, dask.config.set(settings):
        G = generated()
        G.persist()
        (control_group(700 << 20) / "cgroup.procs").write_text(str(min(client.run(os.getpid).values())))
        with pytest.raises(PeerLost) as raised:
            execute.run(G, FillingRanks(0.85, 0.0, 10_000), client=client)
        said = str(raised.value)
        assert "probably ran out of memory: its host has ended a process for lack of memory" in said
        assert "PageRank was estimated to need" in said


def test_the_limit_of_a_control_group_is_known_before_any_work(control_group):
    group = control_group(400 << 20)
    made = f"""
import os, pathlib
pathlib.Path({str(group / "cgroup.procs")!r}).write_text(str(os.getpid()))
import graphdask as gd
try:
    gd.bfs(gd.generate.rmat(22, edge_factor=16, seed=1), 0)
except gd.OverBudget as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", made], capture_output=True, text=True, timeout=300)
    assert "the partitions need about" in done.stdout, done.stderr[-2000:]


GIB = 1 << 30


def explained(error, last, estimate, before, now, monkeypatch):
    """What an error says of the lost worker a0 of a host, where another, a1, is left."""
    from graphdask.gang import out_of_memory

    life = LifeSigns(None, 1.0)
    life.last, life.estimates = {"a0": KnownWorker("w0", 0.0, True, *last)}, {"a0": estimate} if estimate else {}
    # A scheduler notices within milliseconds that a worker died, and no worker is to die here.
    monkeypatch.setattr(out_of_memory, "ask_scheduler", lambda client, timeout: {"a1": None})
    client = SimpleNamespace(status="running", sync=lambda function: [("host", now)])
    abilities = {address: SimpleNamespace(host="host", ended=before) for address in ("a0", "a1")}
    explain_loss(error, client, life, abilities)
    return str(error)


def test_a_host_that_has_ended_a_process_and_a_full_worker_are_named(monkeypatch):
    estimate = ("SSSP", 2 * GIB)
    assert explained(PeerLost("gone"), (3 * GIB, 0), estimate, 4, 5, monkeypatch) == (
        "gone; a0 probably ran out of memory: its host has ended a process for lack of memory, it used 3 GiB when it "
        "reported last, SSSP was estimated to need 2 GiB there, which was too little; use more workers, or fewer ranks "
        "on each"
    )
    assert explained(PeerLost("gone"), (3 * GIB, 4 * GIB), None, 4, 4, monkeypatch) == (
        "gone; a0 probably ran out of memory: it used 3 GiB of 4 GiB that Dask allows it when it reported last; use "
        "more workers, or fewer ranks on each"
    )


def test_other_losses_and_errors_stay_as_they_are(monkeypatch):
    assert explained(PeerLost("gone"), (GIB, 4 * GIB), None, 4, 4, monkeypatch) == "gone"
    assert explained(InputError("wrong"), (4 * GIB, 4 * GIB), None, 4, 5, monkeypatch) == "wrong"


def test_announced_memory_is_that_of_the_last_call_over_all_ranks():
    for rank in range(3):
        estimates.announce(rank, 3, "BFS", 100)
    for rank in range(2):
        estimates.announce(rank, 2, "BFS", 7 + rank)
    assert estimates.announced() == ("BFS", 15)


def test_processes_ended_for_lack_of_memory_are_counted():
    assert host_memory.processes_ended() >= 0
