"""Do the tools that an export is for take it? tsc and react-dom a package, `@iconify/utils` its JSON."""

import json
import subprocess
from pathlib import Path

import pytest
from node_packages import node_modules

from indexer.rendering.render import draw
from search.drawings.collection import Collection
from search.drawings.drawn import Look
from search.drawings.export import Exported, Options, export
from search.engine import SearchEngine

pytestmark = pytest.mark.slow
SERVED = """
import {{ createElement, createRef }} from "react";
import {{ renderToStaticMarkup }} from "react-dom/server";
import * as icons from "./dist/index.js";
const ref = createRef();
const one = (name, props) => renderToStaticMarkup(createElement(icons[name], {{ ref, ...props }}));
const names = {names};
console.log(JSON.stringify({{
  exported: Object.keys(icons),
  plain: Object.fromEntries(names.map((name) => [name, one(name, {{}})])),
  dressed: one(names[0], {{ size: 32, color: "navy", "aria-label": "mine", className: "big" }}),
}}));
"""
READ = """
import {{ readFileSync }} from "node:fs";
import {{ validateIconSet, getIconData, iconToSVG, iconToHTML, parseIconSet }} from "@iconify/utils";
const set = validateIconSet(JSON.parse(readFileSync("{file}", "utf8")));
const names = parseIconSet(set, () => {{}});
const html = (name) => {{
  const {{ attributes, body }} = iconToSVG(getIconData(set, name));
  return iconToHTML(body, attributes);
}};
const icons = Object.fromEntries(names.map((name) => [name, html(name)]));
console.log(JSON.stringify({{ prefix: set.prefix, icons }}));
"""


def unfolded(exported: Exported, folder: Path) -> Path:
    """An export on disk, beside the npm packages."""
    for name, content in exported.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "node_modules").symlink_to(node_modules())
    return folder


def run_node(folder: Path, script: str) -> dict[str, dict[str, str]]:
    (folder / "asked.mjs").write_text(script)
    done = subprocess.run(["node", "asked.mjs"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_package_compiles_and_its_components_draw_the_icons(
    engine: SearchEngine, lucide: tuple[str, ...], tmp_path: Path
) -> None:
    keys = ("plain:house", "plain:House", "colours:sunrise", "colours:knot", "shared:ghost", "traps:trap", *lucide[:20])
    folder = unfolded(export(engine, Collection("my icons", keys), "react"), tmp_path / "package")
    compile_command = ["node", "node_modules/typescript/bin/tsc"]
    compiled = subprocess.run(compile_command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert compiled.returncode == 0, compiled.stdout
    names = {"PlainHouse": keys[0], "PlainHouse2": keys[1], "ColoursSunrise": keys[2], "ColoursKnot": keys[3]}
    served = run_node(folder, SERVED.format(names=json.dumps(list(names))))
    assert len(served["exported"]) == len(keys)
    for name, key in names.items():
        assert_drawn_as(engine, key, served["plain"][name])
        assert 'aria-hidden="true"' in served["plain"][name]
    parts = ['width="32"', 'height="32"', 'color="navy"', 'aria-label="mine"', 'class="big"', 'fill="currentColor"']
    assert [part for part in parts if part not in served["dressed"]] == []
    assert "aria-hidden" not in served["dressed"]


def assert_drawn_as(engine: SearchEngine, key: str, svg: str) -> None:
    drawn = draw(svg.replace('"1em"', '"24"').encode(), size=64)
    assert (drawn == draw(engine.picture(engine.find(key)), size=64)).all(), key


@pytest.mark.parametrize("prefix", [None, "app"])
def test_iconify_reads_the_json_and_draws_the_same(engine: SearchEngine, tmp_path: Path, prefix: str | None) -> None:
    keys = ("colours:sunrise", "colours:sunset", "colours:knot", "colours:sheet-red")
    exported = export(engine, Collection("x", keys), "iconify", Options(prefix=prefix))
    assert exported.main == f"{prefix or 'colours'}.json"
    read = run_node(unfolded(exported, tmp_path / "json"), READ.format(file=exported.main))
    assert list(read["icons"]) == [key.replace(":", "-") if prefix else key.split(":")[1] for key in keys]
    for svg, key in zip(read["icons"].values(), keys, strict=True):
        assert_drawn_as(engine, key, svg)


def test_components_take_the_size_and_the_stroke_that_were_asked_for(engine: SearchEngine) -> None:
    options = Options(look=Look(size=20, stroke_width=1.5, colour="#08f"))
    exported = export(engine, Collection("x", ("lucide-static:bell",)), "react", options)
    source = exported.files["src/icons/lucide-static-bell.tsx"].decode()
    parts = ("({ size = 20, ...props }, ref)", 'strokeWidth="1.5"', 'stroke="#08f"')
    assert [part for part in parts if part not in source] == []
