"""A generation that a Milvus server holds: `published` opens it; pymilvus is known to `connection` alone."""
