"""Drills of `graphdask chaos` in which something is wrong that is known."""

from __future__ import annotations

import os
import subprocess
import threading
import uuid
from pathlib import Path

from graphdask.chaos.drill import Drill
from graphdask.chaos.operations import Answer
from graphdask.selftest.cases import Wrong
from graphdask.selftest.public import gd

KEPT: list = []


def right(graph, client) -> Answer:
    return Answer((gd.bfs(graph, 0, client=client).depth,))


def planted(fault):
    """BFS, with something done where a client calls it."""

    def bfs(operations, graph, client) -> Answer:
        found = right(graph, client).arrays[0].copy()
        if client is not None:
            fault(operations, found, client)
        return Answer((found,))

    return {"bfs": bfs}


class Small(Drill):
    """Waits of seconds."""

    call_seconds = process_seconds = 6.0


def _wrong(operations, found, client) -> None:
    found[7] += 1


def _hang(operations, found, client) -> None:
    threading.Event().wait()


def _fail(operations, found, client) -> None:
    raise KeyError("bare")


def _leave_a_file(operations, found, client) -> None:
    (operations.folder / "half").touch()


def _leave_shared_memory(operations, found, client) -> None:
    Path(f"/dev/shm/graphdask-{uuid.uuid4().hex}").touch()


def _start_a_thread() -> None:
    threading.Thread(target=threading.Event().wait, name="graphdask-left", daemon=True).start()


def _open_files() -> None:
    KEPT.extend(open(os.devnull) for _ in range(30))  # noqa: SIM115


def _start_a_process() -> None:
    KEPT.append(subprocess.Popen(["sleep", "600"], start_new_session=True))


def _make_a_temporary_file() -> None:
    Path(os.environ["TMPDIR"], "left").touch()


def in_workers(function):
    return planted(lambda operations, found, client: client.run(function))


class WrongBits(Small):
    operations = planted(_wrong)


class Hangs(Small):
    operations = planted(_hang)


class Fails(Small):
    operations = planted(_fail)


class LeavesAFile(Small):
    operations = planted(_leave_a_file)


class LeavesSharedMemory(Small):
    operations = planted(_leave_shared_memory)


class LeavesAThread(Small):
    operations = in_workers(_start_a_thread)


class LeavesDescriptors(Small):
    operations = in_workers(_open_files)


class LeavesAProcess(Small):
    operations = in_workers(_start_a_process)


class LeavesATemporaryFile(Small):
    operations = in_workers(_make_a_temporary_file)


class Planned(Drill):
    """Has no cluster: fails where a step is said to."""

    def run(self, choices) -> str:
        plan = self.plan(choices)
        if any((step.operation, step.fault) == ("writing", "worker paused") for step in plan.steps):
            raise Wrong("wrong bits of writing: planted")
        self.tally.update(f"{step.fault}/right" for step in plan.steps)
        return str(plan)
