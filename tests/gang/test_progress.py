"""Who sees progress: a person at a terminal or in a notebook, not the log of a job."""

from __future__ import annotations

import io
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import pytest

from graphdask.display.notebook import bar_class, is_watched


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error goes to a file, as in a job."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())


def shell(monkeypatch: pytest.MonkeyPatch, running: object) -> None:
    module = ModuleType("IPython")
    module.get_ipython = lambda: running
    monkeypatch.setitem(sys.modules, "IPython", module)


def test_a_job_shows_no_progress_whatever_it_has_imported(log, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    assert not is_watched(None)
    shell(monkeypatch, None)
    assert not is_watched(None)


def test_a_script_run_by_ipython_shows_no_progress_in_its_log(log, monkeypatch):
    shell(monkeypatch, SimpleNamespace())
    assert not is_watched(None)


def test_a_notebook_shows_progress(log, monkeypatch):
    shell(monkeypatch, SimpleNamespace(kernel=object()))
    assert is_watched(None)


@pytest.mark.parametrize("wanted", [True, False])
def test_who_asks_is_heard(log, wanted):
    assert is_watched(wanted) is wanted


def test_a_notebook_without_widgets_gets_the_bar_of_a_terminal(monkeypatch, host):
    shell(monkeypatch, SimpleNamespace(kernel=object()))
    host.without("ipywidgets")
    assert bar_class().__module__ == "tqdm.std"


def test_a_notebook_with_widgets_gets_theirs(monkeypatch):
    shell(monkeypatch, SimpleNamespace(kernel=object(), config={"IPKernelApp": {}}))
    widgets = ModuleType("ipywidgets")
    widgets.__spec__ = ModuleSpec("ipywidgets", None)
    monkeypatch.setitem(sys.modules, "ipywidgets", widgets)
    assert bar_class().__module__ == "tqdm.notebook"
