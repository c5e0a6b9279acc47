"""Hostile SVGs: what they try, as text; each holds the square, so that what is drawn can be told from what is not."""

import gzip
from collections.abc import Iterator
from pathlib import Path

Named = tuple[str, bytes, str | None]
SQUARE = '<rect x="6" y="6" width="12" height="12"/>'
RED = 'width="24" height="3" fill="red"'


def svg(body: str, *, root: str = 'viewBox="0 0 24 24"', before: str = "") -> bytes:
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"{before}<svg {names} {root}>{body}</svg>".encode()


def plain_square(remark: str) -> bytes:
    return svg(f"{SQUARE}<!--{remark}-->")


def svgs(secret: Path, port: int) -> Iterator[Named]:
    """Yield (name, content, pattern of the reason or None where the square is drawn)."""
    yield from ((name, content, None) for name, content in _readers(secret, port))
    yield from ((name, svg(SQUARE + body), None) for name, body in _ACTIVE.items())
    yield from ((name, svg(SQUARE, root=root), reason) for name, (root, reason) in _ROOTS.items())
    yield from _drawn_or_not()
    yield from _bombs()
    yield from _packed()


def _readers(secret: Path, port: int) -> Iterator[tuple[str, bytes]]:
    """SVGs that name what lies elsewhere, each in every way to write an address."""
    addresses = {
        "absolute": str(secret),
        "file": f"file://{secret}",
        "host": f"file://localhost{secret}",
        "relative": f"../../{secret.name}",
        "http": f"http://127.0.0.1:{port}",
        "bare": f"//127.0.0.1:{port}",
    }
    for way, base in addresses.items():
        for name, body in _ELSEWHERE.items():
            yield f"{name}-{way}", svg(SQUARE + body.format(base=base))
        for name, before in _BEFORE.items():
            yield f"{name}-{way}", svg(SQUARE, before=before.format(base=base))
        based = f'viewBox="0 0 24 24" xml:base="{base}/"'
        yield f"base-{way}", svg(f'{SQUARE}<image href="red.png" width="24" height="24"/>', root=based)


_ELSEWHERE = {
    "image": '<image href="{base}/red.png" width="24" height="24"/>',
    "image-svg": '<image xlink:href="{base}/red.svg" width="24" height="24"/>',
    "use": '<use href="{base}/red.svg#red"/>',
    "use-xlink": '<use xlink:href="{base}/red.svg#red"/>',
    "paint": f"<rect {RED.replace('red', 'url({base}/red.svg#paint)')}/>",
    "css-import": f'<style>@import url("{{base}}/red.css"); @import "{{base}}/red.css";</style><rect {RED[:-11]} '
    'fill="none" class="canary"/>',
    "css-font": "<style>@font-face {{ font-family: x; src: url({base}/font.woff) }}</style>"
    '<text font-family="x"> </text>',
    "css-paint": "<style>.c {{ fill: url({base}/red.svg#paint) }}</style>"
    '<rect width="24" height="3" fill="none" class="c"/>',
    "fe-image": '<filter id="f"><feImage href="{base}/red.png"/></filter><rect width="24" height="24" filter="url(#f)" '
    'fill="none"/>',
    "include": '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{base}/red.svg" parse="xml"/>',
    "include-text": '<style><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{base}/red.css" parse="text"/>'
    '</style><rect width="24" height="24" fill="none" class="canary"/>',
    "script": '<script href="{base}/red.js"/>',
    "foreign": '<foreignObject width="24" height="24"><iframe xmlns="http://www.w3.org/1999/xhtml" '
    'src="{base}/red.svg"/></foreignObject>',
    "inner": '<image width="24" height="24" href="data:image/svg+xml,'
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cimage width='24' height='24' "
    "href='{base}/red.png'/%3E%3C/svg%3E\"/>",
}
_BEFORE = {
    "stylesheet": '<?xml-stylesheet type="text/css" href="{base}/red.css"?>',
    "doctype": '<!DOCTYPE svg SYSTEM "{base}/red.dtd">',
}

