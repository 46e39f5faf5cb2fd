"""Functions that call themselves: as Python has it, or refused where a tensor ends it."""

import sys

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import ConversionError

X = dy2st.to_tensor([1.0, 2.0])


def halved(x, n):
    return halved(x / 2, n - 1) if n else x


def longer_at_each_call(x):
    if x.sum() > 9:
        return x
    return longer_at_each_call(dy2st.concat([x, x]))


def in_a_longer_list(x):
    if x.sum() < 1:
        return []
    return [x, *in_a_longer_list(x - 1)]


class TooDeep(ValueError):
    pass


def no_deeper_than_five(x, n):
    if n > 5:
        raise TooDeep("deep")
    if n > 3:
        return x
    return no_deeper_than_five(x * 0.5, n + 1) + x


def endless(x):
    return endless(x) + 1


def test_a_recursion_that_python_ends_is_unrolled():
    assert to_static(halved)(X, 3).tolist() == halved(X, 3).tolist()


@pytest.mark.parametrize("function", [longer_at_each_call, in_a_longer_list])
def test_calls_may_get_and_give_tensors_and_lists_of_other_sizes(function):
    static = to_static(function)
    for x in (X, X * 3):
        found, wanted = static(x), function(x)
        assert [one.tolist() for one in found] == [one.tolist() for one in wanted]


def of_another_rank_at_each_call(x):
    if x.sum() > 9:
        return x
    return of_another_rank_at_each_call((x + 1).unsqueeze(0))


def test_calls_of_other_types_are_refused_on_the_line_that_decides():
    with pytest.raises(ConversionError, match="recursion whose end depends on a tensor") as caught:
        to_static(of_another_rank_at_each_call)(X)
    assert caught.value.at.file == __file__
    assert "no function of the Program can stand for it" in caught.value.why
    assert "while" in caught.value.hint


def test_a_recursion_may_raise_where_it_gets_too_deep():
    def function(x):
        return no_deeper_than_five(x, int(x[0]))

    for values in ([1.0, 2.0], [3.0, 1.0], [5.0, 2.0]):
        x = dy2st.to_tensor(values)
        assert to_static(function)(x).tolist() == function(x).tolist()
    with pytest.raises(TooDeep, match="deep"):
        to_static(function)(dy2st.to_tensor([6.0, 2.0]))


def test_a_recursion_without_end_is_the_error_of_python():
    with pytest.raises(RecursionError) as caught:
        to_static(endless)(X)
    if sys.version_info >= (3, 11):
        assert "sys.setrecursionlimit" in caught.value.__notes__[0]


def ended_by_a_number(x, n):
    for _ in range(1):
        if n > 0:
            x = ended_by_a_number(x, n - 1)
    return x + 1


def test_a_recursion_is_about_as_deep_as_in_python():
    assert to_static(lambda x: ended_by_a_number(x, 300) * 0)(X).tolist() == [0.0, 0.0]


def test_the_limit_of_python_is_that_of_the_user():
    limit = sys.getrecursionlimit()

    def f(x):
        return x * sys.getrecursionlimit()

    static = to_static(f)
    assert static(X).tolist() == static(X).tolist() == [limit, 2.0 * limit]
    assert len(static.program_cache) == 1
    assert sys.getrecursionlimit() == limit


def test_a_limit_that_the_function_sets_stays():
    limit = sys.getrecursionlimit()

    def f():
        sys.setrecursionlimit(limit + 9)
        return sys.getrecursionlimit()

    try:
        assert to_static(f)() == sys.getrecursionlimit() == limit + 9
    finally:
        sys.setrecursionlimit(limit)


def test_an_error_of_the_users_of_that_class_is_one_like_others():
    def f(x):
        if x.sum() < 0:
            raise RecursionError("mine")
        return x

    static = to_static(f)
    assert static(X).tolist() == [1.0, 2.0]
    with pytest.raises(RecursionError, match="mine"):
        static(-X)
