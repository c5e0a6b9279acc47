"""What did a GPU show? Goals met and missed, a table a part, as text, JSON and one HTML page."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from indexer.bench.goals import Goal
from indexer.bench.gpu.parts import EMBED, KNOBS, LIMIT, PARITY, TRAINING, TWO_RANKS
from indexer.bench.gpu.run import Found, Result
from indexer.library.named import write_result
from indexer.reports.page import page, section, table_html
from indexer.reports.tables import open_console, table_of

FORMAT = "gpu 1"
LEAST_COSINE = 0.999
LEAST_OF_LIMIT = {"ViT-L-14": 0.60}
"""Share of passes alone that embedding reaches end to end."""
LEAST_CORES_BUSY = {"bundled": 0.97}
"""Of models that the drawing bounds."""
_OF_SPEED = ("cores busy", "end to end")
_CONFIGURATIONS = {KNOBS: "configurations that embed", TRAINING: "configurations that learn"}
GOAL_COLUMNS = ("", "goal", "reached", "at least", "note")


def goals_of(found: Found) -> list[Goal]:
    """Hold what was measured against the goals; where a goal needs two parts, both have to be there."""
    by_name = {result.name: result for result in results_of(found) if result.error is None}
    goals = [goal for result in by_name.values() for goal in _goals(result, by_name)]
    if found.setting.kind == "cpu":  # what is tried in small has no speed
        goals = [replace(goal, least=None) if goal.name.startswith(_OF_SPEED) else goal for goal in goals]
    return goals


def _goals(result: Result, by_name: dict[str, Result]) -> Iterator[Goal]:
    kind = next(kind for kind in (PARITY, EMBED, TWO_RANKS, *_CONFIGURATIONS, "") if result.name.startswith(kind))
    subject, rows = result.name.removeprefix(kind).strip(), result.rows
    if kind == PARITY:
        for row in rows:
            note = f"{row['precision']}, {row['way']}; mean {row['mean cosine']:.5f}"
            yield Goal(f"cosine to the CPU, {subject}", row["least cosine"], least=LEAST_COSINE, note=note)
    elif kind == EMBED:
        yield from _of_embedding(subject, rows[0], by_name.get(f"{LIMIT} {subject}"))
    elif kind == TWO_RANKS:
        note = f"{rows[0]['images/s']:,.0f} -> {rows[1]['images/s']:,.0f} images/s"
        least = rows[1]["least cosine to one rank"]
        yield Goal("cosine of two ranks on a device to one", least, least=LEAST_COSINE, note=note)
    elif kind in _CONFIGURATIONS and rows:
        run = sum(row["error"] is None for row in rows)
        name = f"{_CONFIGURATIONS[kind]}, {subject}"
        yield Goal(name, run / len(rows), least=1.0, note=f"{run} of {len(rows)}")


def _of_embedding(model: str, row: dict[str, Any], limit: Result | None) -> Iterator[Goal]:
    note = f"{row['images/s']:,.0f} images/s, batch {row['batch']}, graphs {row['graphs']}"
    if "MFU" in row:
        note += f", MFU {row['MFU']:.3f}"
    if model in LEAST_CORES_BUSY:
        yield Goal(f"cores busy, {model}", row["cores busy"], least=LEAST_CORES_BUSY[model], note=note)
    if limit is not None and (alone := best_rate(limit)):
        share = row["images/s"] / alone
        yield Goal(f"end to end against passes alone, {model}", share, least=LEAST_OF_LIMIT.get(model), note=note)


def best_rate(limit: Result) -> float | None:
    """Images/s of the fastest passes alone; None where the device had room for no batch size."""
    return max((float(row["images/s"]) for row in limit.rows if row["images/s"] is not None), default=None)


def results_of(found: Found) -> list[Result]:
    """All results; those of embedding with their MFU, where the part `limit` has found operations and ceiling."""
    limits = {result.name: result for result in found.results if result.rows and result.name.startswith(f"{LIMIT} ")}
    return [_with_mfu(result, limits.get(result.name.replace(EMBED, LIMIT, 1))) for result in found.results]


def _with_mfu(result: Result, limit: Result | None) -> Result:
    if limit is None or not result.name.startswith(f"{EMBED} "):
        return result
    row = limit.rows[0]
    ceiling = row["ceiling, TFLOP/s"] * 1e12 / (row["GFLOP a picture"] * 1e9)
    return replace(result, rows=[{**row, "MFU": row["images/s"] / ceiling} for row in result.rows])


def to_json(found: Found) -> dict[str, Any]:
    """Spell everything for programs."""
    return {
        "format": FORMAT,
        "setting": json.loads(found.setting.to_json()),
        "machine": found.machine,
        "goals": [{**asdict(goal), "is_met": goal.is_met} for goal in goals_of(found)],
        "parts": [asdict(result) for result in results_of(found)],
        "missing": found.missing,
    }


def write(found: Found) -> None:
    """Write `report.json` and `report.html` into the folder."""
    out = found.setting.out
    write_result(out / "report.json", (json.dumps(to_json(found), indent=1) + "\n").encode(), option="--out")
    sections = [section("Goals", table=table_html(GOAL_COLUMNS, _goal_cells(found), n_left=2))]
    for result in results_of(found):
        columns, lines = _table(result)
        small = f"{result.seconds:.0f} s; {result.made_at}"
        errors = [result.error] if result.error else []
        sections.append(section(result.name, small=small, table=table_html(columns, lines), lines=errors))
    facts = [f"{name}: {value}" for name, value in found.machine.items() if name != "topology"]
    sections.append(section("The machine", lines=[*facts, *(found.machine.get("topology") or "").splitlines()]))
    html = page("What a GPU shows", facts=_headline(found), sections=sections)
    write_result(out / "report.html", html.encode(), option="--out")


def show(found: Found) -> None:
    """Print the tables, goals last."""
    console = open_console()
    for result in results_of(found):
        console.print(f"\n{result.name}{f': {result.error}' if result.error else ''}", highlight=False, markup=False)
        if result.rows:
            console.print(table_of(*_table(result)))
    console.print()
    console.print(table_of(GOAL_COLUMNS, _goal_cells(found), n_left=2))
    for line in _headline(found):
        console.print(line, highlight=False, markup=False)


def is_all_well(found: Found) -> bool:
    """Whether every part was measured and every goal is met."""
    failed = found.missing or any(result.error for result in found.results)
    return not failed and all(goal.is_met is not False for goal in goals_of(found))


def _headline(found: Found) -> list[str]:
    machine = found.machine
    gpus = ", ".join(gpu["name"] for gpu in machine.get("gpus", ())) or f"no GPU: {found.setting.device}, in small"
    lines = [f"{gpus}; {machine['processor']}, {machine['cores']} cores; torch {machine['packages']['torch']}"]
    if found.missing:
        lines.append(f"not measured yet: {', '.join(found.missing)}; the same command goes on with them")
    return lines


def _goal_cells(found: Found) -> Iterator[Sequence[str]]:
    for goal in goals_of(found):
        verdict = {True: "met", False: "MISSED", None: "-"}[goal.is_met]
        yield verdict, goal.name, f"{goal.reached:.4f}", "" if goal.least is None else f"{goal.least:g}", goal.note
    for result in found.results:
        if result.error:
            yield "FAILED", result.name, "", "", result.error


def _table(result: Result) -> tuple[list[str], list[list[str]]]:
    columns = list(dict.fromkeys(name for row in result.rows for name in row))
    return columns, [[_spelled(row.get(name)) for name in columns] for row in result.rows]


def _spelled(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
