"""What is left to embed, and with what: the encoder, a plan of the blocks, every choice with its default."""

import re
import uuid
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain, starmap
from typing import TYPE_CHECKING, Annotated

import numpy as np

from indexer.arrays import distinct
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import AnyPrecision
from indexer.errors import EmbedError
from indexer.library.folder import Library
from indexer.library.foreign import Positive, Size
from indexer.library.plans import Plan, block_sizes, cut_blocks, write_plan
from indexer.library.shards import precisions, read_coverage
from indexer.process import prepare_for_batches
from indexer.sources.records import PictureAddress

if TYPE_CHECKING:  # ranks and workers take the options alone: a machine with a GPU needs no catalog
    from sqlalchemy import Engine


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """How to embed; every field has a default that is good on any machine."""

    device: Annotated[str, re.compile("auto|cpu|cuda")] = "auto"
    """auto, cpu, or cuda: one GPU a rank."""
    precision: AnyPrecision = "auto"
    batch_size: Size | None = None
    """None: the first batches tell."""
    workers: Annotated[int, range(1025)] | None = None
    """Rendering processes of a rank; None: its share of the cores, less one where it feeds a GPU."""
    stall_limit: Positive = 600.0
    """Seconds without any progress, after which a rank is given up. A worker draws 32 pictures at 10 s each between two
    signs of life, so that the slowest pictures are no standstill."""
    lease_seconds: Positive = 60.0
    """For how long a block stays with a worker of which nothing is heard any more."""


def prepare(
    library: Library, engine: "Engine", choice: ModelChoice | None, *, options: EmbedOptions, retry_failed: bool
) -> Plan:
    """Find the encoder, that in use without a choice, and write the plan of what it has not embedded yet."""
    prepare_for_batches()
    chosen = choice or choice_in_use(engine)
    checkpoint = find_checkpoint(chosen)
    precision = one_precision(options, held=precisions(library.vectors(checkpoint.fingerprint)))
    if precision == "int8" and options.device == "cuda":
        raise EmbedError("pictures are embedded in int8 on processors alone; give --devices cpu, or another --library")
    device = "cpu" if precision == "int8" else options.device
    how = asdict(replace(options, precision=precision, device=device))
    draft = Plan(checkpoint.fingerprint, chosen.to_json(), 0, 0, 0, uuid.uuid4().hex[:12], how)
    return plan_missing(library, engine, draft, retry_failed=retry_failed)


def choice_in_use(engine: "Engine") -> ModelChoice:
    """The encoder that this library is embedded with, the bundled one at first."""
    from indexer.catalog import contents

    with engine.connect() as connection:
        stored = contents.setting(connection, "model")
    return ModelChoice.from_json(stored) if stored else ModelChoice.bundled()


def one_precision(options: EmbedOptions, *, held: set[str]) -> AnyPrecision:
    """Take int8 for pictures where a library began so, or is asked to: what it holds is never mixed with the other.

    Raises:
        EmbedError: the one is asked for, and the library holds the other.
    """
    asked, is_int8 = options.precision, "int8" in held
    if held and asked != "auto" and (asked == "int8") != is_int8:
        what = "in int8" if is_int8 else "in full precision"
        raise EmbedError(
            f'this library\'s pictures are embedded {what}, which is never mixed with "{asked}"; '
            "leave --precision out, or give another --library"
        )
    return "int8" if is_int8 else asked


def plan_missing(library: Library, engine: "Engine", draft: Plan, *, retry_failed: bool) -> Plan:
    """Write the plan of everything that icons show or bear and its encoder has neither a vector nor a failure for."""
    from indexer.catalog import contents

    covered = read_coverage(library.vectors(draft.fingerprint))
    final = [image for image, failed in covered.failures.items() if failed.is_final and not retry_failed]
    attempt = datetime.now(UTC).isoformat() if len(final) < len(covered.failures) else ""
    with engine.begin() as connection:
        done = distinct(np.concatenate([covered.images, np.array(final, dtype=np.int64)]))
        images = np.setdiff1d(contents.image_ids(connection), done, assume_unique=True)
        names = np.setdiff1d(contents.text_ids(connection), covered.names, assume_unique=True)
        n_blocks = len([*block_sizes("names", len(names)), *block_sizes("images", len(images))])
        plan = replace(draft, n_images=len(images), n_names=len(names), n_blocks=n_blocks)
        if n_blocks:
            blocks = chain(
                cut_blocks("names", contents.words_of(connection, names), n=len(names), attempt=""),
                cut_blocks(
                    "images",
                    starmap(image_item, contents.locate_images(connection, images)),
                    n=len(images),
                    attempt=attempt,
                ),
            )
            write_plan(library, plan, blocks)
    return plan


def image_item(image: int, address: PictureAddress) -> tuple[int, str, str, str, str, str]:
    """Spell an image as an item of a `Block`."""
    return image, address.kind, address.location, address.path, address.member, address.digest.hex()
