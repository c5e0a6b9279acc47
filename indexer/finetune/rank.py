"""What one rank of a fine-tuning does: reads the plan, loads model and corpus, trains.

    torchrun --nproc-per-node 2 -m indexer.finetune.rank --out FOLDER --device cpu [--resume]

`icons lab finetune` writes the plan and starts this. Every rank validates now and then, and ends early where nothing
improves; rank 0 writes checkpoints, the best weights, a log and progress.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click
import open_clip
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from indexer.embedding.progress import REPORT_SECONDS, Run, watched
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.graphs import is_no_room
from indexer.encoders.torch_encoder import load_model, products_in, resolve_device, resolve_precision
from indexer.errors import TrainError, first_line
from indexer.finetune.batches import Feed, Part
from indexer.finetune.checkpoints import TrainingState, is_sharded, keep_best, restore, save_checkpoint
from indexer.finetune.folder import Origin, finish
from indexer.finetune.lesson import cut_warning, open_lesson, read_material
from indexer.finetune.options import (
    Distribution,
    FinetuneOptions,
    Places,
    Plan,
    TrainingProgress,
    TrainingReporter,
    read_plan,
)
from indexer.finetune.step import (
    Session,
    StepGraphs,
    Taken,
    check_sound,
    make_optimizer,
    read_results,
    steps,
    take_step,
)
from indexer.finetune.student import Average, Student, make_student, outline, sharded
from indexer.finetune.watch import (
    Exam,
    Log,
    Scores,
    StepClock,
    main_figure,
    make_exam,
    sit_exam,
)
from indexer.library.durable import disk_error
from indexer.process import prepare_for_batches
from indexer.ranks import Gauge, Rank, give_up_rank, gpu_figures, peak_memory, process_group, run_as_rank, share_cores
from indexer.reports.terminal import TIMINGS, add, span

JOINT_FACTOR, COLLECTIVE_FACTOR = 2, 3
"""What all ranks do together may take so many times the limit of state still, and a single collective operation so
many: whoever keeps the others waiting is named first, then one that waits, and NCCL or gloo has the last word."""


def run_rank(
    places: Places,
    *,
    rank: Rank,
    device: torch.device,
    resume: bool,
    report: Callable[[TrainingProgress], None],
    give_up: Callable[[str], None],
) -> None:
    """Do this rank's share of a plan.

    `give_up` is called from another thread if this one hangs, with what it was at; it has to end the process.

    Raises:
        IconsError: with what is wrong and what to do.
    """
    plan = read_plan(places)
    options, limit = plan.options, plan.options.watching.stall_limit
    backend = options.distribution.backend.replace("auto", "nccl" if device.type == "cuda" else "gloo")
    reporter = TrainingReporter(report, TrainingProgress(rank.index, rank.world))
    reporter.join("the start")
    share_cores(rank)
    with (
        watched(reporter.progress, limit=limit, waiting_limit=JOINT_FACTOR * limit, give_up=give_up),
        shortage_explained(options, rank),
        products_in(options.distribution.precision),
        process_group(rank, backend=backend, device=device, limit=timedelta(seconds=COLLECTIVE_FACTOR * limit)),
    ):
        with span("model and corpus"):
            session, origin = open_session(places, plan, reporter, rank=rank, device=device)
        exam = make_exam(session.lesson, origin.tokenizer, twins=options.loss.twin_similarity)
        state = train(session, exam, places=places, made_by=plan.made_by(), resume=resume)
        reporter.begin("writing the model")
        finish(session, origin, state, places=places)
        reporter.finish()


@contextmanager
def shortage_explained(options: FinetuneOptions, rank: Rank) -> Iterator[None]:
    """Turn every way in which torch and numpy run out of memory into an error that says what helps.

    Raises:
        TrainError: memory did not suffice.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_no_room(error):
            raise
        each = options.loss.batch // rank.world // options.distribution.accumulate
        raise TrainError(
            f'out of memory with "{each}" pictures at once '
            f"({first_line(error)[:120]}); "
            "give a larger --set accumulate=, or --set grad_checkpointing=true"
        ) from error


