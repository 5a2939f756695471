"""A Slurm of its own on this host: munged, slurmctld and slurmd on free ports, with all they write in one folder.

They run in the foreground as children of this process and are ended with it, however it ends.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel", "scontrol", "sinfo", "setpriv")
SBIN = "/usr/sbin"
READY_SECONDS = 90.0
CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.log
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
KillWait=5
InactiveLimit=0
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def missing() -> str:
    """Why no Slurm can be started here; empty where one can."""
    if os.geteuid() != 0:
        return "starting Slurm's daemons needs root"
    path = f"{os.environ['PATH']}:{SBIN}"
    absent = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    return f"needs {', '.join(absent)}: apt-get install slurmctld slurmd slurm-client munge" if absent else ""


@contextmanager
def slurm_host() -> Iterator[Path]:
    """Start Slurm, one node of 4 CPUs and the partition `main`, and yield its configuration file for SLURM_CONF."""
    # Munge goes through every folder above its key and its socket, which it wants to be nobody else's to write.
    folder = Path(tempfile.mkdtemp(prefix="graphdask-slurm-"))
    daemons: list[subprocess.Popen] = []
    try:
        config = _configure(folder)
        munge = pwd.getpwnam("munge")
        as_munge = [f"--reuid={munge.pw_uid}", f"--regid={munge.pw_gid}", "--clear-groups"]
        files = {
            "key-file": "munge.key",
            "socket": "munge.sock",
            "pid-file": "pid",
            "log-file": "log",
            "seed-file": "seed",
        }
        daemons.append(
            _start(folder, as_munge, ["munged", "-F", *(f"--{k}={folder}/munge/{name}" for k, name in files.items())])
        )
        _wait(folder, daemons, lambda: (folder / "munge/munge.sock").exists())
        daemons.append(_start(folder, [], ["slurmctld", "-D", "-f", str(config)]))
        daemons.append(_start(folder, [], ["slurmd", "-D", "-f", str(config)]))
        _wait(folder, daemons, lambda: _idle(config))
        yield config
    finally:
        _end(folder, daemons)


def _configure(folder: Path) -> Path:
    folder.chmod(0o755)
    for name in ("state", "spool", "log", "munge"):
        (folder / name).mkdir(mode=0o755)
    key = folder / "munge/munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    for path in (folder / "munge", key):
        shutil.chown(path, "munge", "munge")
    config = folder / "slurm.conf"
    config.write_text(CONFIG.format(folder=folder, host=socket.gethostname().split(".")[0], ports=_free_ports()))
    (folder / "cgroup.conf").write_text("CgroupAutomount=no\nCgroupPlugin=cgroup/v1\n")
    return config


def _free_ports() -> list[int]:
    with socket.socket() as first, socket.socket() as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        return [first.getsockname()[1], second.getsockname()[1]]


def _start(folder: Path, privileges: list[str], command: list[str]) -> subprocess.Popen:
    """A daemon that the kernel ends with this process."""
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:{SBIN}"}
    with (folder / f"{command[0]}.out").open("wb") as out:
        return subprocess.Popen(
            ["setpriv", *privileges, "--pdeathsig", "TERM", *command],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment, cwd=folder,
        )  # fmt: skip


def _idle(config: Path) -> bool:
    environment = os.environ | {"SLURM_CONF": str(config)}
    done = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, env=environment, timeout=60)
    return done.stdout.strip() == "idle"


def _wait(folder: Path, daemons: list[subprocess.Popen], ready) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not ready():
        ended = [each.args for each in daemons if each.poll() is not None]
        if ended or time.monotonic() > deadline:
            logs = [*folder.glob("*.out"), *folder.glob("log/*"), folder / "munge/log"]
            texts = "\n".join(f"{log}:\n{log.read_text()[-2000:]}" for log in logs if log.exists())
            raise RuntimeError(f"Slurm did not start ({ended or 'too slow'}):\n{texts}")
        time.sleep(0.05)


def ours(config: Path) -> list[int]:
    """Processes of a Slurm: its daemons, its steps, and what its jobs started."""
    found = []
    needle = f"SLURM_CONF={config}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if needle in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:  # it has ended meanwhile
                continue
    return found


def _end(folder: Path, daemons: list[subprocess.Popen]) -> None:
    for each in reversed(daemons):
        each.terminate()
    for each in daemons:
        try:
            each.wait(30)
        except subprocess.TimeoutExpired:
            each.kill()
            each.wait(30)
    for pid in ours(folder / "slurm.conf"):  # steps, and processes of jobs that a failed test left
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    shutil.rmtree(folder, ignore_errors=True)
