"""How do pixels stand in a page? As small as text stays sharp."""

import io

from PIL import Image

from indexer.arrays import Pixels


def in_short(pixels: Pixels) -> bytes:
    """Encode pixels as WebP."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", quality=86, method=2)
    return file.getvalue()
