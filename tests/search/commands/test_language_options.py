"""Do all commands that take words read them in the languages that the user reads, and say how?"""

import json
from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]
CAT = {
    "language": "fr",
    "name": "French",
    "english": "cat",
    "is_english_too": True,
    "words": [{"word": "chat", "english": ["cat", "chat"]}],
}


@pytest.fixture(autouse=True)
def no_language(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


def test_json_tells_how_the_words_were_read(run: Run) -> None:
    done = run("search", "chat", "--language", "fr", "--json", "-k", "2", "--min-score", "0")
    assert json.loads(done.stdout)["read_as"] == CAT
    english = run("search", "house", "--json", "-k", "1")
    assert json.loads(english.stdout)["read_as"] is None


def test_words_beside_an_icon_are_read_too(run: Run) -> None:
    done = run("similar", "own:house", "chat", "--language", "fr", "--min-score", "0", "--json", "-k", "1")
    assert json.loads(done.stdout)["read_as"] == CAT
    assert done.stderr == "chat: cat, chat (French)\n"


def test_an_explanation_reads_words_as_a_search_does(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.loads(run("explain", "chat", "own:house", "--language", "fr", "--json").stdout)
    assert (told["read_as"], told["typed"]) == (CAT, "cat")
    assert json.loads(run("explain", "chat", "own:house", "--json").stdout)["read_as"] is None
    monkeypatch.setenv("LANG", "fr_FR.UTF-8")
    assert run("explain", "chat", "own:house").stdout.splitlines()[:2] == ["chat: cat, chat (French)", "asked: cat"]


def test_a_session_reads_all_lines_in_its_languages_but_those_that_say_their_own(run: Run) -> None:
    lines = ("chat --min-score 0", "chat --min-score 0 --language en", ":similar own:house chat", ":show own:house")
    done = run("repl", "--language", "fr", given="\n".join([*lines, ""]))
    assert done.exit_code == 0
    assert done.stderr.splitlines().count("chat: cat, chat (French)") == 2
    assert "Error" not in done.stderr


@pytest.mark.parametrize(
    ("languages", "told"),
    [
        (["french"], 'language is "french"; give a code as de or pt-BR'),
        (["fr,de"], 'language is "fr,de"'),
        (["fr"] * 11, "11 languages; name 10 or fewer"),
    ],
)
def test_what_names_no_language_is_refused(run: Run, languages: list[str], told: str) -> None:
    options = [part for language in languages for part in ("--language", language)]
    done = run("search", "chat", *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


def test_an_environment_whose_language_is_none_is_no_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "german")  # as some systems still call de_DE.ISO8859-1
    assert run("search", "house", "--paths").exit_code == 0
