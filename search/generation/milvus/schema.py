"""What a library's collections hold, known to who publishes and to who asks; filters as expressions over it.

A generation is two collections, of icons and of pictures. An icon's row has what it is filtered, grouped and shown by,
each label as its value: codes of labels differ between generations, and only what changed is sent. A picture's row has
the labels of all icons that show it. Files go into a third collection, in pieces.
"""

import json
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from indexer.arrays import Ids

Values = Ids | Sequence[int] | Sequence[str]
VECTOR = "vector"
DIGEST = "digest"
"""Field that tells whether a row is as it should be, without its content."""
TEXT, INTEGER, SMALL, TEXTS, INTEGERS = "VARCHAR", "INT64", "INT32", "ARRAY VARCHAR", "ARRAY INT32"
MOST_BYTES = 65_535
"""Of a text."""
MOST_VALUES, MOST_VALUE_BYTES = 4_096, 1_024
"""Of an array, and of a text in it."""
SHARED = {"coloured": SMALL, "animated": SMALL, "tags": TEXTS, "categories": TEXTS}
ICON_FIELDS = {
    "image": INTEGER,
    "drawing": INTEGER,
    "name_id": INTEGER,
    "set_id": INTEGER,
    "set": TEXT,
    "look": TEXT,
    "licence": TEXT,
    "size": SMALL,
    "states": SMALL,
    "name": TEXT,
    "shown": TEXT,
    "said": TEXT,
    **SHARED,
}
"""`shown` and `said` are JSON: what a hit shows beside the rest, and what else its source says."""
PICTURE_FIELDS = {
    "content": TEXT,
    "picture": TEXT,
    "sets": TEXTS,
    "looks": TEXTS,
    "licences": TEXTS,
    "sizes": INTEGERS,
    **SHARED,
}
"""`content` is the digest of what `picture` holds, packed: empty where it was too large, or was not sent."""
COLUMNS = ("image", "drawing", "name_id", "set", "look", "licence", "size", "coloured", "animated", "states")
"""Fields of an icon that ranking reads of each candidate."""
EXACT_UP_TO = 16_384
"""Vectors that a server compares one by one; of more it makes a graph."""
GRAPH = {"M": 24, "efConstruction": 200}
FP16_SINCE = (2, 4)
"""Version of the server from which on half-precision vectors are indexed; 2.3.5 takes them and never ends indexing."""


@dataclass(frozen=True, slots=True)
class Names:
    """What a library's collections are called."""

    library: str

    @property
    def alias(self) -> str:
        """Stands for the icons of the generation that answers."""
        return f"icons_{self.library}"

    @property
    def files(self) -> str:
        """Holds the files of all generations."""
        return f"files_{self.library}"

    def of(self, number: int) -> tuple[str, str]:
        """The collections of a generation's icons and of its pictures."""
        return f"icons_{self.library}_g{number}", f"pictures_{self.library}_g{number}"

    def number_in(self, collection: str) -> int | None:
        """Which generation a collection belongs to; None for one of another kind or library."""
        found = re.fullmatch(rf"(?:icons|pictures)_{re.escape(self.library)}_g([0-9]{{1,9}})", collection)
        return int(found[1]) if found else None


def manifest_key(number: int) -> str:
    """Key of the piece that says which files a generation has: it is written when all else is there."""
    return f"generation:{number}"


def piece_key(sha256: str, number: int) -> str:
    """Key of a piece of a file."""
    return f"{sha256}:{number}"


def packed(content: bytes) -> str:
    """A picture as a row holds it; empty where it is too large."""
    text = b64encode(zlib.compress(content, 9)).decode()
    return text if len(text) <= MOST_BYTES else ""


def unpacked(text: str) -> bytes | None:
    """The picture that a row holds; None where it holds none.

    Raises:
        ValueError: it is damaged.
    """
    try:
        return zlib.decompress(b64decode(text)) if text else None
    except zlib.error as error:
        raise ValueError(str(error)) from error


def fields_of(collection: str) -> dict[str, str]:
    """Fields of the rows of a collection, icons or pictures, and their kinds."""
    return ICON_FIELDS if collection.startswith("icons_") else PICTURE_FIELDS


def add_fields(collection_schema: Any, fields: Mapping[str, str], types: Any) -> None:
    """Add fields to a schema of pymilvus, whose `DataType` is `types`."""
    for name, kind in fields.items():
        if kind.startswith("ARRAY"):
            element = kind.split()[1]
            length = {"max_length": MOST_VALUE_BYTES} if element == TEXT else {}
            collection_schema.add_field(
                name, types.ARRAY, element_type=types[element], max_capacity=MOST_VALUES, **length
            )
        elif kind == TEXT:
            collection_schema.add_field(name, types.VARCHAR, max_length=MOST_BYTES)
        else:
            collection_schema.add_field(name, types[kind])


NOTHING = "id < 0"
"""Finds nothing: ids are 0 or more."""
OF_PICTURES = {"set": "sets", "look": "looks", "licence": "licences", "size": "sizes"}
"""Fields of an icon of which a picture has several values, one for each icon that shows it."""


def spelt(values: Iterable[str | int]) -> str:
    """A list, as expressions spell it."""
    return f"[{', '.join(json.dumps(value, ensure_ascii=False) for value in values)}]"


def among(field: str, values: Values) -> str:
    """That a field holds one of some values."""
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    if not listed:
        return NOTHING
    is_array = PICTURE_FIELDS.get(field, "").startswith("ARRAY")
    return f"array_contains_any({field}, {spelt(listed)})" if is_array else f"{field} in {spelt(listed)}"


def both(*expressions: str) -> str:
    """That all of some expressions hold; empty ones always do."""
    return " and ".join(f"({one})" for one in expressions if one)


def any_of(*expressions: str) -> str:
    """That one of some expressions holds."""
    return " or ".join(f"({one})" for one in expressions if one) or NOTHING


def in_chunks(values: Values, size: int) -> Iterator[Values]:
    """Values, some at a time."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
