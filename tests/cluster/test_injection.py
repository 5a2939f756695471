"""What a user gives reaches programs as it was given, or is refused: scripts run with commands that only record.

PATH of a script has nothing but recording stand-ins for what a job calls, and the few programs that the script itself
needs. `evil` is one of the stand-ins, and no script may ever call it.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphdask.cli import cli
from graphdask.cluster import jobqueue, jobs, pbs, scripts, shell, slurm
from graphdask.cluster.launchers import Remote, ssh_cluster
from graphdask.cluster.scripts import Job
from graphdask.errors import InputError

JOB = Job("/work/my job", ("run", "bfs", "a b.txt"), workers=2, directory="/", tls=False)
HOSTILE = (
    "a'; evil; '", 'a"; evil; "', "$(evil)", "`evil`", "a; evil #.txt", "a & evil", "a | evil", "a && evil",
    "a > evil", "{a,evil}", "~", "*", "$HOME", "${IFS}evil", "!evil", "#", "--wrap=evil", "-x", "%j", "%%", "a\\",
    "\\'; evil #", "a b  c", "ünï ☃ 漢字", "\\n evil", "packjob", "HetJob", "'", '"', "%", "$'\\nevil'", "(evil)",
    "<(evil)", "a=b", "", "x" * 3000,
)  # fmt: skip
"""Values that are one line of text each."""
CONTROL = ("\n", "\r", "\0", "\t", "\v", "\f", "\x1b", "\x7f", "\x85", "\u2028", "\u2029", "\udc80")
NEEDED = ("cat", "env", "hostname", "mv", "rm", "sleep", "tail", "touch")
RECORD = 'printf "%s\\0" "${0##*/}" "$@" > "$RECORD/$$-$RANDOM"\n'
PROGRAMS = {
    "evil": "",
    "sbatch": "",
    "apptainer": "",
    "dask": "",
    "graphdask": "",
    "srun": 'while [[ $1 == --* ]]; do shift; done; exec "$@"\n',
    "mpiexec": 'shift 2; exec "$@"\n',
    # the scheduler's file holds its process, as long as which a worker runs
    "python": """\
file="${@: -1}"
case " $* " in
  *" dask scheduler "*) echo $$ > "$file"; exec sleep 60 ;;
  *" dask worker "*) while kill -0 "$(cat "$file")"; do sleep 0.05; done ;;
esac
""",
}


class Host:
    """A host on which everything that a job calls is recorded."""

    def __init__(self, place: Path):
        self.bin, self.record = place / "b in$(evil)", place / "record"
        for folder in (self.bin, self.record):
            folder.mkdir()
        for name, text in PROGRAMS.items():
            (self.bin / name).write_text("#!/bin/bash\n" + RECORD + text)
            (self.bin / name).chmod(0o755)
        for name in NEEDED:
            (self.bin / name).symlink_to(str(shutil.which(name)))
        self.environment = {"PATH": str(self.bin), "RECORD": str(self.record), "LC_ALL": "C.UTF-8"}
        self.python = str(self.bin / "python")

    def run(self, script: str) -> list[list[str]]:
        """The calls of a script, sorted by their words."""
        done = subprocess.run(
            ["/bin/bash"], input=script.encode(), env=self.environment, capture_output=True, timeout=120
        )
        assert done.returncode == 0, (script, done.stderr)
        return self.calls()

    def calls(self) -> list[list[str]]:
        return sorted(each.read_bytes().decode().split("\0")[:-1] for each in self.record.iterdir())


@pytest.fixture
def host(tmp_path) -> Host:
    return Host(tmp_path)


def slurm_words(line: str) -> list[str]:
    """The words of a directive as sbatch divides it: a backslash escapes within quotes too; # begins a comment."""
    found: list[str] = []
    word, escaped, quote, begun = "", False, "", False
    for each in line:
        if escaped:
            word, escaped, begun = word + each, False, True
        elif each == "\\":
            escaped = True
        elif quote:
            quote, word = ("", word) if each == quote else (quote, word + each)
        elif each in "\"'":
            quote, begun = each, True
        elif each == "#":
            break
        elif each.isspace():
            found, word, begun = ([*found, word], "", False) if begun else (found, "", False)
        else:
            word, begun = word + each, True
    assert (quote, escaped) == ("", False), line
    return [*found, word] if begun else found


def pbs_words(line: str) -> list[str]:
    """The words of a directive as qsub divides it: quotes hold all but themselves, a backslash escapes outside."""
    found: list[str] = []
    word, escaped, quote, begun = "", False, "", False
    for each in line:
        if quote:
            quote, word = ("", word) if each == quote else (quote, word + each)
        elif escaped:
            word, escaped, begun = word + each, False, True
        elif each == "\\":
            escaped = True
        elif each in "\"'":
            quote, begun = each, True
        elif each.isspace():
            found, word, begun = ([*found, word], "", False) if begun else (found, "", False)
        else:
            word, begun = word + each, True
    assert (quote, escaped) == ("", False), line
    return [*found, word] if begun else found


