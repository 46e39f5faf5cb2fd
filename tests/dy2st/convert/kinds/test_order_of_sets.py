"""Sets of ints that the data decides are gone through as in Python, or refused."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.static import InputSpec
from tests.effort import effort

STARTS = {
    "range": lambda n, ints: set(range(n)),
    "range from 1": lambda n, ints: set(range(1, n)),
    "ints": lambda n, ints: set(ints),
    "none": lambda n, ints: set(),
    "known": lambda n, ints: {0, 1, 2},
    "one": lambda n, ints: {ints[0]},
}
STEPS = {
    "add": lambda s, v: s.add(v),
    "add 1": lambda s, v: s.add(1),
    "discard": lambda s, v: s.discard(v),
    "discard 1": lambda s, v: s.discard(1),
    "add some": lambda s, v: s.update([v, v + 9]),
    "add a set": lambda s, v: s.update({v, v + 8}),
    "take some": lambda s, v: s.difference_update([v, v + 1]),
    "take a set": lambda s, v: s.difference_update({v, 1}),
    "keep": lambda s, v: s.intersection_update({v, 1, 2, 3}),
    "change": lambda s, v: s.symmetric_difference_update({v, 1}),
    "clear": lambda s, v: s.clear(),
    "without": lambda s, v: s - {v},
    "without 1": lambda s, v: s - {1},
    "with": lambda s, v: s | {v},
    "common": lambda s, v: s & {0, 1, v},
    "copy": lambda s, v: s.copy(),
    "anew": lambda s, v: set(s),
    "pop": lambda s, v: s.discard(s.pop()) if s else None,
}


def history(start, steps, is_loop):
    """A function that does that to a set, and goes through it each time."""
    first, *others = (STARTS[start], *(STEPS[step] for step in steps))

    def made(x):
        ints = [int(v) for v in x]
        found, seen = first(len(x), ints), []
        for v in ints if is_loop else ints[:2]:
            for other in others:
                if v > 2:
                    new = other(found, v)
                    found = found if new is None else new
            seen.append([one * 2 for one in found])
        return seen

    return made


HISTORIES = [
    (start, steps, is_loop)
    for start in STARTS
    for steps in [*((one,) for one in STEPS), *combinations(STEPS, 2)]
    for is_loop in (True, False)
]


SOME = random.Random(5).sample(HISTORIES, effort(8, 400))


@pytest.mark.filterwarnings("ignore:.* unrolls the loop")
@pytest.mark.parametrize("sizes", ["known", "unknown"])
@pytest.mark.parametrize(("start", "steps", "is_loop"), SOME)
def test_any_history_of_a_set_gives_the_order_of_python_or_is_refused(start, steps, is_loop, sizes):
    function, draw = history(start, steps, is_loop), random.Random(repr((start, steps)))
    spec = [InputSpec([None])] if sizes == "unknown" else None
    static = dy2st.to_static(function, input_spec=spec)
    for size, most in ((1, 5), (4, 6), (7, 12), (25, 60))[: 4 if spec else 3]:
        x = dy2st.to_tensor([float(draw.randint(0, most)) for _ in range(size)])
        try:
            found = static(x)
        except ConversionError as error:
            assert "goes through a set" in str(error)
            return
        assert found == function(x)
