"""Where did every entry of every source end? Plain data, without SQLAlchemy: searches read it, too."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accounting:
    """Where every entry of every source ended: found = embedded + failed + duplicate + missing."""

    found: int
    embedded: int
    """Distinct images with a vector."""
    failed: int
    """Entries that could not be read or rendered, each listed with its reason."""
    duplicate: int
    """Icons whose picture another icon shows already."""
    missing: int
    """Icons that have neither a vector nor a reason yet; 0 after a whole run."""
    hidden: int
    """Entries that their own source marks as hidden; left out, not counted as found."""
