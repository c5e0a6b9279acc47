"""How figures look: measures, charts, tables, bars and pages that any report is made of."""
