"""Is each planted defect found by its rule, and nothing else found in a folder that was sound before?"""

from collections.abc import Callable
from pathlib import Path

import pytest
from lint_icons import copy_samples, found_in, lint_folder, shapes_of, text_of
from PIL import Image

from search.linting.findings import Report
from search.linting.rules.table import RULES

_METADATA = (
    '<metadata xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:RDF><rdf:Description rdf:about="drawing"/>'
    + "<!-- exported -->" * 3
    + "</rdf:RDF></metadata>"
)
_PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def _replaced(name: str, old: str, new: str) -> str:
    text = text_of(name)
    assert old in text
    return text.replace(old, new)


def _with(name: str, more: str) -> str:
    return text_of(name).replace("</svg>", f"{more}</svg>")


def _moved(name: str, transform: str) -> str:
    return text_of(name).replace(shapes_of(name), f'<g transform="{transform}">{shapes_of(name)}</g>')


PLANTED: dict[str, tuple[str, Callable[[], str], set[str]]] = {
    "a copy": ("album-2", lambda: text_of("album"), {"identical"}),
    "a copy moved by a hair": ("tractor-2", lambda: _moved("tractor", "translate(.3 .2)"), {"near-duplicate"}),
    "a larger canvas": (
        "bell-plus",
        lambda: _moved("bell-plus", "scale(1.33333333)").replace("0 0 24 24", "0 0 32 32"),
        {"view-box"},
    ),
    "no viewBox": ("cog", lambda: _replaced("cog", 'viewBox="0 0 24 24"', ""), {"view-box"}),
    "a line out of the canvas": (
        "equal-approximately",
        lambda: _with("equal-approximately", '<path d="M-3 12h30"/>'),
        {"out-of-bounds", "live-area"},
    ),
    "a line up to the edge": ("book-search", lambda: _with("book-search", '<path d="M12 1.3v21.4"/>'), {"live-area"}),
    "beside the middle": ("chevron-left", lambda: _moved("chevron-left", "translate(-5 0)"), {"off-centre"}),
    "a thinner stroke": ("dna-off", lambda: _replaced("dna-off", 'width="2"', 'width="1.5"'), {"stroke-width"}),
    "scaled by a group": (
        "power",
        lambda: _moved("power", "translate(3 3) scale(.75)"),
        {"stroke-width"},
    ),
    "butt ends": ("git-branch-plus", lambda: _replaced("git-branch-plus", 'cap="round"', 'cap="butt"'), {"line-cap"}),
    "sharp turns": ("sword", lambda: _replaced("sword", 'join="round"', 'join="miter"'), {"corner"}),
    "a sharp rectangle": (
        "mail-search",
        lambda: _with("mail-search", '<rect x="6" y="8" width="3" height="3"/>'),
        {"radius"},
    ),
    "a colour": ("balloon", lambda: _replaced("balloon", "currentColor", "#e11d48"), {"colour"}),
    "a colour in a style sheet": (
        "clipboard",
        lambda: _with("clipboard", "<style>.lucide{stroke:#1d4ed8}</style>"),
        {"colour"},
    ),
    "pixels": ("radar", lambda: _with("radar", f'<image href="{_PIXEL}" width="1" height="1"/>'), {"raster"}),
    "text": ("form", lambda: _with("form", '<text x="9" y="9" font-size="3">a</text>'), {"text"}),
    "a script": ("menu", lambda: _with("menu", "<script>fetch('/')</script>"), {"active"}),
    "a handler": ("move", lambda: _replaced("move", "<svg", '<svg onload="fetch()"'), {"active"}),
    "metadata": ("siren", lambda: _with("siren", _METADATA), {"bloat"}),
    "nothing": ("ribbon", lambda: text_of("ribbon").replace(shapes_of("ribbon"), ""), {"blank"}),
    "half a file": ("shrimp", lambda: text_of("shrimp")[:150], {"broken"}),
}

