"""Which server, and which library on it? "milvus://host:19530/icons", or a file: "milvus-lite:///home/me/icons.db/icons".

Secrets come from the environment or a file that it names, never from an address: these stand in process lists.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from indexer.errors import IconsError, SourceError
from indexer.library.elsewhere import TOKEN, refuse_secret
from indexer.library.named import read_text

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
    if path := _variable(TOKEN_FILE):
        if not (token := _read(path, TOKEN_FILE).strip()):
            raise IconsError(f'"{path}", which {TOKEN_FILE} names, holds no token; write one into it')
        return token
    return _variable(TOKEN)


def read_authority() -> str:
    """Path of the certificate that signs the server's; "" where the system knows it.

    Raises:
        IconsError: the file can't be read, or the variable is empty.
    """
    if path := _variable(AUTHORITY):
        _read(path, AUTHORITY)
    return path


def _variable(name: str) -> str:
    """What a variable of the environment holds; "" where it is not set. One that is set and empty means something."""
    value = os.environ.get(name)
    if value is not None and not value.strip():
        raise IconsError(f'{name} is "{value}"; put into it what docs/milvus.md says, or unset it')
    return value or ""


def _read(path: str, variable: str) -> str:
    try:
        return read_text(Path(path))
    except SourceError as error:
        raise IconsError(f"{error}; {variable} names it") from error
