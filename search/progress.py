"""How far is a long answer? Titles and counts, for a person."""

from indexer.reports.bars import Bars


class ProgressLine(Bars):
    """An `asking.Progress`: to be called with what is done, how much of it, and of how much."""

    def __init__(self) -> None:
        super().__init__()
        self._title = ""

    def __call__(self, title: str, done: int, total: int) -> None:
        """Show it; another title begins another step."""
        if title != self._title:
            self._title = title
            self.stage(title)
        self.advance(done, total)
