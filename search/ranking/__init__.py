"""The icons that answer, in order: `answer.answer` leads from a query to its hits."""
