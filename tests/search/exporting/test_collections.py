"""Is a collection read as it was meant, and refused where it can't be?"""

import json

import pytest

from indexer.errors import ExportError
from search.drawings.collection import Collection, read_collection

BELL = 0xE000


def test_a_collection_comes_back_as_it_was_written() -> None:
    mine = Collection("Mine", ("lucide:bell", "mdi:home"), {"lucide:bell": BELL, "lucide:gone": BELL + 1})
    written = mine.as_file({key: {} for key in mine.icons})
    assert read_collection(written, name="file") == (mine, 0)
    stated = json.loads(written)
    assert (stated["format"], stated["version"]) == ("icons-collection", 1)
    assert stated["icons"] == [{"key": "lucide:bell", "code_point": BELL}, "mdi:home"]


@pytest.mark.parametrize(
    "text",
    [
        "lucide:bell\nmdi:home\n",
        "\ufefflucide:bell\r\n\r\n# these\n  mdi:home   # a house\nlucide:bell",
        '["lucide:bell", "mdi:home"]',
        '{"icons": ["lucide:bell", {"key": "mdi:home"}]}',
        '{"key": "lucide:bell", "score": 1}\n{"key": "mdi:home", "score": 0.5}\n',
    ],
)
def test_every_way_to_list_keys_is_read(text: str) -> None:
    found, n_again = read_collection(text.encode(), name="file")
    assert (found.name, found.icons) == ("file", ("lucide:bell", "mdi:home"))
    assert n_again == text.count("lucide:bell") - 1


def test_a_key_with_a_number_is_no_comment() -> None:
    assert read_collection(b"mdi:home#12 # twelfth", name="x")[0].icons == ("mdi:home#12",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "the collection is empty"),
        (b"[]", "the collection is empty"),
        (b"\xff\xfe", "can't be read: 'utf-8' codec"),
        (b'{"icons": ', "can't be read: Expecting value"),
        (b'{"name": "x"}', '"icons.0.key" is missing'),
        (b'{"icons": [3]}', '"icons.0.key" may not be 3'),
        (b'{"icons": [""]}', '"icons.0.key" may not be'),
        (b'["a\\u001bb"]', '"icons.0.key" may not be'),
        (b'{"name": 3, "icons": ["a:b"]}', '"name" may not be 3'),
        (b'{"version": 2, "icons": ["a:b"]}', '"version" may not be 2'),
        (b'{"format": "other", "icons": ["a:b"]}', "\"format\" may not be 'other'"),
        (b'{"icons": [{"key": "a:b", "code_point": 65}]}', '"icons.0.code_point" may not be 65'),
        (b'{"icons": [{"key": "a:b", "code_point": true}]}', '"icons.0.code_point" may not be True'),
        (b'{"icons": [{"key": "a:b", "code_point": 57344}, {"key": "c:d", "code_point": 57344}]}', "two icons one"),
        (b'{"icons": ["a:b"], "taken_code_points": []}', '"taken_code_points" may not be'),
        (b"[" * 100_000, "nested too deeply"),
        (b"a" * 5_000_001, "the limit is 5 MB"),
        ("\n".join(f"a:{n}" for n in range(10_001)).encode(), "10,000 at most"),
    ],
)
def test_what_is_no_collection_is_refused_with_the_reason(text: bytes, reason: str) -> None:
    with pytest.raises(ExportError, match=reason):
        read_collection(text, name="file")
