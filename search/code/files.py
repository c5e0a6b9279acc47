"""Files of code below a place; modules and npm packages, and what each exports; SVGs and sprites of the project."""

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from indexer.errors import IconsError, SourceError
from indexer.library.bundled import bundled
from indexer.library.foreign import parsed
from indexer.sources.folders import Exclusion, find_pictures
from indexer.sources.records import as_object, from_text, read_regular
from search.code.syntax import KINDS, Code, kind_of, parse
from search.drawings.frameworks import capitals


@cache
def tables() -> Mapping[str, Any]:
    """What is known of packages, fonts and elements: `data/references/code.toml` says what each table holds."""
    return tomllib.loads(bundled("references/code.toml").read_text("utf-8"))


@cache
def words(name: str) -> tuple[str, ...]:
    """One of its lists."""
    return tuple(tables()["words"][name].split())


_STYLE = re.compile(
    r"-(?:solid|regular|brands|outline|outlined|filled|light|sharp|rounded|thin|bold|duotone|twotone|mini|micro|color|line)$"
)


def family_of(key: str) -> str:
    """The family of a set: `fa6-solid` and `fa6-regular` are fa, `bxs` is bx."""
    version = re.match(r"(fa|heroicons)\d*\b", key)
    return {"mdi-light": key, "bxs": "bx"}.get(key) or (version[1] if version else _STYLE.sub("", key))


def design_of(key: str) -> str:
    """What a set is a version of: `fa6-solid` and `fa7-solid` are one."""
    return re.sub("^fa[67]?-(?=solid|regular|brands)", "font-awesome ", key)


_HUMP = re.compile(
    r"(?<=[a-z])(?=[A-Z0-9])"  # arrow|Left, trash|2
    r"|(?<=[A-Z])(?=[A-Z][a-z])"  # A|Arrow
    r"|(?<=[A-Z])(?=[0-9])"  # H|1
    r"|(?<=[0-9])(?=[A-Z][a-z])"  # 3|Bars
)


@dataclass(frozen=True, slots=True)
class Look:
    """One way to write a set's names: `begins` + Name + `ends` is the icon `before` + name + `after` of `set`."""

    set: str
    begins: str = ""
    ends: str = ""
    before: str = ""
    after: str = ""
    case: str = ""
    """"camel" where it begins in lower case, as what is no component does."""

    def read(self, component: str) -> str | None:
        """The name that a component tells, where it is written so."""
        body = component.removeprefix(self.begins).removesuffix(self.ends)
        is_name = body and (body[0].isupper() or body[0].isdigit() or self.case)
        is_read = is_name and len(body) + len(self.begins) + len(self.ends) == len(component)
        return f"{self.before}{kebab(body)}{self.after}" if is_read else None  # `Tiara` is no icon of `Ti`

    def spell(self, name: str) -> str | None:
        """The component of a name, where this look has it."""
        body = name.removeprefix(self.before).removesuffix(self.after)
        spelt = f"{self.begins}{capitals(body)}{self.ends}"
        is_spelt = len(body) + len(self.before) + len(self.after) == len(name) and body.isascii() and body
        return (spelt[0].lower() + spelt[1:] if self.case else spelt) if is_spelt else None


def read_component(looks: Sequence[Look], component: str) -> list[tuple[str, str]]:
    """All (set, name) that a component may mean by some looks, the likeliest first."""
    return list(dict.fromkeys((look.set, name) for look in looks if (name := look.read(component))))


def spell_component(looks: Sequence[Look], name: str, *, like: str, sets: Sequence[str]) -> str | None:
    """Write a name as a component, in the look that another component has where that can be."""
    liked_first = sorted((look for look in looks if look.set in sets), key=lambda look: look.read(like) is None)
    return next((spelt for look in liked_first if (spelt := look.spell(name))), None)


def kebab(component: str) -> str:
    """ArrowLeft -> arrow-left, Trash2 -> trash-2, Grid2x2 -> grid-2x2."""
    return "-".join(_HUMP.split(component)).replace("_", "-").lower()


