"""What lies between `icons lab finetune` and its result: sources rendered, a plan, ranks here or under torchrun.

Beside it the sheet of what a training would see: some icons, changed in each way alone, then in the mix in use.
"""

import hashlib
import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from filelock import FileLock
from PIL import Image, ImageDraw
from torch import Tensor

from indexer.embedding.progress import Run, Watch, Watchdog
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST, Devices, parse_devices
from indexer.encoders.export import write_graphs
from indexer.encoders.graphs import load_encoder
from indexer.errors import ModelError, SourceError, TrainError
from indexer.finetune.augment import as_bytes, as_floats, augment, draw_changes
from indexer.finetune.captions import Gathered, Limits, gather_icons
from indexer.finetune.folder import Outcome, check_replaceable, write_random_model
from indexer.finetune.lesson import Material, build_corpus, key_of, open_pixels, read_facts, read_material
from indexer.finetune.options import (
    Augmentation,
    FinetuneOptions,
    Places,
    Plan,
    TrainingProgress,
    TrainingView,
    write_plan,
)
from indexer.finetune.rank import JOINT_FACTOR, run_rank
from indexer.library.durable import disk_error, leftovers, make_folder
from indexer.library.folder import Library
from indexer.library.foreign import from_json
from indexer.library.named import write_result
from indexer.process import end_at_once
from indexer.ranks import Rank, Ranks
from indexer.reports.terminal import Bars


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for."""

    out: Path
    sources: Sequence[Path] = ()
    exclude: Sequence[str] = ()
    library: Library | None = None
    """Whose remembered sources are learnt from where `sources` is empty."""
    corpus: Path | None = None
    """A folder of icons that were rendered before, instead of sources."""
    choice: ModelChoice = field(default_factory=ModelChoice.bundled)
    new_model: Path | None = None
    """Config of a model that begins with random weights, instead of `choice`."""
    options: FinetuneOptions = field(default_factory=FinetuneOptions)
    workers: int = 1
    resume: bool = False
    replace: bool = False
    """Whether a model or an unfinished run may be lost, which is there already."""
    allow_regression: bool = False

    def gather(self) -> tuple[Gathered, Limits]:
        """Read the sources, or the library's, and give every icon its captions."""
        learning, seed = self.options.learning, self.options.schedule.seed
        return gather_icons(self.sources, exclude=self.exclude, library=self.library, learning=learning, seed=seed)


@contextmanager
def working(request: Request) -> Iterator[Places]:
    """Hold the folders of a run, which no other run works in meanwhile.

    Raises:
        ModelError, TrainError: what is there is not to be lost, another run works there, or a file can't be written.
    """
    places = Places(request.out.expanduser().absolute())
    _check_out(request, places)
    lock = FileLock(places.work / "lock")
    try:
        make_folder(places.work)
        lock.acquire(timeout=0)
    except TimeoutError:
        raise TrainError(
            f'"{places.out}" is being made by another `icons lab finetune`; wait for it to end, or give another --out'
        ) from None
    except OSError as error:
        raise ModelError(f'"{places.work}" can\'t be made ({error.strerror}); choose another --out') from error
    try:
        for path in leftovers(places.work):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield places
    except BrokenPipeError:
        raise
    except OSError as error:
        raise TrainError(f"{disk_error(error, places.work)}; {rerun(places)} once that is mended") from error
    finally:
        lock.release()


def rerun(places: Places) -> str:
    """Say how to go on with a run that ended early."""
    return (
        "the last checkpoint stays, --resume goes on from it"
        if places.has_checkpoint
        else "there is no checkpoint yet, run again"
    )


def prepare(request: Request, places: Places, devices: Devices, viewer: Bars) -> Material:
    """Do everything that comes before the ranks start; return what they learn from.

    Raises:
        SourceError, ModelError, TrainError: there is nothing to learn from, or with, or in such batches.
    """
    viewer.stage("Finding the model")
    choice, seed = request.choice, request.options.schedule.seed
    if request.new_model is not None:
        choice = write_random_model(request.new_model, places.work / "start", seed=seed)
    checkpoint = find_checkpoint(choice)
    load_encoder(checkpoint, device=HOST, precision="fp32", n_images=1)  # refused where it says nothing
    corpus = request.corpus or _build(request, places, size=checkpoint.image_size, viewer=viewer)
    material = read_material(corpus, request.options.learning, seed=seed)
    check_material(material, size=checkpoint.image_size)
    options = fitting(request.options, n_icons=int((~material.held_out).sum()), n_ranks=devices.n, viewer=viewer)
    key = hashlib.sha256((corpus / "corpus.json").read_bytes()).hexdigest()[:16]
    facts = (choice.to_json(), checkpoint.fingerprint, request.new_model is not None, corpus.absolute(), key)
    write_plan(places, Plan(*facts, options, request.allow_regression))
    if not request.resume:
        places.forget()
    places.result.unlink(missing_ok=True)
    return material


