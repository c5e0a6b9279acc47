"""Words or a picture -> one unit vector, through the encoder that the library carries, without torch.

`tokenizers`, and the only importer of onnxruntime.
"""

import gzip
import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats
from indexer.errors import LibraryError
from indexer.library.durable import Files, describe_file, folder_aside, from_signed, with_checksum
from indexer.library.foreign import Name, parsed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from indexer.encoders.checkpoint import Checkpoint, ModelChoice

FILE_NAME = "encoder.json"
_MERGES_FILE = "bpe_simple_vocab_16e6.txt.gz"
_N_MERGES = 49152 - 256 - 2
_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


@cache
def clip_tokenizer() -> "Tokenizer":
    """Express open_clip's own tokenizer in the `tokenizers` library, without the start and end marks."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    from indexer.encoders.checkpoint import open_clip_folder

    with gzip.open(open_clip_folder() / _MERGES_FILE) as file:
        lines = file.read().decode().split("\n")[1 : 1 + _N_MERGES]
    merges = [cast("tuple[str, str]", tuple(line.split())) for line in lines]
    # The 256 characters that stand for bytes in byte-level BPE, in CLIP's order: the printable ones for themselves.
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    letters = [*map(chr, printable), *(chr(256 + number) for number in range(256 - len(printable)))]
    pieces = [*letters, *(f"{letter}</w>" for letter in letters), *(first + second for first, second in merges)]
    vocabulary = {piece: number for number, piece in enumerate([*pieces, "<start_of_text>", "<end_of_text>"])}
    tokenizer = Tokenizer(
        models.BPE(vocab=vocabulary, merges=merges, continuing_subword_prefix="", end_of_word_suffix="</w>")
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip(), normalizers.Lowercase()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PATTERN), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


class Tower:
    """An exported tower: one input with a free first axis, one output. Several threads may run it at once."""

    def __init__(self, path: Path, *, threads: int) -> None:
        """Open a tower. One thread for a query, which is too small to be shared; 0: one a core.

        Raises:
            RuntimeError: ONNX Runtime refuses the file.
        """
        import onnxruntime as ort

        ort.disable_telemetry_events()  # where it was imported before `indexer` set the environment
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # render workers need the cores
        try:
            self._session: Any = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime has a dozen classes for it, and none above them
            raise RuntimeError(str(error)) from error

    def run(self, name: str, inputs: NDArray[Any]) -> Floats:
        """Encode a batch, under the name of the input."""
        return self.run_all(name, inputs)[0]

    def run_all(self, name: str, inputs: NDArray[Any]) -> list[Floats]:
        """All outputs of a graph that has several."""
        return [np.asarray(output, dtype=np.float32) for output in self._session.run(None, {name: inputs})]


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

    def tokens(self, tokenizer: "Tokenizer", texts: Sequence[str]) -> NDArray[np.int64]:
        """Turn texts into token ids, padded with zeros to (n, context_length), as open_clip does."""
        tokens = np.zeros((len(texts), self.context_length), dtype=np.int64)
        for row, text in zip(tokens, texts, strict=True):
            ids = tokenizer.encode(text, add_special_tokens=False).ids[: self.context_length - 2]
            row[: len(ids) + 2] = [self.start_token, *ids, self.end_token]
        return tokens


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


def write_facts(folder: Path, checkpoint: "Checkpoint", choice: "ModelChoice", shape: Shape) -> None:
    """Write what is known of an encoder into a folder that holds all its other files."""
    facts = EncoderFacts(
        fingerprint=checkpoint.fingerprint,
        model=checkpoint.name,
        choice=choice.to_json(),
        served="torch" if shape.reason else "onnx",
        files={path.name: describe_file(path) for path in sorted(folder.iterdir())},
        **asdict(shape),
    )
    (folder / FILE_NAME).write_text(json.dumps(with_checksum(asdict(facts)), indent=2), "utf-8")


PENDING = "its export is not there yet"
"""How the reason begins of an encoder whose export comes later."""


def write_pending(folder: Path, checkpoint: "Checkpoint", choice: "ModelChoice") -> None:
    """Say of an encoder whose export comes later what there is to know of it."""
    with folder_aside(folder, replace=True) as aside:
        shape = Shape(
            dim=checkpoint.config["model_cfg"]["embed_dim"],
            image_size=checkpoint.image_size,
            context_length=checkpoint.config["model_cfg"]["text_cfg"].get("context_length", 77),
            start_token=0,
            end_token=0,
            reason=f"{PENDING}; `icons index` makes that of the encoder in use",
        )
        write_facts(aside, checkpoint, choice, shape)


def read_facts(folder: Path) -> EncoderFacts:
    """Read what an encoder says of itself.

    Raises:
        OSError, ValueError: it is missing, not as it was written, or says what no encoder has.
    """
    return from_signed(EncoderFacts, parsed((folder / FILE_NAME).read_bytes()))


class QueryEncoder(Protocol):
    """Whatever turns a query into a unit vector (dim,)."""

    image_size: int

    def has_token(self, word: str) -> bool:
        """Tell whether a word is so usual that the encoder reads it as one piece."""

    def whole_words(self) -> list[str]:
        """List the words that are so usual that the encoder reads each as one piece."""

    def encode_picture(self, pixels: NDArray[np.uint8]) -> Floats:
        """Encode uint8 pixels (size, size, 3) of the model's size."""
        return self.encode_many_pictures(pixels[None]).reshape(-1)

    def encode_many_words(self, texts: Sequence[str]) -> Floats:
        """Encode several texts of normalised words, (n, dim); what does not fit the context is cut."""

    def encode_many_pictures(self, pixels: NDArray[np.uint8]) -> Floats:
        """Encode uint8 pixels (n, size, size, 3), (n, dim)."""


