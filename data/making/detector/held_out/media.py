"""What do tools for sound and film look like? A music player; an editor with a time line."""

import itertools
from collections.abc import Iterator

from data.making.detector.held_out.sheets import repeated, sheet, sometimes
from data.making.detector.page import Page

_GREY = "#b6b6bd"
"""Of icons of the player."""
_PALE = "#b9bcc4"
"""Of icons of the editor."""

_MUSIC = """
body { font-size: 14px; height: 100vh; display: grid; grid-template: 1fr 88px / 232px 1fr; background: #101114;
  color: #e8e8ea }
.side { background: #08090a; padding: 22px 18px }
.side p { display: flex; gap: 14px; align-items: center; padding: 8px 0; color: #b6b6bd; font-weight: 600 }
.body { padding: 24px 30px; overflow: hidden; background: linear-gradient(#3c2f57, #101114 340px) }
.hero { display: flex; gap: 22px; align-items: flex-end; margin-bottom: 20px }
.hero h1 { font-size: 52px; line-height: 1.05; letter-spacing: -2px }
.acts { display: flex; gap: 26px; align-items: center; margin: 20px 0 }
.acts .play { width: 54px; height: 54px; border-radius: 50%; background: var(--accent); display: grid;
  place-items: center }
.song { display: grid; grid-template-columns: 34px 44px 3fr 2fr 30px 60px 30px; align-items: center; height: 54px;
  gap: 10px;
        color: #b6b6bd }
.song b { color: #fff; font-weight: 500 }
.bar { grid-column: 1 / 3; background: #181a1e; display: grid; grid-template-columns: 1fr 1.4fr 1fr;
  align-items: center;
       padding: 0 18px }
.now, .end { display: flex; gap: 14px; align-items: center } .end { justify-content: flex-end }
.keys { display: flex; gap: 24px; justify-content: center; align-items: center }
.round { width: 34px; height: 34px; border-radius: 50%; background: #fff; display: grid; place-items: center }
.line { height: 4px; border-radius: 2px; background: linear-gradient(90deg, #fff 38%, #555 38%); margin-top: 10px }
.loud { width: 90px; height: 4px; border-radius: 2px; background: linear-gradient(90deg, #fff 60%, #555 60%) }
"""


def music(page: Page) -> str:
    """A music player, always dark: lists, songs, keys to play."""
    numbers = itertools.count(1)
    side = repeated(5, lambda: f"<p>{page.icon(22, _GREY)}{page.words(1, 2)}</p>")
    lists = repeated(7, lambda: f"<p>{page.photo(30, 30)}{page.words(1, 3)}</p>")
    acts = f"<span class=play>{page.icon(26, '#101114')}</span>{repeated(3, lambda: page.icon(28, _GREY))}"
    keys = (
        f"{repeated(2, lambda: page.icon(18, _GREY))}<span class=round>{page.icon(18, '#101114')}</span>"
        f"{repeated(2, lambda: page.icon(18, _GREY))}"
    )
    now = (
        f"<div class=now>{page.photo(56, 56)}<span>{page.words(1, 3)}<br>{page.name()}"
        f"</span>{page.icon(16, _GREY)}</div>"
    )
    end = f"<div class=end>{repeated(4, lambda: page.icon(17, _GREY))}<span class=loud></span></div>"
    return (
        f"{sheet(page, _MUSIC)}<div class=side>{side}<hr style='border:1px solid #222'>{lists}</div>"
        f"<div class=body><div class=hero>{page.photo(190, 190)}<div>{page.words(1, 1)}<h1>{page.words(1, 2)}</h1>"
        f"{page.name()} &middot; {page.number()}</div></div><div class=acts>{acts}</div>"
        f"{repeated(8, lambda: _song(page, numbers))}</div>"
        f"<div class=bar>{now}<div><div class=keys>{keys}</div><div class=line></div></div>{end}</div>"
    )


def _song(page: Page, numbers: Iterator[int]) -> str:
    """A song: the next number, or an icon that says it plays; a picture, names, how long it takes."""
    pick = page.random
    first = sometimes(page, 0.15, lambda: page.icon(15, page.theme.accent)) or str(next(numbers))
    heart = sometimes(page, 0.6, lambda: page.icon(16, _GREY))
    return (
        f"<div class=song><span>{first}</span>{page.photo(42, 42)}<span><b>{page.words(1, 3)}</b>"
        f"<br>{page.name()}</span>"
        f"<span>{page.words(1, 3)}</span><span>{heart}</span><span>{pick.randint(2, 6)}"
        f":{pick.randint(10, 59)}</span>"
        f"<span>{sometimes(page, 0.5, lambda: page.icon(16, _GREY))}</span></div>"
    )


