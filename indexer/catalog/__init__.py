"""The icons that there are, and everything else that is kept in SQLite: `database` opens it, `scan` fills it, `questions` ask it."""
