"""Screenshots with the icons of `small_icons`, or any others, drawn without a browser."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from small_icons import ARROW, HOUSE, drawn

from data.making.eval.components import connected_components
from indexer.encoders.query_encoder import open_query_encoder
from indexer.library.folder import Library
from indexer.merging.manifest import answering_manifest
from indexer.rendering.render import draw
from indexer.screens.add import Sight
from indexer.screens.located import Locator
from indexer.screens.looks import LookKey

CIRCLE = '<circle cx="12" cy="12" r="9"/>'
BODIES = {"house": HOUSE, "arrow-left": ARROW, "disc": CIRCLE}


def plain_sight(library: Library) -> Sight:
    """Find icons by what stands apart from its ground: quick, and known beforehand for pages as these."""
    manifest = answering_manifest(library)
    encoder = open_query_encoder(library.encoder(manifest.fingerprint))
    return Sight(
        LookKey(manifest.fingerprint, "components", manifest.dim), Locator(connected_components, None), encoder
    )


def save_screen(path: Path, names: Sequence[str], *, shade: int = 255, side: int = 24) -> Path:
    """A page of icons of `BODIES`, 60 px from each other; `shade` tells pages apart that are drawn alike."""
    pictures = [draw(drawn(BODIES[name]).encode(), size=side) for name in names]
    image = Image.new("RGB", (60 + 60 * len(names), 90), (shade, shade, shade))
    for number, picture in enumerate(pictures):
        icon = Image.fromarray(picture)
        image.paste(Image.new("RGB", icon.size, (30, 34, 40)), (30 + 60 * number, 32), icon.getchannel("A"))
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)
    return path
