"""What README and CONTRIBUTING tell a newcomer to type: the commands are understood, the Python runs."""

from __future__ import annotations

import re
import shlex

import click
import dask
import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from source_tree import ROOT

import graphdask as gd
from graphdask.cli import cli

README = (ROOT / "README.md").read_text()
SMALLER = {
    "preferential_attachment(1_000_000": "preferential_attachment(2_000",
    "chunk=1_000_000": "chunk=4",
    'output="pyg"': 'output="arrays"',  # PyTorch is nobody's dependency here
    "gd.cluster.start()": 'gd.cluster.start(2, "cpu")',
}
"""What the examples say, and what is run instead."""


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Every `graphdask ...` of a console, without the comment behind it."""
    texts = blocks(README + (ROOT / "CONTRIBUTING.md").read_text(), "console")
    parts = [shlex.split(part, comments=True) for text in texts for part in re.split(r"^\$ |&& ", text, flags=re.M)]
    return sorted({shlex.join(words) for words in parts if words[:1] == ["graphdask"]})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the files that the examples read."""
    folder = tmp_path_factory.mktemp("readme")
    G = gd.generate.erdos_renyi(60, 400, seed=3)
    for name in ("edges.txt.gz", "edges.parquet", "soc-Slashdot0902.txt.gz"):
        G.write(folder / name)
    lines = [f"{a},{b},{1 + a % 7}\n" for a, b in zip(*G.edges()[:2], strict=True)]
    contents = {
        "edges.csv": "".join(lines),
        "roads.gr": "p sp 2 1\na 1 2 5\n",
        "my_samplers.py": "import graphdask as gd\n\nspec = gd.sample.Spec()\n",
        "my_functions.py": "def edge_bias(e):\n    return e.weight\n",
        "s.json": "{}",
        "strong.jsonl": "{}",
    }
    for name, text in contents.items():
        (folder / name).write_text(text)
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
    said = CliRunner().invoke(cli, shlex.split(command)[1:])
    assert (said.exit_code, len(understood)) == (0, 1), said.output


def test_the_python_runs(files):
    text = "\n".join(blocks(README, "python"))
    for said, run in SMALLER.items():
        assert text.count(said) == 1
        text = text.replace(said, run)
    examples = {
        "train_vertices": np.arange(50), "features": np.ones((60, 3)), "labels": np.zeros(60, int),
        "model": lambda x, edges: x, "nx": nx, "g": nx.path_graph(9),
    }  # fmt: skip
    text = text.replace("nx.pagerank(g", "client = cluster.client\nnx.pagerank(g")
    script = files / "readme.py"
    script.write_text(text)  # functions of a Spec are read from their file
    with dask.config.set({"graphdask.device": "cpu"}):
        try:
            exec(compile(text, script, "exec"), examples)
        finally:
            if "cluster" in examples:
                examples["cluster"].close()
    assert (files / "graph.parquet").is_file()
    assert (files / "walks").is_dir()
    assert (files / "many_walks").is_dir()
    assert examples["out"].shape == (50, 3)
