"""What is trained is what should be, and what is saved is what was trained."""

import math
from typing import Any

import pytest
import torch
from lessons import TOKENIZER, tiny_model, tiny_options, tiny_session
from torch import nn

from indexer.finetune.batches import Feed
from indexer.finetune.options import FinetuneOptions, Schedule
from indexer.finetune.step import Session, compute_gradients, make_optimizer, peak_rate, rate_share, take_step
from indexer.finetune.student import Average, Student, make_student

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
    images = torch.rand(3, 3, 16, 16)
    tokens = TOKENIZER(WORDS)
    student.eval()
    with torch.no_grad():
        return torch.cat([student.encode_images(images), student.encode_texts(tokens)])


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
    session = tiny_session(tiny_options(**chosen))
    before = tiny_model().state_dict()
    step(session)
    model = tiny_model(seed=99)
    weights = session.student.plain_weights()
    model.load_state_dict(weights)  # strict: the names are those of a plain model
    assert torch.allclose(outputs(model), student_outputs(session.student), atol=1e-5)
    assert any(not torch.equal(weights[name], before[name]) for name in before)


def test_a_trained_bias_is_saved_where_the_model_has_one() -> None:
    session = tiny_session(tiny_options(kind="sigmoid"), model=tiny_model(init_logit_bias=-5.0))
    step(session)
    assert session.student.bias is not None
    saved = session.student.plain_weights()["logit_bias"]
    assert saved == session.student.bias
    assert saved != -5.0
    tiny_model(init_logit_bias=0.0).load_state_dict(session.student.plain_weights())
    plain = tiny_session(tiny_options(kind="sigmoid")).student
    assert "logit_bias" not in plain.plain_weights()
    assert plain.bias == -10.0


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
    average = Average(session.student, decay=0.6)
    name = "model.visual.proj"
    expected = session.student.state_dict()[name].clone()
    for number in range(4):
        step(session, number)
        average.update(number + 1)
        weight = 1 - min(0.6, (number + 1) / (number + 10))
        expected = expected * (1 - weight) + session.student.state_dict()[name] * weight
    live = session.student.state_dict()[name].clone()
    assert torch.allclose(average.tensors[name], expected, atol=1e-6)
    with average.in_use():
        assert torch.allclose(session.student.state_dict()[name], expected, atol=1e-6)
    assert torch.equal(session.student.state_dict()[name], live)


def test_the_rate_rises_in_a_line_and_falls_in_a_cosine() -> None:
    schedule = Schedule(warm_up=0.1, final_rate=0.05)
    assert rate_share(0.0, schedule) == pytest.approx(0.01)
    assert rate_share(0.05, schedule) == pytest.approx(0.505)
    assert rate_share(0.1, schedule) == pytest.approx(1.0)
    assert rate_share(0.55, schedule) == pytest.approx(0.05 + 0.95 * 0.5)
    assert rate_share(1.0, schedule) == pytest.approx(0.05)


@pytest.mark.parametrize(("rule", "factor"), [("none", 1.0), ("linear", 4.0), ("sqrt", 2.0)])
def test_the_rate_grows_with_the_batch_as_asked(rule: str, factor: float) -> None:
    options = FinetuneOptions.of({"batch": 2048, "rate": 1e-3, "scale_rate": rule})
    assert peak_rate(options) == pytest.approx(1e-3 * factor)


def test_towers_have_their_own_rates_and_only_matrices_decay() -> None:
    options = tiny_options(picture_rate=0.5, text_rate=0.1, map_rate=0.2, rate=1e-2, weight_decay=0.3)
    student = Student(tiny_model(), options, precision="fp32")
    optimizer = make_optimizer(student, options)
    named = {id(parameter): name for name, parameter in student.named_parameters()}
    found = {
        named[id(parameter)]: (group["peak"], group["weight_decay"])
        for group in optimizer.param_groups
        for parameter in group["params"]
    }
    assert found["model.visual.transformer.resblocks.0.mlp.c_fc.weight"] == pytest.approx((5e-3, 0.3))
    assert found["model.visual.ln_post.weight"] == pytest.approx((5e-3, 0.0))
    assert found["model.transformer.resblocks.0.mlp.c_fc.bias"] == pytest.approx((1e-3, 0.0))
    assert found["model.positional_embedding"] == pytest.approx((1e-3, 0.0))
    assert found["model.token_embedding.weight"] == pytest.approx((1e-3, 0.3))
    assert found["model.logit_scale"] == pytest.approx((2e-3, 0.0))
    assert found.keys() == {name for name, _ in student.named_parameters()}


