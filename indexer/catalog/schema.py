"""The tables of a catalog. No queries here."""

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _references(column: str) -> ForeignKey:
    return ForeignKey(column, ondelete="CASCADE")


settings = Table(
    "settings",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)
"""`model` (the encoder in use, JSON), `revision` (grows with every change that a search could see) and `library` (a
random id, made by the first run; older catalogs have none)."""

sources = Table(
    "sources",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("given", Text, nullable=False),
    Column("exclude", Text, nullable=False, server_default="[]"),
    Column("kind", Text, nullable=False),
    Column("location", Text, nullable=False, unique=True),
    Column("names_language", Text, nullable=False, server_default="auto"),
    sqlite_autoincrement=True,
)
"""`given` is what the user named, `location` what was found there: a node_modules folder is many sources.
`names_language` is an ISO 639 code, or "auto": that of names and tags."""

sets = Table(
    "sets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source_id", Integer, _references("sources.id"), nullable=False),
    Column("key", Text, nullable=False, index=True),
    Column("title", Text, nullable=False),
    Column("version", Text),
    Column("licence", Text),
    Column("author", Text),
    Column("read_by", Text),
    Column("tag_languages", Text, nullable=False, server_default=""),
    UniqueConstraint("source_id", "key"),
    sqlite_autoincrement=True,
)
"""`read_by` says by which rules and dictionary names and tags were read: others read them anew. `tag_languages` are
codes of the languages that its tags were read in, with spaces between."""

files = Table(
    "files",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source_id", Integer, _references("sources.id"), nullable=False),
    Column("path", Text, nullable=False),
    Column("stamp", Text, nullable=False),
    Column("skipped", Integer, nullable=False, server_default="0"),
    UniqueConstraint("source_id", "path"),
    sqlite_autoincrement=True,
)

problems = Table(
    "problems",
    metadata,
    Column("file_id", Integer, _references("files.id"), primary_key=True),
    Column("member", Text, primary_key=True),
    Column("reason", Text, nullable=False),
)
"""Entries that a scan could not turn into an icon; `member` is "" for the file as a whole."""

images = Table(
    "images",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    sqlite_autoincrement=True,
)
"""What an icon looks like: the digest of the content that is rendered. Kept when its last icon goes."""

names = Table(
    "names",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("words", Text, nullable=False),
    Column("own", Text, nullable=False, server_default=""),
    Column("language", Text, nullable=False, server_default=""),
    Column("others", Text, nullable=False, server_default=""),
    UniqueConstraint("words", "own", "language"),
    Index("ix_names_own", "own", sqlite_where=text("own <> ''")),
    sqlite_autoincrement=True,
)
"""Words that have a vector: what icons are called, and what their tags say. Of a name in another language, `words` say
it in English, `own` as it is written, `others` in other ways, joined with newlines; the three are "" of any else."""

icons = Table(
    "icons",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("file_id", Integer, _references("files.id"), nullable=False),
    Column("member", Text, nullable=False),
    Column("set_id", Integer, _references("sets.id"), nullable=False),
    Column("image_id", Integer, ForeignKey("images.id"), nullable=False, index=True),
    Column("name_id", Integer, ForeignKey("names.id")),
    Column("name", Text, nullable=False),
    Column("style", Text),
    Column("size", Integer),
    Column("stated_style", Text),
    Column("stated_size", Integer),
    Column("caption", Text),
    Column("tags", Text, nullable=False, server_default=""),
    Column("categories", Text, nullable=False, server_default=""),
    Column("licence", Text),
    Column("english_tags", Text, nullable=False, server_default=""),
    UniqueConstraint("file_id", "member"),
    Index("ix_icons_set_id_name_id", "set_id", "name_id"),
    Index("ix_icons_name_id", "name_id"),
    sqlite_autoincrement=True,
)
"""A named entry of a source. Icons of one set and one name are variants of each other. `tags` and `categories` are
joined with newlines; `stated_*` is what the source says, `style` and `size` what is left after reading the name.
`english_tags` are all tags in English where one is in another language, else ""."""

failures = Table(
    "failures",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    Column("image_id", Integer, _references("images.id"), primary_key=True),
    Column("reason", Text, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("started_at", Text, nullable=False),
    Column("seconds", Integer, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("found", Integer, nullable=False),
    Column("embedded", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("duplicate", Integer, nullable=False),
    Column("hidden", Integer, nullable=False),
    sqlite_autoincrement=True,
)
"""One line a published run: found = embedded + failed + duplicate."""
