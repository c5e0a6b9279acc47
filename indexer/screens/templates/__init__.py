"""Templates of screens to train on: each writes the body of a page, different whenever it is asked."""

from indexer.screens.page import Templates
from indexer.screens.templates.sidebars import admin_shell, files_and_trees
from indexer.screens.templates.tables import data_table
from indexer.screens.templates.toolbars import text_editor
from indexer.screens.templates.cards import stat_cards, feature_grid
from indexer.screens.templates.forms import form, settings
from indexer.screens.templates.phones import phone_tabs
from indexer.screens.templates.plain import plain_article, plain_panel

TEMPLATES: Templates = {
    "admin-shell": admin_shell,
    "files-and-trees": files_and_trees,
    "data-table": data_table,
    "text-editor": text_editor,
    "stat-cards": stat_cards,
    "feature-grid": feature_grid,
    "form": form,
    "settings": settings,
    "phone-tabs": phone_tabs,
    "plain-article": plain_article,
    "plain-panel": plain_panel,
}
"""Templates by name; `plain-` ones show no icon, `phone-` ones are made for a phone's window."""
