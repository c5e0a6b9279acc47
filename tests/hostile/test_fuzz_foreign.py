"""A fuzzer over JSON that others may have written: in a library, a store, on a server, beside a model or an export.

Each name, text and number of each such file becomes a way out of its folder, nothing, something without end or of
another type. Whatever reads it answers or refuses in one line, and what lies beside it stays as it was.

    ICONS_FUZZ_SECONDS=3600 pytest -m slow tests/hostile/test_fuzz_foreign.py
"""

import gc
import hashlib
import itertools
import json
import os
import random
import shutil
import sqlite3
import time
import warnings
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conftest import Silent, build_library, draw_icons, save_tiny_model
from fuzzing import FOR_SECONDS
from known_screens import plain_sight, save_screen
from shared_work import do_here, options_of, scanned

from indexer.embedding.plan_store import LibraryPlanStore
from indexer.embedding.progress import EmbeddingProgress, Run, Watch
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.export import write_graphs
from indexer.encoders.graphs import find_graphs
from indexer.errors import IconsError
from indexer.finetune.folder import check_replaceable, read_lineage
from indexer.finetune.options import FinetuneOptions, Places, Plan, read_plan, write_plan
from indexer.library.durable import describe_file, with_checksum
from indexer.library.folder import Library, LibraryElsewhere, note_changed
from indexer.merging.manifest import Manifest
from indexer.pipeline import plan_only
from indexer.screens.add import AddOptions, add
from search.cli import main
from search.engine import SearchEngine
from search.generation.milvus.connection import Names, manifest_key, piece_key
from search.generation.milvus.published import FileFacts, PublishedManifest, fetch, read_manifest
from search.generation.milvus.table import Facts
from search.publishing.rows import compute_facts

WHOLE = [b"", b"null", b"{}", b"[]", b"5", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5_000]
"""What may stand in the place of a whole file."""
PATHS = [f"{'../' * n}victim{end}" for n in range(6) for end in ("", "/deep")]
TEXTS = ["", ".", "..", "a/b", "x" * 100_000, "a\0b", "\ud800", "hf-hub:some/clip", "new"]
OTHERS = [-1, 0, 1, 2**40, 2**70, 1e308, float("nan"), float("-inf"), True, None, [], {}, [["x"]], {"x": ".."}]

LINKED = (".safetensors", ".onnx", ".faiss", ".png", ".svg")


class Lines:
    """A file of JSON a line, and, in a plan, of JSON after a tab."""

    @staticmethod
    def loads(content: bytes) -> Any:
        return [[json.loads(part) for part in line.split(b"\t")] for line in content.splitlines()]

    @staticmethod
    def dumps(lines: Any) -> str:
        parts = [line if isinstance(line, list) else [line] for line in lines] if isinstance(lines, list) else [[lines]]
        return "\n".join("\t".join(map(json.dumps, line)) for line in parts)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A file, how it is spelt, and who reads it."""

    file: str
    """As `Path.glob` finds it."""
    spelt: Any = json
    is_signed: bool = False
    """With a checksum of itself, which whoever writes it makes anew."""
    commands: Sequence[str] = ()
    reads: Callable[[Path], object] | None = None


def reopened(place: Path) -> None:
    """Fetch what a server says of a generation."""
    server: Any = Server(place, (place / "server" / "said.json").read_bytes().decode(errors="surrogateescape"))
    generation = fetch(server, Names("icons"), server.library, read_manifest(server, Names("icons"), 2))
    Manifest.read(generation)
    Facts.read(generation.folder / "facts.json")


class Server:
    """What a connection finds on a server that holds a generation's small files."""

    spelling = "milvus://there/icons"

    def __init__(self, place: Path, said: str) -> None:
        self.library = LibraryElsewhere(self.spelling)
        self._rows = {manifest_key(2): said}
        for path in (place / "server").iterdir():
            content = path.read_bytes()
            self._rows[piece_key(hashlib.sha256(content).hexdigest(), 0)] = b64encode(zlib.compress(content)).decode()

    def query(self, _: str, where: str, fields: Sequence[str], **__: object) -> list[dict[str, str]]:
        del fields
        return [{"id": key, "content": row} for key, row in self._rows.items() if f'"{key}"' in where]


