"""Where do a product's files come from? From folders of packages alone: whatever else a page asks for is refused."""

import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ORIGIN = "http://product.test/"
"""No such host exists: the browser is answered before it looks for one."""


@dataclass  # without slots: playwright keeps a note on whatever answers it
class Files:
    """Answers a browser's requests from files. `places`: beginnings of addresses -> folders below `packages`."""

    packages: Path
    places: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)
    """Whole addresses -> what they say: what a package leaves to its own tools to make."""
    live: str = ""
    """The address of a program of this machine that answers for itself."""
    refused: list[str] = field(default_factory=list)

    def answer(self, route: Any) -> None:
        """Answer one request of playwright's."""
        address = str(route.request.url)
        whole = re.sub(r"[?#].*", "", address)
        of_this_page = (self.live,) if self.live else ()
        if address.startswith((*of_this_page, "data:", "blob:", "about:")):
            route.continue_()
        elif whole in self.texts:
            route.fulfill(body=self.texts[whole], content_type=_kind_of(whole))
        elif (path := self.find(whole)) is not None:
            route.fulfill(path=path, content_type=_kind_of(path.name))
        else:
            self.refused.append(address)
            route.abort()

    def find(self, address: str) -> Path | None:
        """The file of an address, by the longest beginning that is known."""
        for start in sorted(self.places, key=len, reverse=True):
            if address.startswith(start):
                folder = (self.packages / self.places[start]).resolve()
                path = (folder / unquote(urlsplit(address[len(start) :]).path)).resolve()
                return path if path.is_relative_to(self.packages.resolve()) and path.is_file() else None
        return None


def _kind_of(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
