"""What becomes of source code, as JSON."""

from typing import Any

from search.rewriting.rewrite import Rewritten


def rewritten_json(rewritten: Rewritten) -> dict[str, Any]:
    """Spell it as one object, without the texts of the files."""
    return {
        "files": [{"path": str(change.path), "n_places": change.n_places} for change in rewritten.changes],
        "by_hand": [
            _place(one.reference.path, one.reference.line, one.reference.column, one.reference.text)
            | {"target": one.to, "why": one.why}
            for one in rewritten.by_hand
        ],
        "doubtful": [
            _place(reference.path, reference.line, reference.column, reference.text) | {"source": stand.source.key}
            for reference, stand in rewritten.doubtful
        ],
        "computed": [_place(one.path, one.line, one.column, one.text) for one in rewritten.computed],
        "packages": list(rewritten.packages),
    }


def _place(path: str, line: int, column: int, text: str) -> dict[str, Any]:
    return {"path": path, "line": line, "column": column, "text": text}
