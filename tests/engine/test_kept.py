"""Compiled twins are kept for the user's next process, in whatever environment, until a kernel in them changes."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest

from graphdask.kernels import folder_of, kernel_files, module_name, text_of
from graphdask.kernels.common import kept

RUN = """
import graphdask as gd
from graphdask.kernels.core_number import core_number

assert gd.core_number(gd.from_edges([0, 1, 2], [1, 2, 0], directed=False)).core.tolist() == [2, 2, 2]
twins = [each for each in vars(core_number).values() if hasattr(each, "stats")]
print(sum(sum(each.stats.cache_hits.values()) for each in twins), twins[-1].stats.cache_path)
"""


FULL = """
import resource, signal, warnings
import numpy as np
from graphdask.errors import GraphdaskWarning
from graphdask.kernels.common import rows

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, resource.RLIM_INFINITY))
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always", GraphdaskWarning)
    for dtype in (np.int32, np.int64):
        counts = np.zeros(4, np.int64)
        rows.rows_count(3, np.array([0, 2, 2], dtype), counts)
        assert counts.tolist() == [0, 1, 0, 2]
print(*(each.message for each in seen), sep="\\n")
"""


WALK = """
import graphdask as gd

G = gd.from_edges([0, 1, 2], [1, 2, 0]).partition(1, device="cpu")
assert gd.sample.random_walk(G, [0], 3, seed=1).walks.tolist() == [[0, 1, 2, 0]]
"""


@pytest.fixture
def home(tmp_path, monkeypatch, host):
    """The user's cache folder, empty, for this process too."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    host.numba(CACHE_DIR="")
    return tmp_path / "graphdask" / "kernels"


def place(path=None):
    """Where Numba is told to keep the twins of a family, or of a file; None for where it keeps all others."""
    path = path or importlib.import_module(module_name("core_number")).__file__
    found = kept.ByDigest.from_function(place, path)
    return found and found.get_cache_path()


@pytest.mark.slow
def test_the_next_process_compiles_nothing(home):
    hits = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, timeout=300, check=True)
        number, folder = done.stdout.split()
        hits.append(int(number))
        assert folder == str(home / kept.named("core_number"))
    assert hits[0] == 0 < hits[1]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 2000])
def test_a_call_goes_on_where_the_disk_of_the_cache_is_full(home, limit):
    program = FULL.replace("LARGEST", str(limit))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.startswith(f"compiled kernels are not kept in {home}: file too large; every")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("changed", "families"),
    [
        ("core_number.py", {"core_number"}),
        ("sssp_pack.py", {"sssp"}),
        ("paths.py", {"betweenness", "sssp", "stream"}),
        ("prefetch.py", {"bfs", "common", "dynamic", "pagerank", "program", "sssp", "stream"}),
    ],
)
def test_a_change_of_a_kernel_moves_the_families_that_it_is_part_of(changed, families, monkeypatch):
    all_families = {folder_of(name) for name in kernel_files()}
    before = {family: kept.named(family) for family in all_families}
    kept.digest.cache_clear()
    with monkeypatch.context() as patch:
        # The installed sources are not to be written to.
        patch.setattr(kept, "text_of", lambda name: text_of(name) + ("# another\n" if name == changed else ""))
        after = {family: kept.named.__wrapped__(family) for family in all_families}
    kept.digest.cache_clear()
    assert {family for family in all_families if after[family] != before[family]} == families


def test_another_level_of_optimisation_is_kept_apart(host):
    found = set()
    for level in (1, 3):
        host.numba(OPT=level)
        found.add((kept.digest.__wrapped__("text"), kept.digest.__wrapped__(text_of("core_number.py"))))
    assert len({digest for pair in found for digest in pair}) == 4


@pytest.mark.slow
def test_a_kernel_that_numba_cannot_keep_runs(home):
    command = [sys.executable, "-W", "ignore:Cannot cache", "-c", WALK]
    environment = os.environ | {"NUMBA_OPT": "0"}  # such code has addresses in it
    subprocess.run(command, env=environment, timeout=300, check=True)


def test_a_few_digests_stay(home):
    home.mkdir(parents=True, mode=0o700)
    for age in range(6):
        (home / f"core_number-{age}").mkdir()
        os.utime(home / f"core_number-{age}", (10.0 - age, 10.0 - age))
    (home / "bfs-old").mkdir()
    assert place() == str(home / kept.named("core_number"))
    assert {each.name for each in home.iterdir()} == {
        kept.named("core_number"),
        "core_number-0",
        "core_number-1",
        "core_number-2",
        "bfs-old",
    }


def test_other_functions_and_a_folder_of_the_users_choice_are_left_to_numba(home, host):
    assert place(__file__) is None
    assert place() is not None
    host.numba(CACHE_DIR="/somewhere")
    assert place() is None


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_folder_that_others_can_write_to_is_not_used(home):
    home.mkdir(parents=True)
    home.chmod(0o777)
    assert place() is None


def test_without_a_folder_numba_chooses(home, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert place() is None


def test_a_relative_cache_folder_is_not_taken(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    assert kept.cache_folder().is_absolute()
