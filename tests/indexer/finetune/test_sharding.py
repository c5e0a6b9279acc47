"""Training a model that no device holds whole: outlines without weights, shards by block, states in shards."""

import io
import json
import pickle
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from lessons import PREPROCESS, TIMM, TINY, tiny_model, tiny_options, tiny_session
from test_gradients import TERMS, assert_as_alone, assert_examined_as_saved, assert_went_on, found_by_two_ranks
from torch.distributed.checkpoint import metadata

from indexer.encoders.checkpoint import find_checkpoint
from indexer.encoders.torch_encoder import load_model
from indexer.errors import TrainError
from indexer.finetune.checkpoints import _Restricted, read_shards, restore
from indexer.finetune.folder import write_random_model
from indexer.finetune.options import Distribution
from indexer.finetune.rank import check_devices
from indexer.finetune.student import Average, blocks, build, outline, weights_left_out
from indexer.ranks import Rank

CONFIGS: dict[str, dict[str, Any]] = {
    "open_clip": TINY,
    "custom text": {**TINY, "custom_text": True},
    "timm": {**TINY, "vision_cfg": {"timm_model_name": "vit_tiny_patch16_224", **TIMM}, "custom_text": True},
}


CASES: dict[str, dict[str, Any]] = {
    "all terms": {**TERMS},
    "locked with map": {"text_tower": "locked"},
    "lora": {"text_tower": "lora", "picture_tower": "lora", "lora_rank": 2},
    "accumulated": {"accumulate": 2},
    "all with all": {"local": False},
    "blocks in a sequence": {"tower": "convnext_atto"},
}
RESUMED: dict[str, dict[str, Any]] = {
    "shards": {},
    "shards, accumulated": {"accumulate": 2, "kind": "sigmoid"},
    "shards of additions": {"text_tower": "lora", "picture_tower": "lora"},
}
EXAMINED: dict[str, dict[str, Any]] = {"exam": {"rate": 1e-2}}
SHARDED: dict[str, Any] = {"strategy": "fsdp", "ema": 0.6}


@pytest.fixture(scope="module")
def from_two_ranks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    given = {"gradients": CASES, "resumed": RESUMED, "examined": EXAMINED}
    cases = {kind: {name: SHARDED | chosen for name, chosen in it.items()} for kind, it in given.items()}
    return found_by_two_ranks(tmp_path_factory.mktemp("shards"), cases | {"memory": {"is_measured": {}}})


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_shards_have_the_gradients_of_one_process_with_the_whole_batch(
    case: str, from_two_ranks: dict[str, Any]
) -> None:
    assert_as_alone(from_two_ranks[case], CASES[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", RESUMED)
def test_shards_that_were_cut_go_on_to_the_same_weights_and_averages(case: str, from_two_ranks: dict[str, Any]) -> None:
    assert_went_on(from_two_ranks[case])


@pytest.mark.slow
def test_the_exam_of_shards_is_sat_with_the_weights_that_are_saved(from_two_ranks: dict[str, Any]) -> None:
    assert_examined_as_saved(from_two_ranks["exam"])


@pytest.mark.parametrize("config", CONFIGS)
def test_an_outline_has_the_shapes_and_buffers_of_the_model_and_no_weights(config: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"model_cfg": CONFIGS[config], "preprocess_cfg": PREPROCESS}))
    checkpoint = find_checkpoint(write_random_model(file, tmp_path / "model", seed=1))
    model, hollow = load_model(checkpoint), outline(checkpoint)
    assert all(parameter.is_meta for parameter in hollow.parameters())
    shapes = [{name: tensor.shape for name, tensor in it.state_dict().items()} for it in (model, hollow)]
    assert shapes[0] == shapes[1]
    buffers = dict(model.named_buffers())
    assert buffers
    torch.testing.assert_close(dict(hollow.named_buffers()), buffers, rtol=0, atol=0)
    assert hollow.visual.preprocess_cfg == model.visual.preprocess_cfg


