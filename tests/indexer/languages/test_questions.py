"""Are the questions that measure other languages made of what the dictionary is not built from, the same each time?"""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.errors import SourceError
from indexer.languages.__main__ import main
from indexer.languages.folding import fold
from indexer.languages.making.annotations import is_left_out, read_annotations
from indexer.languages.making.questions import SIGN, TEXT, Question, make_questions
from indexer.library.bundled import bundled
from indexer.library.named import read_text

OTHERS = [f"x{letter}" for letter in "abcdefghijklmnopqrs"]
"""Languages enough, beside German and French, for a text to be asked."""
BED, BEAR, CAT, DOG = "🛏", "🐻", "🐱", "🐶"
"""A sign that is left out of the dictionary, and three that are not."""
LOCALES = {
    "de-DE": {"copy": "Kopieren", "remove": "Löschen", "delete": "L\\xF6schen…", "lock": "Lock", "zoom": "100%"},
    "fr-FR": {"copy": "", "remove": "Supprimer", "delete": "Supprimer", "lock": "Verrouiller", "zoom": "Zoom"},
    **{
        f"{code}-XX": {name: f"{name}-{code}" for name in ("copy", "remove", "delete", "lock", "zoom")}
        for code in OTHERS
    },
}
ENGLISH = {"copy": "Copy", "remove": "Remove", "delete": "Delete", "lock": "Lock", "zoom": "Zoom"}
NAMES = {
    "de": {BED: (["Bett"], ["Hotel"]), BEAR: (["Bär"], [])},
    "fr": {BED: (["lit"], []), BEAR: (["ours"], [])},
    "en": {
        BED: (["bed"], ["bed", "hotel", "bunk"]),
        BEAR: (["bear"], ["animal"]),
        CAT: (["cat"], ["animal", "hotel"]),
        DOG: (["dog"], ["animal", "hotel"]),
    },
    "en-AU": {BED: (["cot"], []), BEAR: (["bear"], ["hotel"])},
    "aa-XX": {BED: (["wrong"], [])},
}


def _script(folder: Path, name: str, content: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, "utf-8")


def _locale(texts: Mapping[str, str]) -> str:
    section = ",".join(f'{key}:"{text}"' for key, text in texts.items())
    return f"var i={{{section}}},A={{labels:i}};export{{A as default,i as labels}};"


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """Packages as npm lays them out, with a few words each."""
    root = tmp_path / "node_modules"
    drawn = root / "@excalidraw/excalidraw/dist/prod"
    for locale, texts in LOCALES.items():
        _script(drawn / "locales", f"{locale}-AB12.js", _locale(texts))
    _script(drawn, "chunk-EN.js", _locale(ENGLISH))
    _script(drawn / "locales", "en-AB12.js", 'import{A,i}from"../chunk-EN.js";export{A as default,i as labels};')
    _script(drawn / "locales", "percentages-AB12.js", 'import{a}from"../chunk-P.js";export{a as default};')
    for name, word in (("en_US", "Lock"), ("de_DE", "Sperren"), ("fr_FR", "Barrer")):
        _script(
            root / "@uppy/locales/lib",
            f"{name}.js",
            f"const l = {{strings: {{}}, n() {{}}}};\nl.strings = {{'/': '{word}'}};",
        )
    _script(root / "@uppy/locales/lib", "index.js", "export default 1;")
    for package in ("cldr-annotations-full/annotations", "cldr-annotations-derived-full/annotationsDerived"):
        for code in (*NAMES, *OTHERS, "et", "hy", "ka", "mk", "sq", "sw", "te", "fil", "ur"):
            signs = NAMES.get(code, {}) if "derived" not in package else {}
            held = {sign: {"tts": names, "default": words} for sign, (names, words) in signs.items()}
            content = json.dumps({"annotations": {"annotations": held}})
            _script(root / package / code, "annotations.json", content)
    for number in range(4):
        names = ("copy", "remove", "delete", "lock", "bed", "bunk", "cot", "hotel", "bear")
        icons = {name: {} for name in names if number < 3 or name == "bear"}
        content = json.dumps({"info": {"category": "General"}, "icons": icons})
        _script(root / "@iconify/json/json", f"set{number}.json", content)
    return root


