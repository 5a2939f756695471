"""The environment of a rank by itself, for work that one rank does without the others."""

from __future__ import annotations

from dataclasses import replace

from graphdask.comm.single import SingleCommunicator
from graphdask.device.backend import get_backend
from graphdask.engine.loop import Environment


def alone_of(env: Environment) -> Environment:
    """Return the environment of a rank by itself, on the same device and with the same deadline."""
    return replace(env, rank=0, size=1, comm=SingleCommunicator())


def alone_on_host(env: Environment) -> Environment:
    """Return the environment of a rank by itself, on its CPU and with the same deadline."""
    return replace(alone_of(env), backend=get_backend("cpu"))
