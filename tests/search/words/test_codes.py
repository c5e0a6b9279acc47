"""Icons and sets are read as code and people call them, and words stay words."""

import time

import pytest

from search.words.codes import IN_CLASSES, IN_COMPONENTS, Code, SetNames, read_code

SETS = {
    "mdi": "Material Design Icons",
    "mdi-light": "Material Design Light",
    "lucide": "Lucide",
    "lucide-lab": "Lucide Lab",
    "fa": "Font Awesome 4",
    "fa-solid": "Font Awesome 5 Solid",
    "fa6-solid": "Font Awesome 6 Solid",
    "fa7-solid": "Font Awesome Solid",
    "fa-regular": "Font Awesome 5 Regular",
    "fa-brands": "Font Awesome 5 Brands",
    "ic": "Google Material Icons",
    "bi": "Bootstrap Icons",
    "bx": "BoxIcons",
    "bxs": "BoxIcons Solid",
    "ph": "Phosphor",
    "ri": "Remix Icon",
    "tabler": "Tabler Icons",
    "map": "Map Icons",
    "token": "Web3 Icons",
    "circle-flags": "Circle Flags",
}
NAMES = SetNames(list(SETS), list(SETS.values()))
SOLID = ("fa-solid", "fa6-solid", "fa7-solid")
AWESOME = ("fa", *SOLID, "fa-regular", "fa-brands")


def _read(text: str, names: SetNames = NAMES) -> tuple[str, tuple[str, ...], bool] | None:
    """Name, keys of the sets in their order, and whether it is certain."""
    code = read_code(text, names)
    return None if code is None else (code.name, tuple(list(SETS)[place] for place in code.sets), code.is_certain)


@pytest.mark.parametrize(
    ("text", "name", "sets"),
    [
        ("mdi:home", "home", ("mdi",)),
        ("  mdi:home ", "home", ("mdi",)),
        ("MDI:Home", "Home", ("mdi",)),
        ("mdi/home", "home", ("mdi",)),
        ("@mdi/home", "home", ("mdi",)),
        ("mdi--home", "home", ("mdi",)),
        ("mdi:account-outline", "account-outline", ("mdi",)),
        ("circle-flags:us", "us", ("circle-flags",)),
        ("i-mdi-home", "home", ("mdi",)),
        ("i-mdi:home", "home", ("mdi",)),
        ("i-lucide-bell", "bell", ("lucide",)),
        ("i-lucide-lab-bee", "bee", ("lucide-lab",)),
        ("i-mdi-light-home", "home", ("mdi-light",)),
        ("icon-[mdi-light--home]", "home", ("mdi-light",)),
        ("mdi mdi-home", "home", ("mdi",)),
        ("mdi mdi-home mdi-24px", "home", ("mdi",)),
        ("fas fa-user", "user", SOLID),
        ("fa-solid fa-user", "user", SOLID),
        ("fa-solid fa-user fa-2x", "user", SOLID),
        ("far fa-bell", "bell", ("fa-regular",)),
        ("fa fa-spinner fa-spin", "spinner", AWESOME),
        ("fa fa-bold", "bold", AWESOME),
        ("bi bi-alarm", "alarm", ("bi",)),
        ("bx bxs-home", "home", ("bxs",)),
        ("ti ti-home", "home", ("tabler",)),
        ("ph ph-bold ph-house", "house", ("ph",)),
        ("material-icons home", "home", ("ic",)),
        ("material-icons arrow_back", "arrow_back", ("ic",)),
        ('<i class="fa-solid fa-user"></i>', "user", SOLID),
        ('<i class="material-icons">home</i>', "home", ("ic",)),
        ('<span class="material-symbols-outlined">home</span>', "home", ()),
        ('<Icon icon="mdi:home" />', "home", ("mdi",)),
        ("<Icon icon='i-lucide-bell' class='size-5' />", "bell", ("lucide",)),
        ("<Bell size={24} />", "Bell", ()),
        ("<BellIcon/>", "Bell", ()),
        ("</Bell>", "Bell", ()),
        ('<ion-icon name="home"></ion-icon>', "home", ()),
        ("<mat-icon>home</mat-icon>", "home", ()),
        ("BellIcon", "Bell", ()),
        ("IconBell", "Bell", ()),
        ("home.svg", "home", ()),
        ("src/icons/home.svg", "home", ()),
        (r"C:\icons\Home Outline.PNG", "Home Outline", ()),
        ("https://example.com/mdi/home.svg", "home", ()),
        ("lucide-react/dist/esm/icons/bell.js", "bell", ()),
    ],
)
def test_code_calls_a_name_and_the_sets_that_it_means(text: str, name: str, sets: tuple[str, ...]) -> None:
    assert _read(text) == (name, sets, True)


