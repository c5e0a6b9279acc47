"""Which icons answer, and in what order? `answer.answer` leads from a query to its hits."""
