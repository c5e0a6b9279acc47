"""npm packages of icons: their pictures, with name, version and licence, and what each package says about them.

Known packages stand in `PACKAGES`. Any other package is read as a plain folder of pictures. A reader of tags takes what
a file holds, JSON or the text of JavaScript, CSV or YAML, and returns what is said, keyed by the icon's path within its
tree of SVGs or by its file name, without the suffix.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.errors import SourceError
from indexer.languages.words import first_few
from indexer.sources.folders import SUFFIXES, Exclusion, find_pictures, reason_of, record_in, scan_picture
from indexer.sources.records import (
    MAX_TEXT,
    UNREAD,
    FileScan,
    IconSet,
    Record,
    as_object,
    as_words,
    is_unicode,
    load_facts,
    name_of,
    read_regular,
    stamp_of,
    to_text,
)


@dataclass(frozen=True, slots=True)
class About:
    """What a package says about one icon; `name` where the file name is only a code."""

    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    name: str | None = None

    def joined(self, other: "About") -> "About":
        """Add what another file says about the same icon."""
        return About(
            clean((*self.tags, *other.tags)), clean((*self.categories, *other.categories)), self.name or other.name
        )


TagReader = Callable[[Any], dict[str, About]]


def listed(name: str, *words: str, categories: str = "", apart: Iterable[str] = ()) -> TagReader:
    """Make a reader of icons in a list, or by name in an object; `name` and `words` are keys of each.

    Under `words` stand lists, or text with commas. What is `apart` stands among them and says nothing of an icon.
    """
    dropped = {*apart, ""}

    def read(icons: Any) -> dict[str, About]:
        icons = icons["icons"] if isinstance(icons, dict) and isinstance(icons.get("icons"), list) else icons
        rows = icons.items() if isinstance(icons, dict) else ((icon[name], icon) for icon in icons)
        found: dict[str, About] = {}
        for key, icon in rows:
            said = [word for field in words for word in _several(icon.get(field))]
            about = About(clean(word for word in said if word not in dropped), clean(_several(icon.get(categories))))
            found[key] = found[key].joined(about) if key in found else about
        return found

    return read


def lucide(icons: Any) -> dict[str, About]:
    """Name -> tags."""
    return {name: About(clean(tags)) for name, tags in icons.items()}


def material(icons: Any) -> dict[str, About]:
    """What is called tags there are categories, and the aliases are what one would search."""
    return {icon["name"]: About(clean(map(spaced, icon["aliases"])), clean(icon["tags"])) for icon in icons}


def carbon(metadata: Any) -> dict[str, About]:
    """Aliases, category and subcategory of each file."""
    return {
        asset["filepath"].removesuffix(".svg"): About(
            clean([icon.get("friendlyName", ""), *icon.get("aliases", ())]),
            clean([icon.get("category", ""), icon.get("subcategory", "")]),
        )
        for icon in metadata["icons"]
        for asset in icon["assets"]
    }


def font_awesome(icons: Any) -> dict[str, About]:
    """Search terms, the label and former names."""
    found: dict[str, About] = {}
    for name, icon in icons.items():
        aliases = icon.get("aliases", {}).get("names", ())
        found[name] = About(clean([icon.get("label", ""), *icon["search"]["terms"], *map(spaced, aliases)]))
        # Some versions ship the picture once more under each former name.
        found.update({alias: found[name] for alias in aliases if alias not in found})
    return found


def openmoji(emojis: Any) -> dict[str, About]:
    """Files are called by code points, the annotation is the name."""
    return {
        emoji["hexcode"]: About(
            clean([emoji["emoji"], *emoji["tags"].split(","), *emoji["openmoji_tags"].split(",")]),
            clean([spaced(emoji["group"]), spaced(emoji["subgroups"])]),
            *clean([emoji["annotation"]]),
        )
        for emoji in emojis
    }


def healthicons(icons: Any) -> dict[str, About]:
    """Title and tags; some tags are names in another program, "dhis2:war"."""
    return {
        icon["path"]: About(
            clean([icon["title"], *(tag for tag in icon["tags"] if ":" not in tag)]), (icon["category"],)
        )
        for icon in icons
    }


def _several(value: object) -> list[Any]:
    """Take a list, or text with commas between."""
    return value if isinstance(value, list) else [part.strip() for part in str(value or "").split(",")]


def spaced(name: str) -> str:
    """Spell a name as words."""
    return name.replace("-", " ")


def clean(words: Iterable[object]) -> tuple[str, ...]:
    """Strip words, drop repetitions, empty ones and those too long to be words, keep their order."""
    spelled = (str(word).encode(errors="replace").decode().strip() for word in words)
    return tuple(dict.fromkeys(word for word in spelled if 0 < len(word) <= MAX_TEXT))


def phosphor(code: str) -> dict[str, About]:
    """JavaScript, of which three literals are read."""
    enums = {
        f"{variable}.{key}": json.loads(value)
        for parameter, members, variable in _ENUM.findall(code)
        for key, value in re.findall(rf'\b{parameter}\.(\w+) = ("(?:[^"\\]|\\.)*")', members)
    }
    found = {}
    for icon in _PHOSPHOR_ICON.finditer(code):
        categories = [enums[member] for member in re.findall(r"\w+\.\w+", icon["categories"])]
        alias = [spaced(json.loads(icon["alias"]))] if icon["alias"] else []
        tags = [tag for tag in map(json.loads, _STRING.findall(icon["tags"])) if not tag.startswith("*")]
        found[json.loads(icon["name"])] = About(clean([*alias, *tags]), clean(categories))
    return found


_STRING = re.compile(r'"(?>(?:[^"\\]|\\.){0,500})"')
_ENUM = re.compile(r"\(\((\w+)\) => \((.{0,5000}?), \1\)\)\((\w+) \|\|", re.DOTALL)
_PHOSPHOR_ICON = re.compile(
    rf"\bname: (?P<name>{_STRING.pattern}),\s*pascal_name: {_STRING.pattern},\s*"
    rf"(?:alias: \{{\s*name: (?P<alias>{_STRING.pattern})[^}}]{{0,500}}\}},\s*)?"
    rf"categories: \[(?P<categories>[^\]]{{0,5000}})\],\s*figma_category: [\w.]+,\s*"
    rf"tags: \[(?P<tags>(?:[^\]\"]|{_STRING.pattern}){{0,5000}})\]"
)


def atlaskit(code: str) -> dict[str, About]:
    """JavaScript, of which the keywords are read."""
    said = {
        name: clean(word.strip().strip("'\"") for word in words.split(","))
        for name, words in _ATLASKIT_ICON.findall(code)
    }
    apart = {name: {"icon", "icon-lab", name, name.replace("-", "")} for name in said}
    return {name: About(tuple(word for word in said[name] if word not in apart[name])) for name in said}


_ATLASKIT_ICON = re.compile(r"^  '?([\w-]+)'?: \{\s*keywords: \[([^\]]{0,5000})\]", re.MULTILINE)


def aksel(code: str) -> dict[str, About]:
    """JavaScript around an object; keywords are English and Norwegian."""
    icons = json.loads(code[code.index("{") : code.rindex("}") + 1])
    return listed("id", "keywords", categories="category")(icons)


def grommet(code: str) -> dict[str, About]:
    """JavaScript, names as of components: `AddCircle: ['create', 'plus']`."""
    return {
        re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "-", name).lower(): About(clean(re.findall(r"'([^'\n]{1,100})'", words)))
        for name, words in _GROMMET_ICON.findall(code)
    }


_GROMMET_ICON = re.compile(r"^  (\w+): \[([^\]]{0,5000})\]", re.MULTILINE)


def red_hat(code: str) -> dict[str, About]:
    """YAML, of which the accepted metaphors are read."""
    return {
        name: About(clean(line.strip().removeprefix("- ").strip("\"'") for line in metaphors.splitlines()))
        for name, metaphors in _RED_HAT_ICON.findall(code)
    }


_RED_HAT_ICON = re.compile(
    r"^ +icon: \"?([\w-]+)\"?\n(?:(?! *- name:).*\n){0,20}? +accepted_metaphors:\n((?: +- (?!name:).*\n)+)",
    re.MULTILINE,
)


_USUAL = listed("name", "tags")


@dataclass(frozen=True, slots=True)
class Package:
    """Where a package keeps its icons, and what it says about them."""

    roots: tuple[str, ...]
    """Trees of SVGs; packages ship the same pictures again for other uses, which are left alone."""
    tags_files: tuple[str, ...] = ()
    read_tags: TagReader = _USUAL
    endings: tuple[str, ...] = ()
    """What file names add to the names that tags are kept under."""
    styles: Mapping[str, str] = field(default_factory=dict)
    """Styles of whole roots whose folder's name says something else."""


