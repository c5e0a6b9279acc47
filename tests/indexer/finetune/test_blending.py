"""Does a text tower come to lie between those of two models?"""

import json
from pathlib import Path

import pytest
import torch

from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import load_model
from indexer.errors import ModelError
from indexer.finetune.model.folder import MODEL_CONFIG, new_model, write_folder, write_random_model
from indexer.finetune.model.lineage import read_lineage
from indexer.finetune.words.blending import blend_folder


def _written(folder: Path, *, seed: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(seed)
    write_folder(new_model(), folder, lineage={"relation": [seed]}, card="# One\n")
    return _weights(folder)


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    weights: dict[str, torch.Tensor] = load_model(find_checkpoint(ModelChoice(f"{LOCAL}{folder}"))).state_dict()
    return weights


@pytest.mark.slow
def test_words_are_a_share_of_both_and_pictures_are_the_later_ones(tmp_path: Path) -> None:
    earlier, later = _written(tmp_path / "earlier", seed=1), _written(tmp_path / "later", seed=2)
    blend_folder(tmp_path / "earlier", tmp_path / "later", tmp_path / "out", share=0.75)
    blended = _weights(tmp_path / "out")
    assert list(blended) == list(later)
    for name, tensor in blended.items():
        expected = later[name] if name.startswith("visual.") else 0.25 * earlier[name] + 0.75 * later[name]
        torch.testing.assert_close(tensor, expected, atol=2e-3, rtol=2e-3)
    assert not torch.equal(blended["text_projection"], later["text_projection"])
    lineage = read_lineage(tmp_path / "out")
    assert lineage["blend"] == [{"earlier": "earlier", "later": "later", "share": 0.75}]
    assert lineage["relation"] == [2]


def test_models_of_different_architectures_are_refused(tmp_path: Path) -> None:
    _written(tmp_path / "earlier", seed=1)
    (tmp_path / "config.json").write_text(json.dumps(MODEL_CONFIG | {"embed_dim": 128}))
    write_random_model(tmp_path / "config.json", tmp_path / "later", seed=2)
    with pytest.raises(ModelError, match='later" are of different architectures'):
        blend_folder(tmp_path / "earlier", tmp_path / "later", tmp_path / "out", share=0.75)
    assert not (tmp_path / "out").exists()
