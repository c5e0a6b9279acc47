"""Names and tags in other languages: what they say in English beside what is written."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("sources", sa.Column("names_language", sa.Text, nullable=False, server_default="auto"))
    op.add_column("sets", sa.Column("read_by", sa.Text))
    op.add_column("sets", sa.Column("tag_languages", sa.Text, nullable=False, server_default=""))
    op.add_column("icons", sa.Column("english_tags", sa.Text, nullable=False, server_default=""))
    _remake_names()
    op.create_index("ix_names_own", "names", ["own"], sqlite_where=sa.text("own <> ''"))


def _remake_names() -> None:
    """Lay the table of names anew: SQLite can't change what is unique. Icons let go of their names meanwhile.

    Ids go on where they were: one that a shard knows is never given again.
    """
    op.execute("CREATE TEMP TABLE named (id INTEGER PRIMARY KEY, name_id INTEGER)")
    op.execute("INSERT INTO named SELECT id, name_id FROM icons WHERE name_id IS NOT NULL")
    op.execute("CREATE TEMP TABLE kept AS SELECT id, words FROM names")
    op.execute("CREATE TEMP TABLE last AS SELECT seq FROM sqlite_sequence WHERE name = 'names'")
    op.execute("UPDATE icons SET name_id = NULL")
    op.drop_table("names")
    op.create_table(
        "names",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("own", sa.Text, nullable=False, server_default=""),
        sa.Column("language", sa.Text, nullable=False, server_default=""),
        sa.Column("others", sa.Text, nullable=False, server_default=""),
        sa.UniqueConstraint("words", "own", "language", name="uq_names_words_own_language"),
        sa.PrimaryKeyConstraint("id", name="pk_names"),
        sqlite_autoincrement=True,
    )
    op.execute("INSERT INTO names (id, words) SELECT id, words FROM kept")
    op.execute("DELETE FROM sqlite_sequence WHERE name = 'names'")
    op.execute("INSERT INTO sqlite_sequence (name, seq) SELECT 'names', seq FROM last")
    op.execute("UPDATE icons SET name_id = (SELECT name_id FROM named WHERE named.id = icons.id)")
    for table in ("named", "kept", "last"):
        op.execute(f"DROP TABLE {table}")
