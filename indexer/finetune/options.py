"""How a model is fine-tuned: every choice with its default, saved in the lineage."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, get_type_hints

from indexer.errors import TrainError

Admission = Literal["all", "permissive", "shippable"]
Trained = Literal["full", "lora", "locked"]


@dataclass(frozen=True, slots=True)
class Learning:
    """What is learnt from."""

    admit: Admission = "all"
    """all: every icon; permissive: no licence of the NC or GPL family, none missing; shippable: no reserved, logo or
    flag set either, as for the model that comes with `icons`."""
    names_per_set: int | None = None
    variants_per_name: int | None = None
    tags_per_icon: int = 24
    """The tags that most sets agree on come first."""
    own_captions: str | None = None
    """CSV or JSONL as `icons lab captions --out` writes it; its captions replace the mined ones."""
    held_out: int | None = None
    """One base name in so many is kept for validation; None: 5, 10 or 50, by how many names there are."""


@dataclass(frozen=True, slots=True)
class Towers:
    """Which model, and what of it is trained."""

    picture_tower: Trained = "full"
    text_tower: Trained = "full"
    picture_rate: float = 1.0
    """Factor on the learning rate."""
    text_rate: float = 1.0
    text_map: bool = True
    """With a locked text tower: train a linear map over its vectors, folded into its projection at save."""
    map_rate: float = 0.2
    lora_rank: int = 8
    lora_scale: float = 1.0
    stored: Literal["fp8", "fp16", "fp32"] = "fp16"
    """fp8: the table of tokens in eight bits (e4m3), which are more than half of a small model; all else in fp16."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What a batch is and what is wrong with an answer to it. `batch` counts icons over all ranks and micro-batches."""

    batch: int = 512
    kind: Literal["softmax", "sigmoid"] = "softmax"
    related: Literal["soft", "masked"] = "soft"
    """Pairs that fit without being drawn together share the target, or count neither for nor against."""
    sampling: Literal["grouped", "plain"] = "grouped"
    """grouped: icons of one base name go to different batches as far as there are enough."""
    twin_similarity: float = 0.98
    """Cosine of coarse edges from which on two pictures are near-identical; above 1 none are."""
    caption_pair_weight: float = 0.0
    """Of a second caption of the same icon, contrasted with the first."""
    keep_words_weight: float = 0.0
    """Of the squared difference between the parent's and the text tower's similarities over a list of words."""
    keep_words: str | None = None
    """File of words, one text a line; None: the captions."""
    keep_words_batch: int = 256
    local: bool = True
    """Each rank compares its own pictures with all captions: the same gradient, less memory and work."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast."""

    passes: float = 10.0
    steps: int | None = None
    """Overrules `passes`."""
    rate: float = 3e-4
    scale_rate: Literal["none", "linear", "sqrt"] = "none"
    """Multiply the rate by batch / 512, or its root."""
    warm_up: float = 0.08
    """Share of all steps."""
    final_rate: float = 0.01
    """Share of the rate that the cosine ends at."""
    weight_decay: float = 0.05
    clip: float = 1.0
    """Largest norm of the gradient."""
    ema: float = 0.0
    """Decay of the moving average that is validated and saved; 0: none."""
    seed: int = 0
    validate_steps: int | None = None
    """None: ten times a run."""
    patience: int = 5
    """Validations without a better figure after which training ends; 0: never."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the work is spread over devices and memory."""

    precision: Literal["auto", "fp32", "bf16", "fp16"] = "auto"
    backend: Literal["auto", "nccl", "gloo"] = "auto"
    strategy: Literal["ddp", "fsdp"] = "ddp"
    accumulate: int = 1
    """Micro-batches a step; the loss stays that of the whole batch."""
    bucket_cap_mb: float = 25.0
    gradient_as_bucket_view: bool = True
    static_graph: bool = False
    find_unused_parameters: bool = False
    """Of DDP: for models that leave some of their weights out of a step."""
    sync_batch_norm: bool = False
    """Batch norms look at the pictures of all ranks, not of each alone; on GPUs."""
    compile: bool = False
    grad_checkpointing: bool = False


