"""The API is what it was: operations, parameters, answers and fields; a change is entered twice.

`python tests/search/web/test_api_contract.py` writes them anew; docs/api-changes.md tells those who ask what changed.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from search.engine import Query, SearchEngine
from search.query import values_of
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


def test_the_changelog_tells_of_every_operation() -> None:
    told = CHANGES.read_text("utf-8")
    assert [name for name in contract()["operations"] if f"`{name}`" not in told] == []


@pytest.fixture(scope="module")
def engine(asked: Path) -> SearchEngine:
    return SearchEngine.open(asked)


def test_an_answer_is_all_that_the_engine_answers_with_addresses_of_pictures(engine: SearchEngine) -> None:
    answer, beside = engine.ask(Query(words="house")), {"query": "house", "generation": 1, "ms": 1.0}
    told = json.loads(answers.written(answers.SearchAnswer, values_of(answer) | beside))
    assert told == json.loads(json.dumps(asdict(answer))) | beside | {"hits": told["hits"]}
    for hit, own in zip(told["hits"], answer.hits, strict=True):
        urls = {f"{kind}_url": f"/api/v1/icons/{own.id}/{kind}?v={own.digest}" for kind in ("svg", "png")}
        urls |= {} if own.path.endswith((".svg", ".svgz")) or own.member else {"svg_url": None}
        assert hit == json.loads(json.dumps(asdict(own))) | urls | {"path": Path(own.path).name}


def test_what_is_no_answer_is_not_sent(engine: SearchEngine) -> None:
    told = values_of(engine.ask(Query(words="house"))) | {"query": "house", "generation": 1, "ms": 1.0}
    with pytest.raises(ValueError, match="n_found"):
        answers.written(answers.SearchAnswer, {**told, "n_found": "many"})
    assert b"secret" not in answers.written(answers.SearchAnswer, {**told, "secret": 1})


if __name__ == "__main__":
    WRITTEN.write_text(json.dumps(contract(), indent=1) + "\n", "utf-8")
    sys.stderr.write(f"wrote {WRITTEN}\n")
