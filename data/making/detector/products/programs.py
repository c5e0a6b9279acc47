"""How is a product run that is a program? Node-RED and JupyterLab on the loopback; a site that MkDocs builds."""

import json
import os
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from indexer.errors import SourceError

_PATIENCE_SECONDS = 90
_PICTURES = re.compile(r"!\[[^\]]*\]\([^)]*\)|<img[^>]*>")
"""Of Markdown: those of a README lie elsewhere."""


@contextmanager
def node_red(packages: Path, aside: Path) -> Iterator[str]:
    """Run Node-RED with a flow of some nodes."""
    port = _free_port()
    (aside / "flows.json").write_text(json.dumps(_FLOW), "utf-8")
    (aside / "settings.js").write_text(_NODE_RED_SETTINGS, "utf-8")
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
    (work / "analysis.ipynb").write_text(json.dumps(_NOTEBOOK), "utf-8")
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
    (docs / "index.md").write_text(_FIRST_PAGE, "utf-8")
    (aside / "mkdocs.yml").write_text(_MKDOCS, "utf-8")
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


_NODE_RED_SETTINGS = """
module.exports = { uiHost: '127.0.0.1', flowFile: 'flows.json', credentialSecret: false,
  editorTheme: { tours: false, projects: { enabled: false } },
  telemetry: { enabled: false, updateNotification: false } }
"""
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
_CELLS = ("import numpy", "values = numpy.linspace(0, 1, 50)", "values.mean()")
_NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Analysis\nWhat was measured in a week."},
        *(
            {
                "cell_type": "code",
                "id": f"c{at}",
                "metadata": {},
                "source": line,
                "outputs": [],
                "execution_count": None,
            }
            for at, line in enumerate(_CELLS)
        ),
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
_FIRST_PAGE = """# Packages

Notes of several packages, side by side.

!!! note "Before you begin"
    Read what each package needs.

!!! warning
    Versions differ.

!!! tip
    Pin them.

??? question "Which one?"
    The one that fits.

- :material-account-circle: people, :material-heart: what they like
- :fontawesome-solid-cloud: where it runs, :octicons-gear-16: how it is set up

| package | kind |
|---|---|
| uikit | components |
| admin-lte | :material-check: template |

[Start](uikit.md){ .md-button } [:material-download: Download](admin-lte-3.md){ .md-button .md-button--primary }

```python
print("hello")
```
"""
_MKDOCS = """
site_name: Packages
repo_url: https://github.com/uikit/uikit
repo_name: uikit/uikit
edit_uri: edit/main/docs/
theme:
  name: material
  font: false
  features: [navigation.tabs, navigation.footer, content.code.copy, content.action.edit, content.action.view]
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
      primary: indigo
      toggle: { icon: material/brightness-7, name: Dark }
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      primary: teal
      toggle: { icon: material/brightness-4, name: Light }
extra:
  social:
    - { icon: fontawesome/brands/github, link: https://github.com/ }
    - { icon: fontawesome/brands/mastodon, link: https://joinmastodon.org/ }
markdown_extensions:
  - admonition
  - attr_list
  - pymdownx.details
  - pymdownx.superfences
  - pymdownx.emoji:
      emoji_index: !!python/name:material.extensions.emoji.twemoji
      emoji_generator: !!python/name:material.extensions.emoji.to_svg
"""
