"""Code as written compiles, and names what packages export."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from drawn_icons import MORE, SAMPLES, drawing
from node_packages import node_modules

from data.making.exports import exports_of, icons_of, run_node
from indexer.errors import IconsError
from indexer.sources.iconify import build_svg, resolve_icon
from search.drawings.frameworks import AS_IT_IS, FRAMEWORKS, Framework, Look, NamedIcon, exported, framework
from search.drawings.write import laid_out, write

_N_OF_A_SET = 40
_LOOKS = (AS_IT_IS, Look(size=20, colour="#08f", stroke_width=1.5, corner="sharp"))
_CONFIG = {
    "compilerOptions": {
        **{"jsx": "react-jsx", "strict": True, "noEmit": True, "skipLibCheck": True, "allowJs": True, "types": []},
        **{"module": "esnext", "moduleResolution": "bundler", "target": "es2022"},
    },
    "include": ["*.tsx", "*.jsx"],
}
_ATTACK = "</script></style></template>{{ a }}{@html b}`${c}`\\ &quot; &apos; &#10; --> ]]&gt; */".replace("<", "&lt;")
HARD = (
    drawing(
        f'<title id="{_ATTACK}">{_ATTACK}</title><path class="{_ATTACK}" aria-label="{_ATTACK}" '
        f'style="--a:&quot;}}{{&lt;/style>&quot;" fill="{_ATTACK}" d="M0 0"/>',
        name="SVGProps",
    ),
    drawing("<text>{{ a }} {b} `${c}` &lt;/template&gt; ]]&gt;</text>", name="text"),
    drawing('<g style="--a:1;mix-blend-mode:multiply"><path style="fill:red" d="M0 0"/></g>', name="style"),
    drawing('<mask id="m" mask-type="alpha"/><path transform-origin="1 1" stroke-linejoin="arcs" d=""/>', name="mask"),
    drawing("<style>.a{fill:red}</style><path class='a' data-x='1' aria-label='b' d='M0 0'/>", name="sheet"),
    drawing(
        '<linearGradient id="g"><stop stop-color="#f00" offset="0"/></linearGradient><path fill="url(#g)" d="M0 0">'
        '<animate attributeName="d" dur="1s" repeatCount="indefinite" values="M0 0;M1 1"/></path>',
        name="moves",
    ),
    NamedIcon("own:old", "own", "old", f'<svg xmlns="http://www.w3.org/2000/svg"{MORE} version="1.1" id="a" '
    'xml:space="preserve" style="enable-background:new 0 0 9 9"><g id="b"/></svg>'.encode()),
)  # fmt: skip


@pytest.fixture(scope="module")
def modules() -> Path:
    return node_modules()


def icons_for(one: Framework, modules: Path) -> Iterator[NamedIcon]:
    """Real icons of a framework's sets; those of any set are samples, and hard ones."""
    if not one.sets:
        yield from (NamedIcon(f"lucide:{file.stem}", "lucide", file.stem, file.read_bytes()) for file in _samples())
        if one.needs_svg:
            yield from HARD
    for prefix in one.sets:
        if (modules / "@iconify-json" / prefix).is_dir():
            whole = json.loads((modules / "@iconify-json" / prefix / "icons.json").read_text("utf-8"))
            for name, _ in islice(icons_of(prefix, modules), 0, None, max(1, len(whole["icons"]) // _N_OF_A_SET)):
                yield NamedIcon(f"{prefix}:{name}", prefix, name, build_svg(resolve_icon(whole, name)[0]))


def _samples() -> list[Path]:
    return sorted(SAMPLES.glob("*.svg"))[:: 2176 // 200]


def codes_of(one: Framework, modules: Path) -> Mapping[str, str]:
    """Code by key: of each icon alone in both looks, and of all together."""
    found, good = {}, []
    for icon in icons_for(one, modules):
        try:
            for number, look in enumerate(_LOOKS):
                found[f"{icon.key} {number}"] = write([icon], one, look).code
        except IconsError as error:
            assert "not exported" in str(error) or "Vue" in str(error), icon.key
        else:
            good.append(icon)
    assert len(good) >= 30, one.name
    if one.form != "drawn":
        snippet = write(good, one, AS_IT_IS)
        remarks = ["it's {a} `need` */ -->"] * len(snippet.uses)
        body = laid_out("" if one.language == "tsx" else snippet.imports, snippet.uses, one, remarks=remarks)
        whole = f"{snippet.imports}\n\nexport const all = <>\n{body}\n</>;"
        found["all"] = whole if one.language == "tsx" else body
    return found


@pytest.mark.slow
def test_components_of_react_are_what_typescript_takes(modules: Path) -> None:
    folder = modules.parent / "compiled-tsx"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for one in FRAMEWORKS.values():
        codes = codes_of(one, modules).values() if one.language in ("tsx", "jsx") else ()
        for number, code in enumerate(codes):
            is_use = one.form != "drawn" and "export const" not in code
            imports, _, use = code.partition("\n\n")
            text = f"{imports}\n\nexport const used = {use};\n" if is_use else f"{code}\n"
            name = one.name.replace("/", "-").strip("@")
            (folder / f"{name}-{number}.{one.language}").write_text(text, "utf-8")
    assert len(list(folder.iterdir())) > 1_500
    (folder / "tsconfig.json").write_text(json.dumps(_CONFIG))
    command = [modules / ".bin" / "tsc", "-p", folder]
    done = subprocess.run(command, cwd=modules.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]


_VUE = """
import { parse, compileScript, compileTemplate } from "@vue/compiler-sfc";
const check = (code) => {
  const { descriptor, errors } = parse(code);
  const found = [...errors];
  if (descriptor.scriptSetup) compileScript(descriptor, { id: "x" });
  const done = compileTemplate({ source: descriptor.template.content, filename: "a.vue", id: "x" });
  return [...found, ...done.errors, ...done.tips];
};
"""
_SVELTE = """
import { compile } from "svelte/compiler";
const check = (code) => compile(code, { filename: "A.svelte" }).warnings;
"""
_HTML = """
import { parseFragment } from "parse5";
const check = (code) => {
  const found = [];
  parseFragment(code, { onParseError: (error) => found.push(error.code) });
  return found;
};
"""
_UNOCSS = """
import { createGenerator } from "@unocss/core";
import { presetIcons } from "@unocss/preset-icons";
import { readFileSync as read } from "node:fs";
const load = (prefix) => async () => JSON.parse(read(`node_modules/@iconify-json/${prefix}/icons.json`, "utf8"));
const collections = { lucide: load("lucide"), "fa6-solid": load("fa6-solid") };
const uno = await createGenerator({ presets: [presetIcons({ collections })] });
const check = async (code) => {
  const classes = [...code.matchAll(/class="([^"]+)"/g)].map((found) => found[1]);
  const { matched, css } = await uno.generate(code, { preflights: false });
  return classes.filter((one) => !matched.has(one) || !css.includes("--un-icon"));
};
"""
_ALL = """
import { readFileSync } from "node:fs";
const bad = {};
for (const [key, code] of Object.entries(JSON.parse(readFileSync(process.argv[1], "utf8")))) {
  try {
    const found = await check(code);
    if (found.length) bad[key] = String(found[0]);
  } catch (error) {
    bad[key] = String(error);
  }
}
console.log(JSON.stringify(bad));
"""


def refused(script: str, codes: Mapping[str, str], modules: Path, tmp_path: Path) -> dict[str, str]:
    """What a compiler says of code that it does not take, warnings included."""
    file = tmp_path / "codes.json"
    file.write_text(json.dumps(codes), "utf-8")
    return json.loads(run_node(script + _ALL, str(file), modules=modules))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [one.name for one in FRAMEWORKS.values() if one.language in ("vue", "svelte", "html", "svg")]
)
def test_code_is_what_its_compiler_takes(name: str, modules: Path, tmp_path: Path) -> None:
    one = framework(name)
    script = {"vue": _VUE, "svelte": _SVELTE, "html": _HTML, "svg": _HTML}[one.language]
    assert refused(script, codes_of(one, modules), modules, tmp_path) == {}


@pytest.mark.slow
def test_unocss_knows_every_class(modules: Path, tmp_path: Path) -> None:
    there = {f"lucide:{name}" for name, _ in icons_of("lucide", modules)}  # a sample may be newer
    codes = {key: code for key, code in codes_of(framework("unocss"), modules).items() if key.split()[0] in there}
    assert len(codes) > 300
    dashed = NamedIcon("fa6-solid:house-user", "fa6-solid", "house-user", None)
    codes["dashed"] = write([dashed], framework("unocss"), AS_IT_IS).code
    assert refused(_UNOCSS, codes, modules, tmp_path) == {}
    no_icon = replace(dashed, name="no-such-icon")
    assert refused(_UNOCSS, {"none": write([no_icon], framework("unocss"), AS_IT_IS).code}, modules, tmp_path)


_PACKAGES = [one.name for one in FRAMEWORKS.values() if one.family]


@pytest.mark.slow
@pytest.mark.parametrize("name", _PACKAGES)
def test_every_icon_of_a_set_is_imported_by_a_name_that_its_package_exports(name: str) -> None:
    modules, one = node_modules(), framework(name)
    refused = written = 0
    for prefix in one.sets:
        if not (modules / "@iconify-json" / prefix).is_dir():
            continue
        for icon, _ in icons_of(prefix, modules):
            try:
                export = exported(NamedIcon(f"{prefix}:{icon}", prefix, icon, None), one)
            except IconsError:
                refused += 1
                continue
            if export.name not in exports_of(export.module, modules) and not _is_newer(
                one.family, export.name, modules
            ):
                pytest.fail(f"{name}: {prefix}:{icon} is not {export.name}")
            written += 1
    assert written > 300 and refused <= 0.02 * written


def _is_newer(family: str, name: str, modules: Path) -> bool:
    """Whether the package that is released first exports a name: those for other frameworks follow with theirs."""
    first = {"lucide": "lucide-react", "tabler": "@tabler/icons-react"}.get(family)
    return first is not None and name in exports_of(first, modules)