_ACTIVE = {
    "script-inline": "<script>document.documentElement.style.background = 'red'</script>",
    "script-cdata": '<script type="application/ecmascript"><![CDATA[ for (;;) ; ]]></script>',
    "handler-load": "<g onload=\"fill('red')\" onclick=\"fill('red')\"/>",
    "handler-error": '<image href="data:," width="1" height="1" onerror="fill(\'red\')"/>',
    "link-script": f'<a href="javascript:alert(1)"><rect {RED} opacity="0"/></a>',
    "set": f'<rect {RED} opacity="0"><set attributeName="opacity" to="1"/></rect>',
    "animate": f'<rect {RED} opacity="0"><animate attributeName="opacity" to="1" dur="1ms"/></rect>',
    "animate-css": f"<style>@keyframes k {{ to {{ opacity: 1 }} }} .k {{ animation: k 1ms forwards }}</style>"
    f'<rect {RED} opacity="0" class="k"/>',
    "foreign-html": '<foreignObject width="24" height="24"><body xmlns="http://www.w3.org/1999/xhtml" '
    'style="background:red">x</body></foreignObject>',
    "media-query": f"<style>@media print {{ .m {{ fill: red }} }}</style><rect {RED[:-11]} fill='none' class='m'/>",
    "css-broken": "<style>}}}}{{{{ @@@ rect { fill: ; fill } /* </style>",
    "css-import-loop": "<style>@import url(#); @import url(data:text/css,@import%20url(#))</style>",
    "unknown": '<evil:rect xmlns:evil="urn:evil" width="24" height="24"/><blink/>',
    "comment-markup": f"<!-- ><rect {RED}/> -->",
    "cdata-markup": f"<desc><![CDATA[<rect {RED}/>]]></desc>",
    "pi": '<?php system("id") ?>',
    "id-twice": f'<defs><rect id="r" {RED}/><rect id="r" {RED}/></defs>',
    "switch": f'<switch><rect systemLanguage="tlh" {RED}/></switch>',
}

_ROOTS = {
    "size-huge": ('width="1e9" height="1e9" viewBox="0 0 24 24"', None),
    "size-beyond": ('width="1e400" height="1e400" viewBox="0 0 24 24"', None),
    "size-negative": ('width="-5" height="-5" viewBox="0 0 24 24"', None),
    "size-nan": ('width="nan" height="nan" viewBox="0 0 24 24"', None),
    "size-text": ('width="red" height="blue" viewBox="0 0 24 24"', None),
    "size-tiny": ('width="1e-30" height="1e-30" viewBox="0 0 24 24"', r"^svg: "),
    "size-relative": ('width="1e5%" height="1e5%" viewBox="0 0 24 24"', None),
    "box-zero": ('viewBox="0 0 0 0"', r"^svg: "),
    "box-negative": ('viewBox="0 0 -24 -24" width="24" height="24"', None),
    "box-nan": ('viewBox="nan nan nan nan" width="24" height="24"', None),
    "box-infinite": ('viewBox="0 0 inf inf" width="24" height="24"', None),
    "box-beyond": ('viewBox="0 0 1e400 1e400" width="24" height="24"', None),
    "box-short": ('viewBox="0 0 24" width="24" height="24"', None),
    "box-long": ('viewBox="0 0 24 24 24" width="24" height="24"', None),
    "aspect-wide": ('viewBox="0 0 1e7 1"', r"^(svg: |blank)"),
    "aspect-tall": ('viewBox="0 0 1 1e7"', r"^(svg: |blank)"),
    "attributes": (" ".join(f'a{n}="{n}"' for n in range(20_000)) + ' viewBox="0 0 24 24"', None),
    "attribute-long": (f'viewBox="0 0 24 24" class="{"x" * 800_000}"', None),
    "attribute-twice": ('viewBox="0 0 24 24" viewBox="0 0 1 1"', r"^svg: XML parse error"),
}


