"""Does a saved model load in stock open_clip and say the same?"""

import json
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from indexer.finetune.run import new_pair, save, train_folder
from PIL import Image
from torch.nn import functional

from indexer.checkpoint import ModelChoice, find_checkpoint
from indexer.encoder import Encoder
from indexer.finetune.corpus import Limits, build_corpus, gather, read_sources
from indexer.finetune.folder import new_model, write_folder
from indexer.finetune.retrieval import record_figures
from indexer.finetune.train import TrainOptions

LINEAGE = {"data": {"icons": 1, "base_names": 1, "captions": 1, "sets": [{"key": "a", "licence": "MIT"}]}}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    model = new_model().eval()
    pair = new_pair(model)
    torch.nn.init.normal_(pair.text_map, std=0.1)
    texts, pixels = open_clip.tokenize(["arrow up", "bin"], context_length=24), torch.rand(2, 3, 64, 64)
    pair.eval()
    with torch.no_grad():
        pictures, words, _ = pair(pixels, model.encode_text(texts, normalize=True), half=False)
    folder = tmp_path_factory.mktemp("out") / "model"
    save(pair, model, folder, lineage=LINEAGE)
    return folder, torch.cat([pictures, words]), pixels


def test_the_folder_loads_in_stock_open_clip_with_the_same_features(
    saved: tuple[Path, torch.Tensor, torch.Tensor],
) -> None:
    folder, expected, pixels = saved
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    with torch.no_grad():
        words = model.eval().encode_text(tokenizer(["arrow up", "bin"]), normalize=True)
        pictures = model.encode_image(pixels, normalize=True)
    assert functional.cosine_similarity(torch.cat([pictures, words]), expected).min() > 0.9999  # fp16 weights
    drawn = preprocess(Image.new("RGB", (32, 16), (0, 0, 0)))
    assert drawn.shape == (3, 64, 64)
    assert drawn[:, 0].min() == 1  # padded with white
    assert drawn[:, 32].max() == -1


def test_the_folder_says_how_it_was_made_and_stays_small(saved: tuple[Path, torch.Tensor, torch.Tensor]) -> None:
    folder = saved[0]
    assert json.loads((folder / "training.json").read_text("utf-8")) == LINEAGE
    assert "Never seen: Lucide" in (folder / "README.md").read_text("utf-8")
    assert (folder / "open_clip_model.safetensors").stat().st_size < 64e6
    assert sorted(path.name for path in folder.parent.iterdir()) == ["model"]


def test_icons_encodes_with_the_saved_folder(saved: tuple[Path, torch.Tensor, torch.Tensor]) -> None:
    folder, expected, _ = saved
    encoder = Encoder(find_checkpoint(ModelChoice(f"local-dir:{folder}")), device=torch.device("cpu"), precision="fp32")
    assert (encoder.image_size, encoder.dim, encoder.context_length) == (64, 384, 24)
    words = encoder.encode_texts(["arrow up", "bin"]).astype(np.float32)
    assert functional.cosine_similarity(torch.from_numpy(words), expected[2:]).min() > 0.9999


def test_an_older_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "left.txt").write_text("old")
    write_folder(torch.nn.Linear(1, 1), tmp_path / "model", lineage={}, card="new\n")
    assert (tmp_path / "model" / "README.md").read_text("utf-8") == "new\n"
    assert not (tmp_path / "model" / "left.txt").exists()


def test_a_corpus_becomes_a_folder_whose_lineage_names_its_data(tmp_path: Path) -> None:
    shapes = {f"shape-{chr(97 + number)}": f'<path d="M2 2h{number + 4}v{number + 3}z"/>' for number in range(12)}
    icons = {name: {"body": body} for name, body in shapes.items()}
    own = {
        "prefix": "own",
        "width": 24,
        "height": 24,
        "info": {"name": "Own", "license": {"spdx": "MIT"}},
        "icons": icons,
    }
    (tmp_path / "own.json").write_text(json.dumps(own), "utf-8")
    gathered = gather(read_sources([tmp_path / "own.json"]), extra_tags={}, limits=Limits())
    build_corpus(gathered, tmp_path / "corpus", limits=Limits(), workers=0)
    torch.manual_seed(0)
    write_folder(new_model(), tmp_path / "text", lineage={"distillation": ["first"]}, card="text\n")

    options = TrainOptions(passes=1, batch=4, precision="fp32")
    train_folder(tmp_path / "corpus", tmp_path / "text", tmp_path / "model", options=options, checkpoint=tmp_path / "c")

    lineage = json.loads((tmp_path / "model" / "training.json").read_text("utf-8"))
    assert lineage["distillation"] == ["first"]
    assert lineage["data"]["sets"] == [{"key": "own", "title": "Own", "version": None, "licence": "MIT", "icons": 12}]
    assert lineage["training"][0]["options"]["batch"] == 4
    record_figures(tmp_path / "model", {"meaning": {"fused": {"R@10": [0.5, 0.4, 0.6]}}})
    assert "| meaning | fused | 0.500 (0.400-0.600) |" in (tmp_path / "model" / "README.md").read_text("utf-8")
    assert find_checkpoint(ModelChoice(f"local-dir:{tmp_path / 'model'}")).fingerprint