@dataclass(frozen=True, slots=True)
class Watching:
    """What can be seen of a run."""

    watch_devices: bool = False
    tensorboard: bool = False
    profile_steps: int = 0
    checkpoint_seconds: float = 180.0
    stall_limit: float = 600.0
    """Seconds in which nothing gets done, after which a rank is given up."""
    log_steps: int = 10


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How pictures are changed; shares are of the pictures in a batch, lengths of the picture's side."""

    inverted: float = 0.2
    tinted: float = 0.15
    two_colours: float = 0.1
    backed: float = 0.05
    """On a coloured gradient."""
    photographed: float = 0.05
    """On smooth noise with the spectrum of photographs."""
    grained: float = 0.08
    """With grain of one brightness a pixel of a small screenshot, as paper, film and video have it."""
    smallest_scale: float = 0.7
    largest_scale: float = 1.35
    shift: float = 0.12
    neighbours: float = 0.08
    """With other icons of the batch in sight at one side or two, as a crop of a page shows them."""
    resampled: float = 0.25
    """Scaled down and up again."""
    blurred: float = 0.08
    largest_blur: float = 0.02
    """Standard deviation."""
    compressed: float = 0.08
    lowest_quality: int = 25
    highest_quality: int = 85

    def __post_init__(self) -> None:
        for low, high in (("smallest_scale", "largest_scale"), ("lowest_quality", "highest_quality")):
            if getattr(self, low) > getattr(self, high):
                names = [f'--{name.replace("_", "-")} "{getattr(self, name)}"' for name in (low, high)]
                raise TrainError(f"{names[0]} is above {names[1]}; swap them")


@dataclass(frozen=True, slots=True)
class FinetuneOptions:
    """Every choice of a run."""

    learning: Learning = field(default_factory=Learning)
    towers: Towers = field(default_factory=Towers)
    loss: Loss = field(default_factory=Loss)
    schedule: Schedule = field(default_factory=Schedule)
    distribution: Distribution = field(default_factory=Distribution)
    watching: Watching = field(default_factory=Watching)
    augmentation: Augmentation = field(default_factory=Augmentation)

    @classmethod
    def of(cls, chosen: Mapping[str, Any]) -> Self:
        """Sort single choices (`rate=1e-4, batch=64`) into their subjects.

        Raises:
            TypeError: there is no such choice.
        """
        left = dict(chosen)
        subjects = {}
        for name, kind in SUBJECTS.items():
            subjects[name] = kind(**{it.name: left.pop(it.name) for it in fields(kind) if it.name in left})
        if left:
            raise TypeError(f"no such option: {', '.join(left)}")
        return cls(**subjects)


SUBJECTS: dict[str, type[Any]] = get_type_hints(FinetuneOptions)
"""The subjects by their names in `FinetuneOptions`; option names are distinct over all of them."""


class Places:
    """The files of one run, all named from the folder that it makes."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.work = out.parent / f"{out.name}.work"
        """What a run keeps beside its result: all that follows."""
        self.corpus = self.work / "corpus"
        """Rendered icons and their captions."""
        self.plan = self.work / "plan.json"
        """Everything a rank needs to know."""
        self.checkpoint = self.work / "last.checkpoint"
        """The last state, to go on from: a file, or a folder of shards."""
        self.best = self.work / "best.checkpoint"
        """Weights of the best validation so far."""
        self.log = self.work / "log.jsonl"
        """A JSON line for every report and every validation."""
        self.result = self.work / "result.json"
        """What came of the run."""

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is a state to go on from, whole."""
        return self.checkpoint.is_file() or any(self.checkpoint.glob("step-*"))

    def forget(self) -> None:
        """Remove the states of an earlier run, each a file or a folder of shards: the next run may need the other."""
        for path in (self.checkpoint, self.best):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
