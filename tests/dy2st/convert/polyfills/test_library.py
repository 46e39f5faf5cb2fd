"""Each function of the library is as in Python, or refused with a way out.

    python -m tests.dy2st.convert.polyfills.test_library [group or part of a name]

says which rows are refused, and which differ.
"""

import heapq
import linecache
import random
import sys

import numpy as np
import pytest

import dy2st
from dy2st.errors import ConversionError
from tests.dy2st.catalogue.comparing import difference, kinds_of, seen
from tests.dy2st.convert.kinds.same import _eager, through_program
from tests.dy2st.convert.polyfills.library import GROUPS
from tests.effort import effort

ROWS = {f"{group}: {name}": row for group, rows in GROUPS.items() for name, row in rows.items()}
FORMS = {
    "plain": (lambda x: [3.0, 1.0, 2.0, 2.0], False),
    "ints": (lambda x: [int(v) for v in x], False),
    "floats": (lambda x: [float(v) for v in x], False),
    "tensors": (lambda x: [v for v in x], False),
    "unknown": (lambda x: [float(v) for v in x if v > 0], True),
    "unknown ints": (lambda x: [int(v) for v in x if v > 0], True),
}
VALUES = ([3.0, 1.0, 2.0, 2.0], [2.0, 2.0, 1.0, 4.0])


def outcome(row, form):
    """`equal`, `refused` with what is said, or `wrong` with the difference."""
    make, is_unknown = FORMS[form]

    def function(x):
        items = make(x)
        return row(items, items[0], items[-1])

    calls = [(dy2st.to_tensor(np.asarray(one, "float32")),) for one in VALUES]
    wanted = [seen(_eager(function, call), has_words=False) for call in calls]
    try:
        found = through_program(function, calls, is_unknown)
    except ConversionError as error:
        return ("refused" if "instead" in str(error) else "wrong"), str(error)
    kinds = kinds_of(wanted)
    for one, other in zip(wanted, found, strict=True):
        if isinstance(other, Exception) and one.kind in {k.__name__ for k in type(other).__mro__}:
            continue
        said = difference(one, seen(other, has_words=False), kinds)
        if said:
            return "wrong", f"{said} {other!r}"
    return "equal", ""


CASES = [(name, form) for name in ROWS for form in FORMS]


@pytest.mark.parametrize(("name", "form"), random.Random(7).sample(CASES, effort(40, len(CASES))))
def test_a_function_of_the_library_is_as_in_python_or_refused(name, form):
    found, said = outcome(ROWS[name], form)
    assert found != "wrong", said


if __name__ == "__main__":
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    count = {"equal": 0, "refused": 0, "wrong": 0}
    for name, form in CASES:
        if part in name:
            try:
                found, said = outcome(ROWS[name], form)
            except BaseException as error:
                found, said = "wrong", f"{type(error).__name__} {error}"
            count[found] += 1
            if found != "equal":
                print(f"{found:8} {name:36} {form:12} {' '.join(said.split())[:230]}", flush=True)
    print(count)


def test_the_text_of_the_library_is_found_when_lines_are_forgotten():
    def smallest(x):
        heap = []
        for t in x:
            heapq.heappush(heap, t)
        return heapq.heappop(heap)

    for size in (2, 3):
        linecache.clearcache()
        x = dy2st.arange(size, 0, -1)
        assert dy2st.jit.to_static(smallest)(x).item() == 1
