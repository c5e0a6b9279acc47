"""Do the commands that lead to the encoder write whole files, and list what they left out?"""

from pathlib import Path

import pytest
from click.testing import CliRunner

from indexer.finetune.__main__ import main
from indexer.finetune.corpus.lesson import read_facts


def _corpus(out: Path, *sources: Path) -> str:
    done = CliRunner().invoke(main, ["corpus", *map(str, sources), "--out", str(out), "--workers", "0"])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_corpus_lists_the_files_that_can_not_be_read(own_iconify: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "pairs.csv"
    manifest.write_text("file_path,licence\nnowhere.svg,MIT\n")
    output = _corpus(tmp_path / "corpus", own_iconify, manifest)
    [(file, reason)] = read_facts(tmp_path / "corpus")["skipped"]
    assert file.endswith("nowhere.svg")
    assert reason
    assert "1 skipped, listed in" in output


def test_the_list_of_words_takes_the_place_of_an_older_one_once_it_is_whole(own_iconify: Path, tmp_path: Path) -> None:
    pytest.importorskip("wordfreq")
    _corpus(tmp_path / "corpus", own_iconify)
    (tmp_path / "dict").mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / "dict" / f"index.{part}").write_text("motor_car n\n" if part == "noun" else "")
    words, before = tmp_path / "words.txt", tmp_path / "before.txt"
    words.write_text("older\n")
    before.hardlink_to(words)
    given = ["--corpus", str(tmp_path / "corpus"), "--wordnet", str(tmp_path), "--out", str(words)]
    done = CliRunner().invoke(main, ["words", *given])
    assert done.exit_code == 0, done.output
    assert "motor car" in words.read_text("utf-8").splitlines()
    assert before.read_text() == "older\n"
