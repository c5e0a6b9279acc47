"""What a training run holds in memory: pixels, rendered once, with captions, tokens or vectors."""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from indexer.arrays import Ids, Pixels
from indexer.embedding.progress import Reporter
from indexer.encoders.torch_encoder import TextTower, autocast
from indexer.errors import SourceError, TrainError
from indexer.finetune.augment import looks_of
from indexer.finetune.captions import (
    Captions,
    Gathered,
    Limits,
    Placed,
    base_of,
    is_held_out,
    make_captions,
    share_held_out,
)
from indexer.finetune.options import Learning, Places, Plan
from indexer.library.durable import naming, write_file
from indexer.library.named import read_text
from indexer.rendering.render import RECIPE
from indexer.sources.records import MAX_FACTS_BYTES, read_regular

Tokenizer = Callable[[list[str]], Tensor]


@dataclass(frozen=True, slots=True)
class KeptWords:
    """Words whose similarities the text tower shall keep; `text_inputs` are tokens, or vectors for a locked tower."""

    text_inputs: Tensor
    vectors: Tensor
    """The parent's unit vectors, float16 (n, dim)."""
    batch: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """A corpus, ready to train on. Rows are icons; `bases` numbers the base name of each."""

    pixels: npt.NDArray[np.uint8]
    captions: Captions
    text_inputs: Tensor
    """What the student takes for each of `captions.texts`: tokens int32 (n, context) or vectors float16 (n, dim)."""
    bases: Ids
    looks: Tensor
    """float16 (n, 256): coarse edges of every picture, unit length."""
    train_rows: Ids
    held_out_rows: Ids
    words: list[str]
    kept_words: KeptWords | None = None
    cut: Sequence[str] = ()
    """Captions that fill the text tower's whole context, so that they may have been cut."""


@dataclass(frozen=True, slots=True)
class Material:
    """A corpus as read, before any encoder looks at it; `file` holds its facts."""

    file: Path
    facts: dict[str, Any]
    captions: Captions
    bases: Ids
    held_out: npt.NDArray[np.bool_]
    one_in: int
    """One base name in so many is held out."""


def read_material(corpus: Path, learning: Learning, *, seed: int) -> Material:
    """Number a corpus' captions and split its icons."""
    facts = read_facts(corpus)
    captions = make_captions(facts["words"], facts["tags"], seed=seed, own=facts.get("own"))
    names = [base_of(name) for name in facts["words"]]
    distinct, bases = np.unique(names, return_inverse=True)
    one_in = learning.held_out or share_held_out(len(distinct))
    return Material(
        corpus / "corpus.json",
        facts,
        captions,
        bases,
        np.array([is_held_out(name, one_in=one_in) for name in names], dtype=bool),
        one_in,
    )


def open_pixels(corpus: Path, *, n: int) -> npt.NDArray[np.uint8]:
    """Map the first `n` pictures of a corpus: the rest of the file is room for those that could not be used.

    Raises:
        SourceError: the file is damaged.
    """
    try:
        pixels: npt.NDArray[np.uint8] = np.load(corpus / "pixels.npy", mmap_mode="r")[:n]
    except (ValueError, EOFError) as error:
        raise SourceError(f'"{corpus / "pixels.npy"}" is damaged ({error}); render the corpus anew') from error
    if len(pixels) < n:
        raise SourceError(f'"{corpus / "pixels.npy"}" holds "{len(pixels)}" of {n} pictures; render the corpus anew')
    return pixels


