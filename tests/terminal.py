"""A real pseudo-terminal, which answers as kitty, a sixel terminal or a plain one does."""

import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from select import select

PROGRAM = "import sys; from search.cli import main; main(sys.argv[1:])"
SECONDS = 120
"""Of silence, after which a command is said to hang."""
DEVICE, GRAPHICS = b"\x1b[c", b"a=q"
PLAIN: Mapping[bytes, bytes] = {DEVICE: b"\x1b[?62;22c"}
SIXEL = {DEVICE: b"\x1b[?62;4;22c"}
KITTY = {DEVICE: b"\x1b[?62;22c", GRAPHICS: b"\x1b_Gi=1;OK\x1b\\"}


def in_terminal(
    *arguments: str | Path,
    answers: Mapping[bytes, bytes] = PLAIN,
    piped: bytes | None = None,
    pixels: tuple[int, int] = (1000, 800),
    cells: tuple[int, int] = (40, 100),
    **environment: str,
) -> tuple[int, str]:
    """Run a command with a terminal as stdout, and as stdin unless something is piped in; exit code and output.

    `answers` is what a terminal says to each request.
    """
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    own = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}  # xdist's
    told = {**own, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
    source, sink = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        if piped is not None:
            os.dup2(source, 0)
        os.close(sink)
        os.execvpe(command[0], command, told)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *cells, *pixels))
    os.close(source)
    with os.fdopen(sink, "wb") as pipe:
        pipe.write(piped or b"")
    shown = b""
    while chunk := _read(terminal):
        shown += chunk
        for asked, answer in answers.items():
            if asked in chunk:
                os.write(terminal, answer)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def _read(terminal: int) -> bytes:
    assert select([terminal], [], [], SECONDS)[0], f"the command has shown nothing for {SECONDS} s"
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux says so where others send nothing: the other end has closed
        return b""
