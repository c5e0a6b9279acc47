"""What do places to set things up look like? A cloud's console; the settings of an operating system."""

from data.making.detector.held_out.marks import face
from data.making.detector.held_out.sheets import one_of, repeated, sheet, sometimes
from data.making.detector.page import Page

_CLOUD = """
body { font-size: 14px; height: 100vh; display: grid; grid-template: 48px 44px 1fr / 256px 1fr }
.top { grid-column: 1 / 3; background: var(--accent); color: var(--on_accent); display: flex; gap: 18px;
  align-items: center;
  padding: 0 14px }
.top .find { background: #ffffff2e; width: 520px; padding: 6px 12px; border-radius: 2px; display: flex; gap: 8px;
  margin: 0 auto }
.side { grid-row: 2 / 4; border-right: 1px solid var(--border); padding: 10px 0; overflow: hidden }
.side h5 { padding: 12px 18px 4px; color: var(--muted); font-size: 11px; letter-spacing: .05em }
.side p { display: flex; gap: 12px; align-items: center; padding: 7px 18px }
.side p:nth-of-type(3) { background: color-mix(in srgb, var(--accent) 15%, transparent);
  border-radius: 0 18px 18px 0 }
.tools { display: flex; gap: 6px; align-items: center; padding: 0 20px; border-bottom: 1px solid var(--border) }
.tools b { font-size: 17px; margin-right: 16px }
.tools button { all: unset; display: inline-flex; gap: 6px; align-items: center; color: var(--accent);
  padding: 4px 9px; font-size: 13px }
main { padding: 18px 20px; display: grid; grid-template-columns: repeat(4, 1fr); gap: 16px; align-content: start;
  overflow: hidden }
.tile { border: 1px solid var(--border); padding: 14px; background: var(--surface) }
.tile h6 { font-size: 13px; display: flex; gap: 7px; align-items: center }
.tile h6 > :last-child { margin-left: auto }
.tile strong { font-size: 26px; font-weight: 400 }
.wide { grid-column: span 2 }
.rows { grid-column: span 4 }
.rows p { display: grid; grid-template-columns: 24px 2fr 1fr 1fr 1fr 24px; padding: 7px 0; align-items: center;
  border-top: 1px solid var(--border) }
.ok { display: inline-flex; gap: 6px; align-items: center }
"""


def cloud(page: Page) -> str:
    """A console of a cloud: services at the left, tiles with charts, a list of machines."""
    accent, on_accent = page.theme.accent, page.theme.on_accent
    size = page.random.choice([16, 18, 20])
    services = repeated(3, lambda: _services(page, size))
    find = f"<span class=find>{page.icon(16, on_accent)}{page.words(2, 5)}</span>"
    end = repeated(5, lambda: page.icon(20, on_accent))
    tools = repeated(6, lambda: f"<button>{page.icon(16, accent)}{page.words(1, 2)}</button>")
    return (
        f"{sheet(page, _CLOUD)}<div class=top>{page.icon(22, on_accent)}<b>{page.words(1, 2)}"
        f"</b>{find}{end}{face(page, 28)}</div>"
        f"<div class=side>{services}</div><div class=tools><b>{page.words(1, 2)}</b>{tools}</div>"
        f"<main>{repeated(4, lambda: _tile(page, size))}{repeated(2, lambda: _charted(page))}"
        f"<div class='tile rows'><h6>{page.words(1, 2)}</h6>{repeated(7, lambda: _machine(page))}</div></main>"
    )


def _services(page: Page, size: float) -> str:
    """Services under a title, an icon each."""
    return (
        f"<h5>{page.words(1, 2)}</h5>"
        f"{repeated(5, lambda: f'<p>{page.icon(size, page.theme.muted)}{page.words(1, 3)}</p>')}"
    )


def _tile(page: Page, size: float) -> str:
    """A figure under a title with an icon at both ends."""
    return (
        f"<div class=tile><h6>{page.icon(size, page.theme.accent)}{page.words(1, 2)}{page.icon(16, page.theme.muted)}"
        f"</h6><strong>{page.number()}</strong></div>"
    )


def _charted(page: Page) -> str:
    """A chart under a title."""
    head = f"<h6>{page.words(1, 3)}{page.icon(16, page.theme.muted)}</h6>"
    return f"<div class='tile wide'>{head}{page.chart(500, 150)}</div>"


