"""`graphdask doctor`: what this host, or every process of a cluster, has; and what to do about what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from graphdask.commands.options import cluster_of, json_option, scheduler_options
from graphdask.display import terminal


@click.command("doctor")
@scheduler_options
@json_option
def command(scheduler: str | None, scheduler_file: str | None, as_json: bool) -> None:
    """What this host (or a cluster) has, and what to do about what is missing.

    Python, versions, GPUs and their driver, NCCL, the UCX transports that really open, memory, cores and limits. With
    a scheduler the same of every worker, and the versions that differ.
    """
    from graphdask.cluster.doctor import examine, problems, skew

    found: dict[str, Any] = {"client": examine(), "workers": {}, "scheduler": None, "skew": []}
    if scheduler is not None or scheduler_file is not None:
        with cluster_of(0, scheduler, scheduler_file) as client:
            found |= _examine_cluster(client)
        processes = {"client": found["client"], "scheduler": found["scheduler"], **found["workers"]}
        found["skew"] = skew({name: process for name, process in processes.items() if "versions" in process})
    examined = {"this process": found["client"], **found["workers"]}
    found["problems"] = _gathered(
        {name: process["error"] if "error" in process else problems(process) for name, process in examined.items()}
    )
    if as_json:
        terminal.print_json(found)
        return
    _show(found)


def _examine_cluster(client: Any) -> dict[str, Any]:
    """What the scheduler and every worker see; where one of them has no graphdask, what Dask knows of it."""
    from graphdask.cluster.doctor import examine, examine_scheduler

    known = client.get_versions(check=False)

    def from_dask(entry: Mapping[str, Any], error: object) -> dict[str, Any]:
        packages = {name: version for name, version in entry["packages"].items() if version is not None}
        python = ".".join(str(packages.pop("python", "?")).split(".")[:3])
        return {"python": python, "versions": packages, "error": str(error)}

    workers = {}
    for address, answer in client.run(examine, on_error="return").items():
        workers[address] = from_dask(known["workers"][address], answer) if isinstance(answer, Exception) else answer
    try:
        scheduler = client.run_on_scheduler(examine_scheduler)
    except Exception as error:  # the scheduler may do without graphdask; what Dask knows of it is enough then
        scheduler = from_dask(known["scheduler"], error)
    return {"workers": workers, "scheduler": scheduler}


def _gathered(by_process: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each problem once, with the processes that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    for process, problems in by_process.items():
        if isinstance(problems, str):
            problems = [(f"graphdask cannot look: {problems}", "install the same graphdask on every worker")]
        for problem in problems:
            found.setdefault(problem, []).append(process)
    return [{"problem": problem, "do": do, "where": where} for (problem, do), where in found.items()]


def _show(found: Mapping[str, Any]) -> None:
    click.echo("this process\n")
    click.echo(terminal.pairs(_lines(found["client"])))
    workers = found["workers"]
    if found["scheduler"] is not None:
        click.echo("\nworkers\n")
        lines = [_worker_row(address, seen) for address, seen in workers.items()]
        header = ("worker", "host", "cores", "free memory", "GPUs", "data planes")
        click.echo(terminal.table(header, lines, right=(2, 3)) if lines else "  none is connected")
        click.echo("\nversions that differ\n")
        click.echo(_skew_table(found["skew"]) or "  none")
    click.echo("\nproblems\n")
    rows = []
    for problem in found["problems"]:
        everywhere = len(problem["where"]) == 1 + len(workers)
        where = "" if not workers else " [everywhere]" if everywhere else f" [{', '.join(problem['where'])}]"
        rows.append(f"{problem['problem']}{where}. To do: {problem['do']}.")
    rows += [
        f"{entry['package']} differs between processes. To do: install the same version in all of them."
        for entry in found["skew"]
        if entry["matters"]
    ]
    click.echo("\n".join(map(terminal.bullet, rows)) or "  none")


def _lines(seen: Mapping[str, Any]) -> list[tuple[str, str]]:
    cuda, limits = seen["cuda"], seen["limits"]
    gpus = "; ".join(f"{gpu['name']}, {terminal.size(gpu['memory'])}" for gpu in seen["gpus"] or cuda["devices"])
    driver = f" (driver {seen['gpus'][0]['driver']})" if seen["gpus"] else ""
    usable = f"driver {cuda['driver']}, runtime {cuda['runtime']}" if cuda["usable"] else f"no: {cuda['reason']}"
    memory, shared = seen["memory"], seen["shared_memory"]
    limit = {name: "unlimited" if value < 0 else f"{value:,}" for name, value in limits.items()}
    if limits["locked_memory"] >= 0:
        limit["locked_memory"] = terminal.size(limits["locked_memory"])
    return [
        ("host", f"{seen['host']}, {seen['os']}, Linux {seen['kernel']}"),
        ("python", f"{seen['python']}, {seen['executable']}"),
        ("cores", f"{seen['cores']}, {seen['processor']}"),
        ("memory", f"{terminal.size(memory['available'])} free of {terminal.size(memory['total'])}"),
        ("shared memory", f"{terminal.size(shared['free'])} free of {terminal.size(shared['total'])} in /dev/shm"),
        ("limits", f"open files {limit['open_files']}, locked memory {limit['locked_memory']}, "
                   f"processes {limit['processes']}"),
        ("GPUs", f"{gpus}{driver}" if gpus else "none"),
        ("CUDA", usable),
        ("NCCL", seen["nccl"]["found"]),
        ("UCX", f"{seen['ucx']['found']}; {' '.join(seen['ucx']['transports'])}".rstrip("; ")),
        ("versions", ", ".join(f"{name} {version}" for name, version in seen["versions"].items())),
        ("environment", ", ".join(f"{k}={v}" for k, v in seen["environment"].items()) or "no UCX_, NCCL_ setting"),
    ]  # fmt: skip


def _worker_row(address: str, seen: Mapping[str, Any]) -> list[str]:
    if "error" in seen:
        return [address, "?", "", "", "", f"graphdask cannot look: {seen['error']}"]
    planes = [name for name in ("nccl", "ucx") if seen[name]["usable"]]
    transports = f" ({' '.join(seen['ucx']['transports'])})" if seen["ucx"]["usable"] else ""
    return [
        address,
        seen["host"],
        str(seen["cores"]),
        terminal.size(seen["memory"]["available"]),
        str(len(seen["cuda"]["devices"])),
        " ".join([*planes, "tcp"]) + transports,
    ]


def _skew_table(skew: list[dict[str, Any]]) -> str:
    rows = []
    for entry in skew:
        by_version: dict[str, list[str]] = {}
        for process, version in entry["versions"].items():
            by_version.setdefault(version, []).append(process)
        rows.append([
            entry["package"],
            "must agree" if entry["matters"] else "may differ",
            "; ".join(f"{version}: {', '.join(processes)}" for version, processes in by_version.items()),
        ])  # fmt: skip
    return terminal.table(("package", "", "where"), rows) if rows else ""
