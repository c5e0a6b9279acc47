"""Screens to measure on: other products and widgets than those that are learnt from, each by its name."""

from data.making.detector.held_out import boards, code, consoles, iconless, media, office, phones, shops, talking
from data.making.detector.page import Templates

TEMPLATES: Templates = {
    "mail": talking.mail,
    "chat": talking.chat,
    "board": boards.board,
    "customers": boards.customers,
    "forge": code.forge,
    "manual": code.manual,
    "music": media.music,
    "film": media.film,
    "phone-bank": phones.bank,
    "phone-food": phones.food,
    "cloud": consoles.cloud,
    "system": consoles.system,
    "spreadsheet": office.spreadsheet,
    "text": office.text,
    "travel": shops.travel,
    "shop-window": shops.window,
    "plain-article": iconless.article,
    "plain-form": iconless.form,
    "plain-gallery": iconless.gallery,
    "plain-prices": iconless.prices,
}
