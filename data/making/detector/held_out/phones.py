"""What does a phone show? A bank's app; an app that brings food."""

from data.making.detector.held_out.marks import face
from data.making.detector.held_out.sheets import repeated, sheet, sometimes
from data.making.detector.page import Page

_PHONE = """
body { font-size: 15px; height: 100vh; background: var(--surface); display: flex; flex-direction: column }
body > div { flex: none }
.status { display: flex; gap: 5px; align-items: center; padding: 10px 22px 6px; font-size: 13px; font-weight: 600 }
.status span { margin-left: auto }
body > .content { flex: 1 1 0; min-height: 0; overflow: hidden }
.tabs { display: flex; justify-content: space-around; padding: 9px 0 22px; border-top: 1px solid var(--border);
        background: var(--ground); font-size: 10px; color: var(--muted) }
.tabs span { display: grid; justify-items: center; gap: 3px }
"""
_BANK = """
.sum { margin: 8px 18px; padding: 20px; border-radius: 22px; color: #fff;
  background: linear-gradient(130deg, var(--accent), #222a4d) }
.sum h1 { font-size: 33px; font-weight: 300 }
.hello { display: flex; align-items: center; gap: 12px; padding: 8px 20px }
.hello span { margin-left: auto; display: flex; gap: 18px }
.quick { display: flex; justify-content: space-between; padding: 12px 26px; font-size: 12px }
.quick div { display: grid; justify-items: center; gap: 6px }
.quick b { width: 52px; height: 52px; border-radius: 50%; background: var(--ground); display: grid;
  place-items: center }
.paid { display: grid; grid-template-columns: 46px 1fr auto; gap: 10px; align-items: center; padding: 8px 20px }
.paid b { width: 42px; height: 42px; border-radius: 13px; display: grid; place-items: center; font-weight: 600 }
.paid small { color: var(--muted); display: block }
"""
_TINTS = ("#d7e8ff", "#ffe2d6", "#dff5e1", "#f1e1ff", "#fff3c9")
_INKS = ("#1d4f91", "#a3401b", "#1e6b33", "#6b2fa0", "#7a5b00")


def _framed(page: Page, content: str) -> str:
    size = page.random.choice([22, 24, 26])
    chosen = page.random.randrange(5)
    inks = [page.theme.accent if at == chosen else page.theme.muted for at in range(5)]
    tabs = "".join(f"<span>{page.icon(size, ink)}{page.words(1, 1)}</span>" for ink in inks)
    status = f"<div class=status>9:4{page.random.randint(0, 9)}<span></span>{repeated(3, lambda: page.icon(15))}</div>"
    return f"{status}<div class=content>{content}</div><div class=tabs>{tabs}</div>"


def bank(page: Page) -> str:
    """A bank: the sum, four round keys, what was paid."""
    pick = page.random

    def paid() -> str:
        tint, ink = pick.choice(list(zip(_TINTS, _INKS, strict=True)))
        mark = page.icon(22, ink) if pick.random() < 0.7 else f"<span style='color:{ink}'>{page.name()[:1]}</span>"
        return (
            f"<div class=paid><b style='background:{tint}'>{mark}</b><span>{page.name()}"
            f"<small>{page.words(1, 3)}</small></span>"
            f"<span>{page.number()}</span></div>"
        )

    quick = repeated(4, lambda: f"<div><b>{page.icon(24, page.theme.accent)}</b>{page.words(1, 1)}</div>")
    hello = (
        f"<div class=hello>{face(page, 38)}<b>{page.name()}</b><span>{repeated(2, lambda: page.icon(22))}</span></div>"
    )
    total = (
        f"<div class=sum>{page.words(1, 2)} {page.icon(16, '#ffffff')}<h1>{page.number()}</h1>{page.words(2, 3)}</div>"
    )
    return sheet(page, _PHONE + _BANK) + _framed(
        page, f"{hello}{total}<div class=quick>{quick}</div>{repeated(6, paid)}"
    )


_FOOD = """
.place { display: flex; gap: 7px; align-items: center; padding: 10px 18px; font-weight: 700 }
.place > :last-child { margin-left: auto }
.seek { margin: 4px 18px 14px; background: var(--ground); border: 1px solid var(--border); border-radius: 999px;
  padding: 11px 16px;
        display: flex; gap: 10px; align-items: center; color: var(--muted) }
.seek > :last-child { margin-left: auto }
.kinds { display: flex; gap: 22px; padding: 0 18px 14px; font-size: 12px }
.kinds span { display: grid; justify-items: center; gap: 4px }
.dish { padding: 0 18px 16px; position: relative }
.dish .over { position: absolute; right: 28px; top: 10px; background: #ffffffdd; border-radius: 50%; width: 34px;
  height: 34px;
              display: grid; place-items: center }
.dish p { display: flex; gap: 5px; align-items: center; color: var(--muted); font-size: 13px }
"""


def food(page: Page) -> str:
    """Food to order: a place, kinds, dishes with a heart on their pictures."""

    def dish() -> str:
        over = f"<span class=over>{page.icon(18, '#333333')}</span>"
        facts = (
            f"{page.icon(13, '#d99b00')}{page.number()} &middot; {page.icon(13, page.theme.muted)}{page.words(1, 2)}"
        )
        return f"<div class=dish>{page.photo(354, 150)}{over}<b>{page.words(1, 3)}</b><p>{facts}</p></div>"

    kinds = repeated(5, lambda: f"<span>{page.icon(34, page.theme.accent)}{page.words(1, 1)}</span>")
    place = f"{page.icon(18, page.theme.accent)}{page.words(2, 3)}{page.icon(14)}{page.icon(22)}"
    seek = f"{page.icon(18, page.theme.muted)}{page.words(2, 3)}{sometimes(page, 0.6, lambda: page.icon(18))}"
    content = (
        f"<div class=place>{place}</div><div class=seek>{seek}</div><div class=kinds>{kinds}</div>{repeated(3, dish)}"
    )
    return sheet(page, _PHONE + _FOOD) + _framed(page, content)
