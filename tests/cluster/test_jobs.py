"""Jobs without a batch system: what their scripts say, what is refused before one is submitted, and a PBS of ours.

The PBS is four programs on PATH: `qsub` starts the script, `qstat` tells from files what became of it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import click
import dask
import pytest
from source_tree import ROOT, settings
from submitted import program, said

from graphdask.cli import cli
from graphdask.cluster import batch, certificates, jobqueue, jobs, pbs, scripts, slurm, tls
from graphdask.cluster.scripts import Job
from graphdask.cluster.tuning import CLUSTER
from graphdask.comm.ucx.plane import ucx_available
from graphdask.commands.options import Numbers
from graphdask.commands.submit import command
from graphdask.errors import CommunicationError, InputError, JobFailed, MissingDependency, WriteError

JOB = Job("/work/my job", ("run", "bfs", "a b.txt"), workers=8, directory="/home")


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp()))


@pytest.mark.parametrize("system", ["slurm", "pbs"])
@pytest.mark.parametrize("gpus", [0, 1, 4])
def test_scripts_are_bash_and_name_what_was_asked_for(system, gpus):
    text = jobs.SYSTEMS[system].script(replace(JOB, system=system, gpus_per_task=gpus, time="1-0", interface="ib0"))
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=True, timeout=60)
    assert "24:00:00" in text
    assert text.count("--interface ib0 --protocol tls") == 2  # scheduler and workers
    assert f"-n {8 // max(1, gpus)} " in text or f"--ntasks={8 // max(1, gpus)}\n" in text
    assert ("dask cuda worker" in text) == bool(gpus)
    assert "run bfs 'a b.txt' --scheduler-file '/work/my job/scheduler.json' --workers 8" in text


def test_gpus_are_asked_for_by_task():
    job = replace(JOB, gpus_per_task=4)
    assert "#SBATCH --gpus-per-task=4\n" in slurm.script(job)
    assert "--gpus-per-task=4 --kill" in slurm.script(job)  # srun does not take it over
    assert "#SBATCH --cpus-per-task=4\n" in slurm.script(job)  # a core for each of its workers
    assert "#PBS -l select=2:ncpus=4:mpiprocs=1:ngpus=4\n" in pbs.script(job)


def test_an_image_brings_its_own_python():
    text = slurm.script(replace(JOB, image="graphdask.sif", gpus_per_task=1))
    seen = f"--bind '/work/my job' --bind {tls.user_folder()}"
    assert f"apptainer exec --nv {seen} graphdask.sif python -P -m dask cuda worker" in text
    assert sys.executable not in text


NAMED = {"ca-file": "/ca"} | {role: {"cert": "/c", "key": "/k"} for role in ("scheduler", "worker", "client")}


@pytest.mark.parametrize(
    ("configured", "own", "over_ucx"),
    [
        ({}, True, True),
        ({"distributed.comm.tls": NAMED}, False, True),
        ({"distributed.comm.tls": {"ca-file": "/ca", "client": {"cert": "/c"}}}, True, True),
        ({"distributed.comm.require-encryption": True}, True, False),
        ({"graphdask.allow-insecure-ucx": False}, True, False),
    ],
)
def test_processes_of_a_job_learn_how_to_encrypt_and_whether_data_may_go_over_ucx(
    configured, own, over_ucx, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with dask.config.set(configured):
        text = slurm.script(JOB)
    certificate = tls.user_folder() / certificates.CERTIFICATE
    assert (f"export DASK_DISTRIBUTED__COMM__TLS__WORKER__CERT={certificate}\n" in text) == own
    assert text.count("DISTRIBUTED__COMM__TLS__") == 7 * own
    assert ("export DASK_GRAPHDASK__ALLOW_INSECURE_UCX=true\n" in text) == over_ucx
    assert text.count(" --protocol tls") == 2
    assert not certificate.exists()  # a script alone makes none


def test_no_tls_is_for_clusters_that_need_not_encrypt():
    text = jobs.script(replace(JOB, tls=False))
    assert not any(word in text for word in ("TLS", "INSECURE", "--protocol"))
    required = dask.config.set({"distributed.comm.require-encryption": True})
    with required, pytest.raises(InputError, match="require-encryption is set; leave --no-tls out"):
        jobs.script(replace(JOB, tls=False))


def test_workers_are_those_of_a_local_cluster():
    words = " ".join(scripts.worker_arguments(gpu=False))
    assert "--nthreads 1 --memory-limit 0" in words
    assert "--no-nanny" not in words  # a worker that dies is started again
    assert "--device-memory-limit 0" in " ".join(scripts.worker_arguments(gpu=True))


@pytest.mark.parametrize(
    ("time", "seconds"),
    [("90", 5400), ("1:30", 90), ("1:00:00", 3600), ("1-2", 93600), ("1-2:3", 93780), ("1-2:3:4", 93784)],
)
def test_times_are_read_as_slurm_reads_them(time, seconds):
    assert scripts.seconds_of(time) == seconds


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workers": 0}, "workers=0 must be 1 or more"),
        ({"workers": 3, "gpus_per_task": 2}, "3 workers with a GPU each cannot be divided into tasks of 2 GPUs"),
        ({"time": "soon"}, "'soon' is not minutes"),
        ({"time": "0"}, "'0' is no time"),
        ({"directives": ("--qos=a\nrm",)}, "control character"),
        ({"image": "no.sif"}, "image no.sif: no such file"),
        ({"system": "lsf"}, "system='lsf' is not one of slurm, pbs"),
    ],
)
def test_jobs_that_do_not_fit_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        jobs.script(replace(JOB, **changes))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--slurm"], "which command?"),
        (["run", "bfs", "g.txt"], "which cluster?"),
        (["--slurm", "run"], "which of them?"),
        (["--slurm", "run", "nothing", "g.txt"], "No such command 'nothing'"),
        (["--slurm", "run", "bfs"], "Missing argument 'FILE'"),
        (["--slurm", "run", "strong", "g.txt", "--workers", "2"], "give submit --workers before the command"),
        (["--slurm", "run", "bfs", "g.txt", "--source", "1", "--device", "cuda"], "give submit --gpus-per-task 1"),
        (["--slurm", "--workers", "2", "info", "g.txt"], "runs in one process here"),
        (["--slurm", "--workers", "2", "run", "bfs", "g.gdl", "--source", "1"], "runs in one process here"),
        (["--slurm", "--interface", "ib0", "info", "g.txt"], "--interface is of the messages of a cluster"),
        (["--pbs", "--no-tls", "info", "g.txt"], "--tls is of the messages of a cluster"),
        (["--slurm", "--dry-run", "--detach", "info", "g.txt"], "--detach is of a job that is submitted"),
        (["--slurm", "--dry-run", "--overwrite", "--output", "job", "info", "g.txt"], "--overwrite is of a job that"),
        (["--slurm", "--overwrite", "info", "g.txt"], "--overwrite replaces the job of a folder; give --output"),
        (["--mpi", "--overwrite", "info", "g.txt"], "--overwrite replaces the job of a folder; give --output"),
        (["--ssh", "one", "--overwrite", "--output", "job", "info", "g.txt"], "are for jobs that are queued"),
        (["--resume", "job", "--overwrite", "--output", "job"], "only --time, --partition, --account, --directive"),
        (["--slurm", "submit", "--slurm", "info", "g.txt"], "a job that submits jobs"),
        (["--mpi", "--workers", "2", "run", "strong", "g.txt"], "--mpi has no use for --workers"),
        (["--ssh", "one", "--time", "2", "run", "bfs", "g.txt"], "--ssh has no use for --time"),
        (["--ssh", "one", "--detach", "run", "bfs", "g.txt"], "are for jobs that are queued"),
        (["--ssh", "one", "info", "g.txt"], "call it without submit"),
        (["--ssh", "one", "--slurm", "info", "g.txt"], "two places for one job"),
        (["--resume", "nowhere"], "nowhere is not the folder of a job"),
        (["--resume", "nowhere", "--workers", "2"], "only --time, --partition, --account, --directive"),
    ],
)
def test_what_cannot_become_a_job_is_refused_before_one_is_written(call, tmp_path, arguments, words):
    result = call(*arguments)
    assert result.exit_code == 2
    assert words in said(result)
    assert [each.name for each in tmp_path.iterdir()] == ["bin"]


def test_a_dry_run_writes_nothing(call, tmp_path):
    result = call("--slurm", "--dry-run", "info", "g.txt")
    assert result.exit_code == 0
    assert result.stdout.startswith("#!/bin/bash\n#SBATCH --job-name=graphdask-info-g.txt\n")
    assert "dask scheduler" not in result.stdout  # the command needs no cluster
    assert "TLS" not in result.stdout
    assert [each.name for each in tmp_path.iterdir()] == ["bin"]


@click.command()
@click.option("--workers", type=Numbers(), default=(1, 2))
@click.option("--scheduler-file")
def several(workers, scheduler_file):
    """A command that runs on several numbers of workers in turn."""


@pytest.mark.parametrize(
    ("before", "after", "tasks", "end"),
    [
        ([], [], 2, "--workers 1,2 --scheduler-file {}"),
        (["--workers", "8"], ["--workers", "2,4"], 8, "--workers 2,4 --scheduler-file {}"),
    ],
)
def test_a_command_that_takes_several_numbers_of_workers_gets_the_most(call, monkeypatch, before, after, tasks, end):
    monkeypatch.setattr(type(cli), "get_command", lambda self, ctx, name: command if name == "submit" else several)
    result = call("--slurm", "--dry-run", "--output", "job", *before, "several", *after)
    assert result.exit_code == 0, result.stderr
    assert f"#SBATCH --ntasks={tasks}\n" in result.stdout
    assert end.format(Path.cwd() / "job/scheduler.json") + ' > "$folder/result.txt"' in result.stdout
    assert call("--slurm", "--dry-run", "--workers", "1", "several").exit_code == 2


@pytest.mark.parametrize(("system", "name"), [("slurm", "sbatch"), ("pbs", "qsub")])
def test_without_a_batch_system_it_says_so(call, tmp_path, monkeypatch, system, name):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    result = call(f"--{system}", "--output", "job", "info", "g.txt")
    assert result.exit_code == 2
    assert f"there is no {name} on PATH" in said(result)
    assert not (tmp_path / "job").exists()


def test_workers_on_gpus_want_dask_cuda(host):
    host.without("dask_cuda")
    with pytest.raises(MissingDependency, match="dask-cuda"):
        jobs.script(replace(JOB, gpus_per_task=1))
    jobs.script(replace(JOB, gpus_per_task=1, image="docker://graphdask"))  # the image has its own
    assert "dask cuda worker" in jobs.script(replace(JOB, gpus_per_task=1), complete=False)


def test_a_dry_run_wants_nothing_and_says_what_the_job_would_lack(call, host):
    host.without("dask_cuda")
    result = call("--slurm", "--gpus-per-task", 1, "--dry-run", "run", "bfs", "g.txt", "--source", "0")
    assert result.exit_code == 0, result.output
    assert "dask cuda worker" in result.stdout
    assert "needs dask-cuda" in said(result)


def test_dask_jobqueue_is_named_where_it_is_missing(host):
    host.without("dask_jobqueue")
    for cluster in (jobqueue.slurm_cluster(1), jobqueue.slurm_runner()):
        with pytest.raises(MissingDependency, match=r"graphdask\[slurm\]"):
            cluster.__enter__()


def test_a_runner_wants_a_job_of_several_tasks(monkeypatch):
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue, which the extra 'slurm' installs")
    monkeypatch.setenv("SLURM_PROCID", "0")
    monkeypatch.setenv("SLURM_NTASKS", "2")
    with pytest.raises(InputError, match="3 tasks or more, and this has 2"):
        jobqueue.slurm_runner().__enter__()


def test_the_image_installs_extras_that_exist():
    text = (ROOT / "cluster/graphdask.def").read_text()
    (names,) = re.findall(r"/opt/graphdask\[(.*?)\]", text)
    assert set(names.split(",")) <= set(settings()["project"]["optional-dependencies"])
    assert all((ROOT / name).exists() for name in re.findall(r"^ +(\S+) /opt/graphdask/", text, re.MULTILINE))


def test_a_folder_that_cannot_be_made_is_refused(call, tmp_path):
    program(tmp_path, "sbatch", "echo 1")
    (tmp_path / "file").touch()
    result = call("--slurm", "--output", "file/job", "info", "g.txt")
    assert result.exit_code == 2
    assert "cannot be written: Not a directory; name another" in said(result)


def test_a_full_disk_is_said(tmp_path, fault):
    fault(Path, "write_text", OSError(28, "No space left on device"))
    with pytest.raises(WriteError, match="No space left on device"):
        scripts.write(replace(JOB, folder=str(tmp_path / "job")), "")


def test_a_controller_that_cannot_be_reached_is_no_fault_of_the_input(call, tmp_path):
    program(
        tmp_path, "sbatch", "echo 'sbatch: error: Unable to contact slurm controller (connect failure)' >&2; exit 1"
    )
    with pytest.raises(CommunicationError, match="cannot reach its daemon: Unable to contact slurm controller"):
        slurm.submit(tmp_path / "job.sh")


@pytest.mark.parametrize(
    ("accounts", "state"),
    [
        ("echo 'CANCELLED by 0|0:15'", batch.State("CANCELLED", True, exit_code=143)),
        ("echo 'COMPLETED|0:0'", batch.State("COMPLETED", True, exit_code=0)),
        ("echo 'Slurm accounting storage is disabled' >&2; exit 1", batch.UNKNOWN),
    ],
)
def test_a_job_that_slurm_has_forgotten_is_looked_up_in_the_accounts(call, tmp_path, accounts, state):
    program(tmp_path, "scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    program(tmp_path, "sacct", accounts)
    assert slurm.look("7") == state


AWAY = """
if [ -e {folder}/back ]; then echo 'JobState=COMPLETED ExitCode=0:0'; exit; fi
touch {folder}/back
echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1
"""


def test_a_controller_may_be_away_for_a_while(call, tmp_path, tuned):
    program(tmp_path, "scontrol", AWAY.format(folder=tmp_path))
    tuned(CLUSTER, longest_pause=0.0)
    (tmp_path / "exit-code").write_text("0\n")
    (tmp_path / "result.txt").write_text("the answer")
    job = replace(JOB, folder=str(tmp_path), number="7")
    assert jobs.follow(job, print) == "the answer"
    tuned(CLUSTER, away_seconds=-1.0)
    (tmp_path / "back").unlink()
    with pytest.raises(CommunicationError, match=r"job 7 goes on, but .*slurm controller; graphdask submit --resume"):
        jobs.follow(job, print)


QSUB = """
number=$$.host
PBS_JOBID=$number setsid bash "$2" < /dev/null > /dev/null 2>&1 &
echo $! > {folder}/pid
echo $number
"""
QSTAT = """
folder={folder}
if kill -0 $(cat $folder/pid) 2>/dev/null; then state=R; else state=F; fi
echo "Job Id: $3"; echo "    job_state = $state"; echo "    exec_host = n1/0"
if [ $state = F ]; then
  echo "    Exit_status = $(cat $folder/job/exit-code)"
