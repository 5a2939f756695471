"""The generator benchmark measures what it says, checks what is made, and says why it left something out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from memory import uncounted

import graphdask as gd
from graphdask.bench import generate
from graphdask.bench.generation import peers
from graphdask.bench.generation.cases import EXPERIMENTS, Case, cases
from graphdask.bench.generation.figures import draw
from graphdask.bench.generation.timing import measure
from graphdask.bench.generation.work import work_of
from graphdask.cli import cli
from graphdask.device.backend import get_backend
from graphdask.errors import InputError, OverBudget, VerificationError

CPU = get_backend("cpu")
TINY = [
    Case("rate", "cuPPA-Hash", 5000, 4, 0.5), Case("rate", "cuPPA", 2000, 2, 0.5), Case("rate", "R-MAT", 1024, 4),
    Case("rate", "G(n, m)", 1000, 4), Case("vertices", "cuPPA-Hash", 500, 4, 0.5),
    Case("vertices", "cuPPA-Hash", 1000, 4, 0.5), Case("degree", "cuPPA-Hash", 500, 1, 0.1),
    Case("probability", "cuPPA", 500, 2, 0.0), Case("probability", "cuPPA", 500, 2, 1.0),
    Case("scaling", "cuPPA-Hash", 5000, 4, 0.5, devices=1), Case("scaling", "cuPPA-Hash", 5000, 4, 0.5, devices=2),
]  # fmt: skip


@pytest.fixture
def tiny(monkeypatch, compared_with, host):
    # The suites of users take minutes.
    monkeypatch.setattr(generate, "cases", lambda suite, chosen: TINY)
    compared_with(peers)
    host.cores(2)


def test_the_suites_have_the_sizes_of_the_paper():
    paper = cases("paper")
    assert {(c.n, c.degree) for c in paper if c.experiment == "scaling"} == {(10**9, 4), (2 * 10**9, 8)}
    assert {c.p for c in paper if c.experiment == "rate" and c.n == 500_000_000} >= {0.01, 0.5, 1.0}
    assert sum(c.n * c.degree for c in cases("quick")) < sum(c.n * c.degree for c in paper) / 250
    assert {c.experiment for c in cases("quick")} == set(EXPERIMENTS)


@pytest.mark.slow
def test_every_case_has_a_record_with_its_rate(tiny, tmp_path):
    records = generate.run(repeats=1, device="cpu", plot=tmp_path)
    own = [record for record in records if record["experiment"] != "peers"]
    assert [(r["experiment"], r["generator"], r["n"]) for r in own] == [(c.experiment, c.generator, c.n) for c in TINY]
    for record in records:
        assert record["edges_per_second"] == pytest.approx(record["edges"] / record["seconds"])
        assert record["bytes_per_second"] == pytest.approx(record["edges_per_second"] * record["bytes_per_edge"])
        assert record["seconds_least"] <= record["seconds"]
    alone, both = (record for record in records if record["experiment"] == "scaling")
    assert (alone["speedup"], both["devices"]) == (1, 2)
    assert both["speedup"] == pytest.approx(alone["seconds"] / both["seconds"])
    drawn = {path.name for path in tmp_path.iterdir()}
    assert drawn == {
        "rate.png", "peers.png", "scaling.png", "vertices-cuppa-hash.png", "degree-cuppa-hash.png",
        "probability-cuppa.png",
    }  # fmt: skip


def test_what_this_machine_cannot_run_is_said_once(host, fault):
    host.cores(2)
    fault(generate, "measure", AssertionError("measured"))
    threads = generate.run("tiny", experiments=("threads",), device="cpu")
    assert [record["skipped"] for record in threads] == ["needs a GPU: on the CPU threads of cuPPA are simulated"]
    planned = generate._planned("tiny", ("scaling",), "cpu", 1, None, 4, 0.5)
    assert [case.devices for case in planned] == [1, 1, 2, 3, 4]
    record = generate._measured(planned[-1], "cpu", 1, 1)
    assert record["skipped"] == "needs 4 cores; 1 are here or allowed"


def test_of_records_that_were_skipped_nothing_is_drawn(tmp_path):
    skipped = [{"experiment": "rate", "generator": "cuPPA", "device": "CPU", "skipped": "no memory"}]
    assert draw(skipped, tmp_path) == []


@pytest.mark.parametrize("generator", ["cuPPA-Hash", "cuPPA", "R-MAT", "G(n, m)"])
def test_edges_that_are_not_those_of_the_definition_are_noticed(generator):
    work = work_of(Case("rate", generator, 4096, 4, 0.5))
    made = work.block(CPU, 0, 1)
    work.check(CPU, made, 0, 1)
    made[0][100] += 1
    with pytest.raises(VerificationError, match=r"CPU made (an)?other"):
        work.check(CPU, made, 0, 1)


def test_a_share_larger_than_half_of_the_free_memory_is_streamed_in_blocks(free_memory):
    work = work_of(Case("rate", "cuPPA-Hash", 1_000_000, 4, 0.5))
    free_memory(8_000_000)
    found = measure(work, [CPU, CPU], repeats=2)
    assert found.blocks == 4
    assert found.held_bytes == pytest.approx(16_000_000 / 4, rel=0.01)


def test_no_memory_at_all_is_a_reason_to_skip(free_memory):
    free_memory(1000)
    with pytest.raises(OverBudget, match="1000 bytes are free on CPU"):
        measure(work_of(TINY[0]), [CPU], repeats=1)
    record = generate._measured(TINY[0], "cpu", 1, 1)
    assert record["skipped"].startswith("1000 bytes are free")


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.usefixtures("alone")
def test_memory_stays_within_a_tenth_of_the_output(free_memory, blocks):
    # 256 MiB; smaller blocks come from malloc's reserves, of which the system knows nothing.
    free_memory((2 << 28) // blocks + 2)  # half of which a block takes
    found = measure(work_of(Case("rate", "cuPPA-Hash", 1 << 24, 4, 1.0)), [CPU], repeats=1)
    assert found.peak_bytes is not None
    assert 0.9 * found.held_bytes - uncounted() < found.peak_bytes < 1.1 * found.held_bytes + uncounted()
    assert found.held_bytes == pytest.approx((1 << 28) / blocks, rel=0.01)


def test_a_failure_on_one_device_does_not_leave_the_others_waiting():
    class Failing:
        num_edges, bytes_per_edge, divisible = 1000, 4, True

        def block(self, backend, rank, size):
            if rank:
                raise OverBudget("rank 1 has no memory")
            return (np.zeros(10),)

        def check(self, backend, made, rank, size):
            pass

    with pytest.raises(OverBudget, match="rank 1"):
        measure(Failing(), [CPU, CPU], repeats=1)


def test_a_peer_that_cannot_be_imported_is_named(host):
    host.without("networkx")
    peer = next(peer for peer in peers.PEERS if peer.name == "networkx")
    record = generate._peer(peer, 100, 2, 1)
    assert record["generator"] == "BA by networkx"
    assert record["skipped"].startswith("cannot be imported")


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.title)
def test_peers_make_the_edges_that_they_are_asked_for(peer):
    pytest.importorskip(peers.OWN.get(peer.name, peer.name), exc_type=ImportError)
    n, degree = 1024, 4
    found = peers.measure(replace(peer, most=n), 5000, degree, 1)
    assert found["n"] == n
    # R-MAT may drop parallel edges, G(n, p) draws their number, Barabasi-Albert models begin in different ways.
    assert found["edges"] == pytest.approx(n * degree, rel=0.3 if peer.model == "R-MAT" else 0.1)


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(InputError, match="suite='huge' is not one of tiny, quick, paper"):
        generate.run("huge")
    with pytest.raises(InputError, match="experiment='speed' is not one of rate, "):
        generate.run(experiments=("speed",))
    with pytest.raises(InputError, match="devices=1000 must be from 1 to"):
        generate.run(devices=1000)
    with pytest.raises(InputError, match="repeats=0"):
        generate.run(repeats=0)
    with pytest.raises(InputError, match="n=3 vertices are too few"):
        generate.run(n=3)


@pytest.mark.slow
def test_the_command_line_prints_records_of_a_single_graph():
    asked = ["bench", "generate", "--vertices", "2e3", "--no-peers", "--repeats", "1", "--device", "cpu", "--json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    head, record = map(json.loads, done.stdout.splitlines())
    assert head["arguments"]["n"] == record["n"] == 2000
    assert head["versions"]["graphdask"] == record["version"]
    assert record["generator"] == "cuPPA-Hash"


@pytest.mark.slow
def test_a_run_that_fails_leaves_the_records_before(tiny, fault, tmp_path):
    fault(generate, "_measured", KeyboardInterrupt, lambda case, *more: case.experiment != "rate")
    path = tmp_path / "records.jsonl"
    done = CliRunner().invoke(cli, ["bench", "generate", "--device", "cpu", "--output", str(path)])
    assert done.exit_code == 130
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("record") or line["n"] for line in lines] == ["header", 5000, 2000, 1024, 1000]


@pytest.mark.gpu
@pytest.mark.parametrize("generator", ["cuPPA-Hash", "cuPPA", "R-MAT", "G(n, m)"])
def test_on_a_gpu_memory_stays_within_a_tenth_of_the_output(generator):
    found = measure(work_of(Case("rate", generator, 1 << 24, 4, 0.5)), [get_backend("cuda")], repeats=2)
    assert found.held_bytes <= found.peak_bytes < 1.1 * found.held_bytes


@pytest.mark.gpu
def test_on_a_gpu_every_case_runs(tiny):
    threads = Case("threads", "cuPPA", 20_000, 4, 0.5, threads=1024)
    TINY_GPU = [case for case in TINY if (case.devices or 1) == 1] + [threads]
    records = [generate._measured(case, "cuda", 1, 2) for case in TINY_GPU]
    assert all(record["seconds"] > 0 for record in records)


@pytest.mark.multigpu
def test_two_gpus_make_their_shares_at_the_same_time():
    work = work_of(Case("scaling", "cuPPA-Hash", 10**8, 4, 0.5))
    alone, both = (measure(work, [get_backend("cuda", k) for k in range(size)], 3) for size in (1, 2))
    assert both.median < alone.median / 1.5


@pytest.mark.slow
def test_others_are_measured_beside_as_many_cores_and_each_says_what_it_ends_with():
    records = generate.run("tiny", experiments=("peers",), device="cpu", repeats=1)
    assert {record["devices"] for record in records} == {1}
    products = {record["generator"]: record["product"] for record in records}
    assert (products["cuPPA-Hash"], products["cuPPA-Hash, edges"]) == ("targets", "edges")
    assert (products["BA by networkx"], products["SBA"]) == ("graph", "targets")


def test_both_ends_are_those_of_the_graph():
    work = work_of(Case("peers", "cuPPA-Hash, edges", 300, 4, 0.5, 1))
    src, dst = work.block(get_backend("cpu"), 0, 1)[:2]
    expected = gd.generate.preferential_attachment(300, 4, 0.5, seed=1)
    src_of, dst_of = expected.partition(1, device="cpu").edges("cpu")[:2]
    ends = sorted(zip(np.maximum(src, dst).tolist(), np.minimum(src, dst).tolist(), strict=True))
    assert ends == sorted(zip(np.maximum(src_of, dst_of).tolist(), np.minimum(src_of, dst_of).tolist(), strict=True))
