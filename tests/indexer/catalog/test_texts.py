"""Words of a catalog that need a vector: each name and each tag once, as long as an icon bears or states it."""

from pathlib import Path

import pytest
from conftest import draw_icons
from sqlalchemy import Engine, func, select

from indexer.catalog.database import names, open_catalog
from indexer.catalog.questions import name_ids, text_ids, words_of
from indexer.catalog.scan import remember, scan

TAGS = {"dot-a": "Round, full  moon", "dot-b": "round, e-mail", "arrow-up": "DOT A; ->"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return draw_icons(tmp_path / "icons")


@pytest.fixture
def engine(tmp_path: Path, folder: Path) -> Engine:
    engine = open_catalog(tmp_path / "catalog.sqlite")
    _state(folder, TAGS)
    with engine.begin() as connection:
        remember(connection, folder / "icons.csv", exclude=())
    scan(engine)
    return engine


def _state(folder: Path, tags: dict[str, str]) -> None:
    rows = [f'{name}.svg,{name},"{tags.get(name, "")}"' for name in ("dot-a", "dot-b", "arrow-up")]
    (folder / "icons.csv").write_text("\n".join(["file_path,name,tags", *rows]) + "\n")


def _texts(engine: Engine) -> dict[str, int]:
    with engine.begin() as connection:
        return {words: number for number, words in words_of(connection, text_ids(connection))}


def _n_rows(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(select(func.count()).select_from(names)).scalar_one())


def test_tags_get_a_row_each_once_and_one_that_is_a_name_has_its_row_already(engine: Engine) -> None:
    with engine.connect() as connection:
        borne = name_ids(connection)
        called = dict(words_of(connection, borne))
    assert set(called.values()) == {"dot a", "dot b", "arrow up"}
    assert _n_rows(engine) == 3
    first = _texts(engine)
    assert set(first) == {"dot a", "dot b", "arrow up", "round", "full moon", "e mail", "->"}
    assert {first[words]: words for words in called.values()} == called
    assert _n_rows(engine) == len(first)


def test_a_tag_that_the_source_no_longer_states_is_not_asked_for_and_keeps_its_id(engine: Engine, folder: Path) -> None:
    before = _texts(engine)
    _state(folder, {"dot-a": "ROUND"})
    scan(engine)
    assert _texts(engine) == {words: before[words] for words in ("dot a", "dot b", "arrow up", "round")}
    _state(folder, TAGS)
    scan(engine)
    assert _texts(engine) == before