_MAX_CODE_BYTES = 4_000_000
"""Of what is no JSON: patterns are searched in it, so it has to be short."""


def read_descriptions(package: Package, location: Path, problems: dict[str, Exception]) -> dict[str, About]:
    """Read what a package says about icons; `problems` takes the files that can't be read, a missing one is none."""
    found: dict[str, About] = {}
    for file in package.tags_files:
        try:
            said = _read_tags(package.read_tags, location, file)
        except FileNotFoundError:  # a version that ships no tags
            continue
        except (OSError, SourceError) as error:
            problems[file] = error
            continue
        found.update({key: found.get(key, About()).joined(about) for key, about in said.items()})
    return found


def _read_tags(reader: TagReader, package: Path, file: str) -> dict[str, About]:
    inside = os.path.realpath(package)
    try:
        if file.endswith(".json"):
            return reader(load_facts(package / file, inside=inside))
        found = reader(read_regular(package / file, limit=_MAX_CODE_BYTES, inside=inside).decode())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceError(f"tags in an unknown form: {type(error).__name__}: {error}") from error
    if not found:
        raise SourceError(f"tags in an unknown form: no icons in {file}")
    return found


_SIZES = ("-12", "-16", "-24", "-48", "-96")

PACKAGES = {
    "@adobe/spectrum-css-workflow-icons": Package(("dist/assets/svg", "dist/18", "dist/24")),
    "@ant-design/icons-svg": Package(("inline-svg",)),
    "@atlaskit/icon": Package(("svgs",), ("dist/es2019/metadata-core.js",), atlaskit),
    "@atlaskit/icon-lab": Package(("svgs",), ("dist/es2019/metadata-core.js",), atlaskit),
    "@carbon/icons": Package(("svg",), ("metadata.json",), carbon),
    "@carbon/pictograms": Package(("svg",), ("metadata.json",), carbon),
    "@fortawesome/fontawesome-free": Package(("svgs",), ("metadata/icon-families.json",), font_awesome),
    "@gitlab/svgs": Package(("dist/sprite_icons",), ("dist/icons.meta.json",), listed("", "keywords")),
    "@gravity-ui/icons": Package(("svgs",), ("metadata.json",), listed("svgName", "keywords", categories="categories")),
    "@iconscout/unicons": Package(
        ("svg",),
        tuple(f"json/{style}.json" for style in ("line", "solid", "thinline", "monochrome")),
        listed("name", "tags", categories="category"),
    ),
    "@mdi/svg": Package(("svg",), ("meta.json",), material),
    "@mynaui/icons": Package(
        ("icons", "icons-solid"),
        ("meta.json",),
        listed("", "tags", apart=("ui", "ui symbol", "icon")),
        styles={"icons": "outline", "icons-solid": "filled"},
    ),
    "@navikt/aksel-icons": Package(("dist/svg",), ("dist/metadata.mjs",), aksel),
    "@phosphor-icons/core": Package(
        ("assets",),
        ("dist/index.mjs",),
        phosphor,
        endings=("-bold", "-duotone", "-fill", "-light", "-thin"),
    ),
    "@primer/octicons": Package(("build/svg",), ("build/data.json",), listed("", "keywords"), endings=_SIZES),
    "@rhds/icons": Package(
        ("ui", "standard", "microns"),
        tuple(f"metadata/{icons}.yaml" for icons in ("ui", "standard", "microns")),
        red_hat,
    ),
    "@shopware-ag/meteor-icon-kit": Package(("icons",), ("icons/meta.json",)),
    "@tabler/icons": Package(("icons",), ("icons.json",), listed("", "tags", categories="category")),
    "@vaadin/icons": Package(
        ("assets/svg",), ("assets/vaadin-font-icons.json",), listed("name", "meta", categories="categories")
    ),
    "@vscode/codicons": Package(("src/icons",), ("dist/metadata.json",), listed("", "tags", categories="category")),
    "eos-icons": Package(
        ("svg", "svg-outlined"),
        ("dist/js/eos-icons.json",),
        listed("name", "tags", categories="category", apart=("eos",)),
        styles={"svg-outlined": "outline"},
    ),
    "grommet-icons": Package(("img",), ("es6/metadata.js",), grommet),
    "healthicons": Package(
        ("public/icons/svg/filled", "public/icons/svg/outline"),
        ("public/icons/meta-data.json",),
        healthicons,
        styles={"public/icons/svg/filled": "filled", "public/icons/svg/outline": "outline"},
    ),
    "ionicons": Package(
        ("dist/svg",),
        ("dist/ionicons.json",),
        listed("name", "tags", apart=("outline", "sharp")),
        endings=("-outline", "-sharp"),
    ),
    "lucide-static": Package(("icons",), ("tags.json",), lucide),
    "openmoji": Package(
        ("color/svg", "black/svg"),
        ("data/openmoji.json",),
        openmoji,
        styles={"color/svg": "color", "black/svg": "outline"},
    ),
}


