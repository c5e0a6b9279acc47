"""The folder of a library; files that a person names."""

import lzma
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from indexer.errors import IconsError, LibraryError, SourceError
from indexer.library.durable import folder_aside, put_back
from indexer.library.folder import Library, require
from indexer.library.named import read_named, read_text, write_result
from indexer.reports.figures import check_page


def _publish(library: Library, n: int) -> None:
    for _ in range(n):
        with library.next_generation() as built:
            built.manifest.write_text("{}")


def test_publishing_keeps_the_last_two_generations_and_a_rollback_goes_back_and_forth(library: Library) -> None:
    with pytest.raises(LibraryError, match="`icons index SOURCE` builds one"):
        require(library)
    _publish(library, 3)
    assert (library.current(), library.numbers()) == (3, [3, 2])
    with pytest.raises(LibraryError, match="no generation after the current one"):
        library.rollback(forward=True)
    assert library.rollback().number == library.current() == 2
    assert [generation.number for generation in library.candidates()] == [2]
    with pytest.raises(LibraryError, match="no generation before the current one"):
        library.rollback()
    assert library.rollback(forward=True).number == library.current() == 3


@pytest.mark.parametrize("garbage", [b"", b"seven", b"\xff\xfe", b"99", b"-1", b"1" * 50])
def test_a_garbage_pointer_lets_the_newest_generation_answer(library: Library, garbage: bytes) -> None:
    _publish(library, 2)
    library.pointer.write_bytes(garbage)
    assert library.current() is None
    assert [generation.number for generation in library.candidates()] == [2, 1]


def test_a_second_writer_is_refused_and_a_dead_one_is_not_waited_for(library: Library) -> None:
    hold = "import sys; from pathlib import Path; from indexer.library.folder import Library\n"
    hold += "with Library(Path(sys.argv[1])).writing(): print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(library.root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        with pytest.raises(LibraryError, match="being written by another"):
            library.writing().__enter__()
        process.kill()
    with library.writing():
        pass


def test_an_interrupted_writer_leaves_nothing_behind(library: Library, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), folder_aside(library.generation(1).folder) as aside:
        (aside / "half").write_text("half")
        raise KeyboardInterrupt
    assert library.numbers() == []
    assert list(library.generations.iterdir()) == []
    (library.generations / ".aside-7").mkdir()
    with library.writing():
        assert list(library.generations.iterdir()) == []


def test_a_replacement_killed_at_any_step_loses_no_folder(tmp_path: Path) -> None:
    killed = """if True:
        import os, signal, sys
        from itertools import count
        from pathlib import Path
        from indexer.library.durable import folder_aside
        steps = count()
        def step(event, _):
            if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir") and next(steps) == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(step)
        with folder_aside(Path(sys.argv[1]), replace=True) as aside:
            (aside / "points").write_text("new")
        """
    place = tmp_path / "place"
    found, status = [], -signal.SIGKILL
    while status == -signal.SIGKILL:
        with folder_aside(place, replace=True) as aside:
            (aside / "points").write_text("old")
        assert [path.name for path in tmp_path.iterdir()] == ["place"]
        command = [sys.executable, "-c", killed, str(place), str(len(found))]
        status = subprocess.run(command, check=False).returncode
        put_back(place)
        found.append((place / "points").read_text())
    assert status == 0 and len(found) > 5
    assert found == sorted(found, reverse=True) and set(found) == {"old", "new"}


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
