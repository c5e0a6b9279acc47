"""How does a page show what was exported? A tile an icon, with its name, and the line that one uses it by."""

from collections.abc import Iterable
from html import escape

_STYLE = """:root{color-scheme:light dark}body{margin:2rem;font:14px/1.5 system-ui,sans-serif}
ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:1.5rem 1rem;padding:0;list-style:none}
li{text-align:center;overflow-wrap:anywhere}li code,li small{display:block}
li .tile{display:block;width:auto;height:2.5rem;margin:.5rem auto;font-size:2.5rem;line-height:1}"""


def gallery(
    title: str, *, use: str, tiles: Iterable[tuple[str, str, str]], stylesheet: str = "", sprite: str = ""
) -> bytes:
    """Spell the page; a tile is an icon's name, its markup, which bears the class "tile", and a remark."""
    items = "\n".join(
        f"<li>{markup}<code>{escape(name)}</code>{f'<small>{escape(remark)}</small>' if remark else ''}</li>"
        for name, markup, remark in tiles
    )
    link = f'<link rel="stylesheet" href="{escape(stylesheet)}">\n' if stylesheet else ""
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n{link}<style>{_STYLE}</style>\n'
        f"<h1>{escape(title)}</h1>\n<p><code>{escape(use)}</code></p>\n{sprite}<ul>\n{items}\n</ul>\n</html>\n"
    ).encode()
