"""The options that several commands take, and how warnings of ours look."""

import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from indexer.languages.letters import AUTO, NO_LANGUAGES, language_of
from indexer.languages.words import printable, say
from indexer.library.folder import Library, library_at
from indexer.sources.records import refuse_undecoded

if TYPE_CHECKING:
    from indexer.encoders.checkpoint import ModelChoice

Function = TypeVar("Function", bound=Callable[..., Any])
Option = Callable[[Any], Any]
"""What adds an option, or several, to a command."""
Named = TypeVar("Named", str, tuple[str, ...], None)
PRECISIONS = click.Choice(["auto", "fp32", "bf16", "fp16", "int8"])


def options(*several: Option) -> Option:
    """Make one decorator of some, the first one first in the help."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(several), command)


def refuse(*cases: tuple[object, str]) -> None:
    """Refuse what was typed, for the first reason of some that holds.

    Raises:
        click.UsageError: one does.
    """
    if reason := next((reason for holds, reason in cases if holds), None):
        raise click.UsageError(reason)


class LibraryFolder(click.ParamType[Any]):
    """A library on the command line: its folder, or its address on a server."""

    name = "DIR"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Library:
        """Open nothing yet: just name the folder."""
        if isinstance(value, Library):
            return value
        refuse_undecoded(Path(value).absolute())
        return library_at(value)


def _default_library() -> str:
    from platformdirs import user_data_path

    return str(user_data_path("icons"))


class _LibraryOption(click.Option):
    def get_help_extra(self, ctx: click.Context) -> Any:
        """Name the folder that it is here."""
        return {**super().get_help_extra(ctx), "default": str(self.get_default(ctx))}


library_option = click.option(
    "--library",
    cls=_LibraryOption,
    type=LibraryFolder(),
    envvar="ICONS_LIBRARY",
    default=_default_library,
    help="Folder of the library, or its address (milvus://HOST:PORT/NAME); ICONS_LIBRARY sets it too.",
)
"""Adds `--library`; ICONS_LIBRARY and the user's data folder come after it."""
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
LINES = "lines"
list_option = options(
    click.option("--json", "as_json", flag_value="list", help="Print JSON, for programs."),
    click.option("--jsonl", "as_json", flag_value=LINES, help="Print JSON, a line each."),
)
"""Adds both, for what is a list; the command gets `as_json`."""


NamedFile = click.Path(dir_okay=False, path_type=Path, allow_dash=True)
"""A file that is read by `read_named` or `read_text`; - is stdin."""


def refuse_nothing(_: click.Context, __: click.Parameter, work: str | None) -> str | None:
    """Refuse an empty folder or URL of shared work: a variable that was not set."""
    if work == "":
        raise click.BadParameter("is empty; give a folder or a URL (s3://bucket/work)")
    return work


def _known_language(_: click.Context, __: click.Parameter, typed: str) -> str:
    """Take what the dictionary can read: a code, a locale, or "auto"."""
    from indexer.languages.dictionary import Dictionary

    known = Dictionary.bundled().languages.keys() - NO_LANGUAGES
    code = language_of(typed)
    if code not in (AUTO, *known):
        raise click.BadParameter(f'"{typed}" is none of: {AUTO}, {", ".join(sorted(known))}')
    return code


names_language_option = click.option(
    "--names-language",
    metavar="LANGUAGE",
    callback=_known_language,
    default=AUTO,
    show_default=True,
    is_eager=True,
    help="What names and tags are in, as de; auto lets each set tell, en leaves all as they are.",
)
"""Adds `--names-language`, which is kept with the sources."""


def _take_sources(ctx: click.Context, _: click.Parameter, sources: tuple[Path, ...]) -> tuple[Path, ...]:
    """Refuse what would hold for nothing. These options are eager, so they are known here."""
    for name, default in (("exclude", ()), ("names_language", AUTO)):
        if ctx.params.get(name, default) != default and not sources:
            raise click.UsageError(
                f"--{name.replace('_', '-')} needs the SOURCES it holds for; `icons sources` lists the remembered ones"
            )
    return sources


