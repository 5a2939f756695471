"""What every communicator promises, at 1, 2, 3, 4 and 7 ranks."""

from __future__ import annotations

import numpy as np
import pytest
from ranks import (
    collectives,
    count_supersteps,
    exchange_blocks,
    exchange_once,
    fail_on,
    fail_within,
    leave_early,
    overwrite_after_exchange,
)

from graphdask.comm.failure import is_secondary, pack_failure, unpack_failure
from graphdask.comm.protocol import Cancel
from graphdask.comm.single import SingleCommunicator
from graphdask.errors import CommunicationError, FormatError, InputError, PeerLost

RANKS = 7


def lengths(value):
    return [[value] * RANKS for _ in range(RANKS)]


def test_payloads_of_mixed_lengths_arrive_as_sent(group, rng):
    choices = [-1, 0, 1, 8, 3000, 3992, 4000, 4001, 8192, 70000]
    for seed in range(3):
        group(exchange_blocks, seed, rng.choice(choices, (RANKS, RANKS)).tolist())


def test_nothing_at_all_is_an_exchange_too(group):
    group(exchange_blocks, 1, lengths(-1))
    group(exchange_blocks, 2, lengths(0))


def test_payloads_in_one_direction_only(group):
    one_way = lengths(-1)
    one_way[0] = [100_000] * RANKS
    group(exchange_blocks, 3, one_way)


def test_collectives_equal_numpy(group):
    group(collectives)


def test_a_thousand_exchanges_in_a_row(group):
    n = 1000 if group.size <= 4 else 200
    assert group(count_supersteps, n) == [sum(i % 251 for i in range(n))] * group.size


def test_buffers_may_be_reused_after_the_call(group):
    for nbytes in (100, 1 << 20):
        group(overwrite_after_exchange, nbytes)


@pytest.mark.parametrize("size", [2, 4])
def test_large_payloads(run, size):
    run(size, exchange_blocks, 5, lengths(8 << 20))


@pytest.mark.parametrize("at", [0, 1, 50])
def test_the_first_error_reaches_the_caller(run, at):
    with pytest.raises(ZeroDivisionError, match="no such number"):
        run(3, fail_on, 1, at, "zero", timeout=60.0)


def test_peers_get_the_errors_own_type_where_it_is_graphdasks(run):
    with pytest.raises(InputError, match=r"^source 7 is outside the graph(\n|$)"):
        run(3, fail_on, 2, 5, "input", timeout=60.0)


def test_an_abort_ends_a_wait_for_a_large_payload(run):
    with pytest.raises(ZeroDivisionError):
        run(3, fail_within, 0, timeout=60.0)


def test_a_rank_that_leaves_early_is_noticed(run):
    with pytest.raises(PeerLost, match="rank 0 left after 2 exchanges"):
        run(3, leave_early, timeout=60.0)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InputError("bad"), InputError("bad (on rank 2)")),
        (FormatError("bad", "a.txt", 3), FormatError("a.txt:3: bad (on rank 2)")),
        (KeyError("x"), PeerLost("rank 2 failed: KeyError: 'x'")),
        (PeerLost("gone " * 10000), None),
    ],
)
def test_an_error_travels_as_text_and_remembers_where_it_began(error, expected):
    arrived = unpack_failure(pack_failure(error, 2), 2)
    assert not is_secondary(error)
    assert is_secondary(arrived)
    if expected is not None:
        assert type(arrived) is type(expected)
        assert str(arrived) == str(expected)
    passed_on = unpack_failure(pack_failure(arrived, 5), 5)
    assert type(passed_on) is type(arrived)
    assert str(passed_on) == str(arrived)
    assert len(pack_failure(error, 2)) <= 3000


def test_what_is_no_failure_report_is_still_an_error():
    assert "cannot be read" in str(unpack_failure(b"\xff\x00", 3))


def bad_payload(communicator):
    with pytest.raises(InputError, match="must be contiguous 1-D uint8, not int64"):
        communicator.exchange([np.zeros(3, np.int64)] * communicator.size)
    with pytest.raises(InputError, match="must be contiguous 1-D uint8"):
        communicator.exchange([np.zeros(8, np.uint8)[::2]] * communicator.size)
    with pytest.raises(InputError, match=rf"wants {communicator.size} payloads.* got 9"):
        communicator.exchange([None] * 9)
    with pytest.raises(InputError, match="meta must be int64"):
        communicator.exchange([None] * communicator.size, meta=np.zeros(4, np.int64))
    with pytest.raises(InputError, match="control must be 1-D int64"):
        communicator.exchange([None] * communicator.size, control=np.zeros(4))
    exchange_once(communicator)


def test_bad_arguments_are_refused_before_anything_is_sent():
    from ranks import run_in_threads

    with SingleCommunicator() as communicator:
        bad_payload(communicator)
    run_in_threads(2, bad_payload)


def test_cancel_ends_a_single_rank_too():
    cancel = Cancel()
    with SingleCommunicator(cancel) as communicator:
        communicator.check()
        cancel.set("the client went away")
        with pytest.raises(PeerLost, match="the client went away"):
            communicator.exchange([None])
        with pytest.raises(PeerLost, match="the client went away"):
            communicator.check()


def differing_controls(communicator):
    communicator.exchange([None] * communicator.size, control=np.zeros(communicator.rank, np.int64))


def test_control_of_different_lengths_is_an_error():
    from ranks import run_in_threads, run_ucx_threads

    for runner in (run_in_threads, run_ucx_threads):
        with pytest.raises(CommunicationError, match="control integers"):
            runner(2, differing_controls, timeout=60.0)
