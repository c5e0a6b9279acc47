"""Which choices does `icons finetune` offer? A table of all fields of `options`, as click takes and shows them."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click

from indexer.finetune.options import SUBJECTS

Function = TypeVar("Function", bound=Callable[..., Any])
File = click.Path(dir_okay=False, path_type=Path)
Share = click.FloatRange(0, 1)
Positive = click.FloatRange(0, min_open=True)
Weight = click.FloatRange(0)
Count = click.IntRange(1)
_TOWER = click.Choice(["full", "lora", "locked"])

# (field of options, type, help): names and defaults come from `options`, nowhere else.
_OPTIONS: dict[str, list[tuple[str, Any, str]]] = {
    "learning": [
        (
            "admit",
            click.Choice(["all", "permissive", "shippable"]),
            "all icons; permissive: no NC, no GPL family, none unlicensed; shippable: no reserved or logo set either.",
        ),
        ("names_per_set", Count, "Base names of a set at most; all if not given."),
        ("variants_per_name", Count, "Styles and sizes of a name at most; all if not given."),
        ("tags_per_icon", Count, "Tags at most, those that most sets agree on first."),
        ("own_captions", File, "CSV or JSONL of `icons captions --out`: its captions replace the mined ones."),
        ("held_out", click.IntRange(2), "Hold out one base name in so many; 5, 10 or 50 by their number if not given."),
    ],
    "towers": [
        ("picture_tower", _TOWER, "What of it is trained: everything, low-rank additions, nothing."),
        ("text_tower", _TOWER, "Locked, every caption is encoded once, which is several times faster."),
        ("picture_rate", Weight, "Factor on the rate."),
        ("text_rate", Weight, "Factor on the rate."),
        ("text_map", bool, "With a locked text tower: train a linear map behind it, merged at save."),
        ("map_rate", Weight, "Factor on the rate of the map and of the logits' scale."),
        ("lora_rank", Count, "Numbers a row of a low-rank addition."),
        ("lora_scale", Positive, "Factor on low-rank additions."),
        (
            "stored",
            click.Choice(["fp8", "fp16", "fp32"]),
            "How weights are written; fp8: tokens, the rest in fp16.",
        ),
    ],
    "loss": [
        ("batch", click.IntRange(2), "Icons a step, over all devices and micro-batches."),
        ("kind", click.Choice(["softmax", "sigmoid"]), "Which contrastive loss."),
        ("related", click.Choice(["soft", "masked"]), "Pairs that fit without being drawn: right too, or left out."),
        ("sampling", click.Choice(["grouped", "plain"]), "Grouped: icons of one name go to different batches."),
        ("twin_similarity", Positive, "From this cosine of coarse edges on, pictures are twins; above 1: never."),
        ("caption_pair_weight", Weight, "Of a second caption of each icon, contrasted with the first."),
        ("keep_words_weight", Weight, "Of keeping the parent's similarities over a list of words."),
        ("keep_words", File, "That list, a text a line; the captions if not given."),
        ("keep_words_batch", click.IntRange(2), "Words of that list a step."),
        ("local", bool, "Each device compares its own pictures with all captions, not all with all: same gradient."),
    ],
    "schedule": [
        ("passes", Positive, "Times that every icon is seen."),
        ("steps", Count, "Instead of passes."),
        ("rate", Positive, "Highest learning rate."),
        ("scale_rate", click.Choice(["none", "linear", "sqrt"]), "Multiply the rate by batch / 512, or its root."),
        ("warm_up", Share, "Share of the steps in which the rate rises."),
        ("final_rate", Share, "Share of the rate that the cosine ends at."),
        ("weight_decay", Weight, "Of matrices; norms, biases and positions have none."),
        ("clip", Positive, "Largest norm of the gradient."),
        ("ema", click.FloatRange(0, 1, max_open=True), "Decay of a moving average of the weights; 0: none."),
        ("seed", click.IntRange(0), "Of everything random."),
        ("validate_steps", Count, "Steps between two validations; ten a run if not given."),
        ("patience", click.IntRange(0), "Validations without a better figure after which it ends; 0: never."),
    ],
    "distribution": [
        ("precision", click.Choice(["auto", "fp32", "bf16", "fp16"]), "Of the forward pass; weights stay fp32."),
        ("backend", click.Choice(["auto", "nccl", "gloo"]), "How devices find each other; auto is nccl on GPUs."),
        ("strategy", click.Choice(["ddp", "fsdp"]), "A whole model a device, or a part."),
        ("accumulate", Count, "Micro-batches a step; the loss stays that of the whole batch."),
        ("bucket_cap_mb", Positive, "Of DDP."),
        ("gradient_as_bucket_view", bool, "Of DDP."),
        ("static_graph", bool, "Of DDP."),
        (
            "find_unused_parameters",
            bool,
            "Of DDP: for models that leave weights out of a step, such as a head that is not asked.",
        ),
        (
            "sync_batch_norm",
            bool,
            "Batch norms (ResNet, say) look at the pictures of all GPUs: for small batches on many, such as 8 x 16.",
        ),
        ("compile", bool, "torch.compile for both towers."),
        ("grad_checkpointing", bool, "Compute activations again in the backward pass: slower, less memory."),
    ],
    "watching": [
        ("watch_devices", bool, "Show every 5 s what each device does: pictures/s, memory, utilisation, power."),
        ("tensorboard", bool, "Write TensorBoard events into OUT.work/tensorboard (pip install 'icons[train]')."),
        ("profile_steps", click.IntRange(0), "Profile so many steps: traces and shares in OUT.work/profile."),
        ("checkpoint_seconds", Weight, "Seconds between two checkpoints."),
        ("stall_limit", click.FloatRange(1), "Give up where a device gets nothing done for so many seconds."),
        ("log_steps", Count, "Steps between two lines of OUT.work/log.jsonl."),
    ],
    "augmentation": [
        ("inverted", Share, "Share of light icons on a dark ground."),
        ("tinted", Share, "Share in dark ink on a light ground, both coloured."),
        ("two_colours", Share, "Share in two free colours."),
        ("backed", Share, "Share on a colour gradient."),
        ("photographed", Share, "Share on something like a photograph."),
        ("grained", Share, "Share with grain."),
        ("smallest_scale", Positive, "Of the icon in its picture."),
        ("largest_scale", Positive, "Of the icon in its picture."),
        ("shift", Share, "Largest, of the picture's side."),
        ("neighbours", Share, "Share with other icons in sight."),
        ("resampled", Share, "Share scaled down and up, nearest to bicubic."),
        ("blurred", Share, "Share blurred."),
        ("largest_blur", Weight, "Standard deviation, of the picture's side."),
        ("compressed", Share, "Share compressed as JPEG."),
        ("lowest_quality", click.IntRange(1, 100), "Of JPEG."),
        ("highest_quality", click.IntRange(1, 100), "Of JPEG."),
    ],
}
_SPELLED = {"kind": "--loss", "own_captions": "--captions", "local": "--local-loss", "stored": "--stored"}


class SubjectCommand(click.Command):
    """Shows options under the subject that they belong to."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section a subject, what is asked for most often first."""
        subject_of = {name: subject for subject, listed in _OPTIONS.items() for name, _, _ in listed}
        sections: dict[str, list[tuple[str, str]]] = {"options": [], **{subject: [] for subject in _OPTIONS}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections[subject_of.get(parameter.name or "", "options")].append(record)
        for title, records in sections.items():
            with formatter.section(title.capitalize()):
                formatter.write_dl(records)


def finetune_options(function: Function) -> Function:
    """Add an option for every field of `FinetuneOptions`, with its default."""
    for subject in reversed(_OPTIONS):
        function = _subject_options(subject, function)
    return function


def learning_options(function: Function) -> Function:
    """Add those that say what is learnt from."""
    return _subject_options("learning", function)


def _subject_options(subject: str, function: Function) -> Function:
    listed = _OPTIONS[subject]
    defaults = {field.name: field.default for field in fields(SUBJECTS[subject])}
    assert {name for name, _, _ in listed} == defaults.keys(), subject
    for name, kind, text in reversed(listed):
        function = _option(name, kind, text, defaults[name])(function)
    return function


def _option(name: str, kind: Any, text: str, default: Any) -> Callable[[Function], Function]:
    spelled = _SPELLED.get(name, "--" + name.replace("_", "-"))
    if kind is bool:
        declared = f"{spelled}/--no-{spelled[2:]}" if default else spelled
        return click.option(declared, name, is_flag=True, default=default, show_default=default, help=text)
    return click.option(spelled, name, type=kind, default=default, show_default=default is not None, help=text)
