"""What lies between `icons lab finetune` and its result: sources rendered, a plan, ranks here or under torchrun."""

import hashlib
import math
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import torch
from filelock import FileLock

from indexer.embedding.distributed import Rank, Ranks
from indexer.embedding.progress import Overseer, clear_progress, read_progress
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST, Devices, parse_devices
from indexer.encoders.export import write_graphs
from indexer.encoders.graphs import load_encoder
from indexer.errors import ModelError, SourceError, TrainError
from indexer.finetune.captions import gather_icons
from indexer.finetune.folder import Outcome, check_replaceable, write_random_model
from indexer.finetune.gather import Gathered, Limits
from indexer.finetune.lesson import Material, build_corpus, key_of, read_facts, read_material
from indexer.finetune.options import FinetuneOptions, Places
from indexer.finetune.plan import Plan, write_plan
from indexer.finetune.rank import JOINT_FACTOR, run_rank
from indexer.finetune.watch import TrainingProgress, TrainingView
from indexer.library.durable import disk_error, leftovers, make_folder
from indexer.library.folder import Library
from indexer.library.foreign import from_json
from indexer.process import end_at_once


class Viewer(Protocol):
    """Whoever shows a person how far the work is."""

    def stage(self, title: str) -> None:
        """A new step has begun."""

    def rendered(self, done: int, total: int) -> None:
        """So many pictures are drawn."""

    def note(self, text: str) -> None:
        """Something that a person should know."""


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
    if not places.has_checkpoint:
        return "there is no checkpoint yet, run again"
    return "the last checkpoint stays, --resume goes on from it"


def prepare(request: Request, places: Places, devices: Devices, viewer: Viewer) -> None:
    """Do everything that comes before the ranks start.

    Raises:
        SourceError, ModelError, TrainError: there is nothing to learn from, or with, or in such batches.
    """
    viewer.stage("Finding the model")
    choice = _beginning(request, places)
    checkpoint = find_checkpoint(choice)
    load_encoder(checkpoint, device=HOST, precision="fp32", n_images=1)  # refused where it says nothing
    corpus = request.corpus
    if corpus is None:
        corpus = _build(request, places, size=checkpoint.image_size, viewer=viewer)
    material = read_material(corpus, request.options.learning, seed=request.options.schedule.seed)
    check_material(material, size=checkpoint.image_size)
    options = fitting(request.options, n_icons=int((~material.held_out).sum()), n_ranks=devices.n, viewer=viewer)
    _tell(material, corpus, viewer)
    key = hashlib.sha256((corpus / "corpus.json").read_bytes()).hexdigest()[:16]
    is_new = request.new_model is not None
    plan = Plan(choice, checkpoint.fingerprint, is_new, corpus.absolute(), key, options, request.allow_regression)
    write_plan(places, plan)
    if not request.resume:
        places.forget()
    places.result.unlink(missing_ok=True)


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


def _beginning(request: Request, places: Places) -> ModelChoice:
    if request.new_model is None:
        return request.choice
    return write_random_model(request.new_model, places.work / "start", seed=request.options.schedule.seed)


def check_material(material: Material, *, size: int | None = None) -> None:
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
    made = material.facts.get("size", 64)
    if size is not None and made != size:
        raise TrainError(f'the corpus holds pictures of "{made}" px, the model takes {size} px; render the corpus anew')


def fitting(options: FinetuneOptions, *, n_icons: int, n_ranks: int, viewer: Viewer) -> FinetuneOptions:
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


def _build(request: Request, places: Places, *, size: int, viewer: Viewer) -> Path:
    viewer.stage("Looking at sources")
    gathered, limits = request.gather()
    if _is_made(places.corpus, key_of(gathered, limits, size=size)):
        viewer.note("nothing has changed: the pictures rendered before are used again")
        return places.corpus
    viewer.stage("Rendering")
    build_corpus(gathered, places.corpus, limits=limits, workers=request.workers, size=size, report=viewer.rendered)
    return places.corpus


def _is_made(corpus: Path, key: str) -> bool:
    try:
        return bool(read_facts(corpus).get("key") == key)
    except SourceError:
        return False


def _tell(material: Material, corpus: Path, viewer: Viewer) -> None:
    facts = material.facts
    n_held = int(material.held_out.sum())
    viewer.note(
        f"{len(facts['words']):,} icons, {len(material.captions.texts):,} captions; {n_held:,} icons held out "
        f"(one base name in {material.one_in})"
    )
    if n_held < 2:
        viewer.note("fewer than two icons are held out: nothing is measured, the last weights are kept, no gate holds")
    refused = {reason: n for reason, n in facts["refused"].items() if n}
    if refused:
        viewer.note("left out: " + ", ".join(f"{n:,} {reason}" for reason, n in refused.items()))
    if facts.get("skipped"):
        file, reason = facts["skipped"][0]
        viewer.note(
            f'{len(facts["skipped"]):,} skipped, the first "{file}": {reason} (all in "{corpus / "corpus.json"}")'
        )


def finetune(request: Request, *, devices: str, viewer: TrainingView) -> Outcome:
    """Fine-tune a model and write it to `request.out`, unless a task fell below the parent's interval.

    Raises:
        IconsError: with what is wrong and what to do; the last good checkpoint stays.
    """
    where = parse_devices(devices)
    with working(request) as places:
        prepare(request, places, where, viewer)
        viewer.stage("Training")
        clear_progress(places.work)
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

    overseer = Overseer(devices.n, JOINT_FACTOR * request.options.watching.stall_limit)

    def look() -> None:
        if progress := read_progress(places.work, TrainingProgress):
            viewer.trained(progress)
        if found := overseer.look(progress):
            raise TrainError(f"{found}; {rerun(places)}")

    with Ranks("indexer.finetune.rank", *arguments, devices=devices, folder=places.work) as ranks:
        if cause := ranks.follow(look):
            raise TrainError(f"{cause}; {rerun(places)}")
