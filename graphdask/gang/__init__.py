"""Where and how work is done: in this process, or as a gang of tasks on a Dask cluster.

A graph's partitions are built by a gang and stay with it; algorithms run on that gang. When a worker is lost, the
partitions are built again from the graph's lineage on the workers that there are, and the run is started again.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.display.first_use import FirstUse
from graphdask.display.notebook import is_watched
from graphdask.engine.buffers import MAXIMAL, Allocation
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.errors import (
    GraphdaskError,
    OverBudget,
    PeerLost,
    SchedulerLost,
    Unsupported,
    VerificationError,
    WrongWorker,
)
from graphdask.gang import edge_rows, on_disk
from graphdask.gang.adaptive import ask_for_workers
from graphdask.gang.arguments import PerRank
from graphdask.gang.board import announce
from graphdask.gang.building import Built, build_all, gang_for, with_edge_rows, with_inward
from graphdask.gang.chunking import chunks
from graphdask.gang.clients import Workers, active_client, await_workers, checked, workers_of
from graphdask.gang.dynamic import DynamicRuntime
from graphdask.gang.on_disk import itself
from graphdask.graph.graph import Graph
from graphdask.kernels.common.compiling import Timer
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import GHOSTS
from graphdask.results.result import PickColumn
from graphdask.results.stats import Stats
from graphdask.sample.sampler import Sampler
from graphdask.stream import sampling
from graphdask.stream.graph import StreamedGraph, check
from graphdask.stream.shared import StreamedPart
from graphdask.verify.graph import raise_violation
from graphdask.verify.graph import verify as verify_graph


def _run(context: RankContext, part: Part, primitive: Any, exchange: Any, allocation: Allocation) -> RankResult:
    return run_primitive(context.comm, part, primitive, context.environment(exchange, allocation))


def _verify(context: RankContext, part: Part, primitive: Any, result: RankResult) -> Any:
    if context.backend.name == "cpu":  # where what was drawn on a device from this host's memory is verified too
        result = replace(result, columns={name: PickColumn(name)(result) for name in result.columns})
    module = "graphdask.stream.verify" if isinstance(part, StreamedPart) else primitive.verifier
    return importlib.import_module(module).verify(context, part, primitive, result)


def _shown(graph: Graph, number: int) -> str:
    """A vertex by the caller's id, or what stands where a vertex number should."""
    if 0 <= number < graph.num_vertices:
        return str(graph.ids.to_caller(np.array([number]))[0])
    return "none" if number == -1 else f"number {number} (no vertex)"