source_options = options(
    click.argument("sources", nargs=-1, type=click.Path(path_type=Path), callback=_take_sources),
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        is_eager=True,
        help="Leave files out, as in .gitignore; '@gitignore' applies the .gitignore files found. Repeatable.",
    ),
)
"""Adds SOURCES and `--exclude`."""


def fetch_models(ctx: click.Context, _: click.Parameter, named: Named) -> Named:
    """Fetch what a person names and this machine lacks: no plan, library or server may have that done."""
    if named and not ctx.resilient_parsing:
        from indexer.encoders.checkpoint import fetch_named

        for model in (named,) if isinstance(named, str) else named:
            fetch_named(model, partial(say, err=True))
    return named


def _forbid_fetching(_: click.Context, __: click.Parameter, is_offline: bool) -> None:
    """Tell the libraries that fetch; they look when they are imported, which is later, and in ranks too."""
    if is_offline:
        os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")


def model_choice(model: str | None, pretrained: Path | None) -> "ModelChoice | None":
    """The model that --model and --pretrained name; None without."""
    from indexer.encoders.checkpoint import ModelChoice

    refuse((pretrained and not model, "--pretrained needs --model NAME, an open_clip model such as ViT-B-32"))
    return None if model is None else ModelChoice.typed(model, pretrained)


devices_option = click.option(
    "--devices",
    default="auto",
    show_default=True,
    help="auto, cpu, cpu:2, a number of GPUs, or 0,2: as CUDA_VISIBLE_DEVICES counts them.",
)
watch_option = click.option("--watch-devices", is_flag=True, help="Show what every device does, while it embeds.")
model_options = options(
    click.option(
        "--model",
        metavar="NAME",
        callback=fetch_models,
        help="bundled, an open_clip name, hf-hub:ORG/NAME, or local-dir:PATH.",
    ),
    click.option("--pretrained", type=click.Path(path_type=Path), help="Checkpoint for an open_clip name."),
    click.option(
        "--offline",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_forbid_fetching,
        help="Fetch nothing, not even a model that --model names.",
    ),
)
"""Adds `--model`, `--pretrained` and `--offline`."""
embed_options = options(
    model_options,
    devices_option,
    click.option("--precision", type=PRECISIONS, default="auto", show_default=True, help="Of the forward pass."),
    click.option("--batch-size", type=click.IntRange(1), help="Pictures at once; by default the first ones tell."),
    click.option(
        "--workers",
        type=click.IntRange(0),
        help="Rendering processes a device; by default its cores, less one for a GPU.",
    ),
    click.option(
        "--stall-limit",
        type=click.FloatRange(1),
        default=600,
        show_default=True,
        metavar="SECONDS",
        help="Give up where a device gets nothing done for so long.",
    ),
    click.option("--retry-failed", is_flag=True, help="Try the pictures again that failed before."),
    watch_option,
)
"""Adds what decides how to embed, and with which encoder."""
work_options = options(
    click.option(
        "--work",
        metavar="WORK",
        callback=refuse_nothing,
        help="Have it done by workers on other machines, who find the plan in this folder or at this URL (s3://...).",
    ),
    click.option(
        "--ray", metavar="ADDRESS", help="Start such workers on the Ray cluster there, one a GPU; needs --work."
    ),
    click.option(
        "--lease",
        "lease_seconds",
        type=click.FloatRange(1),
        default=60,
        show_default=True,
        metavar="SECONDS",
        help="After so long without a sign of life, the block of a worker is free for another.",
    ),
)
"""Adds what has other machines embed."""


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print our warnings to stderr as one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"Warning: {message}", err=True)


def show(plain: Any, lines: Iterable[str], *, as_json: bool | str | None) -> None:
    """Print a result, as one document of JSON, or as lines: for people, or each of several as JSON."""
    for line in map(json.dumps, plain if as_json == LINES else [plain]) if as_json else lines:
        click.echo(printable(line, keep="\t"))


def say_failures(failures: Iterable[dict[str, str]], *, as_json: str | None) -> None:
    """Print files that could not be used, each with the reason."""
    listed = list(failures)
    show(listed, ("\t".join(map(printable, (one["file"], one["reason"]))) for one in listed), as_json=as_json)
