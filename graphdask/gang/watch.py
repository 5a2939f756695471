"""Which workers there are, and whether they live.

A worker that ended has left the scheduler's list. A stopped one, which no transport notices, is known by its silence:
neither its heartbeat to the scheduler nor its signs of life to the client have come for a while. Times are taken by the
client's clock when something new arrives, so clocks need not agree.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphdask.config import Config
from graphdask.errors import GraphdaskError, PeerLost, SchedulerLost, Unsupported
from graphdask.gang.forked import refuse_forked
from graphdask.gang.progress import Progress


@dataclass(frozen=True)
class KnownWorker:
    """What the scheduler says of a worker."""

    name: str
    last_seen: float
    """By the scheduler's clock."""
    returns: bool
    """Whether a nanny starts it anew when it ends."""
    memory: int = 0
    """Bytes that its process uses, as it has said last; 0 if it has not."""
    limit: int = 0
    """Bytes at which Dask ends it, or 0."""


def ask_scheduler(client: Any, timeout: float | None = None) -> dict[str, KnownWorker]:
    """Every worker that the scheduler knows, by address, in the order of their names.

    Not by `client.scheduler_info`, which returns what the client received last: now and then the client asks for the
    scheduler without its workers, and that answer can come in between. `timeout` is for the answer, in seconds; by
    default the setting `heartbeat_timeout`.

    Raises
    ------
    SchedulerLost
        Where the scheduler does not answer.
    """
    timeout = Config.load().heartbeat_timeout if timeout is None else timeout
    with scheduler_needed(client):
        return _known(call_scheduler(client, client.scheduler.identity, timeout, n_workers=-1))


class Outdated(GraphdaskError):
    """A gang lacks a worker, as the scheduler's answer said that was still under way when it was asked to run."""


class Asked(Mapping[str, KnownWorker]):
    """The same mapping, on its way: the scheduler is asked now, and the answer awaited when it is first needed.

    It raises then what `ask_scheduler` raises. Where there is no worker, it is what `if_none` returns.
    """

    def __init__(self, client: Any, if_none: Callable[[], dict[str, KnownWorker]] = dict):
        refuse_forked(client)
        refuse_asynchronous(client)
        self._client, self._timeout, self._if_none = client, Config.load().heartbeat_timeout, if_none
        self._answer: Future[Any] = Future()
        with scheduler_needed(client):
            client.loop.add_callback(self._ask, client.scheduler.identity)

    async def _ask(self, identity: Callable[..., Any]) -> None:
        """Runs in the client's loop."""
        try:
            self._answer.set_result(await asyncio.wait_for(identity(n_workers=-1), self._timeout))
        except (Exception, asyncio.CancelledError) as error:
            self._answer.set_exception(error)

    @property
    def is_under_way(self) -> bool:
        """Whether the answer has not arrived."""
        return not self._answer.done()

    @cached_property
    def _workers(self) -> dict[str, KnownWorker]:
        with scheduler_needed(self._client), scheduler_answers(self._client, self._timeout):
            known = _known(self._answer.result(self._timeout))
        return known or self._if_none()

    def __getitem__(self, address: str) -> KnownWorker:
        return self._workers[address]

    def __iter__(self) -> Iterator[str]:
        return iter(self._workers)

    def __len__(self) -> int:
        return len(self._workers)


def _known(identity: Any) -> dict[str, KnownWorker]:
    """The workers of which the scheduler's answer speaks."""
    known = {
        address: KnownWorker(str(worker["name"]), worker["last_seen"], bool(worker.get("nanny")), *_memory_of(worker))
        for address, worker in identity["workers"].items()
    }
    return dict(sorted(known.items(), key=lambda item: (len(item[1].name), item[1].name)))


def _memory_of(worker: Any) -> tuple[int, int]:
    """Bytes that a worker uses, and its limit; 0 for what the scheduler does not know."""
    return int((worker.get("metrics") or {}).get("memory") or 0), int(worker.get("memory_limit") or 0)


def refuse_asynchronous(client: Any) -> None:
    """Raise Unsupported in the event loop of an asynchronous client, which a call that waits would block."""
    if client.asynchronous:
        raise Unsupported(
            "this call waits for workers, and the event loop of the asynchronous client would stand still: use "
            "`await graphdask.aio.bfs(G, 0)` and the like, `await graphdask.aio.call(G.neighbors, 0)` for methods, "
            "`await graphdask.aio.call(getattr, r, 'depth')` for values, or a Client made with asynchronous=False"
        )


def call_scheduler(client: Any, function: Callable[..., Any], timeout: float, /, **arguments: Any) -> Any:
    """Call one of the scheduler's functions, such as `client.scheduler.identity`; raise SchedulerLost for silence.

    A scheduler that is stopped keeps its connections, and one that is cut off for long too: Dask would wait.
    """
    refuse_forked(client)
    refuse_asynchronous(client)
    with scheduler_answers(client, timeout):
        return client.sync(function, **arguments, callback_timeout=timeout)


