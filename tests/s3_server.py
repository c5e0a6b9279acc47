"""A real S3 server on loopback (moto), one request at a time where S3 decides, that can be told to fail and be late.

Failures come in turn before a request is answered (nothing is written) and after it (the answer is lost).
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from werkzeug.serving import WSGIRequestHandler, make_server

ACCESS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
Start = Callable[..., Any]
_REFUSED = b"<Error><Code>InternalError</Code><Message>on purpose</Message></Error>"


@dataclass
class Faults:
    """Every which request fails, and which is answered late, 0: none."""

    fail_every: int = 0
    late_every: int = 0
    late_seconds: float = 0.3
    calls: Iterator[int] = field(default_factory=lambda: count(1))
    n: int = 0
    bucket: str = ""
    """The one of this test."""


class Silent(WSGIRequestHandler):
    """Says nothing of requests."""

    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing."""


class Front:
    """Stands before the application: decides one conditional write after the other, and makes trouble."""

    def __init__(self, application: Callable[..., Iterable[bytes]], faults: Faults) -> None:
        self.application, self.faults = application, faults
        self._deciding = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        faults = self.faults
        faults.n = number = next(faults.calls)
        if faults.late_every and number % faults.late_every == 0:
            time.sleep(faults.late_seconds)
        is_failing = bool(faults.fail_every) and number % faults.fail_every == 0
        if is_failing and number // faults.fail_every % 2:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        else:
            said, answer = self._answer(environ)
            if not is_failing:
                start(*said)
                return answer
        start("500 Internal Server Error", [("Content-Type", "application/xml")])
        return [_REFUSED]

    def _answer(self, environ: dict[str, Any]) -> tuple[list[Any], list[bytes]]:
        said: list[Any] = []
        with self._deciding:
            answer = list(self.application(environ, lambda *told: said.extend(told)))
        return said, answer


def make_s3(faults: Faults) -> Any:
    """Make the server, on any port that is free."""
    from moto.server import DomainDispatcherApplication, create_backend_app

    application = DomainDispatcherApplication(create_backend_app)
    return make_server("127.0.0.1", 0, Front(application, faults), threaded=True, request_handler=Silent)  # type: ignore[arg-type]


@contextmanager
def serving(faults: Faults | None = None) -> Iterator[str]:
    """Serve S3 from a thread for the block; yield its address."""
    server = make_s3(faults or Faults())
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
