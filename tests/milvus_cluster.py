"""A Milvus cluster on this machine: etcd, a broker, coordinators, a proxy and nodes, each a process of its own.

The server is that of `milvus_standalone.py`. The broker is librdkafka's mock broker, which keeps messages in memory: of
a topic the last 5 MB (`max_size` in its rdkafka_mock.c), so what is published must be small. Segments lie in a folder
that all nodes share.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from ctypes.util import find_library
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from milvus_standalone import free_port, install, wait_until_answering

_BROKER = """
import ctypes, signal
kafka = ctypes.CDLL("librdkafka.so.1")
for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
    getattr(kafka, name).restype = ctypes.c_void_p
kafka.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
said = ctypes.create_string_buffer(512)
conf = ctypes.c_void_p(kafka.rd_kafka_conf_new())
client = ctypes.c_void_p(kafka.rd_kafka_new(0, conf, said, ctypes.c_size_t(512)))
cluster = ctypes.c_void_p(kafka.rd_kafka_mock_cluster_new(client, 1))
print(kafka.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
signal.pause()
"""
_UNPACK = "import sys; from milvus import _initialize_data_files as unpack; unpack(sys.argv[1])"
_NODES = {
    "coordinators": ("mixture", "-rootcoord", "-querycoord", "-datacoord", "-indexcoord"),
    "data": ("datanode",),
    "index": ("indexnode",),
    "query-1": ("querynode",),
    "query-2": ("querynode",),
    "proxy": ("proxy",),
}
_SERVICES = ("rootCoord", "queryCoord", "dataCoord", "dataNode", "indexNode", "queryNode", "proxy")


def missing() -> str:
    """What a cluster takes and this machine lacks; "" where it has all."""
    if not shutil.which("etcd"):
        return "etcd is missing: `apt-get install etcd-server`"
    if not find_library("rdkafka"):
        return "librdkafka is missing: `apt-get install librdkafka1`"
    return ""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Processes that serve one address."""

    address: str
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    def kill(self, name: str) -> None:
        """End a process as a machine that goes does: it can't tell anybody."""
        self.processes[name].kill()
        self.processes[name].wait()


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """Run an empty cluster until the block ends; what it needs is installed into the folder."""
    python, data = install(folder), folder / "cluster"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    subprocess.run([str(python), "-c", _UNPACK, str(folder / "data")], check=True)
    cluster = Cluster(f"milvus://127.0.0.1:{free_port()}")
    with ExitStack() as ends:
        etcd = _start_etcd(cluster, ends, data)
        broker = _start_broker(cluster, ends, data)
        for name, what in _NODES.items():
            settings = _settings(data, etcd=etcd, broker=broker, port=int(cluster.address.rpartition(":")[2]))
            command = [str(folder / "data" / "bin" / "milvus"), "run", *what, "-alias", name]
            _start(cluster, ends, name, command, data / name, _environment(folder, data / name, settings))
        wait_until_answering([*cluster.processes.values()], cluster.address, data)
        yield cluster


def _start_etcd(cluster: Cluster, ends: ExitStack, data: Path) -> str:
    clients, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    command = ["etcd", "--data-dir", str(data / "etcd-data")]
    command += ["--listen-client-urls", clients, "--advertise-client-urls", clients]
    command += ["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers]
    _start(cluster, ends, "etcd", [*command, "--initial-cluster", f"default={peers}"], data / "etcd", os.environ)
    return clients.removeprefix("http://")


def _start_broker(cluster: Cluster, ends: ExitStack, data: Path) -> str:
    _start(cluster, ends, "broker", [sys.executable, "-c", _BROKER], data / "broker", os.environ)
    stdout = data / "broker" / "stdout"
    ends_at = time.monotonic() + 30
    while not stdout.read_text().endswith("\n"):
        assert time.monotonic() < ends_at, (data / "broker" / "stderr").read_text()
        time.sleep(0.1)
    return stdout.read_text().strip()


def _settings(data: Path, *, etcd: str, broker: str, port: int) -> dict[str, Any]:
    """Settings of one process: free ports, and what all share."""
    own: dict[str, Any] = {name: {"ip": "127.0.0.1", "port": free_port()} for name in _SERVICES}
    own["proxy"] |= {"port": port, "internalPort": free_port()}
    return {
        **own,
        "etcd": {"endpoints": etcd, "rootPath": "by-dev", "use": {"embed": False}},
        "mq": {"type": "kafka"},
        "kafka": {"brokerList": broker},
        "common": {"storageType": "local"},
        "localStorage": {"path": str(data / "storage")},
        "log": {"level": "info", "file": {"rootPath": ""}},
    }


def _environment(folder: Path, own: Path, settings: dict[str, Any]) -> dict[str, str]:
    """Environment of one process of Milvus, which reads its settings from a folder: JSON is YAML, too."""
    own.mkdir()
    (own / "milvus.yaml").write_text(json.dumps(settings, indent=1))
    (own / "glog.conf").write_text("--logtostderr=true\n--minloglevel=2\n")
    libraries = f"{folder / 'data' / 'bin'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    given = {"MILVUSCONF": str(own), "MILVUS_RUN_DIR": str(own / "run"), "METRICS_PORT": str(free_port())}
    return {**os.environ, **given, "LD_LIBRARY_PATH": libraries, "DEPLOY_MODE": "CLUSTER"}


def _start(
    cluster: Cluster, ends: ExitStack, name: str, command: list[str], own: Path, environment: Mapping[str, str]
) -> None:
    own.mkdir(exist_ok=True)
    with (own / "stdout").open("wb") as out, (own / "stderr").open("wb") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, cwd=own, env=dict(environment))
    cluster.processes[name] = process
    ends.callback(cluster.kill, name)  # nothing that it holds is needed any more