def random_texts(count: int, seed: int) -> list[str]:
    """Texts of what shells, Slurm and PBS treat in a way of their own."""
    pieces = ["evil", " ", "'", '"', "\\", "$", "(", ")", "`", ";", "&", "|", "#", "%", "{", "}", ",", "-", "<", ">",
              "*", "?", "!", "~", "[", "]", "=", ":", "a", "é", "packjob", "$(evil)", "\\n"]  # fmt: skip
    chosen = random.Random(seed)
    return ["".join(chosen.choices(pieces, k=chosen.randrange(1, 12))) for _ in range(count)]


@pytest.mark.parametrize("system", [slurm, pbs])
def test_every_word_of_a_command_arrives_and_nothing_else_runs(system, host, tmp_path):
    seed = random.randrange(10**9)
    texts = [*HOSTILE, *random_texts(200, seed)]
    job = replace(JOB, folder=str(tmp_path), command=("info", *texts), workers=None, python=host.python)
    found = host.run(system.script(job))
    assert found == sorted([
        ["python", "-P", "-c", "import graphdask"], ["python", "-P", "-m", "graphdask.cli", "info", *texts],
    ]), f"seed {seed}"  # fmt: skip


def folders(system: str) -> list[str]:
    seed = random.randrange(10**9)
    texts = [each.replace("/", "") for each in (*HOSTILE, *random_texts(20, seed))]
    banned = "\\" if system == "slurm" else ":"
    return [
        each for each in dict.fromkeys(texts) if 0 < len(each) < 200 and banned not in each and each not in (".", "..")
    ]


@pytest.mark.parametrize("system", ["slurm", "pbs"])
def test_folders_of_any_name_hold_jobs(system, host, tmp_path):
    for text in folders(system):
        place = tmp_path / "work" / text
        place.mkdir(parents=True)
        job = replace(JOB, folder=str(place), directory=str(place), system=system, workers=None, python=host.python)
        script = jobs.SYSTEMS[system].script(job.checked())
        if system == "pbs":
            script = script.replace("exec >", "PBS_JOBID=7; exec >")
        subprocess.run(["/bin/bash"], input=script.encode(), env=host.environment, timeout=60, check=True)
        assert (place / "exit-code").read_text() == "0\n", text
        assert {each.name for each in tmp_path.iterdir()} == {"b in$(evil)", "record", "work"}, text
    assert not [call for call in host.calls() if call[0] != "python"]


@pytest.mark.parametrize("system", ["slurm", "pbs"])
def test_workers_start_in_a_folder_of_a_hostile_name(system, host, tmp_path):
    place = tmp_path / "$(evil) 'x' \"y\" `evil`; evil #%j"
    place.mkdir()
    job = replace(JOB, folder=str(place), directory=str(place), system=system, python=host.python)
    found = host.run(jobs.SYSTEMS[system].script(job.checked()))
    names = [call[0] for call in found]
    start = ["srun"] if system == "slurm" else ["mpiexec"]
    assert sorted(names) == sorted(start + ["python"] * 4)  # an import, scheduler, command, worker
    assert all(call[-1] == f"{place}/scheduler.json" for call in found if "dask" in call)
    if system == "slurm":
        (srun,) = (call for call in found if call[0] == "srun")
        assert f"--output={place}/worker-%t.log".replace("%j", "%%j") in srun


@pytest.mark.parametrize("text", HOSTILE)
def test_directives_bring_a_value_to_slurm_and_pbs_as_it_is(text):
    for line in (text, *random_texts(50, len(text))):
        assert slurm_words(shell.directive("#SBATCH", "--partition", line).removeprefix("#SBATCH ")) == [
            f"--partition={line}"
        ]
        assert pbs_words(shell.directive("#PBS", "-q", line).removeprefix("#PBS ")) == ["-q", line]
        assert "\n" not in shell.directive("#SBATCH", "--account", line)


def test_slurm_does_not_find_the_words_at_which_it_divides_jobs():
    line = shell.directive("#SBATCH", "--chdir", "/data/PackJob/hetjob")
    assert "packjob" not in line.lower()
    assert "hetjob" not in line.lower()


