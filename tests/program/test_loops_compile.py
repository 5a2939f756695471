"""NVRTC compiles the kernels that go through many supersteps, with functions of a program in them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from nvrtc import CAPABILITIES, compile_ptx
from pushed_programs import HOPS

import graphdask as gd
from graphdask.device.backend import macro_of
from graphdask.kernels.functions.inserted import cuda_text
from graphdask.program.definition import Definition
from graphdask.program.ending import ending_of
from graphdask.program.glue import written

pytest.importorskip("nvidia.cuda_nvrtc", reason="needs NVRTC, which the extra 'test' installs")

ADDED = gd.Program(
    state={"depth": (np.int32, -1), "x": (float, 0.0)},
    message=(int, "min"),
    send=lambda e: e.source.depth + 1,
    apply=lambda v, m: v.depth < 0 and {"depth": m, "x": 1.0 / (1 + v.id) + v.floats},
    aggregate={
        "floats": ("sum", lambda old, new: new.x - old.x),
        "whole": ("sum", lambda old, new: new.id - 200),
        "least": ("min", lambda old, new: -new.x),
        "many": ("count", lambda old, new: new.depth > 3),
    },
)
ENDS = {
    "aggregates": (ADDED, None),
    "aggregates and until": (ADDED, lambda a: a.floats == 0.5 and a.whole == 3 and a.least < a.many),
    "until": (HOPS, lambda a: a.superstep > 5 and a.active < 9),
}


ENTRIES = {
    "program_loop": "program_loop", "program_team": "program_team", "program_pull": "program_pull_rows",
    "program": "program_judge",
}  # fmt: skip
"""A kernel of each family in which aggregates are added up."""


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("family", ENTRIES)
@pytest.mark.parametrize("name", ENDS)
def test_nvrtc_compiles_a_loop(name, family, capability, tmp_path):
    program, until = ENDS[name]
    of = Definition.of(program, None)
    ending, why = ending_of(of, until)
    assert why is None
    folder = Path(next(iter(find_spec("graphdask.kernels").submodule_search_locations)))
    text = cuda_text(family, (folder / "program" / f"{family}.cu").read_text(), written(of, ending))
    path = tmp_path / f"{family}.cu"
    path.write_text(text)
    types = {f"state{i}_t": each.stored for i, each in enumerate(of.state)}
    types |= {"index_t": np.dtype(np.int32), "message0_t": of.message_dtypes[0]}
    macros = {macro: macro_of(dtype) for macro, dtype in types.items()}
    assert f".entry {ENTRIES[family]}(" in compile_ptx(path, capability, macros, include=[folder])
