"""`-` as a file to read: what a pipe holds is read as the same bytes in a file are."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import networkx
import pytest

from graphdask.errors import OverBudget, WriteError
from graphdask.io import streams
from graphdask.io.budgets import PerEdge
from graphdask.io.tuning import FILES

EDGES = b"# Undirected graph: test\n1\t2\t0.5\n2\t3\t1.5\n1\t3\t4.0\n7\t8\t1.0\n"

TEXTS = {
    "edgelist": EDGES,
    "csv": b"origin,destination\nann,bob\nbob,#cid\n#cid,ann\n",
    "temporal": b"1 2 100\n2 3 200\n",
    "adjlist": b"1 2 3\n2 3\n",
    "matrixmarket": b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n2 3 1.5\n",
    "metis": b"3 2\n2\n1 3\n2\n",
    "dimacs": b"c a comment\np sp 3 2\na 1 2 5\na 2 3 7\n",
    "gexf": b'<gexf><graph defaultedgetype="directed">\n<edges><edge source="1" target="2"/></edges></graph></gexf>\n',
    "graphml": b'<graphml><graph edgedefault="directed">\n<edge source="1" target="2"/></graph></graphml>\n',
}
"""A graph in every format that a stream holds."""


def said(result) -> str:
    """Standard error on one line."""
    return " ".join(result.stderr.split())


def test_every_text_format_is_one_that_a_stream_holds():
    assert set(TEXTS) == set(streams.READS)


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, bz2.compress, lzma.compress], ids=["plain", "gzip", "bzip2", "xz"]
)
@pytest.mark.parametrize("format", TEXTS)
def test_a_stream_is_read_as_the_file_with_the_same_bytes(pipe, format, pack):
    data = pack(TEXTS[format])
    Path("graph.txt").write_bytes(data)
    options = ("--format", format, "--json")
    of_file = pipe(b"", "info", "graph.txt", *options)
    of_stream = pipe(data, "info", "-", *options)
    assert of_file.exit_code == of_stream.exit_code == 0, of_stream.stderr
    found, expected = json.loads(of_stream.stdout), json.loads(of_file.stdout)
    assert (found.pop("file"), expected.pop("file")) == ("standard input", "graph.txt")
    assert found == expected
    assert said(of_stream).replace("standard input", "graph.txt") == said(of_file)


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b"1 2\n2 x\n", ()),
        (b"a,b\nNULL,b\n", ()),
        (b"from to\nto from\n", ("--no-header",)),
        (b"source target\nann bob\n", ("--header",)),
        (b"garbage\n1 2\n2 3\n", ("--skip-rows", "1")),
        (b"1 2\n2 3\n", ("--skip-rows", "7")),
        (b"-,b\na,b\n", ("--na-values", "-")),
        (b"1 2\n1 2\n2 2\n", ("--self-loops", "error")),
        (b"1 2\n2 3\n", ("--weights",)),
        (b"1 2\n2 3\n", ("--ids", "str", "--undirected")),
        (gzip.compress(b"1 2\n" * 1000, mtime=0)[:-12], ()),
        (b"", ()),
        (b"1 2\x00\n", ()),
        (b"\xff\xfe1\x00 \x002\x00", ()),
        (b"\x28\xb5\x2f\xfd....", ()),
        (b"<html>\n<body>\n", ()),
        (b"# Nodes: 3 Edges: 7\n1 2\n2 3\n", ()),
    ],
)
def test_options_errors_and_warnings_are_those_of_a_file(pipe, data, options):
    Path("graph.txt").write_bytes(data)
    options = (*options, "--format", "csv" if b"," in data else "edgelist", "--json")
    of_file, of_stream = pipe(b"", "info", "graph.txt", *options), pipe(data, "info", "-", *options)
    assert of_stream.exit_code == of_file.exit_code
    assert said(of_stream).replace("standard input", "graph.txt") == said(of_file)
    assert of_stream.stdout.replace("standard input", "graph.txt") == of_file.stdout


def test_a_wrong_line_is_named_with_the_stream(pipe):
    result = pipe(b"1 2\n3 x\n", "run", "components", "-")
    assert result.exit_code == 2
    assert "error: standard input:2: vertex id 'x' is not a number" in said(result)


@pytest.mark.parametrize(
    ("data", "format"),
    [
        (TEXTS["edgelist"], "edgelist"),
        (TEXTS["csv"], "csv"),
        (gzip.compress(TEXTS["csv"], mtime=0), "csv"),
        (b"a;b\nb;c\n", "csv"),
        (TEXTS["matrixmarket"], "matrixmarket"),
        (lzma.compress(TEXTS["matrixmarket"]), "matrixmarket"),
        (TEXTS["dimacs"], "dimacs"),
        (b"c d\nd e\n", "edgelist"),
        (b"", "edgelist"),
    ],
)
def test_without_a_format_the_first_lines_show_it_and_it_is_said(pipe, data, format):
    result = pipe(data, "info", "-", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["format"] == format
    assert f"note: standard input is read as {format}; --format says otherwise" in said(result)


@pytest.mark.parametrize("format", ["ldbc", "parquet", "npz", "native"])
def test_a_format_that_no_stream_holds_is_refused_by_name(pipe, format):
    for arguments in (("info", "-", "--format"), ("convert", "-", "out.csv", "--format-in")):
        result = pipe(EDGES, *arguments, format)
        assert result.exit_code == 2
        assert f"{format} is no format for standard input, which takes edgelist, csv, temporal" in said(result)


@pytest.mark.parametrize("begin", [b"PAR1", b"PK\x03\x04", b"\x93GDG", b"\x93GDL\r\n\x1a\n", b"\x89HDF"])
def test_a_binary_file_on_a_stream_is_refused_by_name(pipe, begin):
    result = pipe(begin + bytes(100), "info", "-")
    assert result.exit_code == 2
    assert "standard input: this is a" in said(result)
    assert "cannot be read from a stream; a stream holds text" in said(result)


def test_run_gives_the_answer_of_networkx(pipe):
    result = pipe(EDGES, "run", "components", "-", "--json")
    found = json.loads(result.stdout)
    graph = networkx.Graph([(1, 2), (2, 3), (1, 3), (7, 8)])
    assert found["file"] == "standard input"
    assert found["answer"]["components"] == networkx.number_connected_components(graph)


def test_convert_reads_a_stream(pipe):
    result = pipe(gzip.compress(b"1 2\n2 3\n", mtime=0), "convert", "-", "out.csv", "--json")
    assert result.exit_code == 0, result.stderr
    assert Path("out.csv").read_text() == '"src","dst"\n1,2\n2,3\n'
    assert json.loads(result.stdout)["in"]["file"] == "standard input"


def test_a_stream_is_not_streamed_from_disk(pipe):
    result = pipe(EDGES, "run", "components", "-", "--memory", "1GiB")
    assert result.exit_code == 2
    assert "--memory is for a file that is streamed (.gdl), which standard input cannot hold" in said(result)


def test_what_is_kept_is_deleted_also_after_an_error(pipe, host, tmp_path):
    host.temporary_folder(tmp_path)
    for data in (EDGES, b"1 x\n"):
        pipe(data, "info", "-")
    assert list(tmp_path.iterdir()) == []


class Endless:
    """A stream of edges without an end."""

    def __init__(self) -> None:
        self.taken = 0

    def read(self, size: int) -> bytes:
        self.taken += size
        return b"1 2\n" * (size // 4)


def test_a_stream_without_end_is_refused_while_it_comes(tuned, free_memory):
    tuned(FILES, stream_checked=4 << 20)
    free_memory(128 << 20)
    endless = Endless()
    with (
        pytest.raises(OverBudget, match=r"^standard input: about .* edges need .*write it to a file, and stream it"),
        streams.kept_stream(endless, PerEdge(72, 72, 72), "edgelist"),
    ):
        pytest.fail("it has no end")
    assert endless.taken <= 16 << 20


def test_a_full_disk_is_said_with_what_to_do(monkeypatch):
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr(Path, "open", lambda *_, **__: full)
        with (
            pytest.raises(WriteError, match=r"is kept in .* which does not take it .*; set TMPDIR to a folder with"),
            streams.kept_stream(Endless(), PerEdge(72, 72, 72), "edgelist"),
        ):
            pytest.fail("there is no room")


def test_a_pipe_of_the_shell(program_path, tmp_path):
    made = subprocess.run(
        f"printf '1 2\\n2 3\\n' | gzip | '{program_path}' info - --json",
        shell=True, cwd=tmp_path, capture_output=True, timeout=90, check=True,
    )  # fmt: skip
    assert json.loads(made.stdout)["edges"] == 2


def test_no_standard_input_is_said(program_path):
    made = subprocess.run(f"'{program_path}' info - <&-", shell=True, capture_output=True, text=True, timeout=90)
    assert made.returncode == 2
    assert "error: standard input is closed; give it a graph, or name a file" in " ".join(made.stderr.split())


def test_a_terminal_is_named_in_one_line(program_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [program_path, "info", "-", "--json"], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    os.close(theirs)
    try:
        os.write(ours, b"1 2\n2 3\n\x04")
        out, err = process.communicate(timeout=90)
    finally:
        process.kill()
        os.close(ours)
    assert err.splitlines()[0] == "the graph is read from the terminal; Ctrl-D ends it"
    assert json.loads(out)["edges"] == 2


@pytest.mark.parametrize(
    ("endless", "words"),
    [
        ("cat /dev/zero", "binary data, not text: byte 0x00"),
        ("gzip -1 < /dev/zero", "binary data, not text: byte 0x00"),
        ("tr '\\0' 7 < /dev/zero", "have no line end"),
        ("tr '\\0' 7 < /dev/zero | gzip -1", "have no line end"),
        ("(echo 1 2; echo 2 3; tr '\\0' 7 < /dev/zero)", "a line of more than"),
        ("yes 1 2", "GiB may be used"),
        ("yes a b | gzip -1", "GiB may be used"),
    ],
)
def test_what_never_ends_is_refused(endless, words, tmp_path):
    program = f"""if True:
        import sys
        from graphdask.device import backend
        from graphdask.cli import main
        from graphdask.io.tuning import FILES
        backend.CpuBackend.free_memory = lambda self: {64 << 20}
        sys.argv = ["graphdask", "info", "-"]
        with FILES.varied(stream_checked={1 << 20}):
            main()
    """
    with subprocess.Popen(["/bin/sh", "-c", endless], stdout=subprocess.PIPE, start_new_session=True) as source:
        try:
            ran = subprocess.run(
                [sys.executable, "-c", program], stdin=source.stdout, capture_output=True, text=True, timeout=60,
                env={**os.environ, "TMPDIR": str(tmp_path), "COLUMNS": "1000"},
            )  # fmt: skip
        finally:
            os.killpg(source.pid, signal.SIGKILL)
    assert ran.returncode in (1, 2)
    assert words in " ".join(ran.stderr.split()), ran.stderr
    assert not list(tmp_path.iterdir())