_FILM = """
body { font-size: 12px; height: 100vh; background: #1e1f22; color: #cfd1d6; display: grid;
       grid-template: 38px 1fr 34px 290px / 300px 1fr 270px }
.menu { grid-column: 1 / 4; display: flex; gap: 18px; align-items: center; padding: 0 12px; background: #2b2d31 }
.menu .end { margin-left: auto; display: flex; gap: 12px }
.bin { border-right: 1px solid #000; padding: 10px; overflow: hidden }
.bin nav { display: flex; gap: 16px; margin-bottom: 10px }
.bin div { display: grid; grid-template-columns: repeat(3, 1fr); gap: 8px }
.shot { overflow: hidden; white-space: nowrap }
.view { display: grid; place-items: center; background: #111214; overflow: hidden }
.props { border-left: 1px solid #000; padding: 12px }
.props p { display: grid; grid-template-columns: 1fr 74px 18px 14px; gap: 8px; align-items: center; padding: 5px 0 }
.props p span { background: #111214; padding: 2px 6px; text-align: right }
.keys { grid-column: 1 / 4; background: #2b2d31; display: flex; align-items: center; gap: 14px; padding: 0 12px }
.keys code { font: 13px monospace; color: #7fd1ff; margin-right: auto }
.time { grid-column: 1 / 4; overflow: hidden }
.ruler { height: 24px; margin-left: 190px;
  background: repeating-linear-gradient(90deg, #55585f 0 1px, transparent 1px 12px) 0 14px / auto 10px }
.track { display: grid; grid-template-columns: 190px 1fr; height: 44px; border-top: 1px solid #000 }
.name { display: flex; gap: 9px; align-items: center; padding: 0 10px; background: #2b2d31 }
.clips { display: flex; gap: 2px; padding: 3px 0 }
.clips b { border-radius: 3px; padding: 3px 7px; font-weight: 400; color: #fff; overflow: hidden; display: flex;
  gap: 5px; white-space: nowrap }
"""


def film(page: Page) -> str:
    """A video editor: bin, view, properties, time line; small icons on dark grey."""
    pick = page.random
    size = pick.choice([12, 13, 14, 16])
    menu = " ".join(f"<span>{page.words(1, 1)}</span>" for _ in range(7))
    end = repeated(4, lambda: page.icon(16, _PALE))
    keys = (
        repeated(6, lambda: page.icon(16, _PALE)) + page.icon(20, "#ffffff") + repeated(8, lambda: page.icon(16, _PALE))
    )
    shots = repeated(12, lambda: f"<span class=shot>{page.photo(86, 50)}<br>{page.words(1, 2)}</span>")
    tabs = repeated(6, lambda: page.icon(18, _PALE))
    return (
        f"{sheet(page, _FILM)}<div class=menu>{menu}<span class=end>{end}</span></div>"
        f"<div class=bin><nav>{tabs}</nav><div>{shots}</div></div><div class=view>{page.photo(620, 350)}</div>"
        f"<div class=props><b>{page.words(1, 2)}</b>{repeated(10, lambda: _property(page, size))}</div>"
        f"<div class=keys><code>00:{pick.randint(10, 59)}:{pick.randint(10, 59)}:0{pick.randint(0, 9)}"
        f"</code>{keys}</div>"
        f"<div class=time><div class=ruler></div>{repeated(6, lambda: _track(page, size))}</div>"
    )


def _property(page: Page, size: float) -> str:
    """A number to set, with a small icon or two."""
    return (
        f"<p>{page.words(1, 2)}<span>{page.number()}</span>{page.icon(size, _PALE)}"
        f"{sometimes(page, 0.6, lambda: page.icon(10, _PALE))}</p>"
    )


def _track(page: Page, size: float) -> str:
    """A line of clips behind its name and tools."""
    pick = page.random
    tools = repeated(pick.randint(2, 4), lambda: page.icon(size, _PALE))
    name = f"<span class=name>V{pick.randint(1, 9)} {tools}</span>"
    clips = repeated(pick.randint(3, 9), lambda: _clip(page))
    return f"<div class=track>{name}<span class=clips>{clips}</span></div>"


def _clip(page: Page) -> str:
    pick = page.random
    colour = pick.choice(["#35618e", "#5b4a8a", "#2f7d6b", "#8a5a35"])
    mark = sometimes(page, 0.3, lambda: page.icon(12, "#ffffff"))
    return f"<b style='background:{colour};width:{pick.randint(50, 260)}px'>{mark}{page.words(1, 2)}</b>"
