"""How much may those who ask take of a server? Every bound with its default."""

from dataclasses import dataclass, field

from indexer.process import cores


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server does at once, how long, and with how much."""

    threads: int = field(default_factory=cores)
    """Queries computed at the same time; as many pictures are drawn beside them."""
    waiting: int = 64
    """Requests that may wait for a thread; one more is answered 503 at once."""
    seconds: float = 5.0
    """For one answer, waiting included, and for drawing one picture."""
    upload_bytes: int = 10_000_000
    upload_seconds: float = 20.0
    """For a picture to arrive."""
