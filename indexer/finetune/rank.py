"""What one rank of a fine-tuning does: reads the plan, loads model and corpus, trains.

    torchrun --nproc-per-node 2 -m indexer.finetune.rank --out FOLDER --device cpu [--resume]

`icons lab finetune` writes the plan and starts this.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click
import open_clip
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from indexer.embedding.distributed import START_LIMIT, Rank, give_up_rank, process_group, run_as_rank, share_cores
from indexer.embedding.progress import watched, write_progress
from indexer.encoders.checkpoint import Checkpoint, find_checkpoint
from indexer.encoders.loaded import is_no_room
from indexer.encoders.torch_encoder import load_model, products_in, resolve_device, resolve_precision
from indexer.errors import TrainError
from indexer.finetune.folder import Origin, finish
from indexer.finetune.lesson import Lesson, cut_warning, open_lesson, read_material
from indexer.finetune.options import Distribution, FinetuneOptions, Places
from indexer.finetune.plan import Plan, read_plan
from indexer.finetune.sharding import check_shardable, sharded
from indexer.finetune.step import Session
from indexer.finetune.student import Student, make_student, outline
from indexer.finetune.train import make_optimizer, train
from indexer.finetune.validation import make_exam
from indexer.finetune.watch import TrainingProgress, TrainingReporter
from indexer.library.durable import disk_error
from indexer.process import prepare_for_batches

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
    limit, backend = plan.options.watching.stall_limit, plan.options.distribution.backend
    reporter = TrainingReporter(report, TrainingProgress(rank.index, rank.world))
    reporter.join("the start")
    with (
        watched(reporter.progress, limit=limit, waiting_limit=JOINT_FACTOR * limit, give_up=give_up),
        shortage_explained(plan.options, rank),
        products_in(plan.options.distribution.precision),
        joined_ranks(backend, rank=rank, device=device, limit=timedelta(seconds=COLLECTIVE_FACTOR * limit)),
    ):
        session, origin = open_session(places, plan, reporter, rank=rank, device=device)
        exam = make_exam(session.lesson, origin.tokenizer, twins=plan.options.loss.twin_similarity)
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
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        each = options.loss.batch // rank.world // options.distribution.accumulate
        raise TrainError(
            f'out of memory with "{each}" pictures at once ({reason[:120]}); '
            "give a larger --set accumulate=, or --set grad_checkpointing=true"
        ) from error


@contextmanager
def joined_ranks(backend: str, *, rank: Rank, device: torch.device, limit: timedelta = START_LIMIT) -> Iterator[None]:
    """Settle this process on its device and its share of the cores, and join the other ranks for the block.

    `limit` is how long a rank waits for the others in one collective operation.
    """
    if backend == "auto":
        backend = "nccl" if device.type == "cuda" else "gloo"
    share_cores(rank)
    with process_group(rank, backend=backend, device=device, limit=limit):
        yield


def open_session(
    places: Places, plan: Plan, reporter: TrainingReporter, *, rank: Rank, device: torch.device
) -> tuple[Session, Origin]:
    """Load what a plan trains, and what it trains on."""
    options = plan.options
    _check(options.distribution, rank=rank, device=device)
    torch.manual_seed(options.schedule.seed)
    reporter.begin("opening model and corpus")
    reporter.note("opening model and corpus")
    checkpoint = find_checkpoint(plan.choice)
    if checkpoint.fingerprint != plan.fingerprint:
        raise TrainError(f'rank {rank.index} finds model "{checkpoint.fingerprint}", not "{plan.fingerprint}"')
    tokenizer = open_clip.get_tokenizer(checkpoint.open_clip_name)
    model = _weighted_model(checkpoint, options.distribution, rank=rank, device=device)
    material = read_material(plan.corpus, options.learning, seed=options.schedule.seed)
    lesson = open_lesson(places, plan, material, (model, tokenizer), reporter)
    if lesson.cut:
        reporter.note(cut_warning(lesson.cut))
    reporter.join("preparing the model")
    session = _session(plan, checkpoint, model, lesson, rank, device)
    session.reporter = reporter
    return session, Origin(plan, checkpoint, material, tokenizer)


def _session(
    plan: Plan, checkpoint: Checkpoint, model: Any, lesson: Lesson, rank: Rank, device: torch.device
) -> Session:
    options = plan.options
    precision = resolve_precision(options.distribution.precision, device)
    make = partial(make_student, options=options, precision=precision)
    if options.distribution.strategy == "fsdp":
        whole = make(model) if rank.index == 0 else None
        student = sharded(whole, lambda: make(outline(checkpoint)), rank=rank, device=device)
    else:
        student = make(model).to(device).to(memory_format=torch.channels_last)
    wrapped = wrap(student, options.distribution, rank=rank, device=device)
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "fp16")
    return Session(student, wrapped, make_optimizer(student, options), scaler, lesson, options, rank, device)


def _check(options: Distribution, *, rank: Rank, device: torch.device) -> None:
    """Refuse what these devices can't do, before anything is loaded.

    Raises:
        TrainError: with the option.
    """
    if options.strategy == "fsdp":
        check_shardable(rank=rank, precision=resolve_precision(options.precision, device))
    if options.sync_batch_norm and device.type != "cuda":
        raise TrainError(f'sync_batch_norm works on GPUs, not on "{device.type}"; give --devices 0,1, or leave it out')


def _weighted_model(checkpoint: Checkpoint, options: Distribution, *, rank: Rank, device: torch.device) -> Any:
    """Load a model onto the device; one that is to be sharded on rank 0 alone, on the CPU: no device may hold it."""
    if options.strategy == "fsdp":
        return load_model(checkpoint) if rank.index == 0 else None
    return load_model(checkpoint).to(device)


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


@click.command()
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder that the run makes.")
@click.option("--device", default="cpu", show_default=True, help="cpu, or cuda: one GPU a rank, by its local rank.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint.")
def main(out: Path, device: str, resume: bool) -> None:
    """Do this rank's share of a fine-tuning that `icons lab finetune` has planned."""
    prepare_for_batches()
    places = Places(out)

    report = partial(write_progress, places.work)

    def work(rank: Rank) -> None:
        where = resolve_device(rank.device(device))

        def give_up(reason: str) -> None:
            give_up_rank(rank, TrainError(reason))

        try:
            run_rank(places, rank=rank, device=where, resume=resume, report=report, give_up=give_up)
        except OSError as error:
            raise TrainError(disk_error(error, places.work)) from error

    run_as_rank(work)


if __name__ == "__main__":
    main()
