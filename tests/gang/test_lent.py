"""Columns that workers of the caller's host lend it."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest

import graphdask as gd
from graphdask.comm.shm.board import host_identity
from graphdask.engine.loop import RankResult
from graphdask.gang import kept, lent


def rank_with(values: np.ndarray) -> RankResult:
    return SimpleNamespace(columns={"depth": values})


@pytest.fixture
def column() -> np.ndarray:
    return np.arange(lent.LEAST // 4, dtype=np.int32).reshape(-1, 2)


def test_a_loan_is_mapped_not_copied(column):
    loan = lent.Lend("depth", host_identity())(rank_with(column))
    assert isinstance(loan, lent.Loan)
    values, again = loan.taken(), loan.taken()
    np.testing.assert_array_equal(values, column)
    assert not values.flags.writeable
    memory, timer = lent._lent[loan.number]
    memory.bytes[lent.HEAD :].view(np.int32)[0] = 99
    assert values[0, 0] == again[0, 0] == 99
    lent.close([loan.number])
    assert loan.number not in lent._lent
    assert values[1, 1] == 3  # the memory stays while it is mapped
    timer.join(60.0)
    assert not timer.is_alive()  # long before it would have closed the loan


def test_a_closed_loan_is_none(column):
    loan = lent.Lend("depth", host_identity())(rank_with(column))
    lent.close([loan.number, loan.number])
    other = lent.Lend("depth", host_identity())(rank_with(column))
    reused = lent.Loan(loan.number, os.getpid(), other.fd, other.dtype, other.shape)
    with pytest.raises(OSError, match="is closed"):
        reused.taken()
    lent.close([other.number])


def test_small_columns_and_those_of_other_hosts_are_sent(column):
    few = column[:10]
    assert lent.Lend("depth", host_identity())(rank_with(few)) is few
    assert lent.Lend("depth", "of another host")(rank_with(column)) is column
    assert lent.Lend("depth", "")(rank_with(column)) is column


def test_a_column_of_workers_is_lent_and_closed(two_workers, fault, watched):
    n = lent.LEAST
    G = gd.from_edges(np.arange(n - 1), np.arange(1, n)).partition(2, by="range", device="cpu")
    found = gd.bfs(G, n - 9, client=two_workers)
    taken = watched(lent.Loan, "taken", lambda loan: loan)
    expected = np.full(n, -1)
    expected[n - 9 :] = np.arange(9)
    np.testing.assert_array_equal(found.depth, expected)
    assert {loan.pid for loan in taken}.isdisjoint({os.getpid()})
    assert len(taken) == 2

    fault(lent.Loan, "taken", PermissionError("not to be seen"))
    np.testing.assert_array_equal(found.parent[n - 8 :], np.arange(n - 9, n - 1))
    two_workers.submit(lambda: None).result()
    for _ in range(200):
        if not any(two_workers.run(lambda: len(__import__("graphdask.gang.lent").gang.lent._lent)).values()):
            break
    else:
        pytest.fail("workers keep what they have lent")
    assert kept.Loan is lent.Loan
