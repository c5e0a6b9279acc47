"""Is the API what it was? Its operations, parameters, answers and fields are written down; a change is entered twice.

`python tests/search/web/test_api_contract.py` writes them anew; docs/api-changes.md tells those who ask what changed.
"""

import json
import sys
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from search.engine import Query, SearchEngine
from search.web import answers
from search.web.serve import new_api

WRITTEN = Path(__file__).parent / "api.json"
CHANGES = Path(__file__).parents[3] / "docs" / "api-changes.md"


def contract() -> dict[str, Any]:
    """What programs rely on: names, and no sentence."""
    told = new_api().openapi()
    operations = {
        operation["operationId"]: {
            "path": f"{method.upper()} {path}",
            "parameters": " ".join(sorted(one["name"] for one in operation.get("parameters", ()))),
            "takes": " ".join(sorted(operation.get("requestBody", {}).get("content", ()))),
            "answers": {
                status: " ".join(sorted(answer.get("content", ())))
                for status, answer in sorted(operation["responses"].items())
            },
        }
        for path, methods in told["paths"].items()
        for method, operation in methods.items()
    }
    models = {
        name: {field: _kind(one) for field, one in schema["properties"].items()}
        for name, schema in told["components"]["schemas"].items()
        if "properties" in schema
    }
    return {"operations": dict(sorted(operations.items())), "models": dict(sorted(models.items()))}


def _kind(field: dict[str, Any]) -> str:
    """The type of a field in a word or two."""
    if "anyOf" in field:
        return " or ".join(map(_kind, field["anyOf"]))
    if "items" in field:
        return f"list of {_kind(field['items'])}"
    named = field.get("$ref", "").rpartition("/")[2]
    return str(named or field.get("type", "anything"))


def test_what_programs_rely_on_is_what_is_written_down() -> None:
    written = json.loads(WRITTEN.read_text("utf-8"))
    assert contract() == written, (
        "the API has changed: tell it in docs/api-changes.md, then run `python tests/search/web/test_api_contract.py`"
    )


def test_every_operation_has_a_name_of_its_own() -> None:
    assert list(contract()["operations"]) == OPERATIONS


OPERATIONS = [
    "code",
    "code_of_many",
    "export",
    "facets",
    "frameworks",
    "health",
    "icon",
    "locate",
    "metrics",
    "png",
    "search",
    "search_by_picture",
    "search_svgs",
    "sets",
    "similar",
    "svg",
    "svgs",
    "usage",
    "usage_crop",
    "usage_screen",
    "why",
]
"""Clients are made with these names; one that is there stays."""


def test_every_answer_declares_its_kind_and_every_error_the_same_model() -> None:
    for name, operation in contract()["operations"].items():
        assert operation["answers"]["200"], name
        for status, kinds in operation["answers"].items():
            assert kinds == "application/json" or status in ("200", "304"), (name, status)


def test_the_changelog_tells_of_every_operation() -> None:
    told = CHANGES.read_text("utf-8")
    assert [name for name in OPERATIONS if f"`{name}`" not in told] == []


@pytest.fixture(scope="module")
def engine(asked: Path) -> SearchEngine:
    return SearchEngine.open(asked)


def test_no_field_of_an_answer_is_dropped_or_made_up(engine: SearchEngine) -> None:
    """What is written is held against its model: it has to be all that the engine tells."""
    answer = engine.ask(Query(words="house"))
    icon = answer.hits[0].id
    plain = {
        answers.SearchAnswer: answers.search_json("house", answer, generation=1, seconds=0.1),
        answers.IconAnswer: answers.icon_json(engine.show(icon)),
        answers.ExplanationAnswer: answers.explanation_json(engine.explain(Query(words="house"), icon)),
        answers.SetsAnswer: answers.sets_json(engine.sets(), generation=1),
        answers.FacetsAnswer: answers.facets_json(engine.facets()),
    }
    for kind, told in plain.items():
        assert json.loads(answers.written(kind, told)) == json.loads(json.dumps(told)), kind


def test_what_is_no_answer_is_not_sent(engine: SearchEngine) -> None:
    told = answers.search_json("house", engine.ask(Query(words="house")), generation=1, seconds=0.1)
    with pytest.raises(ValueError, match="n_found"):
        answers.written(answers.SearchAnswer, {**told, "n_found": "many"})
    assert b"secret" not in answers.written(answers.SearchAnswer, {**told, "secret": 1})


def test_a_hit_over_http_has_all_fields_of_a_hit(engine: SearchEngine) -> None:
    [hit, *_] = engine.search("house")
    assert set(answers.hit_json(asdict(hit))) == {field.name for field in fields(answers.HitAnswer)}


if __name__ == "__main__":
    WRITTEN.write_text(json.dumps(contract(), indent=1) + "\n", "utf-8")
    sys.stderr.write(f"wrote {WRITTEN}\n")
