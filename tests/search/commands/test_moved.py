"""How large the help is, and what old spellings of commands and options are answered with."""

import click
import pytest
from click.testing import CliRunner

from search.cli import main

MOVED = main.moved  # type: ignore[attr-defined]


def test_a_person_sees_twenty_commands_and_twenty_options_of_a_search() -> None:
    context = click.Context(main)
    commands = [main.get_command(context, name) for name in main.list_commands(context)]
    assert len([one for one in commands if one and not one.hidden]) <= 20
    search = main.get_command(context, "search")
    assert search and len([one for one in search.params if isinstance(one, click.Option)]) <= 20


@pytest.mark.parametrize("spelling", MOVED)
def test_an_old_spelling_is_answered_in_one_line_with_the_new_one(spelling: str) -> None:
    done = CliRunner().invoke(main, [*spelling.split(), "x"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"Error: `icons {spelling}` is now {MOVED[spelling]}\n"