@pytest.mark.parametrize(
    ("text", "name", "sets"),
    [
        ("mdi-home", "home", ("mdi",)),
        ("ri-home-line", "home-line", ("ri",)),
        ("fa-user", "user", AWESOME),
        ("map-marker", "marker", ("map",)),
        ("token-ring", "ring", ("token",)),
        ("LuBell", "Bell", ("lucide", "lucide-lab")),
        ("FaUser", "User", AWESOME),
        ("Fa6User", "User", AWESOME),
        ("MdHome", "Home", ("ic",)),
        ("MapPin", "Pin", ("map",)),
        ("faUser", "User", AWESOME),
        ("mdiHome", "Home", ("mdi",)),
        ('<x-icon name="mdi-home"/>', "home", ("mdi",)),
        ("ph-bold ph-house", "house", ("ph",)),
        ("<FontAwesomeIcon icon={faUser} />", "User", AWESOME),
    ],
)
def test_what_could_be_words_is_read_as_code_that_is_not_certain(text: str, name: str, sets: tuple[str, ...]) -> None:
    assert _read(text) == (name, sets, False)


@pytest.mark.parametrize(
    "text",
    [
        *("home", "arrow left", "Home", "ArrowLeft", "user icon", "circle-x", "arrow-up-right", "i-beam", "iPhone"),
        *("GitHub", "Icon", "Icons", "and/or", "16:9", "24:7", "re:zero", "http://x.y/z", "map:", ":map", "map: pin"),
        *("token usage", "map marker", "fa user", "mdi", "map", "material icons", "c++", "C#", "node.js", "three.js"),
        *("ai-robot", "pi-symbol", "io-port", "md-file", "<3", "<-", "<>", "<", "", " ", "-", "🏠", "日本語", "ﬁ:ﬂ"),
    ],
)
def test_words_are_no_code(text: str) -> None:
    assert _read(text) is None


@pytest.mark.parametrize("key", ["lucide-static", "Lucide_Static", "lucide"])
def test_a_set_is_meant_though_the_library_calls_it_otherwise(key: str) -> None:
    names = SetNames(["own", key], ["Own", "lucide-static"])
    for text in ("lucide:bell", "i-lucide-bell", "lucide-bell", f"{key}:bell"):
        assert read_code(text, names) in (Code("bell", (1,)), Code("bell", (1,), is_certain=False)), text
    assert read_code("LuBell", names) == Code("Bell", (1,), is_certain=False)


@pytest.mark.parametrize(
    ("text", "key", "code"),
    [
        ("own icons:arrow left", "own icons", None),  # keys hold no spaces in code
        ("own:arrow left", "own", Code("arrow left", (0,))),
        ("own:v1.2", "own", Code("v1.2", (0,))),
        ("mdi:home", "lucide", Code("home", ())),
        ("fas fa-user", "lucide", Code("user", ())),
        ("VscAdd", "lucide", Code("Add", (), is_certain=False)),
        ("noset:home", "lucide", None),
    ],
)
def test_a_name_is_read_behind_the_key_of_its_set_and_a_known_set_that_lacks_is_left_out(
    text: str, key: str, code: Code | None
) -> None:
    assert read_code(text, SetNames([key], [key])) == code


@pytest.mark.parametrize(
    "text",
    [
        *("x" * 10_000, "a--" * 3_400 + "!", "a-" * 5_000, "a/" * 5_000, "a." * 5_000, "A" * 10_000, "<" * 10_000),
        *("a-a " * 2_500, "<i " + "class=" * 1_700, ' class="a"' * 1_000, "> a" * 3_000, "a:" * 5_000, " " * 10_000),
    ],
)
@pytest.mark.parametrize("length", [990, 10_000])
def test_long_texts_are_read_in_no_time(text: str, length: int) -> None:
    started = time.process_time()
    read_code(f"<a {text[:length]}", NAMES)
    read_code(text[:length], NAMES)
    assert time.process_time() - started < 1


CALLED = {
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
CALLED_NAMES = SetNames(list(CALLED), list(CALLED.values()))


def _keys(codes: tuple[int, ...] | None) -> set[str] | None:
    return None if codes is None else {list(CALLED)[code] for code in codes}


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
    assert _keys(CALLED_NAMES.meant(name)) == keys


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
    assert _keys(CALLED_NAMES.begun(begins, IN_CLASSES)) == in_class
    assert _keys(CALLED_NAMES.begun(begins, IN_COMPONENTS)) == in_component


def test_a_set_of_ones_own_is_meant_by_its_key_whatever_else_is_called_so() -> None:
    names = SetNames(["ai", "ant-design", "md"], ["Robots", "Ant Design Icons", "Notes"])
    assert (names.begun("ai", IN_CLASSES), names.begun("ai", IN_COMPONENTS)) == ((0,), (0, 1))
    assert names.begun("md", IN_COMPONENTS) == (2,)


def test_sets_whose_keys_differ_in_case_alone_are_meant_together() -> None:
    names = SetNames(["Icons", "icons", "other"], ["Mine", "Yours", "Theirs"])
    assert names.meant("ICONS") == names.with_key("icons") == (0, 1)
    assert (names.meant("mine"), names.meant("theirs"), names.meant("nobody's")) == ((0,), (2,), ())
