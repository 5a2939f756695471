"""Dead, stopped, slow and stale peers: every one ends the wait of the others with the right error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from quiet import hold
from ranks import absent_for_ever, die, exchange_once, needs_ucx, run_in_threads, run_ucx_threads, stop_oneself
from source_tree import ROOT

from graphdask.bench.processes import TcpProcesses, UcxProcesses
from graphdask.comm.protocol import Cancel
from graphdask.comm.threads import ThreadGroup, run_threads
from graphdask.comm.ucx.communicator import UcxCommunicator, UcxPlane, ucx_available, ucx_transports
from graphdask.comm.ucx.wire import CONTROL, HEADER, HEADER_MASK, PAYLOAD, tag_of
from graphdask.errors import CommunicationError, DeadlineExceeded, InputError, PeerLost, StaleMessage


def wait_for_cancel(communicator, cancel, waiting):
    """Rank 0 enters an exchange that nobody else joins."""
    if communicator.rank == 0:
        waiting.set()
        communicator.exchange([None] * communicator.size)
    else:
        cancel.event.wait(120.0)
        cancel.check()


@pytest.mark.parametrize("runner", [run_in_threads, run_ucx_threads])
def test_cancel_from_another_thread_ends_the_wait(runner):
    needs_ucx()
    cancel, waiting = Cancel(), threading.Event()

    def from_outside():
        waiting.wait(120.0)
        cancel.set("the client went away")

    outside = threading.Thread(target=from_outside)
    outside.start()
    with pytest.raises(PeerLost, match="the client went away"):
        runner(2, wait_for_cancel, cancel, waiting, cancel=cancel)
    outside.join()


def test_a_thread_that_does_not_come_is_named_at_the_timeout():
    group = ThreadGroup(2, timeout=0.2)
    with pytest.raises(PeerLost, match=r"timeout of 0.2 s; missing ranks: 1"):
        group.communicator(0).exchange([None, None])


def test_a_thread_that_never_ends_passes_the_deadline():
    never = threading.Event()
    with pytest.raises(DeadlineExceeded, match=r"rank-1 did not end within 0.2 s"):
        run_threads(2, lambda communicator, rank: rank == 1 and never.wait(120.0), deadline=0.2)
    never.set()


def test_ranks_and_devices_must_fit_the_group():
    with pytest.raises(InputError, match=r"rank 2 is not one of 0\.\.1"):
        ThreadGroup(2).communicator(2)
    with pytest.raises(InputError, match="at least one rank"):
        ThreadGroup(0)
    with pytest.raises(InputError, match="1 devices for 2 ranks"):
        run_threads(2, lambda communicator, rank: None, devices=[None])


def two_planes():
    needs_ucx()
    planes = [UcxPlane(), UcxPlane()]
    return planes, [plane.address for plane in planes]


def test_a_ucx_peer_that_does_not_come_is_named_at_the_timeout():
    planes, addresses = two_planes()
    with planes[0], planes[1]:
        communicator = UcxCommunicator(planes[0], 0, addresses, gang=1, run=0, timeout=0.2)
        with pytest.raises(PeerLost, match=r"timeout of 0.2 s; missing ranks: 1"):
            communicator.exchange([None, None])
        with pytest.raises(CommunicationError, match="has failed or is closed"):
            communicator.exchange([None, None])
        with pytest.raises(CommunicationError, match="make a new one"):
            UcxCommunicator(planes[0], 0, addresses, gang=1, run=1)


@pytest.mark.slow
def test_a_rank_of_a_newer_run_makes_the_older_one_stale():
    needs_ucx()
    with pytest.raises(StaleMessage, match="rank 1 is in run 1 of the gang, this rank still in run 0"):
        run_ucx_threads(2, exchange_once, runs=[0, 1], timeout=5.0)


@pytest.mark.slow
def test_ranks_of_two_gangs_do_not_hear_each_other():
    needs_ucx()
    with pytest.raises(PeerLost, match=r"timeout of 0.3 s"):
        run_ucx_threads(2, exchange_once, gangs=[5, 6], timeout=0.3)


def test_a_gang_whose_number_shares_the_tag_bits_is_refused():
    needs_ucx()
    with pytest.raises(StaleMessage, match="this is gang"):
        run_ucx_threads(2, exchange_once, gangs=[5, 5 + (1 << 40)], timeout=60.0)


def out_of_step(communicator):
    if communicator.rank == 1:
        communicator._exchange = 4
    communicator.exchange([None, None])


def test_a_message_of_another_exchange_is_refused():
    needs_ucx()
    with pytest.raises(StaleMessage, match=r"rank . is at exchange ., this rank at ."):
        run_ucx_threads(2, out_of_step, timeout=60.0)


def test_leftovers_of_an_older_run_are_dropped():
    """Rank 0's header of run 0 lies at rank 1 when both begin run 1 on the same planes."""
    planes, addresses = two_planes()
    with planes[0], planes[1]:
        old = UcxCommunicator(planes[0], 0, addresses, gang=3, run=0, timeout=60.0)
        old._send(0, [None, None], [[0] * 4] * 2, np.empty(0, np.int64))
        old._peers[0].next = None

        def work(_, rank):
            with UcxCommunicator(planes[rank], rank, addresses, gang=3, run=1, timeout=60.0) as communicator:
                return communicator.allgather(np.array([rank + 1])).tolist()

        assert run_threads(2, work, deadline=240.0) == [[[1], [2]]] * 2


