"""Which parts does the measuring have? Each runs in a process of its own: an error of CUDA ends what it was in.

    python -m indexer.bench.gpu.parts SETTING "embed bundled" FILE

measures one part and writes its rows.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from indexer.bench.gpu.setting import Setting, file_name
from indexer.errors import BenchError
from indexer.library.durable import write_file

MACHINE, PARITY, LIMIT, EMBED, TWO_RANKS, TRAINING, NCCL = KINDS = (
    "machine",
    "parity",
    "limit",
    "embed",
    "two ranks",
    "training",
    "nccl",
)
LIMIT_SECONDS = 480.0
"""Of one part; what hangs is ended and named."""
_SECONDS = {MACHINE: 40, PARITY: 90, LIMIT: 90, EMBED: 120, TWO_RANKS: 150, TRAINING: 400, NCCL: 60}
"""What a part takes, roughly, on one GPU with 16 cores: the time that is left is reckoned by it."""
Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """Something that is measured by itself, with a model where it needs one."""

    kind: str
    model: str = ""

    @property
    def name(self) -> str:
        """As `--only` takes it."""
        return f"{self.kind} {self.model}".strip()

    @property
    def seconds(self) -> float:
        """What it takes, roughly."""
        return _SECONDS[self.kind]

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
    found += [Part(TWO_RANKS, setting.models[0]), Part(TRAINING, setting.models[0])]
    if setting.n_devices > 1:
        found.append(Part(NCCL))
    names = [part.name for part in found]
    for name in only:
        if name not in (*names, *(part.kind for part in found)):
            raise BenchError(f'--only "{name}" is no part; there are {", ".join(dict.fromkeys((*KINDS, *names)))}')
    return [part for part in found if not only or part.name in only or part.kind in only]


def measure(setting: Setting, part: Part) -> list[dict[str, Any]]:
    """Measure a part: rows of the same columns, as far as they are known.

    Raises:
        IconsError, RuntimeError: it can't be measured.
    """
    return list(_measures()[part.kind](setting, part.model))


def _measures() -> dict[str, Callable[[Setting, str], Rows]]:
    from indexer.bench.gpu import embedding, encoding, links

    return {
        MACHINE: lambda setting, _: links.measure_links(setting),
        PARITY: encoding.compare_with_cpu,
        LIMIT: encoding.measure_limit,
        EMBED: embedding.embed_whole,
        TWO_RANKS: embedding.two_ranks_on_one,
        TRAINING: _train,
        NCCL: lambda setting, _: links.measure_reduction(setting),
    }


def _train(setting: Setting, model: str) -> Rows:
    """Yield every configuration that `icons bench train` knows, with what it said, or why it can't be run."""
    from indexer.bench.training.measure import TrainBenchOptions, bench_train
    from indexer.reports.bars import Bars

    options = TrainBenchOptions(
        setting.out / "training",
        choice=setting.choice(model),
        devices=str(setting.n_devices) if setting.kind == "cuda" else f"cpu:{setting.n_devices}",
        repeats=1,
        settings=setting.train,
        sweeps=[(name, list(values)) for name, values in setting.sweeps],
        steps=setting.steps,
    )
    with Bars(estimate=False) as bars:
        findings = bench_train(options, bars)
    for row, base, _ in findings.effects():
        run = row.runs[-1] if row.runs else None
        yield {
            "measured": row.group,
            "configuration": "base" if row is base else row.knobs.label(of=base.knobs),
            "steps/s": run and run.steps_per_second,
            "images/s": run and run.steps_per_second * row.knobs.batch,
            "waits": run and run.waited_share,
            "memory, GB": run and run.memory_bytes and run.memory_bytes / 1e9,
            "loss": run and run.loss,
            "error": row.error,
        }


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
    write_file(file, json.dumps(measure(given, part)).encode())


if __name__ == "__main__":
    main()
