"""Are a project's own icons there, and used? Files that code names, parts of sprites, and a folder of icons."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from indexer.errors import IconsError
from search.references.reference import Reference

_ID = re.compile(r"\bid\s*=\s*[\"'{]*([\w.:-]{1,200})")
_WORD = re.compile(r"[\w-]{1,200}")
_ROOTS = ("@/", "~/", "$lib/", "/")
"""What stands for a folder of the project that only its bundler knows."""
_PREFIX = re.compile(r"^(?:icon|i|svg|sprite)[-_]")
_NEAR = 75


Kind = Literal["no-file", "no-part", "unused-file"]


class Missing(NamedTuple):
    """An own icon that is not there, or a file that is not used."""

    kind: Kind
    reference: Reference | None
    """None where no code names it."""
    path: str
    message: str
    near: str = ""


@dataclass
class OwnIcons:
    """A folder of own icons, if there is one, and all that code says which may be the name of one."""

    folder: Path | None
    files: Sequence[Path]
    words: set[str] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)

    @classmethod
    def below(cls, folder: Path | None) -> "OwnIcons":
        """Find the SVGs of a folder.

        Raises:
            IconsError: it is none, or holds no SVG.
        """
        if folder is None:
            return cls(None, ())
        files = sorted(path for path in folder.rglob("*.svg") if path.is_file()) if folder.is_dir() else []
        if not files:
            raise IconsError(f'"{folder}" holds no SVG; give --icons the folder of your own icons')
        return cls(folder, files)

    def note(self, text: str) -> None:
        """Keep what a text says, whether or not it is read as a name."""
        self.ids.update(_ID.findall(text))
        if self.files:
            self.words.update(self._stems.intersection(_WORD.findall(text)))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(path.stem for path in self.files)

    def findings(self, references: Sequence[Reference]) -> Iterator[Missing]:
        """Tell which files and parts are missing, then which files nobody uses."""
        used = set()
        for one in references:
            if one.form == "file":
                found = self._resolved(one)
                used.add(found)
                if found is None and (told := self._missing_file(one)):
                    yield told
            elif one.form == "sprite" and (stem := self._stem_of(one)):
                self.words.add(stem)
            elif one.form == "sprite" and one.name not in self.ids:
                yield Missing("no-part", one, one.path, f'no part "{one.name}" is defined in this code')
        for path in self.files:
            if path.resolve() not in used and path.stem not in self.words:
                yield Missing("unused-file", None, str(path), f'no code names "{path.name}"')

    def _resolved(self, one: Reference) -> Path | None:
        """The file that is meant: beside the one that names it, or with the end of its path in the folder of icons."""
        told = one.name
        if told.startswith("."):
            path = (Path(one.path).parent / told).resolve()
            return path if path.is_file() else None
        begins = next((root for root in _ROOTS if told.startswith(root)), "")
        end = Path(told.removeprefix(begins)).parts
        return next((path.resolve() for path in self.files if path.parts[-len(end) :] == end), None)

    def _missing_file(self, one: Reference) -> Missing | None:
        """Where another's file is named (of a package, or by an alias nobody here knows), nothing can be said."""
        if not one.name.startswith("."):
            return None
        path = Path(one.path).parent / one.name
        near = self._near(path)
        return Missing("no-file", one, one.path, f'there is no file "{one.name}"', near)

    def _near(self, path: Path) -> str:
        from rapidfuzz import fuzz, process

        beside = sorted(other.name for other in path.parent.glob("*.svg"))
        found = process.extractOne(path.name, beside, scorer=fuzz.ratio, score_cutoff=_NEAR)
        return str(found[0]) if found else ""

    def _stem_of(self, one: Reference) -> str | None:
        """The file of the folder that a part of a sprite may come from."""
        return next((name for name in (one.name, _PREFIX.sub("", one.name)) if name in self._stems), None)
