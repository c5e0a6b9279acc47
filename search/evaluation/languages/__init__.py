"""How well are queries in other languages answered? `evaluate.evaluate_languages` asks each question in all of them."""
