"""One server and one library on it, its collections and filters over them: the only importer of pymilvus.

A generation is two collections, of icons and of pictures. An icon's row has what it is filtered, grouped and shown by,
each label as its value: codes of labels differ between generations, and only what changed is sent. A picture's row has
the labels of all icons that show it. Files go into a third collection, in pieces.

What goes wrong there enters our tree of errors here.
"""

import json
import logging
import os
import re
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from indexer.arrays import Ids, in_chunks
from indexer.errors import IconsError, LibraryError, SourceError, UnreachableError
from indexer.library.folder import TOKEN, refuse_secret
from indexer.library.named import read_text
from search.query import refuse_late

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
GRAPH = {"M": 24, "efConstruction": 100}
"""Built in half the time that 200 takes; as much is found, since searches are wider (`WIDER`)."""
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


PORT = 19_530
SCHEMES = ("milvus", "milvus+tls", "milvus-lite")
TOKEN_FILE = f"{TOKEN}_FILE"
"""Environment variable with the path of a file that holds the token."""
AUTHORITY = "ICONS_MILVUS_CA"
"""... and the path of the certificate that signs the server's, where the system does not know it."""
_NAME = r"[a-z][a-z0-9_]{0,63}"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a library lies."""

    uri: str
    """As pymilvus takes it."""
    library: str
    is_file: bool
    is_secure: bool

    @classmethod
    def read(cls, text: str) -> "Address":
        """Read an address.

        Raises:
            IconsError: it is none; the message says how one is spelt.
        """
        refuse_secret(text)
        try:
            parts = urlsplit(text)
            port = parts.port or PORT
        except ValueError as error:
            raise IconsError(f'"{text}" is no address ({error}); write milvus://HOST:PORT/NAME') from error
        if parts.scheme not in SCHEMES:
            raise IconsError(f'"{text}" is no address of a library; write milvus://HOST:PORT/NAME')
        place, _, name = text.partition("://")[2].rpartition("/")  # of a file's path `?`, `#` and `%` are parts
        if not re.fullmatch(_NAME, name):
            raise IconsError(f'"{name}" in "{text}" is no name of a library: small letters, digits and _, as "icons"')
        if parts.scheme == "milvus-lite":
            if not place.endswith(".db"):
                raise IconsError(f'"{text}" names no file; write milvus-lite:///folder/file.db/NAME')
            return cls(place, name, is_file=True, is_secure=False)
        if not parts.hostname or place != parts.netloc:
            raise IconsError(f'"{text}" is no address of a library; write milvus://HOST:PORT/NAME')
        is_secure = parts.scheme == "milvus+tls"
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return cls(f"{'https' if is_secure else 'http'}://{host}:{port}", name, False, is_secure)


def read_token() -> str:
    """The token that the environment holds, or a file that it names; "" where neither variable is set.

    Raises:
        IconsError: the file can't be read, or one of them is empty.
    """
    path, token = _from_file(TOKEN_FILE)
    if path and not token.strip():
        raise IconsError(f'"{path}", which {TOKEN_FILE} names, holds no token; write one into it')
    return token.strip() or _variable(TOKEN)


def _from_file(variable: str) -> tuple[str, str]:
    """The path that a variable names, and what is written there; "" twice where it is not set."""
    if not (path := _variable(variable)):
        return "", ""
    try:
        return path, read_text(Path(path))
    except SourceError as error:
        raise IconsError(f"{error}; {variable} names it") from error


def _variable(name: str) -> str:
    """What a variable of the environment holds; "" where it is not set. One that is set and empty means something."""
    value = os.environ.get(name)
    if value is not None and not value.strip():
        raise IconsError(f'{name} is "{value}"; put into it what docs/milvus.md says, or unset it')
    return value or ""


Row = dict[str, Any]
SECONDS = 5.0
"""For one answer."""
CONNECTING_SECONDS = 5.0
_TRIES = 2
_PAUSE_SECONDS = 0.2
"""Before the second try; twice as long before the next."""
MOST = 16_384
"""Rows, or neighbours, of one answer: the server's own limit."""
IDS_AT_ONCE = 4_096
"""That one question names: 20,000 take a server a third of a second."""
_AWAY = (
    "unavailable",
    "connect",
    "timeout",
    "timed out",
    "deadline",
    "closed",
    "not ready",
    "no available",
    "rate limit",
    "not fully loaded",
)
"""What a server, or the client, says where another try may help."""
_NOT_FOUND = 100
"""Code of a collection that is not there."""
_UNAUTHENTICATED = 1800
"""... and of a token that is not right."""


