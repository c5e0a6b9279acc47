"""A file that a person names is read as far as a limit, and written without harm to what it was."""

import lzma
import os
import re
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from indexer.errors import IconsError, SourceError
from indexer.library.named import read_named, read_text, write_result
from indexer.reports.page import check_page

KEPT = ("st_mode", "st_uid", "st_gid", "st_nlink")


def test_a_file_a_pipe_and_stdin_are_read_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1234")
    assert read_named(tmp_path / "file", limit=4) == b"1234"
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"12",))
    writer.start()
    assert read_named(tmp_path / "pipe", limit=4) == b"12"
    writer.join()
    reader = "from pathlib import Path; from indexer.library.named import read_named; print(read_named(Path('-')))"
    done = subprocess.run([sys.executable, "-c", reader], input=b"\xff", capture_output=True, check=True)
    assert done.stdout == b"b'\\xff'\n"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("none", None, "No such file or directory"),
        ("large", b"12345678", "it has more than 0 MB"),
        ("packed.xz", lzma.compress(bytes(1000)), "it has more than 0 MB"),
        ("cut.xz", lzma.compress(bytes(range(200)))[:50], "it is no .xz file"),
        ("other.xz", b"other", "it is no .xz file"),
        ("bytes", b"a\n\x81", "line 2 is neither UTF-8, UTF-16 nor Windows-1252; save it as UTF-8"),
        ("russian", "звезда".encode("cp1251"), "line 1 is neither UTF-8, UTF-16 nor Windows-1252; save it as UTF-8"),
        ("cut", "a\n".encode("utf-16") + b"b", "it is neither UTF-8, UTF-16 nor Windows-1252; save it as UTF-8"),
    ],
)
def test_what_can_not_be_read_is_refused_by_name(tmp_path: Path, name: str, content: bytes | None, why: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError) as refused:
        read_text(tmp_path / name, limit=7 if name == "large" else 200)
    assert str(refused.value) == f'"{tmp_path / name}" can\'t be read: {why}'


def test_of_a_file_without_an_end_no_more_than_the_limit_is_read() -> None:
    with pytest.raises(SourceError, match='"/dev/zero" can\'t be read: it has more than 1 MB'):
        read_named(Path("/dev/zero"), limit=1_000_000)


def test_a_file_is_replaced_behind_a_link_with_its_owner_permissions_and_attributes(tmp_path: Path) -> None:
    file, link = tmp_path / "page.html", tmp_path / "link.html"
    file.write_text("before")
    file.chmod(0o640)
    with suppress(OSError):  # not every disk has them
        os.setxattr(file, "user.mine", b"kept")
    link.symlink_to("page.html")
    before = file.stat()
    write_result(link, b"after", option="--html")
    assert link.is_symlink() and file.read_text() == "after"
    assert [getattr(file.stat(), name) for name in KEPT] == [getattr(before, name) for name in KEPT]
    with suppress(OSError):
        assert os.getxattr(file, "user.mine") == b"kept"
    (tmp_path / "dangling.html").symlink_to("new/page.html")
    write_result(tmp_path / "dangling.html", b"new", option="--html")
    assert (tmp_path / "dangling.html").is_symlink() and (tmp_path / "new" / "page.html").read_text() == "new"
    assert not list(tmp_path.rglob(".aside-*"))


def test_a_device_and_a_pipe_are_written_to_and_stay(tmp_path: Path) -> None:
    null, pipe = tmp_path / "null.html", tmp_path / "pipe.html"
    null.symlink_to("/dev/null")
    write_result(null, b"page", option="--html")
    assert null.is_symlink() and Path("/dev/null").is_char_device()
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_result(pipe, b"page", option="--html")
    reader.join()
    assert read == [b"page"] and pipe.is_fifo()
    with pytest.raises(IconsError, match=r'"/dev/full" can\'t be written \(No space left on device\); choose another'):
        write_result(Path("/dev/full"), b"page", option="--html")


def test_a_file_that_has_other_names_or_another_owner_is_written_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("much longer than after")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    inode = (tmp_path / "a").stat().st_ino
    write_result(tmp_path / "a", b"after", option="--html")
    assert (tmp_path / "b").read_text() == "after"
    (tmp_path / "b").unlink()
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "a").stat().st_uid + 1)
    write_result(tmp_path / "a", b"mine", option="--html")
    assert ((tmp_path / "a").read_text(), (tmp_path / "a").stat().st_ino) == ("mine", inode)


@pytest.mark.parametrize("place", ["/dev/stdout", "/proc/self/fd/1", "said"])
def test_our_own_stdout_goes_on_behind_the_file(tmp_path: Path, place: str) -> None:
    writer = "import sys; from pathlib import Path; from indexer.library.named import write_result\n"
    writer += "write_result(Path(sys.argv[1]), b'page ', option='--html'); print('and more')"
    with (tmp_path / "said").open("wb") as said:
        subprocess.run([sys.executable, "-c", writer, place], stdout=said, check=True, cwd=tmp_path)
    assert (tmp_path / "said").read_text() == "page and more\n"


@pytest.mark.parametrize(
    ("place", "why"),
    [("", "Is a directory"), ("file/page.html", "Not a directory"), ("loop", "Too many levels of symbolic links")],
)
def test_what_can_not_be_written_is_refused_by_name(tmp_path: Path, place: str, why: str) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "loop").symlink_to("loop")
    said = re.escape(f'"{tmp_path / place}" can\'t be written ({why}); choose another --html')
    with pytest.raises(IconsError, match=f"^{said}$"):
        write_result(tmp_path / place, b"page", option="--html")
    if place == "file/page.html":
        with pytest.raises(IconsError, match=r"can't be written \(Not a directory\); choose another --report"):
            check_page(tmp_path / place)
        check_page(tmp_path / "new" / "page.html")
