"""How much memory of the host may still be used, by the system and by the limits of a container or a job."""

from __future__ import annotations


def free() -> int:
    """Bytes that are available, and that the control group still allows."""
    with open("/proc/meminfo") as meminfo:
        for line in meminfo:
            if line.startswith("MemAvailable:"):
                return min(int(line.split()[1]) * 1024, of_control_group())
    return of_control_group()


def of_control_group(root: str = "/sys/fs/cgroup") -> int:
    """Bytes that the control group still allows; a very large number where there is no limit.

    The kernel counts file pages as used, and takes the inactive ones back before it refuses memory.
    """
    try:
        with open(f"{root}/memory.max") as limit, open(f"{root}/memory.current") as used:
            text, current = limit.read().strip(), int(used.read())
        if text == "max":
            return 1 << 62
        with open(f"{root}/memory.stat") as stat:
            inactive = next((int(line.split()[1]) for line in stat if line.startswith("inactive_file ")), 0)
    except OSError:
        return 1 << 62
    return max(0, int(text) - max(0, current - inactive))