FIELDS: dict[str, tuple[str, Callable[[str], object]]] = {
    "folder": ("--output", lambda text: "/work/" + text),
    "directory": ("the working folder", lambda text: "/" + text),
    "partition": ("--partition", str),
    "account": ("--account", str),
    "interface": ("--interface", str),
    "image": ("--image", lambda text: "docker://" + text),
    "directives": ("--directive", lambda text: ("--qos=" + text,)),
    "setup": ("--setup", lambda text: ("true " + text,)),
    "command": ("the command's argument", lambda text: ("info", text)),
    "python": ("python", lambda text: "/" + text),
}


@pytest.mark.parametrize("system", ["slurm", "pbs"])
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("control", CONTROL, ids=repr)
def test_no_control_character_gets_into_a_script(system, field, control):
    option, made = FIELDS[field]
    job = replace(JOB, system=system, **{field: made(f"a{control}touch PWNED #")})
    with pytest.raises(InputError, match=f"^{option} .*(control character|part of a character)"):
        jobs.script(job)
    with pytest.raises(InputError, match=r"control character|part of a character"):
        jobs.SYSTEMS[system].script(job)  # nor without the check before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"partition": "-x"}, "--partition '-x' begins with a hyphen"),
        ({"account": ""}, "--account is empty"),
        ({"partition": "x" * 300}, "has 300 bytes; 255 is the most"),
        ({"folder": "/" + "x" * 5000}, "has 5001 bytes; 4096 is the most"),
        ({"interface": "ib0; evil"}, "--interface 'ib0; evil' is not the name of a network"),
        ({"interface": "$(evil)"}, "is not the name of a network"),
        ({"interface": "--preload"}, "begins with a hyphen"),
        ({"image": "-x"}, "--image '-x' begins with a hyphen"),
        ({"image": "docker://a", "folder": "/a:/etc"}, "which apptainer --bind divides"),
        ({"folder": "/a\\b"}, "has a backslash"),
        ({"folder": "/a:b", "system": "pbs"}, "has a colon"),
        ({"directives": ("--qos=a\\",)}, "ends with a backslash"),
        ({"number": "--all"}, "is not the number of a job"),
        ({"number": "../7"}, "is not the number of a job"),
        ({"partition": 7}, "--partition=7 is a int; give text"),
    ],
)
def test_what_cannot_be_where_it_would_go_is_refused(changes, words):
    with pytest.raises(InputError, match=words.replace("$", "\\$").replace("(", "\\(")):
        jobs.script(replace(JOB, **changes))


def test_an_image_that_cannot_be_used_is_named_and_not_run(host, tmp_path):
    (host.bin / "apptainer").write_text("#!/bin/bash\n" + RECORD + "exit 1\n")
    job = replace(JOB, folder=str(tmp_path), directory=str(tmp_path), image="docker://$(evil)`evil`", workers=None)
    done = subprocess.run(
        ["/bin/bash"], input=jobs.script(job), text=True, env=host.environment, capture_output=True, timeout=60
    )
    assert "error: docker://$(evil)`evil` on " in done.stderr
    assert [call[0] for call in host.calls()] == ["apptainer"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--slurm", "info", "a\ntouch PWNED #.txt"],
        ["--slurm", "--output", "a\ntouch PWNED #", "info", "g.txt"],
        ["--pbs", "--partition", "a\ntouch PWNED #", "info", "g.txt"],
        ["--pbs", "--account", "a\rtouch PWNED #", "--dry-run", "info", "g.txt"],
        ["--slurm", "--setup", "true\ntouch PWNED", "--dry-run", "info", "g.txt"],
        ["--slurm", "--directive", "--qos=a\ntouch PWNED", "info", "g.txt"],
        ["--slurm", "--interface", "lo\ntouch PWNED", "run", "bfs", "g.txt", "--source", "1"],
        ["--ssh", "one\ntouch PWNED", "run", "bfs", "g.txt", "--source", "1"],
        ["--ssh", "one;touch PWNED", "run", "bfs", "g.txt", "--source", "1"],
    ],
)
def test_the_command_line_refuses_lines_within_options_and_writes_nothing(arguments, host, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PATH", str(host.bin))
    monkeypatch.setenv("RECORD", str(host.record))
    result = CliRunner(env={"COLUMNS": "1000"}).invoke(cli, ["submit", *arguments])
    assert result.exit_code == 2, result.output
    assert not list(Path.cwd().iterdir())
    assert host.calls() == []


def test_a_job_from_a_working_folder_with_a_line_end_is_refused(host, tmp_path, monkeypatch):
    place = tmp_path / "a\ntouch PWNED #"
    place.mkdir()
    monkeypatch.chdir(place)
    result = CliRunner(env={"COLUMNS": "1000"}).invoke(cli, ["submit", "--slurm", "--output", "/j", "info", "g.txt"])
    assert result.exit_code == 2
    assert "the working folder" in result.stderr


@pytest.mark.parametrize("kind", ["pipe", "device", "brackets", "large", "bytes"])
@pytest.mark.parametrize("name", [scripts.DESCRIPTION, "scheduler.json"])
def test_what_is_no_description_is_refused_and_never_waited_for(name, kind, tmp_path):
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.write_bytes({"brackets": b"[" * 100_000, "large": b" " * (2 << 20), "bytes": b"\xff{}"}[kind])
    arguments = ["submit", "--resume", str(tmp_path)]
    if name == "scheduler.json":
        (tmp_path / "g.txt").write_text("1 2\n")
        arguments = ["run", "bfs", str(tmp_path / "g.txt"), "--source", "1", "--scheduler-file", str(path)]
    result = CliRunner(env={"COLUMNS": "1000"}).invoke(cli, arguments)
    assert result.exit_code == 2
    assert "does not describe a job" in result.stderr or "is not a scheduler file" in result.stderr
    assert len(result.stderr) < 600


@pytest.mark.parametrize("time", ["9" * 5000, "99999999999999", "\u0669", "1:\u0663", "999999-1", "1:" + "0" * 5000])
def test_times_that_no_batch_system_reads_are_refused(time):
    with pytest.raises(InputError, match="is not minutes"):
        replace(JOB, time=time).checked()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('"workers": "1\\n evil"', "workers is '1"),
        ('"command": "info"', "command is 'info'"),
        ('"number": "-u root"', "is not the number of a job"),
        ('"gpus_per_task": null', "gpus_per_task is None"),
        ('"tls": 1', "tls is 1"),
    ],
)
def test_a_damaged_description_of_a_job_is_refused(change, words, tmp_path):
    job = replace(JOB, folder=str(tmp_path))
    job.save()
    path = tmp_path / scripts.DESCRIPTION
    name = change.split(":")[0]
    lines = [each for each in path.read_text().splitlines() if not each.strip().startswith(name)]
    text = "\n".join(lines).replace("{", "{" + change + ",", 1).replace(",\n}", "\n}")
    if name == '"command"':
        import json

        content = json.loads(path.with_name(path.name).read_text())
        text = json.dumps(content | {"command": "info"})
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        scripts.load(tmp_path)


