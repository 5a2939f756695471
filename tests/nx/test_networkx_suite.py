"""NetworkX's own tests of what the backend has, run with the backend; CONTRIBUTING says how all of them are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import networkx_calls
import pytest

from graphdask.nx import backend  # noqa: F401  # which enters the offers
from graphdask.nx.offered import OFFERS

MODULES = (
    "algorithms.centrality.tests.test_betweenness_centrality",
    "algorithms.centrality.tests.test_closeness_centrality",
    "algorithms.centrality.tests.test_eigenvector_centrality",
    "algorithms.centrality.tests.test_harmonic_centrality",
    "algorithms.centrality.tests.test_katz_centrality",
    "algorithms.components.tests.test_attracting",
    "algorithms.community.tests.test_quality",
    "algorithms.components.tests.test_biconnected",
    "algorithms.components.tests.test_connected",
    "algorithms.components.tests.test_strongly_connected",
    "algorithms.components.tests.test_weakly_connected",
    "algorithms.link_analysis.tests.test_hits",
    "algorithms.link_analysis.tests.test_pagerank",
    "algorithms.shortest_paths.tests.test_generic",
    "algorithms.shortest_paths.tests.test_unweighted",
    "algorithms.shortest_paths.tests.test_weighted",
    "algorithms.tests.test_bridges",
    "algorithms.tests.test_cluster",
    "algorithms.tests.test_core",
    "algorithms.tests.test_dag",
    "algorithms.tests.test_distance_measures",
    "algorithms.tests.test_efficiency",
    "algorithms.tests.test_link_prediction",
    "algorithms.tests.test_wiener",
    "algorithms.tree.tests.test_mst",
    "generators.tests.test_ego",
)
LONG = "test_use_bounds_on_off_consistency or incremental"


@pytest.mark.slow
def test_networkx_tests_pass_with_the_backend_and_call_all_that_it_offers(tmp_path):
    calls, helpers = tmp_path / "calls", Path(networkx_calls.__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "networkx_calls"]
    done = subprocess.run(
        [*command, "-k", f"not ({LONG})", "--pyargs", *(f"networkx.{module}" for module in MODULES)],
        env=os.environ
        | {
            "NETWORKX_TEST_BACKEND": "graphdask",
            "NETWORKX_FALLBACK_TO_NX": "True",
            "NETWORKX_CALLS": str(calls),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(helpers), os.environ.get("PYTHONPATH")])),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert set(calls.read_text().split()) == set(OFFERS)
