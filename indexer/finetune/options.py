"""What a fine-tuning is told, with its bounds; how far it is, and how that looks to a person."""

import json
import math
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_type_hints

from indexer.embedding.progress import RankProgress, RankView, Reporter
from indexer.errors import TrainError
from indexer.library.durable import write_file
from indexer.library.foreign import from_json, from_plain
from indexer.reports.terminal import TIMINGS


@dataclass(slots=True)
class TrainingProgress(RankProgress):
    """How far one rank is that trains; its pictures and seconds count from when this process began."""

    step: int = 0
    n_steps: int = 0
    loss: float = 0.0
    first_step: int = 0


TrainingReporter = Reporter[TrainingProgress]


class TrainingView(RankView):
    """Shows a run: loss, rate of each rank, memory and time left."""

    def __init__(self, *, watch_devices: bool = False) -> None:
        super().__init__(watch_devices=watch_devices, estimate=False)  # the run itself tells the time left
        self._noted = ""

    def stage(self, title: str) -> None:
        """Begin a step, whose time is taken under its name."""
        TIMINGS.step(title)
        super().stage(title)

    def trained(self, ranks: list[TrainingProgress]) -> None:
        """Show step, loss, rates, memory and time left."""
        first = ranks[0]
        for rank in (it for it in ranks if it.spans):
            TIMINGS.keep(str(rank.rank), rank.spans)
        if not first.note:
            self.advance(first.step, first.n_steps, described(ranks), now=first.finished)
        elif first.note != self._noted:
            self._noted = first.note
            self.advance(first.step, first.n_steps or None, first.note, now=True)
        self.look([rank for rank in ranks if rank.device])


def described(ranks: list[TrainingProgress]) -> str:
    """Spell how ranks are doing in one line."""
    first, each = ranks[0], ", ".join(f"{rank.images_per_second:,.0f}" for rank in ranks)
    rate = f"{sum(rank.images_per_second for rank in ranks):,.0f} images/s" + f" (ranks {each})" * (len(ranks) > 1)
    memory = max(rank.memory_bytes for rank in ranks) / 1e9
    seconds_left = (first.n_steps - first.step) * first.seconds / max(1, first.step - first.first_step)
    minutes, seconds = divmod(round(seconds_left), 60)
    waiting = max(rank.waited_share for rank in ranks)
    waited = f", {waiting:.0%} waiting" if waiting >= 0.05 else ""
    return f"loss {first.loss:.3f}, {rate}, {memory:.1f} GB, {minutes}:{seconds:02} left{waited}"


