"""Whether the first line of a text is a header: decided from evidence, said with `header=`, warned of where unclear."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import graphdask as gd
from graphdask.errors import FormatError, GraphdaskWarning, InputError
from graphdask.io import read_edges, read_vertex_values

NAMES = [("ann", "bob"), ("bob", "cleo")]

REAL = [
    ("neptune.csv", "~id,~from,~to,~label,weight:Double", "1,{},{},knows,0.5"),
    ("neptune2.csv", "~from,~to", "{},{}"),
    ("arango.csv", "_from,_to", "{},{}"),
    ("arango2.csv", "_key,_from,_to", "k1,{},{}"),
    ("neo4j.csv", ":START_ID,:END_ID,:TYPE", "{},{},KNOWS"),
    ("neo4j2.csv", ":START_ID(Person),role,:END_ID(Movie),:TYPE", "{},hero,{},IN"),
    ("gephi.csv", "Source,Target,Type,Id,Label,Weight", "{},{},Directed,0,,1.0"),
    ("string.txt", "protein1 protein2 combined_score", "{} {} 490"),
    ("string2.txt", "protein1 protein2", "{} {}"),
    ("biogrid.tsv", "InteractorA\tInteractorB", "{}\t{}"),
    ("biogrid2.tsv", "Official Symbol Interactor A\tOfficial Symbol Interactor B", "{}\t{}"),
    ("reddit.tsv", "SOURCE_SUBREDDIT\tTARGET_SUBREDDIT\tPOST_ID\tTIMESTAMP\tPOST_LABEL\tPOST_PROPERTIES",
     "{}\t{}\t1u4nrps\t2013-12-31 16:39:58\t1\t345.0,298.0,0.75"),
    ("flights.csv", "origin,destination", "{},{}"),
    ("calls.csv", "caller,callee", "{},{}"),
    ("cites.csv", "citing,cited", "{},{}"),
    ("half.csv", "source,cited", "{},{}"),
    ("snap.tsv", "FromNodeId\tToNodeId", "{}\t{}"),
    ("nodes.csv", "node1,node2", "{},{}"),
    ("ids.csv", "id1,id2", "{},{}"),
    ("ids2.csv", "id_1,id_2", "{},{}"),
    ("kg.tsv", "head\trelation\ttail", "{}\tknows\t{}"),
    ("kg2.tsv", "subject,predicate,object", "{},knows,{}"),
    ("ratings.csv", "user,item,rating,timestamp", "{},{},4.5,1260759144"),
    ("networkx.csv", "source,target", "{},{}"),
    ("pandas.csv", ",source,target,weight", "0,{},{},0.5"),
    ("r.csv", '"","from","to"', '"1","{}","{}"'),
    ("bank.csv", "nameOrig,amount,nameDest", "{},7,{}"),
    ("net.csv", "src_ip;dst_ip;bytes", "{};{};100"),
    ("trade.csv", "exporter,importer,value", "{},{},5"),
    ("tweets.csv", "retweeter,retweeted", "{},{}"),
    ("stations.csv", "start station id,end station id", "{},{}"),
    ("quoted.txt", '"source node" "target node"', "{} {}"),
    ("dated.csv", "Date,From,To", "2020-01-01,{},{}"),
]  # fmt: skip
"""Headers of real files and exports, with a line below them."""


def file(tmp_path, name, *lines):
    path = tmp_path / name
    path.write_text("".join(line + "\n" for line in lines))
    return path


@pytest.mark.parametrize(("name", "header", "row"), REAL, ids=[name for name, _, _ in REAL])
def test_headers_of_real_files_above_names(tmp_path, name, header, row):
    path = file(tmp_path, name, header, *(row.format(*pair) for pair in NAMES))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        edges = read_edges(path)
    assert list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True)) == NAMES
    assert isinstance(edges.report["header"], list)
    assert edges.report["header_because"]
    assert len(said) == (name == "string2.txt")  # whose words could be names: such a file says nothing else


@pytest.mark.parametrize(("name", "header", "row"), REAL, ids=[name for name, _, _ in REAL])
def test_headers_of_real_files_above_numbers(tmp_path, name, header, row):
    edges = read_edges(file(tmp_path, name, header, row.format(1, 2), row.format(2, 3)))
    assert (edges.src.tolist(), edges.dst.tolist()) == ([1, 2], [2, 3])


@pytest.mark.parametrize("values", [0, 10], ids=["names", "numbers"])
@pytest.mark.parametrize(
    ("header", "ends"),
    [
        ("srcip,sport,dstip,dsport", (0, 2)),
        ("src_port,src_ip,dst_port,dst_ip", (1, 3)),
        ("Source IP,Source Port,Destination IP,Destination Port", (0, 2)),
        ("saddr,sport,daddr,dport", (0, 2)),
        ("proto,srcip,dstip", (1, 2)),
        ("ts,srcaddr,srcport,dstaddr,dstport", (1, 3)),
        ("id,fromaddress,toaddress,value", (1, 2)),
        ("senderid,x,receiverid", (0, 2)),
        ("start,end,target,source", (3, 2)),
        ("source_name,source_id,target_name,target_id", (1, 3)),
        ("from_type,from_node,to_type,to_node", (1, 3)),
        ("x,target,source", (2, 1)),
        ("startlat,startstation,endlat,endstation", (1, 3)),
    ],
)
def test_columns_that_are_named_as_ends_are_taken_wherever_they_stand(tmp_path, header, ends, values):
    count = header.count(",") + 1
    rows = [[row * values + column if values else f"name{column}of{row}" for column in range(count)] for row in (1, 2)]
    path = file(tmp_path, "flows.csv", header, *(",".join(map(str, row)) for row in rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edges = read_edges(path)
    assert edges.src.tolist() == [row[ends[0]] for row in rows]
    assert edges.dst.tolist() == [row[ends[1]] for row in rows]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (
            "srcip,srchost,dstip,dsthost",
            r"'srcip' and 'dstip' or 'srchost' and 'dsthost' .*columns=\('srcip'",
        ),
        ("from,to,source,target", r"'source' and 'target' or 'from' and 'to' may be"),
        ("source,target,source,target", r"; pass columns=\('source', 'target'\)"),
        ("source_lat,source_lon,target_lat,target_lon", "no two of them are named source and target; pass columns="),
        ("source_a,source_b,target", "no two of them are named source and target"),
        ("victim,srcip,bytes", "an edge: no two of them are named"),
        ("dstip,attacker,bytes", "no two of them are named source and target"),
        ("sport,srcip,victim", "no two of them are named source and target"),
    ],
)
def test_columns_that_may_not_be_the_ends_are_refused(tmp_path, header, words):
    count = header.count(",") + 1
    path = file(tmp_path, "flows.csv", header, *(",".join(str(r * 10 + c) for c in range(count)) for r in (1, 2)))
    with pytest.raises(FormatError, match=r"flows.csv:2: the columns .* do not say which are the ends.*" + words):
        read_edges(path)
    assert read_edges(path, columns=(2, 0)).src.tolist() == [12, 22]


def test_a_column_that_is_named_as_an_end_and_not_read_as_one_is_warned_of(tmp_path):
    path = file(tmp_path, "g.csv", "attacker,victim,srcip", "1,2,3", "2,3,4")
    with pytest.warns(GraphdaskWarning, match="'attacker' and 'victim' are read as these, which is not certain"):
        assert read_edges(path).dst.tolist() == [2, 3]


@pytest.mark.parametrize("words", ["from to", "src dst", "start end", "u v", "Source Target", "head tail", "in out"])
@pytest.mark.parametrize("name", ["edges.txt", "edges.csv"])
def test_a_first_edge_named_like_a_header_is_kept_or_warned_of(tmp_path, words, name):
    mark = "," if name.endswith("csv") else " "
    lines = [words.replace(" ", mark), f"wolf{mark}sheep", f"sheep{mark}grass"]
    path = file(tmp_path, name, *lines)
    conclusive = mark == "," and words in ("src dst", "Source Target")
    if not conclusive:
        with pytest.warns(GraphdaskWarning, match=rf"{name}:1: '.*' is read as a header .*; pass header=True"):
            assert read_edges(path).num_edges == 2
    for options in ({}, {"ids": "str"}):
        edges = read_edges(path, header=False, **options)
        assert edges.src.tolist() == [words.split()[0], "wolf", "sheep"]
    assert read_edges(path, header=True).src.tolist() == ["wolf", "sheep"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["from to 3", "wolf sheep 4"], "it has a number"),
        (["from to", "wolf from"], "'from' stands in a later line as well"),
        (["node1 node2", "node3 node4"], "ids of later lines have its form"),
        (["wolf sheep", "sheep grass"], "'sheep' stands in a later line as well"),
        (["# from to", "source target", "wolf sheep"], "a comment names the columns"),
        (["# Ids: text", "from to", "wolf sheep"], "a comment names the columns"),
        (["7 8", "8 9"], "'7' is no name of a column"),
    ],
)
def test_evidence_against_a_header(tmp_path, lines, why):
    edges = read_edges(file(tmp_path, "g.txt", *lines))
    assert edges.num_edges == 2
    assert edges.report["header"] is False
    assert edges.report["header_because"] == why


@pytest.mark.parametrize(
    ("name", "lines", "header"),
    [
        ("g.csv", ["wolf,sheep", "ann,bob", "eve,dan"], False),  # nothing tells
        ("g.csv", ["word,other", "ann,bob", "bob,dan"], True),  # ids stand again, the words do not
        ("g.csv", ["someId,otherKey", "ann,bob", "eve,dan"], True),  # written as no id is
        ("g.txt", ["some_id other_key", "ann bob", "eve dan"], False),
        ("g.txt", ["word other", "ann bob", "bob dan"], False),
        ("g.csv", ["source,target", "ann,bob", "source,target", "bob,cleo"], True),  # two files in one
        ("g.txt", ["foo bar", "1 2"], True),
        ("g.csv", ["node1,node2"], False),
    ],
)
def test_evidence_that_is_not_conclusive_warns(tmp_path, name, lines, header):
    path = file(tmp_path, name, *lines)
    with pytest.warns(GraphdaskWarning, match=f"which is not certain; pass header={header} to keep it so"):
        edges = read_edges(path)
    assert edges.num_edges == len(lines) - header
    assert read_edges(path, header=header).num_edges == edges.num_edges


def test_names_of_columns_are_looked_up_in_the_first_line(tmp_path):
    path = file(tmp_path, "g.txt", "protein1 protein2 combined_score", "ann bob 490", "bob cleo 7")
    edges = read_edges(path, columns=["protein2", "protein1", "combined_score"])
    assert edges.src.tolist() == ["bob", "cleo"]
    assert edges.weights.tolist() == [490, 7]
    assert read_edges(path, weights=True).weights.tolist() == [490, 7]
    other = file(tmp_path, "h.csv", "wolf,sheep", "ann,bob")
    assert read_edges(other, columns=["wolf", "sheep"]).src.tolist() == ["ann"]
    with pytest.raises(FormatError, match="there is no column 'grass'; the file has wolf, sheep"):
        read_edges(other, columns=["wolf", "grass"])


def test_a_line_alone_that_may_be_a_header_warns(tmp_path):
    with pytest.warns(GraphdaskWarning, match=r"g\.csv:1: 'wolf,sheep' is read as an edge .* header=True if it is a"):
        assert read_edges(file(tmp_path, "g.csv", "wolf,sheep")).num_edges == 1


def test_columns_that_are_named_are_the_ends_whatever_their_names_say(tmp_path):
    path = file(tmp_path, "g.csv", "weight,time,source", "1,2,3", "2,3,4")
    edges = read_edges(path, columns=("weight", "time"))
    assert (edges.src.tolist(), edges.dst.tolist(), edges.weights, edges.times) == ([1, 2], [2, 3], None, None)
    timed = read_edges(path, format="temporal", columns=("weight", "source", "time"))
    assert (timed.dst.tolist(), timed.times.tolist(), timed.weights) == ([3, 4], [2, 3], None)
    wide = file(tmp_path, "h.csv", "a,b,c,d", "1,2,3,4")
    both = read_edges(wide, format="temporal", columns=list("dcba"))
    assert (both.src.tolist(), both.dst.tolist(), both.weights.tolist(), both.times.tolist()) == ([4], [3], [2], [1])


@pytest.mark.parametrize("name", ["g.txt", "g.csv", "g.adj"])
def test_rows_are_skipped_before_anything_is_read(tmp_path, name):
    mark = "," if name == "g.csv" else " "
    path = file(tmp_path, name, "Exported by x", "# Undirected graph", f"1{mark}2", f"2{mark}3", f"x{mark}4")
    with pytest.raises(FormatError, match=r":5: vertex id 'x'"):
        read_edges(path, skip_rows=2)
    path = file(tmp_path, name, "Exported by x", "", f"from{mark}to", f"1{mark}2", f"2{mark}3")
    edges = read_edges(path, skip_rows=2)
    assert edges.src.tolist() == [1, 2]
    assert (edges.report["skipped_rows"], edges.report["header"]) == (2, ["from", "to"])
    assert read_edges(path, skip_rows=4, header=False).src.tolist() == [2]
    with pytest.raises(FormatError, match="skip_rows=9, but the file has 5 lines"):
        read_edges(path, skip_rows=9)


def test_ldbc_and_adjacency_lists_take_a_header(tmp_path):
    file(tmp_path, "g.v", "id", "1", "2")
    file(tmp_path, "g.e", "source target weight", "# note", "1 2 0.5")
    edges = read_edges(tmp_path / "g")
    assert (edges.src.tolist(), edges.weights.tolist(), edges.vertices.tolist()) == ([1], [0.5], [1, 2])
    assert edges.report["comments"] == 1
    assert read_edges(tmp_path / "g", header=True).num_edges == 1
    with pytest.raises(FormatError, match=r"g\.v:1: vertex id 'id'"):
        read_edges(tmp_path / "g", header=False)
    answer = file(tmp_path, "answer", "id depth", "1 0", "2 1")
    assert read_vertex_values(answer)[1].tolist() == [0, 1]
    assert read_vertex_values(answer, skip_rows=2)[1].tolist() == [1]
    lists = file(tmp_path, "g.adj", "1 2", "2 3")
    assert read_edges(lists, header=True).src.tolist() == [2]


@pytest.mark.parametrize(
    ("name", "why"),
    [("g.mtx", ", which has a header of its own"), ("g.graph", ", which has a header of its own"),
     ("g.gr", ", which has a header of its own"), ("g.parquet", ""), ("g.npz", ""), ("g.gdg", "")],
)  # fmt: skip
@pytest.mark.parametrize("options", [{"header": True}, {"header": False}, {"skip_rows": 1}])
def test_formats_without_such_lines_refuse_by_name(tmp_path, name, why, options):
    argument = next(iter(options))
    with pytest.raises(InputError, match=rf"{argument}=.* means nothing for the format \w+{why}$"):
        read_edges(tmp_path / name, **options)


@pytest.mark.parametrize("name", ["g.mtx", "g.graph", "g.gr", "g.gdg"])
def test_formats_whose_ids_are_numbers_refuse_words_for_missing_ones(tmp_path, name):
    with pytest.raises(InputError, match=r"na_values='x' means nothing for the format \w+"):
        read_edges(tmp_path / name, na_values="x")


@pytest.mark.parametrize(
    "options",
    [{"header": "yes"}, {"header": 1}, {"header": np.array([True, False])}, {"skip_rows": -1}, {"skip_rows": 1.5},
     {"skip_rows": True}, {"skip_rows": "2"}, {"skip_rows": None}, {"skip_rows": [1]}, {"na_values": 5},
     {"na_values": [None]}, {"na_values": [["a"]]}, {"columns": 5}, {"columns": "ab"}, {"columns": {"a", "b"}},
     {"columns": (1.5, 0)}, {"columns": (True, 0)}, {"columns": (None, 1)}, {"columns": ("a", ["b"])},
     {"columns": (0,)}, {"columns": (0, 0)}, {"columns": (0, 1, 1)}, {"columns": np.zeros((2, 2), int)}],
)  # fmt: skip
def test_wrong_arguments_are_named(tmp_path, options):
    path = file(tmp_path, "g.txt", "1 2")
    for read in (read_edges, gd.read_graph):
        with pytest.raises(InputError, match=f"^{next(iter(options))}="):
            read(path, **options)


@pytest.mark.slow
def test_a_header_far_from_its_first_edge(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("# x\n" * 200_000 + "source target\n" + "# y\n" * 200_000 + "1 2\n3 4\n")
    edges = read_edges(path)
    assert edges.src.tolist() == [1, 3]
    assert edges.report["comments"] == 400_000


def test_streams_and_folders_take_the_same_arguments(tmp_path):
    path = file(tmp_path, "g.txt", "junk", "from to", "wolf sheep")
    S = gd.stream.build(path, tmp_path / "g.gdl", memory="64MiB", skip_rows=1, header=False)
    assert (S.num_vertices, S.num_edges) == (4, 2)
    times = file(tmp_path, "t.txt", "junk", "a b c", "1 2 3", "2 3 4")
    assert len(gd.read_stream(times, preload=0.5, batch=0.5, skip_rows=1, header=True).src) == 2
    gd.from_edges([0], [1]).write(tmp_path / "parts/", "csv")
    with pytest.raises(InputError, match="header=True means nothing for a folder"):
        gd.read_graph(tmp_path / "parts", header=True)
    crossed = file(tmp_path, "c.csv", "! x", "a|b|c|d", "x|1|2|8", "x|2|3|9")
    how = {"columns": ("c", "b", "d"), "delimiter": "|", "comment": "!", "header": True}
    S = gd.stream.build(crossed, tmp_path / "c.gdl", memory="64MiB", **how)
    assert gd.bfs(S, 3).depth.tolist() == [2, 1, 0]
    assert S.weighted
    assert gd.read_stream(crossed, preload=0.5, batch=0.5, **how).src.tolist() == [2, 3]
    with pytest.raises(InputError, match="skip_rows=1 is for a file"):
        gd.stream.build(gd.from_edges([0], [1]), tmp_path / "h.gdl", skip_rows=1)


@pytest.mark.parametrize("words", [("from", "to"), ("src", "dst"), ("u", "v"), ("NULL", "source"), ("weight", "time")])
@pytest.mark.parametrize("target", ["g.txt", "g.el.xz", "g.csv", "g.csv.gz", "g.tsv", "edgelist/", "csv/"])
def test_what_is_written_is_read_back_whatever_its_first_edge_is(tmp_path, words, target):
    G = gd.from_edges([words[0], "wolf", words[0]], [words[1], "sheep", "wolf"])
    format = target[:-1] if target.endswith("/") else None
    text = {"ids": "str"} if "NULL" in words and ".csv" in target.replace("tsv", "csv") else {}
    with warnings.catch_warnings():
        if text:
            warnings.filterwarnings("ignore", ".*CSV does not say")
        G.write(f"{tmp_path}/{target}", format)
    for how in ({}, {"ids": "str"}) if format is None and not text else (text,):
        H = gd.read_graph(tmp_path / target, **how)
        assert H.vertex_ids.tolist() == G.vertex_ids.tolist()
        assert H.num_edges == 3


@pytest.mark.parametrize(
    ("names", "ends"),
    [
        ("time,a,b", (1, 2)), ("weight,a,b", (1, 2)), ("date,x,y", (1, 2)), ("Unnamed: 0,A,B", (1, 2)),
        ("index,A,B", (1, 2)), ("edge_id,A,B", (1, 2)), ("row,A,B,weight", (1, 2)), ("type,A,weight,B", (1, 3)),
        ("id,person_a,friend", (0, 1)), ("no.,n1,n2", (1, 2)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_are_no_ends_by_their_names_are_passed_over_with_a_warning(names, ends, kind, tmp_path):
    columns = names.split(",")
    frame = pd.DataFrame({name: [10 * k + c for k in range(1, 5)] for c, name in enumerate(columns)})
    path = tmp_path / f"g.{kind}"
    frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
    with pytest.warns(GraphdaskWarning, match="no column is named as the source or the target; .* name them with col"):
        edges = read_edges(path, weights=False)
    assert list(edges.src) == list(frame[columns[ends[0]]])
    assert list(edges.dst) == list(frame[columns[ends[1]]])
    named = read_edges(path, columns=[columns[0], columns[2]], weights=False)  # without a warning
    assert list(named.dst) == list(frame[columns[2]])


@pytest.mark.parametrize("names", ["A,B", "A,B,weight", "a,b,c", "x,y,time", "id,friend"])
def test_the_first_two_columns_are_the_ends_where_nothing_speaks_against_it(names, tmp_path):
    (tmp_path / "g.csv").write_text(f"{names}\n" + "1,2,3\n4,5,6\n".replace(",3", "" if names.count(",") == 1 else ",3")
                                    .replace(",6", "" if names.count(",") == 1 else ",6"))  # fmt: skip
    edges = read_edges(tmp_path / "g.csv")
    assert (list(edges.src), list(edges.dst)) == ([1, 4], [2, 5])


@pytest.mark.parametrize("names", ["источник,цель", "来源,目标", "πηγή,στόχος", "von,nach"])
def test_headers_in_other_languages_are_known_by_what_stands_below(names, tmp_path):
    (tmp_path / "g.csv").write_text(f"{names}\nann,bob\nbob,cleo\ncleo,ann\n", encoding="utf-8")
    with pytest.warns(GraphdaskWarning, match="is read as a header .* which is not certain"):
        assert read_edges(tmp_path / "g.csv").num_edges == 3
