"""What the bundled encoder learns from and is kept from, how its words are taught, and the synonyms made of them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from safetensors.numpy import save_file

from data.making.model.__main__ import main
from data.making.model.admission import leave_out_reserved, refuse
from data.making.model.card import card_of
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
from data.making.model.relate import Family, RelateOptions, recall_of_names, relate
from data.making.model.words import DRAWINGS, KEYWORDS, PICTURES, read_written
from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import load_model
from indexer.errors import SourceError
from indexer.finetune.captions import Limits, gather, read_sources
from indexer.finetune.folder import read_lineage
from indexer.finetune.lesson import build_corpus, read_facts
from indexer.languages.dictionary import Dictionary
from indexer.library.bundled import bundled
from indexer.library.named import PACKED, read_text
from indexer.sources.records import IconSet, Record

SHAPES = {"house": "M3 12 12 3l9 9v9H3z", "bin": "M6 6h12v15H6zM4 3h16v2H4z", "star": "M12 2l3 7h7l-6 4 3 8-7-5z"}


def record(key: str, licence: str | None = "MIT", *, name: str = "house") -> Record:
    return Record(name, name, name.encode(), IconSet(key, key.title(), licence=licence))


@pytest.mark.parametrize(
    ("key", "licence", "name", "reason"),
    [
        *((key, "MIT", "house", "reserved") for key in ("lucide-static", "ion", "@primer/octicons", "@Lucide/svelte")),
        *((key, "MIT", "house", "reserved") for key in ("@adobe/spectrum-css-workflow-icons", "react-feather")),
        *((key, "MIT", "house", None) for key in ("@tabler/icons", "icon-park", "feathers", "spectrums", "ionic")),
        ("some", None, "house", "no licence"),
        ("some", "CC-BY-NC-4.0", "house", "licence CC-BY-NC-4.0"),
        ("simple-icons", "MIT", "house", "names are no meaning"),
        ("mixed", "MIT", "flag-de", "brand or flag"),
    ],
)
def test_reserved_sets_under_every_name_brands_flags_and_closed_licences_are_refused(
    key: str, licence: str | None, name: str, reason: str | None
) -> None:
    assert refuse(record(key, licence, name=name)) == reason


def icon_set(prefix: str, names: list[str], folder: Path) -> Path:
    icons = {name: {"body": f'<path d="{SHAPES[name]}"/>'} for name in names}
    info = {"name": prefix, "license": {"spdx": "MIT", "title": "MIT"}, "author": {"name": "A"}}
    file = folder / f"{prefix}.json"
    file.write_text(json.dumps({"prefix": prefix, "width": 24, "height": 24, "info": info, "icons": icons}), "utf-8")
    return file


def test_a_corpus_leaves_out_pictures_that_equal_a_reserved_one(tmp_path: Path) -> None:
    sources = [icon_set("lucide", ["house"], tmp_path), icon_set("fork", ["house", "bin", "star"], tmp_path)]
    limits = Limits(**{"admit": "shippable"})
    placed = read_sources(dict.fromkeys(sources, ()), [])
    gathered = gather(placed, limits=limits, refuse=refuse, extra_tags=[{"bin": ["delete", "trash"]}])
    leave_out_reserved(gathered, placed, workers=0)
    build_corpus(gathered, tmp_path / "corpus", limits=limits, workers=0)
    facts = read_facts(tmp_path / "corpus")
    assert (sorted(facts["words"]), facts["tags"][facts["words"].index("bin")]) == (
        ["bin", "star"],
        ["delete", "trash"],
    )
    assert (facts["refused"]["looks like a reserved icon"], facts["limits"]["admit"]) == (1, "shippable")


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
    save_file(
        {"texts": np.frombuffer(json.dumps(texts).encode(), np.uint8), "vectors": vectors.astype(np.float16)}, file
    )
    return file


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
    assert abs(found[0] - meant / (meant @ meant) ** 0.5).max() < 2e-3 and (found[1] == plain[3]).all()


@pytest.mark.slow
def test_words_are_taught_and_two_models_are_blended(tmp_path: Path) -> None:
    answers = teacher_vectors(TEXTS, cache=cached_answers(tmp_path / "teacher.safetensors"))
    torch.manual_seed(0)
    model, options = new_model(), DistillOptions(steps=80, batch=16, rate=2e-3, precision="fp32")
    distill(model, TEXTS, answers, n_icon_texts=len(TEXTS), options=options)
    assert held_out_cosine(model, tokenize(TEXTS), torch.from_numpy(answers).float()) > 0.5
    write_folder(model, tmp_path / "earlier", lineage={"distillation": [1]}, card="# One\n")

    families = [Family((f"name{letter}",), (f"other{letter * 3}",)) for letter in "abcdefghijklmnop"]
    relating = RelateOptions(steps=45, icons=16, synonyms=0, everyday=4, rate=2e-3, phrase_share=0, precision="fp32")
    ranked = recall_of_names(model, families)["names MRR@50"]
    relate(model, families, [], (TEXTS, answers), options=relating)
    assert recall_of_names(model, families)["names MRR@50"] > ranked + 0.3
    write_folder(model, tmp_path / "later", lineage={"relation": [2]}, card="# Two\n")

    blend_folder(tmp_path / "earlier", tmp_path / "later", tmp_path / "out", share=0.75)
    folders = (f"{LOCAL}{tmp_path / name}" for name in ("earlier", "later", "out"))
    earlier, later, blended = (load_model(find_checkpoint(ModelChoice(one))).state_dict() for one in folders)
    for name, tensor in blended.items():
        expected = later[name] if name.startswith("visual.") else 0.25 * earlier[name] + 0.75 * later[name]
        torch.testing.assert_close(tensor, expected, atol=2e-3, rtol=2e-3)
    assert read_lineage(tmp_path / "out")["relation"] == [2]


def test_the_card_that_ships_is_made_of_its_lineage() -> None:
    assert card_of(json.loads((bundled("model") / "training.json").read_text("utf-8"))) == (
        bundled("model") / "README.md"
    ).read_text("utf-8")


ICONS = {
    "one": {"trash": ["bin", "Throw Away", "rubbish from last week"], "rubbish": ["bin"], "oddity": ["bin"]},
    "two": {"trash": ["bin", "waste"], "rubbish": [], "recycle": ["waste"]},
    "three": {"trash": [], "recycle": ["trash"]},
    "lucide": {"trash": ["reserved word"], "recycle": []},
}


def test_written_words_are_read_and_a_line_that_is_no_entry_is_named(tmp_path: Path) -> None:
    (tmp_path / KEYWORDS).write_text("Trash-Can: Bin, throw away, bin\n")
    (tmp_path / PICTURES).write_text("purity: droplet, Trash can\n")
    (tmp_path / DRAWINGS).write_text("0123456789\tmdi:map-marker-heart\tWhite heart in a black pin|pin with heart\n")
    written, keywords = read_written(tmp_path), ["bin", "throw away"]
    assert written.tags_by_name() == {"trash can": [*keywords, *keywords, "purity"], "droplet": ["purity"]}
    assert written.of_drawing(bytes.fromhex("0123456789ab")) == ["white heart in a black pin", "pin with heart"]
    (tmp_path / KEYWORDS).write_text("star: night\ntrash:\n")
    with pytest.raises(SourceError, match=re.escape('line 2: "trash:" is no entry')):
        read_written(tmp_path)


def test_the_bundled_lists_have_no_name_as_its_own_keyword_and_no_line_twice() -> None:
    folder = bundled("language/written")
    written = read_written(folder)
    assert (len(written.keywords) > 5000, len(written.pictures) > 12_000, len(written.drawings) > 6_000) == (True,) * 3
    for lists, file in ((written.keywords, KEYWORDS), (written.pictures, PICTURES)):
        assert len(lists) == len(read_text(folder / (file + PACKED)).splitlines())
        assert not [key for key, words in lists.items() if key in words]


def test_synonyms_lead_to_names_that_several_sets_have_the_most_agreed_first(tmp_path: Path) -> None:
    lines = [{"set": key, "name": name, "tags": tags} for key, icons in ICONS.items() for name, tags in icons.items()]
    for number, line in enumerate(lines):
        (tmp_path / f"{number}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M{number} 0h9v9z"/></svg>'
        )
        line |= {"file_path": f"{number}.svg", "licence": "MIT"}
    (tmp_path / "icons.jsonl").write_text("\n".join(map(json.dumps, lines)))
    out = tmp_path / "synonyms.bin"
    done = CliRunner().invoke(main, ["synonyms", str(tmp_path / "icons.jsonl"), "--out", str(out)])
    assert (done.exit_code, "4 words" in done.output) == (0, True), done.output
    written = Dictionary(out)
    names = dict(written.meanings("bin")[0].terms)
    assert list(names) == ["trash", "rubbish"]
    assert names["rubbish"] == pytest.approx(0.63, abs=0.04)  # log 2 / log 3, in fifteenths
    assert list(dict(written.meanings("throw away")[0].terms)) == ["trash"] and not written.meanings("reserved word")
