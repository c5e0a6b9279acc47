"""Is a set that a rollback took away told as such?"""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Build, disc, draw_icons

from indexer.errors import UnknownSetError
from indexer.library.folder import Library
from search.cli import main
from search.engine import Filters, Query, SearchEngine


def test_a_set_of_a_newer_generation_is_named_with_the_way_back(build: Build, library: Library, tmp_path: Path) -> None:
    build(draw_icons(tmp_path / "icons"))
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "dot.svg").write_text(disc(9, 9, 3))
    build(tmp_path / "later")
    library.rollback()
    told = (
        'set "later" is in the catalog but not in generation 1, which answers since `icons rollback`; '
        "`icons rollback --forward` lets generation 2 answer, which has it"
    )
    asked = ["search", "dot", "--set", "later", "--library", str(library.root)]
    done = CliRunner().invoke(main, asked)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"Error: {told}\n")
    engine = SearchEngine.open(library.root)
    with pytest.raises(UnknownSetError, match='no set "lattr" in this library; near: icons'):
        engine.ask(Query(words="dot"), filters=Filters(sets=("lattr",)))
    assert CliRunner().invoke(main, ["rollback", "--forward", "--library", str(library.root)]).exit_code == 0
    done = CliRunner().invoke(main, [*asked, "--json", "--min-score", "0"])
    assert [hit["key"] for hit in json.loads(done.stdout)["hits"]] == ["later:dot"]
