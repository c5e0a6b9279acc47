"""Which text tower lies between two? Weights of a model before and after it was taught, averaged.

What the later one has learnt of icons and what the earlier one knew of words add up, as both began alike: WiSE-FT
(Wortsman et al., Robust fine-tuning of zero-shot models, CVPR 2022, section 3).
"""

from pathlib import Path

from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import load_model
from indexer.errors import ModelError
from indexer.finetune.model.folder import write_folder
from indexer.finetune.model.lineage import check_replaceable, read_lineage

_PICTURES = "visual."


def blend_folder(earlier: Path, later: Path, out: Path, *, share: float) -> None:
    """Write `later` with a text tower that is `share` its own and the rest that of `earlier`.

    Raises:
        ModelError: the two are not of one architecture.
    """
    check_replaceable(out)
    before, model = (load_model(find_checkpoint(ModelChoice(f"{LOCAL}{folder}"))) for folder in (earlier, later))
    weights, old = model.state_dict(), before.state_dict()
    if {name: it.shape for name, it in weights.items()} != {name: it.shape for name, it in old.items()}:
        raise ModelError(f'"{earlier}" and "{later}" are of different architectures; blend two that have one parent')
    for name, tensor in weights.items():
        if not name.startswith(_PICTURES) and tensor.is_floating_point():
            weights[name] = old[name].lerp(tensor, share)
    model.load_state_dict(weights)
    lineage = read_lineage(later)
    blends = [*lineage.get("blend", []), {"earlier": earlier.name, "later": later.name, "share": share}]
    write_folder(
        model, out, lineage=lineage | {"blend": blends}, card="# Words blended\n\nThe pictures are to follow.\n"
    )
