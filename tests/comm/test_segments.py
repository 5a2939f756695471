"""Payloads for all peers at once: what every peer reads is what was marked of its entries, in ascending order."""

from __future__ import annotations

import numpy as np
import pytest
from covering import pairs
from emulated import EmulatedCuda
from ranks import needs_ucx

from graphdask.comm import codec, segments
from graphdask.comm.outgoing import SendBuffer
from graphdask.comm.segments import Segments
from graphdask.comm.single import SingleCommunicator
from graphdask.comm.tuning import COMM
from graphdask.comm.ucx.communicator import UcxCommunicator, UcxPlane
from graphdask.device.backend import get_backend
from graphdask.engine.messages import Inbox, Received
from graphdask.errors import InputError, KernelError
from graphdask.kernels.exchange import segments as twins

TILE_BITS = segments.TILE_BITS
COLUMNS = {
    "none": {},
    "int32": {"label": np.int32},
    "int64": {"label": np.int64},
    "float64": {"rank": np.float64},
    "small": {"small": np.int16},
    "several": {"score": (np.float64, (3,)), "flag": np.uint8, "depth": np.int32},
}
LENGTHS = {2: [40], 3: [0, 33], 4: [TILE_BITS + 5, 1, TILE_BITS], 7: [3, 0, 64, 1, 2 * TILE_BITS + 1, 31]}
SETS = {"none": 0, "one": 1, "some": 0.02, "half": 0.5, "all": 1.0}


def drawn(rng, kind, things):
    share = SETS[kind]
    n = share if isinstance(share, int) else int(np.ceil(share * len(things)))
    return rng.permutation(things)[: min(n, len(things))]


def random_values(rng, columns, slots):
    made = {}
    for name, of in columns.items():
        of = np.dtype(of)
        made[name] = rng.integers(0, 100, (slots, *of.shape)).astype(of.base)
    return made


def read(backend, coded, universes, columns):
    """What every receiver decodes, on the host."""
    found = []
    for (meta, payload), universe in zip(coded, universes, strict=True):
        ids, values = codec.decode(backend, meta, payload, universe, columns)
        found.append((backend.to_host(ids), {name: backend.to_host(column) for name, column in values.items()}))
    backend.synchronize()
    return found


class Owners:
    """Ghosts after `shift` own vertices, and what NumPy says of them."""

    def __init__(self, rng, dtype, size, hops):
        self.shift, self.lengths = 37, LENGTHS[size]
        self.entries = np.cumsum([0, *self.lengths])
        if hops == "all":
            self.universes, self.numbers, self.origins = self.lengths, None, None
            self.local = np.concatenate([np.arange(length) for length in self.lengths])
        else:
            self.universes = [4 * length + 3 for length in self.lengths]
            pairs = list(zip(self.universes, self.lengths, strict=True))
            own = [np.sort(rng.choice(universe, length, replace=False)) for universe, length in pairs]
            self.origins = np.cumsum([self.shift, *self.universes])[:-1].tolist()
            self.local = np.concatenate(own)
            self.numbers = np.concatenate([each + origin for each, origin in zip(own, self.origins, strict=True)])
            self.numbers = self.numbers.astype(dtype)
        self.slots = np.arange(self.shift, self.shift + self.entries[-1]).astype(dtype)

    def segments(self, backend, dtype, columns):
        numbers = None if self.numbers is None else backend.from_host(self.numbers)
        return Segments(
            backend, dtype, self.entries, self.universes, columns, shift=self.shift, numbers=numbers,
            origins=self.origins,
        )  # fmt: skip

    def expected(self, chosen, values):
        ascending = np.sort(chosen)
        for first, end in zip(self.entries, self.entries[1:], strict=False):
            mine = ascending[(ascending >= first + self.shift) & (ascending < end + self.shift)]
            yield self.local[mine - self.shift], {name: column[mine] for name, column in values.items()}


class Mirrors:
    """Own vertices that peers hold ghosts of, and what NumPy says of them."""

    def __init__(self, rng, dtype, size):
        self.universes = LENGTHS[size]
        self.owned = max(self.universes) + 7
        self.mirrors = [np.sort(rng.choice(self.owned, length, replace=False)) for length in self.universes]
        self.entries = np.cumsum([0, *self.universes])
        self.slots = np.arange(self.owned).astype(dtype)

    def segments(self, backend, dtype, columns):
        mirror = backend.from_host(np.concatenate(self.mirrors).astype(dtype))
        return Segments(
            backend, dtype, self.entries, self.universes, columns, mirror=mirror, num_slots=self.owned
        )  # fmt: skip

    def expected(self, chosen, values):
        for mirror in self.mirrors:
            place = np.flatnonzero(np.isin(mirror, chosen))
            yield place, {name: column[mirror[place]] for name, column in values.items()}


