"""Knobs are read, varied one at a time or all together, and refused by their value where they can't be measured."""

import pytest

from indexer.bench.trials.knobs import Knobs, check, fits_index, grid, one_at_a_time, parse_setting, parse_sweep
from indexer.errors import IconsError


def test_a_sweep_around_a_base_varies_one_knob_and_keeps_to_the_path_of_index() -> None:
    base = Knobs(workers=1)
    found = dict(one_at_a_time(base, [parse_sweep("batch=32,auto,32"), parse_sweep("precision=fp32,bf16")]))
    assert found["batch"] == [Knobs(workers=1, batch=32), Knobs(workers=1)]
    assert [knobs.precision for knobs in found["precision"]] == ["fp32", "bf16"]


def test_a_knob_that_index_lacks_puts_its_whole_sweep_on_the_loop() -> None:
    ((_, found),) = one_at_a_time(Knobs(), [parse_sweep("shuffle=off,on")])
    assert [(knobs.path, knobs.shuffle) for knobs in found] == [("loop", False), ("loop", True)]
    ((_, found),) = one_at_a_time(Knobs(), [parse_sweep("precision=fp32,fp64")])
    assert {knobs.path for knobs in found} == {"loop"}


def test_a_knob_brings_what_it_needs_to_be_seen() -> None:
    sweeps = dict(one_at_a_time(Knobs(workers=1), [parse_sweep("prefetch=1,4"), parse_sweep("barrier=on,off")]))
    assert [(knobs.loader, knobs.workers, knobs.prefetch) for knobs in sweeps["prefetch"]] == [
        ("files", 2, 1),
        ("files", 2, 4),
    ]
    assert [knobs.devices for knobs in sweeps["barrier"]] == [2, 2]


def test_a_grid_is_every_combination() -> None:
    found = grid(Knobs(), [parse_sweep("batch=32,64"), parse_sweep("workers=0,1,2")])
    assert len(set(found)) == 6
    assert all(fits_index(knobs) for knobs in found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bach=1", 'no knob "bach"; there are backend, barrier, batch'),
        ("batch=0", '"0" is no value of batch; it takes a number from 1 or auto'),
        ("batch=many", '"many" is no value of batch'),
        ("devices=auto", '"auto" is no value of devices; it takes a number from 1'),
        ("copy=none", '"none" is no value of copy; it takes batch, item, stream, stream-high'),
        ("pinned=yes", '"yes" is no value of pinned; it takes on, off'),
        ("path=loop", 'no knob "path"'),
        ("batch", '"" is no value of batch'),
    ],
)
def test_what_is_no_knob_or_no_value_is_named(text: str, message: str) -> None:
    with pytest.raises(IconsError, match=message):
        parse_setting(text)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        (Knobs(devices=9), 'devices "9" are more than there are: 2 cores'),
        (Knobs(batch=4096), 'batch "4096" is more than 100 pictures can fill; give --images 4096'),
        (Knobs(batch=60, devices=2), 'batch "60" is more than 100 pictures over 2 devices can fill; give --images 120'),
        (Knobs(backend="nccl", devices=2), 'backend "nccl" needs GPUs'),
        (Knobs(precision="tf32"), 'precision "tf32" needs GPUs'),
        (Knobs(pinned=True), 'pinned "on" needs GPUs'),
        (Knobs(copy="stream"), 'copy "stream" needs GPUs'),
        (Knobs(barrier=True), 'barrier "on" needs strategy=ranks and devices=2'),
        (Knobs(prefetch=2), 'prefetch "2" needs loader=files'),
    ],
)
def test_what_this_machine_can_not_measure_is_refused_by_its_value(knobs: Knobs, message: str) -> None:
    with pytest.raises(IconsError, match=message):
        check(knobs, kind="cpu", n_devices=2, n_images=100)
    check(Knobs(devices=2, batch=50), kind="cpu", n_devices=2, n_images=100)


def test_a_label_says_what_differs() -> None:
    assert Knobs().label() == "base"
    assert Knobs(batch=64, pinned=True).label() == "batch=64 pinned=on"
    assert Knobs(batch=64).label(of=Knobs(batch=64)) == "base"


def test_a_batch_beyond_a_block_needs_the_loop() -> None:
    with pytest.raises(IconsError, match='batch "4096" is more than a block of `icons index`, 2048 pictures'):
        check(Knobs(batch=4096), kind="cpu", n_devices=1, n_images=10_000)
    check(Knobs(batch=4096, path="loop"), kind="cpu", n_devices=1, n_images=10_000)
