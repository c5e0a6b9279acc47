"""What is published is what the library holds, however it came there; until it is whole, what was there answers."""

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import build_library
from published_icons import own_cache  # noqa: F401 - a fixture

from indexer.errors import IconsError, LibraryError, UnreachableError
from indexer.library.durable import with_checksum
from indexer.library.folder import Library, LibraryElsewhere
from indexer.merging.manifest import Manifest
from search.cli import main
from search.engine import SearchEngine
from search.generation.milvus.connection import DIGEST, VECTOR, Address, read_token
from search.generation.milvus.published import Published
from search.publishing import publish as publishing
from search.publishing.collections import delete_manifest, drop, held_numbers
from search.publishing.publish import go_back, publish
from search.publishing.rows import examine
from search.query import Query, Window

SHAPES = ('<circle cx="12" cy="12" r="{size}"/>', '<path d="M3 3h{size}v{size}H3z"/>', '<path d="M12 3l{size} 9H3z"/>')


SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'


class Drawn:
    """A library of plain shapes in a folder of manifests, which is edited at random."""

    def __init__(self, root: Path, model: Path) -> None:
        self.library, self.source, self._model = Library(root / "library"), root / "drawn", model
        self.source.mkdir(parents=True)
        self._rows: dict[str, dict[str, str]] = {}

    def edit(self, rng: random.Random, *, n: int) -> None:
        """Draw, describe otherwise, or take away some icons, and index the rest."""
        for _ in range(n):
            name = f"shape-{rng.randrange(24)}"
            if name in self._rows and rng.random() < 0.3 and len(self._rows) > 4:
                del self._rows[name]
                continue
            svg = rng.choice(SHAPES).format(size=rng.randrange(2, 10))
            (self.source / f"{name}.svg").write_text(f"{SVG}{svg}</svg>")
            tags = rng.sample(["round", "sharp", "sign", "Größe", 'a "b" \\'], rng.randrange(3))
            own_set = rng.choice(["one", "two"])
            self._rows[name] = {"file_path": f"{name}.svg", "name": name, "tags": ", ".join(tags), "set": own_set}
        lines = "".join(json.dumps(row) + "\n" for row in self._rows.values())
        (self.source / "icons.jsonl").write_text(lines)
        build_library(self.library, self._model, [self.source / "icons.jsonl"])


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Drawn:
    """One library that all tests go on with, each on a server of its own."""
    found = Drawn(tmp_path_factory.mktemp("drawn"), tiny_model)
    found.edit(random.Random(0), n=12)
    return found


@pytest.fixture
def place(tmp_path: Path) -> str:
    return f"milvus-lite://{tmp_path}/server?%41#.db/drawn"


def held(address: str, number: int) -> dict[str, dict[int, int]]:
    """Digests of all rows that a server holds of a generation, by collection and id."""
    server = Published(LibraryElsewhere(address))
    found = {}
    for kind, collection in zip(("icons", "pictures"), server.names.of(number), strict=True):
        server.connection.load(collection)
        found[kind] = {row["id"]: row[DIGEST] for row in server.connection.query(collection, "", ["id", DIGEST])}
    return found


def answers(where: Library | str) -> list[list[str]]:
    engine = SearchEngine.open(where)
    return [[hit.key for hit in engine.ask(Query(words=words), window=Window(k=30)).hits] for words in ("shape", "")]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_what_changed_alone_is_sent_and_the_result_is_that_of_a_whole_publication(
    drawn: Drawn, place: str, tmp_path: Path, seed: int
) -> None:
    rng, n_kept, rounds = random.Random(seed), 0, 9
    for round_ in range(rounds):
        summary = publish(drawn.library, place)  # the third one renews the first
        n_kept += summary.kept
        assert answers(place) == answers(drawn.library)
        if round_ >= 2:
            whole = f"milvus-lite://{tmp_path}/whole-{round_}.db/drawn"
            assert publish(drawn.library, whole).kept == 0
            assert held(place, summary.generation) == held(whole, summary.generation)
        drawn.edit(rng, n=3)
    assert n_kept > 5 * (rounds - 2)


