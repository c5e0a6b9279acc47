"""What does one rank of a fine-tuning do? Reads the plan, loads model and corpus, trains, and rank 0 writes the folder.

    torchrun --nproc-per-node 2 -m indexer.finetune.run.rank --out FOLDER --device cpu [--resume]

`icons finetune` writes the plan and starts this.
"""

from collections.abc import Iterator
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
from torch.nn.utils.parametrize import ParametrizationList

from indexer.encoders.checkpoint import find_checkpoint
from indexer.encoders.torch_encoder import load_model, products_in, resolve_device, resolve_precision
from indexer.errors import TrainError
from indexer.finetune.corpus.lesson import Lesson, cut_warning, read_material
from indexer.finetune.model.student import Student, compile_towers, enable_memory_saving
from indexer.finetune.options import Distribution, FinetuneOptions, Places
from indexer.finetune.plan import Plan, read_plan
from indexer.finetune.run.finish import Origin, finish
from indexer.finetune.run.loop import make_optimizer
from indexer.finetune.run.step import Session
from indexer.finetune.run.text_inputs import open_lesson
from indexer.finetune.run.train import Report, train
from indexer.finetune.run.validation import make_exam
from indexer.finetune.run.watch import TrainingProgress
from indexer.process import cores_of_rank, prepare_for_batches
from indexer.ranks.distributed import Rank, process_group, run_as_rank
from indexer.ranks.progress import write_progress

WAIT_LIMIT = timedelta(hours=2)
"""How long ranks wait while rank 0 encodes captions or sits an exam; torchrun ends them at once when one dies."""


def run_rank(places: Places, *, rank: Rank, device: torch.device, resume: bool, report: Report) -> None:
    """Do this rank's share of a plan.

    Raises:
        IconsError: with what is wrong and what to do.
    """
    plan = read_plan(places)
    with (
        shortage_explained(plan.options, rank),
        products_in(plan.options.distribution.precision),
        joined_ranks(plan.options.distribution.backend, rank=rank, device=device),
    ):
        session, origin = open_session(places, plan, rank=rank, device=device, report=report)
        exam = make_exam(session.lesson, origin.tokenizer, twins=plan.options.loss.twin_similarity)
        standing = train(session, exam, places=places, made_by=plan.made_by(), report=report, resume=resume)
        finish(session, origin, standing, places=places)


@contextmanager
def shortage_explained(options: FinetuneOptions, rank: Rank) -> Iterator[None]:
    """Turn every way in which torch and numpy run out of memory into an error that says what helps.

    Raises:
        TrainError: memory did not suffice.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not _is_shortage(error):
            raise
        each = options.loss.batch // rank.world // options.distribution.accumulate
        raise TrainError(
            f'out of memory with "{each}" pictures at once ({str(error).splitlines()[0][:120]}); the last checkpoint '
            "stays: run again with --resume and a larger --accumulate, or with --grad-checkpointing"
        ) from error


def _is_shortage(error: Exception) -> bool:
    """Of a GPU, of Python and numpy, and of torch's allocator for the CPU, which raises no class of its own."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or "allocate memory" in str(error)


@contextmanager
def joined_ranks(backend: str, *, rank: Rank, device: torch.device, is_high_priority: bool = False) -> Iterator[None]:
    """Settle this process on its device and its share of the cores, and join the other ranks for the block."""
    if backend == "auto":
        backend = "nccl" if device.type == "cuda" else "gloo"
    if rank.world > 1:
        torch.set_num_threads(cores_of_rank())
    if device.type == "cuda":
        torch.cuda.set_device(device)
    with process_group(rank, backend=backend, device=device, limit=WAIT_LIMIT, is_high_priority=is_high_priority):
        yield


