"""How is a text read that may be packed? A name that ends in .xz says that it is."""

import lzma
from pathlib import Path

SUFFIX = ".xz"


def read_packed(file: Path) -> str:
    """Read a text in UTF-8, with a byte order mark or without.

    Raises:
        OSError: it can't be read, or is no .xz file though its name says so.
        UnicodeDecodeError: it is not UTF-8.
    """
    content = file.read_bytes()
    if file.suffix == SUFFIX:
        try:
            content = lzma.decompress(content)
        except lzma.LZMAError as error:
            raise OSError(None, f"it is no {SUFFIX} file") from error
    return content.decode("utf-8-sig")
