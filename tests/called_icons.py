"""Icons of four sets that have much in common, to be called by set and name, in styles, with tags and without."""

import json
import re
from pathlib import Path

from conftest import Silent

from indexer.embedding.planning import EmbedOptions
from indexer.encoders.checkpoint import ModelChoice
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.pipeline import IndexOptions, index

SAMPLES = bundled("samples/lucide-static") / "icons"
LUCIDE = (  # name, style, tags, and the sample that it looks like
    ("home", "", "house", "home"),
    ("house", "", "home, building", "church"),
    ("star", "", "rating, favourite", "star"),
    ("star-filled", "filled", "rating", "star"),
    ("bell", "", "alarm, Alarm, E-Mail, e mail", "bell"),
    ("arrow-right", "", "", "arrow-right"),
    ("arrow-right-circle", "", "", "arrow-right-circle"),
    ("map-pin", "", "place", "map-pin"),
    ("cigarette-off", "", "no smoking", "cigarette-off"),
    ("cigarette", "", "smoking", "cigarette"),
    ("bell-plus", "", "", "bell-plus"),
    ("plus", "", "add", "plus"),
)
MAP = ("pin", "flag", "home")
MDI = {"home": "house", "home-outline": "house", "star": "star", "bell": "bell", "account": "user"}
SOLID = {"house": "house", "star": "star", "bell": "bell", "user": "user"}
THIN = 'fill="none" stroke="currentColor" stroke-width="1.5"'
N_ICONS = len(LUCIDE) + len(MAP) + len(MDI) + len(SOLID)


def build_called(root: Path, model: Path | None = None) -> None:
    """Write them, and a library of them that is indexed with a model: the bundled one, or that of a folder."""
    sources = [
        _write_manifest(root / "drawn"),
        _write_iconify(root / "mdi.json", MDI, title="Material Design Icons", look=THIN),
        _write_iconify(root / "fa6-solid.json", SOLID, title="Font Awesome 6 Solid", look='fill="currentColor"'),
    ]
    how = EmbedOptions(batch_size=32, workers=0, precision="fp32")
    choice = ModelChoice(f"local-dir:{model}") if model else None
    index(Library(root / "library"), IndexOptions(sources=sources, choice=choice, devices="cpu", embed=how), Silent())


def _write_manifest(folder: Path) -> Path:
    folder.mkdir(parents=True)
    rows = [*((*row, "lucide") for row in LUCIDE), *((name, "", "", name, "map") for name in MAP)]
    lines = []
    for number, (name, style, tags, sample, own_set) in enumerate(rows):
        drawn = (SAMPLES / f"{sample}.svg").read_text()
        drawn = drawn.replace('stroke-width="2"', 'stroke-width="1"') if own_set == "map" else drawn
        drawn = drawn.replace('fill="none"', 'fill="currentColor"') if style else drawn
        (folder / f"{number}.svg").write_text(drawn)
        row = {"file_path": f"{number}.svg", "name": name, "style": style, "tags": tags, "set": own_set}
        lines.append(json.dumps(row) + "\n")
    (folder / "icons.jsonl").write_text("".join(lines))
    return folder / "icons.jsonl"


def _write_iconify(file: Path, names: dict[str, str], *, title: str, look: str) -> Path:
    icons = {name: {"body": f"<g {look}>{_body(sample)}</g>"} for name, sample in names.items()}
    file.write_text(
        json.dumps({"prefix": file.stem, "info": {"name": title}, "icons": icons, "width": 24, "height": 24}), "utf-8"
    )
    return file


def _body(sample: str) -> str:
    return re.search("<svg[^>]*>(.*)</svg>", (SAMPLES / f"{sample}.svg").read_text(), re.DOTALL)[1]
