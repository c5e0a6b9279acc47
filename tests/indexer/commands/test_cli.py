import json
import os
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import Build, give_export, svg
from old_schema import migrate

from indexer.commands.options import model_choice
from indexer.commands.stages import ProgressView
from indexer.embedding.progress import EmbeddingProgress
from indexer.encoders.checkpoint import ModelChoice
from indexer.library.folder import Library
from indexer.library.plans import Plan
from search.cli import main

SERVING = {"fastapi", "starlette", "uvicorn", "pydantic", "prometheus_client", "multipart", "mcp", "httpx"}


def _run(library: Library, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--library", str(library.root)])


def test_progress_counts_names_as_names_and_pictures_as_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    plan = Plan("f00d", "{}", n_images=4000, n_names=900, n_blocks=2)
    working = partial(EmbeddingProgress, world=2, names=400, seconds=1.0)
    with ProgressView() as view:
        view.live = False
        alone = ((0, 300), (0, 900), (1000, 900))
        steps = [[EmbeddingProgress(0, 1, images=n, names=names, seconds=2.0)] for n, names in alone]
        for ranks in (*steps, [working(0, failed=5, note="late: 70 s"), working(1, images=500)]):
            view._noted_at = float("-inf")
            view.embedded(plan, ranks)
    with pytest.raises(KeyboardInterrupt), view:
        raise KeyboardInterrupt
    *lines, stopped = [line.strip() for line in capsys.readouterr().err.splitlines()]
    assert stopped == "what was finished is kept, and the same command goes on from there"
    assert lines == [
        "300 of 900 names",
        "0 of 4,000 pictures, 0%, 0/s",
        "1,000 of 4,000 pictures, 25%, 500/s, 0:00:06 left",
        "505 of 4,000 pictures, 13%, 505/s, 0:00:07 left, 2 workers, 1 late, 5 failed, 800 of 900 names",
    ]


def test_an_older_catalog_is_refused_by_a_reader_and_upgraded_by_the_next_index(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    for left in library.root.glob("catalog.sqlite*"):
        left.unlink()
    migrate(library.catalog, "upgrade", "0001")
    assert "`icons index` brings it there" in _run(library, "status").stderr
    assert "12 added" in _run(library, "index", str(icon_folder), "--devices", "cpu").stdout
    assert json.loads(_run(library, "status", "--json").stdout)["found"] == 12


def test_index_reports_and_runs_again_from_any_folder(
    library: Library, icon_folder: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the source and the model were relative, and entries can't be read."""
    (icon_folder / "away.svg").symlink_to("/etc/hostname")
    (icon_folder / "broken.svg").write_text("<svg")
    monkeypatch.chdir(tiny_model.parent)
    give_export(library, tiny_model)
    model = ["--model", f"local-dir:{tiny_model.name}"]
    first = _run(library, "index", os.path.relpath(icon_folder), *model, "--devices", "cpu")
    assert "14 icons: 11 pictures, 1 duplicate, 2 failed, 1 of them unread" in first.stdout
    assert "13 added" in first.stdout
    assert first.stderr.endswith("`icons status --failures` lists what failed and why\n")
    monkeypatch.chdir("/")
    (icon_folder / "late.svg").write_text(svg('<path d="M1 1h9v9z"/>'))
    again = _run(library, "index", "--devices", "cpu", "--json")
    assert (json.loads(again.stdout)["counts"]["found"], json.loads(again.stdout)["generation"]) == (15, 2)


def test_stages_run_alone_do_together_what_index_does(library: Library, icon_folder: Path, tiny_model: Path) -> None:
    options = ["--model", f"local-dir:{tiny_model}", "--devices", "cpu"]
    give_export(library, tiny_model)
    scanned = _run(library, "index", "--only", "scan", str(icon_folder))
    assert scanned.stdout == "12 files: icons: 12 added, 0 changed, 0 moved, 0 gone\n"
    planned = _run(library, "index", "--only", "plan", *options)
    assert "torchrun" in planned.stdout and planned.stdout.count("\n") == 1
    assert "11 pictures and " in _run(library, "index", "--only", "embed", *options).stdout
    assert json.loads(_run(library, "index", "--only", "merge", *options[:2], "--json").stdout)["generation"] == 1


def test_paths_of_a_model_are_kept_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/somebody")
    expected = {
        ("local-dir:./mine", None): ModelChoice(f"local-dir:{tmp_path}/mine"),
        ("local-dir:~/mine", None): ModelChoice("local-dir:/somebody/mine"),
        ("RN50", Path("weights.pt")): ModelChoice("RN50", f"{tmp_path}/weights.pt"),
        ("hf-hub:org/name", None): ModelChoice("hf-hub:org/name"),
    }
    assert {typed: model_choice(*typed) for typed in expected} == expected


def _modules(*arguments: str, library: Library) -> set[str]:
    """Names of all modules that a command imports, in a process of its own."""
    program = "import sys; from search.cli import main\n"
    program += "try: main(sys.argv[1:])\nexcept SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", program, *arguments]
    environment = {**os.environ, "ICONS_LIBRARY": str(library.root)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_searching_imports_no_torch_and_help_imports_nothing_heavy(
    build: Build, library: Library, icon_folder: Path
) -> None:
    build(icon_folder)
    searching = _modules("search", "arrow", library=library)
    assert {"faiss", "onnxruntime", "tokenizers"} <= searching
    heavy = {"torch", "open_clip", "transformers", "sqlalchemy", "alembic", "pyvips"}
    assert not (heavy | SERVING | {"PIL", "textual_image", "rapidfuzz", "pathspec"}) & searching
    helping = _modules("--help", library=library)
    assert not (heavy | SERVING | {"faiss", "onnxruntime", "numpy", "rich.table"}) & helping


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["index", "/nowhere/at/all"], '"/nowhere/at/all"'),
        (["index", "--devices", "cuda"], '--devices "cuda"'),
        (["index", "--model", "ViT-Q-1"], 'unknown model "ViT-Q-1"'),
        (["index", "--pretrained", "x.pt"], "--pretrained needs --model"),
        (["index", "--precision", "fp8"], "'fp8'"),
        (["index", "--exclude", "drafts/"], "--exclude needs the SOURCES"),
        (["index", "--batch-size", "0"], "0 is not in the range"),
        (["serch", "arrow"], 'no command "serch"; did you mean `icons search`?'),
        (["lab", "bench", "trian"], 'no command "trian"; did you mean `icons lab bench train`?'),
        (["status"], "no library at"),
        (["status", "--failures"], "no library at"),
        (["sources"], "no library at"),
        (["rollback"], "no library at"),
        (["search", "arrow"], "yet; `icons index SOURCE` builds one"),
        (["serve"], "no library at"),
        (["serve", "--port", "70000"], "70000 is not in the range"),
        (["mcp"], "no library at"),
    ],
)
def test_wrong_input_is_one_clear_line_and_exit_code_2(library: Library, arguments: list[str], message: str) -> None:
    result = _run(library, *arguments)
    assert result.exit_code == 2 and "Traceback" not in result.output, result.output
    assert message in result.stderr


