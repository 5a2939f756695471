"""Functions that only kernels call are compiled into these, and have no machine code of their own."""

from __future__ import annotations

import pytest

from graphdask.kernels.common.in_kernels import WithoutMachineCode
from graphdask.kernels.functions import generated

TEXT = """from graphdask.kernels.common.twin import for_twins, twin


@for_twins
def doubled(x):
    return 2 * x


@twin
def first(x):
    return doubled(x) + 1


@twin
def second(x):
    return doubled(x) + 2
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The functions, as another process gets them that keeps files in the same place."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    def begin():
        generated.module.cache_clear()
        return generated.module(TEXT)

    yield begin
    generated.module.cache_clear()


def library_of(function):
    (compiled,) = function.overloads.values()
    return compiled.library


def has_machine_code(function):
    (compiled,) = function.overloads.values()
    return compiled.library._codegen._engine.is_symbol_defined(compiled.fndesc.llvm_func_name)


def test_another_process_takes_them_from_files_into_its_kernels(made):
    functions = made()
    assert functions.first(4) == 9
    assert has_machine_code(functions.first)
    assert isinstance(library_of(functions.doubled), WithoutMachineCode)
    assert not has_machine_code(functions.doubled)
    functions = made()
    assert functions.second(4) == 10, "a kernel that is not kept"
    assert sum(functions.doubled.stats.cache_hits.values()) == 1
    assert not has_machine_code(functions.doubled)
    assert made().first(5) == 11, "a kernel that is"
