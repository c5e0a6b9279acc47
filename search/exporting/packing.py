"""How do several files go as one? As a zip whose bytes follow from the files alone."""

import io
import zipfile
from collections.abc import Mapping

_DATE = (1980, 1, 1, 0, 0, 0)
"""The first that a zip can state."""
_READABLE = 0o644 << 16


def packed(files: Mapping[str, bytes], *, folder: str) -> bytes:
    """Pack files into a zip, all inside one folder, in the order of their names."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(f"{folder}/{name}", _DATE)
            entry.external_attr = _READABLE
            entry.create_system = 3  # the same on every system
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, compresslevel=9)
    return written.getvalue()
