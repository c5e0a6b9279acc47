"""An encoder from a stranger: nothing in it is run, and no name in it fetches anything."""

import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import huggingface_hub.constants
import pytest
import torch
from click.testing import CliRunner
from conftest import save_tiny_model
from onnx import TensorProto, helper
from safetensors.torch import load_file, save_file

from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.devices import HOST
from indexer.encoders.export import write_graphs
from indexer.encoders.graphs import find_graphs, load_encoder
from indexer.encoders.query_encoder import Tower
from indexer.encoders.torch_encoder import load_model
from indexer.errors import ModelError
from indexer.library.durable import with_checksum
from search.cli import main


class Attack:
    """Unpickled, it makes a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> object:
        return Path.touch, (self.file,)


@pytest.mark.parametrize("is_zip", [True, False])
@pytest.mark.parametrize("where", ["folder", pytest.param("file", marks=pytest.mark.slow)])
def test_code_in_a_checkpoint_is_refused_and_not_run(tmp_path: Path, where: str, is_zip: bool) -> None:
    attack = pickle.dumps({"state_dict": Attack(tmp_path / "pwned")})
    pickle.loads(attack)
    (tmp_path / "pwned").unlink()  # so it would have worked
    folder = save_tiny_model(tmp_path / "model", seed=1)
    (folder / "open_clip_model.safetensors").unlink()
    weights = folder / "open_clip_pytorch_model.bin"
    weights.write_bytes(attack)
    if is_zip:  # the container that torch.save writes
        with zipfile.ZipFile(weights, "w") as archive:
            archive.writestr("archive/data.pkl", attack)
            archive.writestr("archive/version", "3")
    choice = ModelChoice(f"local-dir:{folder}") if where == "folder" else ModelChoice("RN50", str(weights))
    with pytest.raises(ModelError, match="does not load as model"):
        load_model(find_checkpoint(choice))
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "config",
    ["", "[]", "{}", "null", '{"model_cfg": 3}', '{"model_cfg": {"embed_dim": 3}}', '{"a":' * 100_000,
     '{"model_cfg": {"embed_dim": 3, "text_cfg": []}}', '{"model_cfg": {"embed_dim": 3, "text_cfg": {}}}',
     '{"model_cfg": {"embed_dim": 3, "text_cfg": {}, "vision_cfg": {}}, "preprocess_cfg": [1]}', " " * 2_000_000],
    ids=["empty", "list", "object", "null", "number", "no-text", "deep", "text-list", "no-vision", "colours", "long"],
)  # fmt: skip
def test_a_config_of_another_form_is_refused_by_its_path(tmp_path: Path, config: str) -> None:
    folder = save_tiny_model(tmp_path / "model", seed=1)
    (folder / "open_clip_config.json").write_text(config)
    with pytest.raises(ModelError, match=r'open_clip_config.json" is not an open_clip config'):
        find_checkpoint(ModelChoice(f"local-dir:{folder}"))


NAN, HUGE = float("nan"), 10**10


def change(folder: Path, field: str, value: object) -> Path:
    """Have the config of a tiny model say something else of a field; returns the config."""
    file = folder / "open_clip_config.json"
    config = json.loads(file.read_text())
    *parts, name = ("model_cfg." * (not field.startswith("preprocess_cfg")) + field).split(".")
    part = config
    for each in parts:
        part = part[each]
    part[name] = value
    file.write_text(json.dumps(config))
    return file


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("vision_cfg.image_size", [-1, 0, 100_000, "32", True, None, 32.0, [], [32, 64], [0, 0], {"a": 1}]),
        ("vision_cfg.patch_size", [0, -8, HUGE, "8"]),
        ("vision_cfg.width", [0, HUGE, True]),
        ("preprocess_cfg.mean", [0, [0.5, 0.5], [NAN] * 3, [1e40] * 3, "grey", [0.5, 0.5, True], {}]),
        ("preprocess_cfg.std", [0, [0, 0, 0], [0.5, 0.5], [NAN] * 3, [1e40] * 3, [-0.5] * 3, "grey"]),
        ("embed_dim", [0, -1, HUGE, "32", True, 32.5, [32]]),
        ("text_cfg.context_length", [0, -1, 2, HUGE, "16"]),
        ("text_cfg.vocab_size", [0, HUGE]),
        ("text_cfg.width", [0, HUGE, 16_384, "32"]),
        ("text_cfg.layers", [0, HUGE, [1, 2]]),
        ("text_cfg.heads", [0, HUGE]),
    ],
)
def test_a_number_that_no_model_has_is_refused_by_its_field_before_anything_is_made(
    tmp_path: Path, field: str, values: list[object]
) -> None:
    folder = save_tiny_model(tmp_path / "model", seed=1)
    for value in values:
        file = change(folder, field, value)
        with pytest.raises(ModelError) as refused:
            find_checkpoint(ModelChoice(f"local-dir:{folder}"))
        part, _, name = field.rpartition(".")
        assert str(refused.value).startswith(f'"{file}" says {part}{"." * bool(part)}'), refused.value
        assert f'{name} "{value}"' in str(refused.value)


SAID = {
    "zero": (0.0, "", 'each picture the same vector ("0.0000" and so on)'),
    "nan": (NAN, "", '"nan" for a picture'),
    "infinite": (float("inf"), "", '"nan" for a picture'),
    "pictures": (0.0, "visual.conv1.weight", "each picture the same vector ("),
    "words": (0.0, "text_projection", 'each word the same vector ("0.0000" and so on)'),
    "a word": (NAN, "token_embedding.weight", '"nan" for a word'),
}
"""What weights hold, all or those of one name, and what is said of that."""


def ruined(folder: Path, number: float, name: str, *, in_pickle: bool = False) -> Path:
    """Give a tiny model other weights; in_pickle: in a file of torch's own."""
    file = save_tiny_model(folder, seed=1) / "open_clip_model.safetensors"
    weights = load_file(file)
    weights = {each: torch.full_like(it, number) if name in each else it for each, it in weights.items()}
    file.unlink()
    if in_pickle:
        torch.save(weights, file.with_name("open_clip_pytorch_model.bin"))
    else:
        save_file(weights, file)
    return folder


