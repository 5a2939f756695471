"""Kernels of other distributions: how their files are found, what is compiled, when it is compiled again."""

from __future__ import annotations

import sys

import pytest

from graphdask.device.backend import get_backend
from graphdask.errors import KernelError, MissingDependency
from graphdask.gang.waiting import with_what_to_do
from graphdask.kernels import module_of, name_at, text_of
from graphdask.kernels.common import kept
from graphdask.kernels.common.included import cuda_source

FILES = {
    "__init__.py": "",
    "kernels/__init__.py": "",
    "shared/__init__.py": "",
    "kernels/one_pack.py": "from graphdask.kernels.common.packs import Pack\n\n\n"
                           'class One(Pack):\n    out = "long long *", "ones"\n',
    "kernels/one.py": "from graphdask.kernels.common.hash import multiply_high\n"
                      "from graphdask.kernels.common.twin import twin\n\nfrom ..shared import two\n"
                      "from .one_pack import One\n\n\n@twin\ndef ones(n, a: One):\n    for i in range(n):\n"
                      "        a.out[i] = 1\n",
    "kernels/one.cu": '#include "common/common.cuh"\n#include "somebody/shared/two.cuh"\n'
                      '#include "somebody/shared/two.cuh"\n#include "somebody/kernels/one_pack.py"\n'
                      'extern "C" __global__ void ones(long long n, One a) { GD_FOR(i, n) a.out[i] = one(); }\n',
    "shared/two.py": "",
    "shared/other.py": "",
    "shared/two.cuh": "#pragma once\n__device__ long long one() { return 1; }\n",
}  # fmt: skip


@pytest.fixture
def somebody(tmp_path, monkeypatch):
    """The folder of a package with kernels."""
    for name, text in FILES.items():
        path = tmp_path / "somebody" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "somebody"
    for name in [name for name in sys.modules if name.partition(".")[0] == "somebody"]:
        del sys.modules[name]


def test_files_are_found_by_folder_and_name(somebody):
    assert name_at("common/rows.cuh") == "rows.cuh"
    assert name_at("common/bfs.cuh") == "common.bfs.cuh"
    assert name_at("somebody/kernels/rows.cuh") == "somebody.kernels.rows.cuh"
    assert text_of("somebody.kernels.one.py") == FILES["kernels/one.py"]
    assert module_of("somebody.kernels.one_pack").One.field_types == {"out": "long long *"}


def test_headers_stand_in_the_text_once_and_lines_keep_their_numbers(somebody):
    assert cuda_source("somebody.kernels.one").splitlines() == [
        '#include "common/common.cuh"',
        '#line 1 "somebody/shared/two.cuh"',
        "",
        "__device__ long long one() { return 1; }",
        "",
        '#line 3 "one.cu"',
        "",
        "struct One { long long * out; };",
        'extern "C" __global__ void ones(long long n, long long * a_out) { const One a{a_out}; '
        "GD_FOR(i, n) a.out[i] = one(); }",
    ]


def test_what_is_missing_is_named(somebody):
    kernels = get_backend("cpu").kernels
    with pytest.raises(MissingDependency, match=r"kernels nobody.kernels.one need the package nobody, which is not"):
        kernels("nobody.kernels.one")
    with pytest.raises(KernelError, match=r"somebody.kernels.two need the file two.py, which the package somebody.ker"):
        kernels("somebody.kernels.two")
    (somebody / "kernels" / "one.cu").unlink()
    with pytest.raises(KernelError, match=r'need the file one.cu, .* does not have; .* package data "\*.cu" and'):
        cuda_source("somebody.kernels.one")
    with pytest.raises(MissingDependency, match="need the package nobody"):
        text_of("nobody.kernels.one.cu")
    (somebody / "kernels" / "one.py").write_text("import no_such_module\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        kernels("somebody.kernels.one")


def test_twins_are_kept_by_a_digest_of_all_that_is_in_them(somebody, monkeypatch):
    def digest() -> str:
        return kept.named.__wrapped__("somebody.kernels.one")

    first = digest()
    assert first.startswith("somebody.kernels.one-")
    (somebody / "shared" / "other.py").write_text("# of nobody\n")
    assert digest() == first
    found = {first}
    for name in ("kernels/one.py", "kernels/one_pack.py", "shared/two.py"):
        (somebody / name).write_text(FILES[name] + "# another\n")
        found.add(digest())
    kept.digest.cache_clear()
    with monkeypatch.context() as patch:
        # The installed sources are not to be written to.
        patch.setattr(kept, "text_of", lambda name: text_of(name) + ("# another\n" if name == "hash.py" else ""))
        found.add(digest())
    kept.digest.cache_clear()
    assert len(found) == 5


def test_numba_is_told_where_they_are_kept(somebody, tmp_path, monkeypatch, host):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    host.numba(CACHE_DIR="")
    ones = module_of("somebody.kernels.one").ones
    place = kept.ByDigest.from_function(ones.py_func, str(somebody / "kernels" / "one.py"))
    assert place.get_cache_path().endswith(kept.named("somebody.kernels.one"))


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("No module named 'a.b'"), Exception("ModuleNotFoundError(\"No module named 'a.b'\")")]
)
def test_a_worker_without_a_package_is_named(error):
    said = str(with_what_to_do(error, "tcp://1.2.3.4:5"))
    assert said.startswith("the worker tcp://1.2.3.4:5 has no module a.b; install the package")
    assert with_what_to_do(other := ValueError("No module named 'a'"), "tcp://1.2.3.4:5") is other
