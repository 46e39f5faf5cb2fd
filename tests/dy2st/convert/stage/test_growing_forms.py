"""A value that holds its last one: lists and dicts lie in tables, a tuple has ever new forms."""

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


def running(held, start, traced):
    def run(rows):
        kept = start
        for row in rows:
            traced.append(1)
            kept = held(kept, row)
        return kept

    return run, dy2st.to_static(run, input_spec=[dy2st.static.InputSpec([None, 2])])


@pytest.mark.parametrize("start", [None, (), [], {}])
@pytest.mark.parametrize("held", [once, twice, in_a_dict])
def test_a_list_or_dict_holds_the_last_one(held, start):
    run, converted = running(held, start, [])
    for length in (0, 1, 3):
        rows = dy2st.ones([length, 2])
        assert repr(converted(rows)) == repr(run(rows))
    kept = converted(rows)
    assert type(kept) is dict or len(kept) == 2 or kept[0] is kept[1]


@pytest.mark.parametrize("start", [None, (), [], {}])
def test_a_tuple_that_holds_the_last_one_is_refused_before_it_is_large(start):
    traced = []
    _, converted = running(in_tuples, start, traced)
    with pytest.raises(errors.LoopMismatch, match="another form after every iteration"):
        converted(dy2st.ones([3, 2]))
    assert len(traced) < 40  # in three traces


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
