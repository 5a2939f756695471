"""Ranks as real processes of this host, each with its UcxPlane or TcpPlane, that run functions on request.

The addresses travel through pipes; so this needs no Dask, and a rank can be killed or stopped.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from graphdask.comm.protocol import Cancel, Communicator
from graphdask.comm.tcp.communicator import TcpCommunicator, TcpPlane
from graphdask.comm.ucx.communicator import UcxCommunicator, UcxPlane
from graphdask.device.backend import Backend, get_backend
from graphdask.errors import CommunicationError, DeadlineExceeded


def _plane(transport: str, config: dict[str, str] | None, backend: Backend) -> Any:
    return TcpPlane("127.0.0.1") if transport == "tcp" else UcxPlane(config, backend)


def _communicator(transport: str, plane: Any, backend: Backend, settings: dict[str, Any]) -> Communicator:
    if transport == "tcp":
        return TcpCommunicator(plane, backend=backend, **{"timeout": 120.0, "cancel": Cancel(), **settings})
    return UcxCommunicator(plane, **settings)


def _serve(pipe: Any, transport: str, device: str, index: int, config: dict[str, str] | None) -> None:
    """Body of a rank: answer each request (function, arguments, communicator settings) until None comes."""
    backend = get_backend(device, index)
    plane = _plane(transport, config, backend)
    pipe.send(plane.address)
    while (request := pipe.recv()) is not None:
        if request == "renew":
            plane.close()
            plane = _plane(transport, config, backend)
            pipe.send(plane.address)
            continue
        function, arguments, settings = request
        answer: tuple[Any, BaseException | None]
        try:
            with backend.activate(), _communicator(transport, plane, backend, settings) as communicator:
                answer = (function(communicator, *arguments), None)
        except BaseException as error:  # it is raised again in the parent
            answer = (None, error)
            error.add_note(traceback.format_exc())
        pipe.send(answer)
    plane.close()


class UcxProcesses:
    """`size` ranks on this host that exchange over UCX; a context manager.

    Parameters
    ----------
    size : int
    device : {"cpu", "cuda"}
        With `cuda`, rank r uses device r.
    config : dict, optional
        For UcxPlane.
    """

    transport = "ucx"

    def __init__(self, size: int, device: str = "cpu", config: dict[str, str] | None = None):
        context = multiprocessing.get_context("spawn")
        self.pipes, self.processes = [], []
        for rank in range(size):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, self.transport, device, rank, config), daemon=True)
            process.start()
            there.close()
            self.pipes.append(here)
            self.processes.append(process)
        self.addresses = [self._answer(rank, 240.0) for rank in range(size)]
        self._gang = 1

    def _answer(self, rank: int, seconds: float) -> Any:
        if not self.pipes[rank].poll(max(0.0, seconds)):
            raise DeadlineExceeded(f"rank {rank} gave no answer within {seconds:.0f} s")
        try:
            return self.pipes[rank].recv()
        except EOFError as error:
            raise CommunicationError(f"the process of rank {rank} has ended") from error

    def renew(self) -> None:
        """Give every rank a new plane, as after a failed run."""
        for pipe in self.pipes:
            pipe.send("renew")
        self.addresses = [self._answer(rank, 240.0) for rank in range(len(self.pipes))]

    def start(self, function: Callable[..., Any], *arguments: Any, size: int = 0, **settings: Any) -> list[int]:
        """Ask the first `size` ranks (all by default) for `function(communicator, *arguments)`; return them.

        `settings` go to UcxCommunicator; a value that is a list holds one value for each rank.
        """
        size = size or len(self.pipes)
        self._gang += 1
        for rank in range(size):
            own = {name: value[rank] if isinstance(value, list) else value for name, value in settings.items()}
            settings_of_rank = {
                "rank": rank,
                "addresses": self.addresses[:size],
                "gang": self._gang,
                "run": 0,
                **own,
            }
            self.pipes[rank].send((function, arguments, settings_of_rank))
        return list(range(size))

    def results(self, ranks: Sequence[int], deadline: float = 240.0) -> list[tuple[Any, BaseException | None]]:
        """Return (result, None) or (None, error) of each rank, in their order."""
        end = time.monotonic() + deadline
        return [self._answer(rank, end - time.monotonic()) for rank in ranks]

    def run(self, function: Callable[..., Any], *arguments: Any, deadline: float = 240.0, **settings: Any) -> list[Any]:
        """Run the function on all ranks; return the results or raise the first error that is no report of another."""
        from graphdask.comm.failure import is_secondary

        answers = self.results(self.start(function, *arguments, **settings), deadline)
        errors = [error for _, error in answers if error is not None]
        if errors:
            raise min(errors, key=is_secondary)
        return [result for result, _ in answers]

    def close(self) -> None:
        """End the processes; those that do not answer are killed."""
        for pipe in self.pipes:
            try:
                pipe.send(None)
            except OSError:
                continue
        for process in self.processes:
            process.join(3.0)
            if process.is_alive():
                process.kill()
                process.join()
            process.close()
        for pipe in self.pipes:
            pipe.close()

    def __enter__(self) -> UcxProcesses:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class TcpProcesses(UcxProcesses):
    """The same over plain TCP on the loopback interface; no configuration."""

    transport = "tcp"
