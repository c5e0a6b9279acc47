"""Which parts does the measuring have? Each runs in a process of its own: an error of CUDA ends what it was in.

    python -m indexer.bench.gpu.parts SETTING "embed bundled" FILE

measures one part and writes its rows as they come.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from indexer.bench.gpu.setting import Setting, file_name
from indexer.errors import BenchError
from indexer.library.durable import write_file
from indexer.library.foreign import from_plain
from indexer.reports.bars import Bars

MACHINE, PARITY, LIMIT, EMBED, TWO_RANKS, DEVICES, KNOBS, TRAINING, NCCL = KINDS = (
    "machine",
    "parity",
    "limit",
    "embed",
    "two ranks",
    "devices",
    "knobs",
    "training",
    "nccl",
)
LIMIT_SECONDS = 480.0
"""Of one part; what hangs is ended and named."""
_SECONDS = {
    MACHINE: 40,
    PARITY: 120,
    LIMIT: 90,
    EMBED: 180,
    TWO_RANKS: 150,
    DEVICES: 180,
    KNOBS: 60,
    TRAINING: 90,
    NCCL: 60,
}
_SECONDS_OF_LONG = {
    "knobs strategy": 180,
    "knobs prefetch": 120,
    "knobs compile": 100,
    "training options": 150,
    "training NCCL": 200,
}
"""What a part takes, roughly, on one GPU with 16 cores: the time that is left is reckoned by it."""
_STRATEGY, _ALONE = "strategy", "devices alone"
"""Groups of configurations of embedding beside the sweeps: ways to share a batch; devices whose pictures are drawn."""
_TIMES_ALONE = 20
"""So many times the pictures of another configuration: nothing is drawn for them while the clock runs."""
_LOOK_SECONDS = 0.2
Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """Something that is measured by itself."""

    kind: str
    subject: str = ""
    """The model, or the group of configurations."""

    @property
    def name(self) -> str:
        """As `--only` takes it."""
        return f"{self.kind} {self.subject}".strip()

    @property
    def seconds(self) -> float:
        """What it takes, roughly."""
        return _SECONDS_OF_LONG.get(self.name, _SECONDS[self.kind])

    def file(self, out: Path) -> Path:
        """Where its rows are written."""
        return out / "parts" / f"{file_name(self.name)}.json"


def parts_of(setting: Setting, only: Sequence[str] = ()) -> list[Part]:
    """List what is to be measured, in order; `only` names parts, or kinds of them.

    Raises:
        BenchError: there is no such part.
    """
    found = [Part(MACHINE)]
    for model in setting.models:
        found += [Part(kind, model) for kind in (PARITY, LIMIT, EMBED)]
    found.append(Part(TWO_RANKS, setting.models[0]))
    if setting.n_devices > 1:
        found += [Part(DEVICES, model) for model in setting.models]
    found += [Part(KNOBS, group) for group in _groups_of_embedding(setting)]
    found += [Part(TRAINING, group) for group in _groups_of_training(setting)]
    if setting.n_devices > 1:
        found.append(Part(NCCL))
    names = [part.name for part in found]
    for name in only:
        if name not in (*names, *(part.kind for part in found)):
            raise BenchError(f'--only "{name}" is no part; there are {", ".join(dict.fromkeys((*KINDS, *names)))}')
    return [part for part in found if not only or part.name in only or part.kind in only]


def measure(setting: Setting, part: Part) -> Rows:
    """Measure a part and yield its rows as they come; they have the same columns, as far as they are known.

    Raises:
        IconsError, RuntimeError: it can't be measured.
    """
    return _measures()[part.kind](setting, part.subject)


def _measures() -> dict[str, Callable[[Setting, str], Rows]]:
    from indexer.bench.gpu import embedding, encoding, links

    return {
        MACHINE: lambda setting, _: links.measure_links(setting),
        PARITY: encoding.compare_with_cpu,
        LIMIT: encoding.measure_limit,
        EMBED: embedding.embed_whole,
        TWO_RANKS: embedding.two_ranks_on_one,
        DEVICES: embedding.embed_on_all,
        KNOBS: _embed_in_every_way,
        TRAINING: _train_in_every_way,
        NCCL: lambda setting, _: links.measure_reduction(setting),
    }


def _groups_of_embedding(setting: Setting) -> list[str]:
    from indexer.bench.choices import usual_sweeps

    if setting.embed_sweeps:
        return [name for name, _ in setting.embed_sweeps]
    n, n_images = setting.n_devices, setting.n_varied
    sweeps = usual_sweeps(setting.kind, n_devices=n, n_images=n_images, is_thorough=True)
    return [*(name for name, _ in sweeps), _STRATEGY, *([_ALONE] if n > 1 else [])]


def _groups_of_training(setting: Setting) -> list[str]:
    from indexer.bench.training.knobs import usual_group_names

    if setting.sweeps:
        return [name for name, _ in setting.sweeps]
    return list(usual_group_names(setting.kind, setting.n_devices))


def _embed_in_every_way(setting: Setting, group: str) -> Rows:
    """Yield every configuration of a group that `icons bench embed` knows, or why it can't be run."""
    from indexer.bench.choices import usual_sweeps
    from indexer.bench.embedding import EmbedBenchOptions, bench_embed
    from indexer.bench.trials.knobs import Knobs
    from indexer.bench.trials.trial import Measured

    n, n_images = setting.n_devices, setting.n_varied
    usual = usual_sweeps(setting.kind, n_devices=n, n_images=n_images, is_thorough=True)
    sweeps = [*(setting.embed_sweeps or usual), (_ALONE, setting.device_counts)]
    options = EmbedBenchOptions(
        setting.out / "knobs" / file_name(group),
        choice=setting.choice(setting.models[0]),
        devices=setting.all_devices,
        repeats=1,
        settings={"loader": "memory"} if group == _ALONE else {},
        sweeps=[("devices" if name == _ALONE else name, list(values)) for name, values in sweeps if name == group],
        n_images=n_images * _TIMES_ALONE if group == _ALONE else n_images,
        sections=("strategies",) if group == _STRATEGY else ("sweeps",),
    )
    for line in _lines(options.out / "runs.jsonl", lambda bars: bench_embed(options, bars)):
        run: Measured | None = None if "error" in line else from_plain(Measured, line, ignores_others=True)
        yield {
            "measured": line["group"],
            "configuration": from_plain(Knobs, line["knobs"], ignores_others=True).label(),
            "images/s": run and run.images_per_second,
            "waits": run and run.waited_seconds and run.waited_seconds / run.seconds,
            "memory, GB": run and run.memory_bytes / 1e9,
            "error": line.get("error"),
        }


