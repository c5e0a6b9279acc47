"""Settings are typed as name=value, checked by name, type and range, and listed."""

from dataclasses import fields

import pytest
from test_finetune import run

from indexer.errors import TrainError
from indexer.finetune.options import SUBJECTS, FinetuneOptions, known_settings, parse_settings


def test_settings_come_to_their_subjects_and_the_later_counts() -> None:
    typed = ["accumulate=4", "loss=sigmoid", "text-map=false", "held_out=3", "captions=3", "rate=1e-4", "rate=2"]
    options = FinetuneOptions.of(parse_settings(typed))
    assert (options.distribution.accumulate, options.loss.kind, options.towers.text_map) == (4, "sigmoid", False)
    assert (options.learning.held_out, options.learning.own_captions, options.schedule.rate) == (3, "3", 2.0)
    assert options.augmentation == FinetuneOptions().augmentation


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("acumulate=4", 'no setting "acumulate"; did you mean "accumulate"? --set help lists all'),
        ("xyz=4", 'no setting "xyz"; --set help lists all'),
        ("rate=0", 'rate can\'t be "0": Highest learning rate. [above 0]'),
        ("rate", 'rate can\'t be ""'),
        ("inverted=1.5", "[0 to 1]"),
        ("inverted=NaN", "[0 to 1]"),
        ("held_out=1", "[2 or more]"),
        ("loss=hinge", "[softmax, sigmoid]"),
        ("text_map=no", "[true, false]"),
        ("steps=2.5", "[1 or more]"),
    ],
)
def test_what_no_setting_can_be_is_refused_with_what_it_may_be(typed: str, reason: str) -> None:
    with pytest.raises(TrainError) as refused:
        parse_settings([typed])
    assert reason in str(refused.value)


def test_help_lists_every_setting_and_options_that_are_settings_say_so() -> None:
    shown = run("lab", "finetune", "--set", "help").output
    assert all(f"\n  {name}=" in shown for name in known_settings())
    assert len(known_settings()) == sum(len(fields(kind)) for kind in SUBJECTS.values())
    options = run("lab", "finetune", "--help").output
    assert options.count("\n  --") <= 21
    assert (
        "--accumulate is a setting; give --set accumulate=VALUE"
        in run("lab", "finetune", "--accumulate", "4", code=2).output
    )
    assert "give --set text_map=false" in run("lab", "finetune", "--no-text-map", code=2).output
    assert 'did you mean "accumulate"' in run("lab", "captions", "--set", "acumulate=4", code=2).output
