"""What has no icon, and much that looks like one? An article, a form, a gallery of pictures, a list of prices."""

from data.making.detector.held_out.marks import brand, count, face
from data.making.detector.held_out.sheets import one_of, repeated, sheet
from data.making.detector.page import Page

_ARTICLE = """
body { font: 18px/1.65 Georgia, serif; height: 100vh; columns: 2; column-gap: 60px; padding: 46px 90px }
h1 { font-size: 38px; line-height: 1.15; column-span: all; margin-bottom: 12px }
.by { font: 14px sans-serif; color: var(--muted); display: flex; gap: 10px; align-items: center; margin-bottom: 22px;
  column-span: all }
p { margin-bottom: 14px } p:first-of-type::first-letter { font-size: 56px; float: left; line-height: .9;
  padding-right: 8px }
table { border-collapse: collapse; width: 100%; font: 14px sans-serif; margin: 14px 0 }
td, th { padding: 5px 9px; border-bottom: 1px solid var(--border); text-align: right }
blockquote { border-left: 3px solid var(--accent); padding-left: 18px; font-style: italic; margin: 14px 0 }
sup { font-size: 11px } ul { margin: 0 0 14px }
.sum { text-align: center; font: italic 21px Georgia, serif; margin: 10px }
"""


def article(page: Page) -> str:
    """An article: an initial, footnotes, a formula, tables, charts."""
    pick = page.random

    def paragraph() -> str:
        return (
            f"<p>{page.words(25, 60)}<sup>[{pick.randint(1, 40)}]</sup> {page.words(6, 20)}"
            f" &mdash; &sect;&nbsp;{pick.randint(1, 9)}, &para; &copy; &dagger; {page.number()}</p>"
        )

    def table() -> str:
        row = repeated(
            4, lambda: f"<tr><th>{page.words(1, 2)}</th>{repeated(4, lambda: f'<td>{page.number()}</td>')}</tr>"
        )
        return f"<table>{row}</table>"

    def extra() -> str:
        points = repeated(4, lambda: f"<li>{page.words(3, 9)}</li>")
        return one_of(
            page,
            table,
            lambda: page.chart(520, 190),
            lambda: f"<blockquote>{page.words(12, 24)}</blockquote>",
            lambda: "<div class=sum>&radic;(x&sup2; + y&sup2;) &ge; &sum; a&#7522; / &pi;</div>",
            lambda: f"<ul>{points}</ul>",
            lambda: page.photo(520, 200),
        )

    body = repeated(9, lambda: paragraph() + extra())
    by = f"<div class=by>{face(page, 34)}{page.name()} &middot; {page.number()} &middot; {page.words(1, 2)}</div>"
    return f"{sheet(page, _ARTICLE)}<h1>{page.words(5, 9)}</h1>{by}{body}"


_FORM = """
body { font-size: 14px; height: 100vh; padding: 34px 60px; display: grid; grid-template-columns: 1fr 1fr 1fr;
  gap: 18px 40px;
       align-content: start }
h1 { grid-column: 1 / 4; font-size: 25px; display: flex; gap: 16px; align-items: center }
fieldset { border: 1px solid var(--border); border-radius: 6px; padding: 14px; display: grid; gap: 10px;
  align-content: start }
label { display: flex; gap: 8px; align-items: center }
.steps { grid-column: 1 / 4; display: flex; gap: 44px }
.steps b { display: inline-grid; place-items: center; width: 30px; height: 30px; border-radius: 50%;
  background: var(--accent); color: #fff;
           margin-right: 9px }
.need { color: #c0392b } .hint { color: var(--muted); font: 700 12px/18px serif }
summary { list-style: none } ::-webkit-calendar-picker-indicator { display: none }
"""
"""Without what a browser draws as an icon itself: a calendar in dates, a clock in times, the triangle of details."""


def form(page: Page) -> str:
    """A form of the browser's own controls: boxes, circles, dates, sliders, meters; steps in numbered circles."""
    steps = "".join(f"<span><b>{at}</b>{page.words(1, 2)}</span>" for at in range(1, 6))
    fields = repeated(
        6, lambda: f"<fieldset><legend>{page.words(1, 3)}</legend>{repeated(8, lambda: _control(page))}</fieldset>"
    )
    scheme = "dark" if page.theme.is_dark else "light"
    return (
        f"{sheet(page, _FORM)}<style>:root {{ color-scheme: {scheme} }}</style><h1>{brand(page)}{page.words(2, 4)}</h1>"
        f"<div class=steps>{steps}</div>{fields}"
    )