class GangRuntime(DynamicRuntime):
    """The runtime that `graphdask.runtime` finds."""

    def persist(self, graph: Graph, client: Any = None, progress: bool | None = None) -> Any:
        config = Config.load(progress=progress)
        if isinstance(graph, StreamedGraph):
            return self._opened(
                graph, client, config, lambda client, workers, _: on_disk.opened(graph, client, workers, config)
            )
        return self._with_retries(graph.present, client, config, lambda built, restarts: built, GHOSTS[1], inward=False)

    def run(
        self,
        graph: Graph,
        primitive: Any,
        *,
        exchange: str | None = None,
        allocation: str | float | None = None,
        client: Any = None,
        progress: bool | None = None,
    ) -> Any:
        graph = graph.present
        config = Config.load(exchange=exchange, allocation=allocation, progress=progress)
        if isinstance(graph, StreamedGraph):
            check(graph, primitive, exchange, allocation)
            return self._opened(
                graph, client, config, lambda *where: on_disk.run(graph, primitive, config, *where), primitive.name
            )
        chosen = primitive.exchange if config.exchange == "auto" else config.exchange
        if allocation is not None and not primitive.queues:
            raise Unsupported(f"{primitive.name} has no queues to allocate; leave allocation= out")
        scheme = Allocation.of(config.allocation) if primitive.queues else MAXIMAL
        if scheme.share < 1 and primitive.needs_all:
            raise Unsupported(
                f"{primitive.name} does not support a fixed allocation, because {primitive.needs_all}; use "
                f"allocation='maximal' or allocation='just-enough'"
            )

        def compute(built: Built, restarts: int) -> Any:
            show = is_watched(config.progress)
            timer = Timer()
            kept = built.gang.run(
                _run,
                built.parts,
                primitive,
                chosen,
                scheme,
                summary=RankResult.without_columns,
                label=primitive.name,
                show=show,
                goal=primitive.goal,
            )
            stats = Stats.of(
                primitive.name, kept.summary, chosen, built.ghosts, timer.seconds, str(scheme), timer.compiled
            )
            stats.restarts = restarts
            announce(built.gang, stats)
            return primitive.result_type(graph, primitive, kept, built, stats)

        inward = primitive.inward and graph.directed
        return self._with_retries(graph, client, config, compute, primitive.ghosts, inward, label=primitive.name)

    def _opened(self, graph: StreamedGraph, client: Any, config: Config, call: Any, label: str = "") -> Any:
        def attempt(*where: Any) -> Any:
            try:
                return call(*where)
            except (PeerLost, WrongWorker):
                graph.built = None
                raise

        return self._retried(client, config, attempt, label)

    def sample(
        self, graph: Graph, sampler: Any, placement: Any, client: Any = None, progress: bool | None = None
    ) -> Any:
        from graphdask.gang import replicas

        graph = graph.present
        config = Config.load(progress=progress)
        if isinstance(graph, StreamedGraph):
            sampling.check(graph, sampler, placement)
            return self._opened(
                graph, client, config, lambda *where: on_disk.sample(graph, sampler, config, *where), sampler.name
            )

        def partitioned() -> Any:
            def compute(built: Built, restarts: int) -> Any:
                return replicas.run(graph, built, sampler, "partitioned", restarts, config)

            inward = sampler.inward and graph.directed
            return self._with_retries(
                graph, client, config, compute, sampler.ghosts, inward, sampler.numbered, sampler.name
            )

        def replicated() -> Any:
            def compute(client: Any, workers: Workers, restarts: int) -> Any:
                try:
                    built = replicas.built(graph, client, config, sampler, workers)
                    return replicas.run(graph, built, sampler, "replicated", restarts, config)
                except (PeerLost, WrongWorker):
                    graph.replicas = None
                    raise

            with on_disk.offered(graph):
                return self._retried(client, config, compute, sampler.name)

        def streamed() -> Any:
            def compute(client: Any, workers: Workers, restarts: int) -> Any:
                try:
                    return replicas.streamed(graph, client, config, sampler, workers, placement, restarts)
                except (PeerLost, WrongWorker):
                    graph.on_host = graph.replicas = None
                    raise

            with on_disk.offered(graph):
                return self._retried(client, config, compute, sampler.name)

        if not isinstance(placement, str):
            return streamed()
        try:
            if placement != "partitioned":
                try:
                    return replicated()
                except OverBudget:
                    if placement == "replicated":
                        raise
            return partitioned()
        except OverBudget as error:
            raise OverBudget(
                f'{error}. Or use placement="streamed", which keeps the graph in host memory and parts of it on the '
                f"device"
            ) from error

    sample_chunks = chunks

    def edge_rows(self, samples: Any) -> Any:
        if not isinstance(samples.graph, StreamedGraph):
            samples.built.gang.use(Config.load())
        return edge_rows.found(self, samples, is_watched(Config.load().progress))

    def verify_graph(self, graph: Graph, client: Any = None, progress: bool | None = None) -> None:
        graph = graph.present
        config = Config.load(progress=progress)

        def check(built: Built, restarts: int) -> None:
            size = built.gang.size
            pieces = PerRank([graph.source.piece(rank, size) for rank in range(size)])
            kept = built.gang.run(
                verify_graph,
                built.parts,
                pieces,
                graph.directed,
                graph.merge,
                summary=itself,
                label="verifying the graph",
                show=is_watched(config.progress),
            )
            raise_violation(kept.summary)

        self._with_retries(graph, client, config, check, GHOSTS[1], inward=False)

    def verify(self, result: Any) -> None:
        primitive, built = result.primitive, result.built
        if isinstance(result.graph, StreamedGraph):
            sampling.refuse_proof(result.graph, primitive)
        config = Config.load()
        built.gang.use(config)
        show = is_watched(config.progress)
        label = f"verifying {primitive.name}"
        kept = built.gang.run(_verify, built.parts, primitive, result.parts, summary=itself, label=label, show=show)
        self._refuse(result, kept)
        if isinstance(primitive, Sampler) and "edge" in result.columns and not isinstance(result.graph, StreamedGraph):
            self._refuse(result, edge_rows.proved(result, show))

    @staticmethod
    def _refuse(result: Any, kept: Any) -> None:
        """Raise VerificationError where a rank has found a violation."""
        found = [violation for violation in kept.summary if violation is not None]
        if found:
            first = min(found)
            vertex, other = (_shown(result.graph, number) for number in (first.vertex, first.other))
            raise VerificationError(f"{result.primitive.name}: " + first.message.format(vertex=vertex, other=other))

    def write(
        self,
        graph: Graph,
        path: Any,
        format: str | None,
        files: int | None,
        overwrite: bool,
        device: str,
        client: Any = None,
        progress: bool | None = None,
    ) -> Any:
        from graphdask.gang import output

        graph = graph.present
        config = Config.load(progress=progress)
        order = output.checked_order(graph, path, format, files, overwrite, device)

        def with_partitions(graph: Graph, action: Any) -> Any:
            return self._with_retries(graph, client, config, action, GHOSTS[1], inward=False)

        return output.write(graph, order, client, config, self._retried, with_partitions)

    def count_edges(self, graph: Graph, device: str, client: Any = None, progress: bool | None = None) -> Any:
        """Make all edges of a graph that needs no partitions, and drop them; how many there were."""
        from graphdask.gang import output

        return output.count(graph.present, device, client, Config.load(progress=progress), self._retried)

    def edge_blocks(self, graph: Graph, max_edges: int, client: Any = None, progress: bool | None = None) -> Any:
        from graphdask.gang.output import stored_blocks

        return stored_blocks(self.persist(graph, client, progress), graph.directed, max_edges)

    def delayed_edges(self, graph: Graph, client: Any = None, progress: bool | None = None) -> list[tuple[Any, int]]:
        from graphdask.gang.output import delayed_edges

        return delayed_edges(self.persist(graph, client, progress), graph.directed)

    def _with_retries(
        self, graph: Graph, client: Any, config: Config, action: Any, ghosts: str, inward: bool,
        edge_rows: bool = False, label: str = "",
    ) -> Any:  # fmt: skip
        on_disk.refuse(graph, "what was asked for of")

        def call(client: Any, workers: Workers, attempt: int) -> Any:
            try:
                return action(self._built(graph, client, workers, config, ghosts, inward, edge_rows), attempt)
            except (PeerLost, WrongWorker):
                graph.built = None
                raise

        with on_disk.offered(graph):
            return self._retried(client, config, call, label)

    def _retried(self, client: Any, config: Config, call: Any, label: str = "") -> Any:
        """Call `call(client, workers, attempt)`, again where a worker was lost; `workers` may be used.

        With a `label`, what is compiled meanwhile is told as one call's.
        """
        with FirstUse(label, bool(label) and is_watched(config.progress)):
            return self._tried(client, config, call)

    def _tried(self, client: Any, config: Config, call: Any) -> Any:
        client = active_client() if checked(client) is None else client
        workers = workers_of(client)
        if client is not None and not workers:
            workers = ask_for_workers(client, config)
        returning = {address: worker.name for address, worker in workers.items() if worker.returns}
        avoid: frozenset[str] = frozenset()
        lost: GraphdaskError | None = None
        for attempt in range(config.retries + 1):
            try:
                return call(client, workers, attempt)
            except OverBudget as error:
                if lost is None:
                    raise
                raise OverBudget(f"{error}. This was tried because a worker had been lost: {lost}") from error
            except (PeerLost, WrongWorker) as error:
                if client is None or attempt == config.retries or isinstance(error, SchedulerLost):
                    raise
                lost = error
                avoid |= getattr(error, "silent", frozenset())
                expected = frozenset(name for address, name in returning.items() if address not in avoid)
                workers = await_workers(client, config, expected, avoid)
        raise AssertionError("unreachable")

    def _built(
        self, graph: Graph, client: Any, workers: Workers, config: Config, ghosts: str, inward: bool, edge_rows: bool
    ) -> Built:
        built: Built | None = graph.built
        if built is not None and (
            not built.gang.is_whole(workers)
            or (built.gang.kind == "dask") != (client is not None)
            or (client is not None and built.gang.client is not client)
            or (graph.plan.device == "auto" and built.gang.config.device != config.device)
        ):
            built = None
        if built is not None:
            built.gang.use(config)
        show = is_watched(config.progress)
        if built is None:
            built = graph.built = build_all(graph, gang_for(graph, client, config, workers), ghosts, show)
        if inward and not built.inward:
            built = graph.built = with_inward(built, show)
        if edge_rows and inward not in built.edge_rows:
            built = graph.built = with_edge_rows(graph, built, inward, show)
        return built


RUNTIME = GangRuntime()

__all__ = ["RUNTIME", "Built", "GangRuntime"]
