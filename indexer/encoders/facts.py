"""What does the encoder in a library say of itself? `encoder.json`, beside its towers and its tokenizer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.encoders.config import impossible_numbers
from indexer.library.durable import check_own_checksum, with_checksum

if TYPE_CHECKING:
    from indexer.encoders.checkpoint import Checkpoint, ModelChoice

FILE_NAME = "encoder.json"


def write_facts(
    folder: Path,
    checkpoint: "Checkpoint",
    choice: "ModelChoice",
    shape: Mapping[str, Any],
    files: Mapping[str, Mapping[str, int | str]],
) -> None:
    """Write what is known of an encoder; `files` are size and sha256 of all others of the folder, by name.

    `shape` has dim, image_size, context_length, start_token and end_token, the least cosines with torch (text_parity,
    image_parity), and why the encoder is served through torch, if it is (reason).
    """
    facts = {
        "fingerprint": checkpoint.fingerprint,
        "model": checkpoint.name,
        "choice": choice.to_json(),
        "served": "torch" if shape.get("reason") else "onnx",
        "reason": None,
        **shape,
        "files": dict(files),
    }
    (folder / FILE_NAME).write_text(json.dumps(with_checksum(facts), indent=2), "utf-8")


def read_facts(folder: Path) -> dict[str, Any]:
    """Read what an encoder says of itself.

    Raises:
        OSError, ValueError: it is missing, not as it was written, or says what no encoder has.
    """
    facts = json.loads((folder / FILE_NAME).read_text("utf-8"))
    if not isinstance(facts, dict):
        raise ValueError("it holds no facts")  # noqa: TRY004
    check_own_checksum(facts)
    for what in impossible_numbers(facts):
        raise ValueError(f"it says {what}")
    return facts
