"""What do places for programmers look like? A forge with a repository's files; the manual of a library."""

from data.making.detector.held_out.marks import brand, face
from data.making.detector.held_out.sheets import repeated, sheet, sometimes
from data.making.detector.page import Page

_FORGE = """
body { font-size: 14px; height: 100vh }
.top { background: #20262d; color: #fff; display: flex; align-items: center; gap: 16px; height: 62px;
  padding: 0 26px }
.top .find { border: 1px solid #57606a; border-radius: 6px; width: 300px; padding: 4px 10px; color: #adbac7 }
.top .end { margin-left: auto; display: flex; gap: 18px; align-items: center }
.where { padding: 16px 30px 0; background: var(--surface); border-bottom: 1px solid var(--border) }
.where h2 { font: inherit; font-size: 19px; display: flex; gap: 8px; align-items: center; color: var(--accent) }
.where h2 .end { margin-left: auto; display: flex; gap: 8px; font-size: 12px; color: var(--text) }
.where h2 .end span { border: 1px solid var(--border); border-radius: 6px; padding: 3px 10px; display: flex; gap: 6px;
                      align-items: center }
.tabs { display: flex; gap: 22px; margin-top: 14px }
.tabs span { display: inline-flex; gap: 7px; align-items: center; padding-bottom: 10px }
.tabs span:first-child { border-bottom: 2px solid #f78166 }
.tabs i { font-style: normal; background: var(--border); border-radius: 9px; padding: 0 7px; font-size: 12px }
.two { display: grid; grid-template-columns: 1fr 300px; gap: 28px; padding: 22px 30px }
.files { border: 1px solid var(--border); border-radius: 6px; overflow: hidden }
.files div { display: grid; grid-template-columns: 26px 1.1fr 2fr 120px; padding: 8px 15px;
  border-top: 1px solid var(--border);
             align-items: center; color: var(--muted) }
.files div b { color: var(--text); font-weight: 400 }
.about p { display: flex; gap: 9px; align-items: center; padding: 4px 0; color: var(--muted) }
.about h4 { margin: 14px 0 6px }
.mix { height: 8px; border-radius: 4px;
  background: linear-gradient(90deg, #3178c6 61%, #f1e05a 61% 88%, #e34c26 88%) }
"""


def forge(page: Page) -> str:
    """A repository's first page on a code forge."""
    pick = page.random
    muted = page.theme.muted
    folder_ink = pick.choice(["#54aeff", muted, page.theme.accent])

    def entry() -> str:
        ink = pick.choice([folder_ink, muted])
        return (
            f"<div>{page.icon(16, ink)}<b>{page.words(1, 1)}</b><span>{page.words(2, 7)}</span>"
            f"<span>{page.number()}</span></div>"
        )

    buttons = repeated(3, lambda: f"<span>{page.icon(16, muted)}{page.words(1, 1)} {pick.randint(1, 999)}</span>")
    tabs = repeated(
        7, lambda: f"<span>{page.icon(16)}{page.words(1, 1)}{sometimes(page, 0.4, lambda: '<i>12</i>')}</span>"
    )
    facts = repeated(6, lambda: f"<p>{page.icon(16, muted)}{page.words(1, 3)}</p>")
    people = repeated(8, lambda: face(page, 32))
    end = repeated(3, lambda: page.icon(16, "#ffffff")) + face(page, 20)
    return (
        f"{sheet(page, _FORGE)}<div class=top>{page.icon(32, '#ffffff')}<span class=find>{page.words(2, 3)}</span>"
        f"{page.words(1, 1)} {page.words(1, 1)}<span class=end>{end}</span></div>"
        f"<div class=where><h2>{page.icon(17, muted)}{page.name()} / <b>{page.words(1, 1)}</b>"
        f"<span class=end>{buttons}</span></h2>"
        f"<div class=tabs>{tabs}</div></div><div class=two><div class=files>{repeated(15, entry)}</div>"
        f"<div class=about><h4>{page.words(1, 1)}</h4>{page.words(8, 16)}{facts}<h4>{page.words(1, 1)}</h4>{people}"
        f"<h4>{page.words(1, 1)}</h4><div class=mix></div></div></div>"
    )


