"""What does a fine-tuning need before the first step? Sources gathered and rendered, a model found, a plan written."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from indexer.checkpoint import LOCAL, Checkpoint, ModelChoice, find_checkpoint
from indexer.errors import ModelError, SourceError, TrainError
from indexer.finetune.corpus import build_corpus, key_of
from indexer.finetune.gather import Gathered, Limits, gather, read_sources
from indexer.finetune.lesson import Material, read_facts, read_material
from indexer.finetune.options import FinetuneOptions, Learning, Places
from indexer.finetune.own_captions import read_own_captions
from indexer.finetune.plan import Plan, write_plan
from indexer.launch import Devices
from indexer.library import Library, require


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
    """A folder that `python -m indexer.finetune corpus` has made, instead of sources."""
    choice: ModelChoice = field(default_factory=ModelChoice.bundled)
    new_model: Path | None = None
    """Config of a model that begins with random weights, instead of `choice`."""
    options: FinetuneOptions = field(default_factory=FinetuneOptions)
    workers: int = 1
    resume: bool = False
    allow_regression: bool = False


def prepare(request: Request, devices: Devices, viewer: Viewer) -> Places:
    """Do everything that comes before the ranks start.

    Raises:
        SourceError, ModelError, TrainError: there is nothing to learn from, or with, or in such batches.
    """
    places = Places(request.out.expanduser().absolute())
    viewer.stage("Finding the model")
    choice = request.choice if request.new_model is None else _new_model(request.new_model, places, request)
    checkpoint = find_checkpoint(choice)
    corpus = request.corpus
    if corpus is None:
        corpus = _build(request, places, size=image_size_of(checkpoint), viewer=viewer)
    material = read_material(corpus, request.options.learning, seed=request.options.schedule.seed)
    check_material(material, size=image_size_of(checkpoint))
    options = fitting(request.options, n_icons=int((~material.held_out).sum()), n_ranks=devices.n, viewer=viewer)
    _tell(material, corpus, viewer)
    key = hashlib.sha256((corpus / "corpus.json").read_bytes()).hexdigest()[:16]
    is_new = request.new_model is not None
    plan = Plan(choice, checkpoint.fingerprint, is_new, corpus.absolute(), key, options, request.allow_regression)
    write_plan(places, plan)
    if not request.resume:
        places.checkpoint.unlink(missing_ok=True)
        places.best.unlink(missing_ok=True)
    places.result.unlink(missing_ok=True)
    return places


def gather_icons(
    sources: Sequence[Path], *, exclude: Sequence[str], library: Library | None, learning: Learning, seed: int
) -> tuple[Gathered, Limits]:
    """Read sources, or a library's remembered ones, and give every icon its captions.

    Raises:
        SourceError: there are none, or own captions fit none of the icons.
    """
    excludes: dict[Path, Sequence[str]] = dict.fromkeys(sources, tuple(exclude))
    if not sources:
        excludes = remembered_sources(library)
    skipped: list[tuple[str, str]] = []
    limits = Limits(
        learning.names_per_set, learning.variants_per_name, learning.tags_per_icon, seed, admit=learning.admit
    )
    placed = read_sources(excludes, excludes=excludes, skipped=skipped)
    own = read_own_captions(Path(learning.own_captions)) if learning.own_captions else {}
    unknown = own.keys() - {entry.file for entry in placed}
    if own and len(unknown) == len(own):
        raise SourceError(
            f'no file in "{learning.own_captions}" is one of the icons, the first is "{next(iter(own))}"; '
            "`icons captions --out FILE` writes a list to edit"
        )
    gathered = gather(placed, extra_tags={}, limits=limits, own=own)
    gathered.skipped = skipped + gathered.skipped + [(file, "own captions, but no such icon") for file in unknown]
    return gathered, limits


def remembered_sources(library: Library | None) -> dict[Path, Sequence[str]]:
    """The sources that a library remembers, with what is left out of each."""
    from sqlalchemy import select

    from indexer.database import open_catalog
    from indexer.schema import sources

    if library is None:
        raise SourceError("nothing to learn from; give SOURCES, or --library of one that remembers some")
    engine = open_catalog(require(library).catalog)
    with engine.connect() as connection:
        rows = connection.execute(select(sources.c.given, sources.c.exclude).distinct()).all()
    engine.dispose()
    if not rows:
        raise SourceError(f'"{library.root}" remembers no source; give SOURCES, or run `icons index SOURCE` first')
    return {Path(row.given): json.loads(row.exclude) for row in rows}


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
            "give more SOURCES, or a larger --held-out"
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
            f'"{n_icons}" icons (a batch of {options.loss.batch}) are too few for {n_ranks} ranks x '
            f"{options.distribution.accumulate} micro-batches; give fewer --devices, a smaller --accumulate, more icons"
        )
    if batch != options.loss.batch:
        viewer.note(f"batches of {batch} instead of {options.loss.batch}: {n_icons:,} icons, {parts} parts a step")
    words = math.ceil(options.loss.keep_words_batch / parts) * parts
    return replace(options, loss=replace(options.loss, batch=batch, keep_words_batch=words))


def image_size_of(checkpoint: Checkpoint) -> int:
    """The side of the pictures that a model takes.

    Raises:
        ModelError: they are not square.
    """
    config: Mapping[str, Any] = checkpoint.config
    size = config.get("preprocess_cfg", {}).get("size") or config["model_cfg"]["vision_cfg"].get("image_size", 224)
    sides = {size} if isinstance(size, int) else set(size)
    if len(sides) != 1:
        raise ModelError(f'input size "{size}" is not square; `icons` takes encoders with square input')
    return int(sides.pop())


def _build(request: Request, places: Places, *, size: int, viewer: Viewer) -> Path:
    viewer.stage("Looking at sources")
    options = request.options
    gathered, limits = gather_icons(
        request.sources,
        exclude=request.exclude,
        library=request.library,
        learning=options.learning,
        seed=options.schedule.seed,
    )
    if _is_made(places.corpus, key_of(gathered, limits, size=size)):
        viewer.note("nothing has changed: the pictures rendered before are used again")
        return places.corpus
    viewer.stage("Rendering")
    build_corpus(gathered, places.corpus, limits=limits, workers=request.workers, size=size, report=viewer.rendered)
    return places.corpus


def _is_made(corpus: Path, key: str) -> bool:
    try:
        return bool(read_facts(corpus).get("key") == key)
    except (SourceError, ValueError):
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


def _new_model(config_file: Path, places: Places, request: Request) -> ModelChoice:
    """Write an open_clip folder with random weights, by the seed."""
    import torch

    from indexer.finetune.folder import PREPROCESS_CONFIG, FolderFacts, write_model

    try:
        config = json.loads(config_file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f'"{config_file}" is no model config ({error}); give one as open_clip has them') from error
    config = config if "model_cfg" in config else {"model_cfg": config}
    torch.manual_seed(request.options.schedule.seed)
    model = build_model(config["model_cfg"], config_file)
    config.setdefault("preprocess_cfg", PREPROCESS_CONFIG | {"size": config["model_cfg"]["vision_cfg"]["image_size"]})
    folder = places.work / "start"
    write_model(model.state_dict(), folder, FolderFacts(config, {}, "# Random weights\n", "fp32"))
    return ModelChoice(f"{LOCAL}{folder}")


def build_model(model_config: Mapping[str, Any], named: Path) -> Any:
    """Build an open_clip model with random weights.

    Raises:
        ModelError: the config is none that open_clip builds.
    """
    from open_clip.model import CLIP, CustomTextCLIP

    plain = json.loads(json.dumps(model_config))
    is_custom = plain.pop("custom_text", False)
    try:
        return (CustomTextCLIP if is_custom else CLIP)(**plain)
    except Exception as error:  # open_clip, timm and torch each raise their own
        reason = re.sub(r"\s+", " ", str(error))[:200]
        raise ModelError(f'"{named}" is no model config that open_clip builds ({reason})') from error