WORDS_ALONE = frozenset(
    ("@blueprintjs/icons", "@icon-park/svg", "@progress/kendo-svg-icons", "@vibe/icons", "emojilib", "proicons")
)
"""Packages that say something of icons, and whose own pictures are no set."""
_RECIPE = "3"
"""Changes whenever the same files give other records, so that they are read again."""
_ANY = Package(("",))
_SVG = frozenset((".svg",))
_NO_ICONS = Exclusion.of(
    ("node_modules/", "*sprite*/", "sprite.svg", "sprites.svg", "*-sprite.svg", "*-sprites.svg", "font/", "fonts/")
)
"""What a package without a table entry ships as SVG beside its icons."""


def scan(location: Path, exclusion: Exclusion, stamps: Mapping[str, str]) -> Iterator[FileScan]:
    """Yield each SVG of a package's trees, in the order of names; see `Source.scan`."""
    icon_set, inside = describe(location), os.path.realpath(location)
    package = PACKAGES.get(icon_set.key, _ANY)
    if not (roots := [root for root in package.roots if (location / root).is_dir()]):
        package, roots = _ANY, [""]
    facts = [location / name for name in ("package.json", *package.tags_files)]
    beside = stamp_of(*(file for file in facts if file.is_file()), recipe=_RECIPE)
    problems: dict[str, Exception] = {}  # its icons are still icons
    descriptions = cache(partial(read_descriptions, package, location, problems))  # once a changed file asks for them

    def record_of(root: str, path: str, digest: bytes) -> Record:
        within = PurePosixPath(path).relative_to(root)
        keys = [str(within.with_suffix("")), within.stem]
        keys += [within.stem.removesuffix(ending) for ending in package.endings if within.stem.endswith(ending)]
        about = next((descriptions()[key] for key in keys if key in descriptions()), About())
        record = record_in(icon_set, str(within), digest)
        style = package.styles.get(root, record.style)
        return replace(
            record, name=about.name or record.name, tags=about.tags, categories=about.categories, style=style
        )

    for root in roots:
        suffixes = SUFFIXES if package is _ANY else _SVG
        pictures = [
            found
            for found in find_pictures(location, exclusion=exclusion, suffixes=suffixes, start=root)
            if not (package is _ANY and _NO_ICONS.excludes(found.path if isinstance(found, FileScan) else found))
        ]
        names = {name_of(found) for found in pictures if isinstance(found, str)}
        for found in pictures:
            if isinstance(found, FileScan):
                yield found
            else:
                file, record = location / found, partial(record_of, root, found)
                scanned = scan_picture(file, to_text(found), stamps, inside=inside, beside=beside, record_of=record)
                # A sheet of symbols adds what is no file: packages ship their icons in both ways.
                own = (one for one in scanned.records or () if not one.member or one.name not in names)
                yield replace(scanned, records=tuple(own)) if scanned.records else scanned
    for name, error in problems.items():
        yield FileScan(name, UNREAD, error=reason_of(error))


