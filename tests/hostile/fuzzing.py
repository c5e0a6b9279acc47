"""Fuzzing: random inputs for a time, each answered or refused as quickly as a small input deserves."""

import os
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Inputs = st.SearchStrategy[tuple[object, ...]]

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


GATE_SECONDS = 3.0
FOR_SECONDS = [GATE_SECONDS, pytest.param(float(os.environ.get("ICONS_FUZZ_SECONDS", "20")), marks=pytest.mark.slow)]
"""For a parameter `seconds`: the gate's, and more."""


def fuzz(inputs: Inputs, check: Callable[..., None], *, seconds: float) -> None:
    """Try inputs, in the gate the same ones in every run."""
    until, in_gate = time.monotonic() + seconds, seconds == GATE_SECONDS

    @settings(
        deadline=None,
        max_examples=60 if in_gate else 2_000,
        database=None,
        derandomize=in_gate,
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
    while not in_gate and time.monotonic() < until:
        run()
