"""All that is kept in SQLite: `database` opens it, `scan` fills it, `questions` ask it."""
