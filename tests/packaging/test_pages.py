"""README is short, docs/ lists all its pages, and every link leads to a file or a heading that is there."""

from __future__ import annotations

import re

import pytest
from pages import DOCS, PAGES, README, RECORDS, prose
from source_tree import ROOT

LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", RECORDS / "README.md"]
LINK = re.compile(r"!?\[[^]]*\]\(([^)\s]+)\)")


def headings(text: str) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_readme_has_at_most_200_lines():
    assert len(README.read_text().splitlines()) <= 200


def test_the_contents_list_every_page_once():
    assert sorted(DOCS) == sorted((ROOT / "docs").iterdir())


def test_the_readme_links_to_the_contents_and_to_every_page():
    linked = {(ROOT / target).resolve() for target in LINK.findall(README.read_text())}
    assert set(DOCS) <= linked


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_that_is_there(page):
    targets = [target for target in LINK.findall(prose(page.read_text())) if "://" not in target]
    for target in targets:
        name, _, heading = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        assert there.is_relative_to(ROOT.resolve()), target
        assert there.exists(), target
        assert not heading or heading in headings(there.read_text()), target
