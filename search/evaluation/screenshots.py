"""Screenshots of icons as queries: made, asked, measured.

Each change is drawn from a seed of its own, so that one icon has the same theme and the same neighbours at every size
and beside every other change: curves over size and bars over changes compare like with like.
"""

import colorsys
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from indexer.arrays import Floats, Ids, Pixels
from indexer.errors import RenderError, SourceError
from indexer.rendering.render import as_png, draw
from indexer.reports.figures import Ranks, right_ranks
from search.evaluation.queries import N_INSTEAD, Case, Corpus, as_rank
from search.evaluation.rankers import ENCODED_AT_ONCE, CorpusVectors, in_blocks

Layer = NDArray[np.float64]
"""RGB, 0 to 255, (height, width, 3)."""
Colour = NDArray[np.float64]
"""RGB, 0 to 255, (3,)."""

SIZES = (48, 32, 24, 20, 16)
"""In pixels, mildest first: how large icons are drawn in toolbars, menus and lists."""
CHANGES = ("theme", "background", "crop", "blur", "jpeg")
USUAL_SIZE = 24
BAR = ("theme", "background", "blur")
"""The changes under which nearly every icon should still be found."""
LEAST_CONTRAST = 3.0
"""Of ink and ground: WCAG 2.2, success criterion 1.4.11."""
_THEMES: Mapping[str, tuple[tuple[int, int] | None, tuple[int, int] | None]] = {
    "light": ((0, 110), (235, 255)),
    "dark": ((190, 255), (10, 60)),
    "coloured ground": ((235, 255), None),
    "coloured ink": (None, (235, 255)),
}
"""How bright ink and ground are; None: of any colour."""
WHITE, BLACK = np.full(3, 255.0), np.zeros(3)


@dataclass(frozen=True, slots=True)
class Condition:
    """How pictures are taken: the icon's longer side in pixels, and what is done to it."""

    size: int
    changes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Short, for tables: "24 px theme+blur"."""
        return f"{self.size} px {self.name}"

    @property
    def name(self) -> str:
        """What is done, without the size."""
        return "all" if self.changes == CHANGES else "+".join(self.changes) or "clean"


def conditions() -> list[Condition]:
    """All conditions of an evaluation: three curves over sizes, and each change alone at the usual size."""
    curves = [Condition(size, changes) for changes in ((), BAR, CHANGES) for size in SIZES]
    return [*curves, *(Condition(USUAL_SIZE, (change,)) for change in CHANGES)]


def take_screenshot(icon: Pixels, neighbours: Sequence[Pixels], condition: Condition, *, seed: Sequence[int]) -> bytes:
    """Make the picture that a person would ask with: PNG, or JPEG where the condition says so.

    `icon` and `neighbours` are RGBA, (height, width, 4), drawn with their longer side at the condition's size.
    """
    random = {change: np.random.default_rng([*seed, number]) for number, change in enumerate(CHANGES)}
    changes, size = condition.changes, condition.size
    icon = _squared(icon, size)
    ink, ground = _themed(icon, random["theme"]) if "theme" in changes else _plain(icon)
    canvas = np.tile(ground, (3 * size, 3 * size, 1))  # the icon stands in the middle
    if "background" in changes:
        canvas = _background(ground, 3 * size, random["background"])
    _lay(canvas, icon, ink, top=size, left=size)
    window = slice(size, -size), slice(size, -size)
    if "crop" in changes:
        # Up to 8 % of the icon's box are lost at each side, or up to 35 % beside it come along.
        left, top, right, bottom = (round(margin) for margin in random["crop"].uniform(-0.08, 0.35, 4) * size)
        window = slice(size - top, 2 * size + bottom), slice(size - left, 2 * size + right)
        _lay_neighbours(canvas, [_squared(other, size) for other in neighbours], ink, random["crop"])
    picture = Image.fromarray(canvas[window].clip(0, 255).round().astype(np.uint8))
    if "blur" in changes:
        picture = picture.filter(ImageFilter.GaussianBlur(random["blur"].uniform(0.4, 0.8)))
    if "jpeg" in changes:
        written = io.BytesIO()
        picture.save(written, "JPEG", quality=int(random["jpeg"].integers(40, 81)))
        return written.getvalue()
    return as_png(np.asarray(picture))


def _squared(icon: Pixels, size: int) -> Pixels:
    """Centre a drawn icon on a transparent square, as the index does."""
    height, width = icon.shape[:2]
    top, left = (size - height) // 2, (size - width) // 2
    return np.pad(icon, ((top, size - height - top), (left, size - width - left), (0, 0)))


def is_of_one_colour(icon: Pixels) -> bool:
    """Tell whether all that shows of a drawn icon has one colour, so that a theme would colour it."""
    shown = icon[icon[..., 3] > 32][:, :3].astype(np.int64)
    return bool(len(shown)) and int((shown.max(axis=0) - shown.min(axis=0)).max()) <= 24


def contrast(one: Colour, other: Colour) -> float:
    """Contrast ratio of two colours, 1 to 21: WCAG 2.2, "contrast ratio"."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    linear = np.where(colour <= 10, colour / 255 / 12.92, ((colour / 255 + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def _own_colour(icon: Pixels) -> Colour:
    alpha = icon[..., 3].astype(np.float64)
    return np.asarray((icon[..., :3] * alpha[..., None]).sum(axis=(0, 1)) / max(1.0, alpha.sum()), np.float64)


