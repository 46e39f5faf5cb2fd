"""CPython's own tests pass by a trace as they pass on Python."""

from __future__ import annotations

import pytest

from tests.cpython.compare import compare, is_shipped
from tests.cpython.expected import LOST, MEASURED


@pytest.mark.cpython
@pytest.mark.parametrize(("suite", "module"), MEASURED)
def test_test_methods_pass_by_traces(suite: str, module: str) -> None:
    if not is_shipped(module):
        pytest.skip(f"this Python does not ship test.{module}")
    outcome = compare(suite, module)
    assert outcome.plain.is_complete, outcome.plain.end
    assert outcome.run.is_complete, outcome.run.end
    assert outcome.run.traced, "nothing was traced"
    lost = {name: text for name, text in outcome.lost.items() if (suite, name) not in LOST}
    assert not lost, "\n".join(f"{name}: {text}" for name, text in lost.items())
