"""How was a query in another language read in English? Plain data, the same in every way to ask."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadWord:
    """A word or phrase of a query, and how it was read in English."""

    word: str
    english: tuple[str, ...]
    """The likeliest first; none where it was taken as it is."""


@dataclass(frozen=True, slots=True)
class ReadAs:
    """How a query in another language was read."""

    language: str
    """ISO 639 code."""
    name: str
    """The language's name in English."""
    english: str
    """What was looked for; what is to be left out apart."""
    is_english_too: bool
    """Whether the query was also asked as it stands: all of its words are English words, too."""
    words: tuple[ReadWord, ...]

    def __str__(self) -> str:
        """A line for people: "Pfeil: arrow; links: left, links (German)"."""
        readings = "; ".join(f"{read.word}: {', '.join(read.english)}" for read in self.words if read.english)
        return f"{readings} ({self.name})"
