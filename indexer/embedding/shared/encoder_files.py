"""How does a worker come by the encoder of a plan? Out of the store of the work, unless every machine has it."""

import json
from dataclasses import replace
from pathlib import Path

from indexer.encoders.checkpoint import CONFIG_NAME, LOCAL, Checkpoint, ModelChoice
from indexer.errors import EmbedError
from indexer.library.durable import write_file
from indexer.stores.store import Below, Listed, Store

_FACTS = "encoder.json"


def put_encoder(store: Store, choice: ModelChoice, checkpoint: Checkpoint) -> None:
    """Put the files of an encoder into a store, unless they are there; the bundled one every machine has."""
    if choice.model == "bundled":
        return
    part = _part(store, checkpoint.fingerprint)
    files = [checkpoint.weights, *checkpoint.tokenizer]
    if checkpoint.pretrained is None:
        files.append(checkpoint.weights.parent / CONFIG_NAME)
    there = {name: listed.size for name, listed in part.list("").items()}
    lacking = [file for file in files if there.get(file.name) != file.stat().st_size]
    for file in lacking:
        part.put(file.name, file.read_bytes())
    if _FACTS in there and not lacking:
        return
    facts = {"model": choice.model, "weights": checkpoint.weights.name, "files": [file.name for file in files]}
    part.put(_FACTS, json.dumps(facts).encode())  # last: who finds it finds all


def fetch_encoder(store: Store, choice: ModelChoice, *, fingerprint: str, folder: Path) -> ModelChoice:
    """Bring an encoder's files into a folder of this machine, those that are not there yet; say how it is chosen then.

    Raises:
        EmbedError: the store has lost a file, or names one that would lie elsewhere, or the folder can't be written.
    """
    part = _part(store, fingerprint)
    stored = part.get(_FACTS)
    if stored is None:
        return choice
    here = folder / fingerprint
    try:
        facts = json.loads(stored.content)
        weights, files = str(facts["weights"]), [str(name) for name in facts["files"]]
    except (ValueError, TypeError, KeyError) as error:
        raise EmbedError(
            f'"{part.url}/{_FACTS}" is damaged; remove it, then `icons embed --plan-only --work`'
        ) from error
    for name in (fingerprint, weights, *files):
        if Path(name).name != name or name == "..":  # whoever may write there is not to write here
            raise EmbedError(f'"{name}" in "{part.url}" is no name of a file; remove "{_FACTS}" there')
    there = part.list("")
    for name in files:
        if not _is_whole(here / name, there.get(name)):
            file = part.get(name)
            if file is None:
                raise EmbedError(
                    f'"{part.url}/{name}" is missing; `icons embed --plan-only --work` puts it there again'
                )
            try:
                write_file(here / name, file.content)
            except OSError as error:
                raise EmbedError(
                    f'"{here}" can\'t be written ({error.strerror}); XDG_CACHE_HOME names another place'
                ) from error
    if choice.pretrained is not None:
        return replace(choice, pretrained=str(here / weights))
    return ModelChoice(f"{LOCAL}{here}")


def _is_whole(file: Path, listed: Listed | None) -> bool:
    """Whether a file is here, of the size that the store tells, if it tells one."""
    return file.is_file() and (listed is None or listed.size in (None, file.stat().st_size))


def _part(store: Store, fingerprint: str) -> Below:
    return Below(store, f"encoders/{fingerprint}/")
