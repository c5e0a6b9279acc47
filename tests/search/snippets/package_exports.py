"""What npm packages of icons really export, and what Iconify's sets hold: read from a node_modules folder.

The environment names it (ICONS_NODE_MODULES). `icons` itself needs none of them:

    npm install --ignore-scripts --legacy-peer-deps lucide-react @lucide/{vue,svelte} \\
        @tabler/icons-{react,vue,svelte} \\
        @phosphor-icons/{react,vue} @heroicons/{react,vue} @mdi/{js,react} @iconify/{react,vue,svelte,collections} \\
        @fortawesome/{react-fontawesome,fontawesome-svg-core} @fortawesome/free-{solid,regular,brands}-svg-icons \\
        @iconify-json/{lucide,tabler,ph,heroicons,mdi} @iconify-json/{fa,fa6,fa7}-{solid,regular,brands} iconify-icon \\
        @unocss/{core,preset-icons} typescript vue @vue/compiler-sfc svelte react @types/react parse5
"""

import os
from pathlib import Path

import pytest

VARIABLE = "ICONS_NODE_MODULES"


def node_modules() -> Path:
    """The folder that the environment names; without one the test is skipped."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} names no folder of npm packages; the first lines of {Path(__file__).name} say which")
    return Path(named)
