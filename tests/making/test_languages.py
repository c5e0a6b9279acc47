"""How the dictionary of other languages is made, the questions that measure it, and what they measure."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from data.making.language.__main__ import main
from data.making.language.comparing import (
    LanguageOptions,
    evaluate_languages,
)
from data.making.language.questions import SIGN, TEXT, make_questions
from data.making.language.texts import Text, leaves, objects
from data.making.language.weighing import Neighbours, Sources, weigh
from data.making.language.words import Annotation, is_left_out, read_signs
from indexer.reports.figures import Figure
from search.engine import Query, Window
from search.evaluation.evaluate import Subject

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
        content = json.dumps(
            {"info": {"category": "General"}, "icons": {name: {} for name in names if number < 3 or name == "bear"}}
        )
        _script(root / "@iconify/json/json", f"set{number}.json", content)
    return root


def test_questions_are_texts_in_all_languages_and_signs_that_are_left_out(modules: Path, tmp_path: Path) -> None:
    questions = make_questions(modules)
    texts = {question.query: question for question in questions if question.kind == TEXT}
    assert list(texts) == ["copy", "delete", "lock", "remove"]
    assert texts["copy"].texts == {"de": "Kopieren", **{code: f"copy-{code}" for code in OTHERS}}
    assert (texts["lock"].texts["de"], texts["delete"].texts["de"]) == ("Sperren", "Löschen")
    assert texts["delete"].relevant == ["delete", "remove"]  # two languages say both alike
    assert [is_left_out(sign) for sign in (BED, BEAR, CAT, DOG)] == [True, False, False, False]
    [sign] = [question for question in questions if question.kind == SIGN]
    assert (sign.query, sign.texts, sign.relevant) == ("bed", {"de": "Bett", "fr": "lit"}, ["bed", "cot", "bunk"])
    done = CliRunner().invoke(main, ["questions", str(modules), "--out", str(tmp_path / "questions.jsonl")])
    assert done.output == "interface text\t4\nsign\t1\nlanguages\t21\n"


def test_texts_of_a_script_are_read_without_running_it() -> None:
    source = r"""var a={copy:"L\xF6schen",'two words':'it\'s "one"',"u":`a
b`,emoji:"\uD83D\uDE00\u{1F600}"},f={g(n){return 0}},r={labels:i,n:5,kept:{text:'x'}};"""
    found = objects(source)
    assert found["a"] == {"copy": "Löschen", "two words": 'it\'s "one"', "u": "a\nb", "emoji": "😀😀"}
    assert list(leaves(found["r"])) == [("/kept/text", "x")] and "f" not in found


def test_sources_are_weighed_together_and_neighbours_bring_no_word_of_their_own() -> None:
    texts = [Text("de", english, "einstellungen", "somewhere") for english in ("settings", "settings", "preferences")]
    near = Neighbours((("cog", 1.0),), 0.8)
    signs = {"🐻": Annotation(["bär"], ["tier"]), "🐱": Annotation(["katze"], ["tier"])}
    english = {"🐻": Annotation(["bear"], ["animal"]), "🐱": Annotation(["cat"], ["animal"])}
    found = weigh(Sources(texts, signs, english, {"einstellungen": near, "zahnrad": near}))
    terms = dict(found["einstellungen"].terms)
    assert (list(terms)[:2], terms["cog"]) == (["settings", "preferences"], pytest.approx(0.4))
    assert (found["bär"].terms[0][0], found["tier"].terms[0][0]) == ("bear", "animal") and "zahnrad" not in found


def test_signs_are_called_as_icons_are_named(tmp_path: Path) -> None:
    names = {"🏠": "House", "☎\ufe0f": "telephone", "→": "right-pointing arrow", "+": "plus sign", "❤": "red heart"}
    said = {sign: {"tts": [name]} for sign, name in names.items()} | {"ª": {"tts": ["no sign"]}, "☃": {}}
    _script(tmp_path / "annotations/en", "annotations.json", json.dumps({"annotations": {"annotations": said}}))
    assert read_signs(tmp_path) == {
        "🏠": "house", "☎": "telephone", "→": "right arrow", "+": "plus", "❤": "heart",
    }  # fmt: skip


WORDS = {
    "house": "Haus", "heart": "Herz", "bell": "Glocke", "trash": "Mülleimer", "star": "Stern", "key": "Schlüssel",
    "lock": "Schloss", "sun": "Sonne", "moon": "Mond", "cloud": "Wolke", "camera": "Kamera",
}  # fmt: skip
NONSENSE = "qwrtz"


def _line(word: str, kind: str = "thing", **languages: str) -> dict[str, object]:
    return {"query": word, "kind": kind, "in": languages, "relevant": [word]}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """22 questions of two kinds in German, one of them no word; eleven in French, and one in a made-up language."""
    lines = [_line(word, de=german, fr="maison") for word, german in WORDS.items()]
    lines += [_line(word, "again", de=NONSENSE if word == "sun" else german) for word, german in WORDS.items()]
    lines += [_line("bell", xx="klokke"), _line("zebra", de="Zebra")]
    _script(tmp_path, "q.jsonl", "\n".join(map(json.dumps, lines)))
    return tmp_path / "q.jsonl"


@pytest.mark.slow
def test_languages_stand_beside_english_on_the_same_questions(subject: Subject, questions: Path) -> None:
    found = evaluate_languages(subject, LanguageOptions([questions]), lambda *_: None)
    assert (found.n_asked, found.n_dropped, found.lacking, found.few) == (23, 1, ["xx"], {"French": 11})
    [row] = found.rows
    assert (row.language, row.name, row.kind, row.n_queries) == ("de", "German", None, 22)
    assert (row.english["R@1"], row.known.shares) == (Figure(1.0, 1.0, 1.0), row.known.figures)

    def is_first(word: str, german: str) -> bool:
        answer = subject.engine.ask(Query(words=german, languages=("de",)), window=Window(k=1))
        return answer.hits[0].name in ({"bell", "alarm-old"} if word == "bell" else {word})

    n_first = 2 * sum(is_first(word, german) for word, german in WORDS.items()) - is_first("sun", "Sonne")
    assert row.known.figures["R@1"].value == pytest.approx(n_first / 22, abs=1e-4)
    [lost] = [one for one in found.missed if one.text == NONSENSE]
    assert (lost.query, lost.read_as, lost.english_rank, lost.rank) == ("sun", f"{NONSENSE}: not read", 1, None)
