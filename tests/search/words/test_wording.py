"""Words of a query are taken apart as people mean them, spelt as the library spells, and signs are said in words."""

import time
from pathlib import Path

import pytest

from indexer.encoders.query_encoder import open_query_encoder
from indexer.errors import IconsError
from indexer.merging.manifest import made_up_words
from search.words import wording
from search.words.wording import (
    MOST_LETTERS,
    MOST_PARTS,
    Phrase,
    Plausible,
    Speller,
    Wording,
    drawn_for,
    name_of,
    names_for,
    read_keywords,
    read_phrase,
    read_words,
    spell_signs,
)

VOCABULARY = dict.fromkeys(("arrow", "bell", "star", "plus", "circle", "drag", "drop", "smoking", "heart"), 9)
SPELLER = Speller(
    lambda: VOCABULARY,
    is_name_or_tag=VOCABULARY.__contains__,
    is_usual=lambda word: word in ("icon", "with", "and", "no", "filled", "solid", "in", "two", "bells"),
    could_be=lambda word: word == "zoomable",
)


def _read(text: str, *names: str) -> Wording:
    return read_words(text, SPELLER, is_name_or_tag=lambda words: words in names)


def test_a_plain_query_is_looked_for_as_it_is() -> None:
    assert _read(" Arrow_Bell ") == Wording(
        spellings=("arrow bell",),
        typed="arrow bell",
        name="arrow bell",
        style=None,
        spelled=None,
        are_known=True,
        parts=(),
        without=(),
        drawn=(),
        synonyms=(),
    )


@pytest.mark.parametrize(
    "text", ["no smoking", "drag and drop", "bell with a plus", "arrow without circle", "Bell Icon"]
)
def test_a_name_of_the_library_is_not_taken_apart(text: str) -> None:
    wording = _read(text, words := text.lower())
    assert (wording.spellings, wording.typed, wording.name) == ((words,), words, words)
    assert (wording.parts, wording.without, wording.style) == ((), (), None)


@pytest.mark.parametrize(
    ("text", "name", "style"),
    [
        ("filled star", "star", "filled"),
        ("star filled", "star", "filled"),
        ("solid star", "star", "filled"),
        ("star solid", "star", "filled"),
        ("star line", "star line", None),
        ("filled", "filled", None),
        ("star", "star", None),
        ("thin outline envelope", "envelope", "thin outline"),
        ("outlined round bell", "bell", "rounded outline"),
        ("house rounded outline", "house", "rounded outline"),
        ("sharp house filled", "house", "sharp filled"),
        ("two tone home", "home", "duotone"),
        ("hollow heart", "heart", "outline"),
        ("bookmark filled icon", "bookmark", "filled"),
        ("star in outline style", "star", "outline"),
        ("star with an outline", "star", "outline"),
        ("bell with contour", "bell", "outline"),
        ("line style trash can", "trash can", "outline"),
        ("line icon style star", "star", "outline"),
        ("filled style icons star", "star", "filled"),
        ("style outlined bell", "bell", "outline"),
        ("linear style bell", "bell", "outline"),
        ("line art star", "star", "outline"),
        ("umrandeter star", "star", "outline"),
        ("flat style bell", "bell", None),
        ("a filled icon of a star", "star", "filled"),
        ("a filled star", "star", "filled"),
        ("empty star", "star", "outline"),
        ("stroke star", "star", "outline"),
        ("full star", "star", "filled"),
        ("empty box", "empty box", None),
        ("line chart", "line chart", None),
        ("light bulb", "lightbulb", None),
        ("full screen", "fullscreen", None),
        ("command line", "command line", None),
        ("filled traffic light", "traffic light", "filled"),
        ("thin star", "thin star", None),
        ("filled stars", "star", "filled"),
    ],
)
def test_styles_are_taken_off_both_ends_unless_they_are_a_part_of_a_name(
    text: str, name: str, style: str | None
) -> None:
    names = (
        "star",
        "bell",
        "chart",
        "bulb",
        "screen",
        "command",
        "chart line",
        "lightbulb",
        "fullscreen",
        "traffic light",
    )
    wording = _read(text, *names)
    assert (wording.name, wording.style) == (name, style)
    assert wording.style is None or not wording.spellings or text in wording.spellings