def open_session(
    places: Places, plan: Plan, *, rank: Rank, device: torch.device, report: Report
) -> tuple[Session, Origin]:
    """Load what a plan trains, and what it trains on."""
    options = plan.options
    torch.manual_seed(options.schedule.seed)
    report(TrainingProgress(rank.index, rank.world, note="opening model and corpus"))
    checkpoint = find_checkpoint(plan.choice)
    if checkpoint.fingerprint != plan.fingerprint:
        raise TrainError(f'rank {rank.index} finds model "{checkpoint.fingerprint}", not "{plan.fingerprint}"')
    model, tokenizer = load_model(checkpoint), open_clip.get_tokenizer(checkpoint.open_clip_name)
    material = read_material(plan.corpus, options.learning, seed=options.schedule.seed)
    lesson = open_lesson(places, plan, material, (model.to(device), tokenizer), rank)
    if lesson.cut:
        report(TrainingProgress(rank.index, rank.world, note=cut_warning(lesson.cut)))
    return _session(plan, model, lesson, rank, device), Origin(plan, checkpoint, material, tokenizer)


def _session(plan: Plan, model: Any, lesson: Lesson, rank: Rank, device: torch.device) -> Session:
    options = plan.options
    precision = resolve_precision(options.distribution.precision, device)
    if options.distribution.grad_checkpointing:
        enable_memory_saving(model)
    student = Student(model, options, precision=precision)
    student.to(device)
    if precision == "fp64":
        student.double()
    if options.distribution.strategy == "ddp":  # FSDP takes contiguous weights alone
        student.to(memory_format=torch.channels_last)
    if options.distribution.compile:
        compile_towers(student)
    wrapped = wrap(student, options.distribution, rank=rank, device=device, precision=precision)
    scaler = torch.amp.GradScaler(device.type, enabled=precision == "fp16")
    return Session(student, wrapped, make_optimizer(student, options), scaler, lesson, options, rank, device)


def wrap(student: Student, options: Distribution, *, rank: Rank, device: torch.device, precision: str) -> nn.Module:
    """Make a student ready for several ranks; alone it stays what it is.

    Raises:
        TrainError: FSDP with fp16, whose loss scaling it does not take part in here, or with one process.
    """
    if options.strategy == "fsdp":
        return _sharded(student, rank=rank, precision=precision)
    if rank.world == 1:
        return student
    return DistributedDataParallel(
        student,
        device_ids=[device] if device.type == "cuda" else None,
        bucket_cap_mb=options.bucket_cap_mb,
        gradient_as_bucket_view=options.gradient_as_bucket_view,
        static_graph=options.static_graph,
    )


def _sharded(student: Student, *, rank: Rank, precision: str) -> nn.Module:
    """Shard every block and the rest in place; the scalars of the logits stay whole, as FSDP takes none."""
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    if rank.world == 1:
        raise TrainError("--strategy fsdp needs several processes; give --devices with two or more, or --strategy ddp")
    if precision == "fp16":
        raise TrainError("--strategy fsdp works in bf16 and fp32; give --precision bf16")
    whole = {parameter for parameter in student.parameters() if parameter.ndim == 0}
    for module in list(student.modules()):
        # Low-rank additions stand in such a list, too; they belong to the block that they are added to.
        if isinstance(module, nn.ModuleList) and not isinstance(module, ParametrizationList):
            for block in module:
                fully_shard(block, ignored_params=whole)
    sharded: Any = fully_shard(student, ignored_params=whole)
    for method in ("encode_images", "encode_texts"):
        register_fsdp_forward_method(sharded, method)
    return student


@click.command()
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder that the run makes.")
@click.option("--device", default="cpu", show_default=True, help="cpu, or cuda: one GPU a rank, by its local rank.")
@click.option("--resume", is_flag=True, help="Go on from the last checkpoint.")
def main(out: Path, device: str, resume: bool) -> None:
    """Do this rank's share of a fine-tuning that `icons finetune` has planned."""
    prepare_for_batches()
    places = Places(out)

    report = partial(write_progress, places.work)

    def work(rank: Rank) -> None:
        run_rank(places, rank=rank, device=resolve_device(rank.device(device)), resume=resume, report=report)

    run_as_rank(work)


if __name__ == "__main__":
    main()
