"""What docs/array_api.md shows is so: its blocks run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "array_api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("place", range(len(BLOCKS)))
def test_a_block_runs(place, tmp_path):
    if "sklearn" in BLOCKS[place]:
        pytest.importorskip("sklearn")
    script = tmp_path / "block.py"
    script.write_text(BLOCKS[place], encoding="utf-8")
    made = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


def test_there_are_blocks():
    assert len(BLOCKS) == 4
