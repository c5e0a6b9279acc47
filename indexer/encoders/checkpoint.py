"""Which encoder is meant: a name on the command line -> files on disk and a fingerprint. No torch here.

Every number of a model's config is looked at before anything is made of it.
"""

import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from indexer.errors import ModelError, SourceError, first_line
from indexer.library.bundled import bundled
from indexer.library.foreign import from_json
from indexer.rendering.render import RECIPE
from indexer.sources.records import read_regular, shown, stamp_of

LOCAL, HUB = "local-dir:", "hf-hub:"
CONFIG_NAME = "open_clip_config.json"
WEIGHT_NAMES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
TOKENIZER_NAMES = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt", "special_tokens_map.json")
_FEW_WEIGHTS = 1 << 26
"""A model of so many does no harm: who loads it says what is wrong with its file."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What the user asked for, as open_clip spells it; saved in the catalog."""

    model: str
    pretrained: str | None = None

    @classmethod
    def typed(cls, model: str, pretrained: Path | None) -> "ModelChoice":
        """What was typed, its paths absolute: they are kept, and mean the same from any folder."""
        place = f"{LOCAL}{_absolute(model.removeprefix(LOCAL))}"
        return cls(place if model.startswith(LOCAL) else model, str(_absolute(pretrained)) if pretrained else None)

    @classmethod
    def bundled(cls) -> "ModelChoice":
        """The encoder that ships with `icons`."""
        return cls("bundled")

    def to_json(self) -> str:
        """Spell the choice for the catalog."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "ModelChoice":
        """Read a choice back.

        Raises:
            ModelError: it is none.
        """
        try:
            return from_json(cls, text)
        except ValueError as error:
            raise ModelError(f"no encoder is chosen ({error}); name one with `icons index --model`") from error


@dataclass(frozen=True)
class Checkpoint:
    """An encoder's files, found and readable; `open_clip_name` and `pretrained` are what open_clip takes."""

    name: str
    open_clip_name: str
    pretrained: str | None
    config: Mapping[str, Any]
    weights: Path
    tokenizer: tuple[Path, ...] = ()

    @property
    def image_size(self) -> int:
        """Side of the tower's square input in pixels, as open_clip reads it from the config."""
        return image_side(self.config["model_cfg"]["vision_cfg"])

    @property
    def weights_digest(self) -> str:
        """The sha256 of the weights, in hex digits."""
        return _digest_of(self.weights, stamp_of(self.weights)).hex()

    @cached_property
    def fingerprint(self) -> str:
        """Hash of weights, config, tokenizer files and rendering recipe: 16 hex digits.

        Vectors of different fingerprints are never compared.
        """
        digest = hashlib.sha256(json.dumps(self.config, sort_keys=True).encode())
        digest.update(f"render recipe {RECIPE}".encode())
        for path in (self.weights, *self.tokenizer):
            digest.update(_digest_of(path, stamp_of(path)))
        return digest.hexdigest()[:16]


@lru_cache(maxsize=32)
def _digest_of(path: Path, stamp: str) -> bytes:
    """Hash a file once in a process: weights take seconds, and a run asks several times. The stamp keeps it fresh."""
    del stamp
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def find_checkpoint(choice: ModelChoice) -> Checkpoint:
    """Find the files of a chosen encoder.

    Nothing is fetched: what names it may come from a stranger.

    Raises:
        ModelError: it is unknown, incomplete, or not on this machine.
    """
    has_own_weights = choice.model == "bundled" or choice.model.startswith((LOCAL, HUB))
    if has_own_weights and choice.pretrained is not None:
        raise ModelError(f'model "{choice.model}" has its own weights; --pretrained goes with an open_clip name')
    try:
        checkpoint = _find(choice)
    except (OSError, RuntimeError) as error:  # a path without end, the home of nobody
        raise ModelError(f'model "{choice.model[:80]}" can\'t be read ({error!s:.80}); give another --model') from error
    # Beside the weights in a folder lies the tokenizer too; only a name that open_clip knows takes it from elsewhere.
    keys = ("hf_model_name",) if checkpoint.pretrained is None else ("hf_model_name", "hf_tokenizer_name")
    named = [str(name) for key in keys if (name := checkpoint.config["model_cfg"]["text_cfg"].get(key))]
    if missing := [name for name in named if not _is_cached(name)]:
        raise ModelError(
            f'model "{checkpoint.name}" names "{missing[0]}", which is not on this machine, and a name in a config is '
            f"no leave to fetch; `hf download {missing[0]}` does that, or give --model another one"
        )
    return checkpoint


def fetch_named(model: str, tell: Callable[[str], None]) -> None:
    """Fetch a model of a hub unless it is here, for a person who has just named it, and for nobody else.

    Raises:
        ModelError: it can't be fetched.
    """
    repository = model.removeprefix(HUB)
    if repository != model and _cached_folder(repository) is None:
        tell(f"Fetching {model}, once; --offline forbids it")
        _fetch(repository)


