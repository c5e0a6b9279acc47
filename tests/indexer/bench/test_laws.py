"""Both laws are found again from numbers that follow them."""

import pytest

from indexer.bench.report import Law, fit, fitted_share, speedup, speedups


@pytest.mark.parametrize("share", [0.0, 0.5, 0.93, 1.0])
@pytest.mark.parametrize("law", ["Amdahl", "Gustafson"])
def test_the_parallel_share_is_found_again(share: float, law: Law) -> None:
    devices = (2, 3, 4, 8)
    assert fitted_share(law, devices, [speedup(law, share, n) for n in devices]) == pytest.approx(share)


def test_speedups_are_those_of_medians() -> None:
    found = speedups({1: [100, 90, 110], 2: [180, 170, 190], 4: [300, 310, 290]})
    assert {n: figure.value for n, figure in found.items()} == {1: 1.0, 2: 1.8, 4: 3.0}
    assert (found[2].low, found[2].high) == (pytest.approx(170 / 110), pytest.approx(190 / 90))


def test_a_fit_extrapolates_with_its_interval() -> None:
    rates = {n: [100 * speedup("Amdahl", 0.95, n) * wobble for wobble in (0.98, 1.0, 1.02)] for n in (1, 2, 4)}
    found = fit("Amdahl", rates, beyond=[8, 64])
    assert found is not None
    assert found.parallel_share.value == pytest.approx(0.95)
    assert found.parallel_share.low < 0.95 < found.parallel_share.high
    assert found.extrapolated[8].value == pytest.approx(speedup("Amdahl", 0.95, 8))
    assert found.extrapolated[64].low < found.extrapolated[64].value < found.extrapolated[64].high


def test_one_device_fits_no_law() -> None:
    assert fit("Gustafson", {1: [100.0]}, beyond=[8]) is None
