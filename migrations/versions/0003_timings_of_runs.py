"""What each run has spent its time on."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("runs", sa.Column("timings", sa.Text, nullable=False, server_default="[]"))
