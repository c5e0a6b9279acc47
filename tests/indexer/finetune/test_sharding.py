"""Models over several ranks, and students of larger ones."""

import io
import json
import math
import pickle
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from lessons import PREPROCESS, TIMM, TINY, TOKENIZER, tiny_model, tiny_options, tiny_session
from PIL import Image
from test_gradients import TERMS, assert_as_alone, assert_examined_as_saved, assert_went_on, found_by_two_ranks
from torch.distributed.checkpoint import metadata
from torch.nn import functional

from data.making.model.distill import MODEL_CONFIG, new_model
from indexer.encoders.checkpoint import find_checkpoint
from indexer.encoders.torch_encoder import load_model
from indexer.errors import TrainError
from indexer.finetune.batches import Feed
from indexer.finetune.checkpoints import _Restricted, read_shards, restore
from indexer.finetune.folder import PREPROCESS_CONFIG, FolderFacts, write_model, write_random_model
from indexer.finetune.options import Distribution, FinetuneOptions, Schedule
from indexer.finetune.rank import check_devices
from indexer.finetune.step import Session, compute_gradients, make_optimizer, rate_share, take_step
from indexer.finetune.student import Average, Student, blocks, build, outline, weights_left_out
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


WORDS = ["arrow up", "bin", "a much longer text than the others"]


def step(session: Session, number: int = 0, *, rate: float = 1e-2) -> None:
    draw, parts = Feed(session.lesson, session.options, session.rank).read(number)
    for group in session.optimizer.param_groups:
        group["lr"] = rate
    take_step(session, draw, parts, step=number)


def outputs(model: Any) -> torch.Tensor:
    """Both towers of a plain model, in use."""
    torch.manual_seed(1)
    images = torch.rand(3, 3, 16, 16) * 2 - 1
    model.eval()
    with torch.no_grad():
        return torch.cat(
            [model.encode_image(images, normalize=True), model.encode_text(TOKENIZER(WORDS), normalize=True)]
        )


def student_outputs(student: Student) -> torch.Tensor:
    torch.manual_seed(1)
    student.eval()
    with torch.no_grad():
        return torch.cat([student.encode_images(torch.rand(3, 3, 16, 16)), student.encode_texts(TOKENIZER(WORDS))])


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"text_tower": "lora", "picture_tower": "lora", "lora_rank": 3, "lora_scale": 2.0},
        {"text_tower": "locked"},
        {"text_tower": "lora", "kind": "sigmoid"},
        {"picture_tower": "locked"},
    ],
)
def test_the_saved_weights_say_what_the_student_says(chosen: dict[str, Any]) -> None:
    session, before = tiny_session(tiny_options(**chosen)), tiny_model().state_dict()
    step(session)
    model, weights = tiny_model(seed=99), session.student.plain_weights()
    model.load_state_dict(weights)  # strict: the names are those of a plain model
    assert torch.allclose(outputs(model), student_outputs(session.student), atol=1e-5)
    assert any(not torch.equal(weights[name], before[name]) for name in before)


def test_a_trained_bias_is_saved_where_the_model_has_one() -> None:
    session = tiny_session(tiny_options(kind="sigmoid"), model=tiny_model(init_logit_bias=-5.0))
    step(session)
    assert session.student.plain_weights()["logit_bias"] == session.student.bias != -5.0
    tiny_model(init_logit_bias=0.0).load_state_dict(session.student.plain_weights())
    plain = tiny_session(tiny_options(kind="sigmoid")).student
    assert ("logit_bias" in plain.plain_weights(), plain.bias) == (False, -10.0)


@pytest.mark.parametrize(
    ("chosen", "still", "moving"),
    [
        (
            {"text_tower": "locked", "text_map": False},
            ("transformer.", "token_embedding", "text_projection"),
            "visual.",
        ),
        ({"picture_tower": "locked"}, ("visual.",), "transformer."),
        ({"picture_tower": "lora", "text_tower": "locked"}, ("visual.ln_post", "visual.class_embedding"), "visual."),
    ],
)
def test_what_is_locked_stays_and_the_rest_moves(chosen: dict[str, Any], still: tuple[str, ...], moving: str) -> None:
    session = tiny_session(tiny_options(**chosen), model=tiny_model())
    before = {name: tensor.clone() for name, tensor in session.student.plain_weights().items()}
    step(session)
    after = session.student.plain_weights()
    for name, tensor in before.items():
        if name.startswith(still):
            assert torch.equal(after[name], tensor), name
    assert any(not torch.equal(after[name], before[name]) for name in before if name.startswith(moving))


def test_the_average_is_the_running_mean_it_says() -> None:
    session = tiny_session(tiny_options(ema=0.6))
    average, live = Average(session.student, decay=0.6), session.student.state_dict()["model.visual.proj"]
    expected = live.clone()
    for number in range(4):
        step(session, number)
        average.update(number + 1)
        expected.lerp_(live, 1 - min(0.6, (number + 1) / (number + 10)))
    before = live.clone()
    with average.in_use():
        assert torch.allclose(live, expected, atol=1e-6)
    assert torch.equal(live, before)


