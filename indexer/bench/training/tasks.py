"""Where do a benchmark and its ranks leave word for each other? Files in a folder of each group. No torch here."""

from pathlib import Path

from indexer.finetune.options import Places


def places_in(folder: Path) -> Places:
    """Where in the folder of a benchmark the plan lies that is trained next: one group of ranks at a time does."""
    return Places(folder / "model")


def task_file(folder: Path, number: int) -> Path:
    """What is to be done, in the words of `TrainKnobs`."""
    return folder / f"task-{number}.json"


def done_file(folder: Path, number: int, rank: int) -> Path:
    """Where a rank writes what came of it."""
    return folder / f"done-{number}-{rank}.json"
