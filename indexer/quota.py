"""How much processor time do the control groups of this process leave it? Linux, both versions of cgroups."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Cores that may be busy at a time, by the strictest group of this process and those around it; None: no limit.

    `root` is where `proc` and `sys` lie.
    """
    limit, _ = _strictest(root)
    return limit


def cpu_seconds(root: Path = Path("/")) -> float | None:
    """Processor time that the strictest of these groups has taken so far; None: none limits, or tells it."""
    _, folder = _strictest(root)
    if folder is None:
        return None
    if version_2 := re.search(r"^usage_usec (\d+)$", _read(folder / "cpu.stat"), re.MULTILINE):
        return int(version_2[1]) / 1e6
    version_1 = _read(folder / "cpuacct.usage").strip()
    return int(version_1) / 1e9 if version_1 else None


def _strictest(root: Path) -> tuple[float | None, Path | None]:
    """The least limit, and the folder of its group."""
    limits = ((limit, folder) for folder in _folders(root) if (limit := _limit(folder)) is not None)
    return min(limits, key=lambda found: found[0], default=(None, None))


def _folders(root: Path) -> Iterator[Path]:
    """Folders of the groups that this process is in, each followed by those around it, as far as they are mounted."""
    groups = _groups(root)
    for line in _read(root / "proc/self/mountinfo").splitlines():
        fields, _, end = line.partition(" - ")
        top, mounted = fields.split()[3:5]
        kind, _, options = end.split(" ", 2)
        group = groups.get({"cgroup": "cpu", "cgroup2": ""}.get(kind, "none"))
        if group is None or (kind == "cgroup" and "cpu" not in options.split(",")):
            continue
        # A container that shares its host's names of groups has its own group mounted as if it were the top.
        inside = group.relative_to(top) if group.is_relative_to(top) else PurePosixPath()
        folder = root / mounted.lstrip("/")
        for place in (inside, *inside.parents):
            yield folder / place


def _groups(root: Path) -> dict[str, PurePosixPath]:
    """Groups of this process by their controller; of version 2, which has one group for all, by the empty name."""
    lines = [line.split(":", 2) for line in _read(root / "proc/self/cgroup").splitlines()]
    return {controller: PurePosixPath(path) for _, names, path in lines for controller in names.split(",")}


def _limit(folder: Path) -> float | None:
    """Microseconds of processor time in a period, over those of the period; None where a group has no limit."""
    version_2 = _read(folder / "cpu.max").split()
    quota, period = version_2 or [_read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    return None if quota in ("", "max", "-1") else int(quota) / int(period)


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text("utf-8")
    return ""
