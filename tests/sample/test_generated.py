"""Compiled functions are kept on disk for the next process, by whoever is first, and only where that is safe."""

from __future__ import annotations

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from graphdask.kernels.functions import generated, inserted
from graphdask.kernels.functions.functions_pack import FunctionVertices
from graphdask.program.translate import translate

SOURCE = """from graphdask.kernels.functions.user import *


def user_function(f_x, failure):
    t_1 = int_quotient(f_x, np.int64(3), failure, np.int64(0))
    return t_1
"""
RUN = f"""
import numpy
from graphdask.kernels.functions.generated import compiled

function = compiled({SOURCE!r}, "user_function", ("int",), "int")
assert function(14, numpy.zeros(1, numpy.int32)) == 4
print(sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values()))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The user's cache folder, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    generated.compiled.cache_clear()
    yield tmp_path / "graphdask" / "functions"
    generated.compiled.cache_clear()


def made():
    """The function as another process would get it, checked; with how often Numba read it from disk."""
    generated.compiled.cache_clear()
    function = generated.compiled(SOURCE, "user_function", ("int",), "int")
    assert function(-14, np.zeros(1, np.int32)) == -5
    return function, sum(function.stats.cache_hits.values())


def test_the_next_process_does_not_compile(folder):
    assert made()[1] == 0
    assert made()[1] == 1
    found = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, timeout=120, check=True)
    assert (found.stdout.split(), found.stderr) == (["1", "0"], "")


@pytest.mark.slow
def test_of_processes_that_start_together_one_compiles(folder):
    running = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", RUN], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    found = []
    for process in running:
        out, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, b""), errors.decode()
        found.append(tuple(map(int, out.split())))
    assert sorted(found) == [(0, 1), (1, 0), (1, 0)]
    (kept,) = folder.iterdir()
    assert sorted(path.name for path in kept.iterdir()) == ["__pycache__", "function.py"]
    assert made()[1] == 1


def test_a_folder_that_cannot_be_made_is_done_without(folder, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    function, hits = made()
    assert (hits, function.stats.cache_path) == (0, None)


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_folder_that_others_can_write_to_is_not_used(folder):
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert made()[0].stats.cache_path is None
    assert list(folder.iterdir()) == []


def test_a_file_with_another_text_is_not_run(folder):
    made()
    (path,) = folder.glob("*/function.py")
    path.write_text(SOURCE.replace("3", "4"))
    assert made()[0].stats.cache_path is None


def test_files_that_were_cut_short_are_done_without(folder):
    made()
    files = [path for path in folder.glob("*/__pycache__/*") if path.suffix in (".nbi", ".nbc")]
    assert len(files) == 2
    for path in files:
        path.write_bytes(path.read_bytes()[:20])
        assert made()[1] == 0


def test_kernels_call_the_function_whether_it_was_compiled_or_read(folder):
    @numba.njit(error_model="numpy")
    def total(function, values, failure):
        result = 0
        for value in values:
            result += function(value, failure)
        return result

    values = np.arange(-20, 20)
    for _ in range(2):
        assert total(made()[0], values, np.zeros(1, np.int32)) == (values // 3).sum()


def family_made():
    """A kernel family with a function of the caller in it, as another process would make it, checked."""
    function = translate(lambda v: 3 * v.id + v.place, {"id": "int", "place": "int"}, "int")
    inserted._MADE.clear()
    generated.module.cache_clear()
    generated.compiled.cache_clear()
    kernels = inserted.python_module("functions", {"vertex_bias": function})
    values = np.zeros(4, np.int64)
    vertices, places = np.array([1, 0, 5, 2], np.int32), np.arange(4)
    pack = FunctionVertices(
        names=np.zeros(0, np.int64), base=0, vertices=vertices, degrees=places, instances=places, places=places,
        depth=0, values=values, failure=np.zeros(1, np.int32),
    )  # fmt: skip
    kernels.functions_vertex_bias(4, *(getattr(pack, name) for name in kernels.functions_vertex_bias.fields))
    assert values.tolist() == [3, 1, 17, 9]
    return sum(kernels.functions_vertex_bias.stats.cache_hits.values())


def test_a_family_with_a_function_in_it_is_kept(folder):
    assert family_made() == 0
    assert family_made() == 1


def test_a_family_is_made_where_nothing_can_be_kept(folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert family_made() == 0
    assert family_made() == 0


def test_texts_with_functions_in_them():
    """Expressions of the fields, the same in both languages, and functions of the same text told apart by nothing."""
    one, other = (translate(lambda e: e.weight * e.depth, {"weight": "float", "depth": "int"}, "float") for _ in "ab")
    text = inserted.cuda_text("functions", '#include "functions/functions_default.cuh"\n', {"edge_bias": one})
    assert "edge_bias_of_caller(a.weights[edge], depth, failure)" in text
    assert text.index("#define GD_HAS_edge_bias") < text.index("#include")
    text = inserted.python_text("functions", {"edge_bias": one})
    assert "edge_bias_of_caller(np.float64(a.weights[edge]), np.int64(depth), failure)" in text
    assert inserted.digests({"edge_bias": one}) == inserted.digests({"edge_bias": other})
    assert inserted.cuda_text("bfs", "text", None) == "text"


def test_what_only_kernels_call_has_no_wrapper_for_python(folder):
    function = translate(lambda v: v.degree % 2, {"degree": "int"}, "int")
    family = inserted.python_module("functions", {"vertex_bias": function})
    for called, wrapped in (("functions_vertex_bias", False), ("vertex_bias", True), ("vertex_bias_of_caller", True)):
        assert getattr(family, called).targetoptions.get("no_cpython_wrapper", False) is wrapped
    hops = inserted.python_module("functions_hops", {"vertex_bias": function})
    private = {name: each for name, each in vars(hops).items() if name.startswith("_") and hasattr(each, "py_func")}
    assert private
    assert all(each.targetoptions["no_cpython_wrapper"] for each in private.values())
