"""A real encoder small enough for every test, a few real icons, and libraries made of both."""

import gc
import json
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from filelock import FileLock
from PIL import Image
from small_icons import HOUSE, draw_sources, drawn
from tools import lacking
from vocabulary import read_once

from indexer.catalog.scan import ScanTally
from indexer.embedding.planning import EmbedOptions
from indexer.embedding.progress import EmbeddingProgress
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import sample_pixels
from indexer.library.folder import Library
from indexer.library.plans import Plan
from indexer.pipeline import IndexOptions, IndexSummary, index
from indexer.rendering.render import render
from search.cli import main
from search.engine import SearchEngine

if TYPE_CHECKING:
    from faults import Stages
    from s3_server import Faults

# A gate that runs in the background inherits an ignored Ctrl-C, and so would every program that a test interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Tests run side by side: threads of torch that wait for each other, or spin, keep the cores from the others
# (26 s instead of 10).
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection() -> None:
    """What modules hold stays: nobody looks for rubbish among it while they are imported (a fifth of that time) ..."""
    gc.disable()


def pytest_collection_finish() -> None:
    """... nor later."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    gc.unfreeze()


Once = Callable[[str, Callable[[Path], object]], Path]
TINY = {
    "embed_dim": 32,
    "vision_cfg": {"image_size": 32, "layers": 1, "width": 32, "patch_size": 8, "head_width": 16},
    "text_cfg": {"context_length": 16, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}


class Silent:
    """A watcher that keeps what it was told."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.ranks: list[EmbeddingProgress] = []

    def stage(self, title: str) -> None:
        self.stages.append(title)

    def scanned(self, tally: ScanTally) -> None:
        pass

    def embedded(self, plan: Plan, ranks: Sequence[EmbeddingProgress]) -> None:
        self.ranks = list(ranks)

    def give_up(self, reason: str) -> None:
        raise AssertionError(reason)


def save_tiny_model(folder: Path, *, seed: int, text_width: int = 32) -> Path:
    """Save a randomly weighted open_clip model as a local-dir folder; the width says how large its vocabulary is."""
    import open_clip
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(seed)
    config = {**TINY, "text_cfg": {**TINY["text_cfg"], "width": text_width}}
    model = open_clip.CLIP(**config)
    folder.mkdir(parents=True)
    preprocess = {"mean": [0.5] * 3, "std": [0.5] * 3, "interpolation": "bicubic", "resize_mode": "longest"}
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": config, "preprocess_cfg": preprocess}))
    save_file(
        {name: tensor.contiguous() for name, tensor in model.state_dict().items()},
        folder / "open_clip_model.safetensors",
    )
    return folder


def export_beside(model: Path) -> None:
    """Export a tiny model into a folder beside it, for `give_export`."""
    import torch

    from indexer.encoders.export import export
    from indexer.encoders.torch_encoder import Encoder

    choice = ModelChoice(f"local-dir:{model}")
    checkpoint = find_checkpoint(choice)
    encoder = Encoder(checkpoint, device=torch.device("cpu"), precision="fp32")
    folder, pixels = model.parent / "exported" / checkpoint.fingerprint, sample_pixels(encoder.image_size, n=4)
    folder.parent.mkdir()
    export(encoder, folder, choice=choice, texts=["icon"], pixels=pixels)


def give_export(library: Library, model: Path) -> None:
    """Give a library what was exported of a model already: that is most of what a small one takes."""
    for exported in model.parent.glob("exported/*"):
        if not (encoder := library.encoder(exported.name)).exists():
            shutil.copytree(exported, encoder)


@pytest.fixture(scope="session", autouse=True)
def vocabulary() -> Iterator[None]:
    """The vocabulary of encoders, read once."""
    with read_once():
        yield


@pytest.fixture(scope="session")
def tiny_model(once: Once) -> Path:
    return once("tiny", lambda folder: export_beside(save_tiny_model(folder / "tiny", seed=1))) / "tiny"


@pytest.fixture(scope="session")
def other_model(once: Once) -> Path:
    return once("other", lambda folder: export_beside(save_tiny_model(folder / "other", seed=2))) / "other"


def svg(body: str, *, size: int = 24) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}">{body}</svg>'


def disc(x: int, y: int, r: int = 4) -> str:
    return svg(f'<circle cx="{x}" cy="{y}" r="{r}"/>')


@pytest.fixture
def icon_folder(tmp_path: Path) -> Path:
    """Twelve icons: eleven pictures, two of them of one name, and one exact copy."""
    return draw_icons(tmp_path / "icons")


def draw_icons(folder: Path) -> Path:
    folder.mkdir()
    for number in range(9):
        (folder / f"dot-{'abcdefghi'[number]}.svg").write_text(disc(4 + 2 * number, 12))
    (folder / "arrow-up.svg").write_text(svg('<path d="M12 2l8 10h-5v10h-6v-10h-5z"/>'))
    (folder / "arrow-up-filled.svg").write_text(svg('<path d="M12 1l9 11h-5v11h-8v-11h-5z"/>'))
    (folder / "copy-of-dot.svg").write_text(disc(4, 12))
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "library")


