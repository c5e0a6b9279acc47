"""How do figures look? Measures, charts, tables, bars and pages that any report is made of."""
