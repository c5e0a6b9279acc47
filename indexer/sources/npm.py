"""npm packages of icons: their pictures, with name, version, licence and tags.

Known packages stand in `PACKAGES`. Any other package is read as a plain folder of pictures.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any

from indexer.errors import SourceError
from indexer.sources import tags
from indexer.sources.folders import SUFFIXES, Exclusion, find_pictures, reason_of, record_in, scan_picture
from indexer.sources.records import (
    MAX_TEXT,
    UNREAD,
    FileScan,
    IconSet,
    Record,
    as_object,
    is_unicode,
    load_facts,
    stamp_of,
    to_text,
)
from indexer.sources.tags import About, TagReader, listed

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


def read_descriptions(package: Package, location: Path, problems: dict[str, Exception]) -> dict[str, About]:
    """Read what a package says about icons; `problems` takes the files that can't be read, a missing one is none."""
    found: dict[str, About] = {}
    for file in package.tags_files:
        try:
            said = tags.read_tags(package.read_tags, location, file)
        except FileNotFoundError:  # a version that ships no tags
            continue
        except (OSError, SourceError) as error:
            problems[file] = error
            continue
        found.update({key: found.get(key, About()).joined(about) for key, about in said.items()})
    return found


_SIZES = ("-12", "-16", "-24", "-48", "-96")

PACKAGES = {
    "@adobe/spectrum-css-workflow-icons": Package(("dist/assets/svg", "dist/18", "dist/24")),
    "@atlaskit/icon": Package(("svgs",), ("dist/es2019/metadata-core.js",), tags.atlaskit),
    "@atlaskit/icon-lab": Package(("svgs",), ("dist/es2019/metadata-core.js",), tags.atlaskit),
    "@carbon/icons": Package(("svg",), ("metadata.json",), tags.carbon),
    "@carbon/pictograms": Package(("svg",), ("metadata.json",), tags.carbon),
    "@fortawesome/fontawesome-free": Package(("svgs",), ("metadata/icon-families.json",), tags.font_awesome),
    "@gitlab/svgs": Package(("dist/sprite_icons",), ("dist/icons.meta.json",), listed("", "keywords")),
    "@gravity-ui/icons": Package(("svgs",), ("metadata.json",), listed("svgName", "keywords", categories="categories")),
    "@iconscout/unicons": Package(
        ("svg",),
        tuple(f"json/{style}.json" for style in ("line", "solid", "thinline", "monochrome")),
        listed("name", "tags", categories="category"),
    ),
    "@mdi/svg": Package(("svg",), ("meta.json",), tags.material),
    "@mynaui/icons": Package(
        ("icons", "icons-solid"),
        ("meta.json",),
        listed("", "tags", apart=("ui", "ui symbol", "icon")),
        styles={"icons": "outline", "icons-solid": "filled"},
    ),
    "@navikt/aksel-icons": Package(("dist/svg",), ("dist/metadata.mjs",), tags.aksel),
    "@phosphor-icons/core": Package(
        ("assets",),
        ("dist/index.mjs",),
        tags.phosphor,
        endings=("-bold", "-duotone", "-fill", "-light", "-thin"),
    ),
    "@primer/octicons": Package(("build/svg",), ("build/data.json",), listed("", "keywords"), endings=_SIZES),
    "@rhds/icons": Package(
        ("ui", "standard", "microns"),
        tuple(f"metadata/{icons}.yaml" for icons in ("ui", "standard", "microns")),
        tags.red_hat,
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
    "grommet-icons": Package(("img",), ("es6/metadata.js",), tags.grommet),
    "healthicons": Package(
        ("public/icons/svg/filled", "public/icons/svg/outline"),
        ("public/icons/meta-data.json",),
        tags.healthicons,
        styles={"public/icons/svg/filled": "filled", "public/icons/svg/outline": "outline"},
    ),
    "ionicons": Package(
        ("dist/svg",),
        ("dist/ionicons.json",),
        listed("name", "tags", apart=("outline", "sharp")),
        endings=("-outline", "-sharp"),
    ),
    "lucide-static": Package(("icons",), ("tags.json",), tags.lucide),
    "openmoji": Package(
        ("color/svg", "black/svg"),
        ("data/openmoji.json",),
        tags.openmoji,
        styles={"color/svg": "color", "black/svg": "outline"},
    ),
}


WORDS_ALONE = frozenset(
    ("@blueprintjs/icons", "@icon-park/svg", "@progress/kendo-svg-icons", "@vibe/icons", "emojilib", "proicons")
)
"""Packages that say something of icons, and whose own pictures are no set."""
_RECIPE = "2"
"""Changes whenever the same files give other records, so that they are read again."""
_ANY = Package(("",))
_NOT_UTF_8 = "its name is not UTF-8; rename it"
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
        for found in find_pictures(location, exclusion=exclusion, suffixes=suffixes, start=root):
            if isinstance(found, FileScan):
                yield found
            elif package is not _ANY or not _NO_ICONS.excludes(found):
                file, record = location / found, partial(record_of, root, found)
                yield scan_picture(file, to_text(found), stamps, inside=inside, beside=beside, record_of=record)
    for name, error in problems.items():
        yield FileScan(name, UNREAD, error=reason_of(error))


def is_package(folder: Path) -> bool:
    """Say whether a folder is a package from npm, by its package.json."""
    return bool(_text(_package_json(folder).get("name")))


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
    unread += [(Path(to_text(str(folder))), _NOT_UTF_8) for folder in packages if not is_unicode(str(folder))]
    return [folder for folder in packages if is_unicode(str(folder))], unread


def has_icons(package: Path) -> bool:
    """Say whether a package is one of icons: known, or saying so in its name or keywords and shipping SVGs."""
    stated = _package_json(package)
    name = _text(stated.get("name"))
    if name in PACKAGES or name in WORDS_ALONE:
        return name in PACKAGES
    keywords = stated.get("keywords")
    words = f"{stated.get('name')} {' '.join(map(str, keywords)) if isinstance(keywords, list) else ''}".lower()
    if "icon" not in words and "emoji" not in words:
        return False
    found = find_pictures(package, exclusion=_NO_ICONS, suffixes=_SVG)
    return any(isinstance(picture, str) for picture in found)


def _package_json(folder: Path) -> dict[str, Any]:
    """Read package.json; what is none is an empty one."""
    try:
        return as_object(load_facts(folder / "package.json", inside=os.path.realpath(folder)))
    except (OSError, SourceError):
        return {}


def describe(location: Path) -> IconSet:
    """Tell what a package says of itself."""
    package_json = _package_json(location)
    name = _text(package_json.get("name")) or to_text(location.name)
    version, author = _text(package_json.get("version")), _author(package_json.get("author"))
    return IconSet(key=name, title=name, version=version, licence=_licence(package_json), author=author)


def _licence(package_json: Mapping[str, Any]) -> str | None:
    """Read `license`: an SPDX expression, or as in old packages an object, or a list of them."""
    stated = package_json.get("license") or package_json.get("licenses")
    several = stated if isinstance(stated, list) else [stated]
    types = [one.get("type") if isinstance(one, dict) else one for one in several]
    return _text(" OR ".join(str(one) for one in types if one))


def _author(stated: object) -> str | None:
    """Read `author`: an object, or "Name <mail> (url)"."""
    if isinstance(stated, dict):
        stated = stated.get("name")
    return _text(str(stated).split("<")[0].split("(")[0].strip()) if stated else None


def _text(value: object) -> str | None:
    """Take a fact as text; one too long to be written by anybody says nothing."""
    text = str(value) if value else ""
    return text if 0 < len(text) <= MAX_TEXT else None
