"""Random programs with all control flow do in traced form what they do in Python."""

from __future__ import annotations

import linecache
from contextlib import suppress

import pytest

from dy2st.transpiler.lower import traced_form
from tests.dy2st.transpiler.plain_protocol import PLAIN
from tests.dy2st.transpiler.same import outcome
from tests.dy2st.transpiler.test_random_programs_equal_python import INPUTS, Effects, Writer
from tests.effort import effort


def _function(text: str, number: int, effects: Effects):
    """The function `f` of a text, as if from a file."""
    name = f"<traced program {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {name: getattr(effects, name) for name in ("note", "helper", "produce", "manager")}
    space |= {"failing": effects.failing, "suppress": suppress, "__name__": "program"}
    exec(compile(text, name, "exec", dont_inherit=True), space)
    return space["f"]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("seed", range(0, effort(40, 2000), 20))
def test_twenty_random_programs_in_traced_form_equal_python(seed: int) -> None:
    for number in range(seed, seed + 20):
        text, effects = Writer(number).program(), Effects()
        try:
            function = _function(text, number, effects)
        except SyntaxError:
            continue
        traced = traced_form(function).bind(PLAIN, function)
        for arguments in INPUTS:
            seen = []
            for form in (function, traced):
                effects.log.clear()
                seen.append((outcome(form, arguments), list(effects.log)))
            assert seen[0] == seen[1], text
