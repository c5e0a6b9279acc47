"""What is measured on which device, and how much of it? Models of which nobody has weights here get random ones."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from indexer.encoders.checkpoint import LOCAL, ModelChoice
from indexer.library.durable import make_folder
from indexer.library.foreign import from_json

MODELS = ("bundled", "ViT-B-32", "ViT-L-14")
SEED = 0
N_IMAGES = {"bundled": 100_000, "ViT-B-32": 40_000, "ViT-L-14": 20_000}
"""Pictures of an embedding: some seconds of one H100, as long as its host draws fast enough."""
_N_IMAGES_OF_OTHERS = 20_000
_MOST_IMAGES = 200_000
"""Pictures for all devices together: they are written as files first."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One measuring. Its parts run in processes of their own, which get it as JSON."""

    out: Path
    device: str = "cuda:0"
    """As torch names it. On "cpu" everything runs that needs no CUDA."""
    n_devices: int = 1
    models: tuple[str, ...] = MODELS
    """As open_clip names them, "bundled", or local-dir:PATH."""
    n_compared: int = 128
    """Pictures whose vectors are held against the CPU's."""
    batch_sizes: tuple[int, ...] = (64, 256, 1024, 2048)
    n_images: int | None = None
    """Pictures of an embedding; None: `N_IMAGES`."""
    n_varied: int = 10_000
    """Pictures of each configuration of embedding."""
    workers: int | None = None
    seconds: float = 2.0
    """That a rate is measured for, at least."""
    steps: int = 10
    """Counted, of each configuration of training."""
    train: Mapping[str, Any] = field(default_factory=dict)
    """Knobs of training's base, where it is not the usual one."""
    sweeps: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """Of training; none: the usual ones."""
    embed_sweeps: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """Of embedding; none: the usual ones, and all strategies."""

    @classmethod
    def from_json(cls, text: str) -> "Setting":
        """Read it in another process."""
        return from_json(cls, text)

    def to_json(self) -> str:
        """Spell it for another process."""
        return json.dumps(asdict(self), default=str)

    @property
    def kind(self) -> str:
        """Of the device: cuda or cpu."""
        return self.device.partition(":")[0]

    @property
    def device_counts(self) -> list[int]:
        """Numbers of devices that are compared: 1, 2, 4 and so on, and all."""
        return sorted({1, 2, 4, 8, self.n_devices} & set(range(1, self.n_devices + 1)))

    @property
    def all_devices(self) -> str:
        """As `--devices` of the other benchmarks takes them."""
        return str(self.n_devices) if self.kind == "cuda" else f"cpu:{self.n_devices}"

    def n_embedded(self, model: str) -> int:
        """Pictures of an embedding by a model."""
        return self.n_images or N_IMAGES.get(model, _N_IMAGES_OF_OTHERS)

    def n_embedded_each(self, model: str) -> int:
        """The same where each of all devices gets as many."""
        return min(self.n_embedded(model), _MOST_IMAGES // self.n_devices)

    def choice(self, model: str) -> ModelChoice:
        """Name a model as `icons index --model --pretrained` does; its weights are made if it has none."""
        if model == "bundled" or model.startswith(LOCAL):
            return ModelChoice(model)
        return ModelChoice(model, str(random_weights(self.out / "weights", model)))


def tiny(out: Path, *, models: tuple[str, ...] = ("bundled",)) -> Setting:
    """The least that goes through all parts, on the CPU: it shows that they run, and measures nothing."""
    return Setting(
        out,
        device="cpu",
        models=models,
        n_compared=16,
        batch_sizes=(16,),
        n_images=96,
        n_varied=96,
        workers=1,
        seconds=0.05,
        steps=1,
        train={"batch": 16},
        sweeps=(("accumulate", (2,)),),
        embed_sweeps=(("batch", (16, 32)),),
    )


def random_weights(folder: Path, model: str) -> Path:
    """Make weights of an open_clip model from a seed, as fp16; once: what a forward pass takes depends on none."""
    path = folder / f"{file_name(model)}.safetensors"
    if path.is_file():
        return path
    import open_clip
    import torch
    from safetensors.torch import save_file

    make_folder(folder)
    torch.manual_seed(SEED)
    state = open_clip.create_model(model).state_dict()
    halves = {name: (it.half() if it.is_floating_point() else it).contiguous() for name, it in state.items()}
    aside = path.with_suffix(".aside")
    save_file(halves, aside)
    aside.replace(path)
    return path


def file_name(text: str) -> str:
    """Spell a name of ours as that of a file."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-")