def _drawn_or_not() -> Iterator[Named]:
    """Numbers, fonts, filters and data that no drawing needs: drawn without them, or refused."""
    for name, number in {"nan": "NaN", "infinite": "1e999", "huge": "1e30", "tiny": "1e-30"}.items():
        yield from (
            (f"path-{name}", svg(f'{SQUARE}<path d="M{number} {number}L{number} 0z"/>'), None),
            (f"transform-{name}", svg(f'{SQUARE}<g transform="scale({number})"><path d="M-1-1h.1z"/></g>'), None),
            (f"stroke-{name}", svg(f'{SQUARE}<path d="M-9-9" stroke="#000" stroke-width="{number}"/>'), None),
            (f"font-size-{name}", svg(f'{SQUARE}<text x="-99" font-size="{number}"> </text>'), None),
        )
    for name, inside in _FILTERS.items():
        body = f'<filter id="f">{inside}</filter><rect x="-90" width="1" height="1" filter="url(#f)"/>'
        yield f"filter-{name}", svg(SQUARE + body), None
    yield from (
        ("path-long", svg(f'{SQUARE}<path d="M-9-9{"h-1v-1" * 100_000}"/>'), None),
        ("path-cut", svg(f'{SQUARE}<path d="M-9-9 h 1 e e e {"9" * 100_000}"/>'), None),
        ("points-long", svg(f'{SQUARE}<polygon points="{"-1,-1 " * 150_000}"/>'), None),
        (
            "styles-many",
            svg("<style>" + "".join(f".c{n}{{fill:red}}" for n in range(30_000)) + f"</style>{SQUARE}"),
            None,
        ),
        ("selector-deep", svg(f"<style>{'g ' * 20_000}{{fill:red}}</style>{SQUARE}"), None),
        ("text-long", svg(f"{SQUARE}<desc>{'word ' * 150_000}</desc>"), None),
    )
    for name, data in _DATA.items():
        yield f"data-{name}", svg(f'{SQUARE}<image width="24" height="24" opacity="0" href="data:{data}"/>'), None


_FILTERS = {
    "blur": '<feGaussianBlur stdDeviation="1e9"/>',
    "octaves": '<feTurbulence baseFrequency="9" numOctaves="1000000000"/>',
    "morphology": '<feMorphology operator="dilate" radius="1e9"/>',
    "convolve": f'<feConvolveMatrix order="200" kernelMatrix="{"1 " * 40_000}"/>',
    "displace": '<feDisplacementMap in2="SourceGraphic" scale="1e30"/>',
    "offset": '<feOffset dx="NaN" dy="1e300"/>',
    "light": '<feDiffuseLighting surfaceScale="1e300"><fePointLight x="NaN" y="0" z="0"/></feDiffuseLighting>',
    "many": '<feGaussianBlur stdDeviation="1"/>' * 200,
    "table": f'<feComponentTransfer><feFuncR type="table" tableValues="{"1 " * 100_000}"/></feComponentTransfer>',
}
_DATA = {
    "nothing": "",
    "text": "text/html,&lt;script&gt;",
    "cut": "image/png;base64,iVBORw0KGgo",
    "not-base64": "image/png;base64,!!!",
    "self": "image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'%3E%3Cimage href='%23'/%3E%3C/svg%3E",
}


