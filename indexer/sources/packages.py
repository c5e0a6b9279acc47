"""Which npm packages of icons are known? Where each keeps its pictures, and who reads what it says about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from indexer.errors import SourceError
from indexer.sources import tags, tags_in_code
from indexer.sources.tags import About, TagReader, listed

_USUAL = listed("name", "tags")


@dataclass(frozen=True, slots=True)
class Package:
    """Where a package keeps its icons, and what it says about them."""

    roots: tuple[str, ...]
    """Trees of SVGs; packages ship the same pictures again for other uses, which are left alone.

    None where a package brings words alone.
    """
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
        for key, about in said.items():
            found[key] = found[key].joined(about) if key in found else about
    return found


_SIZES = ("-12", "-16", "-24", "-48", "-96")

PACKAGES = {
    "@adobe/spectrum-css-workflow-icons": Package(("dist/assets/svg", "dist/18", "dist/24")),
    "@atlaskit/icon": Package(("svgs",), ("dist/es2019/metadata-core.js",), tags_in_code.atlaskit),
    "@atlaskit/icon-lab": Package(("svgs",), ("dist/es2019/metadata-core.js",), tags_in_code.atlaskit),
    "@blueprintjs/icons": Package((), ("icons.json",), listed("iconName", "tags")),
    "@carbon/icons": Package(("svg",), ("metadata.json",), tags.carbon),
    "@carbon/pictograms": Package(("svg",), ("metadata.json",), tags.carbon),
    "@fortawesome/fontawesome-free": Package(("svgs",), ("metadata/icon-families.json",), tags.font_awesome),
    "@gitlab/svgs": Package(("dist/sprite_icons",), ("dist/icons.meta.json",), listed("", "keywords")),
    "@gravity-ui/icons": Package(("svgs",), ("metadata.json",), listed("svgName", "keywords", categories="categories")),
    "@icon-park/svg": Package((), ("icons.json",), listed("name", "title", "tag", categories="category")),
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
    "@navikt/aksel-icons": Package(("dist/svg",), ("dist/metadata.mjs",), tags_in_code.aksel),
    "@phosphor-icons/core": Package(
        ("assets",),
        ("dist/index.mjs",),
        tags_in_code.phosphor,
        endings=("-bold", "-duotone", "-fill", "-light", "-thin"),
    ),
    "@primer/octicons": Package(("build/svg",), ("build/data.json",), tags.octicons, endings=_SIZES),
    "@progress/kendo-svg-icons": Package((), ("dist/icons.json",), tags.kendo),
    "@rhds/icons": Package(
        ("ui", "standard", "microns"),
        tuple(f"metadata/{icons}.yaml" for icons in ("ui", "standard", "microns")),
        tags_in_code.red_hat,
    ),
    "@shopware-ag/meteor-icon-kit": Package(("icons",), ("icons/meta.json",)),
    "@tabler/icons": Package(("icons",), ("icons.json",), tags.tabler),
    "@vaadin/icons": Package(("assets/svg",), ("assets/vaadin-font-icons.json",), tags.vaadin),
    "@vibe/icons": Package((), ("dist/iconsMetaData.js",), tags_in_code.vibe),
    "@vscode/codicons": Package(("src/icons",), ("dist/metadata.json",), tags.tabler),
    "emojilib": Package((), ("dist/emoji-en-US.json",), tags.emojilib),
    "eos-icons": Package(
        ("svg", "svg-outlined"),
        ("dist/js/eos-icons.json",),
        listed("name", "tags", categories="category", apart=("eos",)),
        styles={"svg-outlined": "outline"},
    ),
    "grommet-icons": Package(("img",), ("es6/metadata.js",), tags_in_code.grommet),
    "healthicons": Package(
        ("public/icons/svg/filled", "public/icons/svg/outline"),
        ("public/icons/meta-data.json",),
        tags.healthicons,
        styles={"public/icons/svg/filled": "filled", "public/icons/svg/outline": "outline"},
    ),
    "ionicons": Package(("dist/svg",), ("dist/ionicons.json",), tags.ionicons, endings=("-outline", "-sharp")),
    "lucide-static": Package(("icons",), ("tags.json",), tags.lucide),
    "openmoji": Package(
        ("color/svg", "black/svg"),
        ("data/openmoji.json",),
        tags.openmoji,
        styles={"color/svg": "color", "black/svg": "outline"},
    ),
    "proicons": Package((), ("dist/cjs/proicons.cjs",), tags_in_code.proicons),
}