def open_session(
    places: Places, plan: Plan, reporter: TrainingReporter, *, rank: Rank, device: torch.device
) -> tuple[Session, Origin]:
    """Load what a plan trains, and what it trains on; a model that is to be sharded on rank 0 alone, on the CPU."""
    options, in_parts = plan.options, plan.options.distribution.strategy == "fsdp"
    check_devices(options.distribution, rank=rank, device=device)
    torch.manual_seed(options.schedule.seed)
    reporter.begin("opening model and corpus")
    reporter.note("opening model and corpus")
    checkpoint = find_checkpoint(ModelChoice.from_json(plan.choice))
    if checkpoint.fingerprint != plan.fingerprint:
        raise TrainError(f'rank {rank.index} finds model "{checkpoint.fingerprint}", not "{plan.fingerprint}"')
    tokenizer = open_clip.get_tokenizer(checkpoint.open_clip_name)
    model = load_model(checkpoint).to("cpu" if in_parts else device) if rank.index == 0 or not in_parts else None
    material = read_material(plan.corpus, options.learning, seed=options.schedule.seed)
    lesson = open_lesson(places, plan, material, (model, tokenizer), reporter)
    if lesson.cut:
        reporter.note(cut_warning(lesson.cut))
    reporter.join("preparing the model")
    precision = resolve_precision(options.distribution.precision, device)
    make = partial(make_student, options=options, precision=precision)
    if in_parts:
        student = sharded(make(model) if model else None, lambda: make(outline(checkpoint)), rank=rank, device=device)
    else:
        student = make(model).to(device).to(memory_format=torch.channels_last)
    wrapped = wrap(student, options.distribution, rank=rank, device=device)
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "fp16")
    graphs = StepGraphs() if device.type == "cuda" and rank.world == options.distribution.accumulate == 1 else None
    session = Session(
        student, wrapped, make_optimizer(student, options), scaler, lesson, options, rank, device, reporter, graphs
    )
    return session, Origin(plan, checkpoint, material, tokenizer)


def check_devices(options: Distribution, *, rank: Rank, device: torch.device) -> None:
    """Refuse what these devices can't do, before anything is loaded.

    Raises:
        TrainError: to be sharded there is one process alone, or fp16, in whose loss scaling FSDP does not take part
            here; or batch norms of CPUs are to look at one batch.
    """
    if options.strategy == "fsdp" and rank.world == 1:
        raise TrainError(
            "strategy=fsdp needs several processes; give --devices with two or more, or --set strategy=ddp"
        )
    if options.strategy == "fsdp" and resolve_precision(options.precision, device) == "fp16":
        raise TrainError(
            'strategy=fsdp does not work in "fp16", which precision=auto takes on GPUs older than Ampere; '
            "give --set precision=bf16 or fp32"
        )
    if options.sync_batch_norm and device.type != "cuda":
        raise TrainError(f'sync_batch_norm works on GPUs, not on "{device.type}"; give --devices 0,1, or leave it out')


def wrap(student: Student, options: Distribution, *, rank: Rank, device: torch.device) -> nn.Module:
    """Let DDP exchange a student's gradients; alone, or sharded, it stays what it is."""
    if rank.world == 1 or options.strategy == "fsdp":
        return student
    return DistributedDataParallel(
        student,
        device_ids=[device] if device.type == "cuda" else None,
        bucket_cap_mb=options.bucket_cap_mb,
        gradient_as_bucket_view=options.gradient_as_bucket_view,
        static_graph=options.static_graph,
        find_unused_parameters=options.find_unused_parameters,
    )


