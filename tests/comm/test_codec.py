"""Codes for sets of vertices: what is decoded is what was encoded, and the fewest bytes win."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from emulated import emulated

from graphdask.comm.codec import CODES, FEW, decode, encode, encode_all, name_of, opened
from graphdask.device.backend import get_backend
from graphdask.errors import CommunicationError, InputError, KernelError

DTYPES = {"depth": np.int32, "distance": np.float64, "flag": np.uint8}


def random_set(rng, universe, n, dtype):
    return rng.choice(universe, n, replace=False).astype(dtype)


def random_columns(rng, n):
    return {
        "depth": rng.integers(-5, 5, n).astype(np.int32),
        "distance": rng.random(n),
        "flag": rng.integers(0, 256, n).astype(np.uint8),
    }


def round_trip(backend, ids, universe, columns, force=None):
    """Encode and decode; return the code, the payload's bytes and, on the host, what was decoded."""
    on_device = {name: backend.from_host(column) for name, column in columns.items()}
    meta, payload = encode(backend, backend.from_host(ids), universe, on_device, force=force)
    dtypes = {name: column.dtype for name, column in columns.items()}
    decoded, values = decode(backend, meta, payload, universe, dtypes)
    backend.synchronize()
    assert decoded.dtype == ids.dtype
    host = {name: backend.to_host(column) for name, column in values.items()}
    return name_of(meta), 0 if payload is None else len(payload), backend.to_host(decoded), host


SETS = [(1, 1), (1, 0), (0, 0), (31, 31), (32, 32), (33, 5), (64, 1), (1000, 900), (5000, 1), (10**6, 130)]
SETS += [(10**6, 900), (10**5, 40_000), (10**5, 10**5), ((1 << 31) + 7, 200), (1 << 40, 3), (1 << 40, 1000)]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("force", [None, *CODES])
@pytest.mark.parametrize(("universe", "n"), SETS)
def test_what_is_decoded_is_what_was_encoded(backend, rng, universe, n, dtype, force):
    if dtype == np.int32 and universe > 1 << 31:
        universe = (1 << 31) - 1
    if force == "bitmap" and universe > 10**7:
        pytest.skip("a bitmap of so large a universe takes too much memory for a test")
    ids = random_set(rng, universe, n, dtype) if universe < 10**7 else distinct(rng, universe, n, dtype)
    columns = random_columns(rng, n)
    gaps = np.diff(np.sort(ids.astype(np.int64)))
    if force == "delta" and len(gaps) and gaps.max() > 0xFFFF:
        with pytest.raises(InputError, match="larger than 65535"):
            encode(backend, backend.from_host(ids), universe, {}, force=force)
        return
    code, _, decoded, values = round_trip(backend, ids, universe, columns, force)
    if force is not None and n:
        assert code == force
    plain = {int(v): tuple(column[i] for column in columns.values()) for i, v in enumerate(ids)}
    back = {int(v): tuple(column[i] for column in values.values()) for i, v in enumerate(decoded)}
    assert len(decoded) == n
    assert back == plain
    if code == "list":
        assert decoded.tolist() == ids.tolist(), "a list keeps its order"
    else:
        assert (np.diff(decoded) > 0).all(), "the other codes are ascending"


def distinct(rng, universe, n, dtype):
    found = np.unique(rng.integers(0, universe, 2 * n + 10))
    return rng.permutation(found)[:n].astype(dtype)


