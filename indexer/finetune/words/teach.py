"""How does a text tower become a model folder? Teach it English, then what icons are called; write its lineage too."""

from dataclasses import asdict
from pathlib import Path

import torch

from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import load_model
from indexer.finetune.corpus.lesson import read_facts
from indexer.finetune.model.folder import new_model, write_folder
from indexer.finetune.model.lineage import check_replaceable, read_lineage
from indexer.finetune.words.distill import DistillOptions, distill, distillation_facts, start_token_table
from indexer.finetune.words.relate import RelateOptions, families_of, recall_of_names, relate
from indexer.finetune.words.vocabulary import synonyms, teaching_texts


def teach_folder(
    corpus: Path, out: Path, *, wordnet: Path | None, cache: Path, parent: Path | None, options: DistillOptions
) -> dict[str, float]:
    """Teach the text tower of `parent`, or of a new model, with the words of a corpus; write the folder `out`."""
    check_replaceable(out)
    texts, n_icon_texts = teaching_texts(read_facts(corpus), wordnet=wordnet, seed=options.seed)
    torch.manual_seed(options.seed)
    if parent is None:
        model = new_model()
        start_token_table(model, cache=cache)
    else:
        model = load_model(find_checkpoint(ModelChoice(f"{LOCAL}{parent}")))
    measured = distill(model, texts, n_icon_texts=n_icon_texts, cache=cache, options=options)
    rounds = [*(read_lineage(parent).get("distillation", []) if parent else []), distillation_facts(options, measured)]
    write_folder(
        model, out, lineage={"distillation": rounds}, card="# Text tower only\n\nThe picture tower is random.\n"
    )
    return measured


def relate_folder(
    corpus: Path, out: Path, *, wordnet: Path, cache: Path, parent: Path, options: RelateOptions
) -> dict[str, float]:
    """Teach the text tower of `parent` which words name the same icon; write the folder `out`, return figures."""
    check_replaceable(out)
    facts = read_facts(corpus)
    learnt, held_out = families_of(facts)
    everyday, _ = teaching_texts(facts, wordnet=wordnet, seed=options.seed)
    model = load_model(find_checkpoint(ModelChoice(f"{LOCAL}{parent}")))
    before = {f"before: {name}": value for name, value in recall_of_names(model, held_out).items()}
    measured = relate(model, learnt, synonyms(wordnet), everyday, cache=cache, options=options)
    measured |= before | recall_of_names(model, held_out)
    lineage = read_lineage(parent)
    rounds = [*lineage.get("relation", []), {"options": asdict(options), "measured": measured}]
    write_folder(
        model, out, lineage=lineage | {"relation": rounds}, card="# Words only\n\nThe pictures are to follow.\n"
    )
    return measured