def compare(backend, dtype, sets, columns, case, chosen, values, room):
    on_device = {name: backend.from_host(column) for name, column in values.items()}
    coded = sets.encode(backend.from_host(chosen.astype(dtype)), on_device, room)
    found = read(backend, coded, case.universes, columns)
    for (ids, read_values), (expected, expected_values) in zip(found, case.expected(chosen, values), strict=True):
        np.testing.assert_array_equal(ids, expected)
        for name, column in expected_values.items():
            np.testing.assert_array_equal(read_values[name], column)
            assert read_values[name].dtype == column.dtype
    return {codec.name_of(meta) for meta, payload in coded if payload is not None}


CODES = ("as they are", "by their bitmaps")


@pytest.fixture
def codes(request, tuned):
    """Small sets with the constants for large ones, and with others that make every set a bitmap where it may be."""
    if request.param != "as they are":
        tuned(COMM, counted=0, bitmap_saves=0)
    return request.param


@pytest.mark.parametrize(
    ("columns", "size", "hops", "codes"), pairs(COLUMNS, LENGTHS, ["all", "1-hop"], CODES), indirect=["codes"]
)
def test_owners_read_the_ghosts_that_were_marked(backend, rng, dtype, size, hops, columns, codes):
    case, columns = Owners(rng, dtype, size, hops), COLUMNS[columns]
    sets, room = case.segments(backend, dtype, columns), SendBuffer(backend)
    values = random_values(rng, columns, case.shift + int(case.entries[-1]))
    used = set()
    for kind in SETS:  # one after the other: what one marks, it clears
        used |= compare(backend, dtype, sets, columns, case, drawn(rng, kind, case.slots), values, room.take)
    assert used <= {"list", "bitmap"}
    if codes != "as they are":
        assert "bitmap" in used


@pytest.mark.parametrize(("columns", "size", "codes"), pairs(COLUMNS, LENGTHS, CODES), indirect=["codes"])
def test_ghosts_read_the_own_vertices_that_were_marked(backend, rng, dtype, size, columns, codes):
    case, columns = Mirrors(rng, dtype, size), COLUMNS[columns]
    sets, room = case.segments(backend, dtype, columns), SendBuffer(backend)
    values = random_values(rng, columns, case.owned)
    for kind in SETS:
        compare(backend, dtype, sets, columns, case, drawn(rng, kind, case.slots), values, room.take)


@pytest.mark.parametrize("to", ["owners", "ghosts"])
@pytest.mark.parametrize(("columns", "size", "codes"), pairs(COLUMNS, [2, 3, 4], CODES), indirect=["codes"])
def test_slots_that_only_the_device_has_counted_are_coded_alike(backend, rng, dtype, to, size, columns, codes):
    """Also those that are more than one launch takes; what lies behind them in the array is nobody's."""
    case = Owners(rng, dtype, size, "1-hop") if to == "owners" else Mirrors(rng, dtype, size)
    columns, room = COLUMNS[columns], SendBuffer(backend)
    counting, told = case.segments(backend, dtype, columns), case.segments(backend, dtype, columns)
    end = case.shift + int(case.entries[-1]) if to == "owners" else case.owned
    on_device = {name: backend.from_host(column) for name, column in random_values(rng, columns, end).items()}
    for head, kind in zip((0, 64, COMM.head, COMM.head, 8), SETS, strict=True):
        chosen = drawn(rng, kind, case.slots)
        slots = np.full(len(case.slots), -7).astype(dtype)
        slots[: len(chosen)] = chosen
        counters = backend.from_host(np.array([5, len(chosen), 9]))
        counters, coded = counting.encode_counted(backend.from_host(slots), counters, 1, on_device, room.take, head)
        assert counters.tolist() == [5, len(chosen), 9]
        coded = [(meta, payload if payload is None else np.array(host(payload))) for meta, payload in coded]
        expected = told.encode(backend.from_host(chosen), on_device, room.take)
        assert [payload is None for _, payload in coded] == [payload is None for _, payload in expected]
        mine = [(m, p if p is None else backend.from_host(p)) for m, p in coded]
        for (ids, found), (others, values) in zip(
            read(backend, mine, case.universes, columns), read(backend, expected, case.universes, columns), strict=True
        ):
            np.testing.assert_array_equal(ids, others)
            for name, column in values.items():
                np.testing.assert_array_equal(found[name], column)