def worked(place: Path) -> None:
    """Do what a library's own plan says, up to reading it."""
    library = Library(place / "planned")
    [plan] = library.root.glob("work/*/plan.json")
    work = LibraryPlanStore(library, plan.parent.name)
    for header in work.missing():
        work.read(header)
        work.finished_items(header.name)
    work.is_over()
    library.end_other_runs(work.plan.fingerprint, work.plan.run)


def tuned(place: Path) -> None:
    places = Places(place / "tuned")
    read_lineage(places.out)
    check_replaceable(places.out)
    read_plan(places)
    places.forget()


def shot(place: Path) -> None:
    library = Library(place / "library")
    add(library, AddOptions(workers=1), lambda *_: None, sight=plain_sight(library))


TARGETS = [
    Target(
        file="library/generations/2/manifest.json",
        is_signed=True,
        commands=(
            "search dot",
            "status",
            "doctor --sample 0",
            "doctor --repair --sample 0",
            "rollback",
            "index --only merge",
        ),
    ),
    Target(file="library/generations/2/manifest.json", commands=("search dot",)),
    Target(
        file="library/encoders/*/encoder.json",
        is_signed=True,
        commands=("search dot", "doctor", "doctor --repair --sample 0", "lint --set icons", "lab evaluate"),
    ),
    Target(
        file="library/usage/generations/*/manifest.json",
        is_signed=True,
        commands=("usage status", "usage dot", "doctor --sample 0", "doctor --repair --sample 0"),
        reads=shot,
    ),
    Target(file="library/usage/generations/*/places.jsonl", spelt=Lines, commands=("usage failures", "usage disc")),
    Target(file="library/usage/shots.json", commands=("usage status", "doctor --sample 0"), reads=shot),
    Target(file="library/usage/files.jsonl", spelt=Lines, commands=("usage status",), reads=shot),
    Target(file="library/changed.jsonl", spelt=Lines, commands=("index --only scan",)),
    Target(file="library/CURRENT", commands=("search dot", "status", "index --only merge", "rollback")),
    Target(file="library/model.json", commands=("status", "index --only merge", "doctor --repair")),
    Target(
        file="planned/work/shared.json",
        commands=("index --only collect --work {work}", "index --only plan --work {work}"),
    ),
    Target(file="planned/work/*/plan.json", reads=worked),
    Target(file="planned/work/*/runs/*/outlines.jsonl", spelt=Lines, reads=worked),
    Target(file="planned/work/*/runs/*/blocks/0000/*.json", reads=worked),
    Target(
        file="work/plan.json",
        commands=("index --only collect --work {work}",),
        reads=lambda place: do_here(place / "work"),
    ),
    Target(file="work/*/outlines.jsonl", spelt=Lines, reads=lambda place: do_here(place / "work")),
    Target(file="work/*/blocks/0000/*.json", reads=lambda place: do_here(place / "work")),
    Target(file="work/encoders/*/open_clip_config.json", reads=lambda place: do_here(place / "work")),
    Target(file="work/*/workers/one.json", commands=("index --only collect --work {work}",)),
    Target(
        file="ranks/workers/rank-0.json",
        reads=lambda place: Watch(Run.of_folder(place / "ranks"), EmbeddingProgress).look(),
    ),
    Target(file="model/graphs.json", is_signed=True, reads=lambda place: found(place / "model")),
    Target(file="model/open_clip_config.json", reads=lambda place: found(place / "model")),
    Target(file="tuned.work/plan.json", reads=tuned),
    Target(file="tuned/training.json", reads=tuned),
    Target(file="export/collection.json", commands=("export icons:dot-a --out {export} --replace",)),
    Target(file="server/said.json", reads=reopened),
    Target(file="server/facts.json", reads=lambda place: Facts.read(place / "server" / "facts.json")),
]