def _control(page: Page) -> str:
    pick = page.random
    word = page.words(1, 2)
    need = pick.choice(["", "<span class=need>*</span>", "<span class=hint>?</span>", "<span class=hint>i</span>"])
    inner = pick.choice(
        [
            "<input type=checkbox checked>",
            "<input type=checkbox>",
            "<input type=radio checked>",
            "<input type=radio>",
            f"<select><option>{page.words(1, 2)}</select>",
            "<input type=date>",
            "<input type=time>",
            f"<input type=number value={pick.randint(0, 99)}>",
            "<input type=range>",
            f"<input type=color value='#{pick.randrange(1 << 24):06x}'>",
            "<input type=file>",
            f"<progress value=0.{pick.randint(1, 9)}></progress>",
            f"<meter value=0.{pick.randint(1, 9)}></meter>",
            f"<input value='{page.number()}'>",
            "<input type=password value=secret>",
            f"<button>{page.words(1, 2)}</button>",
            f"<details><summary>{page.words(1, 3)}</summary></details>",
            f"<textarea rows=2>{page.words(3, 9)}</textarea>",
        ]
    )
    return f"<label>{inner}{word}{need}</label>"


_GALLERY = """
body { font-size: 14px; height: 100vh; padding: 24px 40px }
.people { display: flex; gap: 24px; margin: 14px 0 26px }
.people div { display: grid; justify-items: center; gap: 6px; position: relative }
.people u { position: absolute; width: 14px; height: 14px; border-radius: 50%; border: 2px solid var(--ground);
  right: 6px; top: 46px;
            background: #2ecc71 }
.wall { columns: 5; column-gap: 14px } .wall figure { break-inside: avoid; margin: 0 0 14px; position: relative }
.wall figcaption { display: flex; justify-content: space-between; padding: 5px 2px }
.wall .on { position: absolute; left: 8px; top: 8px }
.dots { display: flex; gap: 7px; justify-content: center } .dots i { width: 9px; height: 9px; border-radius: 50%;
  background: var(--muted) }
h2 { display: flex; gap: 18px; align-items: center }
"""


def gallery(page: Page) -> str:
    """A wall of pictures, with faces, badges, brands and dots."""
    pick = page.random

    def figure() -> str:
        on = pick.choice(["", f"<span class=on>{count(page)}</span>"])
        return (
            f"<figure>{page.photo(250, pick.randint(90, 300))}{on}<figcaption>{page.words(1, 3)}"
            f"{count(page)}</figcaption></figure>"
        )

    people = repeated(12, lambda: f"<div>{face(page, 64)}<u></u>{page.name()}</div>")
    faces = repeated(6, lambda: face(page, pick.choice([20, 24, 28])))
    return (
        f"{sheet(page, _GALLERY)}<h2>{brand(page)}{page.words(1, 3)}{faces}</h2><div class=people>{people}</div>"
        f"<div class=wall>{repeated(18, figure)}</div><div class=dots>{'<i></i>' * 6}</div>"
    )


_PRICES = """
body { font-size: 16px; height: 100vh; padding: 40px 70px }
.plans { display: grid; grid-template-columns: repeat(3, 1fr); gap: 26px; margin-top: 26px }
.plan { border: 1px solid var(--border); border-radius: 18px; padding: 26px; background: var(--surface) }
.plan strong { font-size: 46px } .plan li { padding: 4px 0 }
.plan button { all: unset; background: var(--accent); color: #fff; border-radius: 999px; padding: 10px 24px;
  margin: 16px 0 }
.figures { display: grid; grid-template-columns: repeat(4, 1fr); gap: 22px; margin: 30px 0 }
.rings { display: flex; gap: 26px } .rings div { width: 64px; height: 64px; border-radius: 50%; display: grid;
  place-items: center }
.rings b { width: 46px; height: 46px; border-radius: 50%; background: var(--ground); display: grid;
  place-items: center; font-size: 13px }
.hot { display: flex; gap: 14px; margin-top: 18px } .hot i { width: 15px; height: 15px; border-radius: 3px;
  background: var(--accent) }
"""


def prices(page: Page) -> str:
    """A list of prices: large numbers, brands, rings that are filled, small bars and squares."""
    pick = page.random

    def plan() -> str:
        points = repeated(6, lambda: f"<li>{page.words(2, 6)}</li>")
        return (
            f"<div class=plan>{count(page)}<h3>{page.words(1, 2)}</h3><strong>{page.number()}</strong><br>"
            f"<button>{page.words(1, 2)}</button><ul>{points}</ul></div>"
        )

    def ring() -> str:
        share = pick.randint(10, 95)
        return f"<div style='background:conic-gradient(var(--accent) {share}%, var(--border) 0)'><b>{share}%</b></div>"

    squares = "".join(f"<i style='opacity:{pick.choice((0.15, 0.4, 0.7, 1))}'></i>" for _ in range(40))
    figures = repeated(4, lambda: f"<div>{page.chart(260, 70)}{page.words(1, 2)}</div>")
    return (
        f"{sheet(page, _PRICES)}<h1>{page.words(3, 6)}</h1>{repeated(5, lambda: brand(page))}"
        f"<div class=plans>{repeated(3, plan)}</div>"
        f"<div class=figures>{figures}</div><div class=rings>{repeated(8, ring)}</div><div class=hot>{squares}</div>"
    )