def is_package(folder: Path) -> bool:
    """Say whether a folder is a package from npm, by its package.json."""
    return bool(as_words(_package_json(folder).get("name")))


def packages_in(node_modules: Path) -> tuple[list[Path], list[tuple[Path, str]]]:
    """List the packages of a node_modules folder, scoped ones among them, by name; and what can't be one, and why."""
    found, unread = [], []
    for folder in sorted(node_modules.iterdir()):
        if folder.name.startswith("@"):
            try:
                found += sorted(folder.iterdir())
            except NotADirectoryError:
                continue
            except OSError as error:
                unread.append((folder, reason_of(error)))
        elif not folder.name.startswith("."):
            found.append(folder)
    packages = [folder for folder in found if is_package(folder)]
    unread += [
        (Path(to_text(str(folder))), "its name is not UTF-8; rename it")
        for folder in packages
        if not is_unicode(str(folder))
    ]
    return [folder for folder in packages if is_unicode(str(folder))], unread


def has_icons(package: Path) -> bool:
    """Say whether a package is one of icons: known, or saying so in its name or keywords and shipping SVGs."""
    stated = _package_json(package)
    name = as_words(stated.get("name"))
    if name in PACKAGES or name in WORDS_ALONE:
        return name in PACKAGES
    keywords = stated.get("keywords")
    words = f"{stated.get('name')} {' '.join(map(str, keywords)) if isinstance(keywords, list) else ''}".lower()
    if "icon" not in words and "emoji" not in words:
        return False
    return any(isinstance(picture, str) for picture in find_pictures(package, exclusion=_NO_ICONS, suffixes=_SVG))


