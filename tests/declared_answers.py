"""Is every answer what OpenAPI says of its path: its status, its kind, each field of it? A hook of an HTTP client."""

import copy
import json
import re
from functools import cache
from typing import Any

import httpx
from jsonschema import Draft202012Validator

from search.web.serve import new_api


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, which holds objects to the fields that are declared."""
    told = copy.deepcopy(new_api().openapi())
    for schema in told["components"]["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return told


def check_declared(answer: httpx.Response) -> None:
    """Refuse an answer of the API that its document does not tell of."""
    path = answer.request.url.path
    operation = next((methods for template, methods in _paths() if template.fullmatch(path)), {})
    declared = operation.get(answer.request.method.lower())
    if declared is None:
        return
    told = declared["responses"].get(str(answer.status_code))
    assert told is not None, f"{answer.request.method} {path} answers {answer.status_code}, which is not declared"
    if answer.status_code == 304 or answer.request.method == "HEAD":
        return
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in told["content"], f"{path} is {kind}, which is not declared for {answer.status_code}"
    if kind == "application/json":
        answer.read()
        _validator(json.dumps(told["content"][kind]["schema"])).validate(answer.json())


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({**json.loads(schema), "components": document()["components"]})


@cache
def _paths() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """A pattern for each path: those of pictures come before those that would take them for names."""
    return [
        (re.compile(re.sub(r"\\{\w+\\}", ".+", re.escape(path))), methods)
        for path, methods in document()["paths"].items()
    ]
