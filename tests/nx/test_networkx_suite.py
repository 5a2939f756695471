"""NetworkX's own tests of what the backend has, run with the backend."""

from __future__ import annotations

import os
import subprocess
import sys

MODULES = (
    "approximation.tests.test_kcomponents",
    "centrality.tests.test_betweenness_centrality",
    "components.tests.test_connected",
    "components.tests.test_strongly_connected",
    "components.tests.test_weakly_connected",
    "link_analysis.tests.test_pagerank",
    "shortest_paths.tests.test_unweighted",
    "shortest_paths.tests.test_weighted",
    "tests.test_cluster",
    "tests.test_core",
    "tests.test_dag",
)


def test_networkx_tests_pass_with_the_backend(tmp_path):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs"]
    done = subprocess.run(
        [*command, *(f"networkx.algorithms.{module}" for module in MODULES)],
        env=os.environ | {"NETWORKX_TEST_BACKEND": "graphdask", "NETWORKX_FALLBACK_TO_NX": "True"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
