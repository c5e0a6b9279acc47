"""Icons of the samples, and drawings made for a test, as snippets take them."""

from indexer.library.bundled import bundled
from search.drawings.frameworks import NamedIcon

SAMPLES = bundled("samples/lucide-static") / "icons"
MORE = ' xmlns:xlink="http://www.w3.org/1999/xlink"'


def sample(name: str, *, of: str = "lucide", path: str = "") -> NamedIcon:
    """The drawing of a sample under a set's key; any name may be asked for that has none."""
    file = SAMPLES / f"{name}.svg"
    return NamedIcon(f"{of}:{name}", of, name, file.read_bytes() if file.is_file() else None, path=path)


def drawing(body: str, *, root: str = "", name: str = "drawn") -> NamedIcon:
    """A drawing of one's own."""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg"{MORE} viewBox="0 0 24 24"{root}>{body}</svg>'
    return NamedIcon(f"own:{name}", "own", name, svg.encode())