@pytest.mark.parametrize(("kind", "has_graphs"), [*((kind, False) for kind in SAID), ("pictures", True)])
def test_weights_that_say_nothing_are_refused_with_what_was_seen(tmp_path: Path, kind: str, has_graphs: bool) -> None:
    """With graphs torch and ONNX Runtime agree on every vector."""
    number, name, said = SAID[kind]
    folder = ruined(tmp_path / "model", number, name, in_pickle=kind == "zero")
    if has_graphs:
        write_graphs(folder)
    checkpoint = find_checkpoint(ModelChoice(f"local-dir:{folder}"))
    assert (find_graphs(checkpoint) is not None) == has_graphs
    with pytest.raises(ModelError) as refused:
        load_encoder(checkpoint, device=HOST, precision="fp32", n_images=1)
    assert f'model "local-dir:{folder}" gives {said}' in str(refused.value)
    assert str(refused.value).endswith("its weights are broken; give --model another one")


@pytest.mark.parametrize("kind", ["a number that no model has", "weights that say nothing"])
def test_a_model_that_is_none_ends_index_and_finetune_in_one_line(icon_folder: Path, tmp_path: Path, kind: str) -> None:
    said = "each picture the same vector"
    if kind == "weights that say nothing":
        ruined(tmp_path / "model", 0.0, "")
    else:
        file = change(save_tiny_model(tmp_path / "model", seed=1), "vision_cfg.image_size", 100_000)
        said = f'"{file}" says vision_cfg.image_size "100000", not a number from 1 to 4096; save the model again'
    library = tmp_path / "library"
    model = ["--model", f"local-dir:{tmp_path / 'model'}", "--devices", "cpu", "--library", str(library)]
    for command in (["index"], ["lab", "finetune", "--out", str(tmp_path / "out")]):
        done = CliRunner().invoke(main, [*command, str(icon_folder), *model])
        assert done.exit_code == 2, done.output
        (error,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
        assert said in error
    assert not list(library.glob("encoders/*/encoder.json")), "it was exported"
    assert {path.name for path in tmp_path.glob("out.work/*")} <= {"lock"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("image_size", -1), ("image_size", 100_000), ("dim", "x"), ("context_length", HUGE), ("end_token", -1)],
)
def test_a_stored_encoder_that_says_what_none_has_is_refused_before_anything_is_made(
    copied: Path, field: str, value: object
) -> None:
    (file,) = copied.glob("encoders/*/encoder.json")
    facts = json.loads(file.read_text()) | {field: value}
    del facts["sha256"]
    file.write_text(json.dumps(with_checksum(facts)))
    done = CliRunner().invoke(main, ["search", "arrow", "--library", str(copied)])
    assert done.exit_code == 2 and f'query encoder "{file.parent}" can\'t be read ("{field}" may not be' in done.stderr


