"""Templates of screens to train on: each writes the body of a page, different whenever it is asked."""

from data.making.detector.page import Templates
from data.making.detector.templates.cards import feature_grid, stat_cards
from data.making.detector.templates.desktops.browsers import browser_window
from data.making.detector.templates.desktops.drawing import drawing_program
from data.making.detector.templates.desktops.spreadsheets import spreadsheet
from data.making.detector.templates.desktops.windows import desktop
from data.making.detector.templates.documentation import documentation
from data.making.detector.templates.files import files_and_trees
from data.making.detector.templates.forms import form, settings
from data.making.detector.templates.galleries import components, icon_grid
from data.making.detector.templates.mail import mail
from data.making.detector.templates.media import film, picture_grid, player
from data.making.detector.templates.messages import chat, notices
from data.making.detector.templates.overlays import dialog, drop_down, palette, side_panel
from data.making.detector.templates.phones.lists import phone_settings, phone_tabs
from data.making.detector.templates.phones.playing import phone_feed, phone_player
from data.making.detector.templates.phones.services import phone_grid
from data.making.detector.templates.places import street_map
from data.making.detector.templates.plain import plain_article, plain_panel
from data.making.detector.templates.plain_pages import (
    phone_plain,
    plain_calendar,
    plain_charts,
    plain_form,
    plain_photos,
    plain_table,
)
from data.making.detector.templates.planning import board, calendar, timeline
from data.making.detector.templates.reviews import changes, task_list
from data.making.detector.templates.shops import pricing, shop
from data.making.detector.templates.sidebars import admin_shell
from data.making.detector.templates.tables import data_table
from data.making.detector.templates.toolbars import text_editor

TEMPLATES: Templates = {
    "admin-shell": admin_shell,
    "board": board,
    "browser-window": browser_window,
    "calendar": calendar,
    "changes": changes,
    "chat": chat,
    "components": components,
    "data-table": data_table,
    "desktop": desktop,
    "dialog": dialog,
    "documentation": documentation,
    "drawing-program": drawing_program,
    "drop-down": drop_down,
    "feature-grid": feature_grid,
    "files-and-trees": files_and_trees,
    "film": film,
    "form": form,
    "icon-grid": icon_grid,
    "mail": mail,
    "notices": notices,
    "palette": palette,
    "phone-feed": phone_feed,
    "phone-grid": phone_grid,
    "phone-player": phone_player,
    "phone-settings": phone_settings,
    "phone-tabs": phone_tabs,
    "picture-grid": picture_grid,
    "plain-article": plain_article,
    "plain-calendar": plain_calendar,
    "plain-charts": plain_charts,
    "plain-form": plain_form,
    "plain-panel": plain_panel,
    "plain-phone": phone_plain,
    "plain-photos": plain_photos,
    "plain-table": plain_table,
    "player": player,
    "pricing": pricing,
    "settings": settings,
    "shop": shop,
    "side-panel": side_panel,
    "spreadsheet": spreadsheet,
    "stat-cards": stat_cards,
    "street-map": street_map,
    "task-list": task_list,
    "text-editor": text_editor,
    "timeline": timeline,
}
"""Templates by name; `plain-` ones show no icon, those with `phone` in their name are made for a phone's window."""
VALIDATION = frozenset(
    {
        "board",
        "drop-down",
        "mail",
        "phone-grid",
        "plain-panel",
        "plain-photos",
        "plain-table",
        "player",
        "settings",
        "shop",
    }
)
"""Those that the detector is not trained on: the threshold is chosen on their screens."""