@contextmanager
def scheduler_answers(client: Any, timeout: float) -> Iterator[None]:
    """Raise SchedulerLost where the block waits in vain for so many seconds, or reaches no scheduler."""
    try:
        yield
    except TimeoutError as error:
        what = f"gave no answer for {timeout:g} s: stopped, cut off, or too busy"
        raise SchedulerLost(f"the scheduler at {client.scheduler.address} {what}") from error
    except OSError as error:
        raise SchedulerLost(f"the scheduler at {client.scheduler.address} cannot be reached: {error}") from error


def has_ended(client: Any) -> bool:
    """Whether a client is closed: by whoever made it, or because its scheduler ended and said so."""
    return client is not None and (client.scheduler is None or client.status in ("closing", "closed"))


@contextmanager
def scheduler_needed(client: Any) -> Iterator[None]:
    """Raise SchedulerLost where the block fails because the scheduler ended meanwhile.

    A scheduler that ends in order closes its clients. What they are asked for then fails in many ways: the attribute
    `scheduler` is None, futures are cancelled, nothing can be sent any more.
    """
    try:
        yield
    except GraphdaskError as error:
        if isinstance(error, PeerLost) and not isinstance(error, SchedulerLost) and has_ended(client):
            raise SchedulerLost(f"{ENDED}: {error}") from error
        raise
    except (Exception, asyncio.CancelledError) as error:
        if has_ended(client):
            raise SchedulerLost(f"{ENDED}: {type(error).__name__}: {error}") from error
        raise


ENDED = "the scheduler ended, and closed its clients, while this call needed it"


class LifeSigns:
    """Signs of life of workers, from now on."""

    def __init__(self, client: Any, timeout: float):
        self._client, self.timeout = client, timeout
        self._seen: dict[str, tuple[float, float]] = {}
        self._pulses: dict[str, float] = {}
        self.last: dict[str, KnownWorker] = {}
        """By address, what the scheduler has said last of each worker."""
        self.estimates: dict[str, tuple[str, int]] = {}
        """By address, for what and how many bytes a worker has announced last."""

    def pulse(self, address: str, estimate: tuple[str, int] | None = None) -> None:
        """Take in that the worker at an address has sent something, and what it has announced."""
        self._pulses[address] = time.monotonic()
        if estimate is not None:
            self.estimates[address] = estimate

    def check(self, addresses: Iterable[str], what: str) -> None:
        """Raise PeerLost where a worker has gone, or been silent for too long.

        The error of silent ones carries their addresses as `silent`.
        """
        known = ask_scheduler(self._client, self.timeout)
        self.last |= known
        now = time.monotonic()
        addresses = sorted(addresses)
        if gone := [address for address in addresses if address not in known]:
            raise PeerLost(f"{', '.join(gone)} left the cluster while {what}")
        silent = []
        for address in addresses:
            worker = known[address]
            seen, since = self._seen.get(address, (None, now))
            if seen != worker.last_seen:
                since = now
                self._seen[address] = (worker.last_seen, now)
            if now - max(since, self._pulses.get(address, 0.0)) > self.timeout:
                silent.append(address)
        if silent:
            error = PeerLost(
                f"{', '.join(silent)} gave no sign of life for {self.timeout} s while {what}: stopped, or cut off"
            )
            error.silent = frozenset(silent)  # type: ignore[attr-defined]
            raise error


class RunWatch:
    """A context manager that receives the progress messages of a run's ranks.

    The scheduler sends messages only to subscribers. The client subscribes at the first `look`, so that it
    receives nothing of a short run.
    """

    def __init__(self, client: Any, topic: str, run: int, progress: Progress, life: LifeSigns):
        self.run, self.life = run, life
        self.on_sign: Callable[[str], None] | None = None
        """Called with the address of a worker that has given a sign of life, in the client's loop."""
        self.moved = 0.0
        """`time.monotonic()` of the last sign of progress."""
        self.superstep = -1
        """The last one that a rank has reported."""
        self._client, self._topic, self._progress = client, topic, progress
        self._listening = False
        self._done: dict[str, int] = {}
        """By worker, what it counts while it makes progress."""

    def look(self) -> None:
        """Show the progress of the run; subscribe to its messages at the first call."""
        if not self._listening:
            self._listening = True
            self._client.subscribe_topic(self._topic, self._take)
        self._progress.draw()

    def _take(self, event: tuple[float, dict[str, Any]]) -> None:
        """Called by Dask with each message."""
        message = event[1]
        if message["run"] == self.run:
            self.life.pulse(message["worker"], message["estimate"])
            on_sign = self.on_sign  # the run may end meanwhile
            if on_sign is not None:
                on_sign(message["worker"])
            if message["done"] != self._done.get(message["worker"]):
                self._done[message["worker"]] = message["done"]
                self.moved = time.monotonic()
            self._progress.compiling(message["compiling"])
            for rank, superstep, frontier, edges, _, done in message["ranks"]:
                self.superstep = max(self.superstep, superstep)
                self._progress.note(rank, superstep, frontier, edges, done)

    def __enter__(self) -> RunWatch:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.on_sign = None  # Dask's client keeps the handler of a topic, and with it what `on_sign` holds
        if self._listening:
            self._client.unsubscribe_topic(self._topic)