def test_one_plane_serves_many_runs():
    planes, addresses = two_planes()
    with planes[0], planes[1]:
        for run in range(5):

            def work(_, rank, run=run):
                with UcxCommunicator(planes[rank], rank, addresses, gang=9, run=run, timeout=60.0) as communicator:
                    payload = np.full(100_000, run, np.uint8)
                    return int(communicator.exchange([payload] * 2).payloads[1 - rank].max())

            assert run_threads(2, work, deadline=240.0) == [run, run]


FAILED_RUNS = """
import gc, os, sys
sys.path.insert(0, sys.argv[1])
from ranks import fail_on, run_ucx_threads
from graphdask.errors import InputError

for run in range(3):
    try:
        run_ucx_threads(3, fail_on, 1, 20, "input", timeout=120.0)
    except InputError:
        pass
    gc.collect()  # errors hold the frames in which they were raised
    print(len(os.listdir("/proc/self/fd")))
"""


@pytest.mark.slow
def test_what_failed_runs_opened_is_closed_with_their_planes():
    needs_ucx()
    helpers = str(ROOT / "tests" / "helpers")
    done = subprocess.run([sys.executable, "-c", FAILED_RUNS, helpers], capture_output=True, text=True, timeout=240)
    first, *others = done.stdout.split()
    assert others == [first] * 2, done.stderr


def test_every_field_of_a_tag_tells_messages_apart():
    tags = {
        tag_of(gang, run, exchange, kind, sender)
        for gang in (0, 1, (1 << 20) - 1)
        for run in (0, 1, 255)
        for exchange in (0, 1, (1 << 20) - 1)
        for kind in (HEADER, CONTROL, PAYLOAD)
        for sender in (0, 1, (1 << 14) - 1)
    }
    assert len(tags) == 3**5
    assert max(tags) < 1 << 64
    headers = {tag_of(7, run, exchange, HEADER, 2) & HEADER_MASK for run in range(9) for exchange in range(99)}
    assert headers == {tag_of(7, 0, 0, HEADER, 2)}


def test_ucx_says_what_it_can_use():
    found, reason = ucx_available()
    assert isinstance(found, bool)
    if not found:
        assert "pip install" in reason or "cannot start" in reason
        pytest.skip(reason)
    assert "UCX" in reason
    transports = ucx_transports()
    assert "tcp" in transports
    assert transports == sorted(set(transports))