fi
"""
QDEL = "kill -TERM $(cat {folder}/pid)"
MPIEXEC = """
shift; number=$1; shift
trap 'kill $(jobs -p); wait' TERM
for ((k = 0; k < number; k++)); do "$@" & done
wait
"""


@pytest.fixture
def batch_system(tmp_path, call):
    for name, text in {"qsub": QSUB, "qstat": QSTAT, "qdel": QDEL, "mpiexec": MPIEXEC}.items():
        program(tmp_path, name, text.replace("{folder}", str(tmp_path)))
    (tmp_path / "graph.txt").write_text("10 20\n20 30\n40 50\n")
    yield
    pid = tmp_path / "pid"
    deadline = time.monotonic() + 120
    while pid.exists() and Path(f"/proc/{pid.read_text().strip()}").exists():  # the script ends what it started
        assert time.monotonic() < deadline, "the job still runs"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.usefixtures("batch_system")
def test_a_search_as_a_pbs_job_speaks_tls_and_sends_over_ucx(call, tmp_path, monkeypatch):
    transport = "ucx" if ucx_available()[0] else "tcp"
    monkeypatch.setenv("DASK_GRAPHDASK__COMM", transport)  # one host would share memory
    read = ["run", "bfs", "graph.txt", "--undirected", "--source", "10", "--json"]
    result = call("--pbs", "--workers", "2", "--interface", "lo", "--time", "10", "--output", "job", *read)
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["answer"]["reached"] == 3
    assert answer["stats"]["ranks"] == 2
    assert answer["stats"]["transport"] == transport
    assert "Scheduler at: tls://127.0.0.1:" in " ".join((tmp_path / "job/scheduler.log").read_text().split())
    assert "bfs from 10 ..." in said(result)


@pytest.mark.slow
@pytest.mark.usefixtures("batch_system")
def test_a_pbs_job_that_fails_is_submitted_again(call, tmp_path):
    result = call("--pbs", "--output", "job", "info", "later.txt")
    assert result.exit_code == 2
    assert "later.txt: no such file" in said(result)
    os.rename("graph.txt", "later.txt")
    result = call("--resume", "job")
    assert result.exit_code == 0, result.stderr
    assert "ids" in result.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("batch_system")
def test_a_pbs_job_that_is_deleted_was_cancelled(call, tmp_path):
    result = call("--pbs", "--setup", "touch begun; while true; do sleep 0.1; done", "--detach", "--output", "job",
                  "info", "graph.txt")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    job = scripts.load("job")
    assert result.stdout.strip() == job.number
    deadline = time.monotonic() + 120
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    jobs.cancel(job)
    with pytest.raises(JobFailed, match="was cancelled"):
        jobs.follow(job, print)


@pytest.mark.slow
@pytest.mark.usefixtures("batch_system")
def test_workers_that_cannot_start_end_the_job(call, tmp_path):
    program(tmp_path, "mpiexec", "echo no such host >&2; exit 1")
    read = ["run", "bfs", "graph.txt", "--source", "10"]
    result = call("--pbs", "--no-tls", "--interface", "lo", "--output", "job", *read)
    assert result.exit_code == 1
    assert "Scheduler at: tcp://127.0.0.1:" in " ".join((tmp_path / "job/scheduler.log").read_text().split())
    assert "the workers have ended; the last lines of their logs" in said(result)
    assert "no such host" in said(result)


def test_a_host_whose_python_has_no_graphdask_is_named(tmp_path):
    job = replace(JOB, folder=str(tmp_path), directory=str(tmp_path), python="/bin/false")
    done = subprocess.run(["bash"], input=slurm.script(job), capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert f"error: /bin/false on {os.uname().nodename} cannot import graphdask" in done.stderr
    assert jobs.exit_code(job) == 1


def test_states_of_pbs_are_read():
    assert pbs.read_state("Job Id: 1\n    job_state = Q\n    comment = Not Running: no node\n") == pbs.State(
        "PENDING", False, "Not Running: no node"
    )
    assert pbs.read_state("Job Id: 1\n    job_state = F\n    Exit_status = -29\n").name == "TIMEOUT"
    assert pbs.read_state("Job Id: 1\n    job_state = F\n    Exit_status = 265\n").exit_code == 137
