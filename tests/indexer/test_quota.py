"""Cores are counted as a container and torchrun leave them: by affinity, quota, and the ranks beside this one."""

import os
from pathlib import Path

import pytest

from indexer.process import cores, cores_of_rank, cpu_quota, cpu_seconds

VERSION_2 = "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
VERSION_1 = [
    "32 31 0:29 {top} /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct",
    "33 31 0:30 {top} /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory",
]


def _machine(root: Path, *, groups: list[str], mounts: list[str], limits: dict[str, str]) -> Path:
    """Write what Linux tells of a process's control groups under a folder."""
    files = {"proc/self/cgroup": "\n".join(groups), "proc/self/mountinfo": "\n".join(mounts)}
    for name, content in (files | {f"sys/fs/cgroup/{path}": limit for path, limit in limits.items()}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{content}\n")
    return root


def test_the_strictest_group_around_a_process_limits_it(tmp_path: Path) -> None:
    limits = {
        "cpu.max": "max 100000",
        "pod/cpu.max": "150000 100000",
        "pod/shell/cpu.max": "800000 200000",
        "pod/shell/own/cpu.max": "max 100000",
        "pod/other/cpu.max": "10000 100000",
    }
    root = _machine(tmp_path, groups=["0::/pod/shell/own"], mounts=[VERSION_2], limits=limits)
    assert cpu_quota(root) == 1.5


@pytest.mark.parametrize(
    ("top", "group", "folder"),
    [("/", "/docker/abc", "docker/abc/"), ("/docker/abc", "/docker/abc", ""), ("/", "/", ""), ("/docker", "/", "")],
)
def test_version_1_is_read_where_it_is_mounted(tmp_path: Path, top: str, group: str, folder: str) -> None:
    own = f"cpu,cpuacct/{folder}cpu.cfs"
    limits = {f"{own}_quota_us": "250000", f"{own}_period_us": "100000", "memory/cpu.max": "10000 100000"}
    groups = [f"3:cpu,cpuacct:{group}", f"2:memory:{group}", "0::/"]
    root = _machine(tmp_path, groups=groups, mounts=[mount.format(top=top) for mount in VERSION_1], limits=limits)
    assert cpu_quota(root) == 2.5


def test_groups_without_a_limit_leave_every_core(tmp_path: Path) -> None:
    unlimited = {"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "100000", "cpu.max": "max 1000"}
    mounts = [VERSION_2, *(mount.format(top="/") for mount in VERSION_1)]
    root = _machine(tmp_path, groups=["3:cpu,cpuacct:/", "0::/"], mounts=mounts, limits=unlimited)
    assert cpu_quota(root) is None
    assert cpu_quota(tmp_path / "not Linux") is None


def test_the_group_that_limits_tells_what_it_has_taken(tmp_path: Path) -> None:
    limits = {"pod/cpu.max": "150000 100000", "pod/cpu.stat": "usage_usec 2500000\nuser_usec 1"}
    assert cpu_seconds(_machine(tmp_path / "2", groups=["0::/pod"], mounts=[VERSION_2], limits=limits)) == 2.5
    taken = {"cpu.cfs_quota_us": "50000", "cpu.cfs_period_us": "100000", "cpuacct.usage": "1500000000"}
    limits = {f"cpu,cpuacct/pod/{name}": value for name, value in taken.items()}
    mounts = [line.format(top="/") for line in VERSION_1]
    assert cpu_seconds(_machine(tmp_path / "1", groups=["4:cpu:/pod"], mounts=mounts, limits=limits)) == 1.5
    assert cpu_seconds(tmp_path / "not Linux") is None


@pytest.mark.parametrize(("quota", "expected"), [(None, 6), (0.2, 1), (1.4, 1), (2.5, 3), (4.0, 4), (64.0, 6)])
def test_cores_are_those_of_affinity_that_the_quota_pays_for(
    monkeypatch: pytest.MonkeyPatch, quota: float | None, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr("indexer.process.cpu_quota", lambda: quota)
    assert cores() == expected


@pytest.mark.parametrize(("n_ranks", "shares"), [(1, [7]), (2, [4, 3]), (4, [2, 2, 2, 1]), (8, [1] * 8)])
def test_ranks_of_a_machine_share_all_of_its_cores(
    monkeypatch: pytest.MonkeyPatch, n_ranks: int, shares: list[int]
) -> None:
    monkeypatch.setattr("indexer.process.cores", lambda: 7)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(n_ranks))
    for rank, share in enumerate(shares):
        monkeypatch.setenv("LOCAL_RANK", str(rank))
        assert cores_of_rank() == share