class GoneError(LibraryError):
    """A collection that is not there, or no longer."""


class Connection:
    """A server that holds libraries, or a file that does. Many threads may ask at once."""

    def __init__(self, address: Address, spelling: str) -> None:
        self.address = address
        self.spelling = spelling
        self._client = _connect(address, spelling)

    @cached_property
    def version(self) -> tuple[int, ...]:
        """Of the server: (2, 3, 5); (0,) where it does not say."""
        if self.address.is_file:
            return (0,)
        said = str(self.call("get_server_version")).lstrip("v").split("-")[0].split(".")
        return tuple(int(part) for part in said if part.isdigit()) or (0,)

    def call(self, what: str, *arguments: Any, seconds: float = SECONDS, tries: int = _TRIES, **named: Any) -> Any:
        """Ask the client for something, again where another try may help.

        Raises:
            UnreachableError: the server does not answer in time.
            GoneError: it has no such collection.
            LibraryError: it refuses.
        """
        pause = _PAUSE_SECONDS
        for left in range(tries - 1, -1, -1):
            refuse_late()
            try:
                return getattr(self._client, what)(*arguments, timeout=seconds, **named)
            except Exception as error:
                found = _ours(error, what, self.spelling)
                if found is None:
                    raise
                if not isinstance(found, UnreachableError) or not left:
                    raise found from error
            time.sleep(pause)
            pause *= 2
        raise AssertionError

    def query(self, collection: str, where: str, fields: Sequence[str], *, most: int = MOST, **named: Any) -> list[Row]:
        """The rows that an expression finds, at most `most`, in no order."""
        return list(self.call("query", collection, filter=where, output_fields=list(fields), limit=most, **named))

    def query_among(
        self, collection: str, ids: Values, fields: Sequence[str], *, most: int = IDS_AT_ONCE, **named: Any
    ) -> list[Row]:
        """The rows of some ids, those that are there, in no order; `most` are asked for at once."""
        chunks = (among("id", some) for some in in_chunks(ids, most))
        return [row for where in chunks for row in self.query(collection, where, fields, **named)]

    def rows_of(self, collection: str, ids: Ids, fields: Sequence[str], *, most: int = IDS_AT_ONCE) -> list[Row]:
        """The rows of some ids, in their order.

        Raises:
            LibraryError: the server lacks one.
        """
        rows = self.query_among(collection, np.unique(ids), ["id", *fields], most=most)
        held = {row["id"]: row for row in rows}
        try:
            return [held[key] for key in ids.tolist()]
        except KeyError as error:
            raise self.lacks_row() from error

    def query_all(
        self, collection: str, where: str, fields: Sequence[str], first: int, last: int, **named: Any
    ) -> list[Row]:
        """All rows of a range of ids that an expression finds: of its halves, where one answer does not hold them."""
        found = self.query(collection, both(where, f"id >= {first} and id <= {last}"), ["id", *fields], **named)
        if len(found) < MOST or first == last:
            return found
        middle = (first + last) // 2
        low = self.query_all(collection, where, fields, first, middle, **named)
        return [*low, *self.query_all(collection, where, fields, middle + 1, last, **named)]

    def count(self, collection: str, where: str = "", **named: Any) -> int:
        """How many rows an expression finds."""
        [row] = self.call("query", collection, filter=where, output_fields=["count(*)"], **named)
        return int(row["count(*)"])

    def search(self, collection: str, vectors: Any, *, k: int, ef: int, **named: Any) -> Any:
        """The `k` nearest to each of some vectors, as lists of rows with id, distance and entity."""
        how = {"metric_type": "IP", "params": {"ef": ef} if ef else {}}
        return self.call("search", collection, data=vectors, limit=k, search_params=how, **named)

    def has(self, collection: str) -> bool:
        """Whether there is such a collection."""
        return bool(self.call("has_collection", collection))

    def behind(self, alias: str) -> str | None:
        """Physical name of the collection that an alias stands for; None where there is no such alias."""
        try:
            return str(self.call("describe_alias", alias)["collection_name"])
        except LibraryError as error:  # servers say it with several codes
            if not re.search("alias.*(not found|does not exist)", str(error)):
                raise
            return None

    def lacks_row(self) -> LibraryError:
        """What to raise where a row that the server named is not there."""
        return LibraryError(f'"{self.spelling}" lacks a row that it named; `icons doctor` examines it')

    def load(self, collection: str, *, replicas: int | None = None, seconds: float = 120.0) -> None:
        """Let a collection answer, and wait until it does; one that does already costs a look.

        With `replicas`, query nodes hold it that many times. One that has another number is loaded anew, as 2.3.5
        can't change it, and answers nobody meanwhile.
        """
        if self._load_state(collection) == "Loaded":
            if replicas is None or self.replicas(collection) == replicas:
                return
            self.call("release_collection", collection, seconds=seconds)
        options = {} if replicas is None else {"replica_number": replicas}
        self.call("load_collection", collection, seconds=seconds, **options)

    def replicas(self, collection: str) -> int:
        """How many times query nodes hold a collection, each time as a whole; 0 where it is not loaded."""
        if self._load_state(collection) in ("NotLoad", "NotExist"):
            return 0
        return 1 if self.address.is_file else len(self.call("describe_replica", collection))

    def _load_state(self, collection: str) -> str:
        """NotExist, NotLoad, Loading or Loaded."""
        state = self.call("get_load_state", collection)["state"]
        return str(getattr(state, "name", state))


