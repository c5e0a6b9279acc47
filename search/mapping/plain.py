"""What is mapped, as JSON: the same on the command line and for those who call the library."""

from typing import Any

from search.mapping.mapped import Mapped, Mapping


def mapped_json(mapped: Mapped) -> dict[str, Any]:
    """Spell it as one object."""
    return {
        "to": mapped.to,
        "icons": list(map(_mapping_json, mapped.mappings)),
        "n_doubtful": len(mapped.doubtful),
        "n_without_picture": len(mapped.without_picture),
    }


def _mapping_json(one: Mapping) -> dict[str, Any]:
    return {
        "source": one.source.key,
        "target": one.target.name.key if one.target else None,
        "probability": round(one.probability, 3),
        "is_doubtful": one.is_doubtful,
        "is_chosen": one.is_chosen,
        "by": "name" if one.image is None else "picture and name",
        "others": [candidate.name.key for candidate in one.candidates[1:]],
    }
