"""`graphdask run`: answers of others, in every kind of output, in one process and on workers."""

from __future__ import annotations

import csv
import json

import networkx as nx
import numpy as np
import pyarrow.parquet
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, shortest_path


@pytest.fixture(scope="module")
def slashdot(shared_data):
    """soc-Slashdot0902 as (file, adjacency matrix)."""
    file = shared_data / "social" / "soc-Slashdot0902.txt.gz"
    src, dst = np.loadtxt(file, dtype=np.int64, unpack=True)
    n = int(max(src.max(), dst.max())) + 1
    return file, coo_array((np.ones(len(src), np.int8), (src, dst)), shape=(n, n)).tocsr()


def depths(matrix, source: int) -> np.ndarray:
    """Hops from a vertex by SciPy, -1 where unreachable."""
    order, parent = breadth_first_order(matrix, source)
    depth = np.full(matrix.shape[0], -1)
    depth[source] = 0
    for vertex in order[1:]:
        depth[vertex] = depth[parent[vertex]] + 1
    return depth


@pytest.mark.parametrize("ending", ["parquet", "csv", "txt", "npz"])
def test_depths_and_parents_come_in_the_ids_of_the_file(call, path_graph, tmp_path, ending):
    output = tmp_path / f"depth.{ending}"
    result = call("run", "bfs", path_graph, "--source", "20", "--undirected", "--verify", "--output", output)
    assert result.exit_code == 0, result.output
    if ending == "parquet":
        columns = pyarrow.parquet.read_table(output).to_pydict()
    elif ending == "npz":
        columns = {name: values.tolist() for name, values in np.load(output).items()}
    else:
        lines = output.read_text().splitlines()
        delimiter = "," if ending == "csv" else "\t"
        rows = [[int(cell) for cell in line.split(delimiter)] for line in lines[1:]]
        columns = dict(
            zip(lines[0].removeprefix("# ").split(delimiter), map(list, zip(*rows, strict=True)), strict=True)
        )
    assert columns == {"vertex": [10, 20, 30, 40, 50], "depth": [1, 0, 1, -1, -1], "parent": [20, 20, 20, -1, -1]}


