"""Every format keeps direction, isolated vertices, weights and ids, or warns of what it cannot keep; names that it
cannot hold are refused before anything is written."""

from __future__ import annotations

import csv
import gzip
import random
import shutil
import warnings

import networkx as nx
import numpy as np
import pytest
from tables_of_columns import string_array

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskWarning, InputError
from graphdask.io import EdgeList, read_edges, write_edges

FILES = ["g.txt", "g.el.gz", "g.csv", "g.csv.gz", "g.csv.xz", "g.csv.bz2", "g.tsv", "g.parquet", "g.npz", "g.gdg"]
FOLDERS = ["edgelist/", "csv/", "parquet/", "npz/", "native/"]
IDS = {
    "consecutive": [3, 4, 5, 6],
    "sparse": [5, 1000, 70_000, 10**12],
    "names": ["ann", "bob", "cléo", "dan"],
    "names of digits": ["1", "2", "ann", "07"],
}
WEIGHTS = {
    "none": None,
    "int32": np.array([1, -2, 3], np.int32),
    "int64": np.array([1, 2, 2**40]),
    "float32": np.array([0.1, 2, 3], np.float32),
    "float64": np.array([0.1, 2, 1e-300]),
    "whole float64": np.array([1.0, 2.0, 3.0]),
    "whole float32": np.array([1, 2, 3], np.float32),
}


