"""What do the tools take? Arguments called as everywhere else: set, not, colour, k.

An argument that Python can't name so has an alias, and what may be a list may be one value alone. Limits stand beside
the schema, which an assistant reads whole.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from search.query import MOST_WITHOUT

MOST_HITS = 100
"""Of one answer, which an assistant reads whole, too."""


def _within(most: int) -> AfterValidator:
    """No longer than so many letters, or values."""

    def check(value: Any) -> Any:
        if len(value) > most:
            raise ValueError(f"has {len(value):,}, the limit is {most:,}")
        return value

    return AfterValidator(check)


def _counted(value: int) -> int:
    """From 1 to as many as one answer holds."""
    if value < 1:
        raise ValueError("should be greater than or equal to 1")
    if value > MOST_HITS:
        raise ValueError(f"should be less than or equal to {MOST_HITS}")
    return value


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


ALONE = BeforeValidator(_as_list)
Text = Annotated[str, _within(300)]
Texts = Annotated[list[Text], ALONE, _within(50)]

Words = Annotated[str, _within(10_000)]
Keys = Annotated[list[Text], ALONE, _within(100)]
Needs = Annotated[list[Text], ALONE, _within(100)]
Names = Annotated[list[Text], ALONE, _within(500)]
Source = Annotated[Text, Field(alias="from")]
Format = Annotated[Text, Field(description="lucide-react, vue, css")]
"""What is described once need not be again: an assistant reads all tools. The others take `Text`."""
Paths = Annotated[list[Annotated[str, _within(4096)]], ALONE, _within(100)]
Code = Annotated[str, _within(2_000_000)]
Count = Annotated[int, AfterValidator(_counted)]
Sets = Annotated[Texts, Field(alias="set")]
Styles = Annotated[Texts, Field(alias="style")]
Licences = Annotated[Texts, Field(alias="licence", description="SPDX id, or permissive")]
Without = Annotated[list[Text], ALONE, _within(MOST_WITHOUT), Field(alias="not", description="steer away from")]
Language = Annotated[Text, Field(description="the user's: de")]
Picture = Annotated[str, _within(15_000_000), Field(description="file, or data: URI")]
SamePicture = Annotated[str, _within(15_000_000)]
