import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_icons import picture_at

from indexer.errors import SourceError
from indexer.sources.records import content_digest
from indexer.sources.source import open_sources, read_picture

BOX = st.integers(-20, 40)
ICON = st.fixed_dictionaries(
    {"body": st.sampled_from(['<path d="M0 0h4v2z"/>', "", "<g>ü</g>"])},
    optional={"left": BOX, "top": st.floats(-9, 9), "width": BOX, "height": BOX, "hidden": st.booleans()},
)
ALIAS = st.fixed_dictionaries(
    {"parent": st.sampled_from("abcdefg")},
    optional={"rotate": st.integers(-5, 5), "hFlip": st.booleans(), "vFlip": st.booleans(), "width": BOX},
)


@settings(deadline=None, max_examples=60)
@given(icons=st.dictionaries(st.sampled_from("abcd"), ICON), aliases=st.dictionaries(st.sampled_from("cdefg"), ALIAS))
def test_every_entry_of_a_set_is_a_picture_or_hidden_or_listed(
    tmp_path_factory: pytest.TempPathFactory, icons: dict[str, object], aliases: dict[str, object]
) -> None:
    file = tmp_path_factory.mktemp("set") / "x.json"
    file.write_text(json.dumps({"prefix": "x", "icons": icons, "aliases": aliases}))
    [source] = open_sources(file)
    [found] = source.scan({})
    assert found.records is not None
    for record in found.records:
        content = read_picture(picture_at(source.kind, source.location, found.path, record.member))
        assert content_digest(content) == record.digest
    assert len(found.records) + len(found.broken) + found.skipped == len(icons.keys() | aliases.keys())


def test_a_record_can_be_read_again_from_every_kind_of_source(tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    for path in ("plain/x/a.svg", "package/icons/b.svg"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(svg + path)
    (tmp_path / "package" / "package.json").write_text('{"name": "lucide-static"}')
    (tmp_path / "set.json").write_text('{"prefix": "set", "icons": {"c": {"body": ""}}}')
    (tmp_path / "rows.csv").write_text("file_path\nplain/x/a.svg\n")
    (tmp_path / "rows.jsonl").write_text('{"file_path": "package/icons/b.svg"}')
    kinds, names = [], []
    for location in ("plain", "package", "set.json", "rows.csv", "rows.jsonl", "plain/x/a.svg"):
        [source] = open_sources(tmp_path / location)
        [found] = source.scan({})
        assert found.records is not None
        [record] = found.records
        content = read_picture(picture_at(source.kind, source.location, found.path, record.member))
        assert content_digest(content) == record.digest
        kinds.append(source.kind)
        names.append((record.name, record.set.key))
    assert kinds == ["folder", "npm", "iconify", "manifest", "manifest", "folder"]
    assert names[-1] == ("a", "x"), "of a single picture"


def test_a_location_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match='gone" does not exist'):
        open_sources(tmp_path / "gone")


@pytest.mark.parametrize("name", ["notes.txt", "package.json"])
def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"name": "x"}')
    with pytest.raises(SourceError, match=f'{name}" is neither'):
        open_sources(tmp_path / name)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(SourceError, match='unknown kind of source "ftp"'):
        read_picture(picture_at("ftp", Path(), "", ""))