def lost(G, H) -> set[str]:
    """What is not the same in two graphs."""
    found = set()
    if G.directed != H.directed:
        found.add("direction")
    if G.vertex_ids.tolist() != H.vertex_ids.tolist():
        found.add("vertices")
    ends = []
    for graph in (G, H):
        src, dst, _ = graph.edges("cpu")
        pairs = zip(src.tolist(), dst.tolist(), strict=True)
        ends.append(sorted(pair if graph.directed else tuple(sorted(pair)) for pair in pairs))
    if ends[0] != ends[1]:
        found.add("edges")
    a, b = G.edges("cpu")[2], H.edges("cpu")[2]
    if (a is None) != (b is None) or (a is not None and a.dtype != b.dtype):
        found.add("type of weights")
    elif a is not None and sorted(a.tolist()) != sorted(b.tolist()):
        found.add("weights")
    return found


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("isolated", [True, False], ids=["isolated", "all named"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("target", [*FILES, *FOLDERS])
def test_a_graph_is_kept_or_the_loss_is_reported(tmp_path, target, ids, weights, isolated, directed):
    a, b, c, d = IDS[ids]
    vertices = [a, b, c, d] if isolated else [a, b, c]
    G = gd.from_edges([a, b, a], [b, c, c], WEIGHTS[weights], directed=directed, vertices=vertices)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        G.write(f"{tmp_path}/{target}", target[:-1] if target.endswith("/") else None)
    reported = " ".join(str(warning.message) for warning in said)
    text = "looks like a number" in reported
    H = gd.read_graph(tmp_path / target, ids="str" if text else None)  # warnings are errors here
    expected = set()
    if "without edges are not written" in reported:
        expected.add("vertices")
    if "does not say the type of weights" in reported:
        expected.add("type of weights")
    assert lost(G, H) == expected
    if target in FOLDERS or target in ("g.npz", "g.gdg"):
        assert not reported
    assert len(said) == len(expected) + text


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("isolated", [True, False], ids=["isolated", "all named"])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("ids", ["consecutive", "sparse", "names"])
@pytest.mark.parametrize("name", [*FILES, "g.mtx"])
def test_an_edge_list_is_kept_or_the_loss_is_reported(tmp_path, name, ids, weights, isolated, directed):
    a, b, c, d = given = [7, 9, 5, 12] if ids == "sparse" else IDS[ids]
    array = string_array if ids == "names" else np.array
    vertices = np.sort(np.array(given)) if ids != "names" else string_array(sorted(given))
    edges = EdgeList(array([a, b, a]), array([b, c, c]), WEIGHTS[weights], None,
                     vertices if isolated else vertices[vertices != d], directed)  # fmt: skip
    if name == "g.mtx" and ids == "names":
        with pytest.raises(InputError, match="Matrix Market needs integer ids"):
            write_edges(edges, tmp_path / name)
        assert not list(tmp_path.iterdir())
        return
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        write_edges(edges, tmp_path / name)
    reported = " ".join(str(warning.message) for warning in said)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*the file declares")
        G, H = (
            gd.from_edges(edges.src, edges.dst, edges.weights, vertices=edges.vertices, directed=directed),
            gd.read_graph(tmp_path / name),
        )
    expected = {"vertices"} if "without edges are not written" in reported or "have all" in reported else set()
    expected |= {"vertices"} if "has all numbers from 1 on" in reported else set()
    expected |= {"type of weights"} if "does not say the type of weights" in reported else set()
    assert lost(G, H) == expected
    assert len(said) == len(expected)


def test_csv_says_direction_in_a_column_that_others_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    gd.from_edges([2, 3], [1, 2], directed=False).write(tmp_path / "g.csv")
    assert pandas.read_csv(tmp_path / "g.csv").to_dict("list") == {"src": [2, 3], "dst": [1, 2], "directed": [0, 0]}
    gd.from_edges([2, 3], [1, 2]).write(tmp_path / "h.csv")
    assert pandas.read_csv(tmp_path / "h.csv").to_dict("list") == {"src": [2, 3], "dst": [1, 2]}
    nothing = gd.from_edges([], [], directed=False)
    nothing.write(tmp_path / "i.csv")
    assert gd.read_graph(tmp_path / "i.csv").directed is False


@pytest.mark.slow
def test_large_csv_keeps_direction(tmp_path):
    rng = np.random.default_rng(3)
    src, dst = rng.integers(0, 2**40, (2, 150_000))
    write_edges(EdgeList(src, dst, directed=False), tmp_path / "g.csv")
    back = read_edges(tmp_path / "g.csv")
    assert back.directed is False
    np.testing.assert_array_equal(back.src, src)
    np.testing.assert_array_equal(back.dst, dst)


@pytest.mark.parametrize(
    ("header", "values", "directed"),
    [
        ("Source,Target,Type,Weight", ["Undirected", "Undirected"], False),
        ("Source,Target,Type,Weight", ["Directed", "directed"], True),
        ("Source,Target,Type,Weight", ["Undirected", "Directed"], None),
        ("source,target,directed,w", ["false", "False"], False),
        ("source,target,directed,w", ["1", "1"], True),
        ("source,target,directed,w", ["0", "1"], None),
        (":START_ID,:END_ID,:TYPE,w", ["KNOWS", "LIKES"], "not said"),
        ("source,target,type,w", ["1", "0"], "not said"),
    ],
)
@pytest.mark.parametrize("ids", [("1", "2", "3"), ("ann", "bob", "cleo")], ids=["numbers", "names"])
def test_columns_that_say_direction(tmp_path, header, values, directed, ids):
    path = tmp_path / "g.csv"
    rows = [f"{ids[0]},{ids[1]},{values[0]},1", f"{ids[1]},{ids[2]},{values[1]},2"]
    path.write_text("\n".join([header, *rows, ""]))
    if directed is None:
        with pytest.raises(
            FormatError, match=r"g\.csv:3: the edges before are undirected, this one is not; .*directed=T"
        ):
            read_edges(path)
    else:
        assert read_edges(path).directed is (None if directed == "not said" else directed)
    for wanted in (True, False):
        assert read_edges(path, directed=wanted).directed is wanted


@pytest.mark.parametrize("other", ["Mutual", ""])
@pytest.mark.parametrize("below", [0, 2000])
def test_a_direction_that_is_none_is_an_error_with_its_line(tmp_path, other, below):
    path = tmp_path / "g.csv"
    path.write_text("Source,Target,Type\n" + "1,2,Undirected\n" * (below + 1) + f"2,3,{other}\n")
    with pytest.raises(FormatError, match=rf"g\.csv:{below + 3}: the direction '{other}' is neither Directed nor"):
        read_edges(path)
    assert read_edges(path, directed=True).directed is True


def test_mutual_edges_are_no_directed_ones(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("Source,Target,Type\n1,2,Directed\n2,3,Mutual\n")
    with pytest.raises(FormatError, match=r"g\.csv:3: the direction 'Mutual' is neither Directed nor Undirected"):
        read_edges(path)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "txt", "txt.gz", "tsv"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_negative_zeros_keep_their_sign(tmp_path, ending, dtype):
    weights = np.array([1.0, -0.0, 0.0, 2.5, -0.0] * 40_000, dtype)
    for number, some in enumerate((weights[1:3], weights[:4], weights)):
        src = np.arange(len(some))
        path = tmp_path / f"{number}.{ending}"
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "csv does not say the type")
            write_edges(EdgeList(src, src, some), path)
        back = read_edges(path).weights
        np.testing.assert_array_equal(np.signbit(back), np.signbit(some))
        np.testing.assert_array_equal(back, some)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
@pytest.mark.parametrize("n", [0, 5])
def test_weights_of_no_edges_are_kept_or_the_loss_is_reported(tmp_path, dtype, n):
    G = gd.from_edges([], [], np.array([], dtype), num_vertices=n)
    for ending in ("txt", "txt.gz", "parquet", "npz", "gdg"):
        G.write(tmp_path / f"g.{ending}")
        H = gd.read_graph(tmp_path / f"g.{ending}")
        assert H.edges()[2].dtype == dtype
        assert H.num_vertices == n
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        G.write(tmp_path / "g.csv")
    said = [str(each.message) for each in caught]
    assert any(f"{dtype} are read back as int64" in text for text in said) == (dtype != "int64")
    assert gd.read_graph(tmp_path / "g.csv").edges()[2].dtype == np.int64


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
def test_edge_lists_say_the_type_of_weights(tmp_path, dtype):
    weights = np.array([1, 2, 3], dtype)
    write_edges(EdgeList(np.arange(3), np.arange(3), weights), tmp_path / "g.txt")
    assert read_edges(tmp_path / "g.txt").weights.dtype == dtype
    S = gd.stream.build(tmp_path / "g.txt", tmp_path / "g.gdl", memory="64MiB")
    assert S.store.weights == np.dtype(dtype)
    text = (tmp_path / "g.txt").read_text().replace("\t3\n", "\t3.5e300\n")
    (tmp_path / "h.txt").write_text(text)
    if dtype != "float64":
        with pytest.raises(FormatError, match=f"a comment says that weights are {dtype}, but not all of them are"):
            read_edges(tmp_path / "h.txt")


@pytest.mark.slow
def test_random_float32_are_read_back_bit_by_bit(tmp_path):
    bits = np.random.default_rng(4).integers(0, 2**32, 200_000, dtype=np.uint32)
    weights = bits.view(np.float32)
    weights = weights[~np.isnan(weights)]
    ends = np.zeros(len(weights), np.int64)
    write_edges(EdgeList(ends, ends, weights), tmp_path / "g.txt")
    np.testing.assert_array_equal(read_edges(tmp_path / "g.txt").weights.view(np.uint32), weights.view(np.uint32))


def test_drawings_say_the_type_of_ids_and_weights(tmp_path):
    edges = EdgeList(np.array([1, 2]), np.array([2, 3]), np.array([1, 2], np.int32), directed=False)
    for name, read in (("g.gexf", nx.read_gexf), ("g.graphml", nx.read_graphml)):
        write_edges(edges, tmp_path / name)
        g = read(tmp_path / name, node_type=int)
        assert sorted(g.nodes) == [1, 2, 3]
        assert not g.is_directed()
    assert 'idtype="integer"' in (tmp_path / "g.gexf").read_text()
    assert 'attr.type="int"' in (tmp_path / "g.graphml").read_text()


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("\ud800", "txt csv parquet npz gdg gexf graphml"),
        ("a\udfffb", "txt csv parquet npz gdg gexf graphml"),
        ("a\0", "txt csv npz gexf graphml"),
        ("a\x01b", "txt csv gexf graphml"),
        ("a\nb", "txt csv"),
        ("a\rb", "txt csv"),
        ("a\tb", "txt"),
        ("a b", "txt"),
        ("a,b", "txt"),
        ('a"b', "txt"),
        (" a", "txt csv"),
        ("", "txt csv"),
        ("#a", "txt"),
        ("%a", "txt"),
        ("a\ufffe", "gexf graphml"),
        ("NA", ""),
        ("é😀", ""),
    ],
)
@pytest.mark.parametrize("ending", ["txt", "csv", "parquet", "npz", "gdg", "gexf", "graphml"])
def test_names_are_refused_before_anything_is_written(tmp_path, name, refused, ending):
    src, dst = np.array([name, "wolf"], object), np.array(["sheep", "grass"], object)
    calls = [lambda path: write_edges(EdgeList(src, dst, directed=True), path)]
    if not any("\ud800" <= character <= "\udfff" for character in name) and ending not in ("gexf", "graphml"):
        calls.append(lambda path: gd.from_edges(src, dst).write(path))
        formats = {"txt": "edgelist", "gdg": "native"}
        calls.append(
            lambda path: gd.from_edges(src, dst).write(f"{path.with_suffix('')}/", formats.get(ending, ending))
        )
    for write in calls:
        if ending in refused.split():
            with pytest.raises(InputError, match=r"the id .* cannot stand in") as caught:
                write(tmp_path / f"g.{ending}")
            assert repr(name) in str(caught.value)
            assert not list(tmp_path.iterdir())
        else:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*CSV does not say that its ids are names, and 'NA'")
                write(tmp_path / f"g.{ending}")
            for left in tmp_path.iterdir():
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def test_from_edges_takes_what_can_be_written_again():
    for where in ("src", "dst", "vertices"):
        given = {"src": ["a"], "dst": ["b"], "vertices": ["a", "b", "c"]}
        given[where] = [*given[where][:-1], "a\ud800"]
        with pytest.raises(InputError, match=rf"{where}\[\d\] = 'a\\ud800' has a lone surrogate"):
            gd.from_edges(**given)
    D = gd.DynamicGraph(gd.from_edges(["a"], ["b"]))
    with pytest.raises(InputError, match="lone surrogate"):
        D.update(insert=(["\udfff"], ["a"]))