def _plain(icon: Pixels) -> tuple[Colour | None, Colour]:
    """No ink, as the icon keeps its own colours, on white, or on black where white would swallow them."""
    return None, WHITE if contrast(_own_colour(icon), WHITE) > 1.2 else BLACK


def _themed(icon: Pixels, random: np.random.Generator) -> tuple[Colour | None, Colour]:
    """Light, dark or coloured. Icons of several colours keep them, on a ground that they show on."""
    ink, ground = _theme(random)
    if is_of_one_colour(icon):
        return ink, ground
    own = _own_colour(icon)
    return None, ground if contrast(own, ground) > 1.5 else max((WHITE, BLACK), key=lambda it: contrast(own, it))


def _theme(random: np.random.Generator) -> tuple[Colour, Colour]:
    """Draw ink and ground until they differ enough."""
    kind = random.choice(tuple(_THEMES))
    while True:
        ink, ground = (
            np.array(colorsys.hsv_to_rgb(random.uniform(), random.uniform(0.55, 0.95), random.uniform(0.4, 0.9))) * 255
            if span is None
            else np.full(3, random.uniform(*span)) + random.uniform(-6, 6, 3)
            for span in _THEMES[kind]
        )
        if contrast(ink, ground) >= LEAST_CONTRAST:
            return ink, ground


def _background(ground: Colour, side: int, random: np.random.Generator) -> Layer:
    """A square ground that is not flat: a gradient, the edge of a panel through the middle third, or grain."""
    shift = random.uniform(12, 36) * (-1 if ground.mean() >= 70 else 1)
    angle, offset = random.uniform(0, 2 * np.pi), random.uniform(-0.35, 0.35)
    steps = np.linspace(-1.5, 1.5, side)  # the middle third is -0.5 to 0.5
    across = steps[None] * np.cos(angle) + steps[:, None] * np.sin(angle)
    kind = random.choice(("gradient", "panel", "grain"))
    if kind == "gradient":
        share = (across + 0.5).clip(0, 1)
    elif kind == "panel":
        share = (across > offset).astype(np.float64)
    else:
        share = random.normal(0.5, 0.35, (side, side))
    return np.asarray(ground + share[..., None] * shift)


def _lay_neighbours(
    canvas: Layer, neighbours: Sequence[Pixels], ink: Colour | None, random: np.random.Generator
) -> None:
    """Put other icons before and behind, in a row or in a column, as toolbars and menus do."""
    size = len(canvas) // 3
    pitch = size + round(random.uniform(0.1, 0.4) * size)
    in_a_row = random.integers(2)
    for neighbour, start in zip(neighbours, (size - pitch, size + pitch), strict=False):
        top, left = (size, start) if in_a_row else (start, size)
        _lay(canvas, neighbour, ink if is_of_one_colour(neighbour) else None, top=top, left=left)


def _lay(canvas: Layer, icon: Pixels, ink: Colour | None, *, top: int, left: int) -> None:
    """Draw an icon onto a canvas, in `ink` or in its own colours; what stands outside is cut."""
    height, width = canvas.shape[:2]
    rows, columns = slice(max(0, -top), height - top), slice(max(0, -left), width - left)
    part = icon[rows, columns]
    place = canvas[max(0, top) :, max(0, left) :][: part.shape[0], : part.shape[1]]
    alpha = part[..., 3:] / 255
    place[:] = (1 - alpha) * place + alpha * (part[..., :3] if ink is None else ink)


