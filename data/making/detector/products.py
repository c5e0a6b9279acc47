"""Real products, rendered from their packages, to measure on: which they are stands in product_files/products.toml.

Packages lie aside, in a folder of their own. A page is shown in a window of a given size, and all but the product's
own files are refused. Node-RED and JupyterLab run on the loopback; MkDocs builds a site.
"""

import io
import json
import mimetypes
import os
import re
import shutil
import socket
import subprocess
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import numpy as np
from PIL import Image

from data.making.detector.browser import Browser, open_chromium, painted_icons
from data.making.detector.page import Viewport
from data.making.detector.product_icons import FAMILIES, Namer, Rules, mark_icons, show_icons
from data.making.detector.render import ScreenWriter
from indexer.arrays import Pixels
from indexer.errors import SourceError
from indexer.library.durable import write_file
from search.evaluation.screens import Screen

BESIDE = Path(__file__).with_name("product_files")
ORIGIN = "http://product.test/"
"""No such host exists: the browser is answered before it looks for one."""
Theme = Literal["light", "dark"]
Program = Literal["files", "node-red", "jupyter-lab", "mkdocs"]


@dataclass(frozen=True, slots=True)
class View:
    """One screen of a product: the first view of a page, in a theme, at a scale."""

    path: str
    theme: Theme = "light"
    scale: float = 1
    before: str = ""
    """JavaScript that runs before the page's own."""
    script: str = ""
    """JavaScript that runs in the page once it is loaded, such as opening a menu."""
    waits_for: str = ""
    """A selector: the page is there when it matches."""
    seconds: float = 3


@dataclass(frozen=True, slots=True)
class Product:
    """A product, what it is installed from, and what its pages are."""

    name: str
    packages: tuple[str, ...]
    """As npm or pip are told."""
    views: tuple[View, ...]
    rules: Rules = field(default_factory=Rules)
    families: tuple[str, ...] = ()
    """Icon fonts, by `product_icons.FAMILIES`."""
    sets: tuple[str, ...] = ()
    """Prefixes of the sets that its SVGs may be of; those of its fonts come with them."""
    places: Mapping[str, str] = field(default_factory=dict)
    """As `Files.places`."""
    texts: Mapping[str, str] = field(default_factory=dict)
    program: Program = "files"


@cache
def read_products() -> tuple[Product, ...]:
    """Read which products there are."""
    return tuple(map(_product, tomllib.loads((BESIDE / "products.toml").read_text("utf-8"))["product"]))


def _product(facts: dict[str, Any]) -> Product:
    lists: dict[str, Any] = {name: tuple(facts[name]) for name in ("packages", "families", "sets") if name in facts}
    addresses = {
        name: {ORIGIN + address: held for address, held in facts.get(name, {}).items()} for name in ("places", "texts")
    }
    views, rules = tuple(View(**view) for view in facts["views"]), Rules(**facts.get("rules", {}))
    read: dict[str, Any] = {**facts, **lists, **addresses, "views": views, "rules": rules}
    return Product(**read)


def install_lines(packages: Path) -> list[str]:
    """The commands that install all products into a folder: npm's, and those of a virtual environment beside them."""
    needed = sorted({package for product in read_products() for package in product.packages})
    npm, python = ([one for one in needed if ("==" in one) == is_python] for is_python in (False, True))
    return [
        f"npm install --prefix {packages} --ignore-scripts --no-audit --legacy-peer-deps {' '.join(npm)}",
        f"python -m venv {packages}/venv",
        f"{packages}/venv/bin/pip install -q {' '.join(python)}",
    ]


@dataclass  # without slots: playwright keeps a note on whatever answers it
class Files:
    """Answers a browser's requests from files. `places`: beginnings of addresses -> folders below `packages`."""

    packages: Path
    places: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    """Whole addresses -> what they say: what a package leaves to its own tools to make."""
    live: str = ""
    """The address of a program of this machine that answers for itself."""
    refused: list[str] = field(default_factory=list)

    def answer(self, route: Any) -> None:
        """Answer one request of playwright's."""
        address = str(route.request.url)
        whole = re.sub(r"[?#].*", "", address)
        of_this_page = (self.live,) if self.live else ()
        if address.startswith((*of_this_page, "data:", "blob:", "about:")):
            route.continue_()
        elif whole in self.texts:
            route.fulfill(body=self.texts[whole], content_type=_kind_of(whole))
        elif (path := self.find(whole)) is not None:
            route.fulfill(path=path, content_type=_kind_of(path.name))
        else:
            self.refused.append(address)
            route.abort()

    def find(self, address: str) -> Path | None:
        """The file of an address, by the longest beginning that is known."""
        for start in sorted(self.places, key=len, reverse=True):
            if address.startswith(start):
                folder = (self.packages / self.places[start]).resolve()
                path = (folder / unquote(urlsplit(address[len(start) :]).path)).resolve()
                return path if path.is_relative_to(self.packages.resolve()) and path.is_file() else None
        return None


