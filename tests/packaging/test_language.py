"""Names, public docstrings, errors and help use the field's words, always the same one for the same thing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import pytest
from source_tree import ROOT, sources

INSTEAD = {
    r"look(s|ed|ing)? (at|through)": "visit, scan, traverse, read",
    r"tells?|told|telling": "send, notify; say",
    r"letters? of (a|the) rank|mail": "message, inbox",
    r"the (vertex|one) before": "predecessor, parent",
    r"put(s|ting)? aside": "defer, deferred",
    r"front": "frontier",
    r"room": "buffer, queue, workspace, memory",
    r"errands?": "remote lookup",
    r"seats?": "registration",
    r"prompt": "fast path",
    r"either way": "undirected, ignoring direction",
    r"starts? anew": "teleport",
    r"what (it|they) (takes?|took)": "takes 5 ms; uses 2 GiB",
    r"can never do": "does not support",
}
"""What is not written, as a pattern of whole words, and what is written instead."""
PATTERN = re.compile("|".join(rf"\b(?:{words})\b(?![.\w]*\.(?:py|cu))" for words in INSTEAD))
NAMES = {
    "tell": "send, notify, exchange",
    "hear": "receive, arrive",
    "letter": "message",
    "mail": "message",
    "aside": "deferred",
    "front": "frontier",
    "room": "buffer, queue, workspace, capacity",
    "errand": "remote lookup",
    "seat": "registration",
    "prompt": "fast path",
}
"""The words that are no part of a name, and what is written instead."""
FORMS = {"told": "tell", "untold": "tell", "telling": "tell", "heard": "hear", "hearing": "hear"}
KERNELS = ROOT / "kernels"
PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
NOT_CODE = re.compile(r"//[^\n]*|\"[^\"\n]*\"")
QUOTED = re.compile(r"`[^`]*`|'[^'\n]*'")


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Docstrings, those of attributes and constants too, and strings that are raised or shown as help."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for part in node.body:
                if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                    yield part.lineno, str(part.value.value)
        elif isinstance(node, ast.Raise) or (isinstance(node, ast.keyword) and node.arg in ("help", "epilog")):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def names(tree: ast.AST) -> set[str]:
    """Parameters, attributes and functions, which a docstring may name."""
    found = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return found | {getattr(node, "name", "") for node in ast.walk(tree)}


@pytest.mark.parametrize("module", sorted(sources()))
def test_the_words_are_those_of_the_field(module):
    path = sources()[module]
    tree = ast.parse(path.read_text())
    known, found = names(tree), []
    for line, text in texts(tree):
        bare = QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
        for match in PATTERN.finditer(bare):
            if match[0] not in known:
                found.append(f"{path.name}:{line + text[: match.start()].count(chr(10))}: {match[0]}")
    assert found == []


def named_here(tree: ast.AST) -> set[str]:
    """What a module names itself: functions, classes, parameters, variables, attributes, and counters of kernels."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Counters":
            found |= {part.value for part in node.args if isinstance(part, ast.Constant)}
    return found


def left_out(names: Iterable[str]) -> list[str]:
    """The names that have a word of `NAMES` in them."""
    return sorted(
        name for name in names
        if any((FORMS.get(word, word.removesuffix("s"))) in NAMES for word in map(str.lower, PARTS.findall(name)))
    )  # fmt: skip


@pytest.mark.parametrize("package", sorted({module.rpartition(".")[0] for module in sources()} - {""}))
def test_names_are_of_the_words_of_the_field(package):
    for module, path in sources().items():
        if module.rpartition(".")[0] == package:
            assert left_out({path.stem, *named_here(ast.parse(path.read_text()))}) == [], path.name


@pytest.mark.parametrize("family", sorted(each.name for each in KERNELS.iterdir() if each.is_dir()))
def test_names_in_kernels_are_of_the_words_of_the_field(family):
    for path in sorted((KERNELS / family).glob("*.cu*")):
        words = re.findall(r"[A-Za-z_]\w*", NOT_CODE.sub("", path.read_text()))
        assert left_out({path.stem, *words}) == [], path.name


def test_a_name_with_a_word_that_is_left_out_is_found():
    tree = ast.parse("def tell(rooms):\n    self.most_aside = gd_Told = put_aside(fronts)\n    frontier = toldest = 1")
    assert left_out(named_here(tree)) == ["gd_Told", "most_aside", "rooms", "tell"]