Admission = Literal["all", "permissive"]
Trained = Literal["full", "lora", "locked"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a setting means, and between which numbers it lies, ends included unless `is_open`."""

    text: str
    low: float = -math.inf
    high: float = math.inf
    is_open: bool = False
    """`low` itself is none of them."""

    def __call__(self, value: object) -> bool:
        """Whether a value lies there, as `from_plain` asks; texts and switches do."""
        return not isinstance(value, int | float) or (
            self.low <= value <= self.high and not (self.is_open and value == self.low)
        )

    def bounds(self) -> str:
        """Spell the range; nothing where there is none."""
        below = f"above {self.low:g}" if self.is_open else f"{self.low:g} or more" if self.low > -math.inf else ""
        return f"{self.low:g} to {self.high:g}" if self.high < math.inf else below


_share, _positive = partial(Setting, low=0, high=1), partial(Setting, low=0, is_open=True)
_weight, _count = partial(Setting, low=0), partial(Setting, low=1)


@dataclass(frozen=True, slots=True)
class Learning:
    """What is learnt from."""

    admit: Annotated[Admission, Setting("All icons; permissive: no NC, no GPL family, none unlicensed.")] = "all"
    names_per_set: Annotated[int | None, _count("Base names of a set at most.")] = None
    variants_per_name: Annotated[int | None, _count("Styles and sizes of a name at most.")] = None
    tags_per_icon: Annotated[int, _count("Tags at most, those that most sets agree on first.")] = 24
    own_captions: Annotated[str | None, Setting("CSV or JSONL of captions, which replace the mined ones.")] = None
    held_out: Annotated[int | None, Setting("Hold out one base name in so many; else 5, 10 or 50.", 2)] = None


@dataclass(frozen=True, slots=True)
class Towers:
    """Which model, and what of it is trained."""

    picture_tower: Annotated[Trained, Setting("What of it is trained: all, low-rank additions, nothing.")] = "full"
    text_tower: Annotated[Trained, Setting("Locked, captions are encoded once: several times faster.")] = "full"
    picture_rate: Annotated[float, _weight("Factor on the rate.")] = 1.0
    text_rate: Annotated[float, _weight("Factor on the rate.")] = 1.0
    text_map: Annotated[bool, Setting("With a locked text tower: a linear map behind it, merged at save.")] = True
    map_rate: Annotated[float, _weight("Factor on the rate of the map and of the logits' scale.")] = 0.2
    lora_rank: Annotated[int, _count("Numbers a row of a low-rank addition.")] = 8
    lora_scale: Annotated[float, _positive("Factor on low-rank additions.")] = 1.0
    stored: Annotated[
        Literal["fp8", "fp16", "fp32"], Setting("How weights are written; fp8: tokens, the rest in fp16.")
    ] = "fp16"


@dataclass(frozen=True, slots=True)
class Loss:
    """What a batch is and what is wrong with an answer to it."""

    batch: Annotated[int, Setting("Icons a step, over all devices and micro-batches.", 2)] = 512
    kind: Annotated[Literal["softmax", "sigmoid"], Setting("Which contrastive loss.")] = "softmax"
    related: Annotated[
        Literal["soft", "masked"], Setting("Pairs that fit without being drawn: right too, or left out.")
    ] = "soft"
    sampling: Annotated[Literal["grouped", "plain"], Setting("Grouped: icons of one name go to different batches.")] = (
        "grouped"
    )
    twin_similarity: Annotated[
        float, _positive("From this cosine of coarse edges on, pictures are twins; above 1: never.")
    ] = 0.98
    caption_pair_weight: Annotated[float, _weight("Of a second caption of each icon, contrasted with the first.")] = 0.0
    keep_words_weight: Annotated[float, _weight("Of keeping the parent's similarities over a list of words.")] = 0.0
    keep_words: Annotated[str | None, Setting("File of that list, a text a line; else the captions.")] = None
    keep_words_batch: Annotated[int, Setting("Words of that list a step.", 2)] = 256
    local: Annotated[
        bool, Setting("Each device compares its own pictures with all captions: the same gradient, less work.")
    ] = True


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast."""

    passes: Annotated[float, _positive("Times that every icon is seen.")] = 10.0
    steps: Annotated[int | None, _count("Instead of passes.")] = None
    rate: Annotated[float, _positive("Highest learning rate.")] = 3e-4
    warm_up: Annotated[float, _share("Share of the steps in which the rate rises.")] = 0.08
    final_rate: Annotated[float, _share("Share of the rate that the cosine ends at.")] = 0.01
    weight_decay: Annotated[float, _weight("Of matrices; norms, biases and positions have none.")] = 0.05
    clip: Annotated[float, _positive("Largest norm of the gradient.")] = 1.0
    ema: Annotated[float, Setting("Decay of the moving average that is kept; 0: none.", 0, 0.99999)] = 0.0
    seed: Annotated[int, _weight("Of everything random.")] = 0
    validate_steps: Annotated[int | None, _count("Steps between two validations; else ten a run.")] = None
    patience: Annotated[int, _weight("Validations without a better figure after which it ends; 0: never.")] = 5


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the work is spread over devices and memory."""

    precision: Annotated[
        Literal["auto", "fp32", "bf16", "fp16"], Setting("Of the forward pass; weights stay fp32.")
    ] = "auto"
    backend: Annotated[Literal["auto", "nccl", "gloo"], Setting("How devices find each other.")] = "auto"
    strategy: Annotated[Literal["ddp", "fsdp"], Setting("A whole model a device, or a part.")] = "ddp"
    accumulate: Annotated[int, _count("Micro-batches a step; the loss stays that of the whole batch.")] = 1
    bucket_cap_mb: Annotated[float, _positive("Of DDP.")] = 25.0
    gradient_as_bucket_view: Annotated[bool, Setting("Of DDP.")] = True
    static_graph: Annotated[bool, Setting("Of DDP.")] = False
    find_unused_parameters: Annotated[bool, Setting("Of DDP: for models that leave weights out of a step.")] = False
    sync_batch_norm: Annotated[bool, Setting("Batch norms look at the pictures of all GPUs.")] = False
    grad_checkpointing: Annotated[bool, Setting("Compute activations again: slower, less memory.")] = False


@dataclass(frozen=True, slots=True)
class Watching:
    """What can be seen of a run."""

    watch_devices: Annotated[bool, Setting("Show every 5 s what each device does.")] = False
    tensorboard: Annotated[bool, Setting("Write TensorBoard events into OUT.work/tensorboard.")] = False
    checkpoint_seconds: Annotated[float, _weight("Seconds between two checkpoints.")] = 180.0
    stall_limit: Annotated[float, _count("Give up where a device gets nothing done for so many seconds.")] = 600.0
    log_steps: Annotated[int, _count("Steps between two lines of OUT.work/log.jsonl.")] = 10


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How pictures are changed; shares are of the pictures in a batch, lengths of the picture's side."""

    inverted: Annotated[float, _share("Share of light icons on a dark ground.")] = 0.2
    tinted: Annotated[float, _share("Share in dark ink on a light ground, both coloured.")] = 0.15
    two_colours: Annotated[float, _share("Share in two free colours.")] = 0.1
    backed: Annotated[float, _share("Share on a colour gradient.")] = 0.05
    photographed: Annotated[float, _share("Share on noise with the spectrum of photographs.")] = 0.05
    grained: Annotated[float, _share("Share with the grain of paper, film or video.")] = 0.08
    smallest_scale: Annotated[float, _positive("Of the icon in its picture.")] = 0.7
    largest_scale: Annotated[float, _positive("Of the icon in its picture.")] = 1.35
    shift: Annotated[float, _share("Largest, of the picture's side.")] = 0.12
    neighbours: Annotated[float, _share("Share with other icons of the batch in sight, as in a crop of a page.")] = 0.08
    resampled: Annotated[float, _share("Share scaled down and up, nearest to bicubic.")] = 0.25
    blurred: Annotated[float, _share("Share blurred.")] = 0.08
    largest_blur: Annotated[float, _weight("Standard deviation, of the picture's side.")] = 0.02
    compressed: Annotated[float, _share("Share compressed as JPEG.")] = 0.08
    lowest_quality: Annotated[int, Setting("Of JPEG.", 1, 100)] = 25
    highest_quality: Annotated[int, Setting("Of JPEG.", 1, 100)] = 85

    def __post_init__(self) -> None:
        for low, high in (("smallest_scale", "largest_scale"), ("lowest_quality", "highest_quality")):
            if getattr(self, low) > getattr(self, high):
                raise TrainError(f'{low} "{getattr(self, low)}" is above {high} "{getattr(self, high)}"; swap them')


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
        """Sort single choices (`rate=1e-4, batch=64`) into their subjects."""
        names = {subject: [it.name for it in fields(kind) if it.name in chosen] for subject, kind in SUBJECTS.items()}
        return cls(**{name: kind(**{it: chosen[it] for it in names[name]}) for name, kind in SUBJECTS.items()})


SUBJECTS: dict[str, type[Any]] = get_type_hints(FinetuneOptions)
"""The subjects by their names in `FinetuneOptions`; names of settings are distinct over all of them."""
SPELLED = {"kind": "loss", "own_captions": "captions", "local": "local_loss"}
"""How a person spells the settings that have another name here."""


@dataclass(frozen=True, slots=True)
class Known:
    """A setting as a person may type it."""

    subject: str
    field: str
    kind: Any
    """What type hints say of it."""
    default: Any

    @property
    def default_text(self) -> str:
        """The default as it would be typed; nothing where there is none."""
        return "" if self.default is None else json.dumps(self.default).strip('"')

    @property
    def text(self) -> str:
        """What it means, and what it may be."""
        plain, setting = get_args(self.kind)
        choices = ["true", "false"] if plain is bool else [it for it in get_args(plain) if isinstance(it, str)]
        may_be = ", ".join(choices) or setting.bounds()
        return f"{setting.text} [{may_be}]" if may_be else str(setting.text)

    def read(self, value: str) -> Any:
        """Read what was typed; texts stay texts, also those that look like numbers.

        Raises:
            ValueError: it is of another type, or out of range.
        """
        plain = get_args(self.kind)[0]
        with suppress(ValueError):
            return from_plain(self.kind, value if str in (plain, *get_args(plain)) else json.loads(value))
        return from_plain(self.kind, value)


def known_settings() -> dict[str, Known]:
    """All settings by how a person spells them."""
    return {
        SPELLED.get(it.name, it.name): Known(subject, it.name, hints[it.name], it.default)
        for subject, kind in SUBJECTS.items()
        for hints in [get_type_hints(kind, include_extras=True)]
        for it in fields(kind)
    }


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Read settings that a person typed as `name=value`; of two with one name the later counts.

    Raises:
        TrainError: a name is not known, or a value is of another type or out of its range.
    """
    known, chosen = known_settings(), {}
    for text in texts:
        typed, _, value = text.partition("=")
        name = typed.strip().replace("-", "_")
        if name not in known:
            close = "".join(f'did you mean "{it}"? ' for it in get_close_matches(name, known, n=1))
            raise TrainError(f'no setting "{typed}"; {close}--set help lists all')
        try:
            chosen[known[name].field] = known[name].read(value.strip())
        except ValueError as error:
            raise TrainError(f'{name} can\'t be "{value}": {known[name].text}') from error
    return chosen


class Places:
    """The files of one run, all named from the folder that it makes."""

    def __init__(self, out: Path) -> None:
        self.out, self.work = out, out.parent / f"{out.name}.work"
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
            shutil.rmtree(path, ignore_errors=True)  # no folder, no matter
            path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Plan:
    """One run: written by the command into its work folder, read by every rank."""

    choice: str
    """The model that it begins with, as `ModelChoice.to_json` spells it."""
    fingerprint: str
    is_new: bool
    """The model holds random weights, so there is no parent to fall behind."""
    corpus: Path
    """The folder that it learns from."""
    corpus_key: str
    options: FinetuneOptions
    allow_regression: bool = False

    def made_by(self) -> dict[str, Any]:
        """What a checkpoint must agree with to be gone on from: all that changes numbers, but for the devices."""
        plain = {"parent": self.fingerprint, "corpus": self.corpus_key, **asdict(self.options)}
        return {name: value for name, value in plain.items() if name not in ("distribution", "watching")}


def write_plan(places: Places, plan: Plan) -> None:
    """Write the plan."""
    write_file(places.plan, (json.dumps(asdict(plan), indent=1, default=str) + "\n").encode())


def read_plan(places: Places) -> Plan:
    """Read a plan.

    Raises:
        TrainError: there is none, or none that this program wrote.
    """
    try:
        return from_json(Plan, places.plan.read_bytes())
    except (OSError, ValueError) as error:
        raise TrainError(
            f'no plan in "{places.work}" that can be read ({error}); run `icons lab finetune --out "{places.out}"`'
        ) from error
