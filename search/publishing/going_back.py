"""Lets the generation before, or after, the one that answers on a server answer: `icons rollback`."""

from indexer.errors import LibraryError
from indexer.library.elsewhere import LibraryElsewhere
from search.generation.milvus.published import Published
from search.publishing.leftovers import held_numbers, is_whole


def go_back(library: LibraryElsewhere, *, forward: bool = False) -> int:
    """Switch the alias to the generation before the one that answers, or `forward` to the one after; returns which.

    Raises:
        LibraryError: there is none that is whole, or the server does not answer.
    """
    server = Published(library)
    connection, names, current = server.connection, server.names, server.current()
    held = sorted(held_numbers(connection, names))
    if forward:
        others = [number for number in held if current is not None and number > current]
    else:
        others = [number for number in reversed(held) if current is not None and number < current]
    found = next((number for number in others if is_whole(connection, names, number)), None)
    if found is None:
        where = "after" if forward else "before"
        raise LibraryError(
            f'"{library.address}" holds no whole generation {where} the current one ({current}); '
            "`icons publish` sends one"
        )
    for collection in (names.icons(found), names.pictures(found)):
        connection.load(collection)
    connection.call("alter_alias", names.icons(found), names.alias)
    return found
