"""What the bundled encoder learnt from, and how its words were taught: a few texts, a few steps."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors.numpy import save_file

from data.making.model.__main__ import main
from data.making.model.card import card_of, record_figures
from data.making.model.distill import (
    DistillOptions,
    blend_folder,
    distill,
    held_out_cosine,
    new_model,
    tokenize,
    write_folder,
)
from data.making.model.english import definitions, glossed_vectors, teacher_vectors
from data.making.model.relate import Family, Pairs, RelateOptions, draw_pairs, recall_of_names, relate, right_answers
from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import load_model
from indexer.errors import SourceError
from indexer.finetune.folder import read_lineage
from indexer.finetune.lesson import read_facts
from indexer.library.bundled import bundled

_PARTS = ("noun", "verb", "adj", "adv")
_DATA = """  1 licence
00000001 06 n 01 wigwam 0 000 | a native hut; "they slept in wigwams"
00000002 06 n 01 tent 0 000 | a portable shelter of canvas
00000003 06 n 01 tent 1 000 | a web of caterpillars
"""
_INDEX = "  1 licence\nwigwam n 1 0 1 0 00000001\ntent n 2 0 2 1 00000002 00000003\n"


TEXTS = [
    f"{colour} {shape}" for colour in ("red", "green", "blue", "black") for shape in ("house", "arrow", "star", "cup")
]


def cached_answers(file: Path, *, extra: tuple[str, ...] = ()) -> Path:
    """Answers of a teacher for whom a text is the sum of its words."""
    generator, texts = np.random.default_rng(0), [*TEXTS, *extra]
    word = {word: generator.normal(size=384) for text in texts for word in text.split()}
    vectors = np.stack([sum(word[part] for part in text.split()) for text in texts])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    spelled = np.frombuffer(json.dumps(texts).encode(), np.uint8)
    save_file({"texts": spelled, "vectors": vectors.astype(np.float16)}, file)
    return file


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    weights: dict[str, torch.Tensor] = load_model(find_checkpoint(ModelChoice(f"{LOCAL}{folder}"))).state_dict()
    return weights


def test_a_corpus_is_made_and_lists_the_files_that_can_not_be_read(own_iconify: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("file_path,licence\nnowhere.svg,MIT\n")
    given = [str(own_iconify), str(tmp_path / "pairs.csv"), "--out", str(tmp_path / "corpus"), "--workers", "0"]
    done = CliRunner().invoke(main, ["corpus", *given])
    assert done.exit_code == 0, done.output
    facts = read_facts(tmp_path / "corpus")
    assert len(facts["words"]) > 10
    [(file, reason)] = facts["skipped"]
    assert file.endswith("nowhere.svg") and reason


def test_a_word_is_drawn_towards_its_definitions_and_other_texts_stay(tmp_path: Path) -> None:
    (tmp_path / "dict").mkdir()
    for part in _PARTS:
        (tmp_path / "dict" / f"data.{part}").write_text(_DATA if part == "noun" else "")
        (tmp_path / "dict" / f"index.{part}").write_text(_INDEX if part == "noun" else "")
    senses = ["a portable shelter of canvas", "a web of caterpillars"]
    assert definitions(tmp_path) == {"wigwam": ["a native hut"], "tent": senses}
    cache = cached_answers(tmp_path / "teacher.safetensors", extra=("tent", *senses))
    plain = teacher_vectors(["tent", *senses, TEXTS[0]], cache=cache).astype("float32")
    found = glossed_vectors(["tent", TEXTS[0]], wordnet=tmp_path, cache=cache).astype("float32")
    meant = plain[0] + (plain[1] + 0.5 * plain[2]) / 1.5
    assert abs(found[0] - meant / (meant @ meant) ** 0.5).max() < 2e-3
    assert (found[1] == plain[3]).all()


def test_a_pair_is_of_one_family_and_the_same_word_of_another_icon_is_no_wrong_answer() -> None:
    families = [Family(("bin",), ("trash", "delete")), Family(("remove",), ("delete", "trash"))]
    drawn = draw_pairs(families, [["begin", "start"]], random.Random(0), RelateOptions(icons=50, phrase_share=0.0))
    for query, answer, members in zip(drawn.queries, drawn.answers, drawn.members, strict=True):
        assert {query, answer} <= members and query != answer
    bin_, remove = (family.members for family in families)
    pairs = Pairs(["delete", "delete", "bin"], ["trash", "remove", "trash"], [bin_, remove, bin_])
    assert right_answers(pairs).tolist() == [[1, 0, 1], [1, 1, 1], [1, 0, 1]]


@pytest.mark.slow
def test_words_are_taught_and_two_models_are_blended(tmp_path: Path) -> None:
    cache = cached_answers(tmp_path / "teacher.safetensors")
    answers = teacher_vectors(TEXTS, cache=cache)
    torch.manual_seed(0)
    model, target = new_model(), torch.from_numpy(answers).float()
    before = held_out_cosine(model, tokenize(TEXTS), target)
    options = DistillOptions(steps=80, batch=16, rate=2e-3, precision="fp32")
    distill(model, TEXTS, answers, n_icon_texts=len(TEXTS), options=options)
    assert held_out_cosine(model, tokenize(TEXTS), target) > max(0.5, before + 0.3)
    write_folder(model, tmp_path / "earlier", lineage={"distillation": [1]}, card="# One\n")

    families = [Family((f"name{letter}",), (f"other{letter * 3}",)) for letter in "abcdefghijklmnop"]
    relating = RelateOptions(steps=30, icons=16, synonyms=0, everyday=4, rate=2e-3, phrase_share=0, precision="fp32")
    ranked = recall_of_names(model, families)["names MRR@50"]
    relate(model, families, [], (TEXTS, answers), options=relating)
    assert recall_of_names(model, families)["names MRR@50"] > ranked + 0.3
    write_folder(model, tmp_path / "later", lineage={"relation": [2]}, card="# Two\n")

    blend_folder(tmp_path / "earlier", tmp_path / "later", tmp_path / "out", share=0.75)
    earlier, later, blended = (_weights(tmp_path / name) for name in ("earlier", "later", "out"))
    for name, tensor in blended.items():
        expected = later[name] if name.startswith("visual.") else 0.25 * earlier[name] + 0.75 * later[name]
        torch.testing.assert_close(tensor, expected, atol=2e-3, rtol=2e-3)
    assert read_lineage(tmp_path / "out")["relation"] == [2]


def test_the_card_that_ships_is_made_of_its_lineage() -> None:
    lineage = json.loads((bundled("model") / "training.json").read_text("utf-8"))
    assert card_of(lineage) == (bundled("model") / "README.md").read_text("utf-8")


def test_figures_of_another_model_are_refused() -> None:
    with pytest.raises(SourceError, match="of other encoders"):
        record_figures(bundled("model"), {"encoders": [], "rows": []})
