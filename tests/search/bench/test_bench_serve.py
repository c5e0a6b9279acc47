"""Does `icons bench serve` measure a real server, and say what it could not answer?"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from serving import index_into, write_icons

from indexer.errors import BenchError
from indexer.library.folder import Library
from search.bench import serving
from search.bench.client import FILTERED, KINDS, Client, use_page
from search.bench.server_process import serving as server_of
from search.bench.serving import ServeBenchOptions, bench_serve
from search.cli import main


@pytest.fixture(scope="module")
def icon_library(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Library:
    folder = tmp_path_factory.mktemp("measured")
    write_icons(folder / "icons")
    library = Library(folder / "library")
    index_into(library, folder / "icons", model=tiny_model)
    return library


def test_one_who_uses_the_page_asks_in_every_way_and_is_answered(icon_library: Library) -> None:
    with server_of(icon_library) as server:
        client = Client(server.host, server.port)
        for _ in use_page(client, ["dot a", "arrow up"]):
            if client.asked[-1].kind == FILTERED:
                break
        client.close()
    assert {one.kind for one in client.asked} == set(KINDS)
    assert {one.status for one in client.asked} == {200}


@pytest.mark.slow
def test_a_server_is_measured_and_nothing_fails(icon_library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "CROWD_SECONDS", 1.0)
    arguments = ["bench", "serve", "--clients", "3", "--seconds", "5", "--json", "--library", str(icon_library.root)]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["errors"] == {}
    assert "words" in found["times"]
    assert found["n_requests"] == sum(found["counts"].values())
    assert len(found["memory_bytes"]) >= 4 and min(found["memory_bytes"]) > 10_000_000
    crowd = found["crowd"]
    assert crowd["failed"] == 0 and crowd["answered"] > 0


@pytest.mark.slow
def test_requests_that_were_not_answered_are_told_as_json(
    tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "CROWD_SECONDS", 0.5)
    write_icons(tmp_path / "icons")
    index_into(Library(tmp_path / "library"), tmp_path / "icons", model=tiny_model)
    for file in (tmp_path / "icons").rglob("*.svg"):
        file.unlink()
    arguments = ["bench", "serve", "--clients", "1", "--seconds", "5", "--json", "--library", str(tmp_path / "library")]
    done = CliRunner().invoke(main, arguments)
    assert json.loads(done.stdout)["errors"]["svg 410"] > 0
    assert done.exit_code == 1


@pytest.mark.slow
def test_a_request_that_is_not_answered_is_counted(icon_library: Library) -> None:
    with server_of(icon_library) as server:
        client = Client(server.host, server.port)
        assert client.ask("words", "/api/v1/search?keyword=1") == b""
        server.process.kill()
        server.process.wait()
        assert client.ask("words", "/health") == b""
        client.close()
    assert [one.status for one in client.asked] == [400, 0]


@pytest.mark.slow
def test_a_server_that_does_not_start_says_why(
    tmp_path: Path, icon_library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "CROWD_SECONDS", 0.1)
    with pytest.raises(BenchError, match="did not start: Error: no library at"), server_of(Library(tmp_path / "none")):
        pass
    with pytest.raises(BenchError, match="too short"):
        bench_serve(icon_library, ServeBenchOptions(clients=1, seconds=1), lambda *_: None)