def _check_out(request: Request, places: Places) -> None:
    """See that nothing is lost where the result is written, before hours are spent on it.

    Raises:
        ModelError, TrainError: the folder holds something else, a model, or a run that can be gone on from.
    """
    check_replaceable(places.out)
    if request.resume or request.replace:
        return
    if places.out.is_dir() and any(places.out.iterdir()):
        raise ModelError(f'"{places.out}" is a model already; give another --out, or --replace to make it anew')
    if places.has_checkpoint:
        raise TrainError(
            f'"{places.work}" holds the checkpoint of an earlier run; --resume goes on from it, --replace begins anew'
        )


def check_material(material: Material, *, size: int) -> None:
    """Refuse what can't be learnt from.

    Raises:
        TrainError: no icon, one icon, one name, no caption, one caption for all, or pictures of another size.
    """
    n_icons, n_texts = len(material.facts["words"]), len(material.captions.texts)
    if n_icons < 2:
        found = "no icon" if n_icons == 0 else "one icon"
        reasons = "; ".join(f"{file}: {reason}" for file, reason in material.facts.get("skipped", ())[:3])
        raise TrainError(f'"{found}" to learn from, which teaches no difference; give more SOURCES. {reasons}'.strip())
    if n_texts < 2:
        text = material.captions.texts[0] if n_texts else ""
        raise TrainError(
            f'all {n_icons:,} icons have one caption, "{text}"; give names or tags that tell them apart, '
            "or --captions FILE"
        )
    n_learnt = int((~material.held_out).sum())
    if n_learnt < 2:
        raise TrainError(
            f'"{n_learnt}" icons are left to learn from after holding out one base name in {material.one_in}; '
            "give more SOURCES, or a larger --set held_out="
        )
    if (made := material.facts.get("size", 64)) != size:
        raise TrainError(f'the corpus holds pictures of "{made}" px, the model takes {size} px; render the corpus anew')


def fitting(options: FinetuneOptions, *, n_icons: int, n_ranks: int, viewer: Bars) -> FinetuneOptions:
    """Make the batch one that there are icons for and that ranks and micro-batches divide.

    Raises:
        TrainError: no such batch has two pictures in each part.
    """
    parts = n_ranks * options.distribution.accumulate
    batch = min(options.loss.batch, n_icons) // parts * parts
    if batch < 2 * parts:
        raise TrainError(
            f'a batch of "{min(options.loss.batch, n_icons)}" ({n_icons:,} icons, --batch {options.loss.batch}) has '
            f"less than two for each of {n_ranks} ranks x {options.distribution.accumulate} micro-batches; "
            "give a larger --batch, more icons, fewer --devices, or a smaller --set accumulate="
        )
    if batch != options.loss.batch:
        viewer.note(f"batches of {batch} instead of {options.loss.batch}: {n_icons:,} icons, {parts} parts a step")
    words = math.ceil(options.loss.keep_words_batch / parts) * parts
    return replace(options, loss=replace(options.loss, batch=batch, keep_words_batch=words))


def _build(request: Request, places: Places, *, size: int, viewer: Bars) -> Path:
    viewer.stage("Looking at sources")
    gathered, limits = request.gather()
    with suppress(SourceError):
        if read_facts(places.corpus).get("key") == key_of(gathered, limits, size=size):
            viewer.note("nothing has changed: the pictures rendered before are used again")
            return places.corpus
    viewer.stage("Rendering")
    build_corpus(gathered, places.corpus, limits=limits, workers=request.workers, size=size, report=viewer.advance)
    return places.corpus


def _describe(material: Material, viewer: Bars) -> None:
    """Say what is learnt from, and what was left out."""
    facts, n_held = material.facts, int(material.held_out.sum())
    viewer.note(
        f"{len(facts['words']):,} icons, {len(material.captions.texts):,} captions; {n_held:,} icons held out "
        f"(one base name in {material.one_in})"
    )
    if n_held < 2:
        viewer.note("fewer than two icons are held out: nothing is measured, the last weights are kept, no gate holds")
    if refused := [f"{n:,} {reason}" for reason, n in facts["refused"].items() if n]:
        viewer.note(f"left out: {', '.join(refused)}")
    if skipped := facts.get("skipped"):
        file, reason = skipped[0]
        viewer.note(f'{len(skipped):,} skipped, the first "{file}": {reason} (all in "{material.file}")')


