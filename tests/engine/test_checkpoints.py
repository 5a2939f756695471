"""A run goes on from its last whole checkpoint, on any number of ranks, with the same bits; others are refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.label_propagation import LabelPropagation
from graphdask.algorithms.pagerank import PageRank, SinglePageRank
from graphdask.engine.checkpoint_files import Damaged, Folder, Manifest, decoded_number, encoded_number

STOPS = 23
"""The iteration in which a run breaks down."""


class Broken(Exception):
    pass


class Breaking(PageRank):
    """Breaks down in an iteration."""

    def superstep(self, part, state, inbox, env):
        if state.iterations == STOPS:
            raise Broken
        return super().superstep(part, state, inbox, env)


class BreakingSingle(SinglePageRank, Breaking):
    pass


def graph(weighted=False, seed=7):
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, 500, 1500), rng.integers(0, 450, 1500)
    return gd.from_edges(src, dst, rng.random(1500) if weighted else None, num_vertices=500)


def broken(G, folder, kind=Breaking, every=6, **arguments):
    with pytest.raises(Broken):
        execute.run(G, kind(0.85, 1e-10, 500, **arguments), checkpoint=folder, every=every)
    return folder


def names(folder):
    return sorted(each.name for each in Path(folder).iterdir())


@pytest.mark.parametrize("resumed", [1, 2, 3, 4])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_a_run_is_resumed_on_any_number_of_ranks(parts, resumed, tmp_path):
    by = "random" if resumed == 3 else "range"
    broken(graph().partition(parts, by="random" if parts == 3 else "range"), tmp_path)
    r = gd.pagerank(graph().partition(resumed, by=by), checkpoint=tmp_path, every=1000)
    expected = gd.pagerank(graph().partition(1))
    np.testing.assert_array_equal(r.rank, expected.rank)
    assert (r.iterations, r.residual) == (expected.iterations, expected.residual)
    assert r.stats.checkpoints == {"resumed": 18, "source": "files", "written": 0, "nbytes": 0, "seconds": 0.0}
    assert [step["superstep"] for step in r.stats][:2] == [17, 18]
    assert len(r.stats) == len(expected.stats) - 17
    r.verify()


CASES = {
    "float32": (BreakingSingle, False, {}, {"dtype": "float32"}),
    "weighted": (Breaking, True, {"weighted": True}, {}),
    "self-loops": (Breaking, False, {"self_loops": True}, {"dangling": "self-loop"}),
    "linf": (Breaking, False, {"norm": "linf"}, {"norm": "linf"}),
}


@pytest.mark.parametrize("case", CASES)
def test_other_arguments_are_resumed(case, tmp_path):
    kind, weighted, given, arguments = CASES[case]
    G = graph(weighted)
    broken(G.partition(2), tmp_path, kind, **given)
    r = gd.pagerank(G.partition(3), checkpoint=tmp_path, **arguments)
    assert r.stats.checkpoints["resumed"] == 18
    np.testing.assert_array_equal(r.rank, gd.pagerank(G.partition(1), **arguments).rank)


class BreakingLabels(LabelPropagation):
    """Breaks down in the ninth iteration."""

    def superstep(self, part, state, inbox, env):
        if state.iterations == 8:
            raise Broken
        return super().superstep(part, state, inbox, env)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("parts", "resumed"), [(1, 3), (3, 1), (2, 4)])
def test_label_propagation_is_resumed(parts, resumed, directed, tmp_path):
    ids = np.arange(399)
    G = gd.from_edges(np.r_[ids, ids], np.r_[ids + 1, (7 * ids) % 400], num_vertices=400, directed=directed)
    with pytest.raises(Broken):
        execute.run(G.partition(parts), BreakingLabels(30), checkpoint=tmp_path, every=3)
    r = gd.label_propagation(G.partition(resumed, "random"), 30, checkpoint=tmp_path, every=1000)
    expected = gd.label_propagation(G.partition(1), 30)
    np.testing.assert_array_equal(r.label, expected.label)
    assert (r.iterations, r.stats.checkpoints["resumed"]) == (expected.iterations, 6)
    assert r.iterations > 8
    r.verify()


@pytest.mark.parametrize("name", ["empty", "one vertex", "no edges"])
def test_small_graphs_are_resumed(name, tmp_path):
    n, src, dst, directed = (0, [], [], True) if name == "empty" else GRAPHS[name]()
    G = gd.from_edges(src, dst, num_vertices=n, directed=directed).partition(2)
    first = gd.pagerank(G, checkpoint=tmp_path, every=1)
    again = gd.pagerank(G, checkpoint=tmp_path, every=1)
    np.testing.assert_array_equal(again.rank, first.rank)
    np.testing.assert_array_equal(gd.pagerank(G).rank, first.rank)


def test_a_run_on_a_gpu_is_resumed_on_a_cpu_and_the_other_way_round(tmp_path, monkeypatch):
    from emulated import emulated, stand_in

    stand_in(monkeypatch, emulated())
    expected = gd.pagerank(graph().partition(1, device="cpu")).rank
    for number, (one, other) in enumerate((("cpu", "cuda"), ("cuda", "cpu"))):
        broken(graph().partition(1, device=one), tmp_path / str(number))
        r = gd.pagerank(graph().partition(2, device=other), checkpoint=tmp_path / str(number))
        assert r.stats.checkpoints["resumed"] == 18
        np.testing.assert_array_equal(r.rank, expected)


def test_the_last_two_checkpoints_stay_and_a_call_ends_from_there(tmp_path):
    G = graph().partition(2)
    r = gd.pagerank(G, checkpoint=tmp_path, every=10)
    steps = r.iterations // 10
    assert r.stats.checkpoints["written"] == steps
    assert names(tmp_path) == [f"superstep-{10 * step:012d}" for step in (steps - 1, steps)]
    again = gd.pagerank(G, checkpoint=tmp_path, every=10)
    assert again.stats.checkpoints["resumed"] == 10 * steps
    np.testing.assert_array_equal(again.rank, r.rank)


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


FAULTS = {
    "a bit of a file of values": lambda folder: damage(next(folder.glob("rank-*"))),
    "half a file of values": lambda folder: next(folder.glob("rank-*")).write_bytes(b"half"),
    "no file of values": lambda folder: next(folder.glob("rank-*")).unlink(),
    "a bit of the manifest": lambda folder: damage(folder / "manifest.json"),
    "half a manifest": lambda folder: (folder / "manifest.json").write_bytes(
        (folder / "manifest.json").read_bytes()[:200]
    ),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_checkpoint_before_a_damaged_one_is_used(fault, tmp_path):
    broken(graph().partition(2), tmp_path)
    FAULTS[fault](tmp_path / "superstep-000000000018")
    r = gd.pagerank(graph().partition(3), checkpoint=tmp_path, every=7)
    assert r.stats.checkpoints["resumed"] == 12
    np.testing.assert_array_equal(r.rank, gd.pagerank(graph().partition(1)).rank)
    assert "superstep-000000000018" not in names(tmp_path)


def test_without_a_whole_checkpoint_a_run_begins_anew(tmp_path):
    broken(graph().partition(2), tmp_path)
    for manifest in tmp_path.glob("*/manifest.json"):
        damage(manifest)
    r = gd.pagerank(graph().partition(2), checkpoint=tmp_path)
    assert r.stats.checkpoints["resumed"] == 0
    np.testing.assert_array_equal(r.rank, gd.pagerank(graph().partition(1)).rank)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"damping": 0.8}, "its damping is 0.85, and here it is 0.8"),
        ({"tol": 1e-3}, "its tol is 1e-10, and here it is 0.001"),
        ({"dtype": "float32"}, "its dtype is 'float64', and here it is 'float32'"),
        ({"personalization": {0: 1.0}}, "its personalization is None, and here it is '"),
    ],
)
def test_checkpoints_of_other_arguments_are_refused(arguments, says, tmp_path):
    broken(graph().partition(1), tmp_path)
    with pytest.raises(gd.InputError, match=says):
        gd.pagerank(graph(), checkpoint=tmp_path, **arguments)


@pytest.mark.parametrize("parts", [1, 3])
def test_checkpoints_of_another_graph_are_refused(parts, tmp_path):
    broken(graph().partition(2), tmp_path)
    with pytest.raises(gd.InputError, match=r"its edges is '[0-9a-f]{16}', and here it is '[0-9a-f]{16}'"):
        gd.pagerank(graph(seed=8).partition(parts), checkpoint=tmp_path)
    with pytest.raises(gd.InputError, match="its vertices is 500, and here it is 3"):
        gd.pagerank(gd.from_edges([0, 1], [1, 2]), checkpoint=tmp_path)
    shutil.rmtree(tmp_path)
    broken(graph(weighted=True).partition(2), tmp_path, weighted=True)
    src, dst, weights = graph(weighted=True).edges()
    weights[77] *= 2
    other = gd.from_edges(src, dst, weights, num_vertices=500)
    with pytest.raises(gd.InputError, match=r"its edges is '[0-9a-f]{16}'"):
        gd.pagerank(other.partition(parts), checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"every": "60s"}, "say checkpoint= too"),
        ({"checkpoint": 3}, "checkpoint=3 is neither the path of a folder nor an address"),
        ({"checkpoint": ""}, "checkpoint='' is neither"),
        ({"checkpoint": "nowhere://x"}, "checkpoint='nowhere://x' cannot be used as a folder: Protocol not known"),
        *(
            ({"checkpoint": "x", "every": every}, f"every={every!r} is neither a duration")
            for every in (0, -1, True, 1.5, "", "0s", "60", "fast", "60 days", "0")
            if every != "60"
        ),
    ],
)
def test_what_is_no_checkpoint_is_refused_before_any_work(given, says):
    G = graph()
    with pytest.raises(gd.InputError, match=says):
        gd.pagerank(G, **given)
    assert G.built is None


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(gd.InputError, match="cannot be used as a folder"):
        gd.pagerank(graph(), checkpoint=tmp_path / "file")


def test_what_has_no_checkpoints_is_refused_by_name(tmp_path):
    from graphdask.algorithms.components import ConnectedComponents

    with pytest.raises(gd.Unsupported, match="does not support checkpoints; leave checkpoint= out"):
        execute.run(graph(), ConnectedComponents(), checkpoint=tmp_path)
    with pytest.raises(gd.ArgumentError, match="checkpoint"):
        gd.triangles(graph(), checkpoint=tmp_path)
    with pytest.raises(gd.Unsupported, match="checkpoint= is as it is with method="):
        gd.pagerank(gd.DynamicGraph(graph()), method="nd", checkpoint=tmp_path)
    gd.stream.build(graph(), tmp_path / "g.gdl")
    with pytest.raises(gd.Unsupported, match="BFS of a graph on disk does not support checkpoints"):
        gd.bfs(gd.stream.open(tmp_path / "g.gdl"), 0, checkpoint=tmp_path)


def test_an_address_is_a_folder():
    G = graph().partition(2)
    r = gd.pagerank(G, checkpoint="memory://checkpoints/of/pagerank", every=5)
    again = gd.pagerank(G, checkpoint="memory://checkpoints/of/pagerank", every=5)
    assert again.stats.checkpoints["resumed"] == r.iterations // 5 * 5
    np.testing.assert_array_equal(again.rank, r.rank)


def test_a_full_disk_is_no_error_of_the_run(tmp_path, fault, caplog):
    fault(Folder, "write", OSError(28, "No space left on device"))
    r = gd.pagerank(graph().partition(2), checkpoint=tmp_path, every=5)
    np.testing.assert_array_equal(r.rank, gd.pagerank(graph().partition(1)).rank)
    assert r.stats.checkpoints["written"] == 0
    assert "No space left on device" in caplog.text


@pytest.mark.parametrize("value", [0, 3, -7, 2**60, 0.1, -1e-300, float("inf"), 1e22])
def test_numbers_keep_every_bit(value):
    found = decoded_number(encoded_number(value))
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"\xff", b'{"checkpoint": 1, "checksum": 2}'])
def test_what_is_no_manifest_is_damaged(data):
    with pytest.raises(Damaged):
        Manifest.decoded(data)


def test_a_manifest_says_what_it_is_of(tmp_path):
    broken(graph().partition(2), tmp_path)
    found = json.loads(json.loads((tmp_path / "superstep-000000000018/manifest.json").read_text())["checkpoint"])
    assert found["facts"]["algorithm"] == "PageRank"
    assert found["facts"]["damping"] == 0.85
    assert found["numbers"]["iterations"] == "17"
    assert [each["count"] for each in found["files"]] == [250, 250] or sum(e["count"] for e in found["files"]) == 500


@pytest.mark.parametrize("spoiled", ["cut", "folder"])
def test_a_manifest_that_cannot_be_read_is_named_and_an_earlier_checkpoint_used(spoiled, tmp_path, caplog):
    broken(graph().partition(2), tmp_path)
    last = sorted(tmp_path.glob("*/manifest.json"))[-1]
    if spoiled == "cut":
        last.write_bytes(last.read_bytes()[:100])
    else:
        last.unlink()
        last.mkdir()
    r = gd.pagerank(graph().partition(2), checkpoint=tmp_path, every=1000)
    assert r.stats.checkpoints["resumed"] == 12
    assert "the checkpoint of superstep 18 is left out: " in caplog.text
    np.testing.assert_array_equal(r.rank, gd.pagerank(graph().partition(1)).rank)


@pytest.mark.slow
def test_a_disk_that_takes_no_more_is_no_error_of_the_run(tmp_path):
    """The limit of a file's size stands for a full disk: the first files are written in part."""
    made = f"""
import resource, numpy as np, graphdask as gd
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
G = gd.from_edges(np.arange(999), np.arange(1, 1000), num_vertices=1000).partition(2)
r = gd.pagerank(G, checkpoint={str(tmp_path)!r}, every=5)
print(r.stats.checkpoints["written"], float(r.rank.sum()).hex() == float(gd.pagerank(G).rank.sum()).hex())
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", made], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["0", "True"], done.stderr[-2000:]
    assert "no checkpoint of superstep 5: [Errno 27]" in done.stderr
    assert not list(tmp_path.glob("*/manifest.json"))


FULL = """
import sys, numpy as np, graphdask as gd
G = gd.from_edges(np.arange(39_999), np.arange(1, 40_000), num_vertices=40_000).partition(2)
r = gd.pagerank(G, tol=0, max_iter=30, checkpoint=sys.argv[1], every=2)
resumed = gd.pagerank(G, tol=0, max_iter=30, checkpoint=sys.argv[1], every=1000)
said = r.stats.checkpoints
print(said["written"], said["failed"], resumed.stats.checkpoints["resumed"], (r.rank == resumed.rank).all())
"""


@pytest.mark.slow
def test_a_full_disk_takes_the_next_checkpoint_when_an_old_one_is_removed(tmp_path):
    """A disk with room for two checkpoints, and no third one beside them."""
    apart = ["unshare", "--user", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("needs unshare, and the right to make a file system of one's own")
    mounted = f"mount -t tmpfs -o size=800k tmpfs {tmp_path} && exec {sys.executable} -W ignore -c '{FULL}' {tmp_path}"
    done = subprocess.run([*apart, "sh", "-c", mounted], capture_output=True, text=True, timeout=300)
    written, failed, resumed, same = done.stdout.split()
    assert (int(written), int(failed)) == (8, 7)
    assert int(resumed) >= 28
    assert same == "True"
    assert done.stderr.count("No space left on device") <= 3
