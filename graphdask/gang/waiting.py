"""How the client waits for workers: for all of them, with a limit, while it looks whether they live."""

from __future__ import annotations

import asyncio
import math
import os
import queue
import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from graphdask.comm.failure import is_secondary
from graphdask.engine.watchdog import late
from graphdask.errors import DeadlineExceeded, GraphdaskError, MissingDependency, PeerLost
from graphdask.gang.arguments import Failed
from graphdask.gang.watch import LifeSigns, RunWatch

POLL = 0.1
"""Seconds between two checks of a run."""

ASK_SCHEDULER = 0.5
"""Seconds between two questions to the scheduler which workers it still has."""

ANSWER = 30.0
"""Seconds that a worker may take to answer a short call."""

ENDING = 10.0
"""Seconds that the other tasks of a failed run are given to end."""


NO_MODULE = re.compile(r"\bModuleNotFoundError\(.*?No module named \\?'([\w.]+)")


@dataclass(frozen=True)
class Wait:
    """What is waited for, and for how long."""

    what: str
    setting: str
    """Name of the setting that limits it."""
    limit: float
    """Its value, in seconds; of a run that is watched, those without progress."""
    time_limit: float = math.inf
    """Seconds that a run which is watched may take in all."""


def collect(
    tasks: dict[Any, str],
    done: queue.SimpleQueue[Any],
    wait: Wait,
    life: LifeSigns,
    watch: RunWatch | None = None,
    on_failure: Callable[[str], None] | None = None,
) -> dict[Any, Any]:
    """Return the results of all tasks, by task; raise the first real error, or PeerLost for a lost worker.

    `tasks` names the address of each; `done` brings pairs of a task and its result or Failed. `on_failure` is called
    once, with the reason, when the first task fails.
    """
    pending, failed = set(tasks), []
    results: dict[Any, Any] = {}
    asked_at = started = time.monotonic()
    ending = math.inf
    while pending:
        try:
            task, outcome = done.get(timeout=POLL)
        except queue.Empty:
            task = None
        now = time.monotonic()
        if task is not None:
            pending.discard(task)
            if not isinstance(outcome, Failed):
                results[task] = outcome
            else:
                failed.append(outcome.error)
                if len(failed) == 1:
                    ending = now + ENDING
                    if on_failure is not None:
                        on_failure(f"the worker {tasks[task]} failed")
        if watch is not None and task is None:
            watch.look()
        if now > ending:
            break
        if not failed:
            _check(wait, watch, now, started)
        if now - asked_at > ASK_SCHEDULER or (failed and pending and task is None):
            asked_at = now
            life.check({tasks[task] for task in pending}, wait.what)
    if failed:
        raise _cause(failed)
    return results


def _check(wait: Wait, watch: RunWatch | None, now: float, started: float) -> None:
    """Raise DeadlineExceeded where a wait that began at `started` has passed a limit."""
    if watch is not None and now - started > wait.time_limit:
        raise DeadlineExceeded(late(wait.what, "time_limit", wait.time_limit))
    if now - max(started, 0.0 if watch is None else watch.moved) > wait.limit:
        if watch is not None:
            raise DeadlineExceeded(late(wait.what, wait.setting, wait.limit))
        raise DeadlineExceeded(
            f"{wait.what} took longer than {wait.limit} s; raise the setting "
            f"graphdask.{wait.setting.replace('_', '-')} if it may take as long as that"
        )


def outcome_of(task: Any, address: str) -> Any:
    """The result of a future that is over, or Failed with what went wrong."""
    from distributed.client import FutureCancelledError, FuturesCancelledError
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        return task.result(timeout=ANSWER)
    except GraphdaskError as error:
        return Failed(error)
    except TimeoutError:
        return Failed(PeerLost(f"the worker {address} did not hand over its result in {ANSWER} s"))
    except CommClosedError as error:  # of Dask, to the scheduler or to the worker
        return Failed(PeerLost(f"the connection broke over which the worker {address} hands over its result: {error}"))
    except (FutureCancelledError, FuturesCancelledError, KilledWorker) as error:
        return Failed(PeerLost(f"the worker {address} left and took its partitions with it: {error}"))
    except Exception as error:  # whatever the task raised; the caller decides what it means
        return Failed(with_what_to_do(error, address))


async def answer_of(
    client: Any, address: str, function: Callable[..., Any], *arguments: Any, direct: bool = False
) -> Any:
    """What a function called on a worker returned, or Failed with what went wrong. Runs in the client's loop.

    `direct` says that the client reaches the worker by itself, not through the scheduler.
    """
    try:
        if direct:
            answer = await _called(client, address, function, arguments)
        else:
            answer = (await client.run(function, *arguments, workers=[address], on_error="return"))[address]
    except Exception as error:  # the way there may be broken, or the argument not fit to travel
        answer = error
    if isinstance(answer, OSError):
        return Failed(PeerLost(f"the worker {address} left while it was spoken to: {answer}"))
    return Failed(with_what_to_do(answer, address)) if isinstance(answer, Exception) else answer


def answering(client: Any, addresses: Iterable[str], timeout: float) -> set[str]:
    """Those of some workers that answer in `timeout` seconds; the scheduler may list one that has died for a while."""

    async def answers(address: str) -> bool:
        with suppress(TimeoutError):
            return not isinstance(await asyncio.wait_for(answer_of(client, address, os.getpid), timeout), Failed)
        return False

    async def all_answers() -> list[bool]:
        return await asyncio.gather(*(answers(address) for address in addresses))

    addresses = list(addresses)
    found: list[bool] = client.sync(all_answers)
    return {address for address, answered in zip(addresses, found, strict=True) if answered}


def with_what_to_do(error: Exception, address: str) -> Exception:
    """What a worker raised; of a module that it does not have, with what to do.

    Where the scheduler passes an answer on, it makes an Exception with the text of the error.
    """
    found = NO_MODULE.search(repr(error)) if type(error) in (Exception, ModuleNotFoundError) else None
    if found is None:
        return error
    return MissingDependency(
        f"the worker {address} has no module {found[1]}; install the package that has it on every worker and on the "
        f"scheduler of the cluster"
    )


async def _called(client: Any, address: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """As `Client.run` calls functions, but for the way."""
    from distributed.core import clean_exception
    from distributed.protocol.pickle import dumps

    answer = await client.rpc(address).run(function=dumps(function), args=dumps(arguments), kwargs=dumps({}), wait=True)
    return answer["result"] if answer["status"] == "OK" else clean_exception(**answer)[1]


def _cause(errors: list[BaseException]) -> BaseException:
    """The error that explains the others: not a report of another rank's, if there is one."""
    return min(errors, key=lambda error: (is_secondary(error), isinstance(error, PeerLost)))
