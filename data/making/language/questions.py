"""What searches in other languages are evaluated with: texts and signs that the dictionary is not built from.

Reads two programs' interface texts, Unicode's names of the signs that are left out, and the names of icons; writes
`data/eval/languages-open.jsonl`, which is packed there, the same to the byte. data/making/README.md says what counts as
right, and why.

    python -m data.making.language questions node_modules --out data/eval/languages-open.jsonl
"""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from data.making.language.texts import Translation, left_out_texts
from data.making.language.words import Annotation, Annotations, read_annotations, read_icon_words
from indexer.languages.dictionary import ENGLISH
from indexer.languages.letters import fold
from indexer.library.named import write_result

TEXT, SIGN = "interface text", "sign"
N_TEXTS, N_SIGNS = 80, 45
"""Questions of each kind: what 150 kB hold."""
_MORE_LANGUAGES = ("et", "hy", "ka", "mk", "sq", "sw", "te", "tl", "ur")
"""Beside those of the programs' texts: asked for signs alone."""
_LEAST_SETS = 3
"""Sets that have an icon by the name of a question."""
_LEAST_LANGUAGES = 20
"""Of a text."""
_SAME_IN = 2
"""Languages that translate two English texts alike, where the icon of one is right for the other."""
_SIGNS_OF_KEYWORD = 3
"""A keyword of more signs says their kind, as "animal" does; of so few, the thing itself."""
_MOST_WORDS, _LONGEST = 2, 40
"""Words of a sign's English name, and letters in any language: longer ones describe the drawing."""


@dataclass(frozen=True, slots=True)
class Question:
    """An English query, the same in other languages, and the names of right icons."""

    query: str
    kind: str
    texts: Mapping[str, str]
    """By ISO 639 code."""
    relevant: Sequence[str]

    def line(self) -> str:
        """Spell it as a line of a query file."""
        fields = {"query": self.query, "kind": self.kind, "in": dict(self.texts), "relevant": list(self.relevant)}
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def make_questions(modules: Path) -> list[Question]:
    """Make all questions from packages below `node_modules`, those first whose icons most sets have.

    Raises:
        SourceError: a package is not there, or of another version.
    """
    names = read_icon_words(modules).names
    texts = list(left_out_texts(modules))
    signs = read_annotations(modules, left_out=True, spelled=str.strip)
    spoken = {text.language for text in texts} & signs.keys()
    languages = sorted(spoken.union(_MORE_LANGUAGES) - {ENGLISH})
    n_signs = _signs_of_keywords(signs[ENGLISH], read_annotations(modules)[ENGLISH])
    return [*_text_questions(texts, names, languages), *_sign_questions(signs, names, n_signs, languages)]


def write_questions(out: Path, questions: Sequence[Question]) -> None:
    """Write questions as JSONL, one a line."""
    write_result(out, "".join(f"{question.line()}\n" for question in questions).encode(), option="--out")


def _text_questions(
    texts: Sequence[Translation], names: Counter[str], languages: Collection[str]
) -> Iterator[Question]:
    """The texts that most sets have an icon for; of several translations into a language the first is asked."""
    said: dict[str, dict[str, str]] = {}
    for one in texts:
        if one.language in languages:
            said.setdefault(one.english, {}).setdefault(one.language, one.foreign)
    alike = _translated_alike(texts)
    asked = [text for text in said if names[text] >= _LEAST_SETS and len(said[text]) >= _LEAST_LANGUAGES]
    for text in sorted(asked, key=lambda text: (-names[text], text))[:N_TEXTS]:
        others = sorted(other for other, n in alike[text].items() if n >= _SAME_IN and names[other])
        yield Question(text, TEXT, dict(sorted(said[text].items())), [text, *others])


def _translated_alike(texts: Sequence[Translation]) -> dict[str, Counter[str]]:
    """English text -> others -> how many languages have the very same words for both."""
    said: dict[tuple[str, str], set[str]] = {}
    for text in texts:
        said.setdefault((text.language, fold(text.foreign)), set()).add(text.english)
    pairs = {(one, other, language) for (language, _), group in said.items() for one, other in permutations(group, 2)}
    alike = {text.english: Counter[str]() for text in texts}
    for one, other, _ in pairs:
        alike[one][other] += 1
    return alike


def _sign_questions(
    signs: Annotations, names: Counter[str], n_signs: Counter[str], languages: Collection[str]
) -> Iterator[Question]:
    """The signs that most sets have an icon for, by their English name or a keyword that few signs share."""
    found: list[tuple[int, Question]] = []
    for sign, said in signs[ENGLISH].items():
        called = list(dict.fromkeys(map(fold, said.names)))
        telling = [word for word in map(fold, said.keywords) if word and n_signs[word] <= _SIGNS_OF_KEYWORD]
        n_sets = max((names[name] for name in (*called, *telling)), default=0)
        if called and n_sets >= _LEAST_SETS and len(called[0].split()) <= _MOST_WORDS:
            texts = dict(_names_of(sign, signs, languages))
            relevant = [name for name in dict.fromkeys((*called, *telling)) if names[name] or name == called[0]]
            found.append((n_sets, Question(called[0], SIGN, texts, relevant)))
    found.sort(key=lambda one: (-one[0], one[1].query))
    yield from (question for _, question in found[:N_SIGNS])


def _names_of(sign: str, signs: Annotations, languages: Collection[str]) -> Iterator[tuple[str, str]]:
    """A sign's first name in each language that has one of its own."""
    english = set(map(fold, signs[ENGLISH][sign].names))
    for language in languages:
        name = next(iter(signs[language].get(sign, Annotation()).names), "")
        if len(name) <= _LONGEST and fold(name) not in {"", *english}:
            yield language, name


def _signs_of_keywords(*annotations: Mapping[str, Annotation]) -> Counter[str]:
    """How many signs have each English keyword or name, folded."""
    return Counter(word for held in annotations for said in held.values() for word in set(map(fold, said.words)))
