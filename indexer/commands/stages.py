"""What the stages of indexing need from the command line, and how they look to a person."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any

import click

from indexer import pipeline
from indexer.catalog.scan import ScanTally
from indexer.embedding.progress import EmbeddingProgress, RankView
from indexer.languages.dictionary import Dictionary
from indexer.languages.words import counted, first_few
from indexer.library.folder import Library
from indexer.library.plans import Plan
from indexer.pipeline import IndexOptions, Watcher
from indexer.process import end_at_once
from indexer.reports.terminal import TIMINGS
from indexer.sources import records


class ProgressView(RankView):
    """Shows the stages of a run; a `pipeline.Watcher`."""

    _has_pictures = False

    def stage(self, title: str) -> None:
        """Begin a step, whose time is taken under its name without what is behind a colon or comma."""
        TIMINGS.step(title.partition(":")[0].partition(",")[0])
        super().stage(title)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the view; to whom has pressed Ctrl-C, say what that has cost."""
        super().__exit__(kind, error, trace)
        if isinstance(error, KeyboardInterrupt):
            click.echo("what was finished is kept, and the same command goes on from there", err=True)

    def scanned(self, tally: ScanTally) -> None:
        """Show how many files and icons were read."""
        self.advance(tally.files, None, f"{tally.icons:,} icons read", unit="files")

    def embedded(self, plan: Plan, ranks: Sequence[EmbeddingProgress]) -> None:
        """Show names while there are no pictures yet, then pictures and how fast they go; and the devices."""
        for rank in ranks:
            if rank.spans:
                TIMINGS.keep(rank.name or str(rank.rank), rank.spans)
        self.waits_for = "; ".join(dict.fromkeys(rank.at for rank in ranks if not rank.finished))
        self._show_done(plan, ranks)
        self.look(ranks)

    def _show_done(self, plan: Plan, ranks: Sequence[EmbeddingProgress]) -> None:
        images = sum(rank.images + rank.failed for rank in ranks)
        names = sum(rank.names for rank in ranks)
        if not images and (names < plan.n_names or not plan.n_images):
            self.advance(names, plan.n_names, unit="names")
            self._has_pictures = False
            return
        if not self._has_pictures:  # how fast names went says nothing of pictures
            self._has_pictures = True
            self.begin_anew()
        working = [rank for rank in ranks if not rank.finished] or ranks
        rate, left = sum(rank.images_per_second for rank in working), max(0, plan.n_images - images)
        shown = [f"{images / max(images, plan.n_images, 1):.0%}", f"{rate:,.0f}/s"]
        if rate and not self.live:
            shown.append(f"{timedelta(seconds=round(left / rate))} left")
        counts = {"workers": len(working), "late": sum(bool(rank.note) for rank in working) if len(ranks) > 1 else 0}
        counts |= {"failed": sum(rank.failed for rank in ranks)}
        shown += [f"{n:,} {what}" for what, n in counts.items() if n > (what == "workers")]
        if names < plan.n_names:
            shown.append(f"{names:,} of {plan.n_names:,} names")
        self.advance(images, plan.n_images, ", ".join(shown), unit="pictures")

    def give_up(self, reason: str) -> None:
        """Say that the embedding hangs, and end the process: a thread that hangs in a driver or a drive stays."""
        self.__exit__(None, None, None)
        end_at_once(reason)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run, or one stage of it, has to say."""

    plain: Any
    """For programs, as JSON."""
    lines: Sequence[str]
    advice: str = ""
    """For people, on stderr."""
    errors: Sequence[object] = ()
    """Sources that were left as they were, or hold no icons."""


def _index(library: Library, options: IndexOptions, view: Watcher) -> Outcome:
    summary = pipeline.index(library, options, view)
    counts, scan = summary.counts, summary.scan
    unread = f", {scan.broken:,} of them unread" if scan.broken else ""
    shares = (
        f"{counted(counts.embedded, 'picture')}, {counted(counts.duplicate, 'duplicate')}, {counts.failed:,} failed"
    )
    state = "nothing had changed" if summary.generation is None else f"generation {summary.generation} answers"
    lines = [
        f"{counted(counts.found, 'icon')}: {shares}{unread}",
        *_scan_lines(scan),
        f"{state}; {summary.seconds:.1f} s; {library.root}",
    ]
    advice = "`icons status --failures` lists what failed and why" if counts.failed else ""
    return Outcome(asdict(summary), lines, advice, (*scan.kept, *scan.empty))


def _scan(library: Library, options: IndexOptions, view: Watcher) -> Outcome:
    tally = pipeline.scan(library, options, view)
    changes, *others = _scan_lines(tally)
    lines = [f"{counted(tally.files, 'file')}: {changes}", *others]
    unread = f"{tally.broken:,} entries can't be read; `icons status --failures` lists them" if tally.broken else ""
    return Outcome(asdict(tally), lines, unread, (*tally.kept, *tally.empty))


def _plan(library: Library, options: IndexOptions, view: Watcher) -> Outcome:
    line = pipeline.plan_only(library, options, view)
    return Outcome({"command": line}, [line])


def _embed(library: Library, options: IndexOptions, view: Watcher) -> Outcome:
    tally = pipeline.embed(library, options, view)
    return Outcome(
        asdict(tally),
        [f"{counted(tally.images, 'picture')} and {counted(tally.names, 'name')} embedded in {tally.seconds:.1f} s"],
    )


def _collect(library: Library, options: IndexOptions, _: Watcher) -> Outcome:
    assert options.work is not None
    found = pipeline.collect(library, options.work)
    damaged = f"; {found.damaged:,} were damaged and are free again" if found.damaged else ""
    line = f"{found.blocks:,} of {found.of:,} blocks are here{damaged}"
    if found.fingerprint is None:
        line = f"{options.work} holds no plan any more: all of it is collected"
    return Outcome(asdict(found), [line])


def _merge(library: Library, options: IndexOptions, view: Watcher) -> Outcome:
    generation = pipeline.merge(library, options.choice, view.stage)
    number = generation and generation.number
    return Outcome(
        {"generation": number},
        [f"generation {number} answers" if number else "the current generation holds everything already"],
    )


STAGES: Mapping[str | None, Callable[[Library, IndexOptions, Watcher], Outcome]] = {
    None: _index,
    "scan": _scan,
    "plan": _plan,
    "embed": _embed,
    "collect": _collect,
    "merge": _merge,
}


def _scan_lines(tally: ScanTally) -> Iterator[str]:
    """What has changed, and which sets were not read as English, so that nobody wonders how these are found."""
    yield f"icons: {tally.added:,} added, {tally.changed:,} changed, {tally.moved:,} moved, {tally.gone:,} gone"
    languages = Dictionary.bundled().languages
    for read in tally.read:
        names = ", ".join(f"{languages.get(code, code)} ({n:,})" for code, n in read.names.items())
        tags = ", ".join(languages.get(code, code) for code in read.tags)
        unread = f"{len(read.unread):,} not read: {first_few([*map(records.shown, read.unread)], most=5)}"
        parts = [f"names read as {names}"] * bool(names) + [f"tags read as {tags}"] * bool(tags)
        yield f"{records.shown(read.set)}: {'; '.join([*parts, *[unread] * bool(read.unread)])}"
    if tally.others:
        yield f"not read: {', '.join(f'{n:,} {suffix}' for suffix, n in sorted(tally.others.items()))}"
