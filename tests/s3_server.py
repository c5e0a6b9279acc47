"""A real S3 server on loopback (moto), one request at a time where S3 decides, that can be told to fail and be late.

    python tests/s3_server.py PORT --fail-every 7 --late-every 5 --late-seconds 0.3

Failures come in turn before a request is answered (nothing is written) and after it (the answer is lost). `GET
/-/calls` says how many requests there were.
"""

import argparse
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from werkzeug.serving import make_server

Start = Callable[..., Any]
_REFUSED = b"<Error><Code>InternalError</Code><Message>on purpose</Message></Error>"


@dataclass
class Faults:
    """Every which request fails, and which is answered late; 0: none."""

    fail_every: int = 0
    late_every: int = 0
    late_seconds: float = 0.3
    calls: Iterator[int] = field(default_factory=lambda: count(1))
    n: int = 0


class Front:
    """Stands before the application: decides one conditional write after the other, and makes trouble."""

    def __init__(self, application: Callable[..., Iterable[bytes]], faults: Faults) -> None:
        self.application, self.faults = application, faults
        self._deciding = threading.Lock()

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/-/calls":
            start("200 OK", [("Content-Type", "application/json")])
            return [json.dumps(self.faults.n).encode()]
        faults = self.faults
        faults.n = number = next(faults.calls)
        if faults.late_every and number % faults.late_every == 0:
            time.sleep(faults.late_seconds)
        if not faults.fail_every or number % faults.fail_every:
            with self._deciding:
                return list(self.application(environ, start))
        if number // faults.fail_every % 2:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        else:
            with self._deciding:
                list(self.application(environ, lambda *_: None))
        start("500 Internal Server Error", [("Content-Type", "application/xml")])
        return [_REFUSED]


def make_s3(port: int, faults: Faults) -> Any:
    """Make the server; port 0 takes any that is free."""
    from moto.server import DomainDispatcherApplication, create_backend_app

    application = DomainDispatcherApplication(create_backend_app)
    return make_server("127.0.0.1", port, Front(application, faults), threaded=True)  # type: ignore[arg-type]


@contextmanager
def serving(faults: Faults | None = None) -> Iterator[str]:
    """Serve S3 from a thread for the block; yield its address."""
    server = make_s3(0, faults or Faults())
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def main() -> None:
    """Serve until this process ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--fail-every", type=int, default=0)
    parser.add_argument("--late-every", type=int, default=0)
    parser.add_argument("--late-seconds", type=float, default=0.3)
    told = parser.parse_args()
    make_s3(told.port, Faults(told.fail_every, told.late_every, told.late_seconds)).serve_forever()


if __name__ == "__main__":
    main()