def test_a_weight_is_a_style_where_icons_have_it_and_is_said_by_names_too() -> None:
    wording = read_words("bold filled bell", SPELLER, styles=("filled", "bold"))
    assert (wording.typed, wording.name, wording.style) == ("bold bell", "bell", "bold filled")


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("i need an icon for inviting a colleague", "inviting a colleague"),
        ("I'm looking for a symbol that means settings", "settings"),
        ("show me the pictogram of a dog, please", "dog"),
        ("icon for bells", "bells"),
        ("icon for when there are no messages", "no messages"),
        ("there's no wifi", "no wifi"),
        ("some like it hot", "some like it hot"),
        ("what do I use when a download is finished", "download is finished"),
        ("heart with a line through it", "heart crossed out"),
        ("bell with a diagonal slash across", "bell crossed out"),
        ("wifi with no signal", "wifi off"),
        ("phone without sound", "phone off"),
        ("export as pdf", "pdf export pdf"),
        ("star logo", "star"),
        ("bell button", "bell button"),
        ("need", "need"),
        ("image", "image"),
        ("sound", "sound"),
        ("no signal", "no signal"),
    ],
)
def test_of_sentences_what_is_no_word_of_an_icon_is_left_out(text: str, typed: str) -> None:
    wording = _read(text, "star")
    assert (wording.typed, wording.without) == (typed, ("on",) if typed.endswith(" off") else ())


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        ("stars", "star", "stars"),
        ("batteries", "battery", "batteries"),
        ("boxes", "box", "boxes"),
        ("keys", "keys", "keys"),
        ("knives", "knife", "knives"),
        ("wolves", "wolf", "wolves"),
        ("key board", "keyboard", "key board"),
        ("key boards", "keyboard", "key boards"),
        ("star box", "star box", "star box"),
    ],
)
def test_several_or_words_apart_are_asked_beside_one_that_is_a_name(text: str, name: str, written: str) -> None:
    wording = _read(text, "star", "battery", "box", "keyboard", "knife", "wolf")
    assert (wording.name, wording.typed, wording.spellings) == (name, written, (written,))


def test_a_guess_stands_beside_what_was_typed() -> None:
    wording = _read("arow bell")
    assert (wording.typed, wording.spelled, wording.name, wording.spellings) == (
        *("arow bell", "arrow bell", "arrow bell"),
        ("arow bell",),  # a guess is no name
    )


def test_parts_are_looked_for_without_what_joins_them_and_without_their_number() -> None:
    wording, several = _read("two bells with a plus"), _read("bells and stars", "bell", "star")
    assert (wording.parts, wording.typed) == (("two bells", "plus"), "two bells with a plus")
    assert (wording.name, _read("two bells").name) == ("bells plus", "two bells")
    assert (several.typed, several.name, several.parts) == ("bell and star", "bell star", ("bell", "star"))


def test_where_something_is_left_out_only_the_rest_is_a_name() -> None:
    spelt = [_read(text).spellings for text in ("Arrow without circle", "arrow icon -circle", "arrow icon")]
    assert spelt == [("arrow",), ("arrow",), ("arrow icon", "arrow")]
    bell, star = _read("bell -circle", "bell circle", "bell"), _read("star not filled, no circle")
    assert (bell.spellings, bell.typed, bell.without) == (("bell",), "bell", ("circle",))
    assert (star.typed, star.name, star.without) == ("star", "star", ("filled", "circle"))


def test_signs_are_names_as_they_are_and_in_words() -> None:
    wording, arrow = _read("🔔 +"), _read("->")
    assert [wording.spellings[1], wording.typed, wording.name, *arrow.spellings] == ["bell plus"] * 3 + [
        "->",
        "right arrow",
    ]


@pytest.mark.parametrize(
    ("text", "are_known"),
    [("qwzx", False), ("the qwzx", False), ("bell qwzx", True), ("icon", True), ("zoomable", True)],
)
def test_a_query_is_known_by_one_word_that_tells(text: str, are_known: bool) -> None:
    assert _read(text).are_known == are_known


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\0"])
def test_an_empty_query_is_refused(text: str) -> None:
    with pytest.raises(IconsError, match="the query is empty"):
        _read(text)


