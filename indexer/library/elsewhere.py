"""A library that a server holds: "milvus://host:19530/icons". On this machine lies only what was fetched of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from indexer.errors import IconsError, UnsupportedError
from indexer.library.folder import Library

TOKEN = "ICONS_MILVUS_TOKEN"
"""Environment variable that holds a server's token, "user:password" or an API key."""


class LibraryElsewhere(Library):
    """An address, and the folder in the user's cache that keeps what was fetched from there."""

    def __init__(self, address: str) -> None:
        """Name it.

        Raises:
            IconsError: the address holds a secret.
        """
        from platformdirs import user_cache_path

        refuse_secret(address)
        digest = blake2b(address.encode(), digest_size=10).hexdigest()
        super().__init__(user_cache_path("icons") / "servers" / digest)
        self.address = address

    def exists(self) -> bool:
        """Refuse: whoever asks this goes on to read a library's folder.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            f'"{self.address}" is held by a server; this command reads a library\'s folder, name that with --library'
        )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Refuse, as `exists` does.

        Raises:
            UnsupportedError: always.
        """
        self.exists()
        yield


def refuse_secret(address: str) -> None:
    """Go on only where an address holds no secret; one that does is not spelt again.

    Raises:
        IconsError: it holds a user's name or password.
    """
    if "@" in address.partition("://")[2].partition("/")[0]:
        raise IconsError(f"an address that holds a secret is seen by others; put it into {TOKEN} instead")


def library_at(place: str | Path) -> Library:
    """Name a library by its folder, or by its address on a server."""
    return LibraryElsewhere(place) if isinstance(place, str) and "://" in place else Library(Path(place))
