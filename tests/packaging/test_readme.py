"""What README, docs/ and CONTRIBUTING tell a newcomer to type: the commands are understood, the Python runs."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
from contextlib import contextmanager, nullcontext
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import dask
import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from distributed import Client
from pages import DOCS, PAGES, README, blocks, prose
from source_tree import ROOT

import graphdask as gd
from graphdask.cli import cli

SMALLER = {
    "preferential_attachment(1_000_000": "preferential_attachment(2_000",
    "chunk=1_000_000": "chunk=4",
    'output="pyg"': 'output="arrays"',  # PyTorch is nobody's dependency here
    "gd.cluster.start()": 'gd.cluster.start(2, "cpu")',
}
"""What the examples say, and what is run instead."""

GROUPS = ("graphdask run", "graphdask sample", "graphdask generate", "graphdask bench", "graphdask scale")
"""Named in the text, and no commands to be typed."""

FASTER = {
    "": "",
    "graphdask demo": "--vertices 2000 --workers 1 --device cpu",
    "graphdask fuzz": "--seconds 2 --only readers",
    "graphdask chaos": "--choices 0",
    "graphdask generate pa": "--vertices 2000",
    "graphdask generate pa --vertices 1e9 --output": "--vertices 2000 --workers 1",
    "graphdask generate rmat": "--scale 8",
    "graphdask generate er": "--vertices 200 --edges 1000",
    "graphdask bench analytics": "--scale 6 --sources 1 --repeats 1 --ranks 1 --no-peers --suite quick --device cpu",
    "graphdask bench dynamic": "--experiment random --scale 6 --batches 1 --errors 1 --method dfp --stop tolerance "
                               "--partition-by in",
    "graphdask bench generate": "--suite tiny --experiment rate --repeats 1 --no-peers --device cpu",
    "graphdask bench program": "--scale 6 --repeats 1 --no-peers --iterations 2",
    "graphdask bench sample": "--scale 6 --walks 10 --repeats 1 --no-peers --suite quick --sampler random_walk "
                              "--ranks 1 --device cpu",
    "graphdask bench sample --graph": "--walks 10 --repeats 1 --no-peers --suite quick --sampler random_walk "
                                      "--ranks 1 --device cpu",
    "graphdask bench stream": "--scale 6 --repeats 1",
    "graphdask bench write": "--edges 1000 --repeats 1",
    "graphdask scale run": "--workers 1 --algorithms bfs --scale 6 --sources 1 --repeats 1 --device cpu",
    "graphdask sample walk": "--number 20",
    "graphdask sample run my_samplers.py": "--number 20",
    "graphdask submit": "--dry-run",
}  # fmt: skip
"""Options that are typed behind a command, or before the command of `submit`: smaller, and without a GPU."""

WITHOUT = {
    "graphdask bench analytics": ("--choices", "--gapbs gapbs/"),
    "graphdask sample walk": ("--walks-per-start 100",),
}
"""Options that take a minute on the smallest graphs, or a program that is not here; their command is read with them."""

ELSEWHERE = (
    "graphdask submit --resume",
    "graphdask cluster start",
    "graphdask bench analytics --scheduler-file",
    "dask ",
)
"""Beginnings of commands that need a batch system, run until Ctrl-C, or need NCCL: they are read, not run."""


PROGRAM = """\
import math

import graphdask as gd

