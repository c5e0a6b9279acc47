"""The npm packages that slow tests are held against, in a node_modules folder that ICONS_NODE_MODULES names.

`icons` itself needs none of them:

    npm install --ignore-scripts --legacy-peer-deps lucide-react react-icons @lucide/{vue,svelte} \\
        @tabler/icons-{react,vue,svelte} @phosphor-icons/{react,vue} @heroicons/{react,vue} @mdi/{js,react} \\
        @iconify/{react,vue,svelte,collections,json} iconify-icon @unocss/{core,preset-icons} \\
        @fortawesome/{react-fontawesome,fontawesome-svg-core} @fortawesome/free-{solid,regular,brands}-svg-icons \\
        @iconify-json/{lucide,tabler,ph,heroicons,mdi,logos,noto,flat-color-icons} \\
        @iconify-json/{fa,fa6,fa7}-{solid,regular,brands} typescript vue @vue/compiler-sfc svelte react react-dom \\
        @types/react @types/react-dom parse5 ionicons@8.1.0
"""

import os
from pathlib import Path

import pytest


def node_modules() -> Path:
    """The folder that the environment names; without one the test is skipped."""
    named = os.environ.get("ICONS_NODE_MODULES")
    if not named:
        pytest.skip("ICONS_NODE_MODULES names no folder of npm packages; tests/node_packages.py says which")
    return Path(named)