def finetune(request: Request, *, devices: str, viewer: TrainingView) -> Outcome:
    """Fine-tune a model and write it to `request.out`, unless a task fell below the parent's interval.

    Raises:
        IconsError: with what is wrong and what to do; the last good checkpoint stays.
    """
    where = parse_devices(devices)
    with working(request) as places:
        _describe(prepare(request, places, where, viewer), viewer)
        viewer.stage("Training")
        Run.of_folder(places.work).store.clear("workers/")
        _train(places, where, request, viewer)
        outcome = from_json(Outcome, places.result.read_bytes())
        if outcome.is_written:
            viewer.stage("Writing its graphs")
            with suppress(ModelError):  # it has none: `icons index` exports its towers instead
                write_graphs(places.out)
    return outcome


def _train(places: Places, devices: Devices, request: Request, viewer: TrainingView) -> None:
    if devices.n == 1:
        run_rank(
            places,
            rank=Rank(),
            device=torch.device(devices.own()),
            resume=request.resume,
            report=lambda progress: viewer.trained([progress]),
            give_up=lambda reason: end_at_once(f"{reason}; {rerun(places)}"),
        )
        return
    arguments = ["--out", str(places.out), "--device", devices.device, *(["--resume"] if request.resume else [])]
    watch = Watch(Run.of_folder(places.work), TrainingProgress)
    watchdog = Watchdog(JOINT_FACTOR * request.options.watching.stall_limit, n=devices.n)

    def look() -> None:
        if progress := watch.look():
            viewer.trained(progress)
        if found := watchdog.look(progress):
            raise TrainError(f"rank {found[0]}: {found[1]}; {rerun(places)}")

    with Ranks("indexer.finetune.rank", *arguments, devices=devices, folder=places.work) as ranks:
        if cause := ranks.follow(look):
            raise TrainError(f"{cause}; {rerun(places)}")


COLUMNS, MIXED_ROWS, EDGE, LABEL = 12, 5, 4, 110
N_PICTURES = 2 * COLUMNS
SHARES = (
    "inverted", "tinted", "two_colours", "backed", "photographed", "grained", "neighbours", "resampled", "blurred",
    "compressed",
)  # fmt: skip


def show_augmentations(request: Request, file: Path, viewer: Bars) -> None:
    """Write the sheet of augmentations for a random few of the icons; nothing is trained.

    Raises:
        SourceError: there are no icons.
    """
    seed = request.options.schedule.seed
    with tempfile.TemporaryDirectory(prefix="icons-") as folder:
        corpus = request.corpus or Path(folder)
        if request.corpus is None:
            gathered, limits = request.gather()
            chosen = np.random.default_rng(seed).permutation(len(gathered.icons))[:N_PICTURES]
            gathered.icons = [gathered.icons[row] for row in chosen]
            size, report = find_checkpoint(request.choice).image_size, viewer.advance
            build_corpus(gathered, corpus, limits=limits, workers=request.workers, size=size, report=report)
        pixels = open_pixels(corpus, n=len(read_facts(corpus)["words"]))
        pixels = np.array(pixels[np.sort(np.random.default_rng(seed).permutation(len(pixels))[:N_PICTURES])])
    if not len(pixels):
        raise SourceError(
            "none of the chosen icons can be rendered; `icons index SOURCE` and `icons status --failures` say why"
        )
    write_sheet(torch.from_numpy(pixels), file, request.options.augmentation, seed=seed)
    viewer.note(f"wrote {file}")


def write_sheet(pixels: Tensor, file: Path, change: Augmentation, *, seed: int) -> None:
    """Write at least `COLUMNS` pictures uint8 (n, size, size, 3), unchanged and changed in every way, as PNG."""
    images, none = as_floats(pixels), cast(dict[str, Any], dict.fromkeys(SHARES, 0.0))
    alone = none | {"smallest_scale": 1.0, "largest_scale": 1.0, "shift": 0.0}
    rows = {
        **{"unchanged": replace(change, **alone), "scaled, shifted": replace(change, **none)},
        **{share.replace("_", " "): replace(change, **alone | {share: 1.0}) for share in SHARES},
        **{f"mix {number + 1}": change for number in range(MIXED_ROWS)},
    }
    side = images.shape[-1] * max(1, round(64 / images.shape[-1]))
    canvas = Image.new("RGB", (LABEL + COLUMNS * (side + EDGE), len(rows) * (side + EDGE)), (128, 128, 128))
    pen = ImageDraw.Draw(canvas)
    for row, (title, kind) in enumerate(rows.items()):
        pen.text((6, row * (side + EDGE) + side // 2 - 6), title, fill=(255, 255, 255))
        changes = draw_changes(range(len(images)), len(images), kind, seed=(seed + row,))
        changed = as_bytes(augment(torch.cat([images, images[changes.neighbours]]), changes))
        for column, picture in enumerate(map(Image.fromarray, changed[:COLUMNS])):
            place = (LABEL + column * (side + EDGE), row * (side + EDGE))
            canvas.paste(picture.resize((side, side), Image.Resampling.NEAREST), place)
    buffer = BytesIO()
    canvas.save(buffer, "PNG")
    write_result(file, buffer.getvalue(), option="--show-augmentations")