@pytest.mark.parametrize(
    "text", ["-", "--", ",", "🏽", "\ufe0f", "no", "-x", "with", "\u202e", "🔔" * 3_000, "x " * 9_000]
)
def test_whatever_else_is_typed_asks_for_something(text: str) -> None:
    wording = _read(text)
    assert wording.typed and wording.name and all(wording.spellings) and len(wording.typed) <= MOST_LETTERS


@pytest.mark.parametrize(
    ("text", "words", "parts", "without"),
    [
        ("bell with a plus", None, ("bell", "plus"), ()),
        ("user in a circle", None, ("user", "circle"), ()),
        ("user in circle", None, ("user", "circle"), ()),
        ("a + b", None, ("a", "b"), ()),
        ("mouse & keyboard", None, ("mouse", "keyboard"), ()),
        ("drag and drop", None, ("drag", "drop"), ()),
        ("a bell inside the house", None, ("bell", "house"), ()),
        ("Bell  WITH \t a plus", None, ("Bell", "plus"), ()),
        ("cloud containing an arrow and a lock", None, ("cloud", "arrow", "lock"), ()),
        ("sign in with google", None, ("sign in", "google"), ()),
        ("pizza slice with cheese", None, ("pizza slice", "cheese"), ()),
        ("camera off and bell", None, ("camera off", "bell"), ()),
        ("checked box", None, (), ("unchecked", "blank")),
        ("box selected", None, (), ("unchecked",)),
        ("door open", None, (), ("closed",)),
        ("bell", None, (), ()),
        ("log in", None, (), ()),
        ("zoom in on map", None, (), ()),
        ("sign in with", None, (), ()),
        ("with a plus", None, (), ()),
        ("c++ file", None, (), ()),
        ("Q&A", None, (), ()),
        ("plus", None, (), ()),
        ("star not filled", "star", (), ("filled",)),
        ("star not in a circle", "star", (), ("circle",)),
        ("star not in circle", "star", (), ("circle",)),
        ("person not the dog", "person", (), ("dog",)),
        ("arrow without circle", "arrow", (), ("circle",)),
        ("bell w/o dot", "bell", (), ("dot",)),
        ("heart with no outline", "heart", (), ("outline",)),
        ("credit card except visa", "credit card", (), ("visa",)),
        ("cat, no tail", "cat", (), ("tail",)),
        ("star,no circle", "star", (), ("circle",)),
        ("star, not filled, no circle", "star", (), ("filled", "circle")),
        ("a bell without a dot or circle", "a bell", (), ("dot", "circle")),
        ("bell without dot, circle and a plus", "bell", (), ("dot", "circle", "plus")),
        ("BELL WITHOUT DOT", "BELL", (), ("DOT",)),
        ("bell\u00a0without\u00a0dot", "bell", (), ("dot",)),
        ("pizza without camera a", "pizza", (), ("camera a",)),
        ("not outlined star", "star", (), ("outlined",)),
        ("non-filled bell", "bell", (), ("filled",)),
        ("no outline star", "star", (), ("outline",)),
        ("unfilled star", "star", (), ("filled",)),
        ("star outline off", "star", (), ("outline",)),
        ("without circle check", "check", (), ("circle",)),
        ("ohne Kreis Pfeil", "Pfeil", (), ("Kreis",)),
        ("no circle check", "check", (), ("circle",)),
        ("none circle arrow", "arrow", (), ("circle",)),
        ("not circle arrow", "arrow", (), ("circle",)),
        ("plus sans cercle", "plus", (), ("cercle",)),
        ("arrow ohne circle", "arrow", (), ("circle",)),
        ("checkbox unchecked", "blank checkbox outline", (), ("off", "tick")),
        ("unticked box", "blank box outline", (), ("off", "tick")),
        ("empty checkbox", "blank checkbox outline", (), ("off", "tick")),
        ("unselected bookmark", "bookmark outline", (), ()),
        ("unstarred", "star outline", (), ()),
        ("unstarted", None, (), ()),
        ("unmuted microphone", "microphone", (), ("off", "mute", "slash")),
        ("camera switched off", "camera off", (), ("on",)),
        ("sound turned on", "sound on", (), ("off",)),
        ("closed folder", "closed folder", (), ("open",)),
        ("door unlocked", "door open", (), ("closed",)),
        ("switch on", None, (), ()),
        ("locked folder", None, (), ("open", "unlocked")),
        ("closed captions", None, (), ()),
        ("blank page", "page", (), ()),
        ("can you find me a bell", "bell", (), ()),
        ("we need something that looks like a gear", "gear", (), ()),
        ("How do I show that a file was deleted", "file was deleted", (), ()),
        ("is there an outlined icon for a house?", "outlined house?", (), ()),
        ("i'm looking for icons of arrows", "arrows", (), ()),
        ("it should look like a paper plane", "paper plane", (), ()),
        ("I'd like a picture of a tree", "tree", (), ()),
        ("please, find me a bell", "bell", (), ()),
        ("give me a filled icon of a star", "filled star", (), ()),
        ("an outlined circle", "outlined circle", (), ()),
        ("the sun", "sun", (), ()),
        ("a z", None, (), ()),
        ("the french revolution", None, (), ()),
        ("we need an icon font", "icon font", (), ()),
        ("show me the symbol", "symbol", (), ()),
        ("i search house", "house", (), ()),
        ("how it works", None, (), ()),
        ("how to vote", None, (), ()),
        ("where is my train", None, (), ()),
        ("when I work", None, (), ()),
        ("hello kitty", None, (), ()),
        ("for you", None, (), ()),
        ("is it", None, (), ()),
        ("find my phone", None, (), ()),
        ("can opener", None, (), ()),
        ("bell -filled", "bell", (), ("filled",)),
        ("bell -filled -circle", "bell", (), ("filled", "circle")),
        ("-filled bell", "bell", (), ("filled",)),
        ("arrow -up-left", "arrow", (), ("up-left",)),
        ("bell -filled without dot", "bell", (), ("filled", "dot")),
    ],
)
def test_words_and_a_minus_say_what_is_joined_and_what_is_left_out(
    text: str, words: str | None, parts: tuple[str, ...], without: tuple[str, ...]
) -> None:
    assert read_phrase(text) == Phrase(words or " ".join(text.split()), parts, without)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "no smoking",
            "no wifi",
            "on off",
            "no entry sign",
            "comic sans serif",
            "without circle",
            "not filled",
            "not a bell",
            "-x",
            "no",
            "no, bell",
            "except",
        ),
        *("do not disturb", "page not found", "x-ray", "state-of-the-art", "file - pdf"),
        *("em -- dash", "arrow -", "bell without", "", " ", ",", "🔔", "日本語", "\u202ebell", "x\u0301" * 40),
    ],
)
def test_nothing_is_left_out_where_nothing_else_is_shown_or_a_name_says_so(text: str) -> None:
    phrase = read_phrase(text)
    assert (phrase.parts, phrase.without) == ((), ())
    assert phrase.words == text.strip() or phrase.words == text


