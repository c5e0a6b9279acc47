"""Which way does an encoder run here? Through torch, or, for what is done sooner than torch is imported, without."""

from typing import TYPE_CHECKING

from indexer.encoders.checkpoint import Checkpoint
from indexer.encoders.graphs import find_graphs
from indexer.encoders.loaded import AnyPrecision
from indexer.encoders.onnx_encoder import OnnxEncoder
from indexer.encoders.samples import check_answers
from indexer.errors import ModelError
from indexer.process import computes_in_bf16, cores_of_rank
from indexer.ranks.devices import HOST, Device

if TYPE_CHECKING:
    from indexer.encoders.torch_encoder import Encoder

    AnyEncoder = Encoder | OnnxEncoder

MANY = 1 << 40
"""Pictures of which nobody knows how many there are."""
TORCH_PAYS = {"bf16": 3_200, "fp32": 12_500}
"""Pictures a core, each with a name, from which torch's rate makes up for its import, by what torch computes in there;
docs/log.md has the figures."""


def find_device(name: str) -> Device:
    """Turn "cpu" or "cuda:1" into a device that is there.

    Raises:
        DeviceError: it is not.
    """
    if name == "cpu":
        return HOST
    from indexer.encoders.torch_encoder import resolve_device

    return resolve_device(name)


def load_encoder(
    checkpoint: Checkpoint, *, device: Device, precision: AnyPrecision, n_images: int, lanes: int = 1
) -> "AnyEncoder":
    """Load an encoder the way that is done soonest with so many pictures.

    `lanes` is how many threads will ask it at once: with those that they share, there is one a core. Vectors in int8
    are others than those in the other precisions, which are the same to .9999: "auto" is never int8 here.

    Raises:
        ModelError: its weights don't load or are broken, or it has no such precision.
    """
    encoder = _load(checkpoint, device, precision, n_images=n_images, lanes=lanes)
    check_answers(encoder, checkpoint)
    return encoder


def _load(
    checkpoint: Checkpoint, device: Device, precision: "AnyPrecision", *, n_images: int, lanes: int
) -> "AnyEncoder":
    if device.type == "cpu" and (graphs := find_graphs(checkpoint)):
        threads = max(1, cores_of_rank() - lanes + 1)
        if graphs.has_int8 and precision == "int8":
            return OnnxEncoder(graphs, precision="int8", threads=threads)
        torchs_own = "bf16" if precision == "auto" and computes_in_bf16() else "fp32"
        if precision in ("auto", "fp32") and n_images < TORCH_PAYS[torchs_own] * cores_of_rank():
            return OnnxEncoder(graphs, precision="fp32", threads=threads)
    if precision == "int8":
        what = f'model "{checkpoint.name}" can\'t be embedded in int8 on "{device}"'
        raise ModelError(f"{what}: that takes a processor, and a model with a graph for it")
    from indexer.encoders.torch_encoder import Encoder, resolve_device

    return Encoder(checkpoint, device=resolve_device(str(device)), precision=precision)
