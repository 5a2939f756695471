"""The shortest valid call of every command, and odd texts to give for any of its options and arguments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import click

from graphdask.cli import cli
from graphdask.errors import CommunicationError
from graphdask.interface.registry import algorithms

ODD = (
    "", " ", "-", "--", "-1", "0", "1", "2", "1.5", "nan", "inf", "-inf", "1e400", "1e-400", "0x1", "1_0", "\u0661",
    "a\0b", "9" * 400, str(2**63), str(2**64), str(10**17), ".", "/", "/dev/null", "x", "x=y", ",", "0,", "0,1", "1,x",
    "\udcff", "\ud800", "a\nb", "graph.txt", "../up", "no/such/file.txt", "1GiB", "1 XB", "~nobody/x", "{}%s{0}", '"',
    "$(x)", "auto", "all", "None", "True", "x" * 5000, "[0, 1]", "0:1",
)  # fmt: skip

GRAPH = "graph.txt"
FILES = {
    GRAPH: "0 1\n1 2\n2 0\n2 3\n",
    "weighted.csv": "source,target,weight\n0,1,1\n1,2,2\n2,0,1\n2,3,5\n",
    "times.txt": "".join(f"{k} {k + 1} {k}\n" for k in range(10)),
    "hops.py": """\
import graphdask as gd

hops = gd.Program(
    state={"hops": (int, -1)},
    message=(int, "min"),
    send=lambda e: e.source.hops + 1,
    apply=lambda v, m: v.hops < 0 and {"hops": m},
)
""",
    "spec.py": "from graphdask.sample import Spec\n\nspec = Spec(depth=2)\n",
}
OF_NAME = {
    "source": "0",
    "count": "2",
    "vertices": "20",
    "edges": "3",
    "nodes": "2",
    "roots": "2",
    "scale": "3",
    "metapath": "1",
    "k": "3",
}
"""What required options are given, by their names."""
BASE: dict[str, tuple[str, ...]] = {
    "demo": ("--vertices", "50", "--degree", "2", "--workers", "1", "--output", "demo"),
    "generate er": ("--vertices", "20", "--edges", "10"),
    "warm": ("coloring", "--device", "cpu"),
    "convert": (GRAPH, "converted.csv"),
    "stream build": (GRAPH, "built.gdl"),
    "stream check": ("stored.gdl",),
    "sample run": ("spec.py:spec", GRAPH),
    "sample metapath": ("--metapath", "1", "--weights", "weighted.csv"),
    "sample temporal": ("--time", "3", "--weights", "weighted.csv"),
    "pagerank-stream": ("times.txt", "--preload", "0.5", "--batch", "0.1"),
    "submit": ("--slurm", "--dry-run", "run", "bfs", GRAPH, "--source", "0"),
    "cluster start": (),
    "scale plot": ("scaling.jsonl", "--output", "pictures"),
    "scale run": ("--output", "new.jsonl", "--algorithms", "bfs", "--scale", "3", "--workers", "1"),
}
UNDIRECTED = {each.command for each in algorithms().values() if each.undirected} | {
    "betweenness", "cdlp", "lcc", "saint-edges", "saint-nodes", "saint-walks", "metropolis-hastings", "forest-fire",
    "k-core", "k-truss",
}  # fmt: skip
REFUSED = "nothing starts here"
"""What is said where a cluster would be started or joined, or something measured."""
UNABLE = {
    "bench": "measures for minutes",
    "fuzz": "starts processes that go on for as long as they are told",
    "chaos": "starts clusters, and kills their processes",
}
"""Groups of commands that are not varied, with the reason."""


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its words."""

    def walk(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                each = command.get_command(context, name)
                assert each is not None
                yield from walk(each, (*words, name))
        else:
            yield words, command

    yield from walk(cli, ())


def _of_a_file(group: str) -> click.Command:
    """The command of a program in a file, which is in no list."""
    within = cli.get_command(click.Context(cli), group)
    assert isinstance(within, click.Group)
    found = within.get_command(click.Context(within), "hops.py:hops")
    assert found is not None
    return found


VARIED = {" ".join(words): command for words, command in commands() if words[0] not in UNABLE} | {
    f"{group} hops.py:hops": _of_a_file(group) for group in ("run", "profile")
}
"""The commands whose options are varied, by their words."""


def base(name: str, command: click.Command) -> list[str]:
    """The words of a valid call."""
    if name in BASE:
        return [*name.split(), *BASE[name]]
    words = name.split()
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.required:
            words += [parameter.opts[0], OF_NAME[parameter.opts[0].removeprefix("--")]]
        elif isinstance(parameter, click.Argument):
            words.append(GRAPH)
    return [*words, "--undirected"] if name.split()[-1] in UNDIRECTED else words


def varied(command: click.Command, words: list[str], name: str, text: str) -> list[str]:
    """The words of a call with a text for one of its parameters."""
    for parameter in command.params:
        if parameter.name == name and isinstance(parameter, click.Argument):
            return [*words, text] if GRAPH not in words else [text if word == GRAPH else word for word in words]
        if name in parameter.opts + parameter.secondary_opts:
            flag = isinstance(parameter, click.Option) and parameter.is_flag
            return [*words, name if flag else f"{name}={text}" if name.startswith("--") else f"{name}{text}"]
    raise KeyError(name)


def parameters(command: click.Command) -> list[str]:
    """Names of arguments, and every name of every option."""
    found = []
    for parameter in command.params:
        found += [str(parameter.name)] if isinstance(parameter, click.Argument) else parameter.opts
        found += parameter.secondary_opts
    return [each for each in found if each != "--debug"]


def write_files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)


@contextmanager
def nothing_started() -> Iterator[None]:
    """Refuse clusters and measurements where they would begin, after all checks of the options."""
    begun = CommunicationError(REFUSED)
    with ExitStack() as stack:
        for function in (
            "graphdask.cluster.local._cpu_cluster",
            "graphdask.cluster.local.connected",
            "graphdask.scale.experiment._Workers",
        ):
            # Commands are to end before they start clusters and measure.
            stack.enter_context(mock.patch(function, side_effect=begun))
        yield
