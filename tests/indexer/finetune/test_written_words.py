"""Are written words read as names and queries are spelt, and told by name?"""

import lzma
import re
from pathlib import Path

import pytest

from indexer.errors import SourceError
from indexer.finetune.corpus.written_words import DRAWINGS, KEYWORDS, PICTURES, WrittenWords, read_written
from indexer.library.bundled import bundled
from indexer.library.named import PACKED, read_text


def _write(folder: Path, keywords: str, pictures: str, drawings: str = "") -> Path:
    (folder / DRAWINGS).write_text(drawings, "utf-8")
    (folder / KEYWORDS).write_text(keywords, "utf-8")
    (folder / PICTURES).write_text(pictures, "utf-8")
    return folder


def test_keywords_are_told_of_their_name_twice_and_a_word_of_each_of_its_pictures(tmp_path: Path) -> None:
    folder = _write(tmp_path, "Trash-Can: Bin, throw away, bin\n", "purity: droplet, Trash can\n")
    written = read_written(folder)
    assert written.keywords == {"trash can": ["bin", "throw away"]}
    assert written.pictures == {"purity": ["droplet", "trash can"]}
    keywords = ["bin", "throw away"]
    assert written.tags_by_name() == {"trash can": [*keywords, *keywords, "purity"], "droplet": ["purity"]}


def test_drawings_are_told_by_the_digest_of_their_picture(tmp_path: Path) -> None:
    line = "0123456789\tmdi:map-marker-heart\tWhite heart in a black pin|pin with heart\n"
    written = read_written(_write(tmp_path, "", "", line))
    digest = bytes.fromhex("0123456789abcdef")
    assert written.of_drawing(digest) == ["white heart in a black pin", "pin with heart"]
    assert written.of_drawing(digest[::-1]) == ()


@pytest.mark.parametrize("line", ["0123\tmdi:pin\tpin", "0123456789\tmdi:pin\t"])
def test_a_line_that_is_no_drawing_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(SourceError, match=r"line 1: .* is no entry; write digest, icon"):
        read_written(_write(tmp_path, "", "", f"{line}\n"))


def test_without_a_folder_nothing_is_written() -> None:
    assert read_written(None) == WrittenWords()


@pytest.mark.parametrize("line", ["trash", "trash:", "trash: ", ": bin"])
def test_a_line_that_is_no_entry_is_named(tmp_path: Path, line: str) -> None:
    folder = _write(tmp_path, f"star: night\n{line}\n", "")
    with pytest.raises(SourceError, match=re.escape(f'line 2: "{line}" is no entry')):
        read_written(folder)


def test_a_folder_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=re.escape(KEYWORDS)):
        read_written(tmp_path)


def test_a_packed_file_is_read_as_a_plain_one_and_a_broken_one_is_named(tmp_path: Path) -> None:
    plain = _write(tmp_path, "star: night\n", "")
    file = plain / KEYWORDS
    packed = file.with_name(KEYWORDS + PACKED)
    packed.write_bytes(lzma.compress(file.read_bytes()))
    file.unlink()
    assert read_written(tmp_path).keywords == {"star": ["night"]}
    packed.write_bytes(b"star: night")
    with pytest.raises(SourceError, match=re.escape(f'"{packed}" can\'t be read: it is no .xz file')):
        read_written(tmp_path)


def test_the_bundled_lists_have_no_name_as_its_own_keyword_and_no_line_twice() -> None:
    folder = bundled("language/written")
    written = read_written(folder)
    assert len(written.keywords) > 5000
    assert len(written.pictures) > 12_000
    assert len(written.drawings) > 6_000
    assert all(len(descriptions) > 1 for descriptions in written.drawings.values())
    for lists, file in ((written.keywords, KEYWORDS), (written.pictures, PICTURES)):
        assert len(lists) == len(read_text(folder / (file + PACKED)).splitlines())
        assert not [key for key, words in lists.items() if key in words]