@pytest.mark.parametrize(
    ("vision", "expected"),
    [
        ({"timm_model_name": "resnet10t", **TIMM}, {"BasicBlock": 4}),
        ({"timm_model_name": "vit_tiny_patch16_224", **TIMM}, {"Block": 12}),
        ({"timm_model_name": "convnext_atto", **TIMM}, {"ConvNeXtBlock": 12}),
        ({"timm_model_name": "swin_tiny_patch4_window7_224", **TIMM, "image_size": 224}, {"SwinTransformerBlock": 12}),
        ({"layers": [1, 1, 2, 1], "width": 8, "image_size": 32, "head_width": 16}, {"Bottleneck": 5}),
        (TINY["vision_cfg"], {"ResidualAttentionBlock": 2}),
    ],
)
def test_a_model_is_sharded_by_its_blocks_wherever_they_stand(vision: Any, expected: dict[str, int]) -> None:
    with weights_left_out():
        model = build({**TINY, "vision_cfg": vision})
    found = [type(block).__name__ for block in blocks(model.visual)]
    assert {name: found.count(name) for name in found} == expected
    assert len([block for block in blocks(model) if type(block).__name__ == "ResidualAttentionBlock"]) >= 2
    within = sum(parameter.numel() for block in blocks(model.visual) for parameter in block.parameters())
    assert within > 0.4 * sum(parameter.numel() for parameter in model.visual.parameters())


def test_what_a_gpu_older_than_ampere_takes_by_itself_is_refused_with_what_to_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    message = 'does not work in "fp16", which precision=auto takes on GPUs older than Ampere; give --set precision=bf16'
    with pytest.raises(TrainError, match=message):
        check_devices(Distribution(strategy="fsdp"), rank=Rank(0, 0, 2), device=torch.device("cuda:0"))
    bf16 = Distribution(strategy="fsdp", precision="bf16")
    check_devices(bf16, rank=Rank(0, 0, 2), device=torch.device("cuda:0"))


@pytest.mark.slow
def test_no_rank_has_more_at_once_than_a_block_and_what_is_no_block(from_two_ranks: dict[str, Any]) -> None:
    model = tiny_model(vision_cfg={"timm_model_name": "convnext_atto", **TIMM})
    sizes = [sum(parameter.numel() for parameter in block.parameters()) for block in blocks(model)]
    total = sum(parameter.numel() for parameter in model.parameters())
    expected = (max(sizes) + total - sum(sizes)) / total
    assert from_two_ranks["most at once"] == pytest.approx(expected, abs=0.001) and expected < 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:torch.distributed is disabled")  # which is meant: one process reads
def test_shards_are_read_by_another_number_of_ranks(from_two_ranks: dict[str, Any]) -> None:
    written, session = from_two_ranks["shards"]["written"], tiny_session(tiny_options(ema=0.6))
    average = Average(session.student, decay=0.6)
    read_shards({"trained": session.student.state_dict(), "averaged": average.tensors}, Path(written["path"]))
    for kind, tensors in {"live": session.student.state_dict(), "averaged": average.tensors}.items():
        torch.testing.assert_close({name: tensors[name] for name in written[kind]}, written[kind], rtol=0, atol=0)


@pytest.mark.slow
def test_a_state_in_shards_that_is_cut_short_damaged_or_of_another_strategy_is_refused(
    from_two_ranks: dict[str, Any],
) -> None:
    path, session = Path(from_two_ranks["shards"]["written"]["path"]), tiny_session(tiny_options())
    with pytest.raises(TrainError, match="was made with another strategy"):
        restore(session, None, path, made_by={})
    tensors = {"trained": session.student.state_dict()}
    (folder,) = path.iterdir()
    metadata = folder / ".metadata"
    whole = metadata.read_bytes()
    try:
        metadata.write_bytes(pickle.dumps(open_clip.create_model))
        with pytest.raises(TrainError, match="is damaged"):
            read_shards(tensors, path)
    finally:
        metadata.write_bytes(whole)


class _Attribute:
    """Is pickled as an attribute of something else, as Python 3.11.2 does it with members of enumerations."""

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.owner, self.name)


def test_a_list_of_shards_may_hold_members_of_enumerations_and_no_other_attribute() -> None:
    kind: Any = metadata._MEM_FORMAT_ENCODING
    member = next(iter(kind))
    assert _Restricted(io.BytesIO(pickle.dumps(_Attribute(kind, member.name)))).load() is member
    for owner, error in ((kind, KeyError), (metadata.TensorStorageMetadata, pickle.UnpicklingError)):
        with pytest.raises(error):
            _Restricted(io.BytesIO(pickle.dumps(_Attribute(owner, "__init__")))).load()


@pytest.mark.parametrize("name", ["_MEM_FORMAT_ENCODING.TORCH_CHANNELS_LAST", "os.PathLike", "Metadata.__class__"])
def test_a_list_of_shards_reaches_nothing_through_a_dotted_name(name: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=name):
        _Restricted(io.BytesIO(b"")).find_class(metadata.__name__, name)
