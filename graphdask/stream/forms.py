"""How algorithms run over a store, and how their results are proved: two tables by primitive.

A file with the streamed form of an algorithm enters it in `STREAMED`. Searches, components, PageRank and betweenness
are primitives of the engine (`Supersteps`), whose state and chunks are on the CPU or on a device. The others go through
the main memory of the host (`graphdask.stream.everywhere`). The form of a primitive is also that of the classes derived
from it, if it is `inherited`. Importing `graphdask.stream.run` fills the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from graphdask.engine.checkpoints import Checkpointing
from graphdask.engine.copies import Copying
from graphdask.engine.keeper import keep
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation
from graphdask.errors import Unsupported
from graphdask.kernels.common.compiling import clock
from graphdask.stream.shared_store import StreamedPart, backend_of, own_numbers
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log

Proof = Callable[[RankContext, StreamedPart, Any, RankResult, Log], Violation | None]
"""Returns the first violation, or None; columns are by vertex number."""


def refuse_without_in_edges(store: Store, primitive: Any) -> None:
    """Raise where the store has not what the primitive needs, before anything is read."""
    if store.header["directed"] and "inward" not in store.sections:
        raise Unsupported(
            f"{primitive.name.lower()} pulls over in-edges, and {store.path} was built without them; build it with "
            "inward=True"
        )


ON_DEVICE: dict[Callable[..., Any], Callable[..., Any]] = {}
"""By what makes a primitive on a CPU, what makes it on a device, which takes first how it reaches that. Importing
`graphdask.stream.device_forms` fills the table; a run on a device does so, because the kernels import Numba, which
takes long."""


@dataclass(frozen=True)
class Supersteps:
    """What makes the primitive of the engine that does the work of another one over a store."""

    on_cpu: Callable[[StreamedPart, Any, ExitStack], Any]
    """Takes the share of the store, the primitive, and a stack that is closed after the run."""

    def __call__(self, context: RankContext, part: StreamedPart, primitive: Any, *kept: Any) -> RankResult:
        return self.run(context, part, primitive, *kept)[0]

    def run(
        self,
        context: RankContext,
        part: StreamedPart,
        primitive: Any,
        checkpoints: Checkpointing | None = None,
        copying: Copying | None = None,
    ) -> tuple[RankResult, Any]:
        """Return the result of a rank, and the primitive that found it."""
        saves = checkpoints is not None or copying is not None
        if checkpoints is not None:  # the numbers of own vertices are beside the state; copies are beside `memory=`
            part = replace(part, memory=part.memory - part.vertex_map.dtype.itemsize * part.own.count)
        started, backend, more = clock(), backend_of(context, part), {}
        with backend.activate(), ExitStack() as stack:
            if backend.name == "cuda":
                from graphdask.stream.device_runs import prepared

                run = prepared(part, backend, context.memory_share, Log(what=primitive.name))
                streamed = ON_DEVICE[self.on_cpu](run, part, primitive, stack)
                stack.enter_context(run.host.reading())
                before = run.host.nbytes
            else:
                streamed = self.on_cpu(part, primitive, stack)
            env = replace(context.environment("selective"), backend=backend)
            view = streamed.view(part, backend)
            if saves:
                keep(env, context.vault, checkpoints, copying)
                view = replace(view, ids=backend.from_host(own_numbers(part)))
            result = run_primitive(context.comm, view, streamed, env)
            if backend.name == "cuda":
                more = {"device": "cuda", "from_disk": run.host.nbytes - before}
        traffic = streamed.log.streamed(clock() - started, result.supersteps) | more
        state = streamed.memory(part, env.allocation)
        values = result.values | {"streamed": traffic}
        memory = state + traffic["window"]
        return replace(result, values=values, memory=memory, allocated_start=state, allocated_end=state), streamed


@dataclass(frozen=True)
class Streamed:
    """How an algorithm runs over a store."""

    run: Callable[..., RankResult]
    """Takes a RankContext, a StreamedPart and the primitive; if runs can be resumed, what is asked for of checkpoints
    and copies too."""
    refuse: Callable[[Store, Any], None] = refuse_without_in_edges
    """Raises for what cannot be streamed."""
    sources: Callable[[Any], tuple[int, ...]] | None = None
    """Of a search, which one pass may be exact for."""
    by_weight: bool = False
    """Whether a search goes by the weights of edges, if they have any."""
    inherited: bool = False
    """Whether primitives derived from this one run in the same way."""
    resumes: bool = False
    """Whether its runs can be resumed from checkpoints and copies."""


STREAMED: dict[type[Any], Streamed] = {}
"""By primitive, how it runs over a store."""

PROOFS: dict[type, Proof] = {}
"""By primitive, the proof of its result, if a rank proves it by itself."""

T = TypeVar("T")


def form_of(primitive: type) -> Streamed | None:
    """Return how a primitive runs over a store, or None."""
    if primitive in STREAMED:
        return STREAMED[primitive]
    return next((STREAMED[each] for each in primitive.__mro__ if each in STREAMED and STREAMED[each].inherited), None)


def of_class(table: dict[type, T], primitive: type) -> T | None:
    """Return the entry of a primitive, or of the nearest class that it is derived from."""
    return next((table[each] for each in primitive.__mro__ if each in table), None)


@cache
def combined(streamed: type[Any], primitive: type[Any]) -> type[Any]:
    """Return the class of a streamed form whose other methods are those of a primitive."""
    return type(streamed.__name__, (streamed, primitive), {})