def found(model: Path) -> object:
    return find_graphs(find_checkpoint(ModelChoice(f"local-dir:{model}")))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of all that others may have written, beside one that is nobody's business."""
    place = tmp_path_factory.mktemp("fuzzed") / "here"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setattr("indexer.encoders.checkpoint._fetch", lambda name: pytest.fail(f"{name} is fetched"))
        patch.setattr("indexer.embedding.plan_store._LONGEST_PAUSE", 0.01)
        _build(place)
        for victim in _victims(place):
            for name in ("photos/a.jpg", "deep/runs/1/b", "1/manifest.json", "claims/c", "model.safetensors"):
                (victim / name).parent.mkdir(parents=True, exist_ok=True)
                (victim / name).write_bytes(b"mine")
        yield place


def _build(place: Path) -> None:
    model = save_tiny_model(place / "model", seed=1)
    icons = draw_icons(place / "icons")
    library = Library(place / "library")
    build_library(library, model, [icons])
    (icons / "late.svg").write_text((icons / "dot-a.svg").read_text().replace("12", "13"))
    build_library(library, model, [])
    write_graphs(model)
    save_screen(place / "shots" / "a.png", ["disc", "house"])
    add(library, AddOptions(shots=[place / "shots"], workers=1), lambda *_: None, sight=plain_sight(library))
    note_changed(library.root, (str(icons), "late.svg"))
    (library.root / "model.json").write_text(ModelChoice(f"local-dir:{model}").to_json())
    work = place / "work"
    options = options_of(icons, model, work=str(work))
    planned = scanned(place / "planned", options)
    plan_only(planned, options, Silent())
    [run] = (path.parent for path in work.glob("*/outlines.jsonl"))
    (run / "workers").mkdir()
    notes = planned.root / "work" / "shared.json"
    removed = {"store": str(work), "library": str(planned.root), "removed_at": 0.0, "is_missed": False}
    notes.write_text(json.dumps({**json.loads(notes.read_bytes()), "0123456789ab": removed}))
    (run / "workers" / "one.json").write_text(json.dumps(asdict(EmbeddingProgress(0, 1))))
    (place / "ranks").mkdir()
    Run.of_folder(place / "ranks").report("rank-0", EmbeddingProgress(0, 1))
    assert runs("export icons:dot-a --out {export}", place) == 0
    places = Places(place / "tuned")
    fingerprint = library.encoder("x").parent.iterdir().__next__().name
    choice = ModelChoice(f"local-dir:{model}")
    write_plan(places, Plan(choice.to_json(), fingerprint, False, place / "corpus", "key", FinetuneOptions()))
    places.out.mkdir()
    (places.out / "training.json").write_text(json.dumps({"training": [{"options": {}}], "parent": {"name": "x"}}))
    engine = SearchEngine.open(library)
    server = place / "server"
    server.mkdir()
    shutil.copy(library.generation(2).manifest, server)
    shutil.copy(library.encoder(fingerprint) / "encoder.json", server)
    of_icons = compute_facts(engine._opened, engine._opened.facets)  # type: ignore[arg-type]
    (server / "facts.json").write_text(json.dumps(asdict(of_icons)))
    facts = {
        path.name: FileFacts(said.bytes, said.sha256, 1) for path in server.iterdir() if (said := describe_file(path))
    }
    encoder = {"encoder.json": facts.pop("encoder.json")}
    published = PublishedManifest(2, fingerprint, 32, False, 12, 11, "2027-01-01", facts, encoder)
    (server / "said.json").write_text(published.to_json())


def runs(line: str, place: Path) -> int:
    """Run a command, which answers, finds nothing or refuses in one line; its exit code."""
    named = {name: str(place / name) for name in ("work", "export")}
    library = place / ("planned" if "{work}" in line else "library")
    done = CliRunner().invoke(
        main, [*(part.format(**named) for part in line.split()), "--library", str(library)], catch_exceptions=False
    )
    assert done.exit_code in (0, 1, 2), done.output
    refusals = [line for line in done.stderr.splitlines() if line.startswith("Error")]
    assert len(refusals) <= 1 and "Traceback" not in done.output, done.output
    assert all(len(refusal) < 2_000 for refusal in refusals), refusals[0][:3_000]
    return done.exit_code


