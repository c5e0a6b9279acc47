"""A library of a few icons, its folder and what was published of it, side by side."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pymilvus.client import entity_helper

from indexer.library.folder import Library
from search.engine import SearchEngine
from search.generation.milvus.connection import connection_to
from search.publishing.publish import publish


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(cache))
        # Pymilvus checks each letter of a text by itself: half of what a publication of a few icons takes.
        patch.setattr(entity_helper, "CHECK_STR_ARRAY", False)
        yield cache
        connection_to.cache_clear()


@pytest.fixture(scope="session")
def library(called: Library) -> Library:
    return called


@pytest.fixture(scope="session")
def address(library: Library, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of a server in a file, which holds the library."""
    address = f"milvus-lite://{tmp_path_factory.mktemp('lite')}/icons.db/called"
    publish(library, address)
    return address


@pytest.fixture(scope="session")
def here(library: Library) -> SearchEngine:
    return SearchEngine.open(library)


@pytest.fixture(scope="session")
def there(address: str) -> SearchEngine:
    return SearchEngine.open(address)
