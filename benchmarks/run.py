"""Run all benchmarks and write what they cost to benchmarks/results.md and results.json.

    python benchmarks/run.py            # a few minutes
    python benchmarks/run.py loops      # one file of them

Every figure is compared with a floor or a peer measured in the same run; medians of several rounds.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Run pytest-benchmark and print its figures as a table."""
    chosen = [str(HERE / f"bench_{name}.py") for name in sys.argv[1:]] or [
        str(path) for path in sorted(HERE.glob("bench_*.py"))
    ]
    results = HERE / "results.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "benchmark", "-o", "addopts="]
    command += ["--import-mode=importlib", "--benchmark-disable-gc", f"--benchmark-json={results}"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # imports are measured as users have them
    subprocess.run([*command, *chosen], check=True, env=environment)
    table = as_table(json.loads(results.read_text()))
    (HERE / "results.md").write_text(table)
    results.unlink()
    print(table)


def as_table(results: dict) -> str:
    """The figures that the benchmarks left in `extra_info`."""
    lines = [
        "# What things cost",
        "",
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores; "
        "`python benchmarks/run.py` measures it again.",
        "",
        "| what | measured | goal |",
        "| --- | --- | --- |",
    ]
    for entry in results["benchmarks"]:
        for what, (measured, goal) in entry["extra_info"].items():
            lines.append(f"| {what} | {measured} | {goal} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