def test_a_search_from_several_vertices_stops_where_it_is_to(call, path_graph, tmp_path):
    output = tmp_path / "depth.csv"
    sources = ("--source", "10", "--source", "40", "--partitions", 2, "--verify", "--overwrite", "--output", output)
    for options, depths in (
        ((), [0, 1, 2, 0, 1]), (("--depth-limit", 1), [0, 1, -1, 0, 1]), (("--targets", 40), [0, -1, -1, 0, -1]),
        (("--targets", 40, "--targets", 30), [0, 1, 2, 0, 1]),
    ):  # fmt: skip
        result = call("run", "bfs", path_graph, *sources, *options, "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["answer"]["source"] == ["10", "40"]
        with output.open() as file:
            assert [int(row["depth"]) for row in csv.DictReader(file)] == depths
    assert "--depth-limit HOPS" in call("run", "bfs", "--help").stdout


def test_shortest_paths_come_in_the_ids_of_the_file(call, tmp_path):
    file, output = tmp_path / "roads.txt", tmp_path / "distance.csv"
    file.write_text("10 20 7\n10 30 2\n30 20 4\n40 10 1\n")
    options = ("--weights", "--partitions", 2, "--delta", 3, "--verify", "--output", output)
    result = call("run", "sssp", file, "--source", 10, *options)
    assert result.exit_code == 0, result.output
    assert "reached 3 of 4 vertices, largest distance 6" in result.stdout
    assert output.read_text() == "vertex,distance,parent\n10,0,10\n20,6,30\n30,2,10\n40,-1,-1\n"
    file.write_text("10 20 7\n10 30 -2\n")
    result = call("run", "sssp", file, "--source", 10, "--weights")
    assert result.exit_code == 2
    assert "the weight -2 of the edge from 10 to 30 is negative" in " ".join(result.stderr.split())


def test_strong_components_come_in_the_ids_of_the_file(call, tmp_path):
    file, output = tmp_path / "web.txt", tmp_path / "label.csv"
    file.write_text("20 10\n10 30\n30 20\n30 40\n50 10\n")
    result = call("run", "strong", file, "--directed", "--partitions", 2, "--verify", "--output", output)
    assert result.exit_code == 0, result.output
    assert "3 components, the largest of 3 vertices" in result.stdout
    assert output.read_text() == "vertex,label\n10,10\n20,10\n30,10\n40,40\n50,50\n"
    undirected = json.loads(call("run", "strong", file, "--undirected", "--json").stdout)
    assert undirected["answer"] == {"components": 1, "largest": 5, "largest_label": 10}


def test_an_output_is_replaced_whole_and_leaves_nothing_beside_it(call, path_graph, tmp_path):
    output = tmp_path / "label.csv"
    output.write_text("old")
    refused = call("run", "components", path_graph, "--output", output)
    assert refused.exit_code == 2
    assert "label.csv exists; add --overwrite to replace it, or name another" in " ".join(refused.stderr.split())
    assert output.read_text() == "old"
    assert call("run", "components", path_graph, "--output", output, "--overwrite").exit_code == 0
    assert output.read_text() == "vertex,label\n10,10\n20,10\n30,10\n40,40\n50,40\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["label.csv", "path.txt"]


def test_string_ids_come_back_as_given(call, tmp_path):
    file, output = tmp_path / "names.csv", tmp_path / "depth.csv"
    file.write_text("ann,bob\nbob,cid\ndan,ann\n")
    result = call("run", "bfs", file, "--source", "ann", "--output", output)
    assert result.exit_code == 0, result.output
    with output.open(newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows == [
        ["vertex", "depth", "parent"], ["ann", "0", "ann"], ["bob", "1", "ann"], ["cid", "2", "bob"], ["dan", "-1", ""],
    ]  # fmt: skip


def test_json_is_one_object_with_the_answer_and_the_statistics(call, path_graph):
    result = call("run", "bfs", path_graph, "--source", "10", "--verify", "--json", "--partitions", "3")
    record = json.loads(result.stdout)
    assert record["answer"] == {"source": "10", "reached": 3, "vertices": 5, "max_depth": 2}
    assert (record["vertices"], record["edges"], record["directed"], record["verified"]) == (5, 3, True, True)
    assert record["stats"]["ranks"] == 3
    assert [step["step"] for step in record["steps"]] == [
        "read",
        "partition",
        "bfs from 10",
        "gather",
        "verify graph",
        "verify answer",
    ]


def test_json_says_what_was_not_verified(call, path_graph):
    assert json.loads(call("run", "components", path_graph, "--json").stdout)["verified"] is None


def test_what_to_do_with_parallel_edges_and_loops_is_done(call, tmp_path):
    file = tmp_path / "multi.txt"
    file.write_text("1 2\n1 2\n2 2\n")
    kept = json.loads(call("run", "components", file, "--json").stdout)
    cleaned = json.loads(
        call("run", "components", file, "--json", "--self-loops", "drop", "--multi-edges", "merge").stdout
    )
    assert (kept["edges"], cleaned["edges"]) == (3, 1)
    assert call("run", "components", file, "--self-loops", "error").exit_code == 2
    assert call("run", "components", file, "--multi-edges", "error").exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--ghosts", "all", "--exchange", "broadcast", "--by", "random"]])
def test_the_answer_in_this_process_is_scipys(call, slashdot, options, tmp_path):
    file, matrix = slashdot
    output = tmp_path / "depth.npz"
    result = call("run", "bfs", file, "--source", 7, "--verify", "--partitions", 3, "--output", output, *options)
    assert result.exit_code == 0, result.output
    with np.load(output) as columns:
        assert np.array_equal(columns["depth"], depths(matrix, 7))
        assert np.array_equal(columns["vertex"], np.arange(matrix.shape[0]))


@pytest.mark.parametrize(("scheme", "shown"), [("just-enough", "just-enough"), ("1.0", "fixed 1"), ("maximal",) * 2])
def test_queues_are_allocated_as_asked_for_and_what_they_took_is_reported(call, tmp_path, scheme, shown):
    file = tmp_path / "star.txt"
    file.write_text("0 1\n" + "".join(f"1 {leaf}\n" for leaf in range(2, 8_000)) + "0 8000\n8000 8001\n8002 8003\n")
    where = (
        "--source",
        0,
        "--undirected",
        "--partitions",
        1,
        "--device",
        "cpu",
        "--direction",
        "push",
        "--allocation",
        scheme,
    )
    reported = call("run", "bfs", file, *where)
    assert reported.exit_code == 0, reported.output
    assert f"memory      {shown}: " in reported.stdout
    stats = json.loads(call("profile", "bfs", file, *where, "--json").stdout)["stats"]
    assert stats["allocation"] == shown
    assert 0 < stats["allocated_start"] <= stats["allocated_end"]
    assert (stats["growths"] > 0) == (scheme == "just-enough") == ("grown" in reported.stdout)
    assert f"{shown}: " in call("profile", "bfs", file, *where).stdout


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("bfs", "--source", 10, "--allocation", "enough"), 2, "neither maximal, just-enough nor fixed"),
        (("bfs", "--source", 10, "--allocation", "1.5"), 2, "a share above 0 and up to 1"),
        (("bfs", "--source", 10, "--allocation", "0.1", "--undirected"), 1, "use --allocation"),
        (("core", "--allocation", "fixed", "--undirected"), 2, "core number does not support a fixed allocation"),
        (("pagerank", "--allocation", "fixed"), 2, "No such option"),
    ],
)
def test_an_allocation_that_cannot_be_is_refused(call, path_graph, options, code, said):
    result = call("run", options[0], path_graph, *options[1:], "--partitions", 1, "--device", "cpu")
    assert result.exit_code == code
    assert " ".join(said.split()) in " ".join(result.stderr.split())


