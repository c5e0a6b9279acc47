"""How a model learns what icons mean: optimizer, schedule, loop, and the end of a run.

Reads a lesson, writes checkpoints, the best weights, a log and progress; validates now and then and ends early where
nothing improves. Every rank runs this; rank 0 writes.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.autograd.profiler import record_function

from indexer.embedding.progress import Gauge, gpu_figures, peak_memory
from indexer.errors import TrainError
from indexer.finetune.batches import Feed, Part
from indexer.finetune.checkpoints import TrainingState, is_sharded, keep_best, restore, save_checkpoint
from indexer.finetune.options import FinetuneOptions, Places, Schedule
from indexer.finetune.step import Session, StepResult, check_sound, take_step
from indexer.finetune.student import Average, Student, text_parameters
from indexer.finetune.validation import Exam, Scores, main_figure, sit_exam, to_plain
from indexer.finetune.watch import Events, Log, TrainingProgress, profiled

REFERENCE_BATCH = 512


def make_optimizer(student: Student, options: FinetuneOptions) -> torch.optim.Optimizer:
    """What a student learns by; no fused kernel takes sharded tensors on every device."""
    return make_adamw(parameter_groups(student, options), fused=options.distribution.strategy == "ddp")


def make_adamw(groups: Sequence[dict[str, Any]], *, fused: bool = True) -> torch.optim.Optimizer:
    """AdamW over groups of parameters, each with its highest rate as `peak`."""
    return torch.optim.AdamW(list(groups), lr=groups[0]["peak"], betas=(0.9, 0.98), eps=1e-8, fused=fused)


def steps(optimizer: torch.optim.Optimizer, *, n_steps: int, schedule: Schedule, first: int = 0) -> Iterator[int]:
    """Yield the numbers of the steps to take, every group of the optimizer at its rate for it."""
    for step in range(first, n_steps):
        set_rates(optimizer, done=step / n_steps, schedule=schedule)
        yield step


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


@dataclass(slots=True)
class Run:
    """A training under way on one rank."""

    session: Session
    exam: Exam | None
    places: Places
    made_by: Mapping[str, Any]
    """What a checkpoint must agree with to be gone on from."""
    n_steps: int
    average: Average | None
    state: TrainingState
    log: Log | None = None
    events: Events | None = None
    saved_at: float = 0.0


def n_steps_of(session: Session, feed: Feed) -> int:
    """Steps of the whole run.

    Raises:
        TrainError: there are fewer icons than a batch.
    """
    if feed.per_pass == 0:
        raise TrainError(
            f'"{session.options.loss.batch}" icons a batch, but only {len(session.lesson.train_rows)} to learn from; '
            "give a smaller --batch"
        )
    schedule = session.options.schedule
    return schedule.steps or max(1, round(schedule.passes * feed.per_pass))


def train(
    session: Session,
    exam: Exam | None,
    *,
    places: Places,
    made_by: Mapping[str, Any],
    resume: bool,
) -> TrainingState:
    """Train the session's student in place; the best weights are in `places.best` in the end.

    Raises:
        TrainError: too few icons, a loss that is no number, nothing to resume from.
    """
    feed = Feed(session.lesson, session.options, session.rank)
    n_steps, decay = n_steps_of(session, feed), session.options.schedule.ema
    average = Average(session.student, decay=decay) if decay else None
    state = restore(session, average, places.checkpoint, made_by=made_by) if resume else TrainingState()
    run = Run(session, exam, places, made_by, n_steps, average, state)
    if session.options.watching.watch_devices:
        session.reporter.gauge, session.reporter.gauged_at = Gauge(session.device), 0.0
    with ExitStack() as stack:
        if session.rank.index == 0:
            run.log = stack.enter_context(closing(Log(places.log, from_step=state.step)))
            if session.options.watching.tensorboard:
                events = Events(places.work / "tensorboard", from_step=state.step)
                run.events = stack.enter_context(closing(events))
        _steps(run, feed)
    return state


def _steps(run: Run, feed: Feed) -> None:
    session, state = run.session, run.state
    _measure_parent(run)
    began = time.monotonic() - state.seconds
    progress = session.reporter.progress
    progress.n_steps, progress.step, progress.first_step = run.n_steps, state.step, state.step
    progress.device = str(session.device)
    session.reporter.note("")
    run.saved_at = time.monotonic()
    n_profiled = session.options.watching.profile_steps
    profile = profiled(run.places.work / "profile", n_steps=n_profiled, rank=session.rank)
    with closing(feed.ahead(state.step, run.n_steps, session.device)) as ahead, profile as count_step:
        if _is_over(run):
            return
        started = time.monotonic()
        schedule = session.options.schedule
        numbers = steps(session.optimizer, n_steps=run.n_steps, schedule=schedule, first=state.step)
        session.reporter.begin(f"reading step {state.step + 1}")
        for step, (draw, parts) in zip(numbers, ahead, strict=True):
            session.reporter.join(f"step {step + 1}")
            with record_function("icons: step"):
                result = take_step(session, draw, parts, step=step)
                if run.average:
                    run.average.update(step + 1)
            count_step()
            state.step, state.seconds = step + 1, time.monotonic() - began
            progress.images += sum(len(part.pixels) for part in parts)
            progress.seconds += time.monotonic() - started
            progress.step, progress.loss, progress.waited_seconds = step + 1, result.loss, feed.waited_seconds
            _tell(run, progress, result)
            if _is_time_to_validate(run) or _is_time_to_save(run):
                _keep(run, result, parts[0])
                if _is_over(run):
                    break
            session.reporter.begin(f"reading step {step + 2}")
            started = time.monotonic()  # what came since the step's end is no part of the rate of pictures


def _measure_parent(run: Run) -> None:
    if run.state.parent is not None or run.exam is None:
        return
    run.session.reporter.note("measuring the model as it is")
    run.state.parent = to_plain(_scores(run, run.exam))


def _keep(run: Run, result: StepResult, part: Part) -> None:
    """Validate where it is time to, and save the state, unless the weights are ruined."""
    _begin(run, f"trying the weights of step {run.state.step}")
    check_sound(run.session, part, step=run.state.step - 1)
    if _is_time_to_validate(run):
        _validate(run, result)
    _save(run)


def _is_time_to_validate(run: Run) -> bool:
    every = run.session.options.schedule.validate_steps or max(1, -(-run.n_steps // 10))
    return run.state.step % every == 0 or run.state.step == run.n_steps


def _is_over(run: Run) -> bool:
    patience = run.session.options.schedule.patience
    return bool(patience and run.exam is not None and run.state.since_best >= patience)


def _is_time_to_save(run: Run) -> bool:
    """Sharded weights are saved by all ranks together, whose clocks differ: at validations alone."""
    if is_sharded(run.session):
        return False
    return time.monotonic() - run.saved_at >= run.session.options.watching.checkpoint_seconds


def _validate(run: Run, result: StepResult) -> None:
    """Sit the exam, and keep the weights if they are the best so far."""
    session, state = run.session, run.state
    found: dict[str, Any] = {"loss": round(result.loss, 6)}
    figure = 0.0
    if run.exam is not None:
        with run.average.in_use() if run.average else nullcontext():
            scores = _scores(run, run.exam)
        found["figures"], figure = to_plain(scores), main_figure(scores)
    state.history.append({"step": state.step, **found})
    is_better = figure > state.best or run.exam is None
    state.since_best = 0 if is_better else state.since_best + 1
    if is_better:
        state.best, state.best_step = figure, state.step
        _begin(run, "saving the best weights")
        keep_best(session, run.average, state, run.places.best, made_by=run.made_by)
    if run.log:
        run.log.write("validation", state.step, found)
    if run.events and "figures" in found:
        named = {f"{task}/{name}": value[0] for task, by in found["figures"].items() for name, value in by.items()}
        run.events.write(state.step, {f"recall/{name}": value for name, value in named.items()})


def _scores(run: Run, exam: Exam) -> Scores:
    """Figures as rank 0 has them, on every rank, so that all decide alike."""
    session = run.session
    session.reporter.join("the exam")
    scores = [sit_exam(session.student, exam, session.device, session.reporter.live)]
    if session.rank.world > 1:
        dist.broadcast_object_list(scores, src=0)
    return scores[0]


def _begin(run: Run, what: str) -> None:
    """Say what a rank is at that is its own affair, but for shards."""
    reporter = run.session.reporter
    if is_sharded(run.session):
        reporter.join(what)
    else:
        reporter.begin(what)


def _save(run: Run) -> None:
    _begin(run, "saving a checkpoint")
    save_checkpoint(run.session, run.average, run.state, run.places.checkpoint, made_by=run.made_by)
    run.saved_at = time.monotonic()


def _tell(run: Run, progress: TrainingProgress, result: StepResult) -> None:
    """Report at most twice a second; log every few steps."""
    session = run.session
    if session.reporter.gauge is None:
        progress.memory_bytes = peak_memory(session.device)
    session.reporter.tell(now=progress.step == run.n_steps)
    if run.log is None or (progress.step % session.options.watching.log_steps and progress.step != run.n_steps):
        return
    rates = {f"rate/{group['name']}": group["lr"] for group in session.optimizer.param_groups}
    run.log.write("step", progress.step, {**asdict(result), **rates, "seconds": round(run.state.seconds, 6)})
    if run.events:
        values = {"loss": result.loss, "gradient_norm": result.gradient_norm, **rates}
        values |= {f"loss/{name}": value for name, value in result.terms.items()}
        values |= {"speed/images_per_second_of_rank_0": progress.images_per_second}
        values |= {"memory/peak_gb": peak_memory(session.device) / 1e9, **gpu_figures(session.device)}
        run.events.write(progress.step, values)
