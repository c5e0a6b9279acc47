"""How do products become screens? Page by page, with the painted box and the key of each icon."""

import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from data.making.detector.browser import open_chromium, painted_icons
from data.making.detector.page import Viewport
from data.making.detector.products import programs
from data.making.detector.products.files import ORIGIN, Files
from data.making.detector.products.marking import mark_icons, show_icons
from data.making.detector.products.naming import FAMILIES, Namer
from data.making.detector.products.table import PRODUCTS, Product, View
from data.making.detector.products.windows import are_alike, open_window, wait_until_still
from data.making.detector.render import ScreenWriter
from indexer.arrays import Pixels
from indexer.errors import SourceError
from indexer.library.durable import write_file
from search.evaluation.prepared_screens import Screen

WIDTH, HEIGHT = 1440, 900
FACTS = "products.json"
_TRIES = 4
"""A page that changes while it is measured is opened anew."""


def render_products(
    packages: Path, *, icons: Path, out: Path, only: Sequence[str] = (), tell: Callable[[str], None]
) -> list[Screen]:
    """Render the views of products into a folder; each of its screens says which product it is of.

    Raises:
        SourceError: a package is not installed, or a program does not run.
        RenderError: there is no browser.
    """
    products = _chosen(only)
    writer = ScreenWriter(out)
    with open_chromium() as chromium:
        for product in products:
            if missing := [view for view in _screens_of(product) if view[0] not in writer.done]:
                namer = Namer(icons, families=product.families, sets=product.sets)
                with _files(product, packages) as files:
                    for file, view in missing:
                        screen, pixels = _screen(product, view, file=file, opened=(chromium, files), namer=namer)
                        writer.write(screen, _png(pixels))
                        tell(_line(screen, files))
    write_file(out / FACTS, json.dumps([_facts(product) for product in PRODUCTS], indent=1).encode())
    return list(writer.done.values())


def _screens_of(product: Product) -> list[tuple[str, View]]:
    return [(f"{product.name}-{at}.png", view) for at, view in enumerate(product.views)]


def _line(screen: Screen, files: Files) -> str:
    named = sum(bool(icon.key) for icon in screen.icons)
    return f"{screen.file}: {len(screen.icons)} icons, {named} named, {len(files.refused)} requests refused"


def _chosen(only: Sequence[str]) -> list[Product]:
    unknown = set(only) - {product.name for product in PRODUCTS}
    if unknown:
        raise SourceError(f'no product "{min(unknown)}"; there are {", ".join(product.name for product in PRODUCTS)}')
    return [product for product in PRODUCTS if not only or product.name in only]


def _facts(product: Product) -> dict[str, object]:
    """What whoever measures needs: which sets name a product's icons, from where it is."""
    prefixes = {prefix for family in product.families for prefix in FAMILIES[family].values()}
    return {"name": product.name, "packages": product.packages, "sets": sorted({*prefixes, *product.sets})}


@contextmanager
def _files(product: Product, packages: Path) -> Iterator[Files]:
    with TemporaryDirectory(prefix="icons-product-") as made:
        aside = Path(made).resolve()
        if product.program == "node-red":
            with programs.node_red(packages, aside) as address:
                yield Files(packages, {}, live=address)
        elif product.program == "jupyter-lab":
            with programs.jupyter_lab(packages, aside) as address:
                yield Files(packages, {}, live=address)
        elif product.program == "mkdocs":
            yield Files(programs.build_site(packages, aside), {ORIGIN: "."})
        else:
            yield Files(packages, product.places, product.texts)


def _screen(
    product: Product, view: View, *, file: str, opened: tuple[Any, Files], namer: Namer
) -> tuple[Screen, Pixels]:
    chromium, files = opened
    for _ in range(_TRIES):
        with open_window(chromium, files, view, viewport=Viewport(WIDTH, HEIGHT, view.scale)) as browser:
            wait_until_still(browser)
            found = mark_icons(browser, product.rules)
            pixels, painted = painted_icons(browser, scale=view.scale)
            show_icons(browser)
            if are_alike(browser.pixels(), pixels):
                break
    else:
        raise SourceError(f'"{view.path}" of {product.name} does not stand still; give its view more seconds')
    own = [icon for icon in painted if icon.key.isdigit()]  # others are the page's own marks, made since
    icons = tuple(replace(icon, key=namer.key(found[int(icon.key)])) for icon in own)
    height, width = pixels.shape[:2]
    return Screen(file, width, height, view.scale, product.name, view.theme, 0, icons), pixels


def _png(pixels: Pixels) -> bytes:
    written = io.BytesIO()
    Image.fromarray(pixels).save(written, "PNG", optimize=True)
    return written.getvalue()
