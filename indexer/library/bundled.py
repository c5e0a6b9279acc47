"""Where the things that ship with `icons` lie, packed or not: the model, the sample icons, the migrations."""

from pathlib import Path

PACKAGE = Path(__file__).parent.parent
CHECKOUT = PACKAGE.parent


def bundled(name: str) -> Path:
    """Path of `data/NAME`, inside an installed wheel or a checkout."""
    installed = PACKAGE / "bundled" / name
    return installed if installed.exists() else CHECKOUT / "data" / name


def migrations() -> Path:
    """Path of the alembic folder, inside an installed wheel or a checkout."""
    installed = PACKAGE / "migrations"
    return installed if installed.exists() else CHECKOUT / "migrations"
