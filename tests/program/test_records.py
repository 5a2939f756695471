"""A user's function of several parameters and results gives the same record in Python, in Numba and in CUDA C++."""

from __future__ import annotations

import importlib.util
import math
import pickle

import numpy as np
import pytest
from nvrtc import compile_ptx
from user_records import KEPT, PAIR, STATE, E, M, V, in_python, kernels_of, on_cpu, on_emulator, rows

from graphdask.errors import Unsupported
from graphdask.program.translate import Field, translate, translate_record
from graphdask.program.translated import Translated

DAMPING = 0.85
SCALE = np.float64(0.25)
ZERO = {"float": 0.0, "int": 0, "bool": False}
UNWRITTEN = {"float": 77.0, "int": 77, "bool": True}


def several(v, m):
    """Has a docstring."""
    if m < v.distance:
        return {"distance": m, "count": v.count + 1}
    if v.seen:
        return
    for i in range(v.count):
        if i > m:
            return v.distance, i, True


def all_paths(v, m):
    if v.seen:
        return m, v.count, v.count > 2
    return {"seen": True, "count": 3, "distance": 1}


def branches(v, m):
    return ({"distance": m} if v.seen else {"count": v.count}) if m > 0 else None if v.seen else (0, 1, m == 2)


def fails(v, m):
    return v.count // m[0] > 0 and {"distance": 1 / m[1], "count": m[0]}


def one(v, m):
    return None if m < 0 else math.sqrt(m) if v.seen else m


def falls_off(e):
    while e.source.id > 0:
        return e.weight


def is_false(v, m):
    return False


def aliased(v, m):
    """Swaps, and names what has fields."""
    pair, s = m, v
    whole, part = pair[0], pair[1]
    if s.seen:
        whole, part = int(part) + s.count, whole
    return whole > part and (part, whole, not s.seen)


def source_of(e):
    s = e.source
    d, step = s.distance, e.superstep
    return d * step if s.id > 1 and math.isfinite(d) else step if math.isinf(d * 1e300 * 1e300) else None


DISTANCE, NUMBER, WHOLE, TRUTH = {"distance": "float"}, {"x": float}, {"x": "int"}, {"x": bool}
OPTIONAL = [
    (lambda v, m: m < v.distance and {"distance": m}, (V, M), DISTANCE),
    (lambda v, m: m < v.distance and v.seen and (m,), (V, M), DISTANCE),
    (lambda v, m: m < v.distance and v.count and {"distance": m, "count": v.count - 1, "seen": True}, (V, M), STATE),
    (lambda v, m: {"seen": not v.seen} if m else None, (V, M), STATE),
    (lambda v, m: (v.seen and {"distance": m}) or {"count": -1}, (V, M), STATE),
    (lambda v, m: (v.seen and {"distance": m}) or (v.count > 1 and {"count": 1}), (V, M), STATE),
    (lambda v, m: ({"seen": False} if v.seen else False) or (v.distance, 1, True), (V, M), STATE),
    (lambda v, m: v.seen and (v.count > 1 and (m, 2, True) if m > 0 else None), (V, M), STATE),
    (lambda v, m: v.seen and ({"distance": m} if m > 0 else m + 1), (V, M), DISTANCE),
    (lambda v, m: {"count": m[0] + v.count, "distance": m[1] * SCALE}, (V, PAIR), STATE),
    (lambda e: e.source.distance + e.weight, (E,), NUMBER),
    (lambda e: e.source.id if e.superstep > 0 else None, (E,), NUMBER),
    (lambda e: e.weight > 0 and e.source.id, (E,), WHOLE),
    (lambda e: e.weight > 0 or e.superstep > 1, (E,), TRUTH),
    (lambda e: False, (E,), TRUTH),
    (lambda old, new: abs(new.distance - old.distance), (V, V), NUMBER),
    (lambda: 3, (), WHOLE),
    (lambda: None, (), WHOLE),
    (several, (V, M), STATE),
    (branches, (V, M), STATE),
    (fails, (V, PAIR), STATE),
    (one, (V, M), NUMBER),
    (falls_off, (E,), NUMBER),
    (is_false, (V, M), STATE),
    (aliased, (V, PAIR), STATE),
    (source_of, (E,), NUMBER),
]
GIVEN = [
    (lambda e: e.source.distance * DAMPING, (E,), NUMBER),
    (lambda e: e.weight > 0 and e.superstep, (E,), WHOLE),
    (lambda e: False, (E,), WHOLE),
    (lambda v, m: (m, v.count, v.seen) if m > 1 else {"count": 1}, (V, M), STATE),
    (lambda v, m: (v.seen and {"distance": m}) or (v.distance, 0, False), (V, M), STATE),
    (all_paths, (V, M), STATE),
]


def translated(function, parameters, results, optional=True):
    defaults = KEPT if results is STATE else None
    return translate_record(function, parameters, results, defaults=defaults, optional=optional)