def test_a_name_that_holds_a_state_leaves_out_its_opposite() -> None:
    assert _read("toggle off", "toggle off").without == ("on",)


def test_of_too_many_parts_none_is_told_apart() -> None:
    assert len(read_phrase(" and ".join("abcdefghijklmnop")).parts) == MOST_PARTS == 16
    assert read_phrase(" and ".join("abcdefghijklmnopq")).parts == ()


@pytest.mark.parametrize(
    "text",
    [
        *("x", " ", "a ", "a with ", "-x ", " -", "a, ", ",", ", no ", "no ", "a no b ", "not a ", "\u00a0", "🔔 "),
        *("🔔", "🇩", "\u200d", "+", "+ ", "a+ ", "\u2019", "👨\u200d"),
    ],
)
def test_long_texts_are_taken_apart_in_no_time(text: str) -> None:
    started = time.process_time()
    spell_signs(text * (10_000 // len(text)))
    read_phrase(text * (10_000 // len(text)))
    read_phrase(text * (10_000 // len(text)) + "end")
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("text", "match", "name"),
    [
        ('arrow* -"left down" "c++"', '"arrow" * AND "c++" NOT "left down"', "arrow c++"),
        ("a AND NEAR(b c)", '"a" AND "and" AND "near b" AND "c"', "a and near b c"),
        ("arrowLeft*", '"arrow left" *', "arrow left"),
        ("words:arrow", '"words arrow"', "words arrow"),
        ('"not closed', '"not closed"', "not closed"),
    ],
)
def test_a_keyword_query_is_quoted_word_by_word(text: str, match: str, name: str) -> None:
    assert read_keywords(text) == (match, name)


def test_a_keyword_query_that_only_excludes_is_refused_and_signs_are_no_query() -> None:
    with pytest.raises(IconsError, match='"-arrow" only excludes'):
        read_keywords("-arrow")
    assert read_keywords('-> * "" -') == ("", "")


def test_a_keyword_query_has_bounds() -> None:
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(40)]
    assert read_keywords(" ".join(words[:32] * 9)).name == " ".join(words[:32])
    too_many = " ".join(words[:33]), f'"{" ".join(words[:33])}"', "arrow " + " ".join(f"-{word}" for word in words)
    too_short = dict.fromkeys(("a*", "arrow -b*", "arrowA*"), "begins a word with one letter; write 2 or more before")
    for text, said in {**dict.fromkeys(too_many, "keyword query holds [0-9]+ words; ask with 32"), **too_short}.items():
        with pytest.raises(IconsError, match=said):
            read_keywords(text)
    assert read_keywords("ar*") == read_keywords("ar* ar* AR*")


STAYING = (
    *(
        "bell",
        "c++",
        "c#",
        "a + b",
        "a & b",
        "a/b",
        "50%",
        "$5",
        "-filled bell",
        "bell -filled",
        "file - pdf",
        "Q&A",
    ),
    *(
        "16:9",
        "don't",
        "don\u2019t",
        "“bell”",
        "bell \u2013 off",
        "naïve café",
        "日本語",
        "矢印・左",
        "ベル、家",
        "שלום",
        "½",
    ),
    *("", "x\u200dy", "\u0645\u06cc\u200c\u062e", "\U0010ffff", "a\u0301"),
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("🏠", "house"),
        ("🔔", "bell"),
        ("🔔\ufe0f", "bell"),
        ("☎", "telephone"),
        ("☎\ufe0f", "telephone"),
        ("☎\ufe0e", "telephone"),
        ("❤️", "heart"),
        ("👍", "thumbs up"),
        ("👍🏽", "thumbs up"),
        ("👩🏽\u200d💻", "woman technologist"),
        ("❤️\u200d🔥", "heart on fire"),
        ("👨\u200d👩\u200d👧", "man woman girl"),
        ("🇩🇪", "flag de"),
        ("🇫🇷🇧🇷", "flag fr flag br"),
        ("🔔🔕", "bell bell with slash"),
        ("🔔 off", "bell off"),
        ("folder with 🔒", "folder with locked"),
        ("bell🔔", "bell bell"),
        ("€", "euro"),
        ("£", "pound"),
        ("$", "dollar"),
        ("5 $", "5 dollar"),
        ("50 %", "50 percent"),
        ("+", "plus"),
        ("-", "minus"),
        ("\u2212", "minus"),
        ("\u00d7", "multiplication"),
        ("÷", "division"),
        ("=", "equal"),
        ("?", "question mark"),
        ("!!", "exclamation mark"),
        ("@", "at-sign"),
        ("->", "right arrow"),
        ("<-", "left arrow"),
        ("=>", "right arrow"),
        ("→", "right arrow"),
        ("left → right", "left right arrow right"),
        ("A→B", "A right arrow B"),
        ("…", "ellipsis"),
        ("✔", "check mark"),
        ("10°", "10 degree"),
        ("⭍ up", "downwards triangle-headed zigzag arrow up"),
        *((text, text) for text in STAYING),
    ],
)
def test_signs_are_said_in_words_and_what_stands_between_words_stays(text: str, said: str) -> None:
    assert spell_signs(text) == said


def test_a_sign_without_annotation_has_the_name_that_unicode_gives_it() -> None:
    assert (name_of("★"), name_of("\ue000")) == ("black star", "")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("bin", "trash"),
        ("settings", "cog"),
        ("the dustbin", "trash"),
        ("unread", "notification"),
        ("purity", "droplet"),
    ],
)
def test_a_word_leads_to_the_names_that_sets_draw_it_under_and_others_nowhere(words: str, name: str) -> None:
    assert name in dict(names_for(words))
    assert names_for("") == names_for("qwzxbv") == names_for(f"{words} that nobody says") == ()


def test_what_is_done_to_something_is_drawn_as_doing_it_is() -> None:
    drawn = [drawn_for(text) for text in ("invite", "inviting a colleague", "invite someone new", "knitting a qwzx")]
    assert drawn[0] == drawn[1] == drawn[2] != drawn[3] == ()


def _speller(vocabulary: dict[str, int], *, usual: str, could_be: str = "") -> Speller:
    return Speller(
        lambda: vocabulary,
        is_name_or_tag=vocabulary.__contains__,
        is_usual=lambda word: word == usual,
        could_be=lambda word: word == could_be,
    )


SLIPS = ("arow", "aarrow", "arrrow", "arorw", "darrow", "barrow", "arro", "homee")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("arow left", "arrow left"),
        ("serach", "search"),
        ("dowload", "download"),
        ("arrowleft", "arrow left"),
        ("download", None),
        ("caution", None),
        ("qqqqq", None),
        ("lef", None),
    ],
)
def test_only_unknown_words_near_to_known_ones_are_corrected(words: str, meant: str | None) -> None:
    vocabulary = {"arrow": 40, "left": 30, "search": 9, "download": 5, "caption": 7, "leaf": 1}
    assert _speller(vocabulary, usual="caution").correct(words) == meant


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("arow left", "arrow left"),  # left out
        ("aarrow", None),
        ("arrrow", "arrow"),  # doubled
        ("arorw", "arrow"),  # swapped
        ("darrow", None),  # a letter more may be a brand, and so may another letter
        ("barrow", None),
        ("arro", "arrow"),
        ("homee", None),  # not so much rarer
    ],
)
def test_a_slip_that_a_few_names_bear_is_put_right(words: str, meant: str | None) -> None:
    vocabulary = {"arrow": 3000, "left": 2000, "home": 400, **dict.fromkeys(SLIPS, 4)}
    assert _speller(vocabulary, usual="left").correct(words) == meant