_PAIRS = (("ambulance", "croissant"), ("thumbs-up", "database-check"), ("hamburger", "playing-card"))
EXCHANGED = {**dict(_PAIRS), **{other: one for one, other in _PAIRS}}


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copy_samples(tmp_path_factory.mktemp("planted") / "icons")
    for name, drawn, _ in PLANTED.values():
        (folder / f"{name}.svg").write_text(drawn(), "utf-8")
    for one, other in EXCHANGED.items():
        (folder / f"{one}.svg").write_text(text_of(other))
    Image.new("RGB", (24, 24), "red").save(folder / "photo.png")
    return folder


@pytest.fixture(scope="module")
def report(planted: Path) -> Report:
    return lint_folder(planted)


def test_a_sound_folder_has_no_findings(tmp_path: Path) -> None:
    report = lint_folder(copy_samples(tmp_path / "icons"))
    assert (report.n_icons, report.findings) == (120, ())


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_found_by_its_rule_alone(report: Report, defect: str) -> None:
    name, _, rules = PLANTED[defect]
    assert {rule for rule, icon in found_in(report) if icon == name} == rules


def test_names_that_were_exchanged_are_found_with_what_is_drawn_instead(report: Report) -> None:
    told = {finding.icons[0].name: finding for finding in report.findings if finding.rule == "name"}
    assert told.keys() <= EXCHANGED.keys()
    assert len(told) >= 4
    assert '"ambulance"' in told["croissant"].message


def test_a_picture_in_pixels_among_svgs_is_found(report: Report) -> None:
    assert ("raster", "photo") in found_in(report)


def test_nothing_is_found_where_nothing_was_planted(report: Report) -> None:
    planted = {name for name, _, _ in PLANTED.values()} | {"album", "tractor", "photo"}
    assert {name for rule, name in found_in(report) if rule != "name"} == planted


def test_a_message_tells_the_value_and_what_the_set_does(report: Report) -> None:
    told = {(finding.rule, finding.icons[0].name): finding.message for finding in report.findings}
    assert told["stroke-width", "dna-off"] == "stroke-width is 1.5; 119 of 121 icons have 2"
    assert told["colour", "balloon"] == "painted with #e11d48; 119 of 121 icons with currentColor"
    assert told["view-box", "bell-plus"].startswith('viewBox is "0 0 32 32"; ')
    assert told["view-box", "cog"].startswith("viewBox is missing (width and height say 24 x 24); ")


def test_every_rule_but_that_of_the_grid_has_a_planted_defect(report: Report) -> None:
    assert {rule for rule, _ in found_in(report)} == RULES.keys() - {"grid"}


def test_lines_off_the_grid_are_found_in_a_set_that_keeps_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "icons"
    folder.mkdir()
    for number in range(30):
        (folder / f"bar-{number}.svg").write_text(_bar(2 + number / 2, 4))
    (folder / "bar-off.svg").write_text(_bar(5.3, 9))
    report = lint_folder(folder, "grid")
    assert [finding.icons[0].name for finding in report.findings] == ["bar-off"]
    assert "such as 5.3" in report.findings[0].message


def _bar(x: float, y: float) -> str:
    path = f'<path d="M{x} {y}h4v8"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#000">{path}</svg>'


def test_a_mixture_is_told_once_and_not_icon_by_icon(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 40)
    for file in sorted(folder.iterdir())[:16]:
        file.write_text(file.read_text().replace('stroke-width="2"', 'stroke-width="1.5"'))
    report = lint_folder(folder, "stroke-width")
    assert [finding.message for finding in report.findings] == ["stroke-width is mixed: 2 in 24, 1.5 in 16 of 40 icons"]
    assert report.findings[0].severity == "note"


def test_a_set_of_many_colours_is_left_alone(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 40)
    for number, file in enumerate(sorted(folder.iterdir())):
        file.write_text(file.read_text().replace("currentColor", f"#{number * 5:02x}40{255 - number:02x}"))
    assert lint_folder(folder, "colour").findings == ()


def test_a_set_in_black_is_told_once_that_it_takes_no_colour(tmp_path: Path) -> None:
    folder = copy_samples(tmp_path / "icons", 40)
    for file in folder.iterdir():
        file.write_text(file.read_text().replace("currentColor", "#000"))
    (finding,) = lint_folder(folder, "colour").findings
    assert finding.message == "40 of 40 icons are painted with #000: they can't take the colour of a text"
