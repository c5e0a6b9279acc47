"""How is something fuzzed? Random inputs for a time, each answered or refused as quickly as a small input deserves."""

import os
import time
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Inputs = st.SearchStrategy[tuple[object, ...]]

SECONDS = float(os.environ.get("ICONS_FUZZ_SECONDS", "60"))
SLOWEST = 5.0
"""Seconds of processor time that no small input may take."""

NAMES = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(
            [
                "arrow",
                "Arrow",
                "24",
                "px",
                "-",
                "_",
                " ",
                "Filled",
                "header",
                "@2x",
                "20x20",
                "é",
                "\ufb01",
                "①",
                "\u0301",
                "C++",
                "iPhone",
                "9" * 30,
                "\u0663",
                "İ",
                "ß",
                "\U0001f469‍",
                "️",
                "\ud800",
                "\0",
                "'",
                "two",
                "tone",
            ]
        ),
        max_size=12,
    ).map("".join),
)


def fuzz_shortly(inputs: Inputs, check: Callable[..., None]) -> None:
    """Try the same inputs in every run."""
    _fuzz(inputs, check, seconds=8, examples=150, is_same=True)


def fuzz_at_length(inputs: Inputs, check: Callable[..., None], *, seconds: float) -> None:
    """Try other inputs in every run."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        _fuzz(inputs, check, seconds=left, examples=2_000, is_same=False)


def _fuzz(inputs: Inputs, check: Callable[..., None], *, seconds: float, examples: int, is_same: bool) -> None:
    until = time.monotonic() + seconds

    @settings(
        deadline=None,
        max_examples=examples,
        database=None,
        derandomize=is_same,
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def run(given_input: tuple[object, ...]) -> None:
        if time.monotonic() > until:
            return
        started = time.process_time()
        check(*given_input)
        assert time.process_time() - started < SLOWEST

    run()
