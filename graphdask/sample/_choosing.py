"""Choosing some candidates of each of many groups, launch by launch: the host's side of kernels/choice/selection.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.choice.selection_pack import Selections
from graphdask.kernels.neighbors.redrawn_pack import Redrawn
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.tuning import SAMPLE


def empty_counts(xp: Any, groups: int) -> Array:
    """Buffer for 0 and a number of each group, which kernels write where there are groups."""
    return (xp.empty if groups else xp.zeros)(groups + 1, np.int64)


@dataclass
class Choices:
    """Groups to choose from."""

    xp: Any
    sizes: Array
    """int64: how many candidates each has."""
    counts: Array
    """int64, shape (groups + 1,): 0, and how many each gives at most; no more than it has, unless with replacement."""
    tags: Array
    """int64: the number by which random numbers distinguish the groups of an instance."""
    instances: Array
    """int64."""

    @classmethod
    def between(
        cls, kernels: Any, xp: Any, bounds: Array, asked: int, replace: bool, instances: Array
    ) -> Choices:  # fmt: skip
        """Of groups that begin at `bounds`, one of an instance each: so many candidates, or all of them for -1. The
        kernels are of the family `steps`."""
        n = len(bounds) - 1
        counts = empty_counts(xp, n)
        kernels.steps_counts(n, bounds, asked, int(replace), counts)
        choices = cls(xp, bounds[1:] - bounds[:-1], counts, xp.zeros(n, np.int64), instances)
        choices.bounds = bounds
        return choices

    @property
    def wanted(self) -> Array:
        """int64: how many each gives at most."""
        return self.counts[1:]

    @property
    def total(self) -> int:
        """How many candidates there are."""
        return int(self.bounds[-1] if "bounds" in self.__dict__ else self.sizes.sum())

    @cached_property
    def bounds(self) -> Array:
        """int64, shape (groups + 1,): where the candidates of each begin."""
        sums = self.xp.zeros(len(self.sizes) + 1, np.int64)
        self.xp.cumsum(self.sizes, out=sums[1:])
        return sums


@dataclass
class Found:
    """What was chosen."""

    owners: Array
    """The group of each, ascending."""
    chosen: Array
    """Its place in the group."""
    starts: Array
    """Where each group's part of the buffer began."""
    kept: Array | None = None
    """Places in the buffer; None: all."""

    def numbers(self, xp: Any) -> Array:
        """Of each, how many of the group were chosen before it."""
        places = xp.arange(len(self.owners)) if self.kept is None else self.kept
        return places - self.starts[self.owners]


@dataclass
class ChosenRows:
    """Where kernels write what they choose, for all groups or some of them."""

    xp: Any
    starts: Array
    """Where each group's part of the buffer begins."""
    chosen: Array
    owners: Array
    """-1 where nothing was chosen."""
    all_starts: Array
    """`starts` of all groups."""

    @cached_property
    def labels(self) -> Array:
        """What each group is called in `owners`."""
        return self.xp.arange(len(self.starts))

    @cached_property
    def done(self) -> Array:
        """How many of each are chosen already."""
        return self.xp.zeros(len(self.starts), np.int64)

    def of(self, groups: Array, done: Array) -> ChosenRows:
        """That of some groups, of which some candidates are chosen already."""
        some = ChosenRows(self.xp, self.starts[groups], self.chosen, self.owners, self.all_starts)
        some.labels, some.done = groups, done
        return some

    def filled(self, xp: Any, lacking: bool | None = None) -> Found:
        """Return the chosen candidates after the kernels have run.

        `lacking` says whether some places of the buffers stay empty; None: that is not known.
        """
        if lacking is None:
            lacking = len(self.owners) > 0 and int(self.owners.min()) < 0
        if not lacking:
            return Found(self.owners, self.chosen, self.all_starts)
        (places,) = xp.nonzero(self.owners >= 0)
        return Found(self.owners[places], self.chosen[places], self.all_starts, places)


@dataclass
class Chooser:
    """How choices are made: the random numbers, and the kind of biases."""

    env: Environment
    name: str
    seed: np.uint64
    what: int
    step: int
    floating: bool
    failure: Array
    redraws: int = 0
    """What kernels call the method (`graphdask.sample.fanouts.METHODS`), where it is one that draws again until a
    candidate is new."""

    def allocate(self, choices: Choices) -> ChosenRows:
        """Allocate the buffers for the chosen candidates.

        Raises
        ------
        OverBudget
            If the memory does not suffice.
        """
        xp = self.env.xp
        offsets = xp.cumsum(choices.counts)
        total = int(offsets[-1])
        refuse_beyond_memory(self.env, self.name, f"step {self.step}", total, SAMPLE.chosen_bytes)
        starts = offsets[:-1]
        return ChosenRows(xp, starts, xp.empty(total, np.int64), xp.empty(total, np.int64), starts)

    def look_at_the_clock(self) -> None:
        """Raise DeadlineExceeded where it is past the deadline."""
        self.env.backend.synchronize()
        self.env.check_deadline(self.name, f"step {self.step}")