def test_words_and_environment_reach_another_host_as_they_are(host, tmp_path):
    seed = random.randrange(10**9)
    texts = [*HOSTILE, *random_texts(200, seed)]
    ssh = host.bin / "ssh"
    ssh.write_text('#!/bin/bash\nshift\nexec /bin/bash -c "$*"\n')  # sshd hands the words to the user's shell
    ssh.chmod(0o755)
    for name in ("sh", "dd"):
        (host.bin / name).symlink_to(str(shutil.which(name)))
    (host.bin / "python").write_text("#!/bin/bash\n" + RECORD + 'printf "%s\\0" "$VALUE" > "$RECORD/value"\n')
    value = "-----BEGIN\n$(evil) `evil` 'x'\n; evil"
    call = ["/usr/bin/env", *(f"{name}={text}" for name, text in host.environment.items()), str(ssh)]
    remote = Remote("node", [host.python, *texts], {"VALUE": value}, call, tmp_path / "log")
    assert remote.process.wait(60) == 0, remote.text()
    remote.end()
    assert (host.record / "value").read_bytes().decode() == value + "\0", f"seed {seed}"
    (host.record / "value").unlink()
    assert host.calls() == [["python", *texts]], f"seed {seed}"


@pytest.mark.parametrize(
    "name", ["-oProxyCommand=evil", "a b", "a;evil", "$(evil)", "a\nb", "a`evil`", "@a", "x" * 300]
)
def test_hosts_have_names_of_hosts(name):
    with pytest.raises(InputError, match="--ssh"):
        ssh_cluster([name]).__enter__()


@pytest.mark.parametrize("name", ["node1", "me@node-1.example.org", "10.0.0.1", "fe80::1%eth0", "[::1]", "my_node"])
def test_usual_hosts_are_taken(name):
    assert shell.host("--ssh", name) == name


@pytest.mark.parametrize(
    "options",
    [
        {"partition": "a\nevil"}, {"account": "a\nevil"}, {"interface": "lo; evil"}, {"directives": ["--qos=a\nevil"]},
        {"memory": "4GB\nevil"}, {"interface": "$(evil)"},
    ],
)  # fmt: skip
def test_dask_jobqueue_is_given_no_second_line(options):
    with pytest.raises(InputError):
        jobqueue.slurm_cluster(1, **options).__enter__()


@pytest.mark.parametrize("variable", ["A B", "A=B", "A;evil", "1A", ""])
def test_environment_variables_have_names(variable):
    with pytest.raises(InputError, match="is not the name of an environment variable"):
        shell.export(variable, "x")
