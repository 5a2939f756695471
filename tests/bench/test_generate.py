"""The generator benchmark prints what it measured, and why it left something out."""

import json
import sys

from graphdask.bench import generate
from graphdask.generate.preferential_attachment import num_edges


def test_it_measures_graphdask_and_names_what_it_skips(monkeypatch, capsys):
    monkeypatch.setattr(generate, "PEERS", {"networkx": (lambda module, n, degree: degree * n, 100)})
    monkeypatch.setitem(sys.modules, "networkx", None)
    generate.main(["--vertices", "5000", "--device", "cpu", "--repeats", "2", "--json"])
    ours, peer = map(json.loads, capsys.readouterr().out.splitlines())
    assert ours["generator"] == "graphdask"
    assert ours["edges"] == num_edges(5000, 4)
    assert ours["repeats"] == 2
    assert ours["edges_per_second"] > 0
    assert peer["generator"] == "networkx"
    assert "cannot be imported" in peer["skipped"]


def test_peers_run_with_no_more_vertices_than_they_bear(monkeypatch, capsys):
    monkeypatch.setattr(generate, "PEERS", {"json": (lambda module, n, degree: degree * n, 100)})
    generate.main(["--vertices", "5000", "--device", "cpu", "--repeats", "1"])
    ours, peer = capsys.readouterr().out.splitlines()
    assert ours.startswith("graphdask")
    assert "n=100 " in peer