def open_query_encoder(folder: Path) -> QueryEncoder:
    """Open an exported encoder; one that did not export is served through torch, with a warning.

    Raises:
        LibraryError: the folder is missing or not whole.
    """
    try:
        facts = read_facts(folder)
        if facts.served == "onnx":
            return OnnxQueryEncoder(folder, facts)
    except (OSError, ValueError) as error:
        raise LibraryError(
            f'query encoder "{folder}" can\'t be read ({error}); delete it and run `icons index`'
        ) from error
    warnings.warn(f"{facts.model} is served through torch, which is slow to start: {facts.reason}", stacklevel=2)
    return TorchQueryEncoder(facts)


class OnnxQueryEncoder(QueryEncoder):
    """The two exported towers; each is loaded when first asked."""

    def __init__(self, folder: Path, facts: EncoderFacts) -> None:
        from tokenizers import Tokenizer

        self.image_size = facts.image_size
        # One query is too small to be shared, and spinning threads cost the others.
        self._tower = cache(lambda name: Tower(folder / f"{name}.onnx", threads=1))
        self._tokenizer, self._facts = Tokenizer.from_file(str(folder / "tokenizer.json")), facts

    def has_token(self, word: str) -> bool:
        """Tell whether a word is so usual that the encoder reads it as one piece."""
        return len(self._tokenizer.encode(word, add_special_tokens=False).ids) == 1

    def whole_words(self) -> list[str]:
        """List the words that are one piece."""
        return _whole_words(self._tokenizer.get_vocab())

    def encode_many_words(self, texts: Sequence[str]) -> Floats:
        """Encode several texts of normalised words, (n, dim)."""
        tokens = self._facts.tokens(self._tokenizer, texts)
        if self._facts.cuts_texts:
            tokens = tokens[:, : int((tokens != 0).sum(axis=1).max())]
        return self._tower("text").run("tokens", tokens)

    def encode_many_pictures(self, pixels: NDArray[np.uint8]) -> Floats:
        """Encode uint8 pixels (n, size, size, 3), (n, dim)."""
        return self._tower("image").run("pixels", pixels)


class TorchQueryEncoder(QueryEncoder):
    """The same through the index side's encoder, for models that can't leave torch, or have not yet."""

    def __init__(self, facts: EncoderFacts, *, precision: Literal["auto", "fp32"] = "fp32") -> None:
        from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
        from indexer.encoders.torch_encoder import Encoder, resolve_device

        checkpoint = find_checkpoint(ModelChoice.from_json(facts.choice))
        if checkpoint.fingerprint != facts.fingerprint:
            raise LibraryError(f'model "{facts.model}" has changed since it was indexed; run `icons index`')
        self._encoder = Encoder(checkpoint, device=resolve_device("cpu"), precision=precision)
        self.image_size = self._encoder.image_size

    def has_token(self, word: str) -> bool:
        """Tell whether a word is one piece."""
        tokens = self._encoder.tokenizer([word, ""])
        return int((tokens[0] != tokens[1]).sum()) <= 2  # the word itself, and the end mark that it moved

    def whole_words(self) -> list[str]:
        """List the words that are one piece."""
        tokenizer = self._encoder.tokenizer
        return _whole_words(tokenizer.encoder if hasattr(tokenizer, "encoder") else tokenizer.tokenizer.get_vocab())

    def encode_many_words(self, texts: Sequence[str]) -> Floats:
        """Encode several texts of normalised words, (n, dim)."""
        tokens = self._encoder.tokenizer(list(texts))
        return np.asarray(self._encoder.encode_tokens(tokens).cpu().numpy(), dtype=np.float32)

    def encode_many_pictures(self, pixels: NDArray[np.uint8]) -> Floats:
        """Encode uint8 pixels (n, size, size, 3), (n, dim)."""
        return np.asarray(self._encoder.encode_images(pixels), dtype=np.float32)


def _whole_words(vocabulary: Iterable[str]) -> list[str]:
    """Pick the pieces that are words, by the marks of CLIP's tokenizer, of byte-level BPE and of SentencePiece."""
    words = (piece.removesuffix("</w>") for piece in vocabulary if piece.endswith("</w>"))
    return [*words, *(piece[1:] for piece in vocabulary if piece[:1] in ("\u0120", "\u2581"))]