@pytest.mark.slow
def test_the_program_runs_on_workers_and_writes_what_scipy_finds(program, slashdot, tmp_path):
    file, matrix = slashdot
    done = program("run", "bfs", file, "--source", "0", "--workers", "2", "--verify", "--output", "depth.parquet")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "82,168 vertices, 948,464 edges, directed" in done.stdout
    assert "verified    yes" in done.stdout
    depth = pyarrow.parquet.read_table(tmp_path / "depth.parquet")["depth"].to_numpy()
    assert np.array_equal(depth, depths(matrix, 0))


@pytest.mark.slow
def test_components_on_a_cluster_that_runs_elsewhere_are_scipys(call, slashdot, tmp_path):
    from graphdask.cluster.local import local_cluster

    file, matrix = slashdot
    with local_cluster(2, "cpu") as client:
        client.write_scheduler_file(str(tmp_path / "s.json"))
        result = call("run", "components", file, "--verify", "--json", "--scheduler-file", tmp_path / "s.json")
        address = client.scheduler.address
        again = call("run", "components", file, "--json", "--scheduler", address)
    record = json.loads(result.stdout)
    number, labels = connected_components(matrix, connection="weak")
    assert record["answer"]["components"] == number
    assert record["answer"]["largest"] == np.bincount(labels).max()
    assert record["stats"]["ranks"] == 2
    assert json.loads(again.stdout)["answer"] == record["answer"]


def test_ranks_are_networkxs(call, tmp_path):
    rng = np.random.default_rng(1)  # fixed: of two that nearly share the highest rank rounding picks one
    file, output = tmp_path / "weighted.txt", tmp_path / "rank.npz"
    edges = [(int(a), int(b), float(w)) for a, b, w in rng.integers(1, 40, (150, 3))]
    file.write_text("".join(f"{a} {b} {w}\n" for a, b, w in edges))
    result = call("run", "pagerank", file, "--damping", 0.7, "--tol", 1e-14, "--weights", "--verify",
                  "--output", output)  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "residual" in result.stdout
    assert "pagerank" in result.stdout
    g = nx.MultiDiGraph()
    g.add_weighted_edges_from(edges)
    expected = nx.pagerank(g, 0.7, tol=1e-15, max_iter=500)
    with np.load(output) as columns:
        np.testing.assert_allclose(columns["rank"], [expected[v] for v in columns["vertex"]], rtol=1e-9)
    plain = nx.pagerank(g, tol=1e-15, max_iter=500, weight=None)
    record = json.loads(call("run", "pagerank", file, "--weights", "--unweighted", "--tol", 1e-14,
                             "--partitions", 3, "--json").stdout)  # fmt: skip
    best = max(plain, key=plain.get)
    assert record["answer"]["highest"] == best
    assert record["answer"]["highest_rank"] == pytest.approx(plain[best], rel=1e-9)
    assert record["answer"]["converged"]
    assert record["answer"]["iterations"] == len(record["stats"]["supersteps"]) - 1