def client() -> Any:
    """The client's package: what makes schemas and lists of indexes, and names the types of fields."""
    import pymilvus

    return pymilvus


def _connect(address: Address, spelling: str) -> Any:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # when it is imported: it prints why it refuses a certificate
    try:
        from pymilvus import MilvusClient
    except ImportError as error:
        raise LibraryError(f'"{spelling}" takes pymilvus; `pip install "icons[milvus]"` brings it') from error
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it prints what it raises
    options: dict[str, Any] = {}
    if not address.is_file:
        options["token"] = read_token()
        if address.is_secure and (authority := _from_file(AUTHORITY)[0]):
            options |= {"server_pem_path": authority, "secure": True}
    try:
        return MilvusClient(address.uri, timeout=CONNECTING_SECONDS, **options)
    except Exception as error:
        raise (_ours(error, "connect", spelling) or _unreachable(spelling, error)) from error


def _ours(error: Exception, what: str, spelling: str) -> LibraryError | None:
    """What an error of the client is to us; None for what is none of its errors."""
    kinds = _kinds(error)
    if not kinds & {"MilvusException", "RpcError", "ConnectionConfigException", "ParamError"}:
        return None
    said, status, details = _said(error)
    code = getattr(error, "code", None)
    if "UNAUTHENTICATED" in status or code == _UNAUTHENTICATED:
        return LibraryError(f'"{spelling}" lets nobody in without the right token ({said}); put it into {TOKEN}')
    if "CERTIFICATE_VERIFY_FAILED" in details:
        hint = f"{AUTHORITY} names the certificate that signs it"
        return LibraryError(f'"{spelling}" shows a certificate that nothing here trusts; {hint}')
    if "RpcError" in kinds or any(word in said.lower() for word in _AWAY):
        return _unreachable(spelling, error)
    if code == _NOT_FOUND or "collection not found" in said:
        return GoneError(f'"{spelling}" holds no such generation any more ({said}); `icons lab publish` sends one')
    hint = "`icons doctor` examines it"
    if what == "load_collection" and "node" in said.lower():  # "nodes not enough", "insufficient nodes"
        hint = "`icons lab publish --replicas` says how many query nodes are to hold it"
    return LibraryError(f'"{spelling}" refuses to {what.replace("_", " ")} ({said}); {hint}')


def _unreachable(spelling: str, error: Exception) -> UnreachableError:
    hint = f"start it, or see that host and port are right (TLS: milvus+tls://, {AUTHORITY})"
    return UnreachableError(f'"{spelling}" does not answer ({_said(error)[0]}); {hint}')


def _said(error: Exception) -> tuple[str, str, str]:
    """The first line of what an error says, and status and details of gRPC's that it is or comes of: these say more."""
    of_grpc = next((one for one in (error, error.__cause__) if "RpcError" in _kinds(one)), None)
    status, details = (str(getattr(of_grpc, name, str)() or "") for name in ("code", "details"))
    said = str(details or getattr(error, "message", "") or error).strip() or type(error).__name__
    return said.splitlines()[0][:200], status, details


def _kinds(error: BaseException | None) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


@lru_cache(maxsize=8)
def connection_to(spelling: str) -> Connection:
    """The connection of this process to a server: threads and engines share it."""
    return Connection(Address.read(spelling), spelling)
