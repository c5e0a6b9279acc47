"""Rankers are compared as a search ranks, and asked for every icon once."""

import numpy as np
import pytest
import torch
from lessons import TOKENIZER

from indexer.finetune.augment import edges
from indexer.finetune.captions import make_captions
from indexer.finetune.lesson import Lesson, tokenize
from indexer.finetune.watch import MAIN_FIGURE, compare_rankers, main_figure, make_exam

CORPUS = np.array([[1, 0], [0, 1], [0.707, 0.707]], np.float32)
QUERIES = np.array([[1, 0], [0, 1]], np.float32)


def test_fusion_adds_both_similarities() -> None:
    names = np.array([[0, 1], [1, 0], [0.707, 0.707]], np.float32)
    found = compare_rankers(QUERIES, CORPUS, names, [[2], [2]])
    assert found["tags: pictures"]["R@1"].value == 0.0
    assert found["tags: fused"]["R@1"].value == 1.0  # 0.707 against the weight of the picture, or of the name


def test_checkpoints_are_compared_by_the_mean_of_what_there_is() -> None:
    tasks = {"tags: pictures": 0.1, "tags: fused": 0.3, "names: pictures": 0.5, "screenshots: pictures": 0.7}
    scores = {task: {MAIN_FIGURE: [value, 0.0, 1.0]} for task, value in tasks.items()}
    some = {task: by_name for task, by_name in scores.items() if task != "tags: fused"}
    assert (main_figure(scores), main_figure(some)) == (pytest.approx(0.5), pytest.approx(0.6))


def _lesson(words: list[str], tags: list[list[str]], own: list[list[str]], pictures: list[int]) -> Lesson:
    """Icons that are all held out; equal numbers are equal pictures."""
    drawn = np.random.default_rng(0).integers(0, 256, (max(pictures) + 1, 16, 16, 3), np.uint8)
    captions = make_captions(words, tags, seed=0, own=own)
    pixels, n = drawn[pictures], len(words)
    bases, looks = np.unique(words, return_inverse=True)[1], edges(torch.from_numpy(pixels)).half()
    return Lesson(
        pixels, captions, tokenize(captions.texts, TOKENIZER), bases, looks, np.arange(0), np.arange(n), words
    )


def test_an_icon_that_is_there_again_for_its_looks_is_asked_for_once() -> None:
    looks = [["heart in a drop"]]
    lesson = _lesson(
        ["pin", "star", "pin", "pin", "cup"],
        [["place"], ["night"], ["place"], ["place"], []],
        [[], [], *looks, *looks, ["tall mug"]],
        [0, 1, 0, 0, 2],
    )
    exam = make_exam(lesson, TOKENIZER, twins=2.0)
    assert exam.pixels.tolist() == lesson.pixels[[0, 1, 4]].tolist()
    assert sorted(exam.answers) == exam.namesakes == [[0], [1], [2]]

    lesson = _lesson(["pin", "pin"], [["place"], []], [[], ["heart in a drop"]], [0, 1])
    assert sorted(make_exam(lesson, TOKENIZER, twins=2.0).answers) == [[0], [1]]
