"""Does a newer generation know a set that this one does not, since it was rolled back?"""

from contextlib import suppress

from indexer.errors import IconsError, UnknownSetError
from indexer.library.folder import Library
from search.generation.labels import Labels


def refuse_unknown_set(library: Library, answering: int, error: UnknownSetError) -> None:
    """Tell that a set came after the generation that answers; nothing where no newer one knows it either.

    Raises:
        UnknownSetError: a newer generation knows it.
    """
    for number in (number for number in library.numbers() if number > answering):
        with suppress(IconsError):
            Labels.read(library.generation(number).catalog, "set").meant([error.name])
            told = (
                f'set "{error.name}" is in the catalog but not in generation {answering}, which answers since '
                f"`icons rollback`; `icons rollback --forward` lets generation {number} answer, which has it"
            )
            break
    else:
        return
    raise UnknownSetError(told, name=error.name) from error
