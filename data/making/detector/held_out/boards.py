"""What do tools of a team look like? A project's board of cards; a table of customers."""

from data.making.detector.held_out.marks import brand, face
from data.making.detector.held_out.sheets import repeated, sheet, sometimes
from data.making.detector.page import Page

_BOARD = """
body { font-size: 14px; height: 100vh; background: linear-gradient(160deg, var(--accent), #33415c) }
.strip { height: 48px; display: flex; align-items: center; gap: 14px; padding: 0 14px; background: #00000055;
  color: #fff }
.strip .end { margin-left: auto; display: flex; gap: 16px; align-items: center }
.title { display: flex; gap: 14px; align-items: center; padding: 12px 16px; color: #fff; font-size: 18px }
.lists { display: flex; gap: 12px; padding: 0 16px; align-items: flex-start }
.list { width: 268px; flex: none; background: var(--surface); border-radius: 10px; padding: 10px }
.list h3 { font-size: 14px; display: flex; justify-content: space-between; align-items: center;
  padding: 2px 6px 10px }
.card { background: var(--ground); border: 1px solid var(--border); border-radius: 8px; padding: 9px;
  margin-bottom: 8px }
.tags { display: flex; gap: 5px; margin-bottom: 6px }
.tags u { height: 8px; width: 38px; border-radius: 4px }
.foot { display: flex; gap: 12px; align-items: center; margin-top: 8px; font-size: 12px; color: var(--muted) }
.foot span { display: inline-flex; gap: 3px; align-items: center }
.foot > :last-child { margin-left: auto }
.more { display: flex; gap: 8px; align-items: center; color: var(--muted); padding: 4px 6px }
"""
_TAGS = ("#4bce97", "#f5cd47", "#fea362", "#f87168", "#9f8fef", "#579dff")


def board(page: Page) -> str:
    """A board of cards in lists, each with marks of how far it is."""
    pick = page.random
    muted = page.theme.muted

    def card() -> str:
        colours = [pick.choice(_TAGS) for _ in range(pick.randint(0, 3))]
        tags = "".join(f"<u style='background:{colour}'></u>" for colour in colours)
        picture = sometimes(page, 0.15, lambda: page.photo(248, 90))
        marks = repeated(pick.randint(0, 3), lambda: f"<span>{page.icon(14, muted)}{pick.randint(1, 12)}</span>")
        foot = f"<div class=foot>{marks}{face(page, 24)}</div>"
        return f"<div class=card>{picture}<div class=tags>{tags}</div>{page.words(2, 9)}{foot}</div>"

    def cards() -> str:
        more = f"<div class=more>{page.icon(16, muted)}{page.words(2, 3)}</div>"
        head = f"<h3>{page.words(1, 2)}{page.icon(16, muted)}</h3>"
        return f"<div class=list>{head}{repeated(pick.randint(3, 7), card)}{more}</div>"

    end = repeated(4, lambda: page.icon(20, "#ffffff")) + face(page, 30)
    title = (
        f"<b>{page.words(2, 3)}</b>{repeated(3, lambda: page.icon(17, '#ffffff'))}{repeated(4, lambda: face(page, 28))}"
    )
    return (
        f"{sheet(page, _BOARD)}<div class=strip>{page.icon(20, '#ffffff')}{brand(page)}<b>{page.words(1, 1)}</b>"
        f"<div class=end>{end}</div></div><div class=title>{title}</div><div class=lists>{repeated(5, cards)}</div>"
    )


_CUSTOMERS = """
body { font-size: 13px; height: 100vh; padding: 0 28px }
nav { display: flex; gap: 24px; align-items: center; height: 58px; border-bottom: 2px solid var(--accent);
  margin: 0 -28px;
      padding: 0 28px }
nav span { display: inline-flex; gap: 5px; align-items: center }
nav .right { margin-left: auto; gap: 18px }
.bar { display: flex; gap: 8px; align-items: center; padding: 16px 0 }
.bar button { all: unset; display: inline-flex; gap: 6px; align-items: center; padding: 6px 11px; border-radius: 3px;
              border: 1px solid var(--border) }
.bar .main { background: var(--accent); color: var(--on_accent); margin-left: auto }
table { border-collapse: collapse; width: 100% }
th { text-align: left; font-weight: 600; color: var(--muted); border-bottom: 1px solid var(--border); padding: 8px }
th span { display: inline-flex; gap: 4px; align-items: center }
td { padding: 7px 8px; border-bottom: 1px solid var(--border) }
td.acts { display: flex; gap: 12px; justify-content: flex-end }
.who { display: flex; gap: 9px; align-items: center }
.state { border-radius: 10px; padding: 1px 9px; background: var(--surface); display: inline-flex; gap: 4px;
  align-items: center }
.pages { display: flex; gap: 12px; justify-content: flex-end; padding: 14px 8px; align-items: center }
"""


def customers(page: Page) -> str:
    """A table of customers: sortable heads, states, actions in each row, pages below."""
    pick = page.random
    muted = page.theme.muted
    has_icon_states, has_boxes = pick.random() < 0.5, pick.random() < 0.6
    size = pick.choice([14, 15, 16])
    tick = "<td><input type=checkbox></td>" if has_boxes else ""

    def row() -> str:
        mark = page.icon(12, pick.choice(["#1a7f4b", "#b7791f", "#c0392b"])) if has_icon_states else "&#9679;"
        acts = repeated(3, lambda: page.icon(size, muted))
        return (
            f"<tr>{tick}<td><div class=who>{face(page, 26)}{page.name()}</div></td><td>{page.words(1, 3)}</td>"
            f"<td>{page.number()}</td><td><span class=state>{mark}{page.words(1, 1)}</span></td>"
            f"<td>{page.number()}</td><td class=acts>{acts}</td></tr>"
        )

    head = "<th></th>" * has_boxes + repeated(
        5, lambda: f"<th><span>{page.words(1, 1)}{page.icon(11, muted)}</span></th>"
    )
    links = repeated(6, lambda: f"<span>{page.words(1, 1)}{sometimes(page, 0.5, lambda: page.icon(12))}</span>")
    tools = repeated(4, lambda: f"<button>{page.icon(size)}{page.words(1, 2)}</button>")
    right = repeated(3, lambda: page.icon(20, muted)) + face(page, 32)
    return (
        f"{sheet(page, _CUSTOMERS)}<nav>{brand(page)}{links}<span class=right>{right}</span></nav>"
        f"<div class=bar>{tools}<button class=main>{page.icon(size, page.theme.on_accent)}"
        f"{page.words(1, 2)}</button></div>"
        f"<table><tr>{head}<th></th></tr>{repeated(16, row)}</table>"
        f"<div class=pages>{page.number()}{repeated(4, lambda: page.icon(size))}</div>"
    )
