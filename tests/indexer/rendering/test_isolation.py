"""What isolation and checks cost: clean icons drawn as `icons index` draws them, and by a process that takes no care.

The plain process reads and draws the same files: no limits of time and memory, no look at what a file is or where it
lies, none for dangerous SVG, no digest, and nobody gets the pixels. Runs alternate, and the cheapest of each counts:
other work on the machine makes all of them dearer.
"""

import os
import time
from contextlib import ExitStack

import numpy as np
import psutil
import pytest
import torch

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Encoder
from indexer.library.bundled import bundled
from indexer.ranks import cpu_seconds, family, proportional_bytes
from indexer.rendering.draw_pool import Worker
from indexer.rendering.pool import Job, RenderPool
from indexer.sources.records import PictureAddress, content_digest

MOST_COST, MOST_BYTES = 0.10, 20_000_000
SIZE, REPEATS = 64, 8
PLAINLY = f"""
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from indexer.rendering import render

render.svg_document = lambda content: content  # to look for danger is what is measured
connection = Connection(int(sys.argv[-1]))
while True:
    try:
        files = connection.recv()
    except EOFError:
        break
    for file in files:
        render.render(Path(file).read_bytes(), size={SIZE})
    connection.send(None)
"""


def forward_seconds() -> float:
    """Processor time of one picture's pass through the bundled model."""
    torch.set_num_threads(1)
    encoder = Encoder(find_checkpoint(ModelChoice.bundled()), device=torch.device("cpu"), precision="fp32")
    pixels, taken = np.full((64, encoder.image_size, encoder.image_size, 3), 255, np.uint8), []
    for _ in range(9):
        started = time.process_time()
        encoder.encode_images(pixels)
        taken.append(time.process_time() - started)
    return min(taken) / len(pixels)


@pytest.mark.slow
def test_isolation_takes_at_most_a_tenth_of_indexing_and_20_mb_a_worker() -> None:
    files = sorted((bundled("samples/lucide-static") / "icons").glob("*.svg"))[::4]
    digests = [content_digest(file.read_bytes()) for file in files]
    places = [PictureAddress("folder", str(it.parent), it.name, "", of) for it, of in zip(files, digests, strict=True)]
    jobs, before = [Job(number, place) for number, place in enumerate(places)], family(os.getpid())
    with RenderPool(size=SIZE, workers=1) as pool, ExitStack() as ends:
        ends.callback((plain := Worker.start(PLAINLY)).end)
        here, other = psutil.Process(), psutil.Process(plain.process.pid)
        workers = [process for process in family(os.getpid()) if process not in before and process != other]

        def draw_isolated() -> float:
            started = cpu_seconds([here, *workers])
            assert not [failure for chunk in pool.render([jobs]) for failure in chunk.failures]
            return cpu_seconds([here, *workers]) - started

        def draw_plainly() -> float:
            started = cpu_seconds([here, other])
            plain.connection.send([str(file) for file in files])
            plain.connection.recv()
            return cpu_seconds([here, other]) - started

        pairs = [(draw_isolated(), draw_plainly()) for _ in range(1 + REPEATS)][1:]  # at first files are read
        taken = proportional_bytes(workers) - proportional_bytes([other])
    isolated, plainly = (min(of) / len(files) for of in zip(*pairs, strict=True))
    assert (isolated - plainly) / (plainly + forward_seconds()) <= MOST_COST and taken <= MOST_BYTES
