"""The notebooks run from top to bottom with small sizes, and stand in the repository with their outputs."""

from __future__ import annotations

import json

import pytest
from source_tree import ROOT

nbclient = pytest.importorskip("nbclient")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LEARN = ("heterogeneous", "link_prediction")
"""Notebooks that need PyTorch Geometric."""
MOST_BYTES = 4_000_000

# Jupyter's own packages warn of things to come.
pytestmark = pytest.mark.filterwarnings("default")


def cells(path):
    return [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def executed(path, monkeypatch, tmp_path):
    """The notebook after a run with small sizes; an error in a cell is raised here."""
    import nbformat

    monkeypatch.setenv("GRAPHDASK_NOTEBOOK_SUITE", "tiny")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}}).execute()
    return notebook


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[pytest.mark.learn] if p.stem in LEARN else []) for p in NOTEBOOKS],
)
def test_a_notebook_runs(path, monkeypatch, tmp_path):
    notebook = executed(path, monkeypatch, tmp_path)
    assert sum("image/png" in output.get("data", {}) for output in outputs(notebook)) > 3


@pytest.mark.slow
def test_the_analytics_run_on_a_file(shared_data, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHDASK_DATA", str(shared_data / "social" / "email-Eu-core.txt.gz"))
    notebook = executed(ROOT / "notebooks" / "analytics.ipynb", monkeypatch, tmp_path)
    assert any("email-Eu-core" in output.get("text", "") for output in outputs(notebook))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs(path):
    assert path.stat().st_size < MOST_BYTES
    for number, cell in enumerate(cells(path), start=1):
        assert cell["execution_count"] == number, "run all cells in order, then store"
        for output in cell["outputs"]:
            assert output["output_type"] != "error"
            assert output.get("name") != "stderr", "".join(output.get("text", ()))