shortest = gd.Program(
    state={"distance": (float, math.inf)},
    message=(float, "min"),
    send=lambda e: e.source.distance + e.weight,
    apply=lambda v, m: m < v.distance and {"distance": m},
)
"""


def commands() -> list[str]:
    """Every `graphdask ...` of a console or a sentence, without the comment behind it, and `...` in full."""
    pages = [page.read_text() for page in PAGES]
    texts = [text for page in [*pages, (ROOT / "CONTRIBUTING.md").read_text()] for text in blocks(page, "console")]
    parts = [part for text in texts for part in re.split(r"^\$ |&& ", text, flags=re.M)]
    last = ""
    said = [each for page in pages for each in re.findall(r"(\.\.\. )?`((?:graphdask |--)[^`]*)`", prose(page))]
    for dots, text in said:
        if dots:
            parts.append(f"{last} {text}")
        elif text.startswith("graphdask") and "..." not in text and text not in GROUPS:
            parts.append(text)
            last = text
    words = [shlex.split(" ".join(part.split("\n")), comments=True) for part in parts]
    return sorted({shlex.join(each).removesuffix(" '&'") for each in words if each[:1] in (["graphdask"], ["dask"])})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the files that the examples read."""
    folder = tmp_path_factory.mktemp("readme")
    G = gd.generate.erdos_renyi(60, 400, seed=3, directed=True)
    src, dst, _ = G.edges()
    weights = 1 + src % 7
    for name in ("edges.parquet", "soc-Slashdot0902.txt.gz"):
        G.write(folder / name)
    gd.from_edges(src, dst, weights).write(folder / "edges.txt.gz")
    rows = list(zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True))
    contents = {
        "edges.csv": "".join(f"{a},{b},{c}\n" for a, b, c in rows),
        "temporal.txt": "".join(f"{a} {b} {1_100_000_000 + k}\n" for k, (a, b, _) in enumerate(rows)),
        "roads.gr": "p sp 2 1\na 1 2 5\n",
        "my_samplers.py": "import graphdask as gd\n\nspec = gd.sample.Spec(depth=2)\n",
        "my_programs.py": PROGRAM,
        "found.csv": "vertex,distance\n0,0.0\n",
        "communities.csv": "vertex,label\n" + "".join(f"{v},{v % 3}\n" for v in sorted({*src.tolist(), *dst.tolist()})),
        "my_functions.py": "def edge_bias(e):\n    return e.weight\n",
        "s.json": "{}",
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
    (folder / "temporal.txt.gz").write_bytes(gzip.compress((folder / "temporal.txt").read_bytes()))
    gd.stream.build(folder / "edges.txt.gz", folder / "edges.gdl")
    shutil.copy(ROOT / "cluster/records/2026-11-22-scale-h200-x2.jsonl", folder / "strong.jsonl")
    for name in ("FOLDER", "gapbs"):
        (folder / name).mkdir()
    return folder


@pytest.fixture(autouse=True)
def there(files, monkeypatch):
    monkeypatch.chdir(files)


@pytest.mark.parametrize("command", commands())
def test_a_command_is_understood(command, monkeypatch):
    understood = []

    def invoke(self, context):
        if not isinstance(self, click.Group):
            understood.append(self)

    monkeypatch.setattr(click.Command, "invoke", invoke)
    program, *words = shlex.split(command)
    if program == "dask":
        (entry,) = entry_points(group="dask_cli", name=words[0])
        said = CliRunner().invoke(entry.load(), words[1:])
    else:
        said = CliRunner().invoke(cli, words)
    understood = understood or [command] * ("--help" in words)
    assert (said.exit_code, len(understood)) == (0, 1), said.output


def typed(command: str) -> str:
    """The command as it is run here: smaller."""
    (options,) = [options for begin, options in WITHOUT.items() if command.startswith(begin)] or [()]
    for option in options:
        command = command.replace(f" {option}", "")
    more = FASTER[max((begin for begin in FASTER if command.startswith(begin)), key=len, default="")]
    if command.startswith("graphdask submit"):
        return command.replace("submit", f"submit {more}", 1)
    return f"{command} {more}" if "--help" not in command else command


@pytest.mark.filterwarnings("ignore::graphdask.errors.GraphdaskWarning")
@pytest.mark.parametrize("command", [command for command in commands() if not command.startswith(ELSEWHERE)])
def test_a_command_runs(command, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(typed(command))[1:]
    written = {after for word, after in pairwise(words) if word in ("--output", "--plot")}
    written |= {words[-1]} if words[0] == "convert" or words[:2] == ["stream", "build"] else set()
    for name in {word.partition(":")[0].rstrip("/") for word in words} - written:
        if name and (files / name).exists():
            Path(name).symlink_to(files / name)
    with scheduler() if "--scheduler-file" in words else nullcontext():
        said = CliRunner().invoke(cli, words)
    assert said.exit_code == 0, said.output
    assert words[0] == "submit" or all((tmp_path / name).exists() for name in written), said.output


@contextmanager
def scheduler():
    """A cluster of one worker, which `s.json` names."""
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        Path("s.json").unlink()
        client.write_scheduler_file("s.json")
        yield client


STARTING = ("cluster.md",)
"""Pages whose examples start a cluster, which takes seconds."""
WITH_PYTHON = [
    pytest.param(page, id=page.stem, marks=[pytest.mark.slow] * (page.name in STARTING))
    for page in DOCS
    if blocks(page.read_text(), "python")
]
MADE = {
    "files.md": ("graph.parquet",),
    "sampling.md": ("walks", "many_walks", "all_walks"),
}
"""What the examples of a page write."""
WITH_A_CLIENT = ("integrations.md",)
"""Pages whose examples take a Dask client as there."""


def given() -> dict[str, Any]:
    """What the examples of a page take as there, besides what the page itself makes."""
    G = gd.generate.erdos_renyi(60, 400, seed=3, directed=True)
    return {
        "gd": gd, "G": G, "r": gd.pagerank(G), "nx": nx, "g": nx.path_graph(9),
        "train_vertices": np.arange(50), "features": np.ones((60, 3)), "labels": np.zeros(60, int),
        "model": lambda x, edges: x, "decode": lambda x, links: x[links].prod(axis=0),
    }  # fmt: skip


def smaller(text: str) -> str:
    """Examples as they are run here."""
    for said, run in SMALLER.items():
        text = text.replace(said, run)
    return text


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_python_of_a_page_runs_by_itself(page, files, tmp_path, monkeypatch):
    shutil.copytree(files, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.gdl"))
    monkeypatch.chdir(tmp_path)
    text = smaller("\n".join(blocks(page.read_text(), "python")))
    script = tmp_path / f"{page.stem}_examples.py"
    script.write_text(text)  # functions of a Spec are read from their file
    needed = scheduler() if page.name in WITH_A_CLIENT else nullcontext()
    with dask.config.set({"graphdask.device": "cpu"}), needed as client:
        examples = given() | {"client": client}
        try:
            exec(compile(text, script, "exec"), examples)
        finally:
            if "cluster" in examples:
                examples["cluster"].close()
    assert [name for name in MADE.get(page.name, ()) if not (tmp_path / name).exists()] == []


def test_what_examples_are_replaced_by_is_of_examples():
    text = "\n".join(each for page in DOCS for each in blocks(page.read_text(), "python"))
    assert [said for said in SMALLER if text.count(said) != 1] == []


def test_every_example_of_the_readme_is_in_a_page():
    pages = {each for page in DOCS for each in blocks(page.read_text(), "python")}
    assert set(blocks(README.read_text(), "python")) <= pages
