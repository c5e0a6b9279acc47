"""Do two ranks learn what one process with the whole batch learns?"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from lessons import tiny_lesson, tiny_pair

from indexer.finetune.batches import epoch, make_batch
from indexer.finetune.loss import contrastive_loss, soft_targets


def test_two_gloo_ranks_give_the_gradients_of_one_process_with_the_whole_batch(tmp_path: Path) -> None:
    script, saved = Path(__file__).with_name("two_ranks.py"), tmp_path / "gradients.pt"
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([*launch, str(script), str(saved)], check=True, capture_output=True, timeout=120, env=environment)
    found = torch.load(saved, weights_only=True)

    lesson, pair = tiny_lesson(), tiny_pair()
    parts = [next(epoch(lesson.train_rows, batch=16, seed=5, number=0, rank=rank, world=2)) for rank in (0, 1)]
    batches = [
        make_batch(lesson.pixels, lesson.captions, rows, seed=(5, 0, rank), change=None)
        for rank, rows in enumerate(parts)
    ]
    # Each half goes through the tower alone, since every rank normalises its batch by itself.
    outputs = [
        pair(batch.images, lesson.text_vectors[torch.from_numpy(batch.captions)].float(), half=False)
        for batch in batches
    ]
    targets = soft_targets(
        lesson.captions,
        lesson.bases,
        icons=np.concatenate([batch.icons for batch in batches]),
        drawn=np.concatenate([batch.captions for batch in batches]),
    )
    images, texts = (torch.cat([output[which] for output in outputs]) for which in (0, 1))
    loss = contrastive_loss(images, texts, outputs[0][2], targets)
    loss.backward()  # type: ignore[no-untyped-call]

    assert torch.allclose(found["loss"], loss.detach(), atol=1e-6)
    for name, parameter in pair.named_parameters():
        assert parameter.grad is not None
        assert torch.allclose(found["gradients"][name], parameter.grad, atol=1e-6), name


def test_ranks_split_every_global_batch_without_overlap() -> None:
    rows = np.arange(50)
    whole = list(epoch(rows, batch=8, seed=1, number=3))
    halves = [list(epoch(rows, batch=8, seed=1, number=3, rank=rank, world=2)) for rank in (0, 1)]
    assert len(whole) == 6
    assert all(
        np.array_equal(np.concatenate(pair), batch)
        for pair, batch in zip(zip(*halves, strict=True), whole, strict=True)
    )
    assert len(set(np.concatenate(whole).tolist())) == 48