def _find(choice: ModelChoice) -> Checkpoint:
    if choice.model == "bundled":
        return _in_folder("bundled", bundled("model"))
    if choice.model.startswith(LOCAL):
        folder = _absolute(choice.model.removeprefix(LOCAL))
        return _in_folder(f"{LOCAL}{folder}", folder)
    if choice.model.startswith(HUB):
        cached = _cached_folder(choice.model.removeprefix(HUB))
        if cached is None:
            raise ModelError(
                f'model "{choice.model}" is not on this machine; `--model {choice.model}` fetches it, once'
            )
        return _in_folder(choice.model, cached)
    config_path = open_clip_folder() / "model_configs" / f"{choice.model}.json"
    if not re.fullmatch(r"[\w.-]{1,100}", choice.model) or not config_path.is_file():
        known = sorted(path.stem for path in config_path.parent.glob("*.json"))
        near = get_close_matches(choice.model, known, n=3, cutoff=0.3) or known[:3]
        raise ModelError(
            f'unknown model "{choice.model[:80]}"; near: {", ".join(near)}; '
            "or --model local-dir:PATH, --model hf-hub:ORG/NAME"
        )
    if choice.pretrained is None:
        raise ModelError(f'model "{choice.model}" needs weights; add --pretrained FILE')
    weights = _absolute(choice.pretrained)
    if not weights.is_file():
        raise ModelError(f'no checkpoint at "{weights}"; give --pretrained FILE of model "{choice.model}"')
    return Checkpoint(f"{choice.model} {weights.name}", choice.model, str(weights), read_config(config_path), weights)


def _in_folder(name: str, folder: Path) -> Checkpoint:
    config_path = folder / CONFIG_NAME
    weights = next((folder / weight for weight in WEIGHT_NAMES if (folder / weight).is_file()), None)
    if not config_path.is_file() or weights is None:
        raise ModelError(
            f'"{folder}" is no open_clip folder: it needs {CONFIG_NAME} and {" or ".join(WEIGHT_NAMES)}; '
            "give --model local-dir:PATH of one that has both"
        )
    config = read_config(config_path)
    check_config(config, config_path, most_weights=max(weights.stat().st_size, _FEW_WEIGHTS))  # a byte each at least
    tokenizer = tuple(folder / name for name in TOKENIZER_NAMES if (folder / name).is_file())
    return Checkpoint(name, f"{LOCAL}{folder}", None, config, weights, tokenizer)


def _absolute(place: str | Path) -> Path:
    return Path(place).expanduser().absolute()


def open_clip_folder() -> Path:
    """Where open_clip lies, found without importing it."""
    spec = importlib.util.find_spec("open_clip")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def _is_cached(repository: str) -> bool:
    """Whether any part of a tower is in the local cache; a path, say, is no repository."""
    from huggingface_hub import errors, try_to_load_from_cache

    with suppress(errors.HFValidationError):
        found = (try_to_load_from_cache(repository, name) for name in ("config.json", *TOKENIZER_NAMES))
        return any(isinstance(path, str) for path in found)
    return False


def _cached_folder(repository: str) -> Path | None:
    """Find a hub folder in the local cache, whole; what is there is not asked for again."""
    from huggingface_hub import errors, snapshot_download

    with suppress(errors.HFValidationError, errors.LocalEntryNotFoundError):
        folder = Path(snapshot_download(repository, local_files_only=True))
        is_whole = (folder / CONFIG_NAME).is_file() and any((folder / name).is_file() for name in WEIGHT_NAMES)
        return folder if is_whole else None
    return None


def _fetch(repository: str) -> None:
    """Bring a hub folder's files into the local cache."""
    from huggingface_hub import constants, errors, snapshot_download

    if constants.HF_HUB_OFFLINE:
        raise ModelError(
            f'"{HUB}{repository}" is not on this machine, and --offline forbids to fetch it; '
            "run the command once without, or download the folder and give --model local-dir:PATH"
        )
    try:
        snapshot_download(repository, allow_patterns=[CONFIG_NAME, *WEIGHT_NAMES, *TOKENIZER_NAMES])
    except (errors.HfHubHTTPError, errors.HFValidationError, errors.LocalEntryNotFoundError, OSError) as error:
        raise ModelError(
            f'"{HUB}{repository}" can\'t be fetched ({first_line(error)}); '
            "download the folder and give --model local-dir:PATH"
        ) from error