def host(payload):
    return payload if isinstance(payload, np.ndarray) else payload.get()


@pytest.mark.parametrize("columns", [name for name in COLUMNS if name != "none"])
@pytest.mark.parametrize("size", LENGTHS)
def test_the_ids_of_all_mirrored_vertices_take_no_bytes(backend, rng, dtype, size, columns):
    case, columns = Mirrors(rng, dtype, size), COLUMNS[columns]
    sets, room = case.segments(backend, dtype, columns), SendBuffer(backend)
    for _ in range(2):
        values = random_values(rng, columns, case.owned)
        coded = sets.encode_all({name: backend.from_host(column) for name, column in values.items()}, room.take)
        found = read(backend, coded, case.universes, columns)
        for k, (ids, read_values) in enumerate(found):
            np.testing.assert_array_equal(ids, np.arange(len(case.mirrors[k])))
            assert (coded[k][1] is None) == (len(ids) == 0)
            for name, column in values.items():
                np.testing.assert_array_equal(read_values[name], column[case.mirrors[k]])


def test_a_list_and_its_payload_do_not_depend_on_the_order_of_threads(rng):
    case = Owners(rng, np.int32, 4, "1-hop")
    values = random_values(rng, {"label": np.int32}, case.shift + int(case.entries[-1]))
    for count in (300, 5000):
        chosen = rng.permutation(case.slots)[:count]
        reported = set()
        for seed in range(3):
            backend = EmulatedCuda(seed)
            sets, room = case.segments(backend, np.int32, {"label": np.int32}), SendBuffer(backend)
            label = backend.from_host(values["label"])
            coded = sets.encode(backend.from_host(rng.permutation(chosen)), {"label": label}, room.take)
            reported.add(tuple((*meta, backend.to_host(payload).tobytes()) for meta, payload in coded))
        assert len(reported) == 1


def test_a_bitmap_takes_its_bytes_only_where_it_saves_many(backend, rng):
    """With a column a list of 8192 ids is 31 KiB longer than the bitmap: that is not worth listing it again."""
    case = Owners(rng, np.int32, 4, "all")
    for columns, code in (({}, "bitmap"), ({"label": np.int32}, "list")):
        sets, values = case.segments(backend, np.int32, columns), random_values(rng, columns, 20_000)
        used = compare(backend, np.int32, sets, columns, case, case.slots, values, SendBuffer(backend).take)
        assert used == {code}


def test_the_memory_is_the_same_until_it_does_not_suffice(backend):
    buffer = SendBuffer(backend)
    first = buffer.take(10)
    assert len(first) == COMM.first_buffer
    assert buffer.take(COMM.first_buffer) is first
    second = buffer.take(COMM.first_buffer + 1)
    assert len(second) == COMM.first_buffer * 3 // 2
    assert len(buffer.take(4 * COMM.first_buffer)) == 4 * COMM.first_buffer
    buffer.close()


def test_memory_for_sending_outlives_a_run_on_a_plane():
    needs_ucx()
    backend = get_backend("cpu")
    with UcxPlane() as plane:
        taken = []
        for run in range(2):
            with UcxCommunicator(plane, 0, [plane.address], 3, run) as communicator:
                taken.append(communicator.outgoing(backend, 1000))
        assert taken[0] is taken[1]
    with SingleCommunicator() as one, SingleCommunicator() as other:
        assert one.outgoing(backend, 10) is one.outgoing(backend, 20)
        assert one.outgoing(backend, 10) is not other.outgoing(backend, 10)


def test_payloads_lie_in_the_same_memory_and_do_not_overlap(backend, rng):
    case, columns = Owners(rng, np.int32, 7, "1-hop"), COLUMNS["several"]
    sets, room = case.segments(backend, np.int32, columns), SendBuffer(backend)
    values = {name: backend.from_host(c) for name, c in random_values(rng, columns, 20_000).items()}
    memory = room.take(1)
    for count in (500, 3000):
        coded = sets.encode(backend.from_host(rng.permutation(case.slots)[:count]), values, room.take)
        sent = [payload for _, payload in coded if payload is not None]
        memory[:] = 0
        for payload in sent:
            payload[:] = 1
        assert int((backend.to_host(memory) != 0).sum()) == sum(map(len, sent))
        assert all(len(payload) % 8 == 0 for payload in sent)
        assert room.take(1) is memory


