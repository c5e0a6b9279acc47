"""What a server says becomes files here only where it is what was published."""

import json

import pytest

from search.generation.milvus.fetched import FileFacts, Said

SAID = Said(
    number=1,
    fingerprint="3608ea71d4a3f0b6",
    dim=384,
    is_half=False,
    n_icons=2,
    n_pictures=2,
    published_at="2026-11-24T00:00:00+00:00",
    generation={"manifest.json": FileFacts(10, "0" * 64, 1)},
    encoder={"encoder.json": FileFacts(10, "a" * 64, 1)},
)


def test_what_was_published_is_read_as_it_was_written() -> None:
    assert Said.from_json(SAID.to_json()) == SAID


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "../../outside"},
        {"generation": {"../outside": {"bytes": 1, "sha256": "0" * 64, "pieces": 1}}},
        {"encoder": {"inside": {"bytes": 1, "sha256": "../../outside", "pieces": 1}}},
    ],
)
def test_names_that_lead_out_of_the_cache_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="is none"):
        Said.from_json(json.dumps({**json.loads(SAID.to_json()), **change}))
