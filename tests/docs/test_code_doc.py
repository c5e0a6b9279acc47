"""Does docs/code.md list the frameworks that there are? `python tests/docs/test_code_doc.py` writes its table anew."""

import re
from pathlib import Path

from search.drawings.frameworks import FRAMEWORKS, Framework

DOCUMENT = Path(__file__).parents[2] / "docs" / "code.md"
_TABLE = re.compile(r"(?<=\| format \| what it is \| sets \|\n\|---\|---\|---\|\n)(?:\|.*\n)*")


def _row(one: Framework) -> str:
    sets = ", ".join(one.sets) or ("all of Iconify" if one.form in ("key", "class") and one.name != "name" else "any")
    return f"| `{one.name}` | {one.title} | {sets} |\n"


def _table() -> str:
    return "".join(map(_row, FRAMEWORKS.values()))


def test_the_table_of_formats_is_that_of_the_frameworks() -> None:
    assert _TABLE.findall(DOCUMENT.read_text("utf-8")) == [_table()], "python tests/docs/test_code_doc.py"


if __name__ == "__main__":
    DOCUMENT.write_text(_TABLE.sub(lambda _: _table(), DOCUMENT.read_text("utf-8"), count=1), "utf-8")
