"""Parameter packs: one declaration is a struct in CUDA, arguments in Numba, and words of a launch."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from emulated import EmulationError, emulated

from graphdask.device.backend import get_backend
from graphdask.device.launch import packed_arguments, word_of
from graphdask.kernels import module_name
from graphdask.kernels.common.packs import Counters, Pack, with_packs
from graphdask.kernels.common.twin import by_python, twin
from graphdask.kernels.core_number.core_number_pack import COUNTS, Peeling

LENGTHS = Counters("Lengths", "queue", "ghosts", "hubs")


class Parts(Pack):
    values = "const double *", "numbers"
    out = "double *", "where the sums go"
    factor = "double", "by which they are multiplied"
    counters = LENGTHS, "how many there are"


@twin
def scaled(n, first, a: Parts):
    for i in range(n):
        a.out[i] = a.values[first + i] * a.factor
    a.counters.ghosts += n


@twin
def with_or_without(n, a: Parts):
    if a.values is not None:
        for i in range(n):
            a.out[i] += a.values[i]
    scaled(n, 0, a)


def test_a_twin_takes_the_fields_that_it_uses():
    assert scaled.fields == ("values", "out", "factor", "counters")
    out, counters = np.zeros(2), np.zeros(3, np.int64)
    scaled(2, 1, np.arange(3.0), out, 2.0, counters)
    assert out.tolist() == [2.0, 4.0]
    assert LENGTHS.of(counters) == (0, 2, 0)


def test_a_pack_is_handed_on_and_an_array_may_be_missing():
    assert with_or_without.fields == scaled.fields
    one = np.ones(2)
    with_or_without(2, one, out := np.zeros(2), 3.0, np.zeros(3, np.int64))
    assert out.tolist() == [3.0, 3.0]


@twin
def without_a_pack(n, some, out, counters):
    scaled(n, 0, Parts(values=some, out=out, factor=5.0, counters=counters))


def test_a_twin_makes_a_pack_for_another():
    assert without_a_pack.fields is None
    without_a_pack(2, np.ones(2), out := np.zeros(2), counters := np.zeros(3, np.int64))
    assert out.tolist() == [5.0, 5.0]
    assert counters.tolist() == [0, 2, 0]


def with_another_factor(n, some, a: Parts):
    scaled(n, 0, Parts(a, values=some, factor=a.factor + 3.0))


def test_a_twin_hands_on_its_pack_with_other_values_of_some_fields():
    called = by_python(with_another_factor)
    assert called.fields == ("out", "factor", "counters")
    called(2, np.ones(2), out := np.zeros(2), 2.0, counters := np.zeros(3, np.int64))
    assert out.tolist() == [5.0, 5.0]
    assert counters.tolist() == [0, 2, 0]


LEVELS = Counters("Levels", "arrived", "found[3]", "edges")


class Leveled(Pack):
    counters = LEVELS, "by level modulo 3"


def counted(n, a: Leveled):
    for level in range(n):
        a.counters.found[level % 3] += level
        a.counters.edges += a.counters.found[(level + 2) % 3]


@pytest.mark.parametrize("how", [twin, by_python])
def test_several_counters_have_one_name(how):
    assert (len(LEVELS), LEVELS.place) == (5, (0, slice(1, 4), 4))
    assert LEVELS.cuda == "struct Levels { unsigned long long arrived, found[3], edges; };"
    called, counters = how(counted), np.zeros(5, np.int64)
    assert called.fields == ("counters",)
    called(4, counters)
    assert LEVELS.of(counters) == (0, [3, 1, 2], 0 + 0 + 1 + 2)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a.nothing[0] = 1", "Parts has no field 'nothing'"),
        ("a.factor = 1", "assigns to the field factor"),
        ("b = a", "a pack is used by its fields"),
        ("len(a)", "only be handed to another kernel"),
        ("scaled(n, 0, Parts(n, factor=1.0))", "a pack is made by names, and of one of its own kind"),
        ("a_out = a.out", "uses the name a_out"),
    ],
)
def test_what_a_twin_cannot_do_with_a_pack_is_refused(tmp_path, body, message):
    path = tmp_path / "wrong.py"
    path.write_text(f"def wrong(n, a: Parts):\n    {body}\n")
    made = {"Parts": Parts, "scaled": scaled}
    exec(compile(path.read_text(), str(path), "exec"), made)
    with pytest.raises((AttributeError, SyntaxError, TypeError), match=message):
        twin(made["wrong"])


def test_a_pack_has_no_other_fields():
    with pytest.raises(AttributeError, match="Parts has no field 'level'; its fields: values, out, factor, counters"):
        Parts(level=3)
    with pytest.raises(NameError, match="a method has this name"):
        type("Wrong", (Pack,), {"as_words": ("int", "")})


class OnDevice:
    """An array of a GPU, which begins at the address 7."""

    data = SimpleNamespace(ptr=7)


def test_a_kept_pack_lets_go_of_arrays():
    pack = Peeling(queue=OnDevice(), level=1)
    assert pack.as_words(word_of, OnDevice).count(7) == 1
    pack.release("queue")
    assert pack.queue is None
    assert pack.as_words(word_of, OnDevice).count(7) == 0


def test_fields_are_set_together():
    pack = Peeling(level=1)
    pack.assign(queue=OnDevice(), level=2)
    words = pack.as_words(word_of, OnDevice)
    assert (words.count(7), words.count(2), words.count(1)) == (1, 1, 0)
    for refused in (pack.assign, Peeling):
        with pytest.raises(AttributeError, match="Peeling has no field 'levels'"):
            refused(levels=1)
    with pytest.raises(AttributeError, match="Peeling has no field 'levels'"):
        pack.release("levels")


def test_packs_of_several_bases_have_the_fields_of_each_in_order():
    class One(Pack):
        first = "long long", "a number"
        second = "long long", "a number"

    class Other(Pack):
        second = "long long", "the same number"
        third = Counters("Third", "here"), "counted"

    class Both(One, Other):
        fourth = "long long", "a number"

    assert list(Both.field_types) == ["first", "second", "third", "fourth"]
    assert list(Both.counter_fields) == ["third"]


@pytest.mark.parametrize("seed", [0, 5, 2**63 - 1, 2**63, 2**64 - 1])
def test_the_word_of_a_seed_has_its_bits(seed):
    assert np.int64(word_of(np.uint64(seed), OnDevice)).view(np.uint64) == seed


def test_the_struct_stands_in_the_line_of_the_include():
    text = with_packs('// first\n#include "core_number/core_number_pack.py"\n// third\n')
    lines = text.splitlines()
    assert len(lines) == 3
    assert "struct PeelingCounts { unsigned long long queue, again, fell, hubs, edges, clock," in lines[1]
    assert "const index_t * indices; const long long * ghost_ptr; const index_t * ghost_rows; index_t * deg" in lines[1]


def test_counters_that_two_modules_share_are_a_struct_once():
    text = with_packs('#include "common/levels_pack.py"\n#include "bfs/bfs_pack.py"\n')
    shared, own = text.splitlines()
    assert shared.count("struct LevelCounts {") == 1
    assert "struct LevelCounts {" not in own
    assert own.startswith("struct Search { const long long * indptr;")


def test_a_kernel_gets_a_parameter_for_each_field_and_makes_the_pack_of_them():
    head = 'extern "C" __global__ void peel(long long n, Peeling a) {'
    text = with_packs(f'#include "core_number/core_number_pack.py"\n{head}\n}}\nvoid f(const Peeling &a) {{ }}\n')
    _, kernel, _, function = text.splitlines()
    assert "const long long * a_indptr, const index_t * a_indices, const long long * a_ghost_ptr," in kernel
    assert kernel.endswith(", (PeelingCounts *)a_counters};")
    assert "unsigned long long * a_counters) { const Peeling a{a_indptr, a_indices, a_ghost_ptr," in kernel
    assert function == "void f(const Peeling &a) { }"


def test_promises_of_a_parameter_stay_with_it():
    class Promised(Pack):
        out = "double *__restrict__", "nobody else writes there"

    assert Promised.cuda_struct() == "struct Promised { double * out; };"
    assert Promised.cuda_parameters("a") == "double *__restrict__ a_out"


class FakeArray:
    def __init__(self, address):
        self.data = type("Memory", (), {"ptr": address})


def test_a_launch_finds_the_words_of_a_pack_where_the_argument_is():
    import ctypes

    def read(pointers, argument, count):
        begin = ctypes.c_void_p.from_address(pointers + 8 * argument).value
        return list((ctypes.c_int64 * count).from_address(begin))

    pack = Parts(values=FakeArray(10), out=FakeArray(20), factor=1.5, counters=FakeArray(30))
    as_word = int(np.array(1.5).view(np.int64))
    assert read(packed_arguments((7, 8, pack), FakeArray), 2, 4) == [10, 20, as_word, 30]
    pack.values, pack.factor = None, np.float32(2.0)
    narrow = int(np.array(2.0, np.float32).view(np.int32))
    assert read(packed_arguments((7, pack), FakeArray), 1, 4) == [0, 20, narrow, 30]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_counters_are_read_and_set_by_name(device):
    backend = emulated() if device == "emulated" else get_backend("cpu")
    pack = Parts(counters=backend.from_host(np.arange(3)))
    assert pack.read_counters(backend) == (0, 1, 2)
    pack.set_counters(hubs=5, queue=5)
    assert pack.read_counters(backend)._asdict() == {"queue": 5, "ghosts": 1, "hubs": 5}
    pack.set_counters(queue=0, ghosts=0, hubs=9)
    assert pack.read_counters(backend) == (0, 0, 9)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("queue", np.zeros(4, np.int64), r"core_find: a_queue is \*i4 in the kernel, and an array of int64 was given"),
        ("level", 1.5, "core_find: a_level is i8 in the kernel, and a float64 was given"),
    ],
)
def test_the_emulator_checks_the_fields(field, value, message):
    backend = emulated()
    slots = backend.from_host(np.zeros(1, np.int32))
    counters = backend.from_host(np.zeros(len(COUNTS), np.int64))
    pack = Peeling(degree=slots, bound=slots, queue=slots, level=1, none=9, owned=1, counters=counters)
    setattr(pack, field, backend.from_host(value) if isinstance(value, np.ndarray) else value)
    kernels = backend.kernels("core_number", index_t=np.int32)
    with pytest.raises(EmulationError, match=message):
        kernels.core_find(1, slots, pack)
    with pytest.raises(EmulationError, match="takes 25 arguments, not 3"):
        kernels.core_find(1, slots, slots)


def test_every_kernel_names_fields_of_its_pack():
    """Importing a module of twins compiles nothing, but unpacks every twin."""
    assert importlib.import_module(module_name("core_number")).core_find.fields == (
        "degree", "bound", "none", "level", "queue", "counters",
    )  # fmt: skip
