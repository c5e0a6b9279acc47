"""Does an assistant hear what docs/assistants.md shows? `python tests/docs/test_assistants_doc.py LIBRARY` writes."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from search.assistant.server import create_assistant
from search.engine import SearchEngine

DOCUMENT = Path(__file__).parents[2] / "docs" / "assistants.md"
CALL = re.compile(r"```call\n(\w+) (\{.*?\})\n```\n\n```answer\n(.*?)```", re.DOTALL)
_MEASURED = ("score", "n_found", "box")
_TOOL = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def heard(engine: SearchEngine, tool: str, arguments: dict[str, Any]) -> Any:
    """What a tool answers, code as its lines."""
    [content] = asyncio.run(create_assistant(engine).call_tool(tool, arguments)).content
    answer = json.loads(content.text)
    if "code" in answer:
        answer["code"] = answer["code"].split("\n")
    return answer


def without_scores(answer: Any) -> Any:
    """What must be the same; the last digits of scores and the edges of boxes need not."""
    if isinstance(answer, list):
        return [without_scores(part) for part in answer]
    is_object = isinstance(answer, dict)
    return {k: without_scores(part) for k, part in answer.items() if k not in _MEASURED} if is_object else answer


def laid_out(answer: dict[str, Any]) -> str:
    """A line a value, and of a list a line each of its parts."""
    parts = []
    for name, value in answer.items():
        lines = [json.dumps(part, ensure_ascii=False) for part in value] if isinstance(value, list) else []
        inside = ",\n".join(f"  {line}" for line in lines)
        written = f"[\n{inside}\n ]" if lines else json.dumps(value, ensure_ascii=False)
        parts.append(f' "{name}": {written}')
    return "{\n" + ",\n".join(parts) + "\n}"


def test_every_call_is_answered_as_the_document_shows(bundled_samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCUMENT.parents[1])  # pictures are named as they lie there
    engine = SearchEngine.open(bundled_samples)
    calls = CALL.findall(DOCUMENT.read_text("utf-8"))
    assert len(calls) == 4
    for tool, arguments, answer in calls:
        assert without_scores(heard(engine, tool, json.loads(arguments))) == without_scores(json.loads(answer)), tool


def test_the_table_names_every_tool() -> None:
    server = create_assistant(SearchEngine.__new__(SearchEngine))
    assert sorted(_TOOL.findall(DOCUMENT.read_text("utf-8"))) == sorted(
        [tool.name for tool in asyncio.run(server.list_tools())]
    )


if __name__ == "__main__":
    opened = SearchEngine.open(sys.argv[1])

    def _anew(found: re.Match[str]) -> str:
        answer = laid_out(heard(opened, found[1], json.loads(found[2])))
        return f"```call\n{found[1]} {found[2]}\n```\n\n```answer\n{answer}\n```"

    DOCUMENT.write_text(CALL.sub(_anew, DOCUMENT.read_text("utf-8")), "utf-8")
