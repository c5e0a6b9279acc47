"""What does the encoder in a library say of itself? `encoder.json`, beside its towers and its tokenizer."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from indexer.library.durable import Files, from_signed, with_checksum
from indexer.library.foreign import Name, parsed

if TYPE_CHECKING:
    from indexer.encoders.checkpoint import Checkpoint, ModelChoice

FILE_NAME = "encoder.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What goes into an encoder and comes out of it, and how well that agrees with torch."""

    dim: Annotated[int, range(1, (1 << 14) + 1)]
    image_size: Annotated[int, range(1, 4097)]
    context_length: Annotated[int, range(3, 4097)]
    start_token: Annotated[int, range((1 << 21) + 1)]
    end_token: Annotated[int, range((1 << 21) + 1)]
    cuts_texts: bool = False
    """Whether its text tower takes tokens of any length."""
    text_parity: float | None = None
    image_parity: float | None = None
    """The least cosines with torch."""
    reason: str | None = None
    """Why it is served through torch, if it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderFacts(Shape):
    """What is known of an encoder."""

    fingerprint: Name
    model: str
    choice: str
    """`ModelChoice` as JSON."""
    served: Literal["onnx", "torch"]
    files: Files | None = None
    """All others of its folder; None where an older program wrote none."""


def write_facts(folder: Path, checkpoint: "Checkpoint", choice: "ModelChoice", shape: Shape, files: Files) -> None:
    """Write what is known of an encoder; `files` are all others of the folder."""
    facts = EncoderFacts(
        fingerprint=checkpoint.fingerprint,
        model=checkpoint.name,
        choice=choice.to_json(),
        served="torch" if shape.reason else "onnx",
        files=files,
        **asdict(shape),
    )
    (folder / FILE_NAME).write_text(json.dumps(with_checksum(asdict(facts)), indent=2), "utf-8")


def read_facts(folder: Path) -> EncoderFacts:
    """Read what an encoder says of itself.

    Raises:
        OSError, ValueError: it is missing, not as it was written, or says what no encoder has.
    """
    return from_signed(EncoderFacts, parsed((folder / FILE_NAME).read_bytes()))
