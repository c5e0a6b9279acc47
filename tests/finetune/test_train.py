"""Does a run end where it should, cut or not?"""

from pathlib import Path

import numpy as np
import pytest
import torch
from lessons import tiny_lesson, tiny_options, tiny_pair

from indexer.errors import ModelError
from indexer.finetune import train as room
from indexer.finetune.batches import Augmentation, Batch, augment, make_batch
from indexer.finetune.captions import Captions
from indexer.finetune.train import Pair, train


def trained(checkpoint: Path, *, resume: bool = False) -> Pair:
    pair = tiny_pair()
    train(pair, tiny_lesson(), options=tiny_options(), checkpoint=checkpoint, resume=resume)
    return pair


def test_a_resumed_run_equals_one_without_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trained(tmp_path / "whole.checkpoint")
    made: list[int] = []

    def cut_off(pixels: np.ndarray, captions: Captions, icons: np.ndarray, **rest: object) -> Batch:  # type: ignore[type-arg]
        if len(made) == 5:
            raise KeyboardInterrupt
        made.append(1)
        return make_batch(pixels, captions, icons, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(room, "make_batch", cut_off)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "cut.checkpoint")
    monkeypatch.undo()
    resumed = trained(tmp_path / "cut.checkpoint", resume=True)

    for name, tensor in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], tensor), name


def test_training_lowers_the_loss_on_what_it_saw(tmp_path: Path) -> None:
    lesson, pair = tiny_lesson(), tiny_pair()
    batch = make_batch(lesson.pixels, lesson.captions, lesson.train_rows, seed=(0,), change=None)
    with torch.no_grad():
        before = float(room.batch_loss(pair, batch, lesson, half=False))
    train(pair, lesson, options=tiny_options(passes=15, rate=5e-3), checkpoint=tmp_path / "a.checkpoint")
    with torch.no_grad():
        after = float(room.batch_loss(pair, batch, lesson, half=False))
    assert after < before - 0.1


def test_resume_without_a_checkpoint_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r'no checkpoint at ".*none.checkpoint"; run without --resume'):
        trained(tmp_path / "none.checkpoint", resume=True)


def test_a_checkpoint_of_another_shape_is_refused(tmp_path: Path) -> None:
    torch.save({"pair": {"logit_scale": torch.zeros(2)}, "optimizer": {}, "progress": {}}, tmp_path / "a.checkpoint")
    with pytest.raises(ModelError, match="has another shape"):
        trained(tmp_path / "a.checkpoint", resume=True)


def test_a_batch_larger_than_the_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match='"64" icons a batch, but only 32'):
        train(tiny_pair(), tiny_lesson(), options=tiny_options(batch=64), checkpoint=tmp_path / "a.checkpoint")


def test_augmentation_repeats_with_its_seed_and_stays_in_range() -> None:
    images = torch.rand(6, 3, 32, 32)
    first, second, other = (
        augment(images.clone(), Augmentation(), torch.Generator().manual_seed(s)) for s in (1, 1, 2)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert first.min() >= 0
    assert first.max() <= 1


def test_inverted_white_ground_becomes_dark() -> None:
    white = torch.ones(4, 3, 32, 32)
    dark = augment(white, Augmentation(inverted=1.0, tinted=0.0), torch.Generator().manual_seed(1))
    assert dark.max() <= 0.2