_MANUAL = """
body { font-size: 16px; height: 100vh; display: grid; grid-template: 64px 1fr / 272px minmax(0, 1fr) 220px }
header { grid-column: 1 / 4; display: flex; gap: 26px; align-items: center; padding: 0 24px;
         box-shadow: 0 1px 0 var(--border) }
header .end { margin-left: auto; display: flex; gap: 16px; align-items: center }
.find { background: var(--surface); border-radius: 8px; padding: 7px 12px; display: flex; gap: 8px;
  align-items: center;
        font-size: 13px; color: var(--muted); width: 210px }
kbd { margin-left: auto; border: 1px solid var(--border); border-radius: 4px; padding: 0 5px; font-size: 11px }
aside { padding: 20px 24px; font-size: 14px; line-height: 2; overflow: hidden }
aside b { display: flex; justify-content: space-between; align-items: center; margin-top: 10px }
article { padding: 24px 60px; overflow: hidden }
h1 { font-size: 31px; margin: 8px 0 18px }
h2 { font-size: 22px; margin: 26px 0 10px; border-top: 1px solid var(--border); padding-top: 18px }
.path { display: flex; gap: 6px; align-items: center; font-size: 13px; color: var(--muted) }
.note { border-left: 4px solid var(--accent); background: var(--surface); padding: 12px 16px; margin: 18px 0 }
.note b { display: flex; gap: 8px; align-items: center; color: var(--accent) }
pre { background: #24283b; color: #c0caf5; border-radius: 6px; padding: 14px 18px; font: 13px/1.6 monospace;
  position: relative;
      overflow: hidden }
pre > span { position: absolute; right: 12px; top: 12px; line-height: 0 }
pre em { color: #bb9af7; font-style: normal } pre q { color: #9ece6a; quotes: none }
"""


def manual(page: Page) -> str:
    """A page of a library's manual: contents, notes, code to copy."""
    muted = page.theme.muted
    path = f"<div class=path>{page.icon(14, muted)}&rsaquo; {page.words(1, 1)} &rsaquo; {page.words(1, 2)}</div>"
    find = f"<span class=find>{page.icon(15, muted)}{page.words(1, 1)}<kbd>Ctrl K</kbd></span>"
    links = " ".join(f"<span>{page.words(1, 1)}</span>" for _ in range(4))
    return (
        f"{sheet(page, _MANUAL)}<header>{brand(page)}{links}<span class=end>{find}"
        f"{repeated(3, lambda: page.icon(20))}</span>"
        f"</header><aside>{repeated(6, lambda: _chapter(page))}</aside><article>{path}<h1>{page.words(2, 4)}</h1>"
        f"<p>{page.words(20, 40)}</p>"
        f"{_code(page)}{_note(page)}{repeated(2, lambda: _section(page))}</article>"
        f"<aside>{repeated(8, lambda: page.words(1, 3) + '<br>')}</aside>"
    )


def _chapter(page: Page) -> str:
    """Pages of the contents under a title that folds them."""
    return (
        f"<b>{page.words(1, 2)}{page.icon(15, page.theme.muted)}"
        f"</b>{repeated(page.random.randint(2, 5), lambda: page.words(1, 4) + '<br>')}"
    )


def _section(page: Page) -> str:
    return f"<h2>{page.words(2, 4)}</h2><p>{page.words(25, 50)}</p>{page.random.choice([_code, _note])(page)}"


def _note(page: Page) -> str:
    head = f"<b>{page.icon(18, page.theme.accent)}{page.words(1, 1)}</b>"
    return f"<div class=note>{head}{page.words(10, 25)}</div>"


def _code(page: Page) -> str:
    """Lines of code, with an icon to copy them."""
    copy = f"<span>{page.icon(17, '#9aa5ce')}</span>"
    return f"<pre>{copy}{repeated(page.random.randint(3, 6), lambda: _line(page))}</pre>"


def _line(page: Page) -> str:
    return (
        f"<em>const</em> {page.words(1, 1)} = {page.words(1, 1)}(<q>'{page.words(1, 2)}'"
        f"</q>, {{ x: {page.random.randint(0, 99)} }})\n"
    )