def _train_in_every_way(setting: Setting, group: str) -> Rows:
    """Yield every configuration of a group that `icons bench train` knows, or why it can't be run."""
    from indexer.bench.training.knobs import TrainKnobs
    from indexer.bench.training.measure import TrainBenchOptions, bench_train
    from indexer.bench.training.trial import Trained

    options = TrainBenchOptions(
        setting.out / "training" / file_name(group),
        choice=setting.choice(setting.models[0]),
        devices=setting.all_devices,
        repeats=1,
        settings=setting.train,
        sweeps=[(name, list(values)) for name, values in setting.sweeps if name == group],
        only=[] if setting.sweeps else [group],
        steps=setting.steps,
    )
    for line in _lines(options.out / "runs.jsonl", lambda bars: bench_train(options, bars)):
        knobs: TrainKnobs = from_plain(TrainKnobs, line["knobs"], ignores_others=True)
        run: Trained | None = None if "error" in line else from_plain(Trained, line, ignores_others=True)
        yield {
            "measured": line["group"],
            "configuration": knobs.label(),
            "steps/s": run and run.steps_per_second,
            "images/s": run and run.steps_per_second * knobs.batch,
            "waits": run and run.waited_share,
            "memory, GB": run and run.memory_bytes and run.memory_bytes / 1e9,
            "loss": run and run.loss,
            "error": line.get("error"),
        }


def _lines(journal: Path, bench: Callable[[Bars], Any]) -> Rows:
    """Run a benchmark in a thread, and yield what its journal says of counted runs and of failures, as it comes."""
    journal.unlink(missing_ok=True)
    n, is_over = 0, False
    with ThreadPoolExecutor(1) as thread, Bars(estimate=False) as bars:
        running = thread.submit(bench, bars)
        while not is_over:
            is_over = bool(wait([running], _LOOK_SECONDS).done)
            whole = journal.read_text("utf-8").splitlines(keepends=True)[n:] if journal.is_file() else []
            found = [json.loads(line) for line in whole if line.endswith("\n")]
            n += len(found)
            yield from (line for line in found if line["repeat"] or "error" in line)
        running.result()


@click.command()
@click.argument("setting")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
def main(setting: str, name: str, file: Path) -> None:
    """Measure the part NAME and write its rows to FILE."""
    from indexer.process import end_with_starter, prepare_for_batches

    end_with_starter()
    prepare_for_batches()
    given = Setting.from_json(setting)
    [part] = parts_of(given, [name])
    rows = []
    for row in measure(given, part):
        rows.append(row)
        write_file(file, json.dumps(rows).encode())


if __name__ == "__main__":
    main()
