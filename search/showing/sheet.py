"""What do the hits look like? One HTML file with every picture inside it, to open in a browser or to send around."""

from collections.abc import Iterable
from html import escape

from indexer.naming.printable import printable
from search.results import Hit
from search.showing.in_page import data_uri, is_drawn_in_white

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
:root {{ color-scheme: light dark; font: 14px/1.4 system-ui, sans-serif; }}
body {{ margin: 2rem; }}
h1 {{ font-size: 1.3rem; font-weight: 600; }}
ol {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; }}
ol {{ padding: 0; list-style: none; }}
li {{ border: 1px solid #8884; border-radius: .6rem; padding: .8rem; overflow-wrap: anywhere; }}
.picture {{ display: grid; place-items: center; height: 6rem; border-radius: .4rem; background: #fff; }}
.picture img {{ width: 4rem; height: 4rem; object-fit: contain; }}
.dark {{ background: #1b1c1e; }}
b {{ display: block; margin-top: .6rem; font-weight: 600; }}
small {{ color: #777; display: block; }}
</style></head><body><h1>{title}</h1><ol>
{items}
</ol></body></html>
"""
_ITEM = """<li title="{path}"><div class="picture{dark}">{picture}</div>
<b>{name}</b><small>{set}{more}</small><small>{score:.2f}</small></li>"""


def sheet_html(query: str, hits: Iterable[tuple[Hit, bytes | None]]) -> str:
    """Lay hits with their pictures out as a page; None where a picture's source has gone.

    Pictures stand in `img`, where no script of an SVG can run.
    """
    items = "\n".join(
        _ITEM.format(
            path=_shown(hit.path),
            name=_shown(hit.name),
            set=_shown(hit.set_title),
            more=f", {hit.n_variants} variants" if hit.n_variants > 1 else "",
            score=hit.score,
            picture=f'<img alt="{_shown(hit.name)}" src="{data_uri(content)}">' if content is not None else "gone",
            dark=" dark" if content and is_drawn_in_white(content) else "",
        )
        for hit, content in hits
    )
    return _PAGE.format(title=f"icons: {_shown(query)}", items=items)


def _shown(text: str) -> str:
    return escape(printable(text))