def test_a_caption_pair_teaches_which_captions_belong_together() -> None:
    def left(weight: float) -> float:
        """Loss between two captions of each icon, after some steps."""
        session = tiny_session(tiny_options(caption_pair_weight=weight, picture_tower="locked"))
        for number in range(8):
            step(session, number)
        draw, parts = Feed(session.lesson, session.options, session.rank).read(0)
        return compute_gradients(session, draw, parts, step=0)[1]["caption pair"] / weight

    assert left(5.0) < 0.9 * left(1e-6)


def test_kept_words_stay_nearer_to_what_the_parent_said() -> None:
    def moved(weight: float) -> float:
        session = tiny_session(tiny_options(keep_words_weight=weight or 1e-12, keep_words_batch=16))
        for number in range(6):
            step(session, number, rate=1e-3)
        kept = session.lesson.kept_words
        assert kept is not None
        with torch.no_grad():
            now = session.student.encode_texts(kept.text_inputs.long())
        before = kept.vectors.float()
        return float((now @ now.T - before @ before.T).square().mean())

    assert moved(30.0) < 0.75 * moved(0.0)


@pytest.mark.parametrize("start", [math.log(150.0), float(torch.tensor(math.log(100.0)).half())])
def test_a_scale_above_its_limit_is_brought_back_and_still_learns(start: float) -> None:
    """In fp16, as a parent may be saved, the logarithm of the limit lies above itself."""
    model = tiny_model()
    with torch.no_grad():
        model.logit_scale.fill_(start)
    session = tiny_session(tiny_options(ema=0.6), model=model)
    average = Average(session.student, decay=0.6)
    scale = model.logit_scale
    assert scale.exp().item() == pytest.approx(100.0, rel=1e-5)
    with torch.no_grad():
        for name, parameter in session.student.named_parameters():
            if name == "model.logit_scale":
                parameter.fill_(start)
    step(session)
    average.update(1)
    assert scale.grad is not None
    assert scale.grad.abs() > 0
    assert scale <= math.log(100.0) + 1e-6
    assert average.tensors["model.logit_scale"] <= math.log(100.0) + 1e-6


def test_synchronised_batch_norms_do_what_the_others_did() -> None:
    """In use, that is: while they learn they need GPUs. Some of timm's hold an activation, too."""
    vision = {"timm_model_name": "regnetx_002", "timm_pool": "avg", "timm_proj": "linear", "image_size": 32}
    images = torch.rand(2, 3, 32, 32)
    said = []
    for is_synchronised in (False, True):
        model = tiny_model(vision_cfg=vision)
        student = make_student(model, tiny_options(sync_batch_norm=is_synchronised), "fp32").eval()
        norms = (module for module in model.visual.modules() if isinstance(module, nn.modules.batchnorm._BatchNorm))
        kinds = {type(norm).__name__ for norm in norms}
        assert kinds == ({"SyncBatchNormAct"} if is_synchronised else {"BatchNormAct2d"})
        with torch.no_grad():
            said.append(student.encode_images(images))
    assert torch.allclose(said[0], said[1], atol=1e-6)


def test_gradients_do_not_explode_past_the_clip() -> None:
    session = tiny_session(tiny_options(clip=0.5))
    draw, parts = Feed(session.lesson, session.options, session.rank).read(0)
    result = take_step(session, draw, parts, step=0)
    norms = [parameter.grad.norm() for parameter in session.student.parameters() if parameter.grad is not None]
    assert result.gradient_norm > 0.5
    assert math.sqrt(sum(float(norm) ** 2 for norm in norms)) == pytest.approx(0.5, rel=1e-3)
