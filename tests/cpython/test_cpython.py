"""CPython's own tests pass on converted code as they pass on Python."""

from __future__ import annotations

import pytest

from tests.cpython.compare import compare, is_shipped
from tests.cpython.expected import LOST, REFUSED
from tests.cpython.modules import QUICK, SLOW, every


def check(suite: str, module: str) -> None:
    if not is_shipped(module):
        pytest.skip(f"this Python does not ship test.{module}")
    outcome = compare(suite, module)
    assert outcome.plain.is_complete, outcome.plain.end
    assert outcome.run.is_complete, outcome.run.end
    assert outcome.run.converted, "nothing was converted"
    refused = {n: why for n, why in outcome.run.refused.items() if (suite, n) not in REFUSED}
    assert not refused
    lost = {name: text for name, text in outcome.lost.items() if (suite, name) not in LOST}
    assert not lost, "\n".join(f"{name}: {text}" for name, text in lost.items())


@pytest.mark.parametrize(("suite", "module"), QUICK)
def test_a_selection_passes_on_converted_code(suite: str, module: str) -> None:
    check(suite, module)


@pytest.mark.cpython
@pytest.mark.parametrize(("suite", "module"), [pair for pair in every() if pair[1] not in SLOW])
def test_every_module_passes_on_converted_code(suite: str, module: str) -> None:
    check(suite, module)
