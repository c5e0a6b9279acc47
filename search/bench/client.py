"""What does one who uses the page ask of a server? Words, the pictures of the hits, one hit closely, others like it."""

import http.client
import json
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple
from urllib.parse import urlencode

WORDS, FILTERED, SIMILAR, SHOW, SVG, PNG, PICTURE = "words", "filtered", "similar", "show", "svg", "png", "picture"
KINDS = (WORDS, FILTERED, SIMILAR, SHOW, SVG, PNG, PICTURE)
API = "/api/v1"
_K = 50
N_SVG = 8
_SECONDS = 30.0


class Asked(NamedTuple):
    """One request and how it went."""

    kind: str
    status: int
    """0: no answer at all."""
    seconds: float


class Client:
    """One connection to a server, kept open."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
        self.asked: list[Asked] = []

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def ask(self, kind: str, path: str, *, picture: bytes | None = None) -> bytes:
        """Send a request and note how it went; b"" where it was not answered as it should be."""
        started = time.perf_counter()
        try:
            self._connection.request("GET" if picture is None else "POST", path, picture)
            answer = self._connection.getresponse()
            content, status = answer.read(), answer.status
        except (OSError, http.client.HTTPException):
            self._connection.close()
            content, status = b"", 0
        self.asked.append(Asked(kind, status, time.perf_counter() - started))
        return content if status == 200 else b""

    def search(self, kind: str, **parameters: Any) -> list[dict[str, Any]]:
        """Ask for hits."""
        answer = self.ask(kind, f"{API}/search?{urlencode(parameters)}")
        hits: list[dict[str, Any]] = json.loads(answer)["hits"] if answer else []
        return hits


def use_page(client: Client, texts: Sequence[str]) -> Iterator[None]:
    """Ask without end as one who uses the page does; gives control back after each request."""
    for text in cycle(texts):
        hits = client.search(WORDS, q=text, k=_K, facets=1)
        yield
        for hit in hits[:N_SVG]:
            client.ask(SVG, hit["svg_url"] or hit["png_url"])
            yield
        if not hits:
            continue
        first = hits[0]
        client.ask(SHOW, f"{API}/icons/{first['id']}")
        yield
        client.ask(SIMILAR, f"{API}/similar/{first['id']}?k={_K}")
        yield
        picture = client.ask(PNG, f"{first['png_url']}&size=128")
        yield
        if picture:
            client.ask(PICTURE, f"{API}/search?k={_K}", picture=picture)
            yield
        client.search(FILTERED, q=text, k=_K, set=first["set"])
        yield
