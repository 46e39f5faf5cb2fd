"""Control flow as functions: the same eager and in a Program, on every branch."""

import pytest

import dy2st
from dy2st.static import nn


def both(function, *inputs):
    eager = [function(dy2st.to_tensor(value)).tolist() for value in inputs]
    converted = dy2st.to_static(function)
    assert [converted(dy2st.to_tensor(value)).tolist() for value in inputs] == eager
    return eager


def test_cond_takes_one_of_two():
    assert both(lambda x: nn.cond(x > 0, lambda: x * 2, lambda: x - 1), 3.0, -3.0) == [6.0, -4.0]
    assert nn.cond(False, lambda: 1) is None


def test_while_loop_goes_on():
    def f(x):
        i, y = nn.while_loop(lambda i, y: y < 10, lambda i, y: [i + 1, y * 2], [dy2st.zeros([]), x])
        return i + y

    assert both(f, 3.0, 20.0) == [14.0, 20.0]


def test_case_takes_the_first_that_holds():
    def f(x):
        pairs = [(x < 0, lambda: x - 1), (x < 10, lambda: x + 1)]
        return nn.case(pairs, default=lambda: x * 0)

    assert both(f, -1.0, 5.0, 50.0) == [-2.0, 6.0, 0.0]
    assert both(lambda x: nn.case([(x < 0, lambda: -x), (x > 5, lambda: x)]), -1.0, 2.0) == [
        1.0,
        2.0,
    ]


@pytest.mark.parametrize("kind", [dict, list])
def test_switch_case_takes_the_number(kind):
    def f(x):
        functions = [lambda: x * 10, lambda: x * 20]
        chosen = kind(enumerate(functions)) if kind is dict else functions
        return nn.switch_case(x, chosen, default=lambda: x * 0)

    assert both(f, 0, 1, 7) == [0, 20, 0]
