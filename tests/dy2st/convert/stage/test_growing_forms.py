"""A value that holds its last one has another form after every iteration: loops say so early."""

import numpy as np
import pytest

import dy2st
from dy2st_runtime import errors


def once(kept, a):
    return [kept, a]


def twice(kept, a):
    return [kept, kept, a]


def in_a_dict(kept, a):
    return {"kept": kept, "a": a}


def in_tuples(kept, a):
    return ((kept, a), (a, kept))


@pytest.mark.parametrize("start", [None, (), [], {}])
@pytest.mark.parametrize("held", [once, twice, in_a_dict, in_tuples])
def test_a_value_that_holds_its_last_one_is_refused_before_it_is_large(held, start):
    traced = []

    def run(rows):
        kept = start
        for row in rows:
            traced.append(1)
            kept = held(kept, row)
        return kept

    converted = dy2st.to_static(run, input_spec=[dy2st.static.InputSpec([None, 2])])
    with pytest.raises(errors.LoopMismatch, match="another form after every iteration"):
        converted(dy2st.ones([3, 2]))
    assert len(traced) < 12


def test_values_that_are_handed_down_some_levels_are_not():
    def run(rows):
        a = b = c = d = rows[0]
        for row in rows:
            d, c, b, a = [c], [b], [a], row
            d, c, b = d[0], c[0], b[0]
        return a + b + c + d

    converted = dy2st.to_static(run, input_spec=[dy2st.static.InputSpec([None, 2])])
    rows = dy2st.to_tensor(np.arange(12, dtype="float32").reshape(6, 2))
    np.testing.assert_array_equal(converted(rows).numpy(), run(rows).numpy())