@dataclass(slots=True)
class Training:
    """A training under way on one rank."""

    session: Session
    exam: Exam | None
    places: Places
    made_by: Mapping[str, Any]
    """What a checkpoint must agree with to be gone on from."""
    n_steps: int
    average: Average | None
    state: TrainingState
    log: Log | None
    saved_at: float = 0.0
    unread: list[tuple[float, Taken]] = field(default_factory=list)
    """Steps that the device was told to take, after so many seconds; nobody has asked yet what came of them."""
    read_at: float = 0.0


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
    options, feed = session.options, Feed(session.lesson, session.options, session.rank)
    if feed.per_pass == 0:
        raise TrainError(
            f'"{options.loss.batch}" icons a batch, but only {len(session.lesson.train_rows)} to learn from; '
            "give a smaller --batch"
        )
    n_steps = options.schedule.steps or max(1, round(options.schedule.passes * feed.per_pass))
    average = Average(session.student, decay=options.schedule.ema) if options.schedule.ema else None
    state = restore(session, average, places.checkpoint, made_by=made_by) if resume else TrainingState()
    if options.watching.watch_devices:
        session.reporter.gauge, session.reporter.gauged_at = Gauge(session.device), 0.0
    events = places.work / "tensorboard" if options.watching.tensorboard else None
    with nullcontext() if session.rank.index else closing(Log(places.log, from_step=state.step, events=events)) as log:
        _take_steps(Training(session, exam, places, made_by, n_steps, average, state, log), feed)
    return state


def _take_steps(run: Training, feed: Feed) -> None:
    session, state, progress = run.session, run.state, run.session.reporter.progress
    if state.parent is None and run.exam is not None:
        session.reporter.note("measuring the model as it is")
        state.parent = _scores(run, run.exam)
    began = time.monotonic() - state.seconds
    progress.n_steps, progress.step, progress.first_step = run.n_steps, state.step, state.step
    progress.device, run.saved_at = str(session.device), time.monotonic()
    session.reporter.note("")
    with closing(feed.ahead(state.step, run.n_steps, session.device)) as ahead:
        if _is_over(run):
            return
        started, clock = time.monotonic(), StepClock(session.device)
        numbers = steps(session.optimizer, n_steps=run.n_steps, schedule=session.options.schedule, first=state.step)
        session.reporter.begin(f"reading step {state.step + 1}")
        for step, (draw, parts) in zip(numbers, ahead, strict=True):
            session.reporter.join(f"step {step + 1}")
            with clock.timed(), span("steps"):
                taken = take_step(session, draw, parts, step=step)
                if run.average:
                    run.average.update(step + 1)
            state.step, state.seconds, now = step + 1, time.monotonic() - began, time.monotonic()
            run.unread.append((state.seconds, taken))
            # Sharded weights are saved by all ranks together, whose clocks differ: at validations alone.
            is_due = now - run.saved_at >= session.options.watching.checkpoint_seconds and not is_sharded(session)
            is_kept = is_due or _is_time_to_validate(run)
            if is_kept or now - run.read_at >= REPORT_SECONDS:
                _read(run)
            progress.images += len(draw.icons) // session.rank.world
            progress.seconds += time.monotonic() - started
            progress.step, progress.waited_seconds = step + 1, max(feed.waited_seconds, clock.waited(progress.seconds))
            session.reporter.tell(now=state.step == run.n_steps)
            if is_kept:
                _keep(run, parts[0])
                if _is_over(run):
                    break
            session.reporter.begin(f"reading step {step + 2}")
            started = time.monotonic()  # what came since the step's end is no part of the rate of pictures
        if clock.step_seconds:
            add("device", clock.step_seconds * clock.n_steps)
        if isinstance(session.wrapped, DistributedDataParallel):  # which times some steps, the last of them kept here
            told: Any = session.wrapped._get_ddp_logging_data()  # type: ignore[no-untyped-call]
            # A run that is resumed at its end takes no step, and is told of none.
            add("exchange", told.get("backward_comm_time", 0) / 1e9 * clock.n_steps)


def _read(run: Training) -> None:
    """Wait for the device, and see what came of the steps that it was told to take; log every few of them."""
    session, progress = run.session, run.session.reporter.progress
    results = read_results(session, [taken for _, taken in run.unread])
    for (seconds, taken), result in zip(run.unread, results, strict=True):
        progress.loss, number = result["loss"], taken.step + 1
        if run.log and (not number % session.options.watching.log_steps or number == run.n_steps):
            rates = {f"rate/{name}": rate for name, rate in taken.rates.items()}
            _log(run, run.log, number, {**result, **rates, "seconds": round(seconds, 6)})
    run.unread, run.read_at = [], time.monotonic()
    if session.reporter.gauge is None:
        progress.memory_bytes = peak_memory(session.device)


