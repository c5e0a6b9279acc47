"""Answers are as good as docs/evaluation.md says: the bundled model over Lucide, which it never saw.

The queries of the benchmark are Lucide's own tags: with them the samples are a library that states its tags.
"""

import json
import shutil
from collections import defaultdict

import pytest
from click.testing import CliRunner
from conftest import Silent

from indexer.embedding.planning import EmbedOptions
from indexer.library.bundled import bundled
from indexer.library.folder import Library
from indexer.library.named import read_text
from indexer.pipeline import IndexOptions, index
from search.cli import main

SAMPLES = bundled("samples/lucide-static")
BENCHMARK = bundled("eval") / "lucide-1.62.0.jsonl.xz"
CONCEPTS = tuple(bundled("eval") / f"concepts-{half}.jsonl.xz" for half in ("open", "kept"))
BARS = {  # regime, task -> R@1, R@10, MRR@50
    ("no tags", "meaning"): (0.275, 0.605, 0.385),
    ("no tags", "tag-in-name"): (0.465, 0.905, 0.61),
    ("all tags", "meaning"): (0.92, 0.99, 0.95),
    ("all tags", "tag-in-name"): (0.72, 0.99, 0.85),
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Lucide as npm brings it, with its tags."""
    root = tmp_path_factory.mktemp("tagged")
    package = shutil.copytree(SAMPLES, root / "node_modules" / "lucide-static")
    tags = defaultdict(list)
    for line in read_text(BENCHMARK).splitlines():
        query = json.loads(line)
        for name in query["relevant"]:
            tags[name].append(query["query"])
    (package / "tags.json").write_text(json.dumps(tags))
    library = Library(root / "library")
    index(library, IndexOptions(sources=[package], devices="cpu", embed=EmbedOptions(workers=0)), Silent())
    return library


@pytest.fixture(scope="module")
def rows(tagged: Library) -> dict[tuple[str, str, str], dict[str, float]]:
    """Figures by regime, task and ranker."""
    files = [f"--queries={file}" for file in (BENCHMARK, *CONCEPTS)]
    none = [f"--{task}=0" for task in ("names", "tags", "screenshots", "scores")]
    done = CliRunner().invoke(main, ["lab", "evaluate", f"--library={tagged.root}", *files, *none, "--json"])
    assert done.exit_code == 0, done.stderr
    return {
        (row["regime"], row["task"], row["ranker"]): {name: one["value"] for name, one in row["figures"].items()}
        for row in json.loads(done.stdout)["rows"]
    }


@pytest.mark.parametrize(("regime", "task"), BARS)
def test_the_engine_finds_what_it_found(
    rows: dict[tuple[str, str, str], dict[str, float]], regime: str, task: str
) -> None:
    figures = rows[regime, task, "engine"]
    found = figures["R@1"], figures["R@10"], figures["MRR@50"]
    assert all(value >= bar for value, bar in zip(found, BARS[regime, task], strict=True)), found


@pytest.mark.parametrize("regime", ["no tags", "all tags"])
def test_the_engine_finds_concepts(rows: dict[tuple[str, str, str], dict[str, float]], regime: str) -> None:
    found = {key: row["R@5"] for key, row in rows.items() if key[0] == regime and key[1].startswith("concept")}
    assert next(value for key, value in found.items() if key[2] == "engine") >= max(0.9, *found.values())


def test_a_name_that_says_it_comes_before_what_is_tagged_so(tagged: Library) -> None:
    done = CliRunner().invoke(main, ["search", "shopping", "-k", "1", "--library", str(tagged.root)])
    assert "shopping-bag" in done.stdout  # Lucide tags a shirt so
