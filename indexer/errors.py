"""The one tree of errors. A message names the value in quotes and says what to run next."""

from collections.abc import Iterator
from contextlib import contextmanager


class IconsError(Exception):
    """Anything the user can mend; the command line prints its message and exits with 2."""

    @property
    def plain(self) -> str:
        """Its message without the commands and options that it advises, for who asks by other ways."""
        return "; ".join(
            part for part in str(self).split("; ") if "`icons " not in part and " --" not in f" {part}"
        ) or str(self)


class LateError(IconsError):
    """Whoever asked does not wait for the answer any more."""


class UnknownSetError(IconsError):
    """No set of the generation that answers is called so; `name` says how."""

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class UnknownIconError(IconsError):
    """An icon that is asked for by its id or key, and is not in the library."""


class SourceError(IconsError):
    """A source of icons that is missing, of an unknown kind, or unreadable as a whole."""


class UnreachedError(SourceError):
    """A source that can't be asked, now or from this machine; what it holds may be as it was."""


class ChangedError(SourceError):
    """A file of a source that is not what it was when it was indexed."""


class RenderError(IconsError):
    """One picture that cannot become pixels; the message is the reason that `icons status --failures` lists."""


class ModelError(IconsError):
    """An encoder that is unknown, missing, of another shape, or does not load."""


class DeviceError(IconsError):
    """A device that was asked for and is not there."""


class LibraryError(IconsError):
    """A library that is missing, busy, damaged, or of another schema."""


class EmbedError(IconsError):
    """An embedding that cannot begin or go on; blocks that were finished stay."""


class NoRoomError(EmbedError, DeviceError):
    """A device without room for an encoder, or for one picture."""


class ShardError(IconsError):
    """A shard that is missing, damaged, or of another encoder."""


class StoreError(IconsError):
    """A store of shared work or of icons that can't be opened, reached, read or written."""


class QueryFileError(IconsError):
    """A file of queries that can't be read, or asks for nothing that the library holds."""


class TrainError(IconsError):
    """A training that cannot begin or go on; what was reached stays on disk."""


class BenchError(IconsError):
    """A measurement that cannot be made as it was asked for, or a saved one that can't be read."""


class ExportError(IconsError):
    """An export that cannot be made as it was asked for, or a collection that can't be read."""


class UnsupportedError(IconsError):
    """What the engine that holds a library can't do, and another one can."""


class UnreachableError(LibraryError):
    """A server that holds a library and does not answer."""


def first_line(error: BaseException) -> str:
    """What an error says, in a line; its class where it says nothing."""
    return next(iter(str(error).strip().splitlines()), "") or type(error).__name__


@contextmanager
def explain_unreadable(
    what: object,
    advice: str,
    kind: type[IconsError] = LibraryError,
    *,
    damages: type[Exception] | tuple[type[Exception], ...] = (OSError, ValueError),
) -> Iterator[None]:
    """Tell that something can't be read, and what mends that, where the block ends with one of some errors.

    Raises:
        IconsError: of that kind.
    """
    try:
        yield
    except damages as error:
        raise kind(f"{what} can't be read ({error}); {advice}") from error