def _keep(run: Training, part: Part) -> None:
    """Validate where it is time to, and save the state, unless the weights are ruined."""
    _begin(run, f"trying the weights of step {run.state.step}")
    check_sound(run.session, part, step=run.state.step - 1)
    if _is_time_to_validate(run):
        _validate(run)
    _begin(run, "saving a checkpoint")
    with span("checkpoints"):
        save_checkpoint(run.session, run.average, run.state, run.places.checkpoint, made_by=run.made_by)
    run.saved_at = time.monotonic()


def _is_time_to_validate(run: Training) -> bool:
    every = run.session.options.schedule.validate_steps or max(1, -(-run.n_steps // 10))
    return run.state.step % every == 0 or run.state.step == run.n_steps


def _is_over(run: Training) -> bool:
    return run.exam is not None and run.state.since_best >= (run.session.options.schedule.patience or math.inf)


def _validate(run: Training) -> None:
    """Sit the exam, and keep the weights if they are the best so far."""
    session, state, figure = run.session, run.state, 0.0
    found: dict[str, Any] = {"loss": round(session.reporter.progress.loss, 6)}
    if run.exam is not None:
        with run.average.in_use() if run.average else nullcontext():
            scores = _scores(run, run.exam)
        found["figures"], figure = scores, main_figure(scores)
    state.history.append({"step": state.step, **found})
    state.since_best += 1
    if figure > state.best or run.exam is None:
        state.best, state.best_step, state.since_best = figure, state.step, 0
        _begin(run, "saving the best weights")
        keep_best(session, run.average, state, run.places.best, made_by=run.made_by)
    if run.log:
        run.log.write("validation", state.step, found)
        by_task = found.get("figures", {}).items()
        run.log.draw(state.step, {f"recall/{task}/{name}": it[0] for task, by in by_task for name, it in by.items()})


def _scores(run: Training, exam: Exam) -> Scores:
    """Figures as rank 0 has them, on every rank, so that all decide alike."""
    session = run.session
    session.reporter.join("the exam")
    with span("validation"):
        scores = [sit_exam(session.student, exam, session.device, session.reporter.live)]
    if session.rank.world > 1:
        dist.broadcast_object_list(scores, src=0)
    return scores[0]


def _begin(run: Training, what: str) -> None:
    """Say what a rank is at that is its own affair, but for shards."""
    (run.session.reporter.join if is_sharded(run.session) else run.session.reporter.begin)(what)


def _log(run: Training, log: Log, step: int, facts: dict[str, Any]) -> None:
    """Note what a step has shown."""
    log.write("step", step, facts)
    if run.session.options.watching.tensorboard:
        values = {
            **{name: value for name, value in facts.items() if name not in ("terms", "seconds")},
            **{f"loss/{name}": value for name, value in facts["terms"].items()},
            "speed/images_per_second_of_rank_0": run.session.reporter.progress.images_per_second,
            "memory/peak_gb": peak_memory(run.session.device) / 1e9,
        }
        log.draw(step, values | gpu_figures(run.session.device))


@click.command()
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder that the run makes.")
@click.option("--device", default="cpu", show_default=True, help="cpu, or cuda: one GPU a rank, by its local rank.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint.")
def main(out: Path, device: str, resume: bool) -> None:
    """Do this rank's share of a fine-tuning that `icons lab finetune` has planned."""
    prepare_for_batches()
    places = Places(out)
    run = Run.of_folder(places.work)

    def work(rank: Rank) -> None:
        def report(progress: TrainingProgress) -> None:
            run.report(f"rank-{rank.index}", replace(progress, spans=tuple(TIMINGS.taken())))

        try:
            run_rank(
                places,
                rank=rank,
                device=resolve_device(rank.device(device)),
                resume=resume,
                report=report,
                give_up=partial(give_up_rank, rank),
            )
        except OSError as error:
            raise TrainError(disk_error(error, places.work)) from error

    run_as_rank(work)


if __name__ == "__main__":
    main()
