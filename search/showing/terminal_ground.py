"""What colour is the ground of this terminal? It is asked where it is sure to hear the answer; else COLORFGBG tells.

The request (OSC 11) is one that some terminals do not know. One that all know (DA1) goes with it, so that nobody waits
for an answer which never comes, and none comes once nobody reads: it would stand in the next command line.
"""

import os
import re
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from select import select

Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""
_REQUEST = b"\x1b]11;?\x1b\\\x1b[c"
_COLOUR = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")
_LAST = re.compile(rb"\x1b\[\?[0-9;]*c")
_PATIENCE_SECONDS = 0.5
"""For a terminal at the other end of a slow line."""
_MOST_BYTES = 1_000
_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)
_DARK = frozenset(["0", "1", "2", "3", "4", "5", "6", "8"])
"""Of the sixteen colours that COLORFGBG counts."""


def terminal_ground(terminal: int | None) -> Colour | None:
    """Tell the colour of the ground: of a terminal that may be read from, else by the environment; None: not known."""
    if terminal is not None:
        with suppress(OSError, termios.error):
            if asked := _COLOUR.search(_answers(terminal)):
                red, green, blue = (round(255 * int(part, 16) / (16 ** len(part) - 1)) for part in asked.groups())
                return red, green, blue
    stated = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return (_BLACK if stated in _DARK else _WHITE) if stated.isdecimal() else None


def is_dark(ground: Colour) -> bool:
    """Whether black does not show on a ground: by its lightness as people see it (ITU-R BT.601)."""
    red, green, blue = ground
    return 0.299 * red + 0.587 * green + 0.114 * blue < 128


def _answers(terminal: int) -> bytes:
    """What a terminal says to the request, as far as it has come in time."""
    said = b""
    with _unechoed(terminal):
        os.write(terminal, _REQUEST)
        ends = time.monotonic() + _PATIENCE_SECONDS
        while not _LAST.search(said) and len(said) < _MOST_BYTES:
            if not select([terminal], [], [], max(0.0, ends - time.monotonic()))[0]:
                termios.tcflush(terminal, termios.TCIFLUSH)
                break
            said += os.read(terminal, 100)
    return said


@contextmanager
def _unechoed(terminal: int) -> Iterator[None]:
    """Let what comes from a terminal be read at once, and not be shown."""
    kept = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, kept)
