"""Why workers have no free thread, for the error of a call that has waited for one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from graphdask.errors import DeadlineExceeded, SchedulerLost
from graphdask.gang.watch import call_scheduler

MOST = 3
"""Tasks that are named for each worker."""


@contextmanager
def explained(client: Any, asked: Mapping[Any, str], timeout: float) -> Iterator[None]:
    """Where the block waits in vain for `asked`, short tasks and the address of each one's worker, the error says why.

    `timeout` is for each answer of the scheduler, in seconds.
    """
    try:
        yield
    except DeadlineExceeded as error:
        if why := occupied(client, asked.values(), {task.key for task in asked}, timeout):
            raise DeadlineExceeded(f"{error}; {why}") from error
        raise


def occupied(client: Any, addresses: Iterable[str], own: Iterable[str], timeout: float) -> str:
    """What the workers are doing instead: the other tasks that each has, and whether it takes any; "" if unknown.

    `own` are the keys of the tasks that wait, and `timeout` is for each answer of the scheduler, in seconds.
    """
    addresses = sorted(addresses)
    with suppress(SchedulerLost, KeyError):  # a worker that left meanwhile is a KeyError of the scheduler's
        tasks = call_scheduler(client, client.scheduler.processing, timeout, workers=addresses)
        workers = call_scheduler(client, client.scheduler.identity, timeout, n_workers=-1)["workers"]
        found = [_of_one(address, tasks[address], workers[address], set(own)) for address in addresses]
        return "; ".join(each for each in found if each)
    return ""


def _of_one(address: str, tasks: Iterable[Any], worker: Mapping[str, Any], own: set[str]) -> str:
    said = []
    if worker["status"] != "running":  # Dask stops giving tasks to a worker whose memory is nearly full
        said.append(f"is {worker['status']}, so that it gets no tasks (memory limit {worker['memory_limit']:,} bytes)")
    if others := sorted(str(key) for key in tasks if key not in own):
        more = f" and {len(others) - MOST} more" if len(others) > MOST else ""
        said.append(f"has the tasks {', '.join(others[:MOST])}{more}")
    return f"{address} {' and '.join(said)}" if said else ""
