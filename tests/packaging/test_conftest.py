"""The rules of tests/conftest.py: skips say why, one seed decides order and random numbers, and failures show it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import pytest
import slices
from quiet import hold, load, processors
from source_tree import ROOT

TESTS = """
import pytest

@pytest.mark.gpu
def test_one(): ...

@pytest.mark.multigpu
def test_two(): ...

@pytest.mark.multigpu(4)
def test_four(): ...

def test_data(shared_data): ...

def test_random(rng):
    raise AssertionError(f"drew {rng.integers(1 << 30)}")

@pytest.mark.parametrize("i", range(20))
def test_order(i): ...

@pytest.mark.slow
@pytest.mark.parametrize("i", range(3))
def test_long(i): ...

@pytest.mark.learn
@pytest.mark.parametrize("i", range(2))
def test_learning(i): ...
"""
WHOLE = ("-o", "testpaths=tests", "-n", "0")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run TESTS beside a copy of conftest.py with a seed, on a host without devices; return what pytest prints."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    (folder / "helpers").mkdir()
    shutil.copy(ROOT / "tests" / "helpers" / "slices.py", folder / "helpers")
    (folder / "tests" / "test_rules.py").write_text(TESTS)
    (folder / "tests" / "test_more.py").write_text("def test_more(): ...\n")
    markers = "    gpu: one\n    multigpu: several\n    slow: long\n    learn: PyTorch\n"
    settings = f"[pytest]\npythonpath = helpers\nmarkers =\n{markers}"
    (folder / "pytest.ini").write_text(settings)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-ra",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
    ]

    def run_with(seed: int, *options: str, number: str = "", code: int = 1) -> str:
        environment = os.environ | {
            "GRAPHDASK_TEST_SEED": str(seed),
            "GRAPHDASK_TEST_SLICE": number,
            "CUDA_VISIBLE_DEVICES": "",
            "COLUMNS": "200",
        }
        done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=folder, env=environment)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr * (code > 1)

    return run_with


@pytest.fixture(scope="module")
def printed(run):
    """What a run with seed 7 prints."""
    return run(7)


@pytest.mark.parametrize(
    "reason",
    [
        r"needs 1 CUDA device, found 0 \(.+\)",
        r"needs 2 CUDA devices, found 0 \(.+\)",
        r"needs 4 CUDA devices, found 0 \(.+\)",
        r"needs the folder \.\./shared/data beside the repository",
    ],
)
def test_a_skipped_test_says_why(printed, reason):
    assert re.search(rf"SKIPPED \[1\] .*{reason}", printed)


def test_the_seed_stands_in_the_header_and_beside_a_failure(printed):
    assert "graphdask: GRAPHDASK_TEST_SEED=7, all tests\n" in printed
    assert "repeat with GRAPHDASK_TEST_SEED=7\n" in printed


def order(printed: str) -> list[str]:
    return re.findall(r"::test_order\[(\d+)\] PASSED", printed)


@pytest.mark.slow
def test_a_seed_repeats_order_and_draws(run, printed):
    again, other = run(7), run(8)
    drawn = [re.search(r"AssertionError: (drew \d+)", text)[1] for text in (printed, again, other)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert order(printed) == order(again) != order(other)
    assert sorted(order(printed)) == sorted(order(other)) == sorted(map(str, range(20)))


@pytest.mark.slow
def test_processes_that_share_the_tests_run_each_once_and_draw_the_same(run, printed):
    pytest.importorskip("xdist", reason="needs pytest-xdist, which the extra 'test' installs")
    shared = run(7, "-n", "2")
    passed = re.findall(r"PASSED \S+::(test_more|test_order\[\d+\]) ", shared)
    assert sorted(passed) == sorted(["test_more", *(f"test_order[{i}]" for i in range(20))])
    drawn = [re.search(r"AssertionError: (drew \d+)", text)[1] for text in (printed, shared)]
    assert drawn[0] == drawn[1]


@pytest.mark.slow
@pytest.mark.parametrize("processes", ["0", "2"])
def test_a_path_that_is_not_there_ends_the_run_with_an_error(run, processes):
    pytest.importorskip("xdist", reason="needs pytest-xdist, which the extra 'test' installs")
    said = run(7, "-n", processes, "tests/missing.py", "tests/test_more.py", code=pytest.ExitCode.USAGE_ERROR)
    assert "file or directory not found: tests/missing.py" in said


@pytest.mark.slow
@pytest.mark.skipif(processors() < 2, reason="needs two processors")
def test_the_whole_suite_runs_on_all_processors(run, printed):
    pytest.importorskip("xdist", reason="needs pytest-xdist, which the extra 'test' installs")
    whole = run(7, "-o", "testpaths=tests")
    assert set(re.findall(r"^\[(gw\d)\]", whole, re.MULTILINE)) >= {"gw0", "gw1"}
    for alone in (printed, run(7, *WHOLE)):
        assert "[gw0]" not in alone


@pytest.mark.slow
def test_ten_slices_hold_every_test(run):
    seen = Counter()
    for number in range(10):
        printed = run(7, *WHOLE, number=str(number))
        assert f"slice {number} of 10 (pytest --all runs all tests)" in printed
        matrix = order(printed)
        assert len(matrix) == 2
        seen.update([*matrix, *re.findall(r"::(test_more) PASSED", printed)])
        seen.update(re.findall(r"::(test_long\[\d\]) PASSED", printed))
    assert seen.keys() == {*map(str, range(20)), "test_more", *(f"test_long[{i}]" for i in range(3))}
    assert [seen["test_more"], seen["test_long[0]"], seen["test_long[1]"]] == [10, 1, 1]


def test_a_slice_has_cases_of_the_same_types_and_slow_cases_of_the_same_test():
    assert slices.types_of("test[isolated vertices-single-3]") == ("single",)
    assert slices.types_of("test[int64 in int32-above zero]") == ("64", "above zero", "int32", "int64")
    named = [(f"test_{test}[{case}]", f"test_{test}") for test in range(20) for case in range(3)]
    dealt = slices.dealt([*named, ("test_alone[0]", ""), ("test_alone[1]", "")])
    assert len(dealt) == 62
    places = [dealt.index(name) for name, _ in named]
    assert all(places[k : k + 3] == [*range(places[k], places[k] + 3)] for k in range(0, 60, 3))


def test_tests_of_pytorch_are_in_the_slice_that_installs_it(run):
    assert f"\n  *{slices.LEARN} | all) step" in (ROOT / ".ci" / "run").read_text()
    for number in (slices.LEARN, slices.LEARN + 1):
        said = re.findall(r"::(test_learning\[\d\]) (?:PASSED|SKIPPED)", run(7, *WHOLE, number=str(number)))
        assert sorted(said) == ["test_learning[0]", "test_learning[1]"] * (number == slices.LEARN)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(*WHOLE, "--all"), (*WHOLE, "-m", "not gpu"), ("tests/test_rules.py",)])
def test_all_tests_run_on_request_and_where_some_are_named(run, options):
    assert sorted(order(run(7, *options, number="3"))) == sorted(map(str, range(20)))


def test_a_figure_fails_only_where_the_machine_was_quiet():
    hold(1.0, 2.0, "seeing it", "")
    hold(1.0, 2.0, "seeing it", "others ran")
    with pytest.raises(pytest.skip.Exception, match=r"seeing it took 3\.00 s, promised are 2 s, .* others ran"):
        hold(3.0, 2.0, "seeing it", "others ran")
    with pytest.raises(pytest.fail.Exception, match=r"seeing it took 3\.00 s.* was quiet"):
        hold(3.0, 2.0, "seeing it", "")


def test_a_machine_whose_processors_are_busy_is_not_quiet():
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * processors())]
    try:
        assert "of a processor, below 90%" in load()
    finally:
        for process in spinning:
            process.kill()
            process.wait()
