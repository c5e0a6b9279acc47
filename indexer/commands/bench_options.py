"""What the commands `icons bench ...` have in common: how they are told what to measure, and where reports go."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.commands.options import model_choice

if TYPE_CHECKING:
    from indexer.bench.embedding import BenchOptions

_Options = TypeVar("_Options", bound="BenchOptions")
Folder = click.Path(file_okay=False, path_type=Path)
Source = click.Path(exists=True, path_type=Path)


def read_options(
    of: type[_Options], knobs: type[Any], settings: Sequence[str] = (), sweeps: Sequence[str] = (), **options: Any
) -> _Options:
    """Read what is to be measured; a report that has no folder gets a new one."""
    from indexer.bench.trials.knobs import parse_setting, parse_sweep
    from indexer.encoders.checkpoint import ModelChoice

    choice = model_choice(options.pop("model"), options.pop("pretrained")) or ModelChoice.bundled()
    return of(
        options.pop("out") or new_folder(),
        choice=choice,
        settings=dict(parse_setting(text, of=knobs) for text in settings),
        sweeps=[parse_sweep(text, of=knobs) for text in sweeps],
        **options,
    )


def new_folder() -> Path:
    """A folder for a report, by the time of day."""
    return Path("icons-bench") / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
