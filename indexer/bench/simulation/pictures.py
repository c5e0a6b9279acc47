"""What do simulated devices get to see? As many pictures as are asked for: the bundled samples, again and again.

Each has a comment of its own, and so a digest of its own, by which it is drawn and embedded for itself.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexer.library.bundled import bundled

_BROKEN = "<svg"
"""What a broken picture is."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures to be made: `n` of them, in a folder of files or in one file; every so manieth is broken."""

    n: int
    in_one_file: bool = False
    broken_every: int | None = None

    def write(self, folder: Path) -> Path:
        """Write them into an empty folder; return the source to be indexed."""
        folder.mkdir(parents=True)
        if self.in_one_file:
            file = folder / "simulated.json"
            icons = {f"icon-{number}": {"body": body} for number, body in enumerate(self._bodies())}
            file.write_text(json.dumps({"prefix": "simulated", "width": 24, "height": 24, "icons": icons}), "utf-8")
            return file
        for number, body in enumerate(self._bodies()):
            svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">{body}</svg>'
            (folder / f"icon-{number}.svg").write_text(svg, "utf-8")
        return folder

    def _bodies(self) -> Iterator[str]:
        """Yield what stands between the tags of each picture."""
        samples = sorted((bundled("samples/lucide-static") / "icons").glob("*.svg"))
        drawn = [_inner(file.read_text("utf-8")) for file in samples]
        for number in range(self.n):
            is_broken = self.broken_every is not None and number % self.broken_every == self.broken_every - 1
            body = _BROKEN if is_broken else drawn[number % len(drawn)]
            yield f"{body}<!-- {number} -->"


def _inner(svg: str) -> str:
    """Take what a sample draws, with what its root says of strokes."""
    inner = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    return f'<g fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round">{inner.strip()}</g>'
