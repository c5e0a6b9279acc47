"""Are sets told by their keys, by their titles, and by what code calls them?"""

import pytest

from search.words.codes import SetNames

SETS = {
    "mdi": "Material Design Icons",
    "ic": "Google Material Icons",
    "fa": "Font Awesome 4",
    "fa-solid": "Font Awesome 5 Solid",
    "fa6-solid": "Font Awesome 6 Solid",
    "fa6-brands": "Font Awesome 6 Brands",
    "bi": "Bootstrap Icons",
    "bx": "BoxIcons",
    "@acme/icons": "Acme",
}
NAMES = SetNames(list(SETS), list(SETS.values()))


def _keys(codes: tuple[int, ...] | None) -> set[str] | None:
    return None if codes is None else {list(SETS)[code] for code in codes}


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("mdi", {"mdi"}),
        (" MDI ", {"mdi"}),
        ("fa", {"fa"}),
        ("@acme/icons", {"@acme/icons"}),
        ("Font Awesome", {"fa", "fa-solid", "fa6-solid", "fa6-brands"}),
        ("fontawesome", {"fa", "fa-solid", "fa6-solid", "fa6-brands"}),
        ("font-awesome 6", {"fa6-solid", "fa6-brands"}),
        ("fa6", {"fa6-solid", "fa6-brands"}),
        ("Font  Awesome 6 Solid", {"fa6-solid"}),
        ("material", {"mdi", "ic"}),
        ("Material Design", {"mdi"}),
        ("acme", {"@acme/icons"}),
        ("box icons", {"bx"}),
        ("awesome font", set()),
        ("nonsense", set()),
        ("materia", set()),
        ("", set()),
        ("--", set()),
    ],
)
def test_people_mean_sets_by_key_or_by_words_of_their_titles(name: str, keys: set[str]) -> None:
    assert _keys(NAMES.meant(name)) == keys


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("mdi", {"mdi"}),
        ("MDI", {"mdi"}),
        ("fa", {"fa"}),
        ("@acme/icons", {"@acme/icons"}),
        ("lucide", set()),  # well known, and not here
        ("fas", None),
        ("arrow", None),
        ("", None),
    ],
)
def test_a_qualified_name_means_the_set_of_its_key(key: str, keys: set[str] | None) -> None:
    assert _keys(NAMES.with_key(key)) == keys


@pytest.mark.parametrize(
    ("begins", "in_class", "in_component"),
    [
        ("fas", {"fa-solid", "fa6-solid"}, None),
        ("fa", {"fa", "fa-solid", "fa6-solid", "fa6-brands"}, {"fa", "fa-solid", "fa6-solid", "fa6-brands"}),
        ("far", set(), None),
        ("material-icons", {"ic"}, None),
        ("Md", None, {"ic"}),
        ("bs", None, {"bi"}),
        ("bi", {"bi"}, {"bi"}),
        ("ti", set(), set()),
        ("ai", None, set()),
        ("arrow", None, None),
    ],
)
def test_code_means_sets_that_it_calls_by_other_names(
    begins: str, in_class: set[str] | None, in_component: set[str] | None
) -> None:
    assert _keys(NAMES.in_class(begins)) == in_class
    assert _keys(NAMES.in_component(begins)) == in_component


def test_a_set_of_ones_own_is_meant_by_its_key_whatever_else_is_called_so() -> None:
    names = SetNames(["ai", "ant-design", "md"], ["Robots", "Ant Design Icons", "Notes"])
    assert names.in_class("ai") == (0,)
    assert names.in_component("ai") == (0, 1)
    assert names.in_component("md") == (2,)


def test_sets_whose_keys_differ_in_case_alone_are_meant_together() -> None:
    names = SetNames(["Icons", "icons", "other"], ["Mine", "Yours", "Theirs"])
    assert names.meant("ICONS") == (0, 1)
    assert names.with_key("icons") == (0, 1)
    assert (names.meant("mine"), names.meant("theirs"), names.meant("nobody's")) == ((0,), (2,), ())


def test_a_library_without_sets_means_none() -> None:
    names = SetNames([], [])
    assert (names.meant("mdi"), names.with_key("mdi"), names.with_key("own")) == ((), (), None)