def change(content: bytes, target: Target, rng: random.Random, victim: Path) -> tuple[bytes, str]:
    """Change one value or key of a file; tell what it is now."""
    if rng.random() < 0.08:
        other = rng.choice(WHOLE)
        return other, f"all of it is {other[:20]!r}"
    whole = [target.spelt.loads(content)]
    kinds = _places(whole)
    holder, key, is_key = rng.choice(kinds[rng.choice(sorted(kinds))])
    paths = [*PATHS, str(victim), f"{victim}/deep", f"local-dir:{victim}", *TEXTS]
    value = rng.choice(paths if is_key or rng.random() < 0.6 else OTHERS)
    if is_key:
        holder.update({value if name == key else name: holder.pop(name) for name in list(holder)})
    else:
        holder[key] = value
    if target.is_signed and isinstance(whole[0], dict):
        whole[0] = with_checksum({name: inner for name, inner in whole[0].items() if name != "sha256"})
    return target.spelt.dumps(whole[0]).encode(), f"{'key ' * is_key}{key!r} is {str(value)[:40]!r}"


def _places(document: Any, at: str = "") -> dict[str, list[tuple[Any, Any, bool]]]:
    """Values and keys of a document, by what kind they are of: what holds them, under which key, whether it is that."""
    found: dict[str, list[tuple[Any, Any, bool]]] = {}
    is_mapping = isinstance(document, dict)
    for key, value in document.items() if is_mapping else enumerate(document):
        kind = f"{at}.{key if isinstance(key, str) and key.isidentifier() else '*'}"
        found.setdefault(kind, []).append((document, key, False))
        if is_mapping:
            found.setdefault(f"key of {at}", []).append((document, key, True))
        if isinstance(value, dict | list):
            for inner, places in _places(value, kind).items():
                found.setdefault(inner, []).extend(places)
    return found


def _victims(place: Path) -> list[Path]:
    return [folder / "victim" for folder in (place.parent, place, place / "work")]


def _state(place: Path) -> list[tuple[str, int, bytes]]:
    """All that is nobody's business: when it was changed, and what is in it."""
    paths = sorted(path for victim in _victims(place) for path in victim.rglob("*") if path.is_file())
    return [(str(path), path.stat().st_mtime_ns, path.read_bytes()) for path in paths]


def _copy(file: str, place: str) -> None:
    """Link what is never written in place."""
    (os.link if file.endswith(LINKED) else shutil.copy2)(file, place)


def _restore(kept: Path, place: Path) -> None:
    """Bring back what was changed."""
    gc.collect()  # connections of SQLite that nobody has closed
    shutil.rmtree(place)
    shutil.copytree(kept, place, symlinks=True, copy_function=_copy)


def try_one(place: Path, target: Target, rng: random.Random) -> None:
    before = _state(place)
    file = rng.choice(sorted(place.glob(target.file)))
    content, what = change(file.read_bytes(), target, rng, place.with_name("victim"))
    file.write_bytes(content)
    try:
        _ask(place, target, rng)
        assert (_state(place), {path.name for path in place.parent.iterdir()}) == (before, {"here", "kept", "victim"})
    except BaseException as error:
        raise AssertionError(f"{target.file}: {what}") from error


def _ask(place: Path, target: Target, rng: random.Random) -> None:
    if target.file.endswith("model.json"):
        with closing(sqlite3.connect(place / "library" / "catalog.sqlite")) as catalog, catalog:
            said = (place / target.file).read_bytes().decode(errors="replace")
            catalog.execute("UPDATE settings SET value = ? WHERE key = 'model'", (said,))
    reads: list[Callable[[], object]] = [partial(runs, line, place) for line in target.commands]
    reads += [partial(target.reads, place)] if target.reads else []
    with warnings.catch_warnings(), suppress(IconsError):
        warnings.simplefilter("ignore")
        rng.choice(reads)()


@pytest.mark.parametrize("seconds", FOR_SECONDS[1:])
def test_json_that_others_wrote_reads_writes_and_deletes_nothing_elsewhere(place: Path, seconds: float) -> None:
    """Each file is changed once at least, in its turn."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    rng, until, kept = random.Random(seed), time.monotonic() + seconds, place.with_name("kept")
    if not kept.exists():
        shutil.copytree(place, kept)
    for n in itertools.takewhile(lambda n: n < len(TARGETS) or time.monotonic() <= until, itertools.count()):
        try_one(place, TARGETS[n % len(TARGETS)], rng)
        _restore(kept, place)
