"""Does a dictionary give back what was written into it?"""

from pathlib import Path

import pytest

from indexer.errors import LibraryError
from indexer.languages.dictionary import ANY, ENGLISH, Dictionary, Meaning, write_dictionary

NAMES = {"de": "German", "fr": "French", ENGLISH: "English", ANY: "another language"}


def meaning(languages: str, **terms: float) -> Meaning:
    return Meaning(frozenset(languages.split()), tuple((term.replace("_", " "), terms[term]) for term in terms))


def written(folder: Path, keys: dict[str, list[Meaning]]) -> Dictionary:
    write_dictionary(folder / "dictionary.bin", keys, names=NAMES)
    return Dictionary(folder / "dictionary.bin")


def test_every_key_is_found_with_its_meanings_and_nothing_else_is(tmp_path: Path) -> None:
    keys = {f"wort {number}": [meaning("de fr", settings=1.0, go_back=7 / 15)] for number in range(5_000)}
    keys |= {"設定": [meaning("fr", gear=1.0)], "die": [meaning("de", the=1.0), meaning("en")]}
    dictionary = written(tmp_path, keys)
    for key, meanings in keys.items():
        assert list(dictionary.meanings(key)) == meanings
    for key in ("", "wort", "wort 1 ", "wort 5000", "設", "zzz", "\U0010ffff"):
        assert dictionary.meanings(key) == ()
    assert dictionary.languages == NAMES


def test_keys_around_a_word_are_those_before_and_after_it_in_order(tmp_path: Path) -> None:
    keys = [f"{number:05}" for number in range(20_000)]
    dictionary = written(tmp_path, {key: [meaning("de", arrow=1.0)] for key in keys})
    for at in (0, 1, 777, 12_345, 19_999):
        around = list(dictionary.neighbours(f"{at:05}", n=5))
        assert around == keys[max(0, at - 5) : at + 5]


def test_a_file_that_is_no_dictionary_is_refused_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(b"something else entirely")
    with pytest.raises(LibraryError, match=r'other\.bin" is no dictionary'):
        Dictionary(path)


@pytest.mark.parametrize("length", [0, 5, 9, 40, 400, -1])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "cut.bin"
    write_dictionary(path, {f"{at:05}": [meaning("de", settings=1.0)] for at in range(3_000)}, names=NAMES)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(LibraryError, match=r'cut\.bin" is (no dictionary|damaged)'):
        Dictionary(path)