_DRAWN_IN = {
    "@ant-design/icons": "@ant-design/icons-svg",
    "@carbon/icons-": "@carbon/icons",
    "@fluentui/react-icons": "@fluentui/svg-icons",
    "@fortawesome/": "@fortawesome/fontawesome-free",
    "@heroicons/": "heroicons",
    "@icons-pack/react-simple-icons": "simple-icons",
    "@mdi/": "@mdi/svg",
    "@mui/icons-": "@material-design-icons/svg",
    "@phosphor-icons/": "@phosphor-icons/core",
    "@primer/octicons-": "@primer/octicons",
    "@remixicon/": "remixicon",
    "@tabler/icons-": "@tabler/icons",
    "font-awesome": "@fortawesome/fontawesome-free",
    "iconoir-": "iconoir",
    "lucide": "lucide-static",
    "phosphor-": "@phosphor-icons/core",
    "react-feather": "feather-icons",
}
"""Packages that hold an icon set as SVG, by how those begin that hold it as code or as a font."""


def drawn_in(package: Path) -> str:
    """Say which package has the pictures of one without; "" where it seems to have nothing of icons."""
    name = str(_package_json(package).get("name"))
    known = (other for start, other in _DRAWN_IN.items() if name.startswith(start))
    drawn = next(known, "@iconify/json" if "icon" in name else "")
    return f'"{name}" holds no pictures (its icons are code or a font); `npm install {drawn}` has them' if drawn else ""


_ZIPPED = re.compile(r"([@\w.-]+?)-npm-[^\s/\"]*\.zip")


def why_zipped(folder: Path) -> str:
    """Say which packages Yarn PnP keeps as zips, where a folder is of such a project; else ""."""
    loaders = (one / name for one in (folder.resolve(), *folder.resolve().parents) for name in (".pnp.cjs", ".pnp.js"))
    if not (loader := next(filter(Path.is_file, loaders), None)):
        return ""
    texts = [file.name for file in loader.parent.glob(".yarn/cache/*.zip")]
    with suppress(OSError, SourceError):
        texts.append(read_regular(loader, limit=_MAX_CODE_BYTES, cut=True).decode(errors="replace"))
    known = {name.replace("/", "-") for name in PACKAGES}
    names = sorted({name for name in _ZIPPED.findall("\n".join(texts)) if name in known or "icon" in name})
    named = f" ({first_few(names)})" if names else ""
    return (
        f"; its packages{named} are zipped by Yarn PnP: `yarn config set nodeLinker node-modules && yarn install` "
        "unpacks them into node_modules"
    )


def _package_json(folder: Path) -> dict[str, Any]:
    """Read package.json; what is none is an empty one."""
    try:
        return as_object(load_facts(folder / "package.json", inside=os.path.realpath(folder)))
    except (OSError, SourceError):
        return {}


def describe(location: Path) -> IconSet:
    """Tell what a package says of itself.

    Its licence is an SPDX expression, or as in old packages an object, or a list of them; its author is an object, or
    "Name <mail> (url)".
    """
    said = _package_json(location)
    name = as_words(said.get("name")) or to_text(location.name)
    author, licence = said.get("author"), said.get("license") or said.get("licenses")
    author = author.get("name") if isinstance(author, dict) else author
    author = str(author or "").partition("<")[0].partition("(")[0].strip()
    several = licence if isinstance(licence, list) else [licence]
    types = [one.get("type") if isinstance(one, dict) else one for one in several]
    licence = as_words(" OR ".join(str(one) for one in types if one))
    return IconSet(name, name, version=as_words(said.get("version")), licence=licence, author=as_words(author))