@pytest.mark.slow
def test_numbers_that_no_entry_has_are_found(backend, rng):
    """A GPU leaves them out and reports at the synchronisation."""
    case = Owners(rng, np.int32, 4, "all")
    for count in (10, 3000):
        sets, room = case.segments(backend, np.int32, {}), SendBuffer(backend)
        chosen = case.slots[:count].copy()
        chosen[[2, 5]] = [case.shift - 1, case.slots[-1] + 1]
        with pytest.raises(KernelError, match="out of range"):  # noqa: PT012
            coded = sets.encode(backend.from_host(chosen), {}, room.take)
            read(backend, coded, case.universes, {})
        if backend.name != "cpu":
            sets.encode(backend.from_host(case.slots[:count]), {}, room.take)
            backend.synchronize()


def test_every_kernel_of_an_exchange_in_few_launches(backend, rng, monkeypatch, tuned):
    """Small enough for tools that follow each access of a thread to memory: see CONTRIBUTING."""
    launched, whole, dtype = set(), backend.kernels, np.dtype(np.int32)

    class Noted:
        def __init__(self, family, **types):
            self.family, self.kernels = family, whole(family, **types)

        def __getattr__(self, name):
            launched.add((self.family, name))
            return getattr(self.kernels, name)

    # Which kernels were launched shows in no answer.
    monkeypatch.setattr(backend, "kernels", Noted)
    columns, room, used = {"label": np.int32, "score": (np.float64, (3,))}, SendBuffer(backend), set()
    for of in ({}, columns):
        for few, saves in ((COMM.counted, COMM.bitmap_saves), (0, 0), (0, 1 << 30)):
            tuned(COMM, counted=few, bitmap_saves=saves)
            case = Owners(rng, dtype, 7, "1-hop")
            values = random_values(rng, of, case.shift + int(case.entries[-1]))
            sets = case.segments(backend, dtype, of)
            used |= compare(backend, dtype, sets, of, case, drawn(rng, "half", case.slots)[:700], values, room.take)
        case = Mirrors(rng, dtype, 7)
        sets, values = case.segments(backend, dtype, of), random_values(rng, of, case.owned)
        for kind in ("one", "half"):  # looked up in the mirrors, and in a bitmap
            used |= compare(backend, dtype, sets, of, case, drawn(rng, kind, case.slots), values, room.take)
    given = {name: backend.from_host(column) for name, column in values.items()}
    for (ids, found), mirror in zip(
        read(backend, sets.encode_all(given, room.take), case.universes, columns), case.mirrors, strict=True
    ):
        assert len(ids) == len(mirror)
        np.testing.assert_array_equal(found["score"], values["score"][mirror])
    ids, first = rng.permutation(500)[:300], random_values(rng, columns, 300)
    received, on_device = [], {name: backend.from_host(column) for name, column in first.items()}
    for code in codec.CODES:
        coded = codec.encode(backend, backend.from_host(ids.astype(dtype)), 500, on_device, force=code)
        used.add(codec.name_of(coded[0]))
        ((found, _),) = read(backend, [coded], [500], columns)
        np.testing.assert_array_equal(np.sort(found), np.sort(ids))
        if code == "list":
            message = codec.opened(*coded, 500, columns)
            received = [Received(300, message.columns, message.ids, first=at, universe=500, ids=message.listed)
                       for at in (0, 500, 1000)]  # fmt: skip
    inbox = Inbox(backend.xp, {"slots": dtype, **{name: np.dtype(of) for name, of in columns.items()}}, received,
                  kernels=backend.kernels("segments", index_t=dtype))  # fmt: skip
    assert inbox.joins
    np.testing.assert_array_equal(backend.to_host(inbox.slots), np.concatenate([ids, ids + 500, ids + 1000]))
    np.testing.assert_array_equal(backend.to_host(inbox.columns["score"]), np.tile(first["score"], (3, 1)))
    backend.synchronize()
    kernels = {name for name in vars(twins) if name.startswith("segments_")}
    assert kernels - {name for family, name in launched if family == "segments"} == set()
    assert used == {"list", "bitmap", "delta"}


def test_values_of_another_dtype_or_length_are_refused(backend, rng):
    case = Owners(rng, np.int32, 2, "all")
    sets, room = case.segments(backend, np.int32, {"label": np.int32}), SendBuffer(backend)
    slots = backend.from_host(case.slots)
    for wrong in (backend.xp.zeros(77, np.int64), backend.xp.zeros(76, np.int32), backend.xp.zeros((77, 2), np.int32)):
        with pytest.raises(InputError, match=r"values of column 'label' are .* expected are int32"):
            sets.encode(slots, {"label": wrong}, room.take)