def test_the_rate_rises_in_a_line_and_falls_in_a_cosine() -> None:
    shares = [rate_share(done, Schedule(warm_up=0.1, final_rate=0.05)) for done in (0.0, 0.05, 0.1, 0.55, 1.0)]
    assert shares == pytest.approx([0.01, 0.505, 1.0, 0.05 + 0.95 * 0.5, 0.05])


def test_towers_have_their_own_rates_and_only_matrices_decay() -> None:
    options = tiny_options(picture_rate=0.5, text_rate=0.1, map_rate=0.2, rate=1e-2, weight_decay=0.3)
    student = Student(tiny_model(), options, precision="fp32")
    named = {id(parameter): name for name, parameter in student.named_parameters()}
    found = {
        named[id(parameter)]: (group["peak"], group["weight_decay"])
        for group in make_optimizer(student, options).param_groups
        for parameter in group["params"]
    }
    for name, expected in (
        ("visual.transformer.resblocks.0.mlp.c_fc.weight", (5e-3, 0.3)),
        ("visual.ln_post.weight", (5e-3, 0.0)),
        ("transformer.resblocks.0.mlp.c_fc.bias", (1e-3, 0.0)),
        ("positional_embedding", (1e-3, 0.0)),
        ("token_embedding.weight", (1e-3, 0.3)),
        ("logit_scale", (2e-3, 0.0)),
    ):
        assert found[f"model.{name}"] == pytest.approx(expected), name
    assert found.keys() == {name for name, _ in student.named_parameters()}


def test_a_caption_pair_teaches_and_kept_words_stay_nearer_to_what_the_parent_said() -> None:
    def after(term: str, weight: float) -> float:
        """What a term of the loss says after some steps, as if it weighed 1."""
        name = term.replace("_weight", "")
        session = tiny_session(tiny_options(**{term: weight}, keep_words_batch=16))
        for number in range(8):
            step(session, number, rate=2e-3)
        draw, parts = Feed(session.lesson, session.options, session.rank).read(0)
        return compute_gradients(session, draw, parts, step=0)[1][name.replace("_", " ")].item() / weight

    assert after("caption_pair_weight", 5.0) < 0.9 * after("caption_pair_weight", 1e-6)
    assert after("keep_words_weight", 30.0) < 0.75 * after("keep_words_weight", 1e-6)


@pytest.mark.parametrize("start", [math.log(150.0), float(torch.tensor(math.log(100.0)).half())])
def test_a_scale_above_its_limit_is_brought_back_and_still_learns(start: float) -> None:
    """In fp16, as a parent may be saved, the logarithm of the limit lies above itself."""
    model = tiny_model()
    model.logit_scale.data.fill_(start)
    session, scale = tiny_session(tiny_options(), model=model), model.logit_scale
    assert scale.exp().item() == pytest.approx(100.0, rel=1e-5)
    scale.data.fill_(start)
    step(session)
    assert scale.grad is not None and scale.grad.abs() > 0 and scale <= math.log(100.0) + 1e-6


LINEAGE = {
    "distillation": [],
    "data": {"limits": {}, "icons": 1, "base_names": 1, "captions": 1, "sets": [{"key": "a", "licence": "MIT"}]},
}


def test_the_folder_loads_in_stock_open_clip_with_the_same_features(tmp_path: Path) -> None:
    torch.manual_seed(0)
    student = Student(new_model(), FinetuneOptions.of({"text_tower": "locked"}), precision="fp32").eval()
    torch.nn.init.normal_(student.text_map, std=0.1)
    folder, config = tmp_path / "model", {"model_cfg": MODEL_CONFIG, "preprocess_cfg": PREPROCESS_CONFIG}
    write_model(student.plain_weights(), folder, FolderFacts(config, LINEAGE, "# A model\n"))
    assert json.loads((folder / "training.json").read_text("utf-8")) == LINEAGE
    assert (folder / "README.md").read_text("utf-8") == "# A model\n"
    assert (folder / "open_clip_model.safetensors").stat().st_size < 64e6
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    tokens, pixels = open_clip.get_tokenizer(f"local-dir:{folder}")(["arrow up", "bin"]), torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        expected = torch.cat([student.encode_images(pixels), student.encode_texts(tokens)])
        pictures = model.eval().encode_image(pixels * 2 - 1, normalize=True)
        found = torch.cat([pictures, model.encode_text(tokens, normalize=True)])
    assert functional.cosine_similarity(found, expected).min() > 0.9999  # fp16 weights
    drawn = preprocess(Image.new("RGB", (32, 16), (0, 0, 0)))
    assert (drawn.shape, drawn[:, 0].min(), drawn[:, 32].max()) == ((3, 64, 64), 1, -1), "padded with white"
