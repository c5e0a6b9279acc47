"""In what order do candidates answer, and which of them are one hit? Pure functions."""

from collections.abc import Iterable, Sequence

from search.snapshot import Candidate


def rank(scores: dict[int, float], *, exact: set[int]) -> list[int]:
    """Order ids best first: icons whose name is exactly the query, then by score; ties by id, so order is stable."""
    return sorted(scores, key=lambda icon: (icon not in exact, -scores[icon], icon))


def group(candidates: Iterable[Candidate], *, k: int) -> Sequence[Candidate]:
    """Keep the best of each variant group and of each picture, at most `k`, in the order given."""
    kept: list[Candidate] = []
    groups: set[tuple[int, int]] = set()
    pictures: set[int] = set()
    for candidate in candidates:
        variant_group = (candidate.set_id, candidate.name_id)
        if variant_group in groups or candidate.image_id in pictures:
            continue
        groups.add(variant_group)
        pictures.add(candidate.image_id)
        kept.append(candidate)
        if len(kept) == k:
            break
    return kept
