"""What do places to buy look like? Journeys to choose among; a shop window with goods."""

from data.making.detector.held_out.marks import brand, count
from data.making.detector.held_out.sheets import repeated, sheet, sometimes
from data.making.detector.page import Page

_TRAVEL = """
body { font-size: 15px; height: 100vh }
.sky { height: 230px; padding: 18px 60px; color: #fff;
  background: linear-gradient(120deg, #0b4f8a, var(--accent) 60%, #e9a46a) }
.sky nav { display: flex; gap: 26px; align-items: center }
.sky nav span { display: inline-flex; gap: 7px; align-items: center }
.sky nav .end { margin-left: auto; gap: 20px }
.kinds { display: flex; gap: 30px; margin: 34px 0 14px }
.kinds span { display: inline-flex; gap: 8px; align-items: center; padding-bottom: 5px }
.kinds span:first-child { border-bottom: 2px solid #fff }
.form { background: var(--ground); color: var(--text); border-radius: 12px; display: flex;
  box-shadow: 0 8px 28px #0003; align-items: center;
        padding: 6px }
.form label { flex: 1; padding: 9px 16px; border-right: 1px solid var(--border); display: grid;
  grid-template-columns: 30px 1fr;
              align-items: center }
.form small { color: var(--muted) }
.form b { background: var(--accent); color: #fff; border-radius: 9px; padding: 14px 18px; line-height: 0;
  margin-left: 6px }
.two { display: grid; grid-template-columns: 236px 1fr; gap: 30px; padding: 26px 60px }
.sieve label { display: flex; gap: 8px; padding: 4px 0; align-items: center }
.sieve h4 { display: flex; justify-content: space-between; align-items: center; margin: 14px 0 6px }
.trip { display: grid; grid-template-columns: 230px 1fr auto; border: 1px solid var(--border); border-radius: 12px;
  overflow: hidden;
        margin-bottom: 16px; position: relative }
.trip .mid { padding: 14px 18px } .trip .sum { padding: 14px 18px; text-align: right; display: grid;
  align-content: end }
.trip .has { display: flex; gap: 16px; color: var(--muted); font-size: 13px; margin-top: 12px }
.trip .has span { display: inline-flex; gap: 5px; align-items: center }
.stars { color: #e0a100; display: flex; gap: 2px; margin: 4px 0 }
.heart { position: absolute; left: 192px; top: 10px }
"""


def travel(page: Page) -> str:
    """A travel site: a form over a sky, filters, journeys with pictures and small marks."""
    size = page.random.choice([18, 20, 24])
    kinds = repeated(5, lambda: f"<span>{page.icon(size, '#ffffff')}{page.words(1, 1)}</span>")
    form = repeated(
        4,
        lambda: (
            f"<label>{page.icon(size, page.theme.accent)}<span><small>{page.words(1, 1)}</small>"
            f"<br>{page.words(1, 3)}</span></label>"
        ),
    )
    end = repeated(3, lambda: page.icon(20, "#ffffff")) + page.words(1, 2)
    return (
        f"{sheet(page, _TRAVEL)}<div class=sky><nav>{brand(page)}<b>{page.words(1, 1)}</b>"
        f"<span class=end>{end}</span></nav>"
        f"<div class=kinds>{kinds}</div><div class=form>{form}<b>{page.icon(22, page.theme.on_accent)}</b></div></div>"
        f"<div class=two><div class=sieve>{repeated(5, lambda: _sieve(page))}</div>"
        f"<div>{repeated(4, lambda: _trip(page))}</div></div>"
    )


def _sieve(page: Page) -> str:
    """Boxes that narrow down the journeys, under a title that folds them."""
    boxes = repeated(page.random.randint(2, 4), lambda: f"<label><input type=checkbox>{page.words(1, 2)}</label>")
    return f"<h4>{page.words(1, 2)}{page.icon(14, page.theme.muted)}</h4>{boxes}"


def _trip(page: Page) -> str:
    """A journey: a picture with a heart, stars, what it includes, its price."""
    pick = page.random
    has = repeated(pick.randint(2, 4), lambda: f"<span>{page.icon(15, page.theme.muted)}{page.words(1, 1)}</span>")
    stars = sometimes(
        page,
        0.6,
        lambda: f"<div class=stars>{repeated(pick.randint(2, 5), lambda: page.icon(13, '#e0a100'))}</div>",
    )
    heart = f"<span class=heart>{page.icon(22, '#ffffff')}</span>"
    return (
        f"<div class=trip>{page.photo(230, 150)}{heart}<div class=mid><b>{page.words(2, 4)}"
        f"</b>{stars}{page.words(5, 12)}"
        f"<div class=has>{has}</div></div><div class=sum>{count(page)}<b>{page.number()}"
        f"</b>{page.words(1, 2)}</div></div>"
    )


_WINDOW = """
body { font-size: 14px; height: 100vh }
.thin { background: #111; color: #fff; text-align: center; padding: 6px; font-size: 12px }
.head { display: grid; grid-template-columns: 1fr auto 1fr; align-items: center; padding: 20px 48px }
.head div { display: flex; gap: 22px; align-items: center } .head div:last-child { justify-content: flex-end }
.head .bag { position: relative } .bag sup { position: absolute; left: 13px; top: -9px }
.goods { display: grid; grid-template-columns: repeat(5, 1fr); gap: 26px 18px; padding: 10px 48px }
.good { position: relative } .good .top { position: absolute; right: 10px; top: 10px; display: grid; gap: 10px }
.good p { display: flex; justify-content: space-between; align-items: center; margin-top: 7px }
.vows { display: grid; grid-template-columns: repeat(4, 1fr); padding: 26px 48px; margin-top: 16px;
  background: var(--surface) }
.vows div { display: grid; grid-template-columns: 62px 1fr; align-items: center }
"""


def window(page: Page) -> str:
    """A shop: goods in a grid, a bag with a count on it, four promises with large icons."""
    muted = page.theme.muted
    big = page.random.choice([36, 44, 52, 60])

    def good() -> str:
        top = repeated(page.random.randint(1, 2), lambda: page.icon(18, "#333333"))
        buy = page.icon(19)
        return (
            f"<div class=good>{page.photo(250, 230)}<span class=top>{top}</span><p>{page.words(1, 3)}{buy}"
            f"</p>{page.number()}</div>"
        )

    left = f"<div>{page.icon(24)}{page.icon(20)}{page.words(1, 1)}</div>"
    bag = f"<span class=bag>{page.icon(22)}<sup>{count(page)}</sup></span>"
    right = f"<div>{repeated(2, lambda: page.icon(22))}{bag}</div>"
    vows = repeated(
        4,
        lambda: (
            f"<div>{page.icon(big, page.theme.accent)}<span><b>{page.words(1, 3)}</b>"
            f"<br>{page.words(3, 6)}</span></div>"
        ),
    )
    thin = f"{page.words(4, 9)} {sometimes(page, 0.5, lambda: page.icon(12, '#ffffff'))}"
    return (
        f"{sheet(page, _WINDOW)}<div class=thin>{thin}</div><div class=head>{left}{brand(page)}{right}</div>"
        f"<div class=goods>{repeated(10, good)}</div><div class=vows>{vows}</div>"
        f"<p style='color:{muted}'>{page.words(3, 9)}</p>"
    )
