"""Font Awesome to Lucide, both whole: how often is the stand-in right, and does code compile that was moved?"""

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Silent
from node_packages import node_modules

from data.making.eval.mapping import measure, read_table
from indexer.embedding.planning import EmbedOptions
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.pipeline import IndexOptions, index
from search.code.map import map_icons
from search.code.rewrite import icons_named, read_names, rewrite, write_changes
from search.drawings.frameworks import capitals
from search.engine import SearchEngine

_CONFIG = {
    "compilerOptions": {
        **{"jsx": "react-jsx", "strict": True, "noEmit": True, "skipLibCheck": True, "types": []},
        **{"module": "esnext", "moduleResolution": "bundler", "target": "es2022"},
    },
    "include": ["*.tsx"],
}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def modules() -> Path:
    return node_modules()


@pytest.fixture(scope="module")
def engine(modules: Path, tmp_path_factory: pytest.TempPathFactory) -> SearchEngine:
    library = Library(tmp_path_factory.mktemp("sets") / "library")
    sources = [modules / "@iconify-json" / key for key in ("fa6-solid", "lucide")]
    index(library, IndexOptions(sources=sources, devices="cpu", embed=EmbedOptions(workers=0)), Silent())
    return SearchEngine.open(library.root)


def test_97_of_100_common_icons_are_right_at_first_and_what_is_wrong_is_marked(
    engine: SearchEngine,
) -> None:
    found = measure(engine, read_table(bundled("eval/mapping-fa6-lucide.csv")), source="fa6-solid", to="lucide")
    both = found["both"]
    assert len(both.answerable) >= 190
    assert both.first >= 0.97 and both.among >= 0.98
    assert both.first > max(found["picture alone"].first, found["words alone"].first) + 0.05
    right = [one for one in both.answerable if one.is_right[0]]
    wrong = [*both.wrong, *both.unanswerable]
    assert sum(one.is_doubtful for one in wrong) / len(wrong) >= 0.9
    assert sum(one.is_doubtful for one in right) / len(right) <= 0.1


def test_code_that_was_moved_compiles_and_is_left_alone_the_next_time(
    engine: SearchEngine, modules: Path, tmp_path: Path
) -> None:
    names = sorted({f"Fa{capitals(row.name)}" for row in read_table(bundled("eval/mapping-fa6-lucide.csv"))})
    uses = "\n".join(f'  <{name} size={{20}} className="icon" color="navy" />' for name in names)
    code = f"""import {{ {", ".join(names)} }} from "react-icons/fa6";\n\nexport const all = <>\n{uses}\n</>;\n"""
    (tmp_path / "icons.tsx").write_text(code)
    (tmp_path / "tsconfig.json").write_text(json.dumps(_CONFIG))
    (tmp_path / "node_modules").symlink_to(modules)
    assert _compiled(tmp_path, modules) == ""
    for n_changes in (1, 0):
        code = read_names(engine, [tmp_path / "icons.tsx"], sets=[], to="lucide")
        mapped = map_icons(engine, icons_named(code), "lucide", progress=lambda *_: None)
        found = rewrite(engine, code, mapped, also_doubtful=True, progress=lambda *_: None)
        assert (len(found.changes), write_changes(found.changes)) == (n_changes, [])
        assert _compiled(tmp_path, modules) == ""
    assert len(names) - 10 <= (tmp_path / "icons.tsx").read_text().count(" as Fa") <= len(names)


def _compiled(folder: Path, modules: Path) -> str:
    """What the compiler finds wrong."""
    command = [modules / ".bin" / "tsc", "-p", folder]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
