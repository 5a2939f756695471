"""The fast path of a registered gang: a message to each worker starts its ranks, without a task of Dask.

A task of Dask's takes several times as long to start as a message to the worker. So the client sends the order for a
run in such a message, without the scheduler in between where it reaches the worker by itself, and may have a task take
the values over later. Of a run that takes long the task begins before
its end, so that Dask sees a worker at work and gives it nothing else to do. A worker declines an order unless
everything is as it was when the gang was registered; the client then registers it again, by tasks.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from graphdask.errors import GraphdaskError, PeerLost, StaleMessage
from graphdask.gang.arguments import Failed, PerRank, Summaries
from graphdask.gang.worker import Ordered, Process, Run, RunPlan, check_worker, perform, process_of, sound_plane

KEEP = 30.0
"""Seconds between two looks whether values that no task has taken over are still wanted."""

KEPT = "graphdask values of "
"""What the keys of the tasks that take values over begin with."""


class Declined(GraphdaskError):
    """A worker cannot begin a run at once."""


@dataclass(frozen=True)
class Known:
    """An argument that lies on the worker already, by its key there."""

    key: str


@dataclass(frozen=True)
class Order:
    """The message that starts a run on one worker."""

    plan: RunPlan
    addresses: tuple[bytes, ...]
    """Of the data planes, by rank."""
    registration: str
    """Key of the task that registered the gang with this worker."""
    program: Callable[..., Any]
    arguments: tuple[Any, ...]
    summary: Callable[[Any], Any]
    key: str
    """Key of the values in Dask."""
    dropped: tuple[str, ...]
    """Keys of values of earlier runs that are no longer referenced."""


async def run_at_once(order: Order, dask_worker: Any) -> dict[int, Any] | Failed:
    """Run the ranks of this worker in a thread; return the summaries by rank. Called through `Client.run`."""
    worker, process = dask_worker, process_of(dask_worker)
    forget(order.dropped, worker)
    try:
        check_worker(order.plan, worker)
        _check_thread(worker)
        arguments = tuple(_found(argument, process, worker) for argument in order.arguments)
    except GraphdaskError as error:  # the client raises it
        return Failed.of(error)
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Any] = loop.create_future()

    def hand_over(value: Any) -> None:
        if not outcome.done():
            outcome.set_result(value)

    ordered = process.ordered[order.key] = Ordered()

    def work() -> None:
        try:
            value = _outcome(order, ordered, arguments, process, worker)
        finally:
            process.ordered.pop(order.key).over.set()
        with suppress(RuntimeError):  # the worker has closed
            loop.call_soon_threadsafe(hand_over, value)

    threading.Thread(target=work, name="graphdask-run", daemon=True).start()
    found = await outcome
    if not isinstance(found, Failed):
        worker.loop.call_later(KEEP, _sweep, order, process, worker)
    return found


def is_registered(gang: int, key: str, dask_worker: Any) -> bool:
    """Whether this is the worker with which that task registered the gang. Called through `answer_of`."""
    registration = process_of(dask_worker).registrations.get(gang)
    return registration is not None and registration.key == key


def _outcome(
    order: Order, ordered: Ordered, arguments: tuple[Any, ...], process: Process, worker: Any
) -> dict[int, Any] | Failed:
    try:
        run = ordered.run = _begun(order, process, worker)
        values = perform(worker, order.plan, run, order.registration, order.addresses, order.program, arguments)
        if isinstance(values, Failed):
            return values
        summaries = Summaries.of(values, order.summary)
        process.kept[order.key] = values
        return summaries
    except Exception as error:  # the client raises it
        return Failed.of(error)


def _check_thread(worker: Any) -> None:
    """A foreign task may hold the thread for long; a registration waits for it."""
    busy = sum(not str(task.key).startswith(KEPT) for task in worker.state.executing)
    if busy >= worker.state.nthreads:
        raise Declined("no thread is free")


def _found(argument: Any, process: Process, worker: Any) -> Any:
    if not isinstance(argument, Known):
        return argument
    value = process.kept.get(argument.key)
    value = worker.data.get(argument.key) if value is None else value
    if value is None:
        raise Declined(f"{argument.key} is not here")
    if isinstance(value, Failed):
        raise PeerLost(f"{worker.name} was started anew and has lost its partitions")
    return value


def _begun(order: Order, process: Process, worker: Any) -> Run:
    plan = order.plan
    with process.lock:
        registration = process.registrations.get(plan.gang)
        if registration is None or registration.key != order.registration or registration.key not in worker.state.tasks:
            raise Declined("the gang is not registered here")
        if plan.run <= registration.run:
            raise StaleMessage(f"run {plan.run} of gang {plan.gang:x} is over on {plan.worker}")
        if process.runs:
            raise Declined("a run that was given up has not ended")
        for place, (rank, address) in enumerate(registration.addresses.items()):
            if order.addresses[rank] != address or address != _address(process, plan.plane, place, address):
                raise Declined("a run of another gang failed here")
        registration.run = plan.run
        run = process.runs[plan.gang, plan.run] = Run(started=True)
        return run


def _address(process: Process, kind: str, place: int, address: bytes) -> bytes | None:
    """Of the plane on which a rank would run now; None where it needs a new one. Without data plane it has none."""
    if not address:
        return address
    plane = sound_plane(process, kind, place)
    return None if plane is None else plane.address


def _sweep(order: Order, process: Process, worker: Any) -> None:
    """Drop the values if no task will take them over: the client is gone."""
    if order.key not in process.kept:
        return
    registration = process.registrations.get(order.plan.gang)
    held = registration is not None and registration.key in worker.state.tasks
    if held or order.key in worker.state.tasks:
        worker.loop.call_later(KEEP, _sweep, order, process, worker)
    else:
        process.kept.pop(order.key, None)


def forget(keys: tuple[str, ...], dask_worker: Any) -> None:
    """Drop values that no task has taken over. Called through `Client.run`."""
    process = process_of(dask_worker)
    for key in keys:
        process.kept.pop(key, None)


def take_over(deadline: float) -> PerRank | Failed:
    """The task that makes the values of a run, which lie here under its key, or will, known to Dask.

    `deadline` is that of the run, in seconds; it is longer than the run goes on without progress.
    """
    from distributed import get_worker

    worker = get_worker()
    key, process = str(worker.get_current_task()), process_of(worker)
    ordered = process.ordered.get(key)
    if ordered is not None:
        ordered.wait(deadline)
    values = process.kept.pop(key, None)
    if values is None:
        return Failed(StaleMessage(f"{key} is not on {worker.name} any more"))
    return values
