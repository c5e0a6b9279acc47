"""Makes the benchmark lucide-1.62.0.jsonl.xz from the npm package of that version: its own tags become queries.

npm install lucide-static@1.62.0
python data/eval/make_lucide.py node_modules/lucide-static | xz -9e > data/eval/lucide-1.62.0.jsonl.xz
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

VERSION = "1.62.0"


def main(package: Path) -> None:
    """Print one query a line, in the order of code points."""
    found = json.loads((package / "package.json").read_text("utf-8"))["version"]
    if found != VERSION:
        raise SystemExit(
            f'"{package}" is version "{found}"; `npm install lucide-static@{VERSION}` brings the right one'
        )
    tags = json.loads((package / "tags.json").read_text("utf-8"))
    for query in queries(tags):
        print(json.dumps(query))


def queries(tags: Mapping[str, Sequence[str]]) -> Iterator[dict[str, object]]:
    """Turn `{icon: its tags}` round: each tag, in lower case, asks for all icons that carry it."""
    carriers: dict[str, set[str]] = defaultdict(set)
    for icon, own in tags.items():
        for tag in own:
            carriers[tag.strip().lower()].add(icon)
    for tag, icons in sorted(carriers.items()):
        yield {"query": tag, "kind": kind(tag, icons), "relevant": sorted(icons)}


def kind(tag: str, icons: set[str]) -> str:
    """Tell queries that a look at the name answers ("tag-in-name") from those that ask for the meaning."""
    words = set(tag.split())
    return "meaning" if all(words.isdisjoint(icon.split("-")) for icon in icons) else "tag-in-name"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
