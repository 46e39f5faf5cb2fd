"""Values that are None before the first turn: caches of keys, memories of segments."""

from __future__ import annotations

import pytest

import dy2st
from dy2st import to_static
from dy2st.errors import NoTensor
from dy2st.static import InputSpec


def variable(x, n):
    memory = None
    for _ in range(n):
        if memory is not None:
            x = dy2st.concat([memory, x], axis=0)
        memory = x[-2:]
    return x


def expression(x, n):
    memory = None
    for _ in range(n):
        x = x if memory is None else dy2st.concat((memory, x), axis=0)
        memory = x[-2:]
    return x


def entries_of_a_list(x, n):
    kept = [None, None]
    for _ in range(n):
        for layer in range(2):
            if kept[layer] is not None:
                x = dy2st.stack([kept[layer], x[-2:]]).sum(0)
            kept[layer] = x[-2:]
    return x


def sums(x, n):
    total = None
    for _ in range(n):
        total = x if total is None else dy2st.add_n([total, x])
    return x if total is None else total


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("function", [variable, expression, entries_of_a_list, sums])
def test_a_list_holds_what_is_there_where_the_code_has_asked(function, engine):
    specs = [InputSpec([None, 3]), InputSpec([], "int64")]
    converted = to_static(function, input_spec=specs, engine=engine)
    for count in (0, 1, 3):
        given = dy2st.ones([2, 3]), dy2st.to_tensor(count)
        assert converted(*given).tolist() == function(*given).tolist()


def test_a_list_of_what_may_be_none_is_given_to_the_library_where_it_is_none():
    def run(x):
        other = None
        if x.sum() > 0:
            other = x
        return dy2st.concat([other, x])

    static = to_static(run)
    assert static(dy2st.ones([2])).tolist() == [1, 1, 1, 1]
    with pytest.raises(NoTensor):
        run(-dy2st.ones([2]))
    with pytest.raises(NoTensor):
        static(-dy2st.ones([2]))
