"""Starts a real Milvus server on this machine, to try and to test with: version 2.3.5 comes from PyPI, without docker.

    python tests/milvus_standalone.py ~/milvus

It is installed into an environment of its own, as it wants old packages. For more than trials take a current server.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from indexer.errors import IconsError, LibraryError
from search.generation.milvus.connection import PORT, Address, Connection

PACKAGES = ("milvus==2.3.5", "setuptools<81")
STARTING_SECONDS = 240.0
Settings = Mapping[str, str | int | bool]
_SERVE = """
import json, signal, sys, time
from milvus import MilvusServer
server = MilvusServer(wait_for_started=False)
server.set_base_dir(sys.argv[1])
for name, value in json.loads(sys.argv[2]).items():
    server.config.set(name, value)
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
try:
    server.start()
    while server.server_proc.poll() is None:
        time.sleep(1)
finally:
    server.server_proc.terminate()
    try:
        server.server_proc.wait(5)
    except Exception:
        server.server_proc.kill()
"""


def install(folder: Path) -> Path:
    """Make an environment with the server, if it is not there; returns its Python.

    Raises:
        IconsError: it can't be installed.
    """
    python = folder / "venv" / "bin" / "python"
    if not (folder / "venv" / "installed").exists():
        venv.create(folder / "venv", with_pip=True, clear=True)
        done = subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", *PACKAGES], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise IconsError(f'"{" ".join(PACKAGES)}" can\'t be installed: {done.stderr.strip().splitlines()[-1]}')
        (folder / "venv" / "installed").touch()
    return python


@contextmanager
def running(folder: Path, *, port: int, settings: Settings | None = None) -> Iterator[str]:
    """Run an empty server in a folder until the block ends; yields its address without a library's name.

    What an earlier run left there goes: this version takes minutes to come back with its data, if it does. `settings`
    are those of the package's template, as `{"authorization_enabled": True}`; a token and a certificate that they ask
    for come from the environment.

    Raises:
        IconsError: it does not start; its log says why.
    """
    python, log = install(folder), folder / "server.log"
    shutil.rmtree(folder / "data" / "data", ignore_errors=True)
    options = {**(settings or {}), "proxy_port": port}
    address = f"milvus{'+tls' if options.get('tls_mode') else ''}://127.0.0.1:{port}"
    with log.open("w") as written:
        process = subprocess.Popen(
            [str(python), "-c", _SERVE, str(folder / "data"), json.dumps(options)],
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **_store(folder / "data")},
        )
    try:
        wait_until_answering([process], address, folder / "data" / "logs")
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(15)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and the server itself, which is a process of its own


def _store(folder: Path) -> dict[str, str]:
    """Environment that lets the server's own store listen on a free port: several servers run on a machine."""
    folder.mkdir(parents=True, exist_ok=True)
    clients, peers = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    settings = {
        "name": "default",
        "data-dir": str(folder / "data" / "etcd.data"),
        "listen-client-urls": clients,
        "advertise-client-urls": clients,
        "listen-peer-urls": peers,
        "initial-advertise-peer-urls": peers,
        "initial-cluster": f"default={peers}",
    }
    (folder / "etcd.yaml").write_text(json.dumps(settings))  # JSON is YAML, too
    return {"ETCD_CONFIG_PATH": str(folder / "etcd.yaml"), "ETCD_ENDPOINTS": clients.removeprefix("http://")}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def wait_until_answering(processes: Sequence["subprocess.Popen[bytes]"], address: str, logs: Path) -> None:
    """Wait until a server of some processes answers at its address.

    Raises:
        IconsError: a process has ended, or it takes too long; the logs say why.
    """
    ends, spelling = time.monotonic() + STARTING_SECONDS, f"{address}/icons"
    while time.monotonic() < ends and all(process.poll() is None for process in processes):
        with suppress(LibraryError, OSError):
            socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), 1).close()
            Connection(Address.read(spelling), spelling).call("list_collections")
            return
        time.sleep(0.5)
    raise IconsError(f'the server does not start; "{logs}" says why; then start it again')


if __name__ == "__main__":
    place = Path(sys.argv[1]).expanduser().absolute()
    place.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # else the server would outlive this process
    with running(place, port=PORT) as own_server, suppress(KeyboardInterrupt):
        print(f"{own_server} runs until Ctrl-C; `icons lab publish {own_server}/icons` sends a library to it")
        signal.pause()