@pytest.mark.slow
def test_the_last_two_generations_stay_and_each_can_answer(drawn: Drawn, place: str) -> None:
    rng, seen = random.Random(2), {}
    publish(drawn.library, place)
    engine = SearchEngine.open(place)
    for _ in range(2):
        drawn.edit(rng, n=4)
        number = publish(drawn.library, place).generation
        seen[number] = answers(drawn.library)
    # The generation that it has open has gone: the one that answers does.
    assert [hit.key for hit in engine.ask(Query(words="shape"), window=Window(k=30)).hits] == seen[number][0]
    server, elsewhere = Published(LibraryElsewhere(place)), LibraryElsewhere(place)
    assert held_numbers(server.connection, server.names) == {number, number - 1}
    assert go_back(elsewhere) == number - 1
    assert engine.refresh()
    assert (engine.generation.number, answers(place)) == (number - 1, seen[number - 1])
    with pytest.raises(LibraryError, match=f"holds no whole generation before the current one .{number - 1}."):
        go_back(elsewhere)
    assert go_back(elsewhere, forward=True) == number
    assert answers(place) == seen[number]


@pytest.mark.parametrize(
    "killed_in",
    [
        "send",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("verify_recall", "make_rows", "wait_until_indexed", "send_files", "forget_pieces")
        ),
    ],
)
def test_a_publication_that_ends_half_way_leaves_the_old_answers_and_goes_on(
    drawn: Drawn, place: str, killed_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        publish(drawn.library, place)
        before = answers(drawn.library)
        drawn.edit(random.Random(3), n=4)
    calls = iter(range(100))
    real: Callable[..., object] = getattr(publishing, killed_in)

    def once_then_die(*given: object, **named: object) -> object:
        if next(calls) == (1 if killed_in in ("send", "wait_until_indexed") else 0):
            raise KeyboardInterrupt
        return real(*given, **named)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(publishing, killed_in, once_then_die)
        publish(drawn.library, place)
    assert answers(place) == (answers(drawn.library) if killed_in == "forget_pieces" else before)
    summary = publish(drawn.library, place)
    assert answers(place) == answers(drawn.library)
    assert summary.sent == 0 or killed_in in ("make_rows", "send")
    server = Published(LibraryElsewhere(place))
    assert held_numbers(server.connection, server.names) == {summary.generation, summary.generation - 1}
    for number, merged in ((summary.generation - 1, "false"), (summary.generation, "true")):  # new, and renewed
        described = [server.connection.call("describe_collection", one) for one in server.names.of(number)]
        assert {one["properties"]["collection.autocompaction.enabled"] for one in described} == {merged}
    assert examine(drawn.library, place, sample=50).is_sound


@pytest.mark.slow
def test_another_library_is_not_sent_into_what_answers(drawn: Drawn, place: str, tmp_path: Path) -> None:
    number = publish(drawn.library, place).generation
    other = Library(shutil.copytree(drawn.library.root, tmp_path / "other"))
    made = other.generation(number)
    facts = json.loads(made.manifest.read_text()) | {"created_at": "2001-01-01T00:00:00+00:00"}
    del facts["sha256"]
    made.manifest.write_text(json.dumps(with_checksum(facts)))
    with pytest.raises(LibraryError, match=f"answers with another generation {number}, of another library"):
        publish(other, place)
    assert answers(place) == answers(drawn.library)


def test_a_generation_that_could_not_be_opened_in_time_is_tried_again(
    drawn: Drawn, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(drawn.library, place)
    engine = SearchEngine.open(place)
    drawn.edit(random.Random(4), n=3)
    number = publish(drawn.library, place).generation

    def late(*_: object) -> object:
        raise UnreachableError("no answer in time")

    with monkeypatch.context() as patch, pytest.raises(UnreachableError):
        patch.setattr(Published, "open", late)
        engine.refresh()
    assert engine.refresh() and engine.generation.number == number


@pytest.mark.slow
def test_a_library_that_is_published_in_the_place_of_another_answers(
    place: str, tmp_path: Path, tiny_model: Path
) -> None:
    first, other = (Drawn(tmp_path / name, tiny_model) for name in ("a", "b"))
    for drawn, seed in ((first, 5), (other, 6)):
        drawn.edit(random.Random(seed), n=8)
    number = publish(first.library, place).generation
    engine = SearchEngine.open(place)
    assert not engine.refresh()
    server = Published(LibraryElsewhere(place))
    server.connection.call("drop_alias", server.names.alias)
    delete_manifest(server.connection, server.names, number)
    drop(server.connection, server.names, number)
    with pytest.raises(LibraryError, match=re.escape(f'"{place}" no longer holds what answered')):
        engine.refresh()
    assert publish(other.library, place).generation == number
    assert engine.refresh()
    assert [hit.key for hit in engine.ask(Query(words="shape"), window=Window(k=30)).hits] == answers(other.library)[0]


def test_rows_that_a_client_sent_twice_go_before_the_next_try(
    drawn: Drawn, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(LibraryError, match="publish again"):
        patch.setattr(publishing, "wait_until_indexed", lambda *_, **__: 4711)
        publish(drawn.library, place)
    summary = publish(drawn.library, place)
    assert summary.kept == summary.pictures  # those of icons were all there, and too many
    assert answers(place) == answers(drawn.library)


def test_vectors_that_became_many_are_indexed_anew_and_not_sent_again(
    drawn: Drawn, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = publish(drawn.library, place).generation
    monkeypatch.setattr("search.publishing.collections.EXACT_UP_TO", 2)
    assert publish(drawn.library, place).sent == 0
    server = Published(LibraryElsewhere(place))
    for collection in server.names.of(number):
        assert server.connection.call("list_indexes", collection) == [VECTOR]
        assert server.connection.call("describe_index", collection, VECTOR)["index_type"] == "HNSW"
    assert answers(place) == answers(drawn.library)


def shown_by(place: str) -> int:
    """How many pictures a server shows without the sources."""
    engine = SearchEngine.open(place)
    return len(dict(engine.pictures([hit.image for hit in engine.ask(Query(), window=Window(k=30, flat=True)).hits])))


@pytest.mark.slow
def test_pictures_come_and_go_as_they_are_asked_for(drawn: Drawn, place: str, tmp_path: Path) -> None:
    assert publish(drawn.library, place, sends_pictures=False).unread == 0
    moved = drawn.source.rename(tmp_path / "moved")
    try:
        assert shown_by(place) == 0
        summary = publish(drawn.library, place, sends_pictures=True)
        assert summary.unread == summary.sent == summary.pictures > 0
        report = examine(drawn.library, place, sample=50)
        assert report.is_sound and any("could not be read" in finding.message for finding in report.findings)
    finally:
        moved.rename(drawn.source)
    summary = publish(drawn.library, place)
    assert (summary.sent, summary.unread) == (summary.pictures, 0)


def test_what_was_cleared_from_the_cache_is_fetched_again(drawn: Drawn, place: str) -> None:
    publish(drawn.library, place)
    expected = answers(place)
    generation = SearchEngine.open(place).generation
    (generation.folder / "bearers.npy").unlink()
    next(iter(LibraryElsewhere(place).encoder(Manifest.read(generation).fingerprint).iterdir())).unlink()
    assert answers(place) == expected
    (generation.folder / "facts.json").write_text("{")  # and the one that it is linked to
    assert answers(place) == expected


@pytest.mark.slow
def test_an_examination_finds_what_is_not_as_it_was_published(drawn: Drawn, place: str) -> None:
    number = publish(drawn.library, place).generation
    assert examine(drawn.library, place, sample=50).is_sound
    server = Published(LibraryElsewhere(place))
    icons = server.names.of(number)[0]
    row, gone = server.connection.query(icons, "", ["*"], most=2)
    server.connection.call("upsert", icons, [{**row, "name": "other"}])
    server.connection.call("delete", icons, filter=f"id == {gone['id']}")
    messages = [finding.message for finding in examine(drawn.library, place, sample=50).findings]
    assert {f'"{icons}" lacks {gone["id"]}', f'{row["id"]} of "{icons}" differs in name'} <= {*messages}
    assert any("rows" in message and "were published" in message for message in messages)


def test_the_commands_publish_search_go_back_and_examine(drawn: Drawn, place: str) -> None:
    own = ["--library", str(drawn.library.root)]
    done = CliRunner().invoke(main, ["lab", "publish", place, *own])
    assert done.exit_code == 0 and f"generation {drawn.library.current()} answers at {place}" in done.output, (
        done.output
    )
    found, ours = (CliRunner().invoke(main, ["search", "shape", "--json", *o]) for o in (["--library", place], own))
    assert json.loads(found.output)["hits"] == json.loads(ours.output)["hits"] != []
    again = CliRunner().invoke(main, ["lab", "publish", place, *own])
    assert again.exit_code == 0 and "0 rows sent" in again.output, again.output
    sound = CliRunner().invoke(main, ["doctor", place, *own])
    assert sound.exit_code == 0 and "what was published is sound" in sound.output, sound.output
    for other in (str(drawn.library.root / "none"), place):
        said = CliRunner().invoke(main, ["doctor", place, "--library", other]).output
        assert f'rows were not compared: "{other}" does not hold this generation' in " ".join(said.split())
    refused = CliRunner().invoke(main, ["rollback", "--library", place])
    assert refused.exit_code == 2 and "holds no whole generation before" in refused.output


AWAY = "milvus://127.0.0.1:9/icons"
SECRETS = ("ICONS_MILVUS_TOKEN", "ICONS_MILVUS_TOKEN_FILE", "ICONS_MILVUS_CA")


@pytest.mark.parametrize(
    ("address", "environment", "told"),
    [
        (AWAY, {}, f'Error: "{AWAY}" does not answer'),
        *(("milvus+tls://127.0.0.1:9/i", {name: " "}, f'Error: {name} is " "; ') for name in SECRETS),
    ],
)
def test_a_server_that_is_away_and_a_secret_that_is_empty_are_one_line_and_exit_code_2(
    address: str, environment: dict[str, str], told: str
) -> None:
    done = CliRunner().invoke(main, ["search", "dot", "--library", address], env=environment)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(told)


def test_commands_that_read_a_folder_refuse_an_address(place: str) -> None:
    for command in (["status"], ["index"], ["lint", "--set", "one"]):
        done = CliRunner().invoke(main, [*command, "--library", place])
        assert (done.exit_code, f'"{place}" is held by a server' in done.output) == (2, True)
        done = CliRunner().invoke(main, [*command, "--library", "milvus://user:secret@host/icons"])
        assert (done.exit_code, "secret@" in done.output) == (2, False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("milvus://user:secret@host/icons", "ICONS_MILVUS_TOKEN"),
        ("milvus://host/Icons", '"Icons"'),
        ("http://host/icons", "milvus://HOST:PORT/NAME"),
        ("http://user:secret@host/icons", "ICONS_MILVUS_TOKEN"),
        ("milvus://host:PORT/icons", "milvus://HOST:PORT/NAME"),
        ("milvus://host:99999/icons", "milvus://HOST:PORT/NAME"),
        ("milvus://[::1/icons", "milvus://HOST:PORT/NAME"),
        ("milvus-lite:///folder/icons", "file.db"),
        ("milvus://host/icons?other", '"icons\\?other"'),
        ("milvus://host?/icons", "milvus://HOST:PORT/NAME"),
    ],
)
def test_an_address_that_is_none_is_refused_without_its_secret(text: str, told: str) -> None:
    with pytest.raises(IconsError, match=told) as refused:
        Address.read(text)
    assert "secret@" not in str(refused.value)


def test_a_file_without_a_token_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("\n")
    monkeypatch.setenv("ICONS_MILVUS_TOKEN_FILE", str(tmp_path / "token"))
    with pytest.raises(IconsError, match="holds no token"):
        read_token()


def test_addresses_are_read() -> None:
    assert Address.read("milvus://host/icons").uri == "http://host:19530"
    assert Address.read("milvus+tls://host:443/icons") == Address("https://host:443", "icons", False, True)
    assert Address.read("milvus-lite:///tmp/a.db/icons") == Address("/tmp/a.db", "icons", True, False)
    assert Address.read("milvus-lite:///a?b#%41.db/icons").uri == "/a?b#%41.db"
