import signal
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.errors import LibraryError
from indexer.library.durable import folder_aside, put_back
from indexer.library.folder import Library, require


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


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "place"
    (place / "old").mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt), folder_aside(place, replace=True) as aside:
        (aside / "half").write_text("half")
        raise KeyboardInterrupt
    assert [path.name for path in place.iterdir()] == ["old"]
    with folder_aside(place, replace=True) as aside:
        (aside / "new").write_text("new")
    assert [path.name for path in place.iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["place"]


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
