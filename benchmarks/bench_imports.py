"""Import times beyond NumPy's, in new processes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from measuring import seconds_above


def importing(module: str) -> None:
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)


@pytest.mark.parametrize(("module", "goal"), [("dy2st", 60), ("dy2st_runtime", 35)])
def test_import(figure, module, goal):
    def measure():
        return seconds_above(lambda: importing(module), lambda: importing("numpy")) * 1e3

    figure(f"import {module}, beyond NumPy", measure, "ms", goal)