def _machine(page: Page) -> str:
    """A machine: how it is, figures, an icon for what can be done."""
    colour = page.random.choice(["#1e8e3e", "#d93025", "#f29900"])
    state = f"<span class=ok>{page.icon(14, colour)}{page.words(1, 1)}</span>"
    return (
        f"<p><input type=checkbox><span>{page.words(1, 2)}</span>{state}<span>{page.number()}</span>"
        f"<span>{page.words(1, 1)}</span>{page.icon(16, page.theme.muted)}</p>"
    )


_SYSTEM = """
body { font-size: 14px; height: 100vh; background: linear-gradient(45deg, #27456b, #a05a7a); display: grid;
  place-items: center }
.window { width: 1010px; height: 760px; background: var(--ground); border-radius: 14px; overflow: hidden;
  display: grid;
          grid-template-columns: 262px 1fr; box-shadow: 0 20px 70px #0009 }
.lights { display: flex; gap: 8px; padding: 4px 6px 16px }
.lights i { width: 12px; height: 12px; border-radius: 50% }
.panes { background: var(--surface); padding: 16px 12px }
.panes p { display: flex; gap: 9px; align-items: center; padding: 5px 8px; border-radius: 6px }
.panes p:nth-of-type(4) { background: var(--accent); color: #fff }
.panes b { width: 26px; height: 26px; border-radius: 6px; display: grid; place-items: center }
.me { display: flex; gap: 10px; align-items: center; padding: 6px 8px 14px }
.pane { padding: 18px 26px; overflow: hidden }
.pane h2 { font-size: 17px; display: flex; gap: 14px; align-items: center; margin-bottom: 18px }
.group { background: var(--surface); border: 1px solid var(--border); border-radius: 10px; margin-bottom: 18px }
.group div { display: flex; align-items: center; gap: 12px; padding: 11px 14px }
.group div + div { border-top: 1px solid var(--border) }
.group div > :last-child { margin-left: auto }
.group small { color: var(--muted); display: block }
.switch { width: 38px; height: 22px; border-radius: 11px; background: var(--border); position: relative }
.switch.on { background: var(--accent) }
.switch::after { content: ""; position: absolute; width: 18px; height: 18px; border-radius: 50%; background: #fff;
  top: 2px; left: 2px }
.switch.on::after { left: 18px }
.slide { width: 190px; height: 4px; border-radius: 2px;
  background: linear-gradient(90deg, var(--accent) 44%, var(--border) 44%) }
"""
_LIGHTS = ("#ff5f57", "#febc2e", "#28c840")
_SQUARES = ("#3478f6", "#34c759", "#ff9500", "#ff2d55", "#8e8e93", "#5856d6")


def system(page: Page) -> str:
    """The settings of an operating system: white icons on coloured squares, switches, sliders."""
    pick = page.random
    lights = "".join(f"<i style='background:{colour}'></i>" for colour in _LIGHTS)
    head = f"<h2>{repeated(2, lambda: page.icon(16, page.theme.muted))}{page.words(1, 2)}</h2>"
    groups = repeated(3, lambda: f"<div class=group>{repeated(pick.randint(2, 4), lambda: _setting(page))}</div>")
    return (
        f"{sheet(page, _SYSTEM)}<div class=window><div class=panes><div class=lights>{lights}</div>"
        f"<div class=me>{face(page, 46)}<span><b>{page.name()}</b><br>{page.words(1, 2)}</span>"
        f"</div>{repeated(15, lambda: _pane(page))}</div>"
        f"<div class=pane>{head}{groups}</div></div>"
    )


def _pane(page: Page) -> str:
    """A kind of settings: a white icon on a coloured square."""
    square = f"<b style='background:{page.random.choice(_SQUARES)}'>{page.icon(16, '#ffffff')}</b>"
    return f"<p>{square}{page.words(1, 2)}</p>"


def _setting(page: Page) -> str:
    """A line that sets one thing."""
    front = sometimes(page, 0.5, lambda: page.icon(20, page.theme.accent))
    return f"<div>{front}<span>{page.words(1, 3)}<small>{page.words(3, 8)}</small></span>{_control(page)}</div>"


def _control(page: Page) -> str:
    muted = page.theme.muted
    on = page.random.choice(["on", ""])
    return one_of(
        page,
        lambda: f"<span class='switch {on}'></span>",
        lambda: f"<span>{page.words(1, 1)} {page.icon(13, muted)}</span>",
        lambda: page.icon(15, muted),
        lambda: "<span class=slide></span>",
        lambda: f"<select><option>{page.words(1, 2)}</select>",
    )