PIECES = ["a", "b", "é", "#", "%", '"', "'", ",", ";", "\t", " ", "\n", "\r", "\0", "\x1f", "\x85", "\u2028", "\u00a0",
          "\ufeff", "<", "html", ">", "&", "\\", "|", "1", "2.5", "-", "NULL", "NA", "nan", "from", "to", "source",
          "src", "dst", "😀", "\x7f", "# Ids: text", "//", "node1", "Type", "directed"]  # fmt: skip


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "csv.gz", "parquet", "npz", "gdg"])
def test_random_names_are_refused_or_read_back_the_same(tmp_path, ending):
    rng = random.Random(ending)

    def name():
        return "".join(rng.choices(PIECES, k=rng.choice([1, 1, 1, 2, 2, 3])))

    kept = 0
    for _ in range(300):
        src, dst = ([name() for _ in range(rng.choice([1, 2, 3]))] for _ in range(2))
        dst = (dst * 3)[: len(src)]
        path = tmp_path / f"g.{ending}"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                gd.from_edges(src, dst, directed=rng.random() < 0.5).write(path)
            except InputError:
                assert not list(tmp_path.iterdir())
                continue
        edges = read_edges(path, ids="str" if said else None)
        found = zip(edges.src.tolist(), edges.dst.tolist(), strict=True)
        assert sorted(found) == sorted(zip(src, dst, strict=True))
        path.unlink()
        kept += 1
    assert kept > 30


