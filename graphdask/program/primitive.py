"""The run of a program over one partition.

A vertex that got a message computes a new state; if that differs, the vertex sends in the next superstep. There are two
ways to send. Where messages come to the same in any order, and do not depend on the state of the vertex that gets them,
they are pushed: combined where they arrive, own vertices here, ghosts here too and then at their owners. Otherwise
they are pulled: each vertex goes over its edges and combines the messages of those that are active, in the order of
ids; owners send to ghosts beforehand what their vertices send, or the fields of the state that `send` reads.

Source: Pan et al., Multi-GPU Graph Analytics, Section III.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.bitmap import has_bits, set_bits
from graphdask.engine.buffers import Allocation, most_deferred
from graphdask.engine.loop import ALL, HUB_THREADS, Environment, Inbox, Messages, Primitive
from graphdask.kernels.functions.inserted import Written
from graphdask.kernels.program.program_pack import ALL as EVERY
from graphdask.kernels.program.program_pack import BINS, CHANGED, COUNTS, MARKED, PROGRESS
from graphdask.kernels.program.program_pack import Program as Pack
from graphdask.partition.part import Csr, Part
from graphdask.program._ahead import Ahead, may_go_ahead
from graphdask.program._beginning import add_facts, hold_states, own_slots, take_over
from graphdask.program._buckets import use_buckets
from graphdask.program._columns_read import columns_of_vertices, columns_read, fields_of_edges, types_of_columns
from graphdask.program._judged import Judged, is_judged
from graphdask.program._loop import go_on, make_loop, may_loop, memory_of_loop
from graphdask.program._resuming import ResumableProgram
from graphdask.program._team import go_on_together, go_together, memory_of_team, team_of
from graphdask.program.aggregates import Known, clear_sums, summed_up, votes_of, words_of, write_values
from graphdask.program.definition import Definition, Function
from graphdask.program.ending import ending_of
from graphdask.program.failures import ended, error_of
from graphdask.program.glue import written
from graphdask.program.result import ProgramResult
from graphdask.program.row_sums import CHUNK, Layout, Sums
from graphdask.program.state import ProgramState

AT = COUNTS.place


class VertexProgram(ResumableProgram, Primitive[ProgramState]):
    """The primitive."""

    name = "program"
    result_type = ProgramResult
    queues = False
    resident, counts_ahead = True, False
    """Whether all rows are at hand at once; whether the host has to know how many vertices push before they do."""
    columns: ClassVar[Mapping[str, Any]] = {}

    def __init__(
        self,
        definition: Definition,
        active: np.ndarray | None,
        first: Mapping[str, tuple[np.ndarray | None, np.ndarray]],
        most: int | None,
        until: Callable[[Any], Any] | None,
        names: np.ndarray | None,
        base: int,
        directed: bool,
    ):
        self.definition, self.active, self.first, self.most, self.until = definition, active, first, most, until
        self.names, self.base, self.directed = names, base, directed
        (self.ending, self.why_called), of = ending_of(definition, until), definition
        self.reads = columns_read(definition, directed)
        if of.pushes:
            self.columns = {"message0": of.message_dtypes[0], "counted": np.int32}  # type: ignore[misc]
        ahead = of.message_dtypes if of.by_source else [of.state[i].stored for i in of.sent]
        self.ghost_columns = {f"ahead{k}": dtype for k, dtype in enumerate(ahead)}  # type: ignore[misc]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What it was made of."""
        run = self.active, self.first, self.most, self.until
        return self.definition, *run, self.names, self.base, self.directed

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "written"}

    @cached_property
    def written(self) -> Written:
        """The functions in the kernels."""
        return written(self.definition)

    @property
    def votes(self) -> int:  # type: ignore[override]
        """How many vertices changed, the failure, and the upper and lower 32 bits of the words of aggregates."""
        return 3 + sum(2 * words_of(each.combine) for each in self.definition.aggregates)

    @property
    def notifies_ghosts(self) -> bool:  # type: ignore[override]
        return not self.definition.pushes

    @property
    def inward(self) -> bool:
        of = self.definition
        pulled = of.direction == "out" and not of.pushes
        sending = of.direction == "in" and (of.pushes or of.by_source)
        return self.directed and (of.direction == "both" or pulled or sending or of.wants("in_degree"))

    def check_device(self, device: str) -> None:
        for function in self.definition.functions if device == "cpu" else ():
            function.code.check_python()

    def memory(self, part: Part, allocation: Allocation) -> int:
        of, slots, owned, index = self.definition, part.num_slots, part.num_owned, part.vertex_map.dtype.itemsize
        message = sum(dtype.itemsize for dtype in of.message_dtypes) + 8 * of.chooses + 4
        ahead = message if of.by_source else sum(of.state[i].stored.itemsize for i in of.sent)
        asked = index * of.asks_ids + 8 * (of.wants("degree") + of.wants("in_degree"))
        total = slots * (sum(each.stored.itemsize for each in of.state) + asked)
        total += slots * message + (slots * ahead if of.by_source else 0)
        total += owned * index * 2 + (slots - owned) * (index + ahead) + 3 * slots // 8
        return total + sum(values.nbytes for _, values in self.first.values())

    def memory_on(self, part: Part, env: Environment) -> int:
        needed = self.memory(part, env.allocation)
        if self.sums_values(env):
            csr = self.rows_of(part, False)[0]
            needed += 8 * part.num_slots + 16 * (csr.num_edges // CHUNK) + Layout.memory(part, csr)
        return needed + (memory_of_loop(self, part, env) if self._loops(part, env) else 0)

    def memory_together(self, part: Part, env: Environment) -> int | None:
        more = memory_of_team(self, part, env)
        return None if more is None else self.memory(part, env.allocation) + more

    def _loops(self, part: Part, env: Environment) -> bool:
        """Whether many supersteps can be one launch."""
        return may_loop(self, self.rows_of(part, self.definition.pushes), env)

    def sums_values(self, env: Environment) -> bool:
        """Whether what comes to vertices is added up by row."""
        return self.resident and self.definition.sums_values and not env.frugal

    def rows_of(self, part: Part, sending: bool) -> list[Csr]:
        """The rows along which own vertices send, or along which messages come to them."""
        of = self.definition
        if not self.directed:
            return [part.out]
        if (of.direction == "out") == sending and of.direction != "both":
            return [part.out]
        assert part.inward is not None
        if of.direction != "both":
            return [part.inward]
        return [part.out, part.inward] if sending else [part.inward, part.out]

    def init(self, part: Part, env: Environment) -> tuple[ProgramState, Messages]:
        memory = team_of(self, part, env)
        state = self._made(part, env, memory is not None)
        pack, of, owned = state.pack, self.definition, part.num_owned
        for i, function in of.begins:
            pack.failure = self._failure(state, function)
            state.kernels.program_begin(owned, i, pack)
        take_over(of, self.first, {of.state[i].name for i, _ in of.begins}, part, state.fields, env)
        hold_states(of, part, state, env)
        if self.active is None or of.everyone:
            state.everywhere, state.count = True, owned
            state.pulls = state.pull is not None
            state.lists_all = self.resident and env.backend.name == "cpu" and not of.everyone
            if state.lists_all:
                state.changed[:] = env.xp.arange(owned, dtype=state.changed.dtype)
        else:
            state.list_changed(own_slots(part, env, self.active)[0])
        use_buckets(self, part, state, env)
        if memory is not None:
            return state, go_together(self, part, state, memory, env)
        return state, self.first_messages(part, state, env)

    def _made(self, part: Part, env: Environment, together: bool = False) -> ProgramState:
        """The state before any superstep; `together` is whether GPUs go through all of them together."""
        xp, of, slots, owned = env.xp, self.definition, part.num_slots, part.num_owned
        self.check_device(env.backend.name)
        dtype = part.vertex_map.dtype
        fields = [
            xp.full(slots if i in of.sent else owned, 0 if each.default is None else each.default, each.stored)
            for i, each in enumerate(of.state)
        ]
        rows = self.rows_of(part, of.pushes)
        values = [xp.zeros(slots, each) for each in of.message_dtypes] if of.by_source else []
        functions = len(of.functions)
        words = xp.zeros(len(COUNTS) + functions + BINS * len(of.aggregates) + len(PROGRESS), np.int64)
        places = slots if of.pushes else owned
        loops = self._loops(part, env)
        judged = not loops and is_judged(self, env)
        how = {"functions": written(of, self.ending)} if judged else {}
        kernels = None if (loops or together) and not of.begins else self.kernels("program", rows[0], part, env, **how)
        aggregates = summed_up(of, np.zeros((0, 0)))
        pack = Pack(
            names=env.backend.from_host(np.zeros(1, np.int64) if self.names is None else self.names), base=self.base,
            superstep=0, limit=EVERY, everywhere=0, merges=0, first=0, everyone=int(of.everyone),
            counts_messages=int(of.counts), owned=owned, slots_of_all=slots, received=xp.zeros(places, np.int32),
            changed=xp.empty(owned, dtype), hubs=xp.empty(max(*map(most_deferred, rows), 1), dtype),
            counters=words[: len(COUNTS)], sums=words[len(COUNTS) + functions : -len(PROGRESS)],
            progress=words[-len(PROGRESS) :],
        )  # fmt: skip
        bits = xp.zeros((slots + 31) // 32, np.uint32)
        if of.pushes:
            pack.assign(
                marks=bits, marked=xp.empty(owned, dtype), ghosts=xp.empty(slots - owned, dtype),
                sends=xp.zeros_like(bits) if of.by_source and of.may_be_silent else None,
            )  # fmt: skip
        else:
            pack.active = bits
            if of.by_source and of.may_be_silent:
                pack.sends = bits
        for i, array in enumerate(fields):
            setattr(pack, f"state{i}", array)
        for k, each in enumerate(of.message_dtypes):
            setattr(pack, f"message{k}", xp.full(places, of.nothing(k), each))
            if of.by_source:
                setattr(pack, f"value{k}", values[k])
        no_extent = None
        if of.chooses:
            pack.origin = xp.zeros(owned, np.int64)
        if of.by_source:
            ends = [csr.indptr for csr in self.rows_of(part, True)]
            pack.assign(row_ends=ends[0], other_ends=ends[1] if len(ends) > 1 else None)
            if of.pushes and of.combine != "count" and not of.counts and env.backend.name == "cuda":
                pack.extent = xp.zeros(2, np.int64)
                no_extent = env.backend.from_host(np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min]))
        add_facts(of, self.directed, part, env, pack)
        pack.assign(**columns_of_vertices(of, part))
        state = ProgramState(
            pack, kernels, fields, values, words, bits if not of.pushes else bits[:0], pack.changed, rows, False,
            no_extent=no_extent, aggregates=aggregates,
        )  # fmt: skip
        write_values(of, pack, aggregates, env.xp)
        for k, aggregate in enumerate(of.aggregates):
            setattr(pack, f"failure{k}", self._failure(state, aggregate.function))
        pack.assign(failure_to_send=self._failure(state, of.send), failure_to_apply=self._failure(state, of.apply))
        if self.sums_values(env):
            state.sums = Sums.of(part, env, rows[0])
            state.sums.take_from(pack)
        state.judged = Judged.of(env, pack, words) if judged else None
        if loops:
            make_loop(self, part, state, env)
        elif of.pushes and not together:
            state.pushing = self.kernels("program_push", rows[0], part, env)
        if self.resident and self.until is None and may_go_ahead(of, env):
            sums = len(COUNTS) + functions
            values = pack.progress if pack.integers is None else pack.integers
            state.ahead = Ahead.of(of, words[len(COUNTS) : sums], values)
        take_over(of, self.first, set(self.first), part, fields, env)
        return state

    def _failure(self, state: ProgramState, function: Function | None) -> Array:
        """The word for the failures of a function, as an int32 array of one."""
        place = len(COUNTS) + (0 if function is None else self.definition.functions.index(function))
        return state.words[place : place + 1].view(np.int32)[:1]

    def kernels(self, family: str, rows: Any, part: Part, env: Environment, **how: Any) -> Any:
        of = self.definition
        types: dict[str, Any] = {f"state{i}_t": each.stored for i, each in enumerate(of.state)}
        types |= {f"message{k}_t": each for k, each in enumerate(of.message_dtypes)}
        if of.reads_weights and rows.weights is not None:
            types["weight_t"] = rows.weights.dtype
        types |= types_of_columns(of, part, rows) | {"functions": self.written, **how}
        return env.backend.kernels(family, index_t=part.vertex_map.dtype, **types)

    def superstep(self, part: Part, state: ProgramState, inbox: Inbox, env: Environment) -> Messages:
        pack = state.pack
        pack.superstep = state.done
        if state.loop is not None or state.team is not None:
            return (go_on if state.team is None else go_on_together)(self, part, state, env)
        clear_sums(self.definition, pack.sums)
        pack.set_counters(changed=0)
        state.launched = 1
        if state.ahead is not None:
            edges = sum(csr.num_edges for csr in state.rows)
            state.launched = state.ahead.steps(edges, None if self.most is None else self.most - state.done)
            for _ in range(state.launched - 1):
                self._compute(part, state, inbox, env)
                state.ahead.between(state.kernels, pack)
                self._write_values(state)
        self._compute(part, state, inbox, env)
        return self._send(part, state, env)

    def _compute(self, part: Part, state: ProgramState, inbox: Inbox, env: Environment) -> None:
        """Combine the messages of a superstep, and compute new states from them."""
        pack, of = state.pack, self.definition
        if of.pushes:
            self._take(state, inbox)
        else:
            self._gather(part, state, inbox, env)
        pack.failure = pack.failure_to_apply
        if of.pushes:
            pack.assign(listed=pack.marked, limit=MARKED)
            state.kernels.program_apply(state.count, pack)
            state.kernels.program_clear(state.count, pack)
            pack.limit = CHANGED
            if self.counts_ahead:
                state.count, pack.limit = int(env.backend.to_host(pack.counters)[AT.changed]), EVERY
        else:
            pack.listed = None
            state.kernels.program_apply(part.num_owned, pack)
            if not of.everyone:
                state.count = int(env.backend.to_host(pack.counters)[AT.changed])
        state.done += 1
        pack.superstep = state.done
        state.everywhere = of.everyone

    def _take(self, state: ProgramState, inbox: Inbox) -> None:
        """Combine messages of other ranks with those that were pushed here; at most `count` vertices then have one."""
        pack = state.pack
        state.count = state.found[AT.marked] + len(inbox)
        if state.ghosts:  # they have been sent
            pack.assign(listed=pack.ghosts, limit=EVERY)
            state.kernels.program_clear(state.ghosts, pack)
            state.ghosts = 0
        for message in inbox.received:
            pack.assign(slots=message.slots, given0=message.columns["message0"], counted=message.columns["counted"])
            state.pushing.program_take(len(message), pack)

    def _gather(self, part: Part, state: ProgramState, inbox: Inbox, env: Environment) -> None:
        """Go over the edges of all own vertices."""
        pack, of, kernels = state.pack, self.definition, state.kernels
        arrays = state.values if of.by_source else [state.fields[i] for i in of.sent]
        for k, array in enumerate(arrays if part.size > 1 else ()):
            inbox.put(f"ahead{k}", array)
        if not state.everywhere:
            for message in inbox.received:
                set_bits(message, state.active, part, env)
        pack.assign(listed=None, everywhere=int(state.everywhere), failure=pack.failure_to_send)
        if state.sums is not None:
            if state.judged is None or not state.judged.summed:
                state.sums.add(state.values[0], pack.message0)
            return
        for turn, rows in enumerate(state.rows):
            for first, count, _, csr in self._pieces(part, rows, part.num_owned, None, env):
                pack.assign(merges=int(turn > 0), first=first, **fields_of_edges(of, csr))
                if env.backend.name == "cpu" and of.adds_floats:
                    kernels.program_sum(count, pack)
                    continue
                pack.set_counters(hubs=0)
                kernels.program_gather(count, pack, per_item=8)
                kernels.program_gather_hubs(min(HUB_THREADS, csr.num_edges), pack)

    def _pieces(
        self, part: Part, rows: Csr, count: int, listed: Array | None, env: Environment
    ) -> Iterator[tuple[int, int, Array | None, Csr]]:
        """The rows of vertices that are listed, or of all, in pieces: the vertex of the first row, how many vertices
        there are, their list, and the rows."""
        yield 0, count, listed, rows

    def _send(self, part: Part, state: ProgramState, env: Environment) -> Messages:
        """What `count` own vertices send, those in `changed` or all."""
        pack, of = state.pack, self.definition
        pack.superstep = state.done
        edges = state.launched * sum(csr.num_edges for csr in state.rows) if state.done else 0
        self._write_values(state)
        if of.pushes:
            return self._push(part, state, env)
        own: Any = state.changed[: state.count]
        if state.everywhere:  # other ranks know that all send, and need only what
            own = ALL if of.by_source or of.sent else part.ids[:0]
        if of.by_source and of.may_be_silent:
            everywhere = state.everywhere
            state.everywhere = False
            if everywhere:
                own = env.xp.arange(part.num_owned, dtype=part.vertex_map.dtype)
            own = own[has_bits(own, pack.sends)]
        elif not state.everywhere:
            state.active.fill(0)
            kernels = env.kernels("codec", index_t=part.vertex_map.dtype)
            kernels.codec_set_bits(state.count, own, state.active, part.num_slots)
        arrays = state.values if of.by_source else [state.fields[i] for i in of.sent]
        ahead = {f"ahead{k}": array for k, array in enumerate(arrays)}
        votes: Any = self.read_votes(state, env) if state.judged is None else state.judged.votes(self, state, env)
        active, sent, ways = state.count > 0, state.launched * state.count, (0, state.launched * (state.count > 0))
        return Messages(own, part.ids[:0], ahead, active, sent, edges, to="ghosts", votes=votes, ways=ways)

    def _write_values(self, state: ProgramState) -> None:
        """What each vertex sends, where that is the same along all of its edges."""
        pack, of = state.pack, self.definition
        if not of.by_source:
            return
        pack.assign(listed=state.senders, failure=pack.failure_to_send)
        if pack.sends is not None:
            pack.sends.fill(0)
        if state.sums is not None and of.may_be_silent:
            pack.value0.fill(0.0)
        if pack.extent is not None:
            pack.extent[:] = state.no_extent
        state.kernels.program_values(state.count, pack)

    def _push(self, part: Part, state: ProgramState, env: Environment) -> Messages:
        pack, kernels = state.pack, state.pushing
        listed = state.senders
        pack.failure = pack.failure_to_send
        pack.set_counters(marked=0, ghosts=0, sent=0, hubs=0)
        pieces = (self._pieces(part, rows, state.count, listed, env) for rows in state.rows)
        for turn, (first, count, some, csr) in enumerate(chain.from_iterable(pieces)):
            pack.assign(listed=some, first=first, **fields_of_edges(self.definition, csr))
            if turn:
                pack.set_counters(hubs=0)
            kernels.program_push(count, pack)
            kernels.program_push_hubs(HUB_THREADS, pack)
        votes = self.read_votes(state, env)
        found = COUNTS.of(state.found)
        if pack.limit == CHANGED:
            state.count = int(found.changed)
        frontier, state.ghosts = state.count, int(found.ghosts)
        messages = {"message0": pack.message0, "counted": pack.received}
        return Messages(
            part.ids[:0], pack.ghosts[: state.ghosts], messages, frontier > 0, frontier, int(found.sent),
            votes=votes, ways=(int(frontier > 0), 0),
        )  # fmt: skip

    def read_votes(self, state: ProgramState, env: Environment, words: Any = None) -> tuple[float, ...]:
        """Read the words of this rank, unless they have been, and vote them."""
        of, found = self.definition, env.backend.to_host(state.words) if words is None else words
        state.found, sums = found.tolist(), len(COUNTS) + len(of.functions)
        failures = state.found[len(COUNTS) : sums]
        first = next((k for k, failure in enumerate(failures) if failure), 0)
        failed = first, failures[first]
        if state.ahead is not None:
            failed = state.ahead.failed(state.progress) or failed
        votes = float(state.found[AT.changed]), *map(float, failed)
        return (*votes, *votes_of(of, found[sums : -len(PROGRESS)]))

    def ends(self, state: ProgramState, votes: np.ndarray) -> bool:
        failed = np.flatnonzero(votes[:, 2])
        if len(failed):
            _, function, failure = votes[failed[0], :3].astype(int).tolist()
            raise error_of(self.definition, self.definition.functions[function], failure)
        state.changes = int(votes[:, 0].sum())
        if state.resumed:  # nothing has been added up
            state.resumed = False
        elif state.done:
            state.aggregates = summed_up(self.definition, votes[:, 3:])
            write_values(self.definition, state.pack, state.aggregates)
            if self.until is not None and ended(self.until, Known(state.aggregates, state.changes, state.done)):
                return True
        return self.most is not None and state.done >= self.most

    def result(self, part: Part, state: ProgramState, env: Environment) -> dict[str, Any]:
        own = [array[: part.num_owned] for array in state.fields]
        named = zip(self.definition.state, own, strict=True)
        found = {each.name: array.view(np.bool_) if each.kind == "bool" else array for each, array in named}
        return found | {"iterations": state.done, "aggregates": state.aggregates, "ordered": state.ordered}
