"""JSON that others wrote -> dataclasses, each value checked; and names in it that become paths, checked before they do.

Whoever may write a library, a store or a server is not to read, write or delete anything else on this machine.
"""

import json
import os
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import repeat
from math import isfinite
from pathlib import Path
from reprlib import repr as shortened
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from indexer.errors import IconsError

Name = Annotated[str, re.compile(r"[A-Za-z0-9_-]{1,100}")]
"""Becomes the name of a folder."""
FILE_NAME = re.compile(r"[A-Za-z0-9_+-]{1,150}(\.[A-Za-z0-9_-]{1,20})?")
FileName = Annotated[str, FILE_NAME]
"""Becomes the name of a file."""
Digest = Annotated[str, re.compile("[0-9a-f]{64}")]
"""A sha256."""
Location = Annotated[str, re.compile("(?s).{1,4096}")]
"""A path or URL, as it is."""
Absolute = Annotated[Location, os.path.isabs]
Count = Annotated[int, range(1 << 63)]
Size = Annotated[int, range(1, 1 << 16)]
Positive = Annotated[float, (0.0).__lt__]
_WHOLE = range(-(1 << 63), 1 << 63)
Kind = TypeVar("Kind")
Where = tuple[object, ...]
"""Keys and places on the way to a value."""
Reader = Callable[[Any, Where], Any]


def from_json(kind: type[Kind], text: str | bytes) -> Kind:
    """Read what `json.dumps(asdict(...))` has spelt.

    Raises:
        ValueError: it is no JSON, or `from_plain` refuses it.
    """
    return from_plain(kind, parsed(text))


def parsed(text: str | bytes) -> Any:
    """Parse JSON.

    Raises:
        ValueError: it is none, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def from_plain(kind: type[Kind], plain: object, *, ignores_others: bool = False) -> Kind:
    """Make a dataclass, or a list or dictionary of them, of what JSON has made of it.

    A dataclass takes all its keys but those with a default, and no others, unless `ignores_others`; or a list of its
    values. Numbers are finite, whole ones fit into 64 bits, texts are Unicode without NUL. What a type is annotated
    with holds: an expression that matches a whole text, a range, a question.

    Raises:
        ValueError: something is missing, unknown, or of another type; the message says what.
    """
    return cast(Kind, _reader_of(cast(Hashable, kind), ignores_others)(plain, ()))


@cache
def _reader_of(kind: Any, ignores_others: bool) -> Reader:
    """Make what reads a value of a type; once: some files have a line for each of a hundred thousand things."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _of_dataclass(kind, ignores_others)
    readers = [_reader_of(one, ignores_others) for one in arguments if isinstance(one, type) or get_origin(one)]
    if origin in (list, tuple, Sequence):
        return _of_list(origin, readers, is_free=origin is not tuple or arguments[-1] is Ellipsis)
    if origin in (dict, Mapping):
        return _of_mapping(*readers)
    if origin is Literal:
        return lambda plain, where: _require(plain in arguments, plain, where)
    if origin in (Union, UnionType):
        return lambda plain, where: None if plain is None else readers[0](plain, where)
    return _of_annotated(readers[0], arguments[1:]) if origin is Annotated else _of_value(kind)


def _of_dataclass(kind: Any, ignores_others: bool) -> Reader:
    hints, own = get_type_hints(kind, include_extras=True), [field for field in fields(kind) if field.init]
    readers = {field.name: _reader_of(hints[field.name], ignores_others) for field in own}
    needed = {field.name for field in own if field.default is MISSING and field.default_factory is MISSING}

    def read(plain: Any, where: Where) -> Any:
        if isinstance(plain, list) and len(plain) <= len(readers):
            plain = dict(zip(readers, plain, strict=False))
        keys = _require(isinstance(plain, dict), plain, where).keys()
        if not keys >= needed:
            raise ValueError(f"{_spelt(*where, min(needed - keys))} is missing")
        if not ignores_others and not keys <= readers.keys():
            raise ValueError(f"{_spelt(*where, min(keys - readers.keys()))} is not known")
        return kind(**{name: readers[name](plain[name], (*where, name)) for name in readers if name in keys})

    return read


def _of_list(origin: Any, readers: Sequence[Reader], *, is_free: bool) -> Reader:
    made = tuple if origin is tuple else list

    def read(plain: Any, where: Where) -> Any:
        _require(isinstance(plain, list) and (is_free or len(plain) == len(readers)), plain, where)
        of_each = repeat(readers[0], len(plain)) if is_free else readers
        return made([of_one(one, (*where, n)) for n, (of_one, one) in enumerate(zip(of_each, plain, strict=True))])

    return read


def _of_mapping(of_key: Reader, of_value: Reader) -> Reader:
    def read(plain: Any, where: Where) -> Any:
        items = _require(isinstance(plain, dict), plain, where).items()
        return {of_key(key, where): of_value(value, (*where, key)) for key, value in items}

    return read


def _of_annotated(read: Reader, checks: Sequence[Any]) -> Reader:
    tests = [one.fullmatch if isinstance(one, re.Pattern) else getattr(one, "__contains__", one) for one in checks]

    def read_checked(plain: Any, where: Where) -> Any:
        value = read(plain, where)
        return _require(all(test(value) for test in tests), value, where)

    return read_checked


def _of_value(kind: Any) -> Reader:
    if kind is Any:
        return lambda plain, _: plain
    if kind is int:
        return lambda plain, where: _require(type(plain) is int and plain in _WHOLE, plain, where)
    if kind is float:
        is_whole = _of_value(int)
        return lambda plain, where: float(
            _require(isfinite(plain), plain, where) if type(plain) is float else is_whole(plain, where)
        )
    if kind in (str, Path):
        return lambda plain, where: kind(_require(_is_text(plain), plain, where))
    return lambda plain, where: _require(isinstance(plain, kind), plain, where)


def _is_text(plain: Any) -> bool:
    is_text = isinstance(plain, str) and "\0" not in plain
    return is_text and (plain.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in plain))


def _require(holds: bool, value: Any, where: Where) -> Any:
    if not holds:
        raise ValueError(f"{_spelt(*where) if where else 'it'} may not be {shortened(value)}")
    return value


def _spelt(*where: object) -> str:
    """Spell keys and places on the way to a value."""
    return f'"{".".join(str(name) if isinstance(name, int) else shortened(name)[1:-1] for name in where)}"'


def below(root: Path, *names: str) -> Path:
    """Join names of folders, and that of a folder or file in them, to a folder that they stay in.

    Raises:
        IconsError: one is no such name, or a link leads elsewhere.
    """
    for name in names:
        if not FILE_NAME.fullmatch(name):
            raise IconsError(f'"{shortened(name)[1:-1]}" is no name of a file or folder in "{root}"; take it away')
    path = root.joinpath(*names)
    if is_outside(os.path.realpath(path), os.path.realpath(root)):
        raise IconsError(f'"{path}" leads out of "{root}"; take that link away')
    return path


def is_outside(real: str, root: str) -> bool:
    """Whether a path does not lie below another one; links are followed in both already."""
    return not f"{real}/".startswith(f"{root.rstrip('/')}/")


def folders_in(folder: Path) -> list[Path]:
    """Folders in a folder, by name; what is set aside is none, nor a link."""
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if not path.name.startswith(".") and not path.is_symlink())
    return sorted(path for path in found if path.is_dir())
