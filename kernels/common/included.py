"""The text of a `.cu` as compilers take it: with its packs, and, of another distribution, with its headers.

Headers of graphdask are found by the compiler, in its folder of kernels. Those of another distribution may lie
anywhere, so their text takes the place of the line that includes them, once in a text. So what is compiled depends on
them too, and caches of compiled kernels, which compare texts, miss no change.
"""

from __future__ import annotations

import re

from graphdask.kernels import name_at, text_of
from graphdask.kernels.common.packs import with_packs

HEADER = re.compile(r'#include "((?:\w+/)+\w+\.cuh)"')


def cuda_source(family: str) -> str:
    """The text of a family with its packs and with headers that no compiler finds."""
    text = text_of(f"{family}.cu")
    return with_packs(_with_headers(text, f"{family.rpartition('.')[2]}.cu", set()) if "." in family else text)


def _with_headers(text: str, path: str, there: set[str]) -> str:
    """The text of the file at a path with headers of other distributions that are not `there` yet."""
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        found = HEADER.fullmatch(line.strip())
        name = name_at(found[1]) if found else ""
        if found is None or "." not in name.removesuffix(".cuh"):
            lines.append("" if line.strip() == "#pragma once" else line)
        elif name not in there:
            there.add(name)
            header = _with_headers(text_of(name), found[1], there)
            lines += [f'#line 1 "{found[1]}"', header, f'#line {number + 1} "{path}"']
        else:
            lines.append("")
    return "\n".join([*lines, ""])
