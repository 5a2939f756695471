"""DaskKept: the values that a run left on the workers.

A run by tasks leaves them with Dask. One that was begun by a message leaves them with its workers, and they become
Dask's when they are asked for, or after a moment: a caller that makes one call after the other lets go of most values
before that, and a task for each would take longer than the call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any, TypeVar

from graphdask.errors import GraphdaskError, PeerLost, StaleMessage, WrongWorker
from graphdask.gang.arguments import Failed, PerRank, Summaries
from graphdask.gang.lent import Loan, close, lending
from graphdask.gang.watch import ask_scheduler

T = TypeVar("T")


class DaskKept:
    """Values of the ranks, on their workers.

    Parameters
    ----------
    gang : DaskGang
    keys : dict of str to str
        The values' names on the workers, by address.
    summary : list
        Of the value of each rank.
    futures : dict of str to Future, optional
        By address, those of the values that are Dask's.
    """

    def __init__(self, gang: Any, keys: dict[str, str], summary: list[Any], futures: dict[str, Any] | None = None):
        self.gang, self.keys, self.summary = gang, keys, summary
        self._futures, self._lock = dict(futures or {}), threading.Lock()
        self.recovery: Any = None
        """Recovery: how they are computed again if a worker takes them with it; None if they are not."""
        self._successor: DaskKept | None = None
        """Those that were computed again, which live for as long as these."""
        self._recovering = threading.Lock()

    def lasting(self, call: Callable[[], T]) -> T:
        """Return `call()`; if a worker has taken values with it, compute them again, and call again."""
        for losses in count(1):
            gang = self.gang
            try:
                return call()
            except (PeerLost, WrongWorker) as error:
                with self._recovering:
                    if self.gang is not gang:  # another thread has computed them
                        continue
                    if self.recovery is None or not self.recovery.possible(gang, error, losses):
                        raise
                    self._succeed(self.recovery(gang, error))
        raise AssertionError("unreachable")

    def _succeed(self, made: DaskKept) -> None:
        """Take over the values that were computed again, with their names on the workers."""
        with self._lock:
            self._successor, self.gang, self.keys = made, made.gang, made.keys
            self._futures = made._futures
        self._lock = made._lock

    @property
    def futures(self) -> dict[str, Any]:
        """The values, which are Dask's from the first use on."""
        with self._lock:
            for address in self.keys.keys() - self._futures.keys():
                self._futures[address] = self.gang.take_over(address, self.keys[address])
            return self._futures

    def fetch(self, select: Callable[[Any], Any]) -> list[Any]:
        return self.lasting(lambda: self._fetched(select))

    def _fetched(self, select: Callable[[Any], Any]) -> list[Any]:
        found, asked = self._selected(lending(select))
        try:
            return self._taken(found, asked)
        except OSError:  # the memory of the workers is not to be seen from here
            return in_rank_order(self._selected(select)[0])

    def _selected(self, select: Callable[[Any], Any]) -> tuple[dict[Any, dict[int, Any]], dict[Any, str]]:
        """What each task has selected, by rank, and where each has run."""
        places = self._places()
        asked = {
            self.gang.submit(select_all, places[address], future, select): places[address]
            for address, future in self.futures.items()
        }
        return self.gang.wait(asked, "fetching results", "deadline"), asked

    def _taken(self, found: dict[Any, dict[int, Any]], asked: dict[Any, str]) -> list[Any]:
        """The values in rank order, those that were lent mapped; their workers close them then."""
        from distributed import fire_and_forget

        try:
            return [value.taken() if isinstance(value, Loan) else value for value in in_rank_order(found)]
        finally:
            for task, by_rank in found.items():
                numbers = [value.number for value in by_rank.values() if isinstance(value, Loan)]
                if numbers:
                    with suppress(GraphdaskError):  # a worker that left has closed them
                        fire_and_forget(self.gang.submit(close, asked[task], numbers))

    def take(self, rank: int, select: Callable[[Any], Any]) -> Any:
        """What `select` picks from the value of one rank."""
        return self.ask({rank: select})[rank]

    def ask(self, selects: dict[int, Callable[[Any], Any]]) -> dict[int, Any]:
        """What each function picks from the value of its rank; all are asked at the same time, the others not."""
        return self.lasting(lambda: self._answers(selects))

    def _answers(self, selects: dict[int, Callable[[Any], Any]]) -> dict[int, Any]:
        homes = {rank: host.address for host in self.gang.hosts for rank in host.ranks}
        places = self._places()
        tasks = {
            rank: self.gang.submit(_take, places[homes[rank]], self.futures[homes[rank]], rank, select)
            for rank, select in selects.items()
        }
        asked = {task: places[homes[rank]] for rank, task in tasks.items()}
        found = self.gang.wait(asked, "fetching edges", "deadline") if asked else {}
        return {rank: found[task] for rank, task in tasks.items()}

    def _places(self) -> dict[str, str]:
        """Where the values of each worker are now: one that was retired has left them to another."""
        client = self.gang.client
        if client.status != "running":
            raise PeerLost("the values were on a cluster whose client is closed; make the call again")
        known = ask_scheduler(client)
        places = {address: address for address in self.keys if address in known}
        for address in self.keys.keys() - known.keys():
            future = self.futures[address]
            holders = () if future.cancelled() else client.who_has([future]).get(future.key, ())
            if not holders:
                raise PeerLost(f"the worker {address} left and took its values with it; make the call again")
            places[address] = holders[0]
        return places

    def delayed(self, select: Callable[[Any], Any]) -> list[Any]:
        from dask import delayed

        if self.recovery is not None:
            self.lasting(self._places)
        place = {rank: host.address for host in self.gang.hosts for rank in host.ranks}
        return [
            delayed(_select_one, pure=False)(delayed(self.futures[place[rank]]), rank, select)
            for rank in range(self.gang.size)
        ]


def in_rank_order(found: dict[Any, dict[int, Any]]) -> list[Any]:
    """The values of all ranks, of what each worker has sent."""
    by_rank = {rank: value for part in found.values() for rank, value in part.items()}
    return [by_rank[rank] for rank in sorted(by_rank)]


def select_all(kept: PerRank | Failed, select: Callable[[Any], Any]) -> dict[int, Any] | Failed:
    """Runs on a worker, beside what it selects from."""
    if isinstance(kept, Failed) and isinstance(kept.error, StaleMessage):  # Dask tried to make lost values again
        return Failed(PeerLost("a worker was started anew and has lost what it kept; make the call again"))
    return kept if isinstance(kept, Failed) else Summaries.of(kept, select)


def _take(kept: PerRank | Failed, rank: int, select: Callable[[Any], Any]) -> Any:
    found = select_all(kept, lambda value: value)
    return found if isinstance(found, Failed) else select(found[rank])


def _select_one(kept: PerRank, rank: int, select: Callable[[Any], Any]) -> Any:
    return select(kept[rank])
