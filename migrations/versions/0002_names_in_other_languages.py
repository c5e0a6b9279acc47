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
    _remake_names(
        "SELECT id, words FROM names",
        sa.Column("own", sa.Text, nullable=False, server_default=""),
        sa.Column("language", sa.Text, nullable=False, server_default=""),
        sa.Column("others", sa.Text, nullable=False, server_default=""),
        sa.UniqueConstraint("words", "own", "language", name="uq_names_words_own_language"),
    )
    op.create_index("ix_names_own", "names", ["own"], sqlite_where=sa.text("own <> ''"))


def downgrade() -> None:
    op.execute("CREATE TEMP TABLE named (id INTEGER PRIMARY KEY, own TEXT)")
    op.execute("INSERT INTO named SELECT icons.id, own FROM icons JOIN names ON names.id = name_id WHERE own <> ''")
    op.drop_index("ix_names_own", "names")
    _remake_names("SELECT id, words FROM names WHERE own = ''", sa.UniqueConstraint("words", name="uq_names_words"))
    op.execute("INSERT OR IGNORE INTO names (words) SELECT own FROM named")
    as_written = "SELECT names.id FROM named JOIN names ON words = own WHERE named.id = icons.id"
    op.execute(f"UPDATE icons SET name_id = ({as_written}) WHERE id IN (SELECT id FROM named)")
    op.execute("DROP TABLE named")
    for table, column in (
        ("icons", "english_tags"), ("sets", "tag_languages"), ("sets", "read_by"), ("sources", "names_language")
    ):  # fmt: skip
        op.drop_column(table, column)


def _remake_names(kept: str, *parts: sa.schema.SchemaItem) -> None:
    """Lay the table of names anew: SQLite can't change what is unique. Icons let go of their names meanwhile.

    Ids go on where they were: one that a shard knows is never given again.
    """
    op.execute("CREATE TEMP TABLE bearers (id INTEGER PRIMARY KEY, name_id INTEGER)")
    op.execute("INSERT INTO bearers SELECT id, name_id FROM icons WHERE name_id IS NOT NULL")
    op.execute(f"CREATE TEMP TABLE kept AS {kept}")
    op.execute("CREATE TEMP TABLE last AS SELECT seq FROM sqlite_sequence WHERE name = 'names'")
    op.execute("UPDATE icons SET name_id = NULL")
    op.drop_table("names")
    columns = (sa.Column("id", sa.Integer, nullable=False), sa.Column("words", sa.Text, nullable=False))
    op.create_table(
        "names", *columns, *parts, sa.PrimaryKeyConstraint("id", name="pk_names"), sqlite_autoincrement=True
    )
    op.execute("INSERT INTO names (id, words) SELECT id, words FROM kept")
    op.execute("DELETE FROM sqlite_sequence WHERE name = 'names'")
    op.execute("INSERT INTO sqlite_sequence (name, seq) SELECT 'names', seq FROM last")
    still_there = "SELECT name_id FROM bearers JOIN names ON names.id = name_id WHERE bearers.id = icons.id"
    op.execute(f"UPDATE icons SET name_id = ({still_there})")
    for table in ("bearers", "kept", "last"):
        op.execute(f"DROP TABLE {table}")
