"""Curves turn similarities into scores that mean something."""

import numpy as np
import pytest

from indexer.merging.calibration import Curve, fit


def test_a_curve_is_a_half_where_good_and_bad_hits_are_equally_frequent() -> None:
    random = np.random.default_rng(0)
    good, bad = (random.normal(middle, 0.05, 4000).astype(np.float32) for middle in (0.7, 0.5))
    curve = fit(good, bad)
    assert curve.centre == pytest.approx(0.6, abs=0.005)
    assert curve.slope == pytest.approx((0.7 - 0.5) / 0.05**2, rel=0.1)
    assert curve.scores(np.array([0.5, 0.6, 0.7], np.float32))[1] == pytest.approx(0.5, abs=0.1)


def test_an_encoder_that_takes_nonsense_for_sense_keeps_its_order() -> None:
    curve = fit(np.array([0.4, 0.5], np.float32), np.array([0.6, 0.7], np.float32))
    assert curve == Curve(1.0, curve.centre)
