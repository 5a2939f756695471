"""The pictures of an experiment, and `graphdask scale plot`."""

from __future__ import annotations

import json
from itertools import combinations

import pytest
from click.testing import CliRunner
from scaling import measured

from graphdask import scale
from graphdask.cli import cli
from graphdask.errors import InputError
from graphdask.scale.records import opened

FAILED = {**measured(4), "failed": "OverBudget", "reason": "too large"}


@pytest.fixture(scope="module")
def records():
    return [
        measured(size, algorithm=algorithm, transport=transport, kind=kind, noise=0.05)
        for kind in ("strong", "weak-edge")
        for algorithm in ("bfs", "sssp")
        for transport, size in (("shm", 1), ("shm", 2), ("nccl", 2), ("shm", 4), ("nccl", 4))
    ]


@pytest.fixture
def path(records, tmp_path):
    return written(tmp_path / "a.jsonl", [*records, FAILED | {"algorithm": "betweenness"}])


def written(path, records):
    with opened(path) as file:
        for record in records:
            file.append({key: value for key, value in record.items() if key not in ("experiment", "format")})
    return path


def call(*arguments):
    return CliRunner(env={"COLUMNS": "110"}).invoke(cli, ["scale", "plot", *map(str, arguments)])


def test_each_kind_has_its_pictures_with_a_panel_for_each_algorithm(records):
    drawn = scale.draw(records, which=("time", "model"))
    assert list(drawn) == ["strong-25x16-time", "strong-25x16-model", "weak-edge-25x16-time", "weak-edge-25x16-model"]
    for figure in drawn.values():
        assert [axes.get_title("left") for axes in figure.axes] == ["bfs", "sssp"]
    [words] = [text.get_text() for text in drawn["strong-25x16-model"].texts if "MODEL" in text.get_text()]
    assert all(f" - {term}: " in words for term in ("W", "H", "S", "l"))


def test_points_are_medians_and_speed_ups_are_over_one_worker(records):
    drawn = scale.draw(records[:10], which=("time", "speed-up"))
    by_size = {record["workers"]: record for record in records[:5] if record["transport"] != "nccl"}
    points = drawn["strong-25x16-time"].axes[0].containers[0].lines[0]
    assert points.get_xdata().tolist() == [1, 2, 4]
    assert points.get_ydata() == pytest.approx([1e3 * by_size[size]["seconds"] for size in (1, 2, 4)])
    gains = drawn["strong-25x16-speed-up"].axes[0].containers[0].lines[0].get_ydata()
    assert gains == pytest.approx([by_size[1]["seconds"] / by_size[size]["seconds"] for size in (1, 2, 4)])


def test_no_text_covers_another(records):
    for figure in scale.draw(records[:10]).values():
        figure.draw_without_rendering()
        texts = [*figure.texts, *figure.legends, *figure.axes]
        boxes = [each.get_tightbbox() for each in texts]
        assert not [1 for a, b in combinations(boxes, 2) if a.padded(-1).overlaps(b.padded(-1))]
        assert all(figure.bbox.padded(1).contains(box.x0, box.y0) for box in boxes)
        assert all(figure.bbox.padded(1).contains(box.x1, box.y1) for box in boxes)


def test_bad_input_is_refused(records):
    for arguments, message in (
        ({"records": [FAILED]}, "nothing was measured"),
        ({"which": ("pie",)}, "which='pie' is not one of time"),
        ({"format": "gif"}, "format='gif' is not one of png"),
        ({"until": 1}, "until=1 must be at least 2"),
    ):
        with pytest.raises(InputError, match=message):
            scale.draw(**{"records": records} | arguments)


def test_the_command_draws_and_shows_the_fit_and_the_model(path):
    result = call(path, "--until", 64, "--format", "svg")
    assert result.exit_code == 0, result.stderr
    assert "21 measurements" in result.stdout
    assert "1 of them failed" in result.stdout
    assert "P = 64" in result.stdout
    assert "It assumes:" in result.stdout
    assert "OverBudget" in result.stdout
    names = {
        f"{kind}-25x16-{what}.svg"
        for kind in ("strong", "weak-edge")
        for what in ("time", "speed-up", "efficiency", "model")
    }
    assert {file.name for file in path.with_suffix("").iterdir()} == names


@pytest.mark.slow
def test_the_fit_as_json(path, tmp_path):
    result = call(path, "--output", tmp_path / "pictures", "--json", "--until", 16)
    found = json.loads(result.stdout)
    bfs = next(one for one in found["model"] if one["algorithm"] == "bfs" and one["transport"] == "shm")
    assert (bfs["measured"], list(bfs["seconds"])) == ("strong 25x16", ["1", "2", "4", "8", "16"])
    assert bfs["edge_seconds"] == pytest.approx(2e-11)
    assert len(found["assumptions"]) == 5
    assert len(found["pictures"]) == len(list((tmp_path / "pictures").iterdir())) == 8


def test_one_number_of_workers_has_times_but_no_model(tmp_path):
    path = written(tmp_path / "one.jsonl", [measured(1)])
    with path.open("a") as file:
        file.write('{"experiment": "sc')  # a run that is being written
    result = call(path)
    assert result.exit_code == 0, result.stderr
    assert "No model: it needs measurements on several workers" in result.stdout
    assert [file.name for file in (tmp_path / "one").iterdir()] == ["strong-25x16-time.png"]


def test_files_with_nothing_to_draw_are_refused(tmp_path):
    failed = written(tmp_path / "failed.jsonl", [FAILED])
    other = tmp_path / "edges.txt"
    other.write_text("1 2\n")
    (tmp_path / "full").write_text("")
    for arguments, message in (
        ([failed], "nothing in it was measured"),
        ([other], "edges.txt:1: this is no file of graphdask scale run"),
        ([tmp_path / "none.jsonl"], "cannot be read: no such file"),
        (
            [written(tmp_path / "b.jsonl", [measured(1)]), "--output", tmp_path / "full"],
            "is a file, and a folder is needed; name another",
        ),
    ):
        result = call(*arguments)
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())