Build = Callable[..., IndexSummary]


def build_library(library: Library, model: Path, sources: Sequence[Path], **options: object) -> IndexSummary:
    """Run `index` with a small encoder, in this process unless told otherwise."""
    how = EmbedOptions(batch_size=32, workers=0, precision="fp32")
    given = {"sources": sources, "choice": ModelChoice(f"local-dir:{model}"), "devices": "cpu", "embed": how, **options}
    give_export(library, model)
    return index(library, IndexOptions(**given), Silent())  # type: ignore[arg-type]


@pytest.fixture
def build(library: Library, tiny_model: Path) -> Build:
    """Run `index` on a library with the tiny encoder."""

    def run(*sources: Path, into: Library = library, model: Path | None = None, **options: object) -> IndexSummary:
        return build_library(into, model or tiny_model, sources, **options)

    return run


@pytest.fixture(scope="session")
def s3_server() -> Iterator[tuple[str, "Faults"]]:
    """Address of an S3 server on loopback, and what makes it fail; clients remember the address, so there is one."""
    from s3_server import Faults, serving

    faults = Faults()
    with serving(faults) as address:
        yield address, faults


@pytest.fixture
def s3(s3_server: tuple[str, "Faults"], monkeypatch: pytest.MonkeyPatch) -> Iterator["Faults"]:
    """A server whose faults can be set, with an empty bucket; the environment tells clients where it is."""
    from s3_server import ACCESS

    from indexer.library.stores import open_object_store

    address, faults = s3_server
    for name, value in {**ACCESS, "AWS_ENDPOINT_URL": address}.items():
        monkeypatch.setenv(name, value)
    faults.bucket = f"bucket-{secrets.token_hex(4)}"
    open_object_store(f"s3://{faults.bucket}").fs.mkdir(faults.bucket)
    yield faults
    faults.fail_every = faults.late_every = 0


_BODIES = {
    "disc": '<circle cx="{x}" cy="{y}" r="5"/>',
    "ring": '<circle cx="{x}" cy="{y}" r="5" fill="none" stroke="#000" stroke-width="2"/>',
    "bar": '<path d="M{x} {y}h9v3h-9z"/>',
    "cross": '<path d="M{x} {y}h3v-4h3v4h3v3h-3v4h-3v-4h-3z"/>',
    "corner": '<path d="M{x} {y}h8v3h-5v6h-3z"/>',
    "box": '<path d="M{x} {y}h7v7h-7z"/>',
    "dots": '<circle cx="{x}" cy="{y}" r="2"/><circle cx="18" cy="{y}" r="2"/>',
    "slope": '<path d="M{x} {y}l9 9h-9z"/>',
}
_TAGS = {"disc": "round, full", "ring": "round, hollow", "bar": "line", "cross": "plus, add", "box": "square"}
_STYLES = ("", "-filled")


@pytest.fixture(scope="session")
def icons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest of 64 icons: eight shapes in four places, twice."""
    folder = tmp_path_factory.mktemp("icons")
    lines = ["file_path,name,tags,licence"]
    for row, shape in enumerate(_BODIES):
        for column, place in enumerate(("left", "right", "top", "bottom")):
            for number, style in enumerate(_STYLES):
                x, y = 4 + 3 * column, 5 + row % 4 * 3 + number
                name = f"{shape}-{place}{style}"
                body = _BODIES[shape].format(x=x, y=y)
                (folder / f"{name}.svg").write_text(
                    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{body}</svg>'
                )
                lines.append(f'{name}.svg,{name},"{_TAGS.get(shape, "")}",MIT')
    (folder / "icons.csv").write_text("\n".join(lines) + "\n")
    return folder / "icons.csv"


@pytest.fixture(scope="session")
def start(once: Once) -> Path:
    from lessons import save_model

    return once("start", lambda folder: save_model(folder / "model")) / "model"


@pytest.fixture
def own_iconify(tmp_path: Path) -> Path:
    icons = {f"shape-{chr(97 + n)}": {"body": f'<path d="M2 2h{n + 4}v{n + 3}z"/>'} for n in range(12)}
    info = {"name": "Own", "license": {"spdx": "MIT"}}
    file = tmp_path / "own.json"
    file.write_text(json.dumps({"prefix": "own", "width": 24, "height": 24, "info": info, "icons": icons}), "utf-8")
    return file


def index_by_command(sources: Path, library: Path, model: Path) -> Path:
    options = ["--model", f"local-dir:{model}", "--devices", "cpu", "--workers", "0", "--library", str(library)]
    give_export(Library(library), model)
    done = CliRunner().invoke(main, ["index", str(sources), *options])
    assert done.exit_code == 0, done.output
    return library


@pytest.fixture(scope="session")
def called(once: Once, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Icons of four sets that have much in common, with the bundled model; no test leaves it changed."""
    from called_icons import build_called  # which imports from here

    made = once("called", build_called) / "library"
    return Library(shutil.copytree(made, tmp_path_factory.mktemp("called") / "library"))


@pytest.fixture(scope="module")
def engine(called: Library) -> SearchEngine:
    """Over the library of `called`; a module that asks another has an engine of its own."""
    return SearchEngine.open(called.root)


