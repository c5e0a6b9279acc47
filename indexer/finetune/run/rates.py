"""How fast does each parameter learn, and when? Groups by tower and shape, warm-up, then a cosine."""

import math
from typing import Any

import torch
from torch import nn

from indexer.finetune.model.student import Student, text_parameters
from indexer.finetune.options import FinetuneOptions, Schedule

REFERENCE_BATCH = 512


def parameter_groups(student: Student, options: FinetuneOptions) -> list[dict[str, Any]]:
    """Parameters with their highest rate; norms, biases, positions, the text map and the logits' scale do not decay."""
    groups: list[dict[str, Any]] = []
    peak = peak_rate(options)
    for name, factor, parameters in _towers(student, options):
        for decay, chosen in ((options.schedule.weight_decay, True), (0.0, False)):
            members = [parameter for title, parameter in parameters if decays(title, parameter) == chosen]
            if members:
                groups.append({"params": members, "name": name, "peak": peak * factor, "weight_decay": decay})
    return groups


def peak_rate(options: FinetuneOptions) -> float:
    """The highest rate, scaled with the global batch where that was asked for."""
    ratio = options.loss.batch / REFERENCE_BATCH
    factor = {"none": 1.0, "linear": ratio, "sqrt": math.sqrt(ratio)}[options.schedule.scale_rate]
    return options.schedule.rate * factor


def rate_share(done: float, schedule: Schedule) -> float:
    """Share of the peak rate after a share `done` of all steps: linear from near zero, then a cosine to the end."""
    if done < schedule.warm_up:
        return 0.01 + 0.99 * done / schedule.warm_up
    left = (done - schedule.warm_up) / max(1e-9, 1 - schedule.warm_up)
    return schedule.final_rate + (1 - schedule.final_rate) * (0.5 + 0.5 * math.cos(math.pi * min(1.0, left)))


def set_rates(optimizer: torch.optim.Optimizer, *, done: float, schedule: Schedule) -> None:
    """Give every group its rate for the next step."""
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * rate_share(done, schedule)


def decays(name: str, parameter: nn.Parameter) -> bool:
    """Whether weight decay pulls at a parameter: only matrices, and not those that say where a token stands."""
    last = name.rsplit(".", 1)[-1]
    return parameter.ndim > 1 and last not in {"text_map", "positional_embedding", "pos_embed", "cls_token"}


def _towers(student: Student, options: FinetuneOptions) -> list[tuple[str, float, list[tuple[str, nn.Parameter]]]]:
    texts = {id(parameter) for parameter in text_parameters(student.model)}
    visual = {id(parameter) for parameter in student.model.visual.parameters()}
    trained = [pair for pair in student.named_parameters() if pair[1].requires_grad]
    towers = options.towers
    return [
        ("pictures", towers.picture_rate, [pair for pair in trained if id(pair[1]) in visual]),
        ("texts", towers.text_rate, [pair for pair in trained if id(pair[1]) in texts]),
        ("map", towers.map_rate, [pair for pair in trained if id(pair[1]) not in visual | texts]),
    ]