def test_ranks_are_personal_and_stop_as_asked(call, tmp_path):
    file = tmp_path / "names.txt"
    edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "a")]
    file.write_text("".join(f"{u} {v}\n" for u, v in edges))
    where = ("--personalize", "d=3", "--personalize", "b", "--verify", "--json")
    answer = json.loads(call("run", "pagerank", file, *where, "--norm", "linf", "--tol", 1e-13).stdout)["answer"]
    expected = nx.pagerank(nx.DiGraph(edges), personalization={"d": 3, "b": 1}, tol=1e-15, max_iter=500)
    assert answer["highest"] == max(expected, key=expected.get)
    assert answer["highest_rank"] == pytest.approx(max(expected.values()), rel=1e-9)
    assert answer["residual"] <= 1e-13
    single = json.loads(call("run", "pagerank", file, *where, "--dtype", "float32", "--error", 1e-3).stdout)["answer"]
    assert single["highest_rank"] == pytest.approx(max(expected.values()), abs=1e-3)
    assert single["iterations"] < answer["iterations"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--personalize", "0=x"), "--personalize '0=x' ends in 'x', which is no number; write ID=WEIGHT"),
        (("--personalize", "0", "--personalize", "0=2"), "--personalize names the vertex 0 twice"),
        (("--personalize", "10=0"), "personalization sums to 0.0"),
        (("--personalize", "99"), "personalization vertex 99 is not in the graph"),
        (("--personalize", "a"), "--personalize 'a' is not a whole number"),
        (("--tol", "0.1", "--error", "0.1"), "--tol 0.1 and --error 0.1 both say when to stop"),
        (("--norm", "linf", "--error", "0.1"), "leave --norm linf out, or say --tol"),
    ],
)
def test_ways_to_stop_and_to_start_that_cannot_be_are_refused(call, path_graph, options, said):
    result = call("run", "pagerank", path_graph, *options)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_ranks_that_did_not_converge_are_said_to(call, path_graph):
    result = call("run", "pagerank", path_graph, "--max-iter", 2, "--dangling", "self-loop")
    assert "warning: pagerank stopped after --max-iter 2 iterations" in " ".join(result.stderr.split())
    assert result.exit_code == 0
    assert "2 iterations, residual 0." in result.stdout
    assert "(not converged)" in result.stdout


def test_shortest_paths_of_one_step_are_depths(call, tmp_path, rng):
    src, dst = rng.integers(0, 60, (2, 90))
    file, output = tmp_path / "random.txt", tmp_path / "depth.npz"
    file.write_text("".join(f"{a} {b}\n" for a, b in zip(src, dst, strict=True)))
    result = call("run", "bfs", file, "--source", src[0], "--undirected", "--partitions", 4, "--output", output)
    assert result.exit_code == 0, result.output
    matrix = coo_array((np.ones(90), (src, dst)), shape=(60, 60)).tocsr()
    expected = shortest_path(matrix, directed=False, unweighted=True, indices=src[0])
    with np.load(output) as columns:
        wanted = expected[columns["vertex"]]
        assert np.array_equal(columns["depth"], np.where(np.isinf(wanted), -1, wanted))


@pytest.mark.parametrize(
    ("algorithm", "options", "column", "values", "answer"),
    [
        ("triangles", ["--undirected"], "count", [1, 1, 1, 0, 0], {"triangles": 1, "largest_count": 1, "at": 10}),
        ("lcc", [], "coefficient", [0.5, 0.5, 1 / 6, 0.0, 0.0], {"largest_coefficient": 0.5, "at": 10}),
        ("core", ["--undirected"], "core", [2, 2, 2, 1, 1], {"degeneracy": 2, "vertices": 3}),
        ("cdlp", ["--iterations", "1"], "label", [20, 10, 10, 30, 40], {"communities": 4, "iterations": 1}),
    ],
)
def test_neighbourhoods_come_in_the_ids_of_the_file(call, tmp_path, algorithm, options, column, values, answer):
    file, output = tmp_path / "edges.txt", tmp_path / "values.npz"
    file.write_text("10 20\n20 30\n30 10\n30 40\n40 50\n")
    arguments = ("--partitions", "3", "--verify", "--output", output, *options)
    result = call("run", algorithm, file, *arguments, "--json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert record["verified"] is True
    assert answer.items() <= record["answer"].items()
    with np.load(output) as columns:
        assert columns["vertex"].tolist() == [10, 20, 30, 40, 50]
        np.testing.assert_array_equal(columns[column], values)
    assert call("run", algorithm, file, *arguments, "--overwrite").exit_code == 0


@pytest.mark.parametrize("algorithm", ["triangles", "core"])
def test_a_directed_file_is_refused_where_directions_mean_nothing(call, path_graph, algorithm):
    result = call("run", algorithm, path_graph)
    assert result.exit_code == 2
    assert "--undirected" in result.stderr
