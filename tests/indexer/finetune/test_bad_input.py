"""Everything that can be wrong with a fine-tuning says so, and leaves what was reached."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from lessons import TINY, tiny_options, tiny_session
from test_finetune import arguments, run

from indexer.errors import TrainError
from indexer.finetune.batches import Feed
from indexer.finetune.checkpoints import TrainingState, restore, save_checkpoint
from indexer.finetune.options import Places
from indexer.finetune.session import Request, working
from indexer.finetune.step import read_results, take_step

DISC = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="{x}" cy="12" r="4"/></svg>'


def refused(icons: Path, start: Path, out: Path, *more: str) -> str:
    return run(*arguments(icons, start, out, *more), code=2).output


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["0001", "0002", "0003"], 'no word in its name "0001", and no caption'),
        (["a1", "b2", "c3", "d4"], 'all 4 icons have one caption, "icon"'),
        (["house"], '"one icon" to learn from, which teaches no difference'),
    ],
)
def test_too_little_to_learn_from_is_refused(start: Path, tmp_path: Path, names: list[str], reason: str) -> None:
    for number, name in enumerate(names):
        (tmp_path / f"{name}.svg").write_text(DISC.format(x=5 + number))
    manifest = tmp_path / "icons.csv"
    if "icon" in reason.split('"')[1:2]:
        manifest.write_text("file_path,name\n" + "".join(f"{name}.svg,icon\n" for name in names))
    source = manifest if manifest.exists() else tmp_path
    assert reason in refused(source, start, tmp_path / "mine")


def test_broken_pictures_are_listed_and_the_rest_is_learnt(icons: Path, start: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "torn apart.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><path d="M1 1')
    (broken / "no picture.png").write_bytes(b"\x89PNG but not really")
    told = run(*arguments(icons, start, tmp_path / "mine", str(broken), "--allow-regression")).output
    assert '2 skipped, the first "' in told
    facts = json.loads((Places(tmp_path / "mine").corpus / "corpus.json").read_text())
    assert sorted(Path(file).name for file, _ in facts["skipped"]) == ["no picture.png", "torn apart.svg"]
    assert len(facts["words"]) == 64


def test_a_batch_that_the_ranks_do_not_divide_shrinks_and_too_few_icons_are_refused(
    icons: Path, start: Path, tmp_path: Path
) -> None:
    told = run(
        *arguments(icons, start, tmp_path / "mine", "--batch", "511", "--set", "accumulate=4", "--allow-regression")
    )
    assert "instead of 511" in told.output
    reason = "less than two for each of 1 ranks x 40 micro-batches"
    assert reason in refused(icons, start, tmp_path / "other", "--set", "accumulate=40")


def test_a_checkpoint_of_other_options_a_damaged_one_and_none_are_refused(tmp_path: Path) -> None:
    session, file = tiny_session(tiny_options()), tmp_path / "last.checkpoint"
    with pytest.raises(TrainError, match=r'no checkpoint at ".*"; run without --resume'):
        restore(session, None, file, made_by={})
    save_checkpoint(session, None, TrainingState(), file, made_by={"schedule": {"warm_up": 0.1}, "corpus": "a"})
    with pytest.raises(TrainError, match=r'made with other options \(warm_up was "0.1", now "0.2"\)'):
        restore(session, None, file, made_by={"schedule": {"warm_up": 0.2}, "corpus": "a"})
    state = torch.load(file, weights_only=True)
    state["trained"]["model.visual.proj"] = torch.zeros(2, 2)
    torch.save(state | {"made_by": {}}, file)
    with pytest.raises(TrainError, match="has another shape; --replace begins anew"):
        restore(session, None, file, made_by={})
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(TrainError, match="is damaged"):
        restore(session, None, file, made_by={})


RUIN = ["--rate", "1e30", "--set", "clip=1e30"]


def test_a_model_that_gives_no_numbers_is_neither_measured_nor_kept(icons: Path, start: Path, tmp_path: Path) -> None:
    """Of a huge rate the loss of the first step, and the gradient, still are numbers; the weights after it are not."""
    out = tmp_path / "mine"
    ruin = *RUIN, "--set", "steps=1", "--set", "warm_up=0", "--set", "checkpoint_seconds=0"
    assert 'the model is "nan" at step 1; the last good checkpoint stays: give a lower --rate' in refused(
        icons, start, out, *ruin
    )
    assert not any(path.exists() for path in (out, Places(out).checkpoint, Places(out).best))


@pytest.mark.slow
def test_after_a_loss_that_is_no_number_a_run_goes_on_with_a_lower_rate(
    icons: Path, start: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mine"
    given = arguments(icons, start, out, "--set", "steps=6", "--set", "validate_steps=1", "--allow-regression")
    run(*given, "--rate", "1e-12", "--set", "patience=2")  # nothing improves, so that it stops in the middle
    assert torch.load(Places(out).checkpoint, weights_only=True)["standing"]["step"] == 3
    assert 'is "nan" at step 4; the last good' in run(*given, "--resume", "--set", "patience=0", *RUIN, code=2).output
    assert torch.load(Places(out).checkpoint, weights_only=True)["standing"]["step"] == 3
    run(*given, "--resume", "--set", "patience=0", "--rate", "1e-3")
    after = torch.load(Places(out).checkpoint, weights_only=True)
    assert after["standing"]["step"] == 6
    assert max(group["peak"] for group in after["optimizer"]["param_groups"]) == 1e-3
    (told_run,) = json.loads((out / "training.json").read_text())["training"]
    changed = ['rate was "1e-12", now "0.001"', 'patience was "2", now "0"']
    assert told_run["changed"] == [{"step": 3, "options": changed}]


def test_a_folder_that_holds_no_model_is_never_replaced(icons: Path, start: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "diary.txt").write_text("dear")
    assert f'"{out}" holds "diary.txt", which a model would replace' in refused(icons, start, out)
    assert (out / "diary.txt").read_text() == "dear"
    assert "can't be made" in refused(icons, start, Path("/proc/no/place"))


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def test_a_model_or_an_earlier_run_is_replaced_where_that_is_asked_for_and_else_untouched(
    icons: Path, start: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mine"
    given = arguments(icons, start, out, "--allow-regression")
    run(*given)
    before = contents(tmp_path)
    already = f'Error: "{out}" is a model already; give another --out, or --replace to make it anew\n'
    assert run(*given, code=2).output.endswith(already) and contents(tmp_path) == before
    shutil.rmtree(out)  # as if it had ended after its last checkpoint
    before, told = contents(tmp_path), run(*given, code=2).output
    assert f'"{Places(out).work}" holds the checkpoint of an earlier run; --resume goes on from it' in told
    assert (told.count("\n"), contents(tmp_path)) == (2, before)
    run(*given, "--resume")
    written = (out / "training.json").read_text()
    assert "nothing has changed" in run(*given, "--replace", "--rate", "2e-3").output
    assert json.loads((out / "training.json").read_text()) != json.loads(written)
    assert "give one of them" in run(*given, "--replace", "--resume", code=2).output


def test_a_run_that_is_under_way_is_not_meddled_with(icons: Path, start: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    with working(Request(out)):
        before = contents(tmp_path)
        told = {refused(icons, start, out, *how).partition("Error: ")[2] for how in ([], ["--resume"], ["--replace"])}
        why = f'"{out}" is being made by another `icons lab finetune`; wait for it to end, or give another --out\n'
        assert (told, contents(tmp_path)) == ({why}, before)


def test_weights_are_untouched_by_a_step_whose_loss_is_no_number() -> None:
    session = tiny_session(tiny_options())
    session.student.model.logit_scale.data.fill_(float("nan"))
    before = {name: tensor.clone() for name, tensor in session.student.state_dict().items()}
    draw, parts = Feed(session.lesson, session.options, session.rank).read(0)
    taken = take_step(session, draw, parts, step=0)
    with pytest.raises(TrainError, match='the loss is "nan" at step 1'):
        list(read_results(session, [taken]))
    for name, tensor in session.student.state_dict().items():
        assert torch.equal(tensor, before[name]) or name == "model.logit_scale"


@pytest.mark.slow
def test_out_of_memory_says_what_helps(icons: Path, start: Path, tmp_path: Path) -> None:
    """A model of 512 px in a process that may take little memory."""
    vision = {**TINY["vision_cfg"], "image_size": 512, "patch_size": 128}
    (config := tmp_path / "config.json").write_text(json.dumps({**TINY, "vision_cfg": vision}))
    given = arguments(icons, start, tmp_path / "mine", "--batch", "46", "--new-model", str(config))
    script = (
        "import resource, sys; from indexer.finetune import rank; steps = rank._take_steps\n"
        "def limited(*given):\n"
        "    used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (used + (300 << 20), resource.RLIM_INFINITY))\n"
        "    return steps(*given)\n"
        "rank._take_steps = limited\n"
        "from search.cli import main; main(sys.argv[1:])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, *given], capture_output=True, check=False, timeout=120)
    assert done.returncode == 2, done.stderr.decode()
    assert b'out of memory with "46" pictures at once' in done.stderr
    assert b"larger --set accumulate=" in done.stderr


@pytest.mark.parametrize(
    ("chosen", "reason"),
    [
        ("--picture-tower locked --text-tower locked", "both towers are locked"),
        ("--set strategy=fsdp", "strategy=fsdp needs several processes"),
        ("--set sync_batch_norm=true", 'sync_batch_norm works on GPUs, not on "cpu"'),
        ("--set keep_words_weight=1 --set keep_words={words}", 'holds "1" texts'),
        ("--set lowest_quality=90 --set highest_quality=20", 'lowest_quality "90" is above highest_quality "20"'),
        ("--pretrained {words}", "has its own weights; --pretrained goes with an open_clip name"),
        ("--new-model {words}", "is not an open_clip config"),
        ("--new-model {config}", 'says text_cfg.layers "1000" of width "16384", more than its weights hold'),
    ],
)
def test_options_that_fit_nothing_are_refused(
    icons: Path, start: Path, tmp_path: Path, chosen: str, reason: str
) -> None:
    words, config = tmp_path / "words.txt", tmp_path / "config.json"
    words.write_text("one\n")
    config.write_text('{"embed_dim": 8, "vision_cfg": {}, "text_cfg": {"width": 16384, "layers": 1000}}')
    assert reason in refused(icons, start, tmp_path / "mine", *chosen.format(words=words, config=config).split())


@pytest.mark.slow
def test_a_corpus_is_not_gathered_anew_and_a_damaged_one_is_refused(icons: Path, start: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    run(*arguments(icons, start, out, "--allow-regression"))
    corpus = Places(out).corpus
    given = [
        "lab",
        "finetune",
        "--corpus",
        str(corpus),
        *arguments(icons, start, out, "--allow-regression", "--replace")[3:],
    ]
    run(*given)
    told = run(*given, "--captions", str(icons), "--set", "admit=permissive", code=2).output
    assert "--corpus was made with its own admit, captions" in told
    (corpus / "pixels.npy").write_bytes((corpus / "pixels.npy").read_bytes()[:60])
    assert 'pixels.npy" is damaged' in run(*given, code=2).output
    (corpus / "corpus.json").write_text("{")
    assert 'corpus.json" is damaged' in run(*given, code=2).output
    (corpus / "corpus.json").unlink()
    assert "is no corpus; give SOURCES" in run(*given, code=2).output
