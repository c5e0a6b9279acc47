"""The memory that a process took is its own, not that of the process that started it."""

import subprocess
import sys

from indexer.embedding.progress import peak_memory
from indexer.encoders.devices import HOST

TELL = """
from indexer.encoders.devices import HOST
from indexer.embedding.progress import peak_memory
print(peak_memory(HOST))
"""


def test_what_a_process_took_does_not_begin_at_what_its_parent_took() -> None:
    large = bytearray(b"x") * 400_000_000
    assert peak_memory(HOST) > len(large)
    child = subprocess.run([sys.executable, "-c", TELL], capture_output=True, text=True, check=True)
    assert 10_000_000 < int(child.stdout) < 200_000_000
