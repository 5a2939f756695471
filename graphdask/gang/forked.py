"""Clients that a process has from the one of which it is a fork: their threads are not here, so nobody answers them."""

from __future__ import annotations

import os
import sys
import weakref
from typing import Any

_inherited: weakref.WeakSet[Any] = weakref.WeakSet()


def _note_clients() -> None:
    """Called in a process that is a fork."""
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        _inherited.update(getattr(distributed.Client, "_instances", ()))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_clients)


def refuse_forked(client: Any) -> None:
    """Raise InputError for a client of the process of which this one is a fork: calls would wait for ever."""
    if client in _inherited:
        from graphdask.errors import InputError  # this module is loaded with graphdask itself

        raise InputError(
            f"process {os.getpid()} is a fork of one with an open Dask client, which does not work here; open a client "
            'in this process, close it before the fork, or start processes by multiprocessing.get_context("spawn")'
        )