def _by_query(questions: list[Question], kind: str) -> dict[str, Question]:
    return {question.query: question for question in questions if question.kind == kind}


def test_texts_are_asked_in_all_languages_that_translate_them(modules: Path) -> None:
    texts = _by_query(make_questions(modules), TEXT)
    assert list(texts) == ["copy", "delete", "lock", "remove"]
    assert texts["copy"].texts == {"de": "Kopieren", **{code: f"copy-{code}" for code in OTHERS}}
    assert texts["lock"].texts["de"] == "Sperren"  # the first program does not translate it
    assert texts["lock"].texts["fr"] == "Verrouiller"  # the second program's word comes second
    assert texts["delete"].texts["de"] == "Löschen"


def test_the_icon_of_a_text_that_two_languages_translate_alike_is_right_too(modules: Path) -> None:
    texts = _by_query(make_questions(modules), TEXT)
    assert texts["delete"].relevant == ["delete", "remove"]
    assert texts["remove"].relevant == ["remove", "delete"]
    assert texts["copy"].relevant == ["copy"]


def test_signs_are_those_that_are_left_out_with_the_keywords_that_few_signs_have(modules: Path) -> None:
    assert [is_left_out(sign) for sign in (BED, BEAR, CAT, DOG)] == [True, False, False, False]
    [sign] = _by_query(make_questions(modules), SIGN).values()
    assert (sign.query, sign.texts) == ("bed", {"de": "Bett", "fr": "lit"})
    assert sign.relevant == ["bed", "cot", "bunk"]  # four signs are of hotels


def test_a_locale_that_is_called_as_its_language_comes_first(modules: Path) -> None:
    package = modules / "cldr-annotations-full/annotations"
    (package / "aa-XX").rename(package / "de-AA")
    assert read_annotations(modules, left_out=True)["de"][BED].names == ["bett", "wrong"]


def test_the_command_writes_the_same_bytes_each_time(modules: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("one.jsonl", "two.jsonl")]
    for file in files:
        done = CliRunner().invoke(main, ["questions", str(modules), "--out", str(file)])
        assert done.exit_code == 0, done.output
        assert done.output == "interface text\t4\nsign\t1\nlanguages\t21\n"
    assert files[0].read_bytes() == files[1].read_bytes()
    first, *_ = files[0].read_text("utf-8").splitlines()
    assert json.loads(first)["relevant"] == ["copy"]


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        ("@uppy/locales/lib", r'@uppy/locales/lib" holds no locales'),
        ("@excalidraw/excalidraw/dist/prod/chunk-EN.js", "install the whole package"),
        ("@iconify/json/json", "holds no @iconify/json"),
    ],
)
def test_a_package_that_is_not_there_is_named(modules: Path, gone: str, reason: str) -> None:
    (modules / gone).rename(modules / "elsewhere")
    with pytest.raises(SourceError, match=reason):
        make_questions(modules)


def test_the_bundled_questions_are_few_bytes_of_many_languages() -> None:
    file = bundled("eval") / "languages-open.jsonl.xz"
    questions = [json.loads(line) for line in read_text(file).splitlines()]
    assert file.stat().st_size <= 50_000
    counted = [language for question in questions for language in question["in"]]
    assert len({language for language in counted if counted.count(language) >= 40}) >= 40
    assert len({(question["query"], question["kind"]) for question in questions}) == len(questions) == 125
    for question in questions:
        assert question["relevant"][0] == fold(question["query"])
        assert fold(question["query"]) not in map(fold, question["in"].values()), question["query"]
