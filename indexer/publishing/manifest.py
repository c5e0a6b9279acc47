"""What a generation holds, as its `manifest.json` says; read by searches, so nothing heavy is imported here."""

import json
from dataclasses import asdict, dataclass

from indexer.catalog.accounting import Accounting
from indexer.errors import LibraryError
from indexer.library.durable import check_own_checksum, with_checksum
from indexer.library.folder import Generation, Library
from indexer.publishing.curves import Calibration, Curve, CurveBySize

SNAPSHOT = "0005"
"""Format of the generations that this program writes and reads; a catalog's own schema is `database.REVISION`."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares in a fused vector (`publishing.vectors`)."""

    picture: float
    """The rest is the name's."""
    tags: float
    """Of an icon that states some; the rest is picture and name."""


WEIGHTS = Weights(picture=0.4, tags=0.5)
"""Chosen on held-out names, the picture's in docs/training.md, that of tags in docs/evaluation.md."""


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What the manifest says of one index."""

    spec: str
    n: int
    recall_at_10: float


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation holds; `manifest.json`, written last."""

    number: int
    created_at: str
    schema: str
    """The format that it was written in (`SNAPSHOT`)."""
    revision: int
    """The catalog's revision at the snapshot: equal ones need no new generation."""
    fingerprint: str
    dim: int
    weights: Weights
    pictures: IndexFacts
    icons: IndexFacts
    calibration: Calibration
    """How similarities become scores."""
    counts: Accounting
    files: dict[str, dict[str, int | str]]
    """Size in bytes and sha256 of every other file of the generation."""
    library: str = ""
    """Id of the library (`catalog.questions.library_id`); "" in generations of older programs, which may be any's."""

    def write(self, generation: Generation) -> None:
        """Write it into a generation, with a checksum of its own."""
        generation.manifest.write_text(json.dumps(with_checksum(asdict(self)), indent=2), "utf-8")

    @classmethod
    def read(cls, generation: Generation) -> "Manifest":
        """Read a generation's manifest.

        Raises:
            LibraryError: it is missing, not whole, or of another format; the message says what mends that.
        """
        try:
            facts = json.loads(generation.manifest.read_text("utf-8"))
            _check_format(generation, str(facts["schema"]))
            check_own_checksum(facts)
            for name in ("pictures", "icons"):
                facts[name] = IndexFacts(**facts[name])
            calibration = facts["calibration"]
            sized = calibration["pictures"]
            curves = {name: Curve(**sized[name]) for name in ("few", "every")}
            pictures = CurveBySize(**{**sized, **curves})
            facts["calibration"] = Calibration(calibration["unit"], Curve(**calibration["words"]), pictures)
            facts["weights"] = Weights(**facts["weights"])
            facts["counts"] = Accounting(**facts["counts"])
            return cls(**facts)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise LibraryError(
                f'"{generation.manifest}" can\'t be read ({error}); `icons merge` builds a new one'
            ) from error


def answering_manifest(library: Library) -> Manifest | None:
    """Read what the generation that answers says of itself; None where none does, or this program can't read it."""
    current = library.current()
    if current is None:
        return None
    try:
        return Manifest.read(library.generation(current))
    except LibraryError:
        return None


def _check_format(generation: Generation, found: str) -> None:
    if found > SNAPSHOT:
        raise LibraryError(
            f'generation {generation.number} has format "{found}", newer than "{SNAPSHOT}" of this program; '
            "`pip install --upgrade icons` brings a program that reads it"
        )
    if found != SNAPSHOT:
        raise LibraryError(
            f'generation {generation.number} has format "{found}", this program reads "{SNAPSHOT}"; '
            "`icons index` builds a new one from what is embedded already"
        )