TASK = "screenshot"


@dataclass(frozen=True, slots=True)
class Shots:
    """Icons to take screenshots of; pictures by their places in a corpus."""

    images: Ids
    """(n,), ascending."""
    contents: Sequence[bytes]
    """Of each."""
    seeds: Sequence[tuple[int, int]]
    """Of each: the task's seed and the picture's id in the catalog."""
    right: Sequence[Ids]
    """Pictures that are right for each, ascending."""
    unreadable: int
    """Pictures of the sample that are left out because their source has gone or changed."""

    def __len__(self) -> int:
        return len(self.images)


def choose_shots(corpus: Corpus, vectors: CorpusVectors, *, n: int, seed: int) -> Shots:
    """Choose `n` pictures of a corpus by lot, all if it has fewer; variants and equal drawings are right, too."""
    lot = np.random.default_rng(seed).permutation(np.flatnonzero(vectors.has_image))[:n]
    contents = {}
    for image in sorted(lot.tolist()):
        with suppress(SourceError):
            contents[image] = corpus.content(image)
    images = np.fromiter(contents, np.int64)
    right = []
    for image in images.tolist():
        icons = corpus.showing(image)
        right.append(np.unique(corpus.image_rows[np.union1d(corpus.variants(icons), corpus.drawn_alike(icons))]))
    seeds = [(seed, image) for image in corpus.image_ids[images].tolist()]
    return Shots(images, list(contents.values()), seeds, right, len(lot) - len(images))


def take(shots: Shots, place: int, condition: Condition) -> bytes:
    """Take one screenshot of a sample: the same bytes for the same seed and library, whatever else is asked."""
    icon = draw(shots.contents[place], size=condition.size)
    beside: list[NDArray[np.uint8]] = []
    if "crop" in condition.changes:
        others = np.random.default_rng([*shots.seeds[place], len(CHANGES)]).integers(len(shots), size=2).tolist()
        beside = [draw(shots.contents[other], size=condition.size) for other in others]
    return take_screenshot(icon, beside, condition, seed=shots.seeds[place])


def rank_shots(shots: Shots, vectors: CorpusVectors, condition: Condition) -> list[Ranks]:
    """Ranks of each screenshot's right pictures, ascending."""
    ranks: list[Ranks] = []
    for block in in_blocks(len(shots), n_candidates=len(vectors.images), most=ENCODED_AT_ONCE):
        places = range(block.start, block.stop)
        scores = _scores([take(shots, place, condition) for place in places], vectors)
        ranks += [right_ranks(row, shots.right[place]) for place, row in zip(places, scores, strict=True)]
    return ranks


def worst_shots(
    shots: Shots, ranks: Sequence[Ranks], corpus: Corpus, vectors: CorpusVectors, condition: Condition, *, n: int
) -> list[Case]:
    """Show the `n` screenshots whose right picture stands lowest, the worst first."""
    first = np.array([found[0] for found in ranks], np.int64)
    cases = []
    for place in np.argsort(-first, kind="stable")[:n].tolist():
        picture = take(shots, place, condition)
        [scores] = _scores([picture], vectors)
        order = np.argsort(-scores, kind="stable")[: 10 * N_INSTEAD]
        right = corpus.shown(corpus.first_rows[shots.images[[place]]], k=1)
        cases.append(
            Case(
                query=right[0].name,
                task=f"{TASK} {condition.label}",
                rank=as_rank(int(first[place])),
                n_right=len(shots.right[place]),
                right=right,
                instead=corpus.shown(corpus.first_rows[order], k=N_INSTEAD),
                picture=picture,
            )
        )
    return cases


def _scores(pictures: Sequence[bytes], vectors: CorpusVectors) -> Floats:
    """Score every picture of the corpus for each one asked with, (asked, corpus); one that shows nothing ranks none."""
    size = vectors.encoder.image_size
    pixels = [_pixels(picture, size) for picture in pictures]
    shown = [np.zeros((size, size, 3), np.uint8) if it is None else it for it in pixels]
    scores: Floats = vectors.encoder.encode_many_pictures(np.stack(shown)) @ vectors.images.T
    scores[:, ~vectors.has_image] = -np.inf
    scores[[it is None for it in pixels]] = -np.inf
    return scores


def _pixels(picture: bytes, size: int) -> NDArray[np.uint8] | None:
    from indexer.rendering.screenshot import cut_out

    try:
        return cut_out(picture, size=size)
    except RenderError:
        return None
