"""What do npm packages say about their icons in JavaScript or YAML? Patterns read it; nothing of it is run.

A reader takes the text of a file; see `tags` for what it returns.
"""

import json
import re

from indexer.sources.tags import About, clean, listed, spaced


def phosphor(code: str) -> dict[str, About]:
    """JavaScript, of which three literals are read."""
    enums = {}
    for parameter, members, variable in _ENUM.findall(code):
        for key, value in re.findall(rf'\b{parameter}\.(\w+) = ("(?:[^"\\]|\\.)*")', members):
            enums[f"{variable}.{key}"] = json.loads(value)
    found = {}
    for icon in _PHOSPHOR_ICON.finditer(code):
        categories = [enums[member] for member in re.findall(r"\w+\.\w+", icon["categories"])]
        alias = [spaced(json.loads(icon["alias"]))] if icon["alias"] else []
        tags = [tag for tag in map(json.loads, _STRING.findall(icon["tags"])) if not tag.startswith("*")]
        found[json.loads(icon["name"])] = About(clean([*alias, *tags]), clean(categories))
    return found


_STRING = re.compile(r'"(?>(?:[^"\\]|\\.){0,500})"')
_ENUM = re.compile(r"\(\((\w+)\) => \((.{0,5000}?), \1\)\)\((\w+) \|\|", re.DOTALL)
_PHOSPHOR_ICON = re.compile(
    rf"\bname: (?P<name>{_STRING.pattern}),\s*pascal_name: {_STRING.pattern},\s*"
    rf"(?:alias: \{{\s*name: (?P<alias>{_STRING.pattern})[^}}]{{0,500}}\}},\s*)?"
    rf"categories: \[(?P<categories>[^\]]{{0,5000}})\],\s*figma_category: [\w.]+,\s*"
    rf"tags: \[(?P<tags>(?:[^\]\"]|{_STRING.pattern}){{0,5000}})\]"
)


def atlaskit(code: str) -> dict[str, About]:
    """JavaScript, of which the keywords are read."""
    found = {}
    for name, keywords in _ATLASKIT_ICON.findall(code):
        words = (word.strip().strip("'\"") for word in keywords.split(","))
        apart = ("icon", "icon-lab", name, name.replace("-", ""))
        found[name] = About(clean(word for word in words if word not in apart))
    return found


_ATLASKIT_ICON = re.compile(r"^  '?([\w-]+)'?: \{\s*keywords: \[([^\]]{0,5000})\]", re.MULTILINE)


def aksel(code: str) -> dict[str, About]:
    """JavaScript around an object; keywords are English and Norwegian."""
    icons = json.loads(code[code.index("{") : code.rindex("}") + 1])
    return listed("id", "keywords", categories="category")(icons)


def grommet(code: str) -> dict[str, About]:
    """JavaScript, names as of components: `AddCircle: ['create', 'plus']`."""
    found = {}
    for name, words in _GROMMET_ICON.findall(code):
        file = re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "-", name).lower()
        found[file] = About(clean(re.findall(r"'([^'\n]{1,100})'", words)))
    return found


_GROMMET_ICON = re.compile(r"^  (\w+): \[([^\]]{0,5000})\]", re.MULTILINE)


def red_hat(code: str) -> dict[str, About]:
    """YAML, of which the accepted metaphors are read."""
    found = {}
    for name, metaphors in _RED_HAT_ICON.findall(code):
        found[name] = About(clean(line.strip().removeprefix("- ").strip("\"'") for line in metaphors.splitlines()))
    return found


_RED_HAT_ICON = re.compile(
    r"^ +icon: \"?([\w-]+)\"?\n(?:(?! *- name:).*\n){0,20}? +accepted_metaphors:\n((?: +- (?!name:).*\n)+)",
    re.MULTILINE,
)


def proicons(code: str) -> dict[str, About]:
    """Calls that make icons; names are words, "Add Circle"."""
    return {
        name.lower().replace(" ", "-"): About(clean(re.findall(r'"([^"\n]{1,100})"', words)))
        for name, words in _PROICON.findall(code)
    }


_PROICON = re.compile(r'\bname: "([^"\n]{1,100})",\s+tags: \[([^\]]{0,5000})\]')


def vibe(code: str) -> dict[str, About]:
    """A list of objects without line breaks; names as of components, tags with commas between."""
    return {name: About(clean(words.split(","))) for name, words in _VIBE_ICON.findall(code)}


_VIBE_ICON = re.compile(r'\{name:"(\w+)",file:"[^"]{1,200}"(?:,description:"[^"]{0,500}")?,tags:"([^"]{0,1000})"')