def folded(name: str) -> str:
    """A name without what a component cannot tell: arrow-down-a-z -> arrowdownaz."""
    return re.sub("[^a-z0-9]+", "", name.lower())


@dataclass(frozen=True, slots=True)
class Components:
    """What a module exports."""

    form: str
    looks: Sequence[Look]
    others: frozenset[str] = frozenset()
    """What it exports beside icons."""
    called: str = ""
    """As the project calls the module, where its package has another name there."""


_LOOK = re.compile(r"(?P<set>.+):(?P<before>.*)\*(?P<after>.*) = (?P<begins>\S*)\*(?P<ends>\S*)(?: (?P<case>camel))?")


@cache
def modules() -> Mapping[str, Components]:
    """What the modules export that components are imported from."""
    found: dict[str, Components] = {}
    for kind, alike in tables()["modules"].items():
        others = frozenset(tables()["others"][kind].split())
        for names, written in alike.items():
            looks = tuple(Look(**look.groupdict("")) for look in map(_LOOK.fullmatch, written) if look)
            found |= {one: Components(f"import {one}", looks, others) for one in names.split()}
    return found


_WHERE = re.compile(r"^(@[\w.-]+/)?[\w.-]+")
_OF_ICONS = re.compile(r"(?<!lex)(?<!sil)(?<!fav)(?<!emot)icons?(?![a-z])|iconsax|@awesome\.me/kit-")
_TOOLS = re.compile(
    r"@iconify(?:-json)?/|@(?:unocss|nuxt|types)/|(?:iconify-icon|unplugin-icons|astro-icon|ionicons)$|.*plugin"
)
"""Packages whose names say "icon", and that export none."""
_INNER = re.compile(r"(?:/(?:dist|esm?|cjs|lib|umd|build|icons|index))*(?:\.[mc]?js)?$")
"""What leads to the one file that exports all."""
_OF_ICONIFY = re.compile(r"@iconify(?:-icons/|/icons-)([a-z0-9-]+)$")


def package_of(specifier: str) -> str:
    """The package of a module: `react-icons/fa6` -> `react-icons`."""
    return found[0] if (found := _WHERE.match(specifier)) else ""


LONGEST = 200
"""Of a name, or of a module's: what is longer names nothing."""


def components_of(module: str) -> Components | None:
    """What a module exports; of one that no table knows where its package says that it holds icons."""
    package = package_of(module[:LONGEST])
    inner = module[len(package) : LONGEST].removesuffix(f"/{package.rpartition('/')[2]}")
    whole = f"{package}{_INNER.sub('', inner)}"
    if known := modules().get(module) or modules().get(whole):
        return known
    of_set = _OF_ICONIFY.match(package)
    if whole != package or (not of_set and (not _OF_ICONS.search(package) or _TOOLS.match(package))):
        return None
    return Components(
        f"import {module}",
        (Look(of_set[1] if of_set else package, case="camel"),),
        frozenset(tables()["others"]["general"].split()),
    )


def components_above(module: str) -> Components | None:
    """What the module exports that another is a part of: `@mui/icons-material` for `@mui/icons-material/Home`."""
    package = package_of(module)
    found = components_of(module.rpartition("/")[0]) or components_of(package)
    if found and found.form == f"import {package}" and package not in modules():
        return replace(found, form=package)  # whose parts may export what it does not
    return found


MOST_BYTES = 2_000_000
"""Of one file; what is larger was written by a program."""


def code_files(places: Sequence[Path]) -> Iterator[Path]:
    """Find the files to read, each once, in the order of their names; a file that is named is read whatever rules say.

    Raises:
        IconsError: a place is not there, or a named file is of no kind that is read.
    """
    for place in places:
        if place.is_file() and kind_of(place.name) is None:
            raise IconsError(f'"{place}" is no file of code that is read; docs/checking.md lists the kinds')
    yield from dict.fromkeys(
        path
        for place in places
        for path in ([place] if place.is_file() else files_below(place))
        if kind_of(path.name) or path.is_dir()
    )


