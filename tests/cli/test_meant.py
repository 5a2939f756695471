"""Commands and options that there are not: the error names the one that is meant."""

from __future__ import annotations

import pytest

from graphdask.cli import COMMANDS


def refused(call, text: str) -> str:
    result = call(*text.split())
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert lines[0].startswith("error:")
    assert all(lines)
    return " ".join(lines)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rum", "graphdask run"),
        ("pagerank g.txt", "graphdask run pagerank"),
        ("rmat", "graphdask generate rmat"),
        ("run pagrank g.txt", "graphdask run pagerank"),
        ("run label_propagation g.txt", "graphdask run cdlp"),
        ("run label-propagation g.txt", "graphdask run cdlp"),
        ("run betweenness_centrality g.txt", "graphdask run betweenness"),
        ("run shortest_path g.txt", "graphdask run sssp"),
        ("run connected_components g.txt", "graphdask run components"),
        ("run core_nmber g.txt", "graphdask run core"),
        ("profile wcc g.txt", "graphdask profile components"),
        ("sample random_walk g.txt", "graphdask sample walk"),
        ("sample uniform_neighbor_sample g.txt", "graphdask sample neighbors"),
        ("generate barabasi_albert", "graphdask generate pa"),
        ("generate erdos-renyi", "graphdask generate er"),
        ("bench smaple", "graphdask bench sample"),
        ("stream biuld", "graphdask stream build"),
        ("cluster strat", "graphdask cluster start"),
        ("submit --slurm run pagrank g.txt", "graphdask run pagerank"),
        ("run pagerank g.txt --alpha 0.8", "--damping"),
        ("run pagerank g.txt --tolerance 1e-3", "--tol"),
        ("run pagerank g.txt --max-iterations 3", "--max-iter"),
        ("run betweenness g.txt -k 3", "--sources"),
        ("run bfs g.txt --root 3", "--source"),
        ("run bfs g.txt --wokers 3", "--workers"),
        ("run bfs g.txt -o out.csv", "--output"),
        ("sample edges g.txt -k 3", "--count"),
        ("sample walk g.txt --walk-length 3", "--length"),
        ("generate pa --nodes 30", "--vertices"),
    ],
)
def test_what_is_meant_is_named(call, typed, meant):
    assert f"; did you mean {meant}? See graphdask" in refused(call, typed)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_letter_too_many_in_a_command_is_seen(call, name):
    assert f"did you mean graphdask {name}? " in refused(call, name[:2] + "x" + name[2:])


@pytest.mark.parametrize("typed", ["frobnicate", "run zzzz g.txt", "run bfs g.txt --zzzz"])
def test_nothing_is_guessed_of_a_name_that_is_like_none(call, typed):
    assert "did you mean" not in refused(call, typed)
