"""Which captions belong to which icons, and which are nobody's negatives?"""

import numpy as np

from indexer.finetune.captions import is_held_out, make_captions
from indexer.finetune.loss import soft_targets

WORDS = ["trash", "bin", "trash", "arrow up"]
TAGS = [["delete", "remove"], ["trash"], [], []]


def test_equal_captions_tags_of_others_and_equal_names_are_no_negatives() -> None:
    captions = make_captions(WORDS, TAGS, seed=0)
    number = {text: place for place, text in enumerate(captions.texts)}
    drawn = np.array([number["delete"], number["trash"], number["trash"], number["arrow up"]])
    targets = soft_targets(captions, np.array([2, 1, 2, 0]), icons=np.arange(4), drawn=drawn)
    assert targets.tolist() == [
        [1, 1, 1, 0],  # "trash" is its name; the third is of the same name
        [0, 1, 1, 0],  # "trash" is a tag of "bin"
        [1, 1, 1, 0],
        [0, 0, 0, 1],
    ]


def test_an_icon_without_tags_is_called_by_its_name_alone() -> None:
    captions = make_captions(WORDS, TAGS, seed=0)
    drawn = captions.draw(np.full(200, 3), np.random.default_rng(0))
    assert {captions.texts[number] for number in drawn} == {"arrow up"}


def test_every_caption_of_an_icon_is_drawn_some_time() -> None:
    captions = make_captions(WORDS, TAGS, seed=0)
    drawn = captions.draw(np.zeros(500, np.int64), np.random.default_rng(0))
    found = {captions.texts[number] for number in drawn}
    assert {"trash", "delete", "remove"} < found
    assert found == {captions.texts[number] for number in captions.of(0)}


def test_drawing_repeats_with_its_seed() -> None:
    captions = make_captions(WORDS, TAGS, seed=0)
    icons = np.arange(4).repeat(10)
    draws = [captions.draw(icons, np.random.default_rng(4)).tolist() for _ in range(2)]
    assert draws[0] == draws[1]


def test_one_base_name_in_fifty_is_held_out() -> None:
    share = sum(is_held_out(f"name {number}") for number in range(10_000)) / 10_000
    assert 0.015 < share < 0.025
