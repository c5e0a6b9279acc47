"""What do office programs look like? A spreadsheet; a text with its tools around it."""

from data.making.detector.held_out.marks import face
from data.making.detector.held_out.sheets import repeated, sheet, sometimes
from data.making.detector.page import Page

_SHEET = """
body { font-size: 13px; height: 100vh; display: flex; flex-direction: column }
.title { display: flex; gap: 10px; align-items: center; padding: 8px 14px; font-size: 18px }
.title .end { margin-left: auto; display: flex; gap: 18px; align-items: center }
.menu { display: flex; gap: 16px; padding: 0 58px 6px }
.tools { display: flex; gap: 11px; align-items: center; margin: 0 12px; padding: 7px 14px; border-radius: 20px;
  background: var(--surface) }
.tools u { width: 1px; height: 20px; background: var(--border) }
.tools span { display: inline-flex; align-items: center; gap: 1px }
.formula { display: flex; gap: 10px; align-items: center; padding: 6px 14px; border-bottom: 1px solid var(--border) }
.formula i { font: italic 15px serif; color: var(--muted) }
.grid { display: grid; grid-template-columns: 44px repeat(11, 1fr); flex: 1; align-content: start; overflow: hidden }
.grid b, .grid span { border: 1px solid var(--border); border-width: 0 1px 1px 0; height: 23px; padding: 2px 5px;
  overflow: hidden;
                      white-space: nowrap }
.grid b { background: var(--surface); font-weight: 400; color: var(--muted); text-align: center }
.grid .n { text-align: right } .grid .chosen { outline: 2px solid var(--accent); outline-offset: -1px }
.grid .icon { display: flex; align-items: center; gap: 5px }
.leaves { display: flex; gap: 20px; align-items: center; padding: 7px 16px; border-top: 1px solid var(--border) }
.leaves span { display: inline-flex; gap: 5px; align-items: center }
"""


def spreadsheet(page: Page) -> str:
    """A spreadsheet: a long strip of small tools, cells of words and numbers, some with an icon."""
    pick = page.random
    muted = page.theme.muted
    size = pick.choice([16, 18, 20])

    def tool() -> str:
        arrow = sometimes(page, 0.3, lambda: page.icon(10, muted))
        return f"<span>{page.icon(size)}{arrow}</span>{sometimes(page, 0.2, lambda: '<u></u>')}"

    def cell() -> str:
        lot = pick.random()
        if lot < 0.35:
            return "<span></span>"
        if lot < 0.38:
            return f"<span class=icon>{page.icon(14)}{page.words(1, 1)}</span>"
        if lot < 0.39:
            return f"<span class=chosen>{page.number()}</span>"
        return f"<span class=n>{page.number()}</span>" if lot < 0.75 else f"<span>{page.words(1, 3)}</span>"

    letters = "<b></b>" + "".join(f"<b>{letter}</b>" for letter in "ABCDEFGHIJK")
    rows = "".join(f"<b>{at}</b>{repeated(11, cell)}" for at in range(1, 31))
    menu = " ".join(f"<span>{page.words(1, 1)}</span>" for _ in range(8))
    end = f"<span class=end>{repeated(3, lambda: page.icon(22, muted))}{face(page, 32)}</span>"
    leaves = repeated(4, lambda: f"<span>{page.words(1, 2)}{page.icon(12, muted)}</span>")
    return (
        f"{sheet(page, _SHEET)}<div class=title>{page.icon(32, page.theme.accent)}{page.words(1, 3)}"
        f"{repeated(3, lambda: page.icon(17, muted))}{end}</div>"
        f"<div class=menu>{menu}</div><div class=tools>{repeated(22, tool)}</div>"
        f"<div class=formula>A{pick.randint(1, 30)} <i>fx</i> =SUM(B2:B{pick.randint(3, 30)})</div>"
        f"<div class=grid>{letters}{rows}</div>"
        f"<div class=leaves>{repeated(2, lambda: page.icon(18, muted))}{leaves}</div>"
    )


_TEXT = """
body { font-size: 13px; height: 100vh; display: grid; grid-template: auto 1fr 26px / 1fr 290px;
  background: var(--surface) }
.ribbon { grid-column: 1 / 3; display: flex; background: var(--ground); border-bottom: 1px solid var(--border);
  padding: 8px }
.part { border-right: 1px solid var(--border); padding: 0 10px; display: grid; grid-template-rows: 1fr 16px;
  justify-items: center }
.part small { font-size: 11px; color: var(--muted) }
.part div { display: flex; gap: 10px; align-items: center }
.part .big { display: grid; justify-items: center; gap: 4px; font-size: 11px }
.part .little { display: grid; grid-template-columns: repeat(5, auto); gap: 8px 10px }
.paper { width: 720px; margin: 22px auto 0; background: #fff; color: #222; padding: 60px 76px;
  font: 16px/1.6 Georgia, serif; overflow: hidden }
.paper h1 { font-size: 26px; margin-bottom: 14px } .paper p { margin-bottom: 12px }
.said { padding: 18px; background: var(--ground); border-left: 1px solid var(--border); overflow: hidden }
.said section { border: 1px solid var(--border); border-radius: 6px; padding: 10px; margin-bottom: 12px }
.said section > div { display: flex; gap: 8px; align-items: center; margin-bottom: 6px }
.said section > div > :last-child { margin-left: auto }
.foot { grid-column: 1 / 3; background: var(--accent); color: var(--on_accent); display: flex; gap: 18px;
  align-items: center;
  padding: 0 14px;
        font-size: 12px }
.foot u { margin-left: auto }
"""


def text(page: Page) -> str:
    """A text being written: a ribbon of big and little tools, paper, remarks at the side."""
    muted = page.theme.muted

    def part() -> str:
        big = repeated(page.random.randint(0, 2), lambda: f"<span class=big>{page.icon(30)}{page.words(1, 1)}</span>")
        little = repeated(page.random.choice([5, 10]), lambda: page.icon(16))
        return (
            f"<div class=part><div>{big}<span class=little>{little}</span></div><small>{page.words(1, 1)}</small></div>"
        )

    def remark() -> str:
        tools = f"<span>{page.icon(14, muted)} {page.icon(14, muted)}</span>"
        return f"<section><div>{face(page, 26)}<b>{page.name()}</b>{tools}</div>{page.words(5, 16)}</section>"

    paragraphs = repeated(6, lambda: f"<p>{page.words(30, 60)}</p>")
    foot = (
        f"{page.number()} {page.words(1, 1)} {page.icon(13, page.theme.on_accent)}<u>"
        f"</u>{repeated(4, lambda: page.icon(14, page.theme.on_accent))}"
    )
    return (
        f"{sheet(page, _TEXT)}<div class=ribbon>{repeated(6, part)}</div><div class=paper>"
        f"<h1>{page.words(2, 5)}</h1>{paragraphs}</div>"
        f"<div class=said><h3>{page.words(1, 2)}</h3><br>{repeated(5, remark)}</div><div class=foot>{foot}</div>"
    )
