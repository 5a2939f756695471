"""A fork of a process with an open client says at once that calls need a client of their own; others work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys, logging
sys.path.insert(0, {helpers!r})
import numpy as np
from gangs import dask_cluster, path, active
import graphdask as gd

def fork(call):
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            said = str(call())
        except BaseException as error:
            said = f"{{type(error).__name__}}: {{error}}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read) as file:
        print(file.read().splitlines()[0], flush=True)

if __name__ == "__main__":
    G = path(40)
    gd.bfs(G.partition(2), 0)
    fork(lambda: gd.bfs(G.partition(2), 0).depth.tolist() == list(range(40)))
    with dask_cluster(1) as client, active(client):
        r = gd.bfs(path(40), 0)
        fork(lambda: gd.bfs(path(40), 0).depth[39])
        fork(lambda: r.depth[39])
        fork(lambda: gd.bfs(path(40), 0, client=client).depth[39])
        print(r.depth[39], flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system has no forks")
def test_a_fork_of_a_process_with_an_open_client_says_why_it_does_not_work(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(helpers=str(Path(__file__).resolve().parents[1] / "helpers")))
    done = subprocess.run([sys.executable, "-W", "ignore", script], capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert len(lines) == 5, done.stderr[-2000:]
    assert (lines[0], lines[4]) == ("True", "39")
    for line in lines[1:4]:
        assert "InputError: process" in line
        assert "is a fork of one with an open Dask client" in line
