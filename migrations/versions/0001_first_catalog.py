"""The first catalog: sources, sets, files, images, names, icons, failures, runs."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "settings",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_settings"),
    )
    op.create_table(
        "sources",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("given", sa.Text, nullable=False),
        sa.Column("exclude", sa.Text, nullable=False, server_default="[]"),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("location", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sources"),
        sa.UniqueConstraint("location", name="uq_sources_location"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "sets",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("source_id", sa.Integer, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("version", sa.Text),
        sa.Column("licence", sa.Text),
        sa.Column("author", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_sets"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_sets_source_id_sources", ondelete="CASCADE"),
        sa.UniqueConstraint("source_id", "key", name="uq_sets_source_id_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sets_key", "sets", ["key"])
    op.create_table(
        "files",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("source_id", sa.Integer, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("stamp", sa.Text, nullable=False),
        sa.Column("skipped", sa.Integer, nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("id", name="pk_files"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="fk_files_source_id_sources", ondelete="CASCADE"),
        sa.UniqueConstraint("source_id", "path", name="uq_files_source_id_path"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "problems",
        sa.Column("file_id", sa.Integer, nullable=False),
        sa.Column("member", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("file_id", "member", name="pk_problems"),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name="fk_problems_file_id_files", ondelete="CASCADE"),
    )
    op.create_table(
        "images",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_images"),
        sa.UniqueConstraint("digest", name="uq_images_digest"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "names",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_names"),
        sa.UniqueConstraint("words", name="uq_names_words"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "icons",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("file_id", sa.Integer, nullable=False),
        sa.Column("member", sa.Text, nullable=False),
        sa.Column("set_id", sa.Integer, nullable=False),
        sa.Column("image_id", sa.Integer, nullable=False),
        sa.Column("name_id", sa.Integer),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("style", sa.Text),
        sa.Column("size", sa.Integer),
        sa.Column("stated_style", sa.Text),
        sa.Column("stated_size", sa.Integer),
        sa.Column("caption", sa.Text),
        sa.Column("tags", sa.Text, nullable=False, server_default=""),
        sa.Column("categories", sa.Text, nullable=False, server_default=""),
        sa.Column("licence", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_icons"),
        sa.ForeignKeyConstraint(["file_id"], ["files.id"], name="fk_icons_file_id_files", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["set_id"], ["sets.id"], name="fk_icons_set_id_sets", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["image_id"], ["images.id"], name="fk_icons_image_id_images"),
        sa.ForeignKeyConstraint(["name_id"], ["names.id"], name="fk_icons_name_id_names"),
        sa.UniqueConstraint("file_id", "member", name="uq_icons_file_id_member"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_icons_image_id", "icons", ["image_id"])
    op.create_index("ix_icons_set_id_name_id", "icons", ["set_id", "name_id"])
    op.create_index("ix_icons_name_id", "icons", ["name_id"])
    op.create_table(
        "failures",
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("image_id", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", "image_id", name="pk_failures"),
        sa.ForeignKeyConstraint(["image_id"], ["images.id"], name="fk_failures_image_id_images", ondelete="CASCADE"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("started_at", sa.Text, nullable=False),
        sa.Column("seconds", sa.Integer, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("found", sa.Integer, nullable=False),
        sa.Column("embedded", sa.Integer, nullable=False),
        sa.Column("failed", sa.Integer, nullable=False),
        sa.Column("duplicate", sa.Integer, nullable=False),
        sa.Column("hidden", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sqlite_autoincrement=True,
    )