@pytest.fixture(scope="session")
def asked(once: Once, tiny_model: Path) -> Path:
    """A library of eight icons in two sets; no test changes it or its sources."""

    def write(folder: Path) -> None:
        index_by_command(draw_sources(folder / "icons"), folder / "library", tiny_model)

    return once("asked", write) / "library"


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Makes a folder that no test changes: one for all processes of a run."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent

    def make(name: str, write: Callable[[Path], object]) -> Path:
        folder, made = shared / "once" / name, shared / "once" / f"{name}.made"
        folder.parent.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not made.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                write(folder)
                made.touch()
        return folder

    return make


def index_bundled(library: Path, *sources: Path) -> None:
    """Index with the bundled model, as a user does; the bundled samples where no source is given."""
    done = CliRunner().invoke(
        main, ["index", *map(str, sources), "--library", str(library), "--devices", "cpu", "--workers", "0"]
    )
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="session")
def bundled_samples(once: Once) -> Path:
    """A library of all bundled icons, by the bundled model; no test changes it."""
    return once("bundled-samples", lambda folder: index_bundled(folder / "library")) / "library"


@pytest.fixture(scope="session")
def twice(once: Once, tiny_model: Path) -> Path:
    """A library of two generations; no test changes it or its sources."""

    def write(folder: Path) -> None:
        icons = draw_icons(folder / "icons")
        build_library(Library(folder / "library"), tiny_model, [icons])
        (icons / "new.svg").write_text(disc(20, 20))
        build_library(Library(folder / "library"), tiny_model, [])

    return once("twice", write) / "library"


@pytest.fixture
def copied(asked: Path, tmp_path: Path) -> Path:
    """A copy of the library of `asked` for a test that changes it and leaves the sources alone."""
    return Path(shutil.copytree(asked, tmp_path / "copied"))


@pytest.fixture
def own(tmp_path: Path, tiny_model: Path) -> Path:
    """The library of `asked`, for a test that changes it and its sources, which lie in `icons` beside it."""
    return index_by_command(draw_sources(tmp_path / "icons"), tmp_path / "library", tiny_model)


@pytest.fixture
def run(asked: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command over the library of `asked`, or over another."""
    monkeypatch.delenv("ICONS_PICTURES", raising=False)

    def invoke(name: str, *arguments: str | Path, given: str | bytes | None = None, library: Path = asked) -> Result:
        return CliRunner().invoke(main, [name, *map(str, arguments)], input=given, env={"ICONS_LIBRARY": str(library)})

    return invoke


@pytest.fixture
def shot(tmp_path: Path) -> Path:
    """A screenshot of the house of `asked`."""
    Image.fromarray(render(drawn(HOUSE).encode(), size=96).pixels).save(tmp_path / "shot.png")
    return tmp_path / "shot.png"


def find_rank(module: str, folder: Path, rank: str) -> int:
    """Find a rank that torchrun runs `module` in, of this folder and no other, as soon as it has started."""
    for _ in range(600):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().decode().split("\0")
                environment = (process / "environ").read_bytes().decode().split("\0")
            except OSError:
                continue
            if module in command and str(folder) in command and f"RANK={rank}" in environment:
                return int(process.name)
        time.sleep(0.05)
    raise AssertionError("no such rank")


def kill_rank(module: str, folder: Path, rank: str) -> None:
    """Kill such a rank."""
    os.kill(find_rank(module, folder, rank), signal.SIGKILL)


@pytest.fixture(scope="session")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Stages"]:
    if not sys.platform.startswith("linux") or shutil.which("cc") is None:
        lacking("the counting file layer needs Linux and a C compiler")
    from disk import compile_layer
    from faults import Stages

    folder = tmp_path_factory.mktemp("layer")
    running = Stages(compile_layer(folder), folder / "log")
    yield running
    running.close()


@pytest.fixture(scope="session")
def drawings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a few icons, one of them broken, one twice."""
    from faults import draw

    folder = tmp_path_factory.mktemp("drawings") / "icons"
    folder.mkdir()
    for number, letter in enumerate("abcde"):
        draw(folder, f"dot-{letter}", 4 + 3 * number, 12)
    draw(folder, "twin", 4, 12)
    (folder / "broken.svg").write_text("<svg")
    return folder


@pytest.fixture(scope="session")
def grown(stages: "Stages", drawings: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of two generations, whose sources have changed since in every way."""
    from faults import draw

    library = tmp_path_factory.mktemp("grown") / "library"
    given = {"sources": [str(drawings)], "model": str(tiny_model)}
    give_export(Library(library), tiny_model)
    assert stages.result("index", library, given=given) == 1
    draw(drawings, "dot-f", 20, 20)
    assert stages.result("index", library, given=given) == 2
    draw(drawings, "new", 9, 20)
    draw(drawings, "dot-b", 9, 5)
    (drawings / "dot-c.svg").rename(drawings / "dot-z.svg")
    (drawings / "dot-d.svg").unlink()
    (drawings / "blank.svg").write_text(svg(""))
    return library