def test_status_failures_and_sources_speak_to_people_and_programs(
    build: Build, library: Library, icon_folder: Path
) -> None:
    (icon_folder / "blank.svg").write_text(svg(""))
    build(icon_folder)
    status = json.loads(_run(library, "status", "--json").stdout)
    assert (status["found"], status["embedded"], status["failed"], status["generation"]) == (13, 11, 1, 1)
    assert status["looks"] == {"coloured": 0, "one_colour": 12, "animated": 0, "unknown": 0}
    lines = _run(library, "status").stdout
    assert "13  (sources: 1, sets: 1)" in lines and "0 coloured, 12 of one colour, 0 animated\n" in lines
    assert _run(library, "status", "--failures").stdout == f"{icon_folder}/blank.svg\tblank: nothing is drawn\n"
    [source] = json.loads(_run(library, "sources", "--json").stdout)
    assert source == json.loads(_run(library, "sources", "--jsonl").stdout)
    assert _run(library, "sources").stdout.split()[:4] == ["13", "icons", "1", "set"]
    assert _run(library, "sources", "--forget", str(icon_folder)).exit_code == 0
    again = _run(library, "index")  # nothing comes back by itself
    assert (again.exit_code, again.stdout) == (2, "")
    assert "has no source any more: all were forgotten or held no icons. `icons index SOURCE` adds one" in again.stderr
    assert again.stderr.rstrip().endswith("generation 1 answers until then")


def test_a_run_that_leaves_a_source_as_it_was_does_the_rest_and_names_the_command_that_drops_it(
    build: Build, library: Library, icon_folder: Path, tmp_path: Path
) -> None:
    lost = tmp_path / "of a mount"
    lost.mkdir()
    (lost / "ring.svg").write_text(svg('<circle cx="9" cy="9" r="8"/>'))
    build(icon_folder, lost)
    (lost / "ring.svg").unlink()
    (icon_folder / "new.svg").write_text(svg('<path d="M1 1h5v5z"/>'))
    for command in (("index", "--devices", "cpu"), ("index", "--json")):
        done = _run(library, *command)
        line = done.stderr.splitlines()[-1]
        assert done.exit_code == 2
        assert line.startswith(f'Error: "{lost}" had 1 icon and has none now; its icons stay as they were: ')
    assert library.current() == 2, "what is new elsewhere was published, once"
    [kept] = json.loads(done.stdout)["scan"]["kept"]
    assert line.endswith(f"`{kept['command']}`")
    status = json.loads(_run(library, "status", "--json").stdout)
    assert (status["found"], status["embedded"], status["duplicate"], status["waiting"]) == (14, 13, 1, 0)
    forgotten = _run(library, *shlex.split(kept["command"])[1:])
    assert forgotten.stdout == "1 icon dropped; `icons index` publishes that\n"
    assert _run(library, "index").exit_code == 0


@pytest.mark.parametrize("command", ["lab", "lab bench", "completion"])
def test_a_command_alone_that_needs_more_prints_its_help(command: str) -> None:
    done = CliRunner().invoke(main, command.split())
    assert done.exit_code == 2 and done.output == CliRunner().invoke(main, [*command.split(), "--help"]).output


def test_a_rollback_is_said_and_can_be_taken_back(build: Build, library: Library, icon_folder: Path) -> None:
    build(icon_folder)
    (icon_folder / "new.svg").write_text(svg('<path d="M1 1h5v5z"/>'))
    build()
    assert _run(library, "rollback").stdout.startswith("generation 1 answers; `icons rollback --forward` goes back")
    assert "1, since `icons rollback`  (kept: 2; `icons rollback --forward` goes" in _run(library, "status").stdout
    assert _run(library, "rollback", "--forward").stdout == "generation 2 answers\n"
    refused = _run(library, "rollback", "--forward")
    assert (refused.exit_code, "holds no generation after the current one (2)" in refused.stderr) == (2, True)
