"""Does the text tower learn which words name the same icon?"""

import math
import random
from pathlib import Path

import pytest
import torch
from lessons import TEXTS, cached_answers

from indexer.encoders.torch_encoder import TextTower
from indexer.errors import SourceError
from indexer.finetune.corpus.captions import is_held_out, share_held_out
from indexer.finetune.corpus.gather import base_of
from indexer.finetune.model.folder import new_model
from indexer.finetune.words.distill import tokenize
from indexer.finetune.words.relate import (
    Family,
    Pairs,
    RelateOptions,
    _Relating,
    draw_pairs,
    families_of,
    of_words,
    recall_of_names,
    relate,
    right_answers,
)
from indexer.finetune.words.teacher import teacher_vectors
from indexer.finetune.words.vocabulary import synonyms

HOUSE = Family(("house", "home"), ("building", "estate"))
TRASH = Family(("trash",), ("bin", "delete"))


def test_words_of_one_base_name_make_a_family_and_held_out_names_none() -> None:
    names = [f"thing {number}" for number in range(200)]
    facts = {
        "words": ["arrow up", "up arrow", "star", *names],
        "tags": [["north"], ["north", "raise"], [], *([name + " tag"] for name in names)],
    }
    one_in = share_held_out(201)  # so many base names there are: two spellings have one
    learnt, held_out = families_of(facts)
    assert Family(("arrow up", "up arrow"), ("north", "raise")) in learnt
    assert not any("star" in family.names for family in learnt + held_out)
    assert {family.names[0] for family in held_out} == {
        name for name in names if is_held_out(base_of(name), one_in=one_in)
    }


def test_queries_and_answers_belong_to_one_family_and_differ() -> None:
    options = RelateOptions(icons=200, synonyms=20, phrase_share=0.0)
    pairs = draw_pairs([HOUSE, TRASH], [["begin", "start"]], random.Random(0), options)
    assert len(pairs.queries) == 220
    assert all(
        {query, answer} <= members and query != answer
        for query, answer, members in zip(pairs.queries, pairs.answers, pairs.members, strict=True)
    )
    answered_by_name = sum(answer in ("house", "home", "trash") for answer in pairs.answers[:200])
    assert 150 <= answered_by_name < 200


def test_a_written_word_is_a_family_of_its_pictures_and_names_that_are_held_out_stay_out() -> None:
    names = [f"thing {number}" for number in range(100)]
    held_out = next(name for name in names if is_held_out(base_of(name), one_in=10))
    learnt = next(name for name in names if not is_held_out(base_of(name), one_in=10))
    pictures = {"purity": [learnt, held_out], "scourge": [held_out]}
    assert of_words(pictures, one_in=10) == [Family((learnt,), ("purity",))]


def test_the_same_word_of_another_icon_is_no_wrong_answer() -> None:
    bin_ = frozenset(("bin", "trash", "delete"))
    remove = frozenset(("remove", "delete", "trash"))
    pairs = Pairs(["delete", "delete", "bin"], ["trash", "remove", "trash"], [bin_, remove, bin_])
    assert right_answers(pairs).tolist() == [[1, 0, 1], [1, 1, 1], [1, 0, 1]]


def test_a_word_of_a_name_asks_for_it_and_finds_every_name_with_it() -> None:
    options = RelateOptions(icons=200, synonyms=0, phrase_share=0.0, part_share=1.0, name_share=1.0)
    arrows = [Family(("arrow up",), ("north",)), Family(("arrow down", "down"), ("south",))]
    pairs = draw_pairs(arrows, [], random.Random(0), options)
    # "up" is too short for a part; the name of one word has none, so its tag asks.
    assert set(pairs.queries) == {"arrow", "down", "south"}
    arrow = pairs.queries.index("arrow")
    assert right_answers(pairs)[arrow].tolist() == [
        "arrow" in answer or column == arrow for column, answer in enumerate(pairs.answers)
    ]


@pytest.mark.slow
def test_relating_words_brings_a_tag_to_its_name(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = new_model()
    cache = cached_answers(tmp_path / "teacher.safetensors")
    families = [Family((f"name{letter}",), (f"other{letter * 3}",)) for letter in "abcdefghijklmnop"]
    options = RelateOptions(steps=30, icons=16, synonyms=0, everyday=4, rate=2e-3, phrase_share=0, precision="fp32")
    before = recall_of_names(model, families)["names MRR@50"]
    relate(model, families, [], (TEXTS, teacher_vectors(TEXTS, cache=cache)), options=options)
    assert recall_of_names(model, families)["names MRR@50"] > before + 0.3


def test_synonyms_are_read_from_wordnet(tmp_path: Path) -> None:
    pytest.importorskip("wordfreq")
    (tmp_path / "dict").mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / "dict" / f"data.{part}").write_text("")
    lines = "  1 licence\n1 04 n 03 car 0 motor_car 0 xyzzyq 0 000 | a gloss\n2 04 n 01 dog 0 000 | alone\n"
    (tmp_path / "dict" / "data.noun").write_text(lines)
    assert synonyms(tmp_path) == [["car", "motor car"]]
    with pytest.raises(SourceError, match="no WordNet file"):
        synonyms(tmp_path / "nowhere")


def test_a_scale_above_its_limit_still_learns() -> None:
    lesson = _Relating(TextTower(new_model()), width=384)
    torch.nn.init.constant_(lesson.scale, math.log(150.0))
    pairs = Pairs(["house", "bin"], ["home", "trash"], [frozenset(("house", "home")), frozenset(("bin", "trash"))])
    near, _ = lesson(pairs, tokenize(["star"]), torch.eye(384)[:1])
    near.backward()
    assert lesson.scale.grad != 0
