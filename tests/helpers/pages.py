"""The pages that tell a user what to do: README, and docs/ in the order of its contents."""

from __future__ import annotations

import re

from source_tree import project

ROOT = project()
README = ROOT / "README.md"
INDEX = ROOT / "docs" / "index.md"
DOCS = [
    INDEX,
    *(ROOT / "docs" / name for name in re.findall(r"^\| \[[^]]*\]\(([\w-]+\.md)\)", INDEX.read_text(), re.M)),
]
"""The contents first, then the pages as it lists them."""
RECORDS = ROOT / "cluster" / "records"
PAGES = [README, *DOCS]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """The text without what is typed, printed, or said of records."""
    return re.sub(r"^```.*?^```$|<!--.*?-->", "", text, flags=re.MULTILINE | re.DOTALL)