def test_the_csv_is_what_pythons_own_reader_reads(tmp_path):
    ids = string_array(["a,b", 'say "x"', "#tag", "plain"])
    write_edges(EdgeList(ids, ids, np.array([1.0, 2, 3, 4]), directed=False), tmp_path / "g.csv.gz")
    with gzip.open(tmp_path / "g.csv.gz", "rt", newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows[0] == ["src", "dst", "weight", "directed"]
    assert [(row[0], row[1], float(row[2]), row[3]) for row in rows[1:]] == [
        (name, name, float(k), "0") for k, name in enumerate(ids.tolist(), 1)
    ]


def test_vertices_without_edges_are_counted_whatever_their_number(tmp_path):
    for edges in (1, 3):
        ids = np.arange(edges)
        G = gd.from_edges(ids, ids[::-1].copy(), num_vertices=10**12)
        with pytest.warns(GraphdaskWarning, match=f"{10**12 - edges:,} vertices without edges are not written"):
            G.write(tmp_path / f"{edges}.csv")


def test_a_graph_with_lost_vertices_says_so_once(tmp_path):
    with pytest.warns(GraphdaskWarning, match="2 vertices without edges are not written") as said:
        gd.from_edges([0], [1], num_vertices=4).write(tmp_path / "g.csv")
    assert len(said) == 1