def _bombs() -> Iterator[Named]:
    """What grows without end: entities, uses, nesting, dashes."""
    doubled = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    laughs = f'<!DOCTYPE svg [<!ENTITY e0 "ha">{doubled}]>'
    yield "laughs", svg(f"{SQUARE}<desc>&e8;</desc>", before=laughs), "declares entities"
    yield "laughs-utf16", f"{laughs}{svg('<desc>&e8;</desc>').decode()}".encode("utf-16"), "declares entities"
    seven = '<?xml version="1.0" encoding="UTF-7"?><!DOCTYPE svg [+ADwAIQ-ENTITY e SYSTEM "/etc/hostname"+AD4]>'
    yield from (
        ("entity-utf7", svg(f"{SQUARE}<text>&e;</text>", before=seven), r"^svg: "),
        ("entity-self", svg("&e;", before='<!DOCTYPE svg [<!ENTITY e "&e;">]>'), "declares entities"),
        ("entity-unknown", svg(f"{SQUARE}&nothing;"), r"^svg: XML parse error"),
        ("use-self", svg(f'{SQUARE}<g id="a" opacity="0"><use href="#a"/></g>'), None),
        ("use-pair", svg(f'{SQUARE}<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>'), None),
        ("use-parent", svg(f'<g id="a">{SQUARE}<g><use href="#a"/></g></g>'), None),
        ("use-thousands", svg(SQUARE + _doubling("use", 6)), "referenced elements|took longer"),
        (
            "pattern-self",
            svg(
                f'{SQUARE}<pattern id="p" width="1" height="1"><path d="M0 0h1v1z" fill="url(#p)"/></pattern>'
                '<rect x="-9" width="1" height="1" fill="url(#p)"/>'
            ),
            None,
        ),
        (
            "mask-self",
            svg(
                f'{SQUARE}<mask id="m"><rect mask="url(#m)" {RED}/></mask><rect x="-90" mask="url(#m)" '
                'width="1" height="1"/>'
            ),
            None,
        ),
        (
            "clip-self",
            svg(
                f'{SQUARE}<clipPath id="c" clip-path="url(#c)"><rect {RED}/></clipPath><rect x="-90" '
                'clip-path="url(#c)" width="1" height="1"/>'
            ),
            None,
        ),
        (
            "gradient-loop",
            svg(
                f'{SQUARE}<linearGradient id="a" href="#b"/><linearGradient id="b" href="#a"/>'
                '<rect x="-90" width="1" height="1" fill="url(#a)"/>'
            ),
            None,
        ),
        ("groups-nested", svg("<g>" * 100_000 + "</g>" * 100_000), "Excessive depth"),
        ("groups-half", svg("<g>" * 100_000), r"^svg: "),
        ("svgs-nested", svg("<svg>" * 2_000 + SQUARE + "</svg>" * 2_000), r"^svg: "),
        ("groups-many", svg(SQUARE + "<g/>" * 20_000), None),
        ("comment-50-mb", svg(f"{SQUARE}<!--{'x' * 50_000_000}-->"), r"^SVG of 50\.00 MB, the limit is 1 MB$"),
        ("path-50-mb", svg(f'<path d="{"h1v1" * 12_500_000}"/>'), r"^SVG of 50\.00 MB, the limit is 1 MB$"),
        ("nothing-inside", svg(""), "blank"),
        ("cut-in-tag", svg(SQUARE)[:-20], r"^svg: XML parse error"),
        ("cut-in-name", svg(SQUARE)[:4], "not a picture"),
        ("two-roots", svg(SQUARE) + svg(SQUARE), r"^svg: XML parse error"),
        ("trailing-zeros", svg(SQUARE) + b"\0" * 100, r"^svg: XML parse error"),
        ("zero-inside", svg(f"{SQUARE}\0"), r"^svg: XML parse error"),
        ("not-utf8", svg(f"{SQUARE}<desc>?</desc>").replace(b"?", b"\xff\xfe\xc0"), None),
        ("encoding-unknown", svg(SQUARE, before='<?xml version="1.0" encoding="klingon"?>'), None),
        ("dashes", svg(f'{SQUARE}<path d="M-9-9h-1e6v-1e6" stroke="#000" stroke-dasharray="1e-5"/>'), None),
    )


def _doubling(element: str, n: int) -> str:
    groups = "".join(f'<g id="g{i}">{f"""<{element} href="#g{i - 1}"/>""" * 10}</g>' for i in range(1, n + 1))
    return f'<defs><g id="g0"><path d="M0 0"/></g>{groups}</defs><{element} href="#g{n}"/>'


def _packed() -> Iterator[Named]:
    """SVGs in gzip."""
    plain = svg(SQUARE)
    yield from (
        ("gz", gzip.compress(plain, mtime=0), None),
        ("gz-twice", gzip.compress(gzip.compress(plain, mtime=0), mtime=0), "not a picture"),
        ("gz-bomb", gzip.compress(svg(" " * 50_000_000), mtime=0), r"^SVGZ that unpacks to more than 1 MB$"),
        ("gz-cut", gzip.compress(plain, mtime=0)[:-30], "truncated SVGZ"),
        ("gz-flipped", gzip.compress(plain, mtime=0)[:-8] + b"\0" * 8, r"^svgz: "),
        ("gz-of-nothing", gzip.compress(b"", mtime=0), "not a picture"),
        ("gz-magic", b"\x1f\x8b", r"svgz|SVGZ"),
    )