def test_records_are_those_of_python(rng):
    cases = [(*case, True) for case in OPTIONAL] + [(*case, False) for case in GIVEN]
    made, table = [translated(*case) for case in cases], rows(rng)
    counts = np.zeros((len(cases), 2), int)
    for k, (gpu, gpu_failures) in enumerate(on_emulator(made, table)):
        function, parameters, results, optional = cases[k]
        cpu, cpu_failures = on_cpu(made[k], table)
        np.testing.assert_array_equal(cpu_failures, gpu_failures)
        kinds = [kind for _, kind in made[k].results]
        expected = in_python(function, parameters, results, table, KEPT if results is STATE else None)
        for row, answer in enumerate(expected):
            if isinstance(answer, type):
                assert (answer, cpu_failures[row] % 16) == (ZeroDivisionError, 1)
                continue
            assert cpu_failures[row] == 0
            given = answer is not None
            assert given or optional
            counts[k, int(given)] += 1
            assert cpu[row] == (given, *(answer if given else (ZERO[kind] for kind in kinds))), made[k].python
            assert gpu[row] == (given, *(answer if given else (UNWRITTEN[kind] for kind in kinds))), made[k].python
            assert [type(value) for value in cpu[row][1:]] == [type(ZERO[kind]) for kind in kinds]
    assert (counts > 0).all(axis=1).sum() >= 12


def test_a_literal_false_is_nothing_unless_the_result_must_be_given_or_is_a_bool():
    def function(e):
        return e.weight if e.superstep > 0 else False

    def found(result, optional):
        made = translate_record(function, (E,), {"x": result}, optional=optional)
        return made.compiled(2.5, 0, np.zeros(1, np.int32))

    assert found(float, True) == (False, 0.0)
    assert found(float, False) == (True, 0.0)
    made = translate_record(lambda e: e.weight > 1 if e.superstep > 0 else False, (E,), TRUTH, optional=True)
    assert made.compiled(2.5, 0, np.zeros(1, np.int32)) == (True, False)


def test_the_fields_that_are_read_are_arguments_in_the_order_of_the_mappings():
    def apply(v, m):
        return {"distance": m[1] + m[0]}

    made = translate_record(apply, (V, PAIR), STATE, defaults=KEPT)
    assert made.fields == ("count", "seen", "first", "second")
    assert made.types == ("int", "bool", "int", "float")
    assert (made.results, made.optional, made.name) == (tuple(STATE.items()), False, "apply")
    assert made.cuda("next").startswith(
        "__device__ __forceinline__ bool next(long long f_count, bool f_seen, long long f_first, double f_second, "
        "double *r_distance, long long *r_count, bool *r_seen, int *failure) {"
    )
    elsewhere = {"count": Field("left", int), "seen": V["seen"]}
    assert translate_record(apply, (V, PAIR), STATE, defaults=elsewhere).fields == ("seen", "first", "second", "left")


def test_two_paths_may_be_one_field():
    made = translate_record(lambda a, b: a.x + b.y, ({"x": Field("z", int)}, {"y": Field("z", int)}), WHOLE)
    assert made.fields == ("z",)
    assert made.compiled(4, np.zeros(1, np.int32)) == (True, 8)


def test_the_digest_is_of_the_code_the_results_and_whether_they_are_optional():
    def function(e):
        return e.weight

    made = [
        translate_record(function, (E,), NUMBER),
        translate_record(function, (E,), NUMBER, optional=True),
        translate_record(function, (E,), {"y": float}),
        translate(function, {"weight": float}, float),
    ]
    assert len({each.digest for each in made}) == 4
    assert made[0].digest == translate_record(lambda e: e.weight, (E,), NUMBER, what="send(e)").digest
    assert translate_record(lambda e: e.weight, (E,), NUMBER, what="send(e)").name == "send"


def test_a_record_can_be_sent_to_another_process():
    made = translated(several, (V, M), STATE)
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again.compiled is made.compiled


def test_nvrtc_compiles_functions_of_records(tmp_path):
    pytest.importorskip("nvidia.cuda_nvrtc", reason="needs NVRTC, which the extra 'test' installs")
    made = [translated(*case) for case in OPTIONAL] + [translated(*case, optional=False) for case in GIVEN]
    path = tmp_path / "records.cu"
    path.write_text(kernels_of(made))
    folder = importlib.util.find_spec("graphdask.kernels").submodule_search_locations
    assert ".entry kernel_0(" in compile_ptx(path, 70, include=list(folder))


CUDA = """
__device__ inline bool apply(double distance, const double message, double *r_distance, long long *count) {
    if (!(message < distance)) return false;
    *r_distance = message;
    *count = 5;
    return true;
}
"""


def test_a_record_in_cuda_runs_on_a_gpu_only(rng):
    fields, results = {"distance": float, "message": float}, {"distance": float, "count": int}
    made = Translated.record_from_cuda(CUDA, "apply", fields, results)
    failing = CUDA.replace("*count)", "*count, int *failure)").replace("*count = 5", "*failure = 9")
    fails = Translated.record_from_cuda(failing, "apply", fields, results)
    table = rows(rng, 50)
    (records, failures), (_, codes) = on_emulator([made, fails], table)
    smaller = table["message"] < table["distance"]
    for row, (given, distance, count) in enumerate(records):
        assert (given, distance, count) == ((True, table["message"][row], 5) if smaller[row] else (False, 77, 77))
    assert not failures.any()
    np.testing.assert_array_equal(codes, np.where(smaller, 9, 0))
    with pytest.raises(Unsupported, match="apply is CUDA C\\+\\+ and cannot run on a CPU"):
        made.compiled  # noqa: B018
    assert made.digest != fails.digest
    assert made.optional
