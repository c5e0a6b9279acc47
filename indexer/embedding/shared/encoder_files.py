"""How does a worker come by the encoder of a plan? Out of the store of the work, unless every machine has it."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from indexer.encoders.checkpoint import CONFIG_NAME, LOCAL, Checkpoint, ModelChoice
from indexer.errors import EmbedError
from indexer.library.durable import write_file
from indexer.library.foreign import FILE_NAME, FileName, below, from_json
from indexer.stores.store import Below, Listed, Store

_FACTS = "encoder.json"


@dataclass(frozen=True, slots=True)
class _Facts:
    """Which files an encoder has."""

    model: str
    weights: FileName
    files: tuple[FileName, ...]


def put_encoder(store: Store, choice: ModelChoice, checkpoint: Checkpoint) -> None:
    """Put the files of an encoder into a store, unless they are there; the bundled one every machine has."""
    if choice.model == "bundled":
        return
    part = _part(store, checkpoint.fingerprint)
    weights = checkpoint.weights.name
    if not FILE_NAME.fullmatch(weights):  # a person may call a file as they like
        weights = "weights.safetensors" if weights.endswith(".safetensors") else "weights.pt"
    files = {weights: checkpoint.weights, **{file.name: file for file in checkpoint.tokenizer}}
    if checkpoint.pretrained is None:
        files[CONFIG_NAME] = checkpoint.weights.parent / CONFIG_NAME
    there = {name: listed.size for name, listed in part.list("").items()}
    lacking = {name: file for name, file in files.items() if there.get(name) != file.stat().st_size}
    for name, file in lacking.items():
        part.put(name, file.read_bytes())
    if _FACTS in there and not lacking:
        return
    facts = _Facts(choice.model, weights, tuple(files))
    part.put(_FACTS, json.dumps(asdict(facts)).encode())  # last: who finds it finds all


def fetch_encoder(store: Store, choice: ModelChoice, *, fingerprint: str, folder: Path) -> ModelChoice:
    """Bring an encoder's files into a folder of this machine, those that are not there yet; say how it is chosen then.

    Raises:
        EmbedError: the store has lost a file, or names one that would lie elsewhere, or the folder can't be written.
    """
    part = _part(store, fingerprint)
    stored = part.get(_FACTS)
    if stored is None:
        return choice
    here = below(folder, fingerprint)
    try:
        facts = from_json(_Facts, stored.content)
    except ValueError as error:
        raise EmbedError(
            f'"{part.url}/{_FACTS}" is damaged ({error}); remove it, then `icons embed --plan-only --work`'
        ) from error
    there = part.list("")
    for name in facts.files:
        path = below(here, name)
        if not _is_whole(path, there.get(name)):
            file = part.get(name)
            if file is None:
                raise EmbedError(
                    f'"{part.url}/{name}" is missing; `icons embed --plan-only --work` puts it there again'
                )
            try:
                write_file(path, file.content)
            except OSError as error:
                raise EmbedError(
                    f'"{here}" can\'t be written ({error.strerror}); XDG_CACHE_HOME names another place'
                ) from error
    if choice.pretrained is not None:
        return replace(choice, pretrained=str(below(here, facts.weights)))
    return ModelChoice(f"{LOCAL}{here}")


def _is_whole(file: Path, listed: Listed | None) -> bool:
    """Whether a file is here, of the size that the store tells, if it tells one."""
    return file.is_file() and (listed is None or listed.size in (None, file.stat().st_size))


def _part(store: Store, fingerprint: str) -> Below:
    return Below(store, f"encoders/{fingerprint}/")