_MOST_BYTES = 1_000_000
_RANGES = {
    "embed_dim": (1, 1 << 14),
    "image_size": (1, 1 << 12),
    "patch_size": (1, 1 << 12),
    "layers": (1, 1 << 10),
    "width": (1, 1 << 14),
    "heads": (1, 1 << 10),
    "head_width": (1, 1 << 12),
    "context_length": (3, 1 << 12),
    "vocab_size": (1, 1 << 21),
}
"""The most is several times what any model of open_clip's has. A text of one token has its marks beside it."""
_LISTED = {"image_size": 2, "layers": 4}
"""How many numbers may stand for one."""
_COLOURS = {"mean": (-1000, 1000), "std": (0.001, 1000)}
_LEAST_LAYERS, _LEAST_WIDTH = 12, 512
"""Where a config of open_clip's states none."""
_MOST_PATCHES = 1 << 16
"""Of a picture, each with a row in the table of positions."""


def read_config(file: Path) -> dict[str, Any]:
    """Read a model's config as open_clip saves it with weights, or has it in its own list of models.

    Raises:
        ModelError: it is none.
    """
    try:
        config = json.loads(read_regular(file, limit=_MOST_BYTES))
        config = config if "model_cfg" in config else {"model_cfg": config}
        config["model_cfg"]["embed_dim"]
        for part in ("vision_cfg", "text_cfg"):
            config["model_cfg"][part].items()
        (config.get("preprocess_cfg") or {}).items()
    except (OSError, SourceError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or shown(repr(error))
        raise ModelError(f'"{file}" is not an open_clip config ({reason}); save the model again') from error
    assert isinstance(config, dict)
    return config


def check_config(config: Mapping[str, Any], file: Path, *, most_weights: int) -> None:
    """See that a model can be built as its config says, which `file` holds, and has `most_weights` numbers at most.

    Raises:
        ModelError: that is not so.
    """
    model = config["model_cfg"]
    timm = model["vision_cfg"].get("timm_model_name")
    if timm is not None and not (isinstance(timm, str) and re.fullmatch(r"[\w.-]+", timm)):
        # Of others it would ask a hub, or look into a folder.
        reason = f'"timm_model_name" may not be "{shown(timm)}"'
        raise ModelError(f'"{file}" is not an open_clip config ({reason}); save the model again')
    parts = {f"{name}.": part for name in ("vision_cfg", "text_cfg", "multimodal_cfg") if (part := model.get(name))}
    found = [where + what for where, part in {"": model, **parts}.items() for what in impossible_numbers(part)]
    for field, (least, most) in _COLOURS.items():
        value = (config.get("preprocess_cfg") or {}).get(field)
        numbers = value if isinstance(value, list) else []
        is_possible = [type(number) in (int, float) and least <= number <= most for number in numbers]
        if value is not None and is_possible != [True] * 3:
            found.append(f'preprocess_cfg.{field} "{shown(value)}", not three numbers from {least} to {most}')
    found = found or [where + what for where, part in parts.items() for what in _too_large(part, most_weights)]
    if found:
        raise ModelError(f'"{file}" says {found[0]}; save the model again, or give another one')


def impossible_numbers(facts: Mapping[str, Any]) -> Iterator[str]:
    """Say of each number that no model has which it is, and what it may be."""
    for field, (least, most) in _RANGES.items():
        value = facts.get(field, least)
        if value is None and field == "patch_size":  # of timm's models
            continue
        numbers = value if isinstance(value, list) and len(value) == _LISTED.get(field) else [value]
        if not all(type(number) is int and least <= number <= most for number in numbers):
            yield f'{field} "{shown(value)}", not a number from {least} to {most}'
        elif field == "image_size" and len(set(numbers)) > 1:
            yield f'{field} "{value}", which is not square; `icons` takes encoders with square input'


def _too_large(part: Mapping[str, Any], most_weights: int) -> Iterator[str]:
    """Say which numbers together would make a tower of open_clip's too large; timm's and transformers' have names."""
    if part.get("timm_model_name") or part.get("hf_model_name"):
        return
    width, layers = part.get("width", _LEAST_WIDTH), part.get("layers", _LEAST_LAYERS)
    n_layers, vocabulary = sum(layers) if isinstance(layers, list) else layers, part.get("vocab_size", 0)
    than = f'more than its weights hold ("{most_weights}" numbers at most)'
    size, patch = (part.get(name) for name in ("image_size", "patch_size"))
    n_patches = (image_side(part) // patch) ** 2 if size and patch else 0
    impossible = {
        f'layers "{layers}" of width "{width}", {than}': 4 * n_layers * width**2 > most_weights,  # attention alone
        f'vocab_size "{vocabulary}" of width "{width}", {than}': vocabulary * width > most_weights,
        f'image_size "{size}" in patches of "{patch}"; {_MOST_PATCHES} are the most': n_patches > _MOST_PATCHES,
    }
    yield from (what for what, is_so in impossible.items() if is_so)


def image_side(vision: Mapping[str, Any]) -> int:
    """Side of a picture tower's input in pixels, as open_clip reads it from a config that was checked."""
    size = vision.get("image_size", 224)
    return int(size[0] if isinstance(size, list) else size)
