"""Nothing leaves the machine: no name is looked up, no address but its own is spoken to, no file left about.

`icons` runs where whatever would leave the machine, or lie about on it, is written down."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters, stdio_client

from indexer.process import LIBRARIES, SERVERS

ICONS = (sys.executable, "-P", "-c", "from search.cli import main; main()")
DEVICES = ("/dev/", "/proc/")
TEMPORARY = "tmp?world_size=7&rank=%41#"
"""A folder whose name means something else in an address."""
_OF_THIS_PROCESS = (*LIBRARIES, *SERVERS, "XDG_", "TORCHINDUCTOR_")
"""What `indexer` and torch have set here, and where the user keeps files."""


@pytest.fixture(scope="session")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that is loaded before all others."""
    target = tmp_path_factory.mktemp("guard") / "guard.so"
    source = Path(__file__).with_name("guard.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", target, source, "-ldl"], check=True)
    return target


@dataclass(frozen=True, slots=True)
class Guarded:
    """A home, a temporary folder and a log of its own for some processes; the settings of this one don't reach them."""

    guard: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What processes get."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(_OF_THIS_PROCESS)}
        places = {"HOME": self.folder / "home", "TMPDIR": self.folder / TEMPORARY, "ICONS_GUARD": self.folder / "log"}
        for name in ("home", TEMPORARY):
            (self.folder / name).mkdir(exist_ok=True)
        told = {"LD_PRELOAD": self.guard, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        return {**own, **{name: str(value) for name, value in {**places, **told}.items()}}

    def run(self, command: Sequence[object]) -> str:
        """Run a command that must succeed; return what it printed."""
        done = subprocess.run(
            list(map(str, command)), env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def running(self, command: Sequence[object], *, said: Path, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Run a command until the block ends; what it says on stderr goes into a file."""
        environment = self.environment | settings
        with said.open("wb") as errors:
            process = subprocess.Popen(list(map(str, command)), env=environment, cwd=self.folder, stderr=errors)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()

    def seen(self, *, allowed: Sequence[Path] = ()) -> list[str]:
        """What was tried, but for files below the temporary folder and what is allowed."""
        log = self.folder / "log"
        if not log.exists():
            return []
        own = tuple(f"create {path}" for path in (*DEVICES, self.folder / TEMPORARY, *allowed))
        return [line for line in log.read_text("utf-8").splitlines() if not line.startswith(own)]


ANY_DOCUMENTATION_ADDRESS = "192.0.2.1"
SPEAKS = f"""
import socket, pathlib
for host, port in (("{ANY_DOCUMENTATION_ADDRESS}", 80), ("icons.invalid", 443)):
    try: socket.create_connection((host, port), timeout=1)
    except OSError: pass
socket.getfqdn("127.0.0.1")
pathlib.Path.home().joinpath("left").write_text("about")
"""
ASKS = """
import sys
from search.cli import main
from search.engine import SearchEngine
library, picture = sys.argv[1:]
for query in (["arrow up"], ["--image", picture, "--min-score", "0"]):
    main(["search", *query, "--library", library], standalone_mode=False)
print(SearchEngine.open(library).search("dot a")[0].name)
"""
FREE_PORT = {"cpu": [], "cpu:2": ["listen [::]:0"]}
"""torchrun asks the kernel for a free port, which it gives back at once: ranks of one machine meet in files."""


@pytest.fixture
def guarded(guard: Path, tmp_path: Path) -> Guarded:
    return Guarded(guard, tmp_path)


def test_whoever_speaks_to_others_or_leaves_files_about_is_seen(guarded: Guarded) -> None:
    guarded.run([sys.executable, "-c", SPEAKS])
    left = f"create {guarded.folder / 'home' / 'left'}"
    assert guarded.seen() == [
        f"connect {ANY_DOCUMENTATION_ADDRESS}:80",
        "look up icons.invalid",
        "look up the name of an address",
        left,
    ]


@pytest.mark.parametrize("devices", ["cpu", pytest.param("cpu:2", marks=pytest.mark.slow)])
def test_indexing_and_searching_leave_nothing_but_a_library(
    guarded: Guarded, icon_folder: Path, tiny_model: Path, devices: str
) -> None:
    library = guarded.folder / "library?mode=memory&x=%41#b"
    where = ["--library", library]
    guarded.run([*ICONS, "index", icon_folder, "--model", f"local-dir:{tiny_model}", "--devices", devices, *where])
    said = guarded.run([sys.executable, "-P", "-c", ASKS, library, icon_folder / "arrow-up.svg"])
    assert said.count("icons:arrow-up ") == 2 and said.endswith("\ndot-a\n")
    assert guarded.seen(allowed=[library]) == FREE_PORT[devices]


def test_a_server_and_an_assistant_speak_to_nobody_but_who_asks(guarded: Guarded, asked: Path) -> None:
    said = guarded.folder / "said"
    with guarded.running([*ICONS, "serve", "--port", "0", "--library", asked], said=said):
        for path in ("/", "/api/v1/search?q=house", "/api/v1/facets", "/health", "/metrics", "/api/v1/icons/1/png"):
            assert httpx.get(_address(said) + path, timeout=30).status_code == 200
    assert asyncio.run(_ask_an_assistant(guarded, asked)) != ""
    assert guarded.seen() == []


def _address(said: Path) -> str:
    for _ in range(1200):
        if found := re.search(r"at (http://\S+),", said.read_text("utf-8")):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(said.read_text("utf-8"))


async def _ask_an_assistant(guarded: Guarded, library: Path) -> str:
    command, *arguments = (*ICONS, "mcp", "--library", str(library))
    server = StdioServerParameters(command=command, args=arguments, env=guarded.environment, cwd=str(library))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        return str((await session.call_tool("search_icons", {"query": "house"})).content)


@pytest.mark.slow
def test_no_other_command_speaks_to_anybody(guarded: Guarded, own: Path, own_iconify: Path, tiny_model: Path) -> None:
    where, out = ["--library", own], guarded.folder / "out"
    for arguments in (
        ["status"],
        ["status", "--failures"],
        ["sources"],
        ["doctor"],
        ["lab", "evaluate"],
        ["search", "--like", "house"],
        ["show", "house"],
        ["search", "house", "--sheet", guarded.folder / TEMPORARY / "sheet.png"],
        ["index"],
        ["index", "--only", "merge"],
    ):
        guarded.run([*ICONS, *arguments, *where])
    training = ["--out", out, "--model", f"local-dir:{tiny_model}", "--devices", "cpu:2", "--set", "steps=2"]
    guarded.run([*ICONS, "lab", "finetune", own_iconify, *training])
    aside = out.with_name(f".aside-{out.name}")
    assert guarded.seen(allowed=[own, out, aside]) == FREE_PORT["cpu:2"]


def test_a_server_exports_no_traces_though_the_environment_names_a_collector(guarded: Guarded, asked: Path) -> None:
    said = guarded.folder / "said"
    collector = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{ANY_DOCUMENTATION_ADDRESS}:4318"}
    with guarded.running([*ICONS, "serve", "--port", "0", "--library", asked], said=said, **collector):
        assert httpx.get(f"{_address(said)}/api/v1/search?q=house", timeout=30).status_code == 200
    assert guarded.seen() == []
    assert "telemetry" not in said.read_text("utf-8").lower()