def choose(
    chooser: Chooser,
    choices: Choices,
    replace: bool,
    weigh: Callable[[int, int], Array] | None,
    buffers: ChosenRows | None = None,
    begins: Array | None = None,
    few: bool = False,
) -> Found:
    """Choose candidates of each group.

    Parameters
    ----------
    weigh : function (a, b) -> array, optional
        Returns the biases of the candidates of groups a to b - 1, which may be overwritten. None: all are alike.
    buffers : ChosenRows, optional
        The buffers, with the candidates that are chosen already.
    begins : int64 array, optional
        The number of the first candidate of each group if all are alike; the others follow it. Default: 0.
    few : bool
        Whether it is known that candidates are drawn with replacement, or FEW of each group, or, if all are alike, all
        of each group.
    """
    env = chooser.env
    xp, n = env.xp, len(choices.wanted)
    kernels = env.kernels("selection")
    by_sums = few and buffers is None and env.backend.name != "cpu"
    buffers = chooser.allocate(choices) if buffers is None else buffers
    shared = {
        "replace": int(replace), "seed": chooser.seed, "what": chooser.what, "step": chooser.step,
        "chosen": buffers.chosen, "owner": buffers.owners,
    }  # fmt: skip
    if weigh is None:
        table = xp.full(0 if few else 2 * len(buffers.chosen), -1, np.int64)
        kernels.selection_uniform(
            n, Selections(
                **shared, begins=begins, sizes=choices.sizes, starts=buffers.starts, counts=choices.wanted,
                tags=choices.tags, instances=choices.instances, table=table,
            ),
        )  # fmt: skip
        return Found(buffers.owners, buffers.chosen, buffers.all_starts)
    for a, b in launches(env, choices, SAMPLE.candidate_launch[env.backend.name]):
        if a:
            chooser.look_at_the_clock()
        bounds = choices.bounds[a : b + 1]
        values = weigh(a, b)
        if chooser.redraws:
            redraw(chooser, choices, a, b, values.view(np.int64), buffers)
            continue
        if by_sums:
            choose_by_sums(chooser, choices, replace, a, b, values.view(np.int64), buffers)
            continue
        kernels.selection_pick(
            b - a, Selections(
                **shared, labels=buffers.labels[a:b], bounds=bounds, values=values.view(np.int64),
                floating=int(chooser.floating), starts=buffers.starts[a:b], counts=choices.wanted[a:b],
                tags=choices.tags[a:b], instances=choices.instances[a:b], done=buffers.done[a:b],
                failure=chooser.failure,
            ), per_item=32,
        )  # fmt: skip
    return buffers.filled(xp)


def _summed(chooser: Chooser, choices: Choices, a: int, b: int, units: Array) -> tuple[Array, Array]:
    """Where groups a to b - 1 begin, whose units are added up in place, and how many of each are above 0."""
    bounds, positives = choices.bounds[a : b + 1] - choices.bounds[a], choices.wanted[a:b].copy()
    chooser.env.kernels("selection").selection_sums(
        b - a, bounds, units, int(chooser.floating), positives, chooser.failure, per_item=32
    )
    return bounds, positives


def choose_by_sums(
    chooser: Chooser, choices: Choices, replace: bool, a: int, b: int, units: Array, buffers: ChosenRows
) -> None:  # fmt: skip
    """Choose from groups a to b - 1 by the sums of their biases, which take the place of these: a draw takes a search,
    where without sums it goes through the group."""
    bounds, positives = _summed(chooser, choices, a, b, units)
    last = int(buffers.starts[b]) if b < len(buffers.starts) else len(buffers.owners)
    owners = buffers.owners[int(buffers.starts[a]) : last] if a else buffers.owners[:last]
    chooser.env.kernels("selection").selection_summed(
        b - a, Selections(
            rows=buffers.labels[: b - a], bounds=bounds, sums=units, positives=positives, starts=buffers.starts[a:b],
            counts=choices.wanted[a:b], replace=int(replace), seed=chooser.seed, what=chooser.what,
            tags=choices.tags[a:b], instances=choices.instances[a:b], step=chooser.step, chosen=buffers.chosen,
            owner=buffers.owners,
        ),
    )  # fmt: skip
    if a:
        owners[owners >= 0] += a


def redraw(chooser: Chooser, choices: Choices, a: int, b: int, units: Array, buffers: ChosenRows) -> None:
    """Choose from groups a to b - 1 by the sums of their biases, which take the place of these."""
    bounds, positives = _summed(chooser, choices, a, b, units)
    rows = chooser.env.xp.arange(b - a)
    chosen_of_sums(chooser, choices, slice(a, b), rows, bounds, units, positives, buffers)


def chosen_of_sums(
    chooser: Chooser, choices: Choices, groups: slice, rows: Array, bounds: Array, sums: Array, positives: Array,
    buffers: ChosenRows,
) -> None:  # fmt: skip
    """Choose by a method that draws again until a candidate is new, from groups whose sums are those of some rows."""
    wanted = choices.wanted[groups]
    chooser.env.kernels("redrawn").redrawn_choose(
        len(wanted), Redrawn(
            labels=buffers.labels[groups], rows=rows, bounds=bounds, sums=sums, positives=positives,
            starts=buffers.starts[groups], counts=wanted, method=chooser.redraws, seed=chooser.seed, what=chooser.what,
            tags=choices.tags[groups], instances=choices.instances[groups], step=chooser.step,
            taken=chooser.env.xp.empty_like(buffers.chosen), chosen=buffers.chosen, owner=buffers.owners,
        ),
    )  # fmt: skip


def launches(
    env: Environment, choices: Choices, most: int, longest: int | None = None
) -> Iterator[tuple[int, int]]:  # fmt: skip
    """Ranges of groups with no more candidates than `most`, or with one group; none has more than the longest, if that
    is known."""
    n = len(choices.sizes)
    if not n:
        return
    if (longest is not None and n * longest <= most) or choices.total <= most:
        yield 0, n
        return
    host = env.backend.to_host(choices.bounds)
    a = 0
    while a < n:
        b = max(int(np.searchsorted(host, host[a] + most, side="right")) - 1, a + 1)
        yield a, b
        a = b