def _kind_of(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


_PATIENCE_SECONDS = 90
_PICTURES = re.compile(r"!\[[^\]]*\]\([^)]*\)|<img[^>]*>")
"""Of Markdown: those of a README lie elsewhere."""


@contextmanager
def node_red(packages: Path, aside: Path) -> Iterator[str]:
    """Run Node-RED with a flow of some nodes."""
    port = _free_port()
    (aside / "flows.json").write_text(json.dumps(_FLOW), "utf-8")
    shutil.copy(BESIDE / "node-red.js", aside / "settings.js")
    script = packages / "node_modules/node-red/red.js"
    command = ["node", str(script), "--userDir", str(aside), "-p", str(port), str(aside / "flows.json")]
    with _running(command, f"http://127.0.0.1:{port}/", aside):
        yield f"http://127.0.0.1:{port}/"


@contextmanager
def jupyter_lab(packages: Path, aside: Path) -> Iterator[str]:
    """Run JupyterLab over a folder with a notebook."""
    port = _free_port()
    work = aside / "work"
    (work / "data").mkdir(parents=True)
    (work / "measurements.csv").write_text("day,seconds\n1,20\n2,31\n", "utf-8")
    (work / "notes.md").write_text("# Notes\n\nRead the measurements first.\n", "utf-8")
    shutil.copy(BESIDE / "analysis.ipynb", work)
    flags = ["--ServerApp.token=", "--ServerApp.password=", "--no-browser", "--allow-root", f"--port={port}"]
    folders = {"HOME": str(aside), "JUPYTER_CONFIG_DIR": str(aside / "config"), "JUPYTER_DATA_DIR": str(aside / "data")}
    command = [
        str(packages / "venv/bin/jupyter-lab"),
        *flags,
        f"--ServerApp.root_dir={work}",
        "--ServerApp.ip=127.0.0.1",
    ]
    with _running(command, f"http://127.0.0.1:{port}/lab", aside, folders):
        yield f"http://127.0.0.1:{port}/"


def build_site(packages: Path, aside: Path) -> Path:
    """Let MkDocs build the READMEs of some packages as a site in the look of Material; return its folder."""
    docs = aside / "docs"
    docs.mkdir()
    for name in ("node-red", "uikit", "startbootstrap-sb-admin-2", "admin-lte-3"):
        try:
            text = (packages / "node_modules" / name / "README.md").read_text("utf-8")
        except FileNotFoundError as error:
            raise SourceError(
                f'"{error.filename}" is not there; `python -m data.making.detector products --install | sh` installs it'
            ) from error
        (docs / f"{name}.md").write_text(_PICTURES.sub("", text), "utf-8")
    shutil.copy(BESIDE / "index.md", docs)
    shutil.copy(BESIDE / "mkdocs.yml", aside)
    command = [str(packages / "venv/bin/mkdocs"), "build", "-q", "-f", str(aside / "mkdocs.yml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SourceError(f"mkdocs: {done.stderr.strip()[-300:]}")
    return aside / "site"


@contextmanager
def _running(
    command: Sequence[str], address: str, aside: Path, environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    log = aside / "program.log"
    with log.open("wb") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written, env={**os.environ, **(environment or {})})
        try:
            _wait_for(address, process, log)
            yield
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SourceError(f'"{address}" does not answer: {log.read_text("utf-8", "replace")[-300:]}')


def _free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


_KINDS = (
    *("inject", "debug", "change", "switch", "function", "template", "delay", "http request", "json", "file", "split"),
    *("join", "mqtt in", "comment", "catch", "link in", "csv", "exec"),
)
_FLOW = [
    {"id": "tab", "type": "tab", "label": "Readings"},
    *(
        {"id": f"n{at}", "type": kind, "z": "tab", "x": 160 + 190 * (at % 4), "y": 80 + 70 * (at // 4), "wires": [[]]}
        for at, kind in enumerate(_KINDS)
    ),
]


_LOAD_SECONDS = 60
_MOST_PICTURES = 30
_LEAST_CHANGE = 24
"""Of 255: the contrast at which `data.making.detector.browser` sees an icon."""
_MOST_CHANGED = 32
"""Pixels, such as those at the rim of a round portrait."""


@contextmanager
def open_window(chromium: Any, files: Files, view: View, *, viewport: Viewport) -> Iterator[Browser]:
    """Open a product's page, do what its view says, and wait until it stands still."""
    context = chromium.new_context(device_scale_factor=1, service_workers="block")
    try:
        page = context.new_page()
        page.route("**/*", files.answer)
        if files.live:
            page.route_web_socket("**/*", _pass_on(files.live))
        page.emulate_media(color_scheme=view.theme, reduced_motion="reduce")
        browser = Browser.of(page)
        browser.resize(viewport)
        if view.before:
            page.add_init_script(view.before)
        page.goto((files.live or ORIGIN) + view.path, wait_until="load", timeout=_LOAD_SECONDS * 1000)
        if view.waits_for:
            page.wait_for_selector(view.waits_for, timeout=_LOAD_SECONDS * 1000)
        if view.script:
            page.evaluate(view.script)
        time.sleep(view.seconds)  # charts grow and panes slide in; no event tells when they are there
        page.evaluate("() => document.fonts.ready.then(() => 0)")
        yield browser
    finally:
        context.close()


def wait_until_still(browser: Browser) -> None:
    """Wait until two pictures, a second apart, are the same, or half a minute is over."""
    before = browser.pixels()
    for _ in range(_MOST_PICTURES):
        time.sleep(1)
        after = browser.pixels()
        if are_alike(before, after):
            return
        before = after


def are_alike(one: Pixels, other: Pixels) -> bool:
    """Whether two pictures differ by no more than edges that Chromium has smoothed anew."""
    change = (np.maximum(one, other) - np.minimum(one, other)).max(axis=2)
    return int((change >= _LEAST_CHANGE).sum()) <= _MOST_CHANGED


def _pass_on(live: str) -> Callable[[Any], None]:
    """Let the product's own program alone speak through web sockets."""

    def pass_on(opened: Any) -> None:
        if opened.url.startswith(live.replace("http", "ws", 1)):
            opened.connect_to_server()
        else:
            opened.close()

    return pass_on


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
    write_file(out / FACTS, json.dumps([_facts(product) for product in read_products()], indent=1).encode())
    return list(writer.done.values())


def _screens_of(product: Product) -> list[tuple[str, View]]:
    return [(f"{product.name}-{at}.png", view) for at, view in enumerate(product.views)]


def _line(screen: Screen, files: Files) -> str:
    named = sum(bool(icon.key) for icon in screen.icons)
    return f"{screen.file}: {len(screen.icons)} icons, {named} named, {len(files.refused)} requests refused"


def _chosen(only: Sequence[str]) -> list[Product]:
    names = [product.name for product in read_products()]
    if unknown := set(only).difference(names):
        raise SourceError(f'no product "{min(unknown)}"; there are {", ".join(names)}')
    return [product for product in read_products() if not only or product.name in only]


def _facts(product: Product) -> dict[str, object]:
    """What whoever measures needs: which sets name a product's icons, from where it is."""
    prefixes = {prefix for family in product.families for prefix in FAMILIES[family].values()}
    return {"name": product.name, "packages": product.packages, "sets": sorted({*prefixes, *product.sets})}


@contextmanager
def _files(product: Product, packages: Path) -> Iterator[Files]:
    with TemporaryDirectory(prefix="icons-product-") as made:
        aside = Path(made).resolve()
        if product.program == "node-red":
            with node_red(packages, aside) as address:
                yield Files(packages, {}, live=address)
        elif product.program == "jupyter-lab":
            with jupyter_lab(packages, aside) as address:
                yield Files(packages, {}, live=address)
        elif product.program == "mkdocs":
            yield Files(build_site(packages, aside), {ORIGIN: "."})
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