TEXT_TOWERS = ("someone/text-tower", "../../etc", "/etc/passwd", "https://example.org/x")
PICTURE_TOWERS = ("hf-hub:someone/tower", "hf_hub:someone/tower", "local-dir:/etc", "../tower", 5)


@pytest.mark.parametrize(
    ("tower", "field", "name"),
    [
        *(("text_cfg", "hf_model_name", name) for name in TEXT_TOWERS),
        *(("vision_cfg", "timm_model_name", name) for name in PICTURE_TOWERS),
    ],
)
def test_a_tower_that_lies_elsewhere_is_refused_and_fetches_nothing(
    tmp_path: Path, tower: str, field: str, name: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    folder = save_tiny_model(tmp_path / "model", seed=1)
    change(folder, f"{tower}.{field}", name)
    said = "no leave to fetch" if tower == "text_cfg" else f'is not an open_clip config \\(.*"{field}" may not be'
    with pytest.raises(ModelError, match=said) as refused:
        find_checkpoint(ModelChoice(f"local-dir:{folder}"))
    assert tower != "text_cfg" or f'names "{name}", which is not on this machine' in str(refused.value)


@pytest.mark.parametrize("name", ["../canary", "{folder}/canary", "link"])
def test_a_graph_whose_weights_lie_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "encoder").mkdir()
    (tmp_path / "canary").write_bytes(b"\0\0\x80\x3f" * 4)
    (tmp_path / "encoder" / "link").symlink_to(tmp_path / "canary")
    weights = TensorProto(name="w", dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": name.format(folder=tmp_path), "offset": "0", "length": "16"}.items():
        weights.external_data.add(key=key, value=value)
    ends = [helper.make_tensor_value_info(end, TensorProto.FLOAT, [4]) for end in ("x", "y")]
    model = helper.make_model(
        helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", ends[:1], ends[1:], [weights]),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=9,
    )
    (tmp_path / "encoder" / "text.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(RuntimeError, match="External data path"):
        Tower(tmp_path / "encoder" / "text.onnx", threads=1)


def test_offline_forbids_even_a_model_that_was_asked_for(tmp_path: Path) -> None:
    asked = ["index", "--offline", "--model", "hf-hub:someone/clip", "--library", str(tmp_path / "library")]
    # What answers at this port would be fetched; nobody does, so any attempt takes long or names the port.
    done = subprocess.run(
        [sys.executable, "-c", "from search.cli import main; main()", *asked],
        env=os.environ | {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "127.0.0.1" in done.stderr) == (2, False)
    assert '"hf-hub:someone/clip" is not on this machine, and --offline forbids to fetch it' in done.stderr