def read_code(path: Path) -> str:
    """Read a file's text, its line ends as they are.

    Raises:
        IconsError: it can't be read, is too large, or is no UTF-8.
    """
    try:
        return read_regular(path, limit=MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError("it is not UTF-8") from error
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error


def files_below(place: Path) -> Iterator[Path]:
    """Find the files of a folder that git does not ignore, and that no build has made.

    Raises:
        IconsError: it is none, or it can't be read.
    """
    if not place.is_dir():
        raise IconsError(f'"{place}" is neither a folder nor a file; name the code to look at')
    for found in find_pictures(place, exclusion=Exclusion.of(words("left_out")), suffixes=frozenset((*KINDS, ".svg"))):
        path = place / (found if isinstance(found, str) else from_text(found.path))
        if not path.is_symlink():
            yield path  # a folder where it can't be read: whoever reads it says why not


_ENDINGS = (
    *(".d.ts", ".d.mts", ".d.cts", "/index.d.ts", ".ts", ".tsx", ".mjs", ".js", ".jsx"),
    *("/index.ts", "/index.tsx", "/index.mjs", "/index.js", "/index.jsx"),
)
"""What a path to a script may lack, types first."""
_MOST_BYTES_OF_MODULES = 20_000_000
_MOST_FILES = 20_000


def file_of(path: str) -> Path | None:
    """The script that a path is meant to lead to, which may lack an ending, or have that of what is built."""
    stem = re.sub(r"\.[mc]?js$", "", path)
    files = (Path(os.path.normpath(f"{stem}{ending}")) for ending in (*_ENDINGS, ""))
    return next((file for file in files if kind_of(file.name) == "script" and os.path.isfile(file)), None)  # noqa: PTH113  Path.is_file raises where a name is too long


def exports_from(
    entry: Path, *, find: Callable[[Path, str], Path | None], is_own: bool = False
) -> tuple[frozenset[str], Sequence[str]]:
    """Names that a file exports, with those of all that it passes on; and which modules among these were not found.

    `find` tells the file of a module that is imported in a folder. Of the project's own files only those are parsed
    that pass something on.
    """
    names, lost, found, seen = set[str](), list[str](), [entry], {entry}
    for file in found:
        folder = Path(os.path.realpath(file.parent))
        try:
            content = read_regular(file, limit=_MOST_BYTES_OF_MODULES, inside=None if is_own else str(folder))
        except (OSError, SourceError):
            lost.append(file.name)
            continue
        passes_on = re.search(rb"\bexport\s*\*", content)
        code = parse(content.decode(errors="replace"), file.name) if passes_on or not is_own else Code()
        names |= code.exports
        lost += [file.name] if code.is_given_up else []
        for module in {one.module: None for one in code.imports if one.form == "export" and one.whole == "*"}:
            other = find(folder, module)
            if other is None or len(seen) > _MOST_FILES:
                lost.append(module)
            elif other not in seen:
                found.append(other)
                seen.add(other)
    return frozenset(names), lost


@lru_cache(maxsize=4096)
def _entry(folder: Path, module: str) -> Path | None:
    """The file of types of a module: what its package says, else what lies in its folder."""
    if module.startswith("."):
        return file_of(f"{folder}/{module}")
    package = package_of(module)
    above = [one / "node_modules" / package for one in (folder, *folder.parents) if package]
    root = next(filter(Path.is_dir, above), None)
    if root is None:
        return None
    inner, facts = module.removeprefix(package).strip("/"), {}
    with suppress(OSError, SourceError, ValueError):
        facts = as_object(parsed(read_regular(root / "package.json", limit=_MOST_BYTES_OF_MODULES)))
    stated = _stated(as_object(facts.get("exports")).get(f"./{inner}" if inner else "."))
    stated += [facts.get(key) for key in ("types", "typings", "module", "main") if not inner]
    paths = (f"{root}/{path}" for path in (*filter(None, stated), inner, f"{inner}/index".strip("/")))
    return min(filter(None, map(file_of, paths)), key=lambda file: ".d." not in file.name, default=None)


def _stated(said: object) -> list[object]:
    """Paths in one entry of a package's `exports`, however its conditions are nested."""
    if isinstance(said, dict):
        return [path for value in said.values() for path in _stated(value)][:20]
    return [said]


_exports_of_package = lru_cache(maxsize=64)(partial(exports_from, find=_entry))


def installed_exports(folder: str, module: str) -> frozenset[str]:
    """What a module exports that code in a folder imports; nothing where it is not installed, or can't be read."""
    entry = _entry(Path(folder), module)
    names, lost = _exports_of_package(entry) if entry else (frozenset[str](), ())
    return frozenset() if lost else names  # a part of it would condemn the rest


_PUBLIC = ("", "public", "static", "assets", "src")
"""Folders that the `/` of an address may stand for."""
_USUAL = (("@/", "src"), ("@/", "."), ("~/", "src"), ("~/", "."), ("$lib/", "src/lib"))
"""What aliases stand for where nothing is said."""
_NPM, _VERSION = "npm:", re.compile(r"(?<=\w)@.*")
"""Of a package that is called otherwise: "npm:lucide-react@0.4"."""
_BEGINS = re.compile(r"(?:\.{0,2}/|[@~]/|\$lib/|\{[^{}]*\}/?)*")
"""What a bundler or the running program puts something in the place of."""
ID = re.compile(r"\bid\s*=\s*[\"'{]*([\w.:-]{1,200})")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ID_OF_SVG = re.compile(r"(?<![\w:-])id\s*=\s*[\"']([^\"'<>]{1,200})[\"']")


class Project:
    """The folders of a project."""

    def __init__(self, places: Sequence[Path]) -> None:
        """Find the folders that places belong to; one without any mark is a project by itself."""
        self.folders = tuple({found: None for place in places if (found := _root(place.resolve()))})
        """None where it is not known which they are."""
        self.ids_of = cache(self._ids_of)
        """The ids of a file; None where it can't be read, or is a font, which is called as one likes."""
        self._aliases_of = cache(self._read_aliases)
        self._file_of = cache(self._find_file)
        self._passed_on = cache(partial(exports_from, find=self._file_of, is_own=True))

    @cached_property
    def _files(self) -> Sequence[Path]:
        return [path for folder in self.folders for path in files_below(folder)]

    @cached_property
    def svgs(self) -> Sequence[Path]:
        """All SVGs that no build has made."""
        return [path for path in self._files if path.suffix.lower() == ".svg"]

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids that its code gives, and those of its SVGs."""
        return frozenset[str]().union(*(self.ids_of(path) or () for path in self._files))

    def _ids_of(self, path: Path) -> frozenset[str] | None:
        try:
            text = read_code(path)
        except IconsError:
            return None
        if kind_of(path.name):
            return frozenset(ID.findall(text))
        plain = _COMMENT.sub("", text)
        return None if "<font" in plain else frozenset(_ID_OF_SVG.findall(plain))

    def svgs_meant(self, address: str, *, beside: Path) -> Sequence[Path]:
        """The SVGs that code in the folder `beside` may mean.

        The one that the path leads to; else all with the end of it, or of the same name: what `/` or a bundler's alias
        stands for, only the server and the bundler know.
        """
        spellings = spellings_of(address)
        led_to = (path for one in spellings for path in self.led_to(one, beside))
        if there := next(filter(os.path.isfile, led_to), None):  # Path.is_file raises where a name is too long
            return [there.resolve()]
        parts = Path(_BEGINS.sub("", spellings[-1], count=1)).parts
        alike = [path for path in self.svgs if parts and path.name == parts[-1]]
        return [path for path in alike if path.parts[-len(parts) :] == parts] or alike

    def led_to(self, address: str, beside: Path) -> Iterator[Path]:
        """Where an address may lead, from the code or from where the server looks."""
        if not address.startswith("/"):
            yield beside / address
        for folder in self._above(beside):
            yield from (folder / public / address.lstrip("/") for public in _PUBLIC)

    def _above(self, folder: Path) -> Iterator[Path]:
        """Folders of the project, from one on upwards."""
        return filter(
            lambda one: any(map(one.is_relative_to, self.folders)), [(here := folder.resolve()), *here.parents]
        )

    def components_of(self, module: str, beside: Path) -> Components | None:
        """What icons of a package a module of the project passes on, by `export * from "lucide-react"`; or what one
        has that package.json calls otherwise, by "npm:lucide-react@0.4".
        """
        package, file = package_of(module), self._file_of(beside, module)
        called = [
            f"{to.removeprefix(_NPM)}{module.removeprefix(package)}"
            for begin, to in chain(*map(self._aliases_of, self._above(beside)))
            if begin == package and to.startswith(_NPM)
        ]
        names, lost = self._passed_on(file) if file else ((), called)
        found = next((modules()[one] for one in lost if one in modules()), None)
        return replace(found, others=found.others.union(names), called="" if file else module) if found else None

    def _find_file(self, beside: Path, module: str) -> Path | None:
        """The file that a module is, if it is one of the project: beside the code, or where its alias leads."""
        above = [] if module.startswith(".") or module in modules() else self._above(beside)
        aliases = chain([(".", f"{beside}/.")], *map(self._aliases_of, above))
        stems = (f"{to}{module.removeprefix(begin)}" for begin, to in aliases if module.startswith(begin))
        return next(filter(None, map(file_of, stems)), None)

    def _read_aliases(self, folder: Path) -> Sequence[tuple[str, str]]:
        """What modules begin with and what it stands for, as a folder's tsconfig.json and the packages of a workspace
        say, or as bundlers have it.
        """
        found = [(begin, folder / inner) for begin, inner in _USUAL if (folder / inner).is_dir()]
        for config in folder.glob("[jt]sconfig*.json"):
            with suppress(IconsError):
                said = parse(read_code(config), config.name).texts
                bases = [folder / one.text for one in said if one.owner == "baseUrl"]
                base = next(iter(bases), folder)
                found[:0] = [(one.owner.rstrip("*"), base / one.text.rstrip("*")) for one in said if "/" in one.text]
                found += [(f"{one.name}/", one) for base in bases for one in base.glob("*/")]
        for config in (*folder.glob("package.json"), *folder.glob("*/*/package.json")):
            with suppress(IconsError):
                said = parse(read_code(config), config.name).texts if "node_modules" not in config.parts else []
                begins = [f"{one.text}{end}" for one in said if one.owner == "name" for end in ("", "/")][:2]
                found += [(begin, config.parent / inner) for begin in begins for inner in ("", "src")]
                found += [(one.owner, Path(_VERSION.sub("", one.text))) for one in said if one.text.startswith(_NPM)]
        return [(begin, f"{to}/" if begin.endswith("/") else str(to)) for begin, to in found]


_ESCAPE = re.compile(r"\\(?:u(?!d[89a-f])([0-9a-f]{4})|([0-9a-f]{1,5})[ \t]?|(.))", re.IGNORECASE)
"""Of a letter, in JavaScript or JSON, or in CSS."""


def spellings_of(address: str) -> Sequence[str]:
    """A path as it stands, and as it is meant: code and addresses have signs for letters, macOS puts these together."""
    plain = unescape(_ESCAPE.sub(lambda one: one[3] or chr(int(one[1] or one[2], 16)), address))
    meant = unquote(plain)
    return list(dict.fromkeys((address, plain, meant, normalize("NFD", meant), normalize("NFC", meant))))


def _root(place: Path) -> Path | None:
    """The folder above that is marked, else the place's own; the user's own is none, whatever lies there."""
    above = [folder for folder in (place, *place.parents) if folder != Path.home()]
    marked = next((folder for mark in words("root") for folder in above if os.path.exists(folder / mark)), None)  # noqa: PTH110  no error where it may not be read
    return marked or (place if place.is_dir() else place.parent if place.is_file() else None)
