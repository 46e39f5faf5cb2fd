"""Run the benchmarks; write their figures to benchmarks/results.md and benchmarks/results.json.

    python benchmarks/run.py            # a few minutes
    python benchmarks/run.py files      # bench_files.py alone, printed and not written

Medians of several rounds; what is compared is measured in turns, in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Figure = dict[str, Any]


def main() -> None:
    """Measure, print the table, and keep it if it is whole."""
    known = sorted(path.stem[len("bench_") :] for path in HERE.glob("bench_*.py"))
    parser = argparse.ArgumentParser(
        description="Run the benchmarks: those of some names, which are printed and not written, "
        "or all, which replace benchmarks/results.md and benchmarks/results.json.",
        epilog="example: python benchmarks/run.py files engines",
    )
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of {', '.join(known)}")
    chosen = parser.parse_args().names
    for name in chosen:
        if name not in known:
            parser.error(f"there is no benchmark {name!r}: choose from {', '.join(known)}")
    names = chosen or known
    figures = measure([HERE / f"bench_{name}.py" for name in names])
    table = as_table(figures)
    print(table)
    if not chosen:
        (HERE / "results.md").write_text(table)
        (HERE / "results.json").write_text(json.dumps(figures, indent=1) + "\n")


def measure(files: list[Path]) -> list[Figure]:
    """What pytest-benchmark stored beside the times: the figures, in the order of the files."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # imports are measured as users have them
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "stored.json"
        command = [sys.executable, "-m", "pytest", "-q", "--benchmark-disable-gc"]
        command += [f"--benchmark-json={stored}", "-o", f"pythonpath={HERE}"]
        command += ["-o", "addopts=--import-mode=importlib --benchmark-quiet"]
        subprocess.run([*command, *map(str, files)], check=True, env=environment)
        return [entry["extra_info"] for entry in json.loads(stored.read_text())["benchmarks"]]


def as_table(figures: list[Figure]) -> str:
    """The figures for people; one that misses its goal is marked."""
    lines = [
        "# What things cost",
        "",
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; "
        "`python benchmarks/run.py` measures it again.",
        "",
        "| what | measured | goal |",
        "| --- | --- | --- |",
    ]
    for figure in figures:
        goal = "" if figure["goal"] is None else f"{figure['goal']:g} {figure['unit']}"
        missed = figure["goal"] is not None and figure["value"] > figure["goal"]
        value = f"{figure['value']:.2f} {figure['unit']}"
        lines.append(f"| {figure['what']} | {value}{' (missed)' * missed} | {goal} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
