"""What icons may be called, how often, and which of them are held out."""

from pathlib import Path

import numpy as np
import pytest

from indexer.errors import SourceError
from indexer.finetune.captions import KINDS, SHARES, make_captions
from indexer.finetune.gather import is_held_out, share_held_out
from indexer.finetune.lesson import read_material
from indexer.finetune.options import Learning

WORDS = ["trash", "bin", "trash", "arrow up"]
TAGS = [["delete", "remove"], ["trash"], [], []]


def test_a_name_of_several_words_is_called_by_its_words_too_but_not_by_small_ones() -> None:
    captions = make_captions(["arrow from the up 2"], [[]], seed=0)
    assert captions.texts == ["arrow from the up 2", "arrow"]


def test_phrases_join_tags_and_words_of_the_name() -> None:
    captions = make_captions(["bin"], [["delete", "remove", "rubbish"]], seed=1)
    phrases = [captions.texts[number] for number in captions.of(0, "phrase")]
    assert phrases
    for phrase in phrases:
        assert len(phrase.split()) == 2
        assert set(phrase.split()) <= {"bin", "delete", "remove", "rubbish"}


def test_kinds_are_drawn_by_their_shares_however_many_captions_they_have() -> None:
    captions = make_captions(["arrow up"], [["above", "raise", "top", "north"]], seed=0)
    drawn = captions.draw(np.zeros(20_000, np.int64), np.random.default_rng(0))
    for kind in ("name", "tag", "phrase", "part"):
        share = np.isin(drawn, captions.of(0, kind)).mean()
        assert abs(share - SHARES[KINDS.index(kind)]) < 0.015, kind


def test_own_captions_take_the_place_of_mined_ones() -> None:
    captions = make_captions(WORDS, TAGS, seed=0, own=[["to throw away"], [], [], []])
    assert [captions.texts[number] for number in captions.of(0)] == ["to throw away"]
    assert captions.texts[captions.of(1)[0]] == "bin"


def test_what_a_growing_library_holds_out_was_held_out_before() -> None:
    counts = [share_held_out(n) for n in (60, 2000, 58_000)]
    assert counts == [5, 10, 50]
    names = [f"name {number}" for number in range(5000)]
    held = [{name for name in names if is_held_out(name, one_in=one_in)} for one_in in counts]
    assert held[2] < held[1] < held[0]


def test_a_folder_that_is_no_corpus_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is no corpus"):
        read_material(tmp_path, Learning(), seed=0)
