"""What the benchmarks share: which runs count, what a record says, and what a machine cannot do."""

from __future__ import annotations

import numpy as np
import pytest

from graphdask.bench import harness
from graphdask.errors import GraphdaskError, InputError, VerificationError


def test_the_first_call_does_not_count():
    calls, reported = [], []

    def call():
        calls.append(len(calls))
        return len(calls)

    runs = harness.repeat(call, 3, before=lambda: calls.append("before"), each=lambda *of: reported.append(of))
    assert calls == [0, "before", 2, "before", 4, "before", 6]
    assert runs.result == 7
    assert reported == list(zip([3, 5, 7], runs.seconds, strict=True))
    assert len(runs.seconds) == len(runs.cpu) == 3
    assert runs.median == sorted(runs.seconds)[1] > 0
    assert runs.first > 0 == runs.compiled


def test_brief_calls_are_repeated_until_their_median_is_known():
    assert len(harness.repeat(int, 2, oftener=True).seconds) == harness.MANY
    assert len(harness.repeat(int, 1, oftener=True).seconds) == 1


def test_a_generator_of_records_becomes_a_function():
    @harness.recorded
    def run(count):
        """Measure."""
        yield from ({"n": n} for n in range(count))

    reported = []
    assert run(2, each=reported.append) == reported == [{"n": 0}, {"n": 1}]
    assert run(count=1) == [{"n": 0}]
    assert run.__doc__ == "Measure."


def test_records_before_a_failure_are_reported():
    @harness.recorded
    def run():
        yield {"n": 0}
        raise GraphdaskError("no more")

    reported = []
    with pytest.raises(GraphdaskError):
        run(each=reported.append)
    assert reported == [{"n": 0}]


def test_what_is_missing_is_named():
    assert harness.missing("numpy", "nopackage", "none") == "nopackage is not installed"
    assert harness.missing("numpy") == ""
    assert harness.versions("numpy", "numpy")["version"] == f"{np.__version__}, {np.__version__}"


def test_rates_are_those_of_the_median():
    found = harness.of_file(harness.Runs(seconds=[4.0, 1.0, 2.0]), 6_000_000, 8_000_000)
    assert found == {"seconds": 2.0, "mb_per_s": 3.0, "medges_per_s": 4.0, "edges": 8_000_000, "file_mb": 6.0}


def test_a_suite_is_found_by_name_and_device():
    suites = {("quick", "cpu"): 1, ("full", "cpu"): 2}
    assert harness.suite_of(suites, "full", "cpu") == (2, "cpu")
    with pytest.raises(InputError, match="suite='slow' is not one of full, quick"):
        harness.suite_of(suites, "slow", "cpu")


def test_another_answer_is_an_error():
    class Answer:
        columns = ("depth",)

        def __init__(self, *values):
            self._column = lambda name: np.array(values)

    harness.check_columns("bfs", Answer(1, 2), Answer(1, 2))
    with pytest.raises(VerificationError, match="bfs: depth is not what it is in memory"):
        harness.check_columns("bfs", Answer(1, 2), Answer(1, 3))
