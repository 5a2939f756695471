"""Tests call what is public: they import no private name, and replace few attributes of graphdask, each for a reason.

A test that replaces a method, or imports a name with an underscore, fails when that name changes and not when the
behaviour does. What is replaced here stands for something that the machine does not have: another host, a device, a
library, a worker of another version, or a fault that is planted. The reason is the comment above each of them.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PRIVATE = re.compile(r"^\s*(?:from|import) graphdask[\w.]*(?:\._\w| import (?:.*\W)?_\w)")
FIXTURES_OF_OTHERS = {"two_workers", "shown"}
"""Names of what is not graphdask's, though no import shows it: a client of Dask, a text."""
REPLACES = ("setattr", "delattr", "setitem", "delitem", "patch")
ALLOWED = [
    "algorithms/test_allocation.py: Buffer.empty",
    "algorithms/test_apart.py: ThreadGroup.communicator",
    "algorithms/test_bins.py: bins.Bins.of",
    "algorithms/test_bins.py: rank_layout.binned",
    "algorithms/test_slices.py: row_sums.sliced",
    "algorithms/test_team.py: peers.ThreadPeers.run",
    "algorithms/test_team.py: threads.thread_peers",
    "bench/conftest.py: benchmark.PEERS",
    "bench/conftest.py: suites....",
    "bench/test_generate.py: generate.cases",
    "cluster/test_start.py: abilities.VERSION",
    "cluster/test_start.py: tls.of_this_process....",
    "comm/test_segments.py: backend.kernels",
    "conftest.py: backend....",
    "conftest.py: owner....",
    "engine/test_kernels_outside.py: kept.text_of",
    "engine/test_kept.py: kept.text_of",
    "engine/test_resuming.py: execute.run",
    "gang/test_losses.py: clients.ask_scheduler",
    "gang/test_out_of_memory.py: out_of_memory.ask_scheduler",
    "gang/test_registration.py: cluster.DaskGang.__init__",
    "gang/test_registration.py: cluster.DaskGang.submit",
    "helpers/base_commands.py: function....",
    "helpers/emulated.py: backends.cuda_backends.0",
    "helpers/emulated.py: module.cuda_device_count",
    "helpers/memory.py: kind.free_memory",
    "helpers/outside.py: module.time",
    "helpers/outside.py: owner....",
    "helpers/public_calls.py: function....",
    "helpers/relayed.py: backends.cuda_backends....",
    "helpers/relayed.py: module.cuda_device_count",
    "helpers/relayed.py: threads.ThreadCommunicator._buffer",
    "helpers/relayed.py: threads.ThreadCommunicator.peers",
    "helpers/relayed.py: threads.ThreadCommunicator.peers",
    "io/test_estimate.py: graphdask.io.estimates.column_bytes",
    "sample/test_neighbors.py: graphdask.sample.traversal.Traversal.memory",
    "sample/test_saint.py: induced.edge_bytes",
    "sample/test_streamed_whole.py: streamed_whole.seen_in_place",
    "scale/test_experiment.py: graphdask.cluster.local.local_cluster",
    "selftest/test_fuzz.py: VERIFIERS....",
    "selftest/test_fuzz.py: readers._read",
    "stream/conftest.py: module.copies_of",
    "verify/test_blocks.py: Blocks.__init__",
    "verify/test_blocks.py: SearchTree....",
    "verify/test_edges_by_number.py: generator.block",
    "verify/test_preferential_attachment.py: verify.edges",
]
"""What is replaced, by file. A new one needs a reason that holds for no fixture of `tests/helpers` or `conftest.py`."""


def files() -> list[Path]:
    return sorted(TESTS.rglob("*.py"))


def test_no_private_name_is_imported():
    """Programs that tests start stand in strings, so that lines are searched and not statements."""
    found = [
        f"{path.relative_to(TESTS)}:{number}: {line.strip()}"
        for path in files()
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if PRIVATE.match(line)
    ]
    assert found == []


def replaced(path: Path) -> Iterator[tuple[str, int]]:
    """What a file replaces, unless it is of a module of somebody else; and the line."""
    tree = ast.parse(path.read_text())
    foreign = set(dir(builtins)) | FIXTURES_OF_OTHERS
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            foreign |= {(each.asname or each.name).split(".")[0] for each in node.names if "graphdask" not in each.name}
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("graphdask"):
            foreign |= {each.asname or each.name for each in node.names}
        elif isinstance(node, ast.Assign) and "importorskip" in ast.unparse(node.value):
            foreign.add(ast.unparse(node.targets[0]))
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in REPLACES):
            continue
        target = node.args[0]
        if isinstance(target, ast.Constant):
            if str(target.value).startswith("graphdask"):
                yield str(target.value), node.lineno
            continue
        name = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else "..."
        root = next(each for each in ast.walk(target) if isinstance(each, ast.Name))
        if root.id not in foreign:
            yield f"{ast.unparse(target)}.{name}", node.lineno


def test_few_attributes_are_replaced_and_each_for_a_reason():
    found = []
    for path in files():
        lines = path.read_text().splitlines()
        for what, number in replaced(path):
            found.append(f"{path.relative_to(TESTS)}: {what}")
            assert lines[number - 2].strip().startswith("# "), f"{path}:{number}: {what} is replaced without a reason"
    assert sorted(found) == sorted(ALLOWED)