def test_a_configuration_that_ucx_refuses_is_named():
    needs_ucx()
    with pytest.raises(CommunicationError, match="no_such_transport"):
        UcxPlane({"TLS": "no_such_transport"})
    with UcxPlane({"UCX_TLS": "tcp"}) as plane:
        assert not plane.shares_memory


@pytest.fixture
def three_processes():
    needs_ucx()
    with UcxProcesses(3) as processes:
        yield processes


@pytest.mark.chaos
@pytest.mark.parametrize(("nbytes", "at"), [(8, 0), (8, 500), (1 << 20, 3), (8 << 20, 2)])
def test_a_killed_peer_is_lost_long_before_the_timeout(three_processes, nbytes, at):
    killed = 1
    ranks = three_processes.start(die, killed, nbytes, at, timeout=200.0)
    three_processes.processes[killed].join(120.0)
    dead = time.monotonic()
    assert three_processes.processes[killed].exitcode == -signal.SIGKILL
    answers = three_processes.results([rank for rank in ranks if rank != killed], deadline=240.0)
    for _, error in answers:
        assert isinstance(error, PeerLost), error
        assert f"rank {killed} is gone" in str(error)
        if at > 0:
            assert error.args[-1] - dead < 100.0


@pytest.mark.chaos
@pytest.mark.quiet
@pytest.mark.parametrize(("transport", "promised"), [("ucx", 1.0), ("tcp", 5.0)])
@pytest.mark.parametrize(("nbytes", "at"), [(8, 500), (1 << 20, 3)])
def test_a_killed_peer_is_lost_within_seconds(watch, tmp_path, transport, promised, nbytes, at):
    if transport == "ucx":
        needs_ucx()
    note = tmp_path / "killed at"
    with (UcxProcesses if transport == "ucx" else TcpProcesses)(3) as processes:
        watch.disturbed()  # what happened while they started
        ranks = processes.start(die, 1, nbytes, at, note, timeout=200.0)
        answers = processes.results([rank for rank in ranks if rank != 1])
        disturbed, killed = watch.disturbed(), float(note.read_text())
    for _, error in answers:
        assert isinstance(error, PeerLost), error
        hold(error.args[-1] - killed, promised, f"seeing over {transport} that a peer was killed", disturbed)


@pytest.mark.chaos
def test_a_peer_killed_while_others_wait_for_it(three_processes):
    ranks = three_processes.start(absent_for_ever, 2, timeout=120.0)
    os.kill(three_processes.processes[2].pid, signal.SIGKILL)
    answers = three_processes.results([rank for rank in ranks if rank != 2], deadline=240.0)
    assert [type(error) for _, error in answers] == [PeerLost] * 2


@pytest.mark.chaos
def test_a_stopped_peer_passes_the_timeout_and_closing_does_not_hang(three_processes):
    stopped = 2
    ranks = three_processes.start(stop_oneself, stopped, timeout=1.0)
    answers = three_processes.results([rank for rank in ranks if rank != stopped], deadline=240.0)
    for _, error in answers:
        assert isinstance(error, PeerLost), error
        assert "timeout of 1.0 s" in str(error)
    os.kill(three_processes.processes[stopped].pid, signal.SIGCONT)
    assert len(three_processes.results([stopped], deadline=240.0)) == 1, "once it goes on, it ends too"


@pytest.mark.chaos
@pytest.mark.parametrize(("nbytes", "at"), [(1000, 50), (100_000, 50)])
def test_over_tcp_ucx_itself_reports_a_killed_peer(nbytes, at):
    needs_ucx()
    with UcxProcesses(3, config={"TLS": "tcp"}) as processes:
        ranks = processes.start(die, 0, nbytes, at, timeout=120.0)
        answers = processes.results(ranks[1:], deadline=240.0)
        assert [type(error) for _, error in answers] == [PeerLost] * 2
