import shutil
from pathlib import Path

import pytest
from conftest import disc, svg
from sqlalchemy import Connection, Engine, select

from indexer.catalog import questions
from indexer.catalog.database import open_catalog
from indexer.catalog.scan import forget, remember, scan
from indexer.catalog.schema import icons, images, names
from indexer.errors import SourceError


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return open_catalog(tmp_path / "catalog.sqlite")


def _remember(engine: Engine, folder: Path) -> None:
    with engine.begin() as connection:
        remember(connection, folder, exclude=())


def _icons(connection: Connection) -> dict[str, tuple[int, int, str]]:
    query = select(icons.c.name, icons.c.id, icons.c.image_id, names.c.words).select_from(icons.join(names))
    return {row.name: (row.id, row.image_id, row.words) for row in connection.execute(query)}


def test_a_first_scan_adds_every_icon_and_a_second_finds_nothing_new(engine: Engine, icon_folder: Path) -> None:
    _remember(engine, icon_folder)
    first = scan(engine)
    assert (first.files, first.icons, first.added) == (12, 12, 12)
    with engine.connect() as connection:
        before = questions.revision(connection)
    second = scan(engine)
    assert (second.files, second.icons, second.added, second.changed, second.gone) == (12, 0, 0, 0, 0)
    with engine.connect() as connection:
        assert questions.revision(connection) == before


def test_equal_pictures_are_one_image_and_styles_are_variants(engine: Engine, icon_folder: Path) -> None:
    _remember(engine, icon_folder)
    scan(engine)
    with engine.connect() as connection:
        found = _icons(connection)
    assert found["copy-of-dot"][1] == found["dot-a"][1]
    assert found["arrow-up"][2] == found["arrow-up-filled"][2] == "arrow up"
    assert len({image for _, image, _ in found.values()}) == 11


def test_a_renamed_and_a_moved_icon_keep_their_ids(engine: Engine, icon_folder: Path) -> None:
    _remember(engine, icon_folder)
    scan(engine)
    with engine.connect() as connection:
        before = _icons(connection)
    (icon_folder / "deep").mkdir()
    (icon_folder / "dot-b.svg").rename(icon_folder / "deep" / "dot-b.svg")
    (icon_folder / "arrow-up.svg").rename(icon_folder / "north.svg")
    tally = scan(engine)
    assert (tally.added, tally.changed, tally.moved, tally.gone) == (0, 0, 2, 0)
    with engine.connect() as connection:
        after = _icons(connection)
    assert after["dot-b"][:2] == before["dot-b"][:2]
    assert after["north"][:2] == before["arrow-up"][:2]
    assert after["north"][2] == "north"


def test_a_changed_picture_keeps_its_icon_and_gets_another_image(engine: Engine, icon_folder: Path) -> None:
    _remember(engine, icon_folder)
    scan(engine)
    with engine.connect() as connection:
        before = _icons(connection)
    (icon_folder / "dot-c.svg").write_text(disc(3, 3))
    tally = scan(engine)
    assert (tally.added, tally.changed, tally.gone) == (0, 1, 0)
    with engine.connect() as connection:
        after = _icons(connection)
    assert after["dot-c"][0] == before["dot-c"][0]
    assert after["dot-c"][1] != before["dot-c"][1]


def test_a_gone_icon_leaves_and_its_id_is_never_given_again(engine: Engine, icon_folder: Path) -> None:
    _remember(engine, icon_folder)
    scan(engine)
    with engine.connect() as connection:
        newest = max(icon for icon, _, _ in _icons(connection).values())
        n_images = len(connection.execute(select(images.c.id)).all())
    for path in icon_folder.glob("dot-*.svg"):
        path.unlink()
    assert scan(engine).gone == 9
    (icon_folder / "new.svg").write_text(svg('<rect width="9" height="9"/>'))
    scan(engine)
    with engine.connect() as connection:
        assert _icons(connection)["new"][0] > newest
        assert len(connection.execute(select(images.c.id)).all()) == n_images + 1


def test_a_whole_source_that_moved_and_was_given_again_keeps_its_ids(engine: Engine, icon_folder: Path) -> None:
    _remember(engine, icon_folder)
    scan(engine)
    with engine.connect() as connection:
        before = {icon for icon, _, _ in _icons(connection).values()}
    moved = icon_folder.with_name("elsewhere")
    shutil.copytree(icon_folder, moved)
    _remember(engine, moved)
    with engine.begin() as connection:
        forget(connection, icon_folder)
    tally = scan(engine)
    assert tally.added == 12
    with engine.connect() as connection:
        assert not before & {icon for icon, _, _ in _icons(connection).values()}


def test_a_source_that_vanished_is_named_with_the_way_out(engine: Engine, icon_folder: Path) -> None:
    _remember(engine, icon_folder)
    scan(engine)
    shutil.rmtree(icon_folder)
    with pytest.raises(SourceError, match="icons forget"):
        scan(engine)
    with engine.connect() as connection:
        assert len(_icons(connection)) == 12


def test_forgetting_what_was_never_given_is_an_error(engine: Engine, icon_folder: Path) -> None:
    with engine.begin() as connection, pytest.raises(SourceError, match="`icons sources` lists them"):
        forget(connection, icon_folder)


def test_excluded_files_are_left_out_and_come_back_when_the_pattern_goes(engine: Engine, icon_folder: Path) -> None:
    with engine.begin() as connection:
        remember(connection, icon_folder, exclude=["dot-*"])
    assert scan(engine).added == 3
    _remember(engine, icon_folder)
    assert scan(engine).added == 9