def read_facts(corpus: Path) -> dict[str, Any]:
    """Read what a corpus says about itself.

    Raises:
        SourceError: the folder holds none, or a damaged one.
    """
    if not (corpus / "corpus.json").is_file() or not (corpus / "pixels.npy").is_file():
        raise SourceError(f'"{corpus}" is no corpus; give SOURCES, which are rendered into one')
    try:
        facts = json.loads(read_regular(corpus / "corpus.json", limit=MAX_FACTS_BYTES))
        list(zip(facts["words"], facts["tags"], strict=True))  # as many names as lists of tags
    except (SourceError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise SourceError(f'"{corpus / "corpus.json"}" is damaged ({error}); render the corpus anew') from error
    assert isinstance(facts, dict)
    return facts


def tokenize(texts: Sequence[str], tokenizer: Tokenizer) -> Tensor:
    """Token ids int32 (n, context); longer texts are cut."""
    return torch.cat([tokenizer(list(texts[start : start + 4096])).int() for start in range(0, len(texts), 4096)])


def cut_warning(cut: Sequence[str]) -> str:
    """Say in a line which captions may have been cut."""
    return f'{len(cut):,} captions fill the whole context and may have been cut, the first "{cut[0][:60]}..."'


@torch.inference_mode()
def encode_texts(model: Any, tokens: Tensor, live: Callable[[], None] = lambda: None) -> Tensor:
    """Unit vectors float16 (n, dim) of the text tower, in order; encoded by length, so that little is padded.

    `live` is called after every 1,024 texts.
    """
    tower, device = TextTower(model.eval()), next(model.parameters()).device
    order, parts = (tokens != 0).sum(1).argsort(), []
    with autocast("auto", device):
        for rows in torch.split(order, 1024):
            parts.append(tower.encode_short(tokens[rows].long().to(device)).half().cpu())
            live()
    return torch.cat(parts)[order.argsort()]


def build_corpus(
    gathered: Gathered,
    folder: Path,
    *,
    limits: Limits,
    workers: int,
    size: int = 64,
    report: Callable[[int, int, str], None] = lambda *_: None,
) -> None:
    """Render everything once and write the corpus; what can't be drawn is left out.

    `report` is called with how many of how many are done, and of what.
    """
    folder.mkdir(parents=True, exist_ok=True)
    placed, part = [icon.placed for icon in gathered.icons], folder / "pixels.part.npy"
    pixels = np.lib.format.open_memmap(part, "w+", np.uint8, (len(placed), size, size, 3))
    if sys.platform == "linux":  # to write into what a full disk lacks would end this process
        with naming(part), part.open("r+b") as opened:
            os.posix_fallocate(opened.fileno(), 0, opened.seek(0, os.SEEK_END))
    kept, failed = list[int](), dict[int, str]()
    for rows, pictures in rendered(placed, failed, workers=workers, size=size, report=report):
        pixels[len(kept) : len(kept) + len(rows)] = pictures
        kept += rows
    gathered.refused["cannot be rendered"] += len(failed)
    gathered.skipped += [(placed[row].file, reason) for row, reason in failed.items()]
    pixels.flush()
    (folder / "corpus.json").unlink(missing_ok=True)  # it would describe other pixels until the new one is written
    part.replace(folder / "pixels.npy")
    icons = [gathered.icons[row] for row in kept]
    records = (icon.placed.record for icon in icons)
    counts = Counter(replace(record.set, licence=record.licence or record.set.licence) for record in records)
    described = {
        "limits": limits.facts(),
        "sets": [
            {**{name: getattr(icon_set, name) for name in ("key", "title", "version", "licence")}, "icons": n}
            for icon_set, n in sorted(counts.items(), key=lambda pair: (pair[0].key, str(pair[0].licence)))
        ],
        "refused": dict(gathered.refused.most_common()),
        "skipped": gathered.skipped,
        "words": [icon.words for icon in icons],
        "tags": [icon.tags for icon in icons],
        **({"own": [icon.own for icon in icons]} if any(icon.own for icon in icons) else {}),
        **{"size": size, "key": key_of(gathered, limits, size=size)},
    }
    write_file(folder / "corpus.json", json.dumps(described).encode())


def key_of(gathered: Gathered, limits: Limits, *, size: int) -> str:
    """Hash of all that a corpus is made from: equal keys are equal corpora."""
    facts = [
        [icon.placed.record.digest.hex(), icon.words, icon.tags, icon.own, icon.placed.file] for icon in gathered.icons
    ]
    return sha256(json.dumps([RECIPE, size, limits.facts(), facts, []]).encode()).hexdigest()[:16]


def rendered(
    placed: Sequence[Placed],
    failed: dict[int, str],
    *,
    workers: int,
    size: int,
    report: Callable[[int, int, str], None],
) -> Iterable[tuple[list[int], Pixels]]:
    """Rows of `placed` with their pixels, in chunks; what fails goes to `failed` with its reason."""
    from indexer.rendering.pool import Job, RenderPool

    jobs, done = [Job(row, entry.address) for row, entry in enumerate(placed)], 0
    with RenderPool(size=size, workers=workers) as pool:
        for chunk in pool.render(jobs[start : start + 4096] for start in range(0, len(jobs), 4096)):
            failed.update((failure.id, failure.reason) for failure in chunk.failures)
            done += len(chunk.ids) + len(chunk.failures)
            report(done, len(jobs), "pictures")
            yield chunk.ids.tolist(), chunk.pixels


def open_lesson(
    places: Places, plan: Plan, material: Material, encoder: tuple[Any, Any], reporter: Reporter[Any]
) -> Lesson:
    """Put a corpus into memory, with what `encoder` (model, tokenizer) says of its captions.

    Rank 0 makes what is not kept from an earlier run; the others wait for its files, however long that takes.

    Raises:
        SourceError, TrainError: the pictures are damaged, or the words to keep can't be read.
    """
    (model, tokenizer), kept = encoder, partial(_kept, places.work, reporter)

    def read(texts: Sequence[str], *, has_vectors: bool) -> tuple[Tensor, Tensor]:
        """Tokens of some texts, and the parent's vectors of them where these are asked for."""
        key = sha256(json.dumps([plan.fingerprint, list(texts)]).encode()).hexdigest()[:16]
        tokens = kept(f"tokens-{key}", lambda: tokenize(texts, tokenizer))
        made = partial(encode_texts, model, tokens, reporter.live)
        return tokens, kept(f"vectors-{key}", made) if has_vectors else tokens

    pixels = open_pixels(plan.corpus, n=len(material.bases))
    looks = kept(f"looks-{plan.corpus_key}", lambda: looks_of(pixels, reporter.live))
    loss, is_locked, words = plan.options.loss, plan.options.towers.text_tower == "locked", None
    tokens, text_inputs = read(material.captions.texts, has_vectors=is_locked)
    if loss.keep_words_weight:
        word_tokens, vectors = read(kept_words(loss.keep_words) or material.captions.texts, has_vectors=True)
        words = KeptWords(vectors if is_locked else word_tokens, vectors, loss.keep_words_batch)
    is_full = tokens[:, -1] != tokenizer([""])[0, -1]
    return Lesson(
        pixels,
        material.captions,
        text_inputs,
        material.bases,
        looks,
        train_rows=np.flatnonzero(~material.held_out),
        held_out_rows=np.flatnonzero(material.held_out),
        words=material.facts["words"],
        kept_words=words,
        cut=[material.captions.texts[place] for place in is_full.nonzero().flatten().tolist()],
    )


def _kept(folder: Path, reporter: Reporter[Any], name: str, make: Callable[[], Tensor]) -> Tensor:
    """Read a tensor of the corpus; rank 0 makes it first where it is not there."""
    file, kind = folder / f"{name}.npy", name.partition("-")[0]
    if reporter.progress.rank == 0 and not file.is_file():
        reporter.begin(f"making {kind} of the corpus")
        content = BytesIO()
        np.save(content, make().numpy())
        write_file(file, content.getvalue())
    reporter.join(f"reading {kind} of the corpus")
    while not file.is_file():
        time.sleep(0.2)
        reporter.live()
    return torch.from_numpy(np.load(file))


def kept_words(file: str | None) -> list[str]:
    """Read the words whose similarities are to be kept, one text a line.

    Raises:
        TrainError: the file is not there, or holds nothing.
    """
    lines = read_text(Path(file)).splitlines() if file else []
    words = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if file and len(words) < 2:
        raise TrainError(f'keep_words "{file}" holds "{len(words)}" texts; give at least two, one a line')
    return words
