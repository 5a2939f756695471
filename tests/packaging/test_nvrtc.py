"""Every CUDA kernel compiles for every type it declares and every architecture, and has a twin with its arguments."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from kernel_twins import SignatureError, check_twins, cuda_signatures, python_signatures
from nvrtc import AHEAD, CAPABILITIES, CompileError, compile_ptx, families, types_for

from graphdask import kernels
from graphdask.kernels import kernel_files, module_name

pytest.importorskip("nvidia.cuda_nvrtc", reason="needs NVRTC, which the extra 'test' installs")

SOURCES = families()

FAMILY_CU = """
#include "types.cuh"
// extern "C" __global__ void not_a_kernel(int x) {}
extern "C" __global__ void __launch_bounds__(256)
degree(long long n, const index_t* __restrict__ indptr, /* rows */ index_t *out, double scale)
{
    for (long long i = first(); i < n; i += stride()) out[i] = (index_t)(scale * (indptr[i + 1] - indptr[i]));
}
"""
FAMILY_CUH = """
__device__ inline long long first() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
__device__ inline long long stride() { return gridDim.x * (long long)blockDim.x; }
"""
FAMILY_PY = "def degree(n, indptr, out, scale):\n    out[:n] = scale * (indptr[1:] - indptr[:-1])\n"


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_a_family_compiles_for_every_type_and_every_architecture(source, capability):
    family = importlib.import_module(module_name(source.stem))
    assert family.MACROS, f"{source.stem}.MACROS declares no combination of types"
    for macros in types_for(capability, family.MACROS):
        ptx = AHEAD.ptx(source, capability, macros)
        assert f".target sm_{capability}" in ptx
        for kernel in cuda_signatures(source):
            assert f".entry {kernel}(" in ptx


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_twins_have_the_same_arguments_in_the_same_order(source):
    assert check_twins(source)


MOST = 12
"""Parameters of a kernel; what else it works on is in a pack (kernels/common/packs.py)."""


@pytest.mark.parametrize("name", sorted({name.partition(".")[0] for name in kernel_files()}))
def test_a_kernel_has_few_parameters(name):
    folder, many = Path(str(kernels.__file__)).parent, {}
    for path in folder.rglob(f"{name}.*"):
        if path.suffix in (".cu", ".py"):
            found = (cuda_signatures if path.suffix == ".cu" else python_signatures)(path)
            many |= {kernel: len(parameters) for kernel, parameters in found.items() if len(parameters) > MOST}
    assert not many, f"{name}: {many} parameters; at most {MOST}, put the others into a pack"


@pytest.fixture
def family(tmp_path):
    """A throw-away family of kernels."""
    (tmp_path / "types.cuh").write_text(FAMILY_CUH)
    (tmp_path / "family.cu").write_text(FAMILY_CU)
    (tmp_path / "family.py").write_text(FAMILY_PY)
    return tmp_path / "family.cu"


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_macros_reach_the_compiler(family, capability):
    narrow = compile_ptx(family, capability, {"index_t": "int"})
    wide = compile_ptx(family, capability, {"index_t": "long long"})
    assert ".entry degree(" in narrow
    assert f".target sm_{capability}" in narrow
    assert "ld.global.nc.b32" in narrow.replace(".u32", ".b32").replace(".s32", ".b32")
    assert "ld.global.nc.b64" in wide.replace(".u64", ".b64").replace(".s64", ".b64")


def test_the_cuda_headers_are_found(family):
    family.write_text("#include <cooperative_groups.h>\n#include <cuda_fp16.h>\n" + FAMILY_CU)
    assert ".entry degree(" in compile_ptx(family, 90, {"index_t": "int"})


def test_a_failing_compilation_reports_the_log(family):
    family.write_text(FAMILY_CU.replace("out[i] =", "nowhere[i] ="))
    with pytest.raises(CompileError, match=r'(?s)family.cu for compute_80.*"nowhere" is undefined'):
        compile_ptx(family, 80, {"index_t": "int"})


def test_a_missing_type_is_an_error(family):
    with pytest.raises(CompileError, match='"index_t" is undefined'):
        compile_ptx(family, 80)


def test_signatures_are_read_without_comments_and_types(family):
    assert cuda_signatures(family) == {"degree": ["n", "indptr", "out", "scale"]}
    assert check_twins(family) == ["degree"]


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ("def other(n): ...", "degree has no twin in family.py"),
        (
            "def degree(n, out, indptr, scale): ...",
            r"degree\(n, indptr, out, scale\) but twin\(n, out, indptr, scale\)",
        ),
        ("def degree(n, indptr, out): ...", r"but twin\(n, indptr, out\)"),
        ("def degree(n, indptr, out, scale: Rows): ...", r"but twin\(n, indptr, out, Rows scale\)"),
    ],
)
def test_a_twin_that_differs_is_named(family, python, message):
    family.with_suffix(".py").write_text(python)
    with pytest.raises(SignatureError, match=message):
        check_twins(family)


def test_the_first_argument_is_n(family):
    family.write_text('extern "C" __global__ void degree(int m) {}')
    family.with_suffix(".py").write_text("def degree(m): ...")
    with pytest.raises(SignatureError, match="the first argument of degree is not 'long long n'"):
        check_twins(family)


def test_a_kernel_with_a_mangled_name_is_refused(family):
    family.write_text("__global__ void degree(long long n) {}")
    with pytest.raises(SignatureError, match='1 kernels, 0 of them written as extern "C"'):
        check_twins(family)