def plain_sizes(ids, universe):
    """Bytes of each code, from its definition."""
    ascending = sorted(map(int, ids))
    gap = max((b - a for a, b in itertools.pairwise(ascending)), default=0)
    sizes = {"list": len(ids) * (4 if universe <= 1 << 31 else 8), "bitmap": (universe + 31) // 32 * 4}
    if gap <= 0xFFFF:
        sizes["delta"] = len(ids) * (1 if gap <= 0xFF else 2)
    return sizes


@pytest.mark.parametrize("n", [FEW + 1, 400, 3000, 20_000, 99_000])
def test_the_fewest_bytes_win(rng, n):
    backend = get_backend("cpu")
    for universe in (100_000, 1_000_000, (1 << 31) - 1):
        if n > universe:
            continue
        base = 0 if universe < 10**7 else 10**9
        ids = base + random_set(rng, min(universe, 10**6), n, np.int64)
        code, nbytes, _, _ = round_trip(backend, ids, universe, {})
        sizes = plain_sizes(ids, universe)
        assert sizes[code] == min(sizes.values())
        assert nbytes == (min(sizes.values()) + 7) // 8 * 8


def test_on_a_gpu_a_bitmap_has_to_save_a_mebibyte(rng):
    backend, universe = emulated(), 2_400_000  # a bitmap of 300,000 bytes
    for n, code in ((330_000, "list"), (340_000, "bitmap"), (4, "list")):
        ids = np.sort(random_set(rng, universe, n, np.int32))
        meta, payload = encode(backend, backend.from_host(ids), universe, {})
        assert name_of(meta) == code
        assert len(payload) == (300_000 if code == "bitmap" else 4 * n)


def test_a_contiguous_run_is_a_byte_each_wherever_it_lies():
    backend = get_backend("cpu")
    ids = np.arange(10**9, 10**9 + 1000, dtype=np.int64)[::-1].copy()
    assert round_trip(backend, ids, 1 << 31, {})[:2] == ("delta", 1000)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("universe", [1, 7, 1000])
def test_the_ids_of_all_vertices_take_no_bytes(backend, rng, universe, dtype):
    columns = random_columns(rng, universe)
    meta, payload = encode_all(backend, dtype, universe, {k: backend.from_host(v) for k, v in columns.items()})
    assert len(payload) == sum((column.nbytes + 7) // 8 * 8 for column in columns.values())
    assert name_of(meta) == "all"
    ids, values = decode(backend, meta, payload, universe, DTYPES)
    assert ids.dtype == dtype
    assert backend.to_host(ids).tolist() == list(range(universe))
    for name, column in columns.items():
        np.testing.assert_array_equal(backend.to_host(values[name]), column)
    with pytest.raises(CommunicationError):
        decode(backend, meta, payload, universe + 1, DTYPES)


def test_a_column_of_another_length_is_not_all(backend):
    with pytest.raises(InputError, match="shape"):
        encode_all(backend, np.int32, 5, {"flag": backend.xp.zeros(4, np.uint8)})
    assert encode_all(backend, np.int32, 0, {"flag": backend.xp.zeros(0, np.uint8)})[1] is None


@pytest.mark.parametrize("force", [None, *CODES])
def test_a_vertex_may_have_several_numbers(backend, rng, force):
    ids = random_set(rng, 1000, 300, np.int32)
    column = rng.random((300, 5))
    meta, payload = encode(backend, backend.from_host(ids), 1000, {"x": backend.from_host(column)}, force=force)
    decoded, values = decode(backend, meta, payload, 1000, {"x": (np.float64, (5,))})
    order = np.argsort(ids) if name_of(meta) != "list" else np.arange(300)
    np.testing.assert_array_equal(backend.to_host(decoded), ids[order])
    np.testing.assert_array_equal(backend.to_host(values["x"]), column[order])
    meta, payload = encode_all(backend, np.int32, 300, {"x": backend.from_host(column)})
    _, values = decode(backend, meta, payload, 300, {"x": (np.float64, (5,))})
    np.testing.assert_array_equal(backend.to_host(values["x"]), column)
    assert decode(backend, np.zeros(4, np.int64), None, 10, {"x": (np.float64, (5,))})[1]["x"].shape == (0, 5)


def test_an_empty_set_is_no_payload(backend):
    meta, payload = encode(backend, backend.xp.empty(0, np.int64), 0, {})
    assert payload is None
    ids, columns = decode(backend, meta, payload, 0, {"depth": np.int32})
    assert ids.shape == (0,)
    assert columns["depth"].dtype == np.int32
    ids, _ = decode(backend, np.zeros(4, np.int64), None, 10, {})
    assert ids.dtype == np.int32


def test_bad_arguments_are_refused(backend):
    xp = backend.xp
    with pytest.raises(InputError, match="int32 or int64, not float64"):
        encode(backend, xp.zeros(3), 10, {})
    with pytest.raises(InputError, match="force='zip' is not one of list, bitmap, delta"):
        encode(backend, xp.zeros(1, np.int32), 10, {}, force="zip")
    with pytest.raises(InputError, match=r"column 'depth' has shape \(2,\)"):
        encode(backend, xp.zeros(1, np.int32), 10, {"depth": xp.zeros(2)})
    with pytest.raises(InputError, match="4 distinct ids do not fit into a universe of 3"):
        encode(backend, xp.arange(4, dtype=xp.int32), 3, {})


@pytest.mark.parametrize("force", list(CODES))
def test_a_payload_that_does_not_fit_its_description_is_refused(force):
    backend = get_backend("cpu")
    ids, universe = np.array([3, 90, 41, 77], np.int32), 100
    meta, payload = encode(backend, ids, universe, {"depth": ids}, force=force)
    dtypes = {"depth": np.int32}

    def changed(**words):
        other = meta.copy()
        for index, value in words.items():
            other[int(index[1:])] = value
        return other

    wrong = [
        (meta, payload[:-1], universe, dtypes),
        (meta, np.concatenate([payload, payload[:8]]), universe, dtypes),
        (meta, None, universe, dtypes),
        (meta, payload, universe + 1, dtypes),
        (meta, payload, universe, {"depth": np.float64}),
        (meta, payload, universe, {}),
        (changed(w0=meta[0] + 7), payload, universe, dtypes),
        (changed(w0=meta[0] + (1 << 40)), payload, universe, dtypes),
        (changed(w1=6), payload, universe, dtypes),
        (changed(w1=-4), payload, universe, dtypes),
        (changed(w1=101), payload, universe, dtypes),
        (changed(w3=5), payload, universe, dtypes),
    ]
    for arguments in wrong:
        with pytest.raises(CommunicationError, match="does not fit its description"):
            decode(backend, *arguments)


@pytest.mark.parametrize("shift", [0, 1000])
@pytest.mark.parametrize(
    ("force", "spoil", "value"),
    [
        ("list", slice(0, 4), 255),
        ("list", slice(4, 8), 127),
        ("delta", slice(0, 4), 255),
        ("bitmap", slice(12, 16), 255),
        ("bitmap", slice(0, 4), 0),
    ],
)
def test_ids_outside_the_universe_are_refused_and_never_met(backend, force, spoil, value, shift):
    """A GPU reports at the synchronisation; what runs until then meets ids of the universe only."""
    expected = CommunicationError if backend.name == "cpu" else KernelError
    ids = backend.xp.array([3, 90, 41, 77], np.int32)
    meta, payload = encode(backend, ids, 100, {}, force=force)
    payload[spoil] = value
    message = opened(meta, payload, 100, {})
    with pytest.raises(expected):  # noqa: PT012
        read = backend.to_host(message.ids(backend, shift))
        assert read.min() >= shift
        assert read.max() < shift + 100
        backend.synchronize()


@pytest.mark.parametrize("force", list(CODES))
def test_ids_are_read_into_an_array_as_slots(backend, rng, dtype, force):
    ids = random_set(rng, 1000, 300, dtype)
    meta, payload = encode(backend, backend.from_host(ids), 1000, {}, force=force)
    message = opened(meta, payload, 1000, {})
    out = backend.xp.zeros(310, dtype)
    read = message.ids(backend, 5000, out[7:307])
    backend.synchronize()
    slots = backend.to_host(out)
    assert slots[:7].tolist() + slots[307:].tolist() == [0] * 10
    np.testing.assert_array_equal(np.sort(slots[7:307]), np.sort(ids) + 5000)
    np.testing.assert_array_equal(backend.to_host(read), slots[7:307])
    assert (message.bits is None) == (force != "bitmap")
    if message.bits is not None:
        words = backend.to_host(message.bits)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        np.testing.assert_array_equal(np.flatnonzero(bits), np.sort(ids))
