"""Which products are rendered, from which packages, and how do they mark their icons?

Packages lie aside, in a folder of their own: `python -m data.making.detector products --install` writes the commands.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from data.making.detector.products.files import ORIGIN
from data.making.detector.products.marking import Rules

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
    """Icon fonts, by `naming.FAMILIES`."""
    sets: tuple[str, ...] = ()
    """Prefixes of the sets that its SVGs may be of; those of its fonts come with them."""
    places: Mapping[str, str] = field(default_factory=dict)
    """As `Files.places`."""
    texts: Mapping[str, str] = field(default_factory=dict)
    program: Program = "files"


_ADMIN_LTE_3 = ORIGIN + "plugins/"
_ADMIN_LTE_3_PLUGINS = {
    **{"fontawesome-free": "fontawesome-5", "jquery": "jquery/dist", "bootstrap": "bootstrap/dist"},
    **{"chart.js": "chart.js/dist", "overlayScrollbars": "overlayscrollbars", "icheck-bootstrap": "icheck-bootstrap"},
    **{"jquery-ui": "jquery-ui-dist", "moment": "moment/min", "daterangepicker": "daterangepicker"},
    **{"summernote": "summernote/dist", "sparklines": "sparklines/source", "jquery-knob": "jquery-knob-chif/dist"},
}
_DARK = "document.body.classList.add('dark-mode')"
_GENTELLELA_DARK = "localStorage.setItem('theme', 'dark')"
_UIKIT = """document.write('<link rel="stylesheet" href="../dist/css/uikit.css">'
+ '<script src="../dist/js/uikit.js"><\\/script><script src="../dist/js/uikit-icons.js"><\\/script>')"""
_FONT_AWESOME = ("fontawesome4", "fontawesome5")

PRODUCTS: tuple[Product, ...] = (
    Product(
        "admin-lte-3",
        ("admin-lte-3@npm:admin-lte@3.2.0", "fontawesome-5@npm:@fortawesome/fontawesome-free@5.15.4"),
        (
            View("index.html"),
            View("pages/UI/general.html", "dark", script=_DARK),
            View("pages/mailbox/mailbox.html"),
            View("pages/widgets.html", scale=2),
        ),
        Rules(skip=".brand-link, .custom-switch, canvas"),
        families=("fontawesome5",),
        places={
            ORIGIN: "node_modules/admin-lte-3/",
            **{f"{_ADMIN_LTE_3}{name}/": f"node_modules/{at}/" for name, at in _ADMIN_LTE_3_PLUGINS.items()},
        },
    ),
    Product(
        "admin-lte-2",
        ("admin-lte-2@npm:admin-lte@2.4.18",),
        (View("index2.html"), View("pages/UI/buttons.html"), View("pages/examples/profile.html")),
        Rules(skip=".fa-circle.text-success"),  # a dot: who is here
        families=("fontawesome4",),
        places={ORIGIN: "node_modules/admin-lte-2/"},
    ),
    Product(
        "sb-admin-2",
        ("startbootstrap-sb-admin-2@4.1.4",),
        (View("index.html"), View("buttons.html"), View("cards.html", scale=2)),
        rules=Rules(skip=".fa-circle"),  # legends of charts
        families=("fontawesome5",),
        places={ORIGIN: "node_modules/startbootstrap-sb-admin-2/"},
    ),
    Product(
        "tabler-ui",
        ("tabler-ui@0.0.34",),
        (View("index.html"), View("store.html"), View("form-elements.html"), View("email.html", scale=2)),
        Rules(backgrounds="select, .is-valid, .is-invalid, .state-valid, .state-invalid"),
        families=("feather", "fontawesome4"),
        places={ORIGIN: "node_modules/tabler-ui/dist/"},
    ),
    Product(
        "gentelella",
        ("gentelella@4.2.0",),
        (
            View("production/index.html"),
            View("production/inbox.html", "dark", before=_GENTELLELA_DARK),
            View("production/file_manager.html"),
            View("production/settings.html", "dark", before=_GENTELLELA_DARK, scale=2),
        ),
        Rules(backgrounds="select"),
        sets=("feather", "lucide", "tabler"),
        places={ORIGIN: "node_modules/gentelella/dist/"},
    ),
    Product(
        "uikit",
        ("uikit@3.25.29",),
        (View("tests/icon.html"), View("tests/navbar.html"), View("tests/form.html"), View("tests/article.html")),
        Rules(backgrounds=".uk-select"),
        places={ORIGIN: "node_modules/uikit/"},
        texts={f"{ORIGIN}tests/js/test.js": _UIKIT},
    ),
    Product(
        "node-red",
        ("node-red@4.1.15",),
        (
            View(
                "",
                waits_for="#red-ui-palette .red-ui-palette-node",
                script='RED.actions.invoke("core:toggle-show-tips", false)',  # they change every few seconds
                seconds=6,
            ),
        ),
        Rules(
            skip="#red-ui-sidebar-separator, .red-ui-panels-separator",
            ornaments="#red-ui-palette",  # its grip,
            pictures=".red-ui-flow-node-icon, .red-ui-deploy-button-content img",
            backgrounds=".red-ui-palette-icon",
        ),
        families=("fontawesome4",),
        program="node-red",
    ),
    Product(
        "jupyter-lab",
        ("jupyterlab==4.6.6",),
        (
            View("lab", waits_for=".jp-Launcher", seconds=6),
            View("lab/tree/analysis.ipynb", waits_for=".jp-Notebook", seconds=15),
        ),
        Rules(skip="#jp-MainLogo", pictures=".jp-Launcher-kernelIcon", backgrounds=".jp-collapseHeadingButton"),
        sets=("mdi",),
        program="jupyter-lab",
    ),
    Product(
        "mkdocs-material",
        ("mkdocs-material==9.8.1",),
        (View("index.html"), View("uikit/index.html"), View("index.html", "dark", scale=2)),
        sets=("fa7-brands", "octicon", "fa7-solid", "mdi"),
        program="mkdocs",
    ),
)


def install_lines(packages: Path) -> list[str]:
    """The commands that install all products into a folder: npm's, and those of a virtual environment beside them."""
    needed = sorted({package for product in PRODUCTS for package in product.packages})
    npm, python = ([one for one in needed if ("==" in one) == is_python] for is_python in (False, True))
    return [
        f"npm install --prefix {packages} --ignore-scripts --no-audit --legacy-peer-deps {' '.join(npm)}",
        f"python -m venv {packages}/venv",
        f"{packages}/venv/bin/pip install -q {' '.join(python)}",
    ]
