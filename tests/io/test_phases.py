"""A call that reads or builds a graph has one bar, over all its phases, which is full once the call returns."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field

import dask
import numpy as np
import pytest
from click.testing import CliRunner

import graphdask as gd
from graphdask.cli import cli
from graphdask.display import phases
from graphdask.display.tuning import DISPLAY
from graphdask.errors import FormatError
from graphdask.graph import construct
from graphdask.io.tuning import FILES

READING = ("reading", "ids", "building")
EDGES = 40_000


@dataclass
class Bars:
    """All bars that were made, and what they showed."""

    shown: list[tuple[str, float]] = field(default_factory=list)
    """The phase, or "" behind the last one, and the share that is done."""
    made: int = 0
    left: list[bool] = field(default_factory=list)
    """Of each that was closed, whether it stays."""

    def shares(self, phase):
        return [share for name, share in self.shown if name == phase]

    @property
    def names(self):
        found = [name for name, _ in self.shown]
        return [name for k, name in enumerate(found) if k == 0 or found[k - 1] != name]


@pytest.fixture
def bars(monkeypatch, tuned):
    """Bars that are drawn whenever anything changes, and that record it."""
    found = Bars()

    class Recorded:
        def __init__(self, desc, leave, **others):
            found.made += 1
            self.n, self.text, self.leave, self.start_t = 0.0, desc, leave, 0.0

        def set_description_str(self, text, refresh=True):
            self.text = text

        def refresh(self):
            found.shown.append((self.text.partition(": ")[2], self.n))

        def update(self, more):
            self.n += more

        def close(self):
            found.left.append(self.leave)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.close()

    monkeypatch.setattr("tqdm.tqdm", Recorded)
    tuned(DISPLAY, delay=0, apart=0)
    with dask.config.set({"graphdask.progress": True}):
        yield found


@pytest.fixture
def text():
    ends = np.random.default_rng(5).integers(0, 10_000, (EDGES, 2))
    return "".join(f"{u}\t{v}\n" for u, v in ends.tolist()).encode()


@pytest.fixture
def file(tmp_path, text):
    path = tmp_path / "edges.txt"
    path.write_bytes(text)
    return path


def of_one_call(bars, names):
    """One bar, which grows through these phases and ends full; the share of the whole at which each begins."""
    assert bars.made == 1
    assert bars.left == [True]
    assert bars.names == [*names, ""]
    shares = [share for _, share in bars.shown]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert max(shares[:-1]) < 1.0
    weights = [phases.WEIGHTS[name] for name in names]
    ends = np.cumsum(weights) / sum(weights)
    for name, end in zip(names, ends, strict=True):
        assert bars.shares(name)[0] == pytest.approx(end - phases.WEIGHTS[name] / sum(weights))
        assert max(bars.shares(name)) <= end + 1e-9
    return ends


@pytest.mark.parametrize("packed", [False, True])
def test_reading_a_graph(bars, tmp_path, text, packed, tuned):
    path = tmp_path / ("edges.txt.gz" if packed else "edges.txt")
    path.write_bytes(gzip.compress(text) if packed else text)
    tuned(FILES, text_at_once=1 << 16)
    graph = gd.read_graph(path)
    assert graph.num_edges == EDGES
    ends = of_one_call(bars, READING)
    parsed = bars.shares("reading")
    assert len(parsed) > 4  # as it is parsed, not only before and after
    assert all(0 <= share <= ends[0] + 1e-9 for share in parsed)
    assert parsed[-1] == pytest.approx(ends[0])


@pytest.mark.parametrize("spread", [1, 3, 10**9])
def test_a_graph_of_arrays_has_one_bar_that_moves_within_the_kernels(bars, spread, tuned):
    tuned(DISPLAY, items=1 << 14)
    src, dst = np.random.default_rng(7).integers(0, 10_000, (2, 1 << 18)) * spread
    src[0] = 10_000 * spread  # the range is wide from the beginning
    graph = gd.from_edges(src, dst)
    of_one_call(bars, ("ids", "building"))
    assert len(bars.shares("ids")) > 16
    found = graph.edges()
    assert (found.src == src).all()
    assert (found.dst == dst).all()
    assert graph.num_vertices == len(np.unique([src, dst]))


def test_a_graph_of_arrays_shows_no_bar_where_none_is_wanted(bars):
    gd.from_edges(np.arange(1 << 18), np.arange(1 << 18), progress=False)
    assert not bars.shown


def test_the_bar_is_full_when_the_graph_is_there(bars, file, watched):
    made = watched(construct.Graph, "__init__", answer=lambda nothing: len(bars.shown))
    gd.read_graph(file)
    assert all(share < 1.0 for _, share in bars.shown[: made[0]])
    assert [share for _, share in bars.shown[made[0] :]] == [phases.LAST, 1.0]


def test_an_error_ends_the_bar_where_it_is(bars, file):
    with file.open("ab") as stream:
        stream.write(b"1 x\n")
    with pytest.raises(FormatError, match=f":{EDGES + 1}: vertex id 'x'"):
        gd.read_graph(file)
    assert bars.made == 1
    assert bars.left == [False]
    assert max(share for _, share in bars.shown) < 1.0
    bars.shown.clear()
    with pytest.raises(gd.InputError, match="self-loop"):
        gd.from_edges([1], [1], self_loops="error", progress=False)
    assert not bars.shown  # nothing is open any more


def test_a_call_within_another_opens_no_bar(bars, file):
    with phases.progress_over("both.txt", (*READING, "partitioning")):
        gd.read_graph(file).partition(2, device="cpu").persist()
    of_one_call(bars, (*READING, "partitioning"))


def test_who_wants_no_bar_gets_none(bars, file):
    gd.read_graph(file, progress=False)
    gd.io.read_edges(file, progress=False)
    with phases.progress_over("both.txt", READING, False):
        gd.read_graph(file, progress=True)
    assert bars.made == 0


def test_reading_edges(bars, file):
    gd.io.read_edges(file)
    of_one_call(bars, READING[:1])


def test_a_small_file_shows_nothing(file, tuned, capsys):
    tuned(DISPLAY, delay=60)
    gd.read_graph(file, progress=True)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_command_that_reads_and_divides(bars, file, partitions):
    arguments = ["run", "components", str(file), "--partitions", str(partitions), "--device", "cpu"]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    whole = [k for k, (_, share) in enumerate(bars.shown) if share == 1.0]
    run, bars.shown = bars.shown[whole[0] + 1 :], bars.shown[: whole[0] + 1]
    assert not {name for name, _ in run} & {*READING, "partitioning"}
    bars.made, bars.left = 1, bars.left[:1]  # the search has a bar of its own
    of_one_call(bars, (*READING, "partitioning"))


@pytest.mark.parametrize(
    ("order", "names"), [("layers", ("degrees", "sorting", "layers", "storing")), ("ids", ("degrees", "storing"))]
)
@pytest.mark.parametrize("given", ["file", "graph"])
def test_building_a_streamed_graph(bars, file, tmp_path, order, names, given):
    what = file if given == "file" else gd.read_graph(file, progress=False)
    gd.stream.build(what, tmp_path / "graph.gdl", order=order)
    if given == "graph":
        of_one_call(bars, names)
        return
    assert bars.made == 1
    assert bars.names == ["reading", "ids", *names, ""]  # the graph itself is not built
    assert len(bars.shares("storing")) > 4
    shares = [share for _, share in bars.shown]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_converting(bars, file, tmp_path):
    done = CliRunner().invoke(cli, ["convert", str(file), str(tmp_path / "edges.csv")], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    of_one_call(bars, ("reading", "writing"))
