from pathlib import Path
from random import Random

import pytest

from indexer.errors import SourceError
from indexer.screens.icon_pool import HELD_OUT, RESERVED, IconPool


def test_sets_that_are_measured_on_and_those_of_strict_licences_are_not_trained_on(iconify: Path) -> None:
    assert IconPool(iconify, split="training").prefixes == ["squares"]
    assert IconPool(iconify, split="held-out").prefixes == ["heroicons"]
    assert IconPool(iconify, split="reserved").prefixes == ["lucide"]
    assert not RESERVED & HELD_OUT


def test_a_screen_shows_no_icon_that_moves(iconify: Path) -> None:
    (chosen, *_) = IconPool(iconify, split="training").choose_sets(Random(0))
    assert "home" in chosen.names
    assert "loading" not in chosen.names


def test_a_kind_is_found_by_the_first_of_its_words_that_the_set_knows(iconify: Path) -> None:
    (chosen, *_) = IconPool(iconify, split="training").choose_sets(Random(0))
    assert chosen.of_kind("chevron") == ["chevron-down"]
    assert chosen.of_kind("arrow") == ["arrow-left"]
    assert chosen.of_kind("search") == []


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="@iconify/json"):
        IconPool(tmp_path, split="training")
