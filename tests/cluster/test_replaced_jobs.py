"""`graphdask submit --overwrite`: what it replaces, and what never."""

from __future__ import annotations

import pytest
from submitted import program, said

from graphdask.cluster import scripts


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp()))


def test_a_job_of_a_folder_is_replaced_once_it_has_ended(call, tmp_path):
    program(tmp_path, "qsub", "echo 8.host")
    program(tmp_path, "qstat", f'echo "Job Id: $3"; echo "    job_state = $(cat {tmp_path}/state)"')
    again = ["--pbs", "--detach", "--output", "job", "info", "g.txt"]
    assert call("--overwrite", *again).stdout == "8.host\n"  # a folder that is not there has nothing to replace
    script = tmp_path / "job/job.sh"
    (tmp_path / "job/result.txt").write_text("of the first")
    program(tmp_path, "qsub", "echo 9.host")
    refused = call(*again)
    assert refused.exit_code == 2
    assert "job has a job already; --resume" in said(refused)
    assert "add --overwrite to replace it" in said(refused)
    (tmp_path / "state").write_text("R")
    before = script.stat().st_mtime_ns
    refused = call("--overwrite", *again)
    assert refused.exit_code == 2
    assert "has job 8.host, which is running; cancel it first, or name another folder" in said(refused)
    assert (script.stat().st_mtime_ns, (tmp_path / "job/result.txt").read_text()) == (before, "of the first")
    (tmp_path / "state").write_text("F")
    assert call("--overwrite", *again).stdout == "9.host\n"
    assert not (tmp_path / "job/result.txt").exists()
    assert scripts.load(tmp_path / "job").number == "9.host"


def test_a_folder_without_a_job_is_never_replaced(call, tmp_path):
    program(tmp_path, "qsub", "echo 8.host")
    (tmp_path / "job").mkdir()
    (tmp_path / "job/mine.txt").write_text("mine")
    result = call("--pbs", "--overwrite", "--detach", "--output", "job", "info", "g.txt")
    assert result.exit_code == 2
    assert "job is there and holds no job; name another folder" in said(result)
    assert [each.name for each in (tmp_path / "job").iterdir()] == ["mine.txt"]
