"""Clients that cannot connect leave nothing behind."""

from __future__ import annotations

import threading

import pytest
from distributed import Client

from graphdask.cluster.clients import connected


@pytest.mark.parametrize("error", [OSError, ImportError, ValueError])
def test_a_client_that_cannot_connect_is_closed_and_its_thread_ends(error, fault, watched):
    fault(Client, "_ensure_connected", error("nobody there"))
    made = watched(Client, "_ensure_connected", lambda client, **options: client)
    before = set(threading.enumerate())
    with pytest.raises(error, match="nobody there"):
        connected("tcp://127.0.0.1:1", set_as_default=False)
    assert [client.status for client in made] == ["closed"]
    assert set(threading.enumerate()) <= before


def test_a_client_that_fails_before_it_has_a_loop_says_why():
    with pytest.raises(TypeError, match="address must be a string"):
        connected(7)
