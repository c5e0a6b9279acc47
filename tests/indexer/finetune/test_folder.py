"""A saved model loads in stock open_clip and says the same."""

import json
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from click.testing import CliRunner
from PIL import Image
from torch.nn import functional

from data.making.model.distill import MODEL_CONFIG, new_model, write_folder
from indexer.encoders.checkpoint import ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Encoder
from indexer.errors import ModelError
from indexer.finetune.folder import PREPROCESS_CONFIG, FolderFacts, write_model
from indexer.finetune.gather import Limits, gather, read_sources
from indexer.finetune.lesson import build_corpus
from indexer.finetune.options import FinetuneOptions
from indexer.finetune.student import Student
from search.cli import main

LINEAGE = {
    "distillation": [],
    "data": {"limits": {}, "icons": 1, "base_names": 1, "captions": 1, "sets": [{"key": "a", "licence": "MIT"}]},
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    student = Student(new_model(), FinetuneOptions.of({"text_tower": "locked"}), precision="fp32").eval()
    assert student.text_map is not None
    torch.nn.init.normal_(student.text_map, std=0.1)
    tokens, pixels = open_clip.tokenize(["arrow up", "bin"], context_length=24), torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        pictures, words = student.encode_images(pixels), student.encode_texts(tokens)
    folder = tmp_path_factory.mktemp("out") / "model"
    config = {"model_cfg": MODEL_CONFIG, "preprocess_cfg": PREPROCESS_CONFIG}
    write_model(student.plain_weights(), folder, FolderFacts(config, LINEAGE, "# A model\n"))
    return folder, torch.cat([pictures, words]), pixels


def test_the_folder_loads_in_stock_open_clip_with_the_same_features(
    saved: tuple[Path, torch.Tensor, torch.Tensor],
) -> None:
    folder, expected, pixels = saved
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    with torch.no_grad():
        words = model.eval().encode_text(tokenizer(["arrow up", "bin"]), normalize=True)
        pictures = model.encode_image(pixels * 2 - 1, normalize=True)
    assert functional.cosine_similarity(torch.cat([pictures, words]), expected).min() > 0.9999  # fp16 weights
    drawn = preprocess(Image.new("RGB", (32, 16), (0, 0, 0)))
    assert drawn.shape == (3, 64, 64)
    assert drawn[:, 0].min() == 1  # padded with white
    assert drawn[:, 32].max() == -1


def test_the_folder_says_how_it_was_made_and_stays_small(saved: tuple[Path, torch.Tensor, torch.Tensor]) -> None:
    folder = saved[0]
    assert json.loads((folder / "training.json").read_text("utf-8")) == LINEAGE
    assert (folder / "README.md").read_text("utf-8") == "# A model\n"
    assert (folder / "open_clip_model.safetensors").stat().st_size < 64e6
    assert sorted(path.name for path in folder.parent.iterdir()) == ["model"]


def test_icons_encodes_with_the_saved_folder(saved: tuple[Path, torch.Tensor, torch.Tensor]) -> None:
    folder, expected, _ = saved
    encoder = Encoder(find_checkpoint(ModelChoice(f"local-dir:{folder}")), device=torch.device("cpu"), precision="fp32")
    assert (encoder.image_size, encoder.dim, encoder.context_length) == (64, 384, 24)
    words = encoder.encode_texts(["arrow up", "bin"]).astype(np.float32)
    assert functional.cosine_similarity(torch.from_numpy(words), expected[2:]).min() > 0.9999


def test_an_older_model_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "left.txt").write_text("old")
    for _ in range(2):
        with pytest.raises(ModelError, match=r'holds "left.txt", which a model would replace'):
            write_folder(torch.nn.Linear(1, 1), tmp_path / "model", lineage={}, card="new\n")
        assert (tmp_path / "model" / "left.txt").read_text() == "old"
        (tmp_path / "model" / "training.json").write_text("{}")
    (tmp_path / "model" / "left.txt").rename(tmp_path / "model" / "README.md")
    write_folder(torch.nn.Linear(1, 1), tmp_path / "model", lineage={}, card="new\n")
    assert (tmp_path / "model" / "README.md").read_text("utf-8") == "new\n"


@pytest.mark.slow
def test_the_shipped_model_is_trained_from_a_corpus_and_keeps_its_teaching(own_iconify: Path, tmp_path: Path) -> None:
    gathered = gather(read_sources({own_iconify: ()}, []), limits=Limits(), refuse=lambda _: None)
    build_corpus(gathered, tmp_path / "corpus", limits=Limits(), workers=0)
    torch.manual_seed(0)
    write_folder(new_model(), tmp_path / "text", lineage={"distillation": ["first"]}, card="text\n")
    given = ["--corpus", str(tmp_path / "corpus"), "--model", f"local-dir:{tmp_path / 'text'}", "--batch", "4"]
    given += [
        "--text-tower",
        "locked",
        "--passes",
        "1",
        "--set",
        "precision=fp32",
        "--devices",
        "cpu",
        "--set",
        "held_out=50",
    ]

    result = CliRunner().invoke(
        main, ["lab", "finetune", *given, "--out", str(tmp_path / "model"), "--allow-regression"]
    )

    assert result.exit_code == 0, result.output
    lineage = json.loads((tmp_path / "model" / "training.json").read_text("utf-8"))
    assert lineage["distillation"] == ["first"]
    assert lineage["data"]["sets"] == [{"key": "own", "title": "Own", "version": None, "licence": "MIT", "icons": 12}]
    assert lineage["training"][0]["options"]["loss"]["batch"] == 4