def test_a_word_means_something_if_it_is_borne_or_usual_or_reads_like_one() -> None:
    speller = _speller({"arrow": 40}, usual="caution", could_be="arow")
    knows = [speller.knows(word) for word in ("arrow", "caution", "arow", "qwzxbv")]
    assert (knows, speller.correct("arow")) == ([True, True, True, False], "arrow")  # all the same


@pytest.fixture(scope="module")
def plausible(asked: Path) -> Plausible:
    [folder] = (asked / "encoders").iterdir()
    return Plausible(open_query_encoder(folder).whole_words)


@pytest.mark.parametrize(
    "word",
    [
        *("thermostatic", "rotatable", "defragment", "hygrometer", "unsubscribing"),
        *("xqzw", "svg2", "h264qzx", "c++", "qwzx-vb", "\u043a\u0432\u0437\u0449\u044a\u044b\u0436", "QWZXVB"),
    ],
)
def test_a_rare_word_reads_like_one_and_of_short_ones_digits_signs_and_other_scripts_nothing_is_known(
    plausible: Plausible, word: str
) -> None:
    assert word not in plausible.read_words() and plausible.reads_like_a_word(word)


def test_few_made_up_words_that_can_be_spoken_pass(plausible: Plausible) -> None:
    words = [word for word in made_up_words(400, seed=3) if len(word) > 4]
    assert sum(map(plausible.reads_like_a_word, words)) < 0.15 * len(words)


@pytest.mark.parametrize(("typed", "name"), [("radio button", "radio button"), ("play button", "play")])
def test_a_control_is_cut_off_unless_it_is_drawn_in_ways_of_its_own(typed: str, name: str) -> None:
    assert wording._without_filler(typed, lambda _: True) == name
