import gzip
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_icons import saved

from indexer.errors import RenderError
from indexer.rendering.render import BLANK, MAX_SVG_BYTES, render

BLACK, WHITE, RED = (0, 0, 0), (255, 255, 255), (255, 0, 0)


def svg(body: str, *, root: str = 'viewBox="0 0 24 24"') -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {root}>{body}</svg>'.encode()


def square(fill: str = "currentColor") -> str:
    """A square over the middle half of a 24-unit canvas: pixels 16 to 47 of 64."""
    return f'<rect x="6" y="6" width="12" height="12" fill="{fill}"/>'


def expected_square(*, ink: tuple[int, int, int] = BLACK, ground: tuple[int, int, int] = WHITE) -> np.ndarray:
    pixels = np.full((64, 64, 3), ground, np.uint8)
    pixels[16:48, 16:48] = ink
    return pixels


def square_image(mode: str = "RGBA", *, side: int = 64) -> Image.Image:
    """The same square as a bitmap: black on transparency, or on white where the mode has no alpha."""
    image = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (side // 4, side // 4, side * 3 // 4, side * 3 // 4))
    if "A" in mode:
        return image.convert(mode)
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert(mode)


def reason(content: bytes) -> str:
    with pytest.raises(RenderError) as refused:
        render(content, size=64)
    return str(refused.value)


# SVG


def test_current_color_is_black_on_white() -> None:
    rendered = render(svg(square()), size=64)
    assert (rendered.background, rendered.pixels.dtype, rendered.pixels.flags.c_contiguous) == ("light", np.uint8, True)
    np.testing.assert_array_equal(rendered.pixels, expected_square())


def test_a_colour_that_the_icon_names_is_kept() -> None:
    both = svg(square("#f00")), svg(square(), root='viewBox="0 0 24 24" color="red"')
    assert all(np.array_equal(render(content, size=64).pixels, expected_square(ink=RED)) for content in both)


@pytest.mark.parametrize(
    "root",
    [
        'width="24" height="24"',
        'width="24px" height="24px" viewBox="0 0 24 24"',
        'width="1em" height="1em" viewBox="0 0 24 24"',
        'width="100%" height="100%" viewBox="0 0 24 24"',
        'width="1000000" height="1000000" viewBox="0 0 24 24"',
        'width="3in" height="3in" viewBox="0 0 24 24"',
        'viewBox="0,0,24,24"',
        'viewBox="0 0 24 24" width="7" style="width:24px;height:24px"',
        'width="0.7" height="0.7" viewBox="0 0 24 24"',
        'width="nonsense" height="24" viewBox="0 0 24 24"',
    ],
)
def test_the_size_that_an_svg_states_does_not_change_the_picture(root: str) -> None:
    np.testing.assert_array_equal(render(svg(square(), root=root), size=64).pixels, expected_square())


@pytest.mark.parametrize("size", [16, 63, 64, 224, 336])
def test_an_svg_is_drawn_at_the_size_asked_for(size: int) -> None:
    pixels = render(svg('<rect width="12" height="24"/>'), size=size).pixels
    assert pixels.shape == (size, size, 3)
    assert (pixels[:, : size // 2].max(), pixels[:, size // 2 + 1 :].min()) == (0, 255)


@pytest.mark.parametrize(
    "content",
    [
        svg('<rect width="48" height="12"/>', root='viewBox="0 0 48 12"'),
        saved(Image.new("RGB", (400, 100)), "PNG"),
    ],
)
def test_a_wide_picture_keeps_its_aspect_between_rows_of_white(content: bytes) -> None:
    pixels = render(content, size=64).pixels
    assert (pixels[24:40].max(), np.delete(pixels, range(24, 40), axis=0).min()) == (0, 255)


def test_half_transparent_ink_is_blended_with_white() -> None:
    pixels = render(svg('<rect width="12" height="24" fill-opacity="0.5"/>'), size=64).pixels
    assert np.unique(pixels).tolist() == [127, 255]


PLAIN = svg(square()).decode()


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + PLAIN.encode(),
        b"\n\t " + PLAIN.encode(),
        ('<?xml version="1.0" encoding="UTF-8"?>' + PLAIN).encode(),
        ("<!-- <html> --><!-- <b> -->\n" + PLAIN + "<!-- end -->").encode(),
        (
            '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">' + PLAIN
        ).encode(),
        ("<!DOCTYPE svg [ <!ATTLIST svg a CDATA #IMPLIED> ]>" + PLAIN).encode(),
        ('<?xml version="1.0" encoding="UTF-16"?>' + PLAIN).encode("utf-16"),
        ('<?xml version="1.0" encoding="UTF-16"?>' + PLAIN).encode(),
        b"\xfe\xff" + PLAIN.encode("utf-16-be"),
        PLAIN.encode("utf-16-le"),
        PLAIN.encode("utf-16-be"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>' + PLAIN.replace("<rect", "<title>é</title><rect")).encode(
            "latin-1"
        ),
        ('<?xml version="1.0" encoding="US-ASCII"?>' + PLAIN.replace("<rect", "<!--é--><rect")).encode("latin-1"),
        ('<?xml version="1.0" encoding="utf8"?>' + PLAIN.replace("<rect", "<!--é--><rect")).encode(),
        ('<?xml version="1.0" encoding="tis-620"?>' + PLAIN.replace("<rect", "<!--ก--><rect")).encode("cp874"),
        ('\ufeff<?xml version="1.0" encoding="latin1"?>' + PLAIN.replace("<rect", "<!--é--><rect")).encode(),
        PLAIN.replace("<rect", "<!--Größe--><rect").encode("latin-1"),
        ('<?xml version="1.1" encoding="nobody-knows"?>' + PLAIN).encode(),
        ('\n<?xml version="1.0" encoding="utf-8"?>' + PLAIN).encode(),
        PLAIN.replace("<svg", "<s:svg")
        .replace("</svg", "</s:svg")
        .replace("xmlns", "xmlns:s")
        .replace("<rect", "<s:rect")
        .encode(),
        PLAIN.replace(' xmlns="http://www.w3.org/2000/svg"', "").encode(),
        gzip.compress(PLAIN.encode()),
    ],
    ids=[
        "byte order mark",
        "white space",
        "declaration",
        "comments",
        "doctype",
        "internal subset",
        "utf-16",
        "utf-16 that is none",
        "utf-16 big-endian",
        "utf-16-le without mark",
        "utf-16-be without mark",
        "latin-1",
        "ascii with more",
        "utf8",
        "thai",
        "a mark against latin-1",
        "latin-1 undeclared",
        "an unknown encoding",
        "a late declaration",
        "prefixed",
        "no namespace",
        "svgz",
    ],
)
def test_an_svg_is_known_by_its_content(content: bytes) -> None:
    np.testing.assert_array_equal(render(content, size=64).pixels, expected_square())


def test_an_svg_is_never_half_a_picture() -> None:
    assert reason(PLAIN.encode()[:-4]).startswith("svg: XML parse error")
    assert reason(gzip.compress(PLAIN.encode())[:-20]) == "truncated SVGZ"


def test_a_large_svg_is_refused_with_its_size() -> None:
    assert reason(svg(square() + f"<!--{'x' * 1_400_000}-->")) == "SVG of 1.40 MB, the limit is 1 MB"
    at_the_limit = svg(square() + f"<!--{'x' * (MAX_SVG_BYTES - len(svg(square())) - 7)}-->")
    assert len(at_the_limit) == MAX_SVG_BYTES
    np.testing.assert_array_equal(render(at_the_limit, size=64).pixels, expected_square())


ILLUSTRATOR = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [
	<!ENTITY ns_svg "http://www.w3.org/2000/svg">
	<!ENTITY ink 'fill:#FF0000'>
]>
<svg xmlns="&ns_svg;" viewBox="0 0 24 24"><rect x="6" y="6" width="12" height="12" style="&ink;"/></svg>"""


def test_entities_for_short_texts_are_filled_in() -> None:
    np.testing.assert_array_equal(render(ILLUSTRATOR.encode(), size=64).pixels, expected_square(ink=RED))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a SYSTEM "{file}">',
        '<!ENTITY a PUBLIC "secret" "{file}">',
        '<!ENTITY % a SYSTEM "{file}"> %a;',
        "<!ENTITY a \"<!ENTITY b SYSTEM '{file}'>\">",
        '<!ENTITY b "text"><!ENTITY a "&b;&b;&b;&b;&b;&b;&b;&b;">',
        '<!ENTITY b "text"><!ENTITY a "&#38;b;">',
        '<!ENTITY a "<text/>">',
        f'<!ENTITY a "{"text" * 100}">',
    ],
)
def test_entities_that_read_files_or_grow_are_refused(tmp_path: Path, declared: str, encoding: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    kind = f"<!DOCTYPE svg [{declared.format(file=tmp_path / 'secret.txt')}]>"
    assert "entities" in reason((kind + svg("<text>&a;</text>").decode()).encode(encoding))


def test_many_comments_without_an_svg_are_refused_at_once() -> None:
    started = time.process_time()
    assert reason(b"<!-- --> " * 50_000) == "not a picture"
    assert reason(b"<!DOCTYPE a [ ] ] ] " * 50_000) == "not a picture" and time.process_time() - started < 1


def test_a_white_or_pale_icon_is_drawn_on_black_and_a_grey_one_on_white() -> None:
    white = expected_square(ink=WHITE, ground=BLACK)
    np.testing.assert_array_equal(render(svg(square("white")), size=64).pixels, white)
    bodies = (square("white"), square("#f4f4f4"), square("#ddd"), square("white") + '<rect width="2" height="2"/>')
    assert [render(svg(body), size=64).background for body in bodies] == ["dark", "dark", "light", "light"]


@pytest.mark.parametrize(
    "content",
    [
        svg(""),
        svg(square("none")),
        svg('<rect width="24" height="24" fill-opacity=".01"/>'),
        saved(Image.new("RGBA", (32, 32), (9, 9, 9, 0)), "PNG"),
    ],
)
def test_a_picture_without_any_shape_is_refused_as_blank(content: bytes) -> None:
    assert reason(content) == BLANK


@pytest.mark.parametrize(
    ("content", "colour", "background"),
    [
        (svg('<rect width="24" height="24"/>'), BLACK, "light"),
        (svg('<rect width="24" height="24" fill="red"/>'), RED, "light"),
        (svg('<rect width="24" height="24" fill="white"/>'), WHITE, "dark"),
        (svg('<rect width="24" height="24" fill="#ddd"/>'), (221, 221, 221), "light"),
        (saved(Image.new("RGB", (32, 32), "white"), "PNG"), WHITE, "dark"),
        (saved(Image.new("RGB", (1, 1), "red"), "PNG"), RED, "light"),
    ],
)
def test_a_square_of_one_colour_is_an_icon(content: bytes, colour: tuple[int, int, int], background: str) -> None:
    rendered = render(content, size=64)
    assert rendered.background == background and (rendered.pixels == np.array(colour, np.uint8)).all()


# Bitmaps


def icon_file(*depths: int, alpha: bytes, stated: int | None = None) -> bytes:
    """An ICO, or with a `stated` depth a cursor, of the square: red under its mask, black where there is less depth."""
    ink = {1: b"\0" * 512, 24: b"\0" * 12288, 32: (b"\0\0\xff" + alpha) * 4096}
    rows = ["1" * 64] * 16 + ["1" * 16 + "0" * 32 + "1" * 16] * 32 + ["1" * 64] * 16
    mask = b"".join(int(row, 2).to_bytes(8, "big") for row in rows)
    heads, pictures = b"", b""
    for depth in depths:
        head = struct.pack("<IiiHHIIiiII", 40, 64, 128, 1, depth, 0, 0, 0, 0, 0, 0)
        picture = head + bytes(8 if depth == 1 else 0) + ink[depth] + mask
        place = 6 + 16 * len(depths) + len(pictures)
        heads += struct.pack("<BBHHHII", 64, 64, 0, 1, depth if stated is None else stated, len(picture), place)
        pictures += picture
    return struct.pack("<HHH", 0, 1 if stated is None else 2, len(depths)) + heads + pictures


@pytest.mark.parametrize(
    ("content", "ink"),
    [
        (icon_file(32, alpha=b"\0"), RED),
        (icon_file(32, alpha=b"\0", stated=32), RED),
        (icon_file(32, alpha=b"\0", stated=0), RED),
        (icon_file(1, 24, 32, alpha=b"\0"), RED),
        (icon_file(24, alpha=b"\0"), BLACK),
        (icon_file(1, alpha=b"\0"), BLACK),
    ],
)
def test_the_mask_of_an_icon_file_counts_where_its_alpha_says_nothing(
    content: bytes, ink: tuple[int, int, int]
) -> None:
    np.testing.assert_array_equal(render(content, size=64).pixels, expected_square(ink=ink))


def test_the_alpha_of_an_icon_file_counts_whatever_its_directory_says() -> None:
    both = icon_file(1, 32, alpha=b"\x80"), icon_file(32, alpha=b"\x80", stated=7)
    assert [np.unique(render(content, size=64).pixels).tolist() for content in both] == [[127, 255]] * 2


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        ("RGBA", "PNG"),
        ("RGBA", "WEBP"),
        ("LA", "PNG"),
        ("RGB", "PNG"),
        ("L", "PNG"),
        ("1", "PNG"),
        ("P", "PNG"),
        ("I;16", "PNG"),
        ("RGB", "BMP"),
        ("RGB", "ICO"),
        ("RGBA", "ICO"),
        ("P", "GIF"),
    ],
)
def test_every_kind_of_bitmap_gives_the_same_pixels(mode: str, kind: str) -> None:
    image = square_image("L" if mode == "I;16" else mode)
    if mode == "I;16":
        image = Image.fromarray(np.asarray(image).astype(np.uint16) * 257)
    options = {"ICO": {"sizes": [(64, 64)]}, "WEBP": {"lossless": True}}.get(kind, {})
    np.testing.assert_array_equal(render(saved(image, kind, **options), size=64).pixels, expected_square())


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_jpeg_is_read_in_every_colour_space(mode: str) -> None:
    pixels = render(saved(square_image(mode), "JPEG", quality=95), size=64).pixels
    assert np.abs(pixels.astype(int) - expected_square()).max() <= 8


def test_sixteen_bit_grey_is_scaled_not_cut() -> None:
    deep = np.full((64, 64), 65535, np.uint16)
    deep[:, :32] = 127 * 257
    pixels = render(saved(Image.fromarray(deep), "PNG"), size=64).pixels
    assert [np.unique(half).tolist() for half in (pixels[:, :32], pixels[:, 32:])] == [[127], [255]]


def test_sixteen_bit_grey_with_a_transparent_value() -> None:
    deep = np.full((64, 64), 5000, np.uint16)
    deep[16:48, 16:48] = 0
    plain, chunk = saved(Image.fromarray(deep), "PNG"), b"tRNS" + struct.pack(">H", 5000)
    transparent, after_header = struct.pack(">I", 2) + chunk + struct.pack(">I", zlib.crc32(chunk)), 8 + 25
    content = plain[:after_header] + transparent + plain[after_header:]
    np.testing.assert_array_equal(render(content, size=64).pixels, expected_square())


@pytest.mark.parametrize(("mode", "kind"), [("P", "PNG"), ("P", "GIF"), ("RGB", "PNG")])
def test_a_colour_may_stand_for_what_is_transparent(mode: str, kind: str) -> None:
    ground, ink = (0, 1) if mode == "P" else ((10, 200, 10), BLACK)
    image = Image.new(mode, (64, 64), ground)
    if mode == "P":
        image.putpalette([200, 10, 10, 0, 0, 0])
    image.paste(ink, (16, 16, 48, 48))
    np.testing.assert_array_equal(render(saved(image, kind, transparency=ground), size=64).pixels, expected_square())


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP"])
def test_the_first_frame_of_an_animation_is_drawn(kind: str) -> None:
    first, second = square_image("RGB"), Image.new("RGB", (64, 64), "red")
    options = {"lossless": True} if kind == "WEBP" else {}
    content = saved(first, kind, save_all=True, append_images=[second], duration=100, **options)
    np.testing.assert_array_equal(render(content, size=64).pixels, expected_square())


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_an_animation_that_begins_with_nothing_is_drawn_where_it_shows_something(kind: str) -> None:
    options, nothing = {"lossless": True} if kind == "WEBP" else {}, Image.new("RGBA", (64, 64))
    frames: list[Image.Image] = [nothing.copy(), square_image()]
    moving = saved(nothing, kind, save_all=True, append_images=frames, duration=100, disposal=2, **options)
    np.testing.assert_array_equal(render(moving, size=64).pixels, expected_square())
    assert reason(saved(nothing, kind)) == BLANK


def test_an_svg_that_begins_with_nothing_is_drawn_where_most_of_it_is_seen() -> None:
    grows = '<animate attributeName="r" values="0;8;0"/><animate attributeName="opacity" from="1" to="0"/>'
    pulse = (
        '<path transform="scale(0)" d="M4 4h16v16H4z"><animateTransform attributeName="transform" type="scale"/></path>'
    )
    for moving, still in (
        (f'<circle cx="12" cy="12" r="0">{grows}</circle>', '<circle cx="12" cy="12" r="8"/>'),
        (pulse, '<path d="M4 4h16v16H4z"/>'),
    ):
        drawn = render(svg(moving), size=64)
        assert drawn.made.animated and (drawn.pixels == render(svg(still), size=64).pixels).all()


def test_an_avif_is_drawn() -> None:
    drawn = render(saved(square_image("RGB"), "AVIF", quality=100), size=64).pixels
    assert np.abs(drawn.astype(int) - expected_square()).max() < 24


def test_the_largest_entry_of_an_ico_is_drawn() -> None:
    small, large = Image.new("RGBA", (16, 16), "red"), square_image()
    content = saved(large, "ICO", sizes=[(16, 16), (64, 64)], append_images=[small])
    np.testing.assert_array_equal(render(content, size=64).pixels, expected_square())


def test_a_photograph_is_turned_as_its_exif_says() -> None:
    image = Image.new("RGB", (64, 64), "white")
    image.paste(BLACK, (0, 0, 64, 32))
    exif = Image.Exif()
    exif[0x0112] = 6  # turn a quarter clockwise: the upper half comes to the right
    pixels = render(saved(image, "JPEG", quality=95, exif=exif), size=64).pixels
    assert (pixels[:, 40:].max() < 16, pixels[:, :24].min() > 240) == (True, True)
    wide = render(saved(Image.new("RGB", (1280, 320)), "JPEG", exif=exif), size=64).pixels
    assert (wide[:, 24:40].max(), np.delete(wide, range(24, 40), axis=1).min()) == (0, 255)


def test_a_small_bitmap_is_enlarged_and_a_large_one_reduced() -> None:
    for side in (16, 128, 1024):
        pixels = render(saved(square_image(side=side), "PNG"), size=64).pixels
        assert (tuple(pixels[32, 32]), tuple(pixels[4, 4])) == (BLACK, WHITE)
        assert abs(int((pixels[..., 0] < 128).sum()) - 32 * 32) <= 4 * 32


def test_the_colour_under_transparent_pixels_does_not_bleed_into_the_edges() -> None:
    image = Image.new("RGBA", (256, 256), (0, 255, 0, 0))
    image.paste((0, 0, 0, 255), (62, 62, 194, 194))
    pixels = render(saved(image, "PNG"), size=64).pixels
    assert (pixels[..., 0] == pixels[..., 1]).all() and 0 < (pixels[15, 32, 0]) < 255


@pytest.mark.parametrize(
    ("kind", "options"),
    [("PNG", {}), ("JPEG", {}), ("JPEG", {"progressive": True}), ("WEBP", {}), ("GIF", {}), ("BMP", {}), ("ICO", {})],
)
def test_a_truncated_bitmap_is_an_error_not_half_a_picture(kind: str, options: dict[str, object]) -> None:
    noise = np.random.default_rng(7).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    content = saved(Image.fromarray(noise), kind, **options)
    whole = render(content, size=64).pixels
    for kept in range(10, 100, 5):
        try:
            pixels = render(content[: len(content) * kept // 100], size=64).pixels
        except RenderError:
            continue
        np.testing.assert_array_equal(pixels, whole)
    if kind in ("PNG", "JPEG", "GIF", "BMP"):
        assert reason(content[: len(content) * 6 // 10]) == f"truncated {kind}"


@pytest.mark.parametrize(
    "content", [b"hello", b"<html><svg></svg></html>", b"\x00" * 100, b"\xff\xfe\x00", b"%PDF-1.4"]
)
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    assert reason(content) == "not a picture"


def test_importing_the_renderer_loads_no_libvips_and_plain_icons_no_reader_of_styles() -> None:
    code = "import sys, indexer.rendering.render; assert not {'pyvips', 'torch', 'tinycss2'} & {*sys.modules}; "
    drawn = f"indexer.rendering.render.render({svg(square())!r}, size=32); assert 'tinycss2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code + drawn], check=True)
