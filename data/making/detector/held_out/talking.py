"""What do mail and chat look like? Three columns of letters; a conversation in bubbles."""

from data.making.detector.held_out.marks import brand, count, face
from data.making.detector.held_out.sheets import one_of, repeated, sheet, sometimes
from data.making.detector.page import Page

_MAIL = """
body { font-size: 13px; height: 100vh; display: grid; grid-template: 52px 1fr / 208px 372px 1fr }
.ribbon { grid-column: 1 / 4; display: flex; align-items: center; gap: 22px; padding: 0 18px;
          border-bottom: 1px solid var(--border); background: var(--surface) }
.ribbon button { all: unset; display: grid; justify-items: center; gap: 2px; font-size: 10px; color: var(--muted) }
.boxes { padding: 14px 10px; background: var(--surface) }
.boxes p { display: grid; grid-template-columns: 26px 1fr auto; align-items: center; padding: 5px 8px }
.boxes p:nth-child(2) { background: var(--border); font-weight: 600 }
.boxes h4 { font-size: 11px; color: var(--muted); padding: 14px 8px 6px }
.letters { border: 1px solid var(--border); border-width: 0 1px; overflow: hidden }
.letters article { padding: 9px 14px; border-bottom: 1px solid var(--border); position: relative }
.letters time { float: right; color: var(--muted); font-size: 11px }
.letters em { font-style: normal; color: var(--muted); display: flex; gap: 6px; align-items: center }
.read { padding: 26px 34px; overflow: hidden }
.read h1 { font: 400 21px/1.3 Georgia, serif; margin-bottom: 16px }
.sender { display: flex; gap: 12px; align-items: center; margin-bottom: 20px }
.sender span:last-child { margin-left: auto; display: flex; gap: 16px }
.files { display: flex; gap: 10px; margin-top: 22px }
.files span { border: 1px solid var(--border); padding: 8px 12px; display: flex; gap: 8px; align-items: center }
"""


def mail(page: Page) -> str:
    """An e-mail program: ribbon, folders, letters, the letter being read."""
    pick = page.random
    small, big = pick.choice([(14, 18), (16, 20), (17, 22)])

    def letter() -> str:
        clip = sometimes(page, 0.4, lambda: page.icon(12, page.theme.muted))
        return (
            f"<article><time>{page.number()}</time><b>{page.name()}</b><br>{page.words(2, 5)}"
            f"<em>{clip}{page.words(3, 6)}</em></article>"
        )

    ribbon = repeated(11, lambda: f"<button>{page.icon(big)}{page.words(1, 1)}</button>")
    folders = repeated(
        7, lambda: f"<p>{page.icon(small)}<span>{page.words(1, 2)}</span><i>{pick.randint(1, 90)}</i></p>"
    )
    labels = repeated(6, lambda: f"<p>{page.icon(small, page.theme.muted)}<span>{page.words(1, 2)}</span></p>")
    actions = repeated(5, lambda: page.icon(small, page.theme.muted))
    files = repeated(3, lambda: f"<span>{page.icon(big, page.theme.accent)}{page.words(1, 2)}</span>")
    text = repeated(5, lambda: f"<p style='margin-bottom:12px'>{page.words(24, 60)}</p>")
    return (
        f"{sheet(page, _MAIL)}<div class=ribbon>{brand(page)}{ribbon}</div>"
        f"<div class=boxes><h4>{page.name()}</h4>{folders}<h4>{page.words(1, 2)}</h4>{labels}</div>"
        f"<div class=letters>{repeated(12, letter)}</div>"
        f"<div class=read><h1>{page.words(4, 8)}</h1><div class=sender>{face(page, 40)}<span><b>{page.name()}</b>"
        f"<br>{page.words(2, 4)}</span><span>{actions}</span></div>{text}<div class=files>{files}</div></div>"
    )


_CHAT = """
body { font-size: 15px; height: 100vh; display: grid; grid-template-columns: 66px 250px 1fr }
.rooms { background: #2b2140; display: grid; gap: 16px; align-content: start; justify-items: center; padding: 14px 0 }
.rooms b { width: 38px; height: 38px; border-radius: 12px; display: grid; place-items: center; background: #ffffff22 }
.channels { background: var(--surface); padding: 16px 12px; border-right: 1px solid var(--border) }
.channels h3 { display: flex; justify-content: space-between; font-size: 16px; margin-bottom: 18px }
.channels p { display: flex; gap: 8px; align-items: center; padding: 4px; color: var(--muted) }
main { display: grid; grid-template-rows: 56px 1fr auto; min-height: 0 }
main header { display: flex; align-items: center; gap: 10px; padding: 0 22px; border-bottom: 1px solid var(--border) }
main header div { margin-left: auto; display: flex; gap: 20px; align-items: center }
.talk { padding: 20px 22px; overflow: hidden; display: flex; flex-direction: column; gap: 16px; justify-content: end }
.talk section { display: flex; gap: 12px }
.talk small { color: var(--muted); margin-left: 8px }
.talk .mine { flex-direction: row-reverse }
.bubble { background: var(--surface); padding: 9px 14px; border-radius: 16px; max-width: 58%; position: relative }
.mine .bubble { background: var(--accent); color: #fff }
.seen { display: inline-flex; vertical-align: -2px; margin-left: 8px }
.over { position: absolute; right: 12px; top: -14px; display: flex; gap: 9px; padding: 5px 8px; border-radius: 8px;
        background: var(--ground); border: 1px solid var(--border) }
.write { margin: 0 22px 20px; border: 1px solid var(--border); border-radius: 12px }
.write p { padding: 12px 14px; color: var(--muted) }
.write div { display: flex; gap: 16px; padding: 8px 14px }
.write div > :last-child { margin-left: auto }
"""


def chat(page: Page) -> str:
    """A chat: rooms, channels, bubbles with reactions, a box to write in."""
    pick = page.random
    theme = page.theme

    def channel() -> str:
        left = one_of(page, lambda: "#", lambda: page.icon(14, theme.muted), lambda: face(page, 20))
        return f"<p>{left}<span>{page.words(1, 2)}</span>{sometimes(page, 0.3, lambda: count(page))}</p>"

    def message() -> str:
        mine = pick.random() < 0.35
        ink = "#ffffff" if mine else theme.muted
        seen = sometimes(page, 0.5, lambda: f"<span class=seen>{page.icon(13, ink)}</span>")
        tools = repeated(4, lambda: page.icon(15))
        over = sometimes(page, 0.15, lambda: f"<div class=over>{tools}</div>")
        who = f"<b>{page.name()}</b><small>{page.number()}</small><br>"
        said = f"<div class=bubble>{who}{page.words(4, 26)}{seen}{over}</div>"
        return f"<section class={'mine' if mine else 'theirs'}>{face(page, 36)}{said}</section>"

    rooms = repeated(6, lambda: f"<b>{page.icon(20, '#ffffff')}</b>") + face(page, 38)
    head = f"{page.icon(18)}<b>{page.words(1, 2)}</b><div>{repeated(4, lambda: page.icon(18, theme.muted))}</div>"
    writing = repeated(8, lambda: page.icon(17, theme.muted)) + page.icon(20, theme.accent)
    return (
        f"{sheet(page, _CHAT)}<div class=rooms>{rooms}</div>"
        f"<div class=channels><h3>{page.words(1, 2)}{page.icon(17)}</h3>{repeated(15, channel)}</div>"
        f"<main><header>{head}</header><div class=talk>{repeated(7, message)}</div>"
        f"<div class=write><p>{page.words(2, 4)}</p><div>{writing}</div></div></main>"
    )
