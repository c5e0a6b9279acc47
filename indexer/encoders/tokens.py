"""Texts -> tokens -> a tower, without torch: `tokenizers`, and the only importer of onnxruntime."""

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from indexer.arrays import Floats

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_MERGES_FILE = "bpe_simple_vocab_16e6.txt.gz"
_N_MERGES = 49152 - 256 - 2
_MAKING = Lock()
_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


class Tokens:
    """A tokenizer with the marks and the length of one text tower."""

    def __init__(self, tokenizer: "Tokenizer", *, context_length: int, start: int, end: int) -> None:
        self.tokenizer = tokenizer
        self.context_length = context_length
        self._start, self._end = start, end

    def of(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Turn texts into token ids, padded with zeros to (n, context_length), as open_clip does."""
        tokens = np.zeros((len(texts), self.context_length), dtype=np.int64)
        for row, text in zip(tokens, texts, strict=True):
            ids = self.tokenizer.encode(text, add_special_tokens=False).ids[: self.context_length - 2]
            row[: len(ids) + 2] = [self._start, *ids, self._end]
        return tokens


def clip_tokenizer() -> "Tokenizer":
    """Express open_clip's own tokenizer in the `tokenizers` library, without the start and end marks."""
    with _MAKING:  # once, whichever thread asks first
        return _clip_tokenizer()


@cache
def _clip_tokenizer() -> "Tokenizer":
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    from indexer.encoders.checkpoint import open_clip_folder

    with gzip.open(open_clip_folder() / _MERGES_FILE) as file:
        lines = file.read().decode().split("\n")[1 : 1 + _N_MERGES]
    merges = [cast("tuple[str, str]", tuple(line.split())) for line in lines]
    letters = _letters()
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


def _letters() -> list[str]:
    """The 256 characters that stand for bytes in byte-level BPE, in CLIP's order: the printable ones for themselves."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    return [*map(chr, printable), *(chr(256 + number) for number in range(256 - len(printable)))]


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
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
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
