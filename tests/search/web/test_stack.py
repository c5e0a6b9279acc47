"""Many SVGs in one look as each of them does by itself, whatever the others hold."""

from xml.etree import ElementTree

import numpy as np
import pytest

from indexer.rendering.render import render
from search.web.svg import fitting, stacked

HEAD = b'<svg xmlns="http://www.w3.org/2000/svg" width="1em" height="1em" viewBox="0 0 24 24"'
PLAIN = (
    HEAD + b'><path fill="currentColor" d="M2 2h9v20H2z"/></svg>',
    HEAD + b' fill="none" stroke="#d7263d" stroke-width="3"><title>a "b"</title><circle cx="12" cy="9" r="5"/></svg>\n',
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 32 16" x="3"><path d="M0 9h9v9z"/></svg>',
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0,0,6.5 26" height="9"><path d="M-9 3h90v3z"/></svg>',
    b"<!-- a > b --><!-- c -->\n"
    + HEAD
    + b' class="curly" id="i18"><!-- d --><path class="url" d="M2 2h9v9z"/></svg><!-- e -->',
    b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8"?>\n' + HEAD + b' data-name="@"><path d="M2 2h9v9z"/></svg>',
)
DEFINED = {
    "a gradient": b'<defs><linearGradient id="a"><stop stop-color="red"/><stop offset="1" stop-color="blue"/>'
    b'</linearGradient></defs><path fill="url(\'#a\')" d="M2 2h9v20H2z"/>',
    "a clip": b'<clipPath id="i1"><circle cx="9" cy="9" r="5"/></clipPath>'
    b'<path clip-path="url(#i1)" d="M2 2h9v20H2z"/>',
    "a mask": b'<mask id="a.b" fill="#fff"><circle cx="9" cy="9" r="5"/></mask>'
    b'<g style="fill:red;mask:url( #a.b )"><path d="M2 2h9v20H2z"/></g>',
    "a copy": b'<path id="a" d="M2 2h9v9H2z"/><use xlink:href="#a" x="9" y="9"/>',
    "a shadow": b'<filter id="a"><feOffset dx="3"/><feGaussianBlur stdDeviation="1"/></filter>'
    b'<path filter="url(#a)" d="M2 2h9v20H2z"/>',
    "an id that nobody asks for": b'<path id="i1" class="&gt;&lt;" d="M2 2h9v9z"/><title>a &lt; b &amp; "c"</title>',
}
APART = {
    "a style": HEAD + b"><style>path{fill:red}</style><path d='M2 2h9v9z'/></svg>",
    "a reference by escapes": HEAD + b'><path style="fill:\\75 rl(#a)" d="M2 2h9v9z"/></svg>',
    "a picture of a filter": HEAD + b'><filter id="a"><feImage href="#i1"/></filter></svg>',
    "a script": HEAD + b"><script>alert(1)</script></svg>",
    "something foreign": HEAD + b"><foreignObject/></svg>",
    "a movement": HEAD + b'><path d="M2 2h9v9z"><animate attributeName="d"/></path></svg>',
    "a style of its root": HEAD + b' style="display:none"><path d="M2 2h9v9z"/></svg>',
    "another ratio": HEAD + b' preserveAspectRatio="none"><path d="M2 2h9v9z"/></svg>',
    "no area": b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 0 24"><path d="M2 2h9v9z"/></svg>',
    "no measure": b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M2 2h9v9z"/></svg>',
    "an entity": b'<!DOCTYPE svg [<!ENTITY a "b">]>' + HEAD + b"><title>&a;</title></svg>",
    "a declared type": b"<!DOCTYPE svg>" + HEAD + b'><path d="M2 2h9v9z"/></svg>',
    "an instruction": HEAD + b'><?a b?><path d="M2 2h9v9z"/></svg>',
    "text as it stands": HEAD + b"><title><![CDATA[<b>]]></title></svg>",
    "a way out": HEAD + b'></svg><svg id="i2">',
    "no end": HEAD + b'><path d="M2 2h9v9z">',
    "nothing in it": HEAD + b"/>",
}


def _layers(document: bytes) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(document)  # well-formed, whatever stands in it
    return {layer.attrib["id"]: layer for layer in root.findall("{*}svg")}


@pytest.mark.parametrize("plain", PLAIN)
def test_shapes_stand_in_a_stack_as_they_are_and_look_the_same(plain: bytes) -> None:
    document = stacked({"17": plain})
    assert list(_layers(document)) == ["i17"]
    assert b"<image" not in document and b"<!--" not in document
    seen = document.replace(b"display:none", b"display:inline").replace(
        b"<svg xmlns", b'<svg width="64" height="64" xmlns', 1
    )
    assert np.array_equal(render(seen, size=64).pixels, render(plain, size=64).pixels)


@pytest.mark.parametrize("parts", DEFINED.values(), ids=DEFINED)
def test_parts_that_are_found_by_their_ids_are_those_of_their_icon(parts: bytes) -> None:
    document = HEAD + b' xmlns:xlink="http://www.w3.org/1999/xlink">' + parts + b"</svg>"
    other = document.replace(b"2h9", b"1h2").replace(b'r="5"', b'r="1"').replace(b"red", b"lime").replace(b"dx", b"dy")
    stack = stacked({"1": other, "17": document})
    assert b"<image" not in stack
    ids = [part.attrib["id"] for layer in _layers(stack).values() for part in layer.iter() if "id" in part.attrib]
    assert len(ids) == len(set(ids)) == 4
    assert all(name.startswith(("i1", "i17")) for name in ids)
    seen = stack.replace(b"<style>:root>svg{display:none}:root>svg:target{display:inline}</style>", b"")
    seen = seen.replace(b'<svg id="i1"', b'<svg display="none" id="i1"')
    seen = seen.replace(b"<svg xmlns", b'<svg width="64" height="64" xmlns', 1)
    assert np.array_equal(render(seen, size=64).pixels, render(document, size=64).pixels)


@pytest.mark.parametrize("document", APART.values(), ids=APART)
def test_what_could_reach_others_stands_apart(document: bytes) -> None:
    layers = _layers(stacked({"1": PLAIN[0], "2": document, "3": PLAIN[1]}))
    assert list(layers) == ["i1", "i2", "i3"]
    assert [child.tag.partition("}")[2] for child in layers["i2"]] == ["image"]
    assert [child.tag.partition("}")[2] for child in layers["i3"]] == ["title", "circle"]


def test_what_would_make_a_stack_too_large_is_left_out() -> None:
    large = HEAD + b">" + b'<path d="M0 0h1"/>' * 50_000 + b"</svg>"
    pictures = [("small", PLAIN[0]), ("large", large), ("too large", large), ("bitmap", b"\x89PNG"), ("last", PLAIN[1])]
    documents, n_too_many = fitting(pictures)
    assert (list(documents), n_too_many) == (["small", "large", "last"], 1)
