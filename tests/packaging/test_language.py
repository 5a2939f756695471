"""Public docstrings, errors and help use the field's words, always the same one for the same thing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from source_tree import sources

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
