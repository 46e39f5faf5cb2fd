"""Functions under `functools.lru_cache` and `cache`: the user's own cache answers, as in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime.errors import ConversionError
from tests.dy2st.catalogue.comparing import comparable

X = dy2st.to_tensor([1.0, 2.0])
SCALES: list[float] = [1.0]


def _calls(make: Callable[[], tuple[Any, Any]], steps: list[Any], convert: bool) -> list[Any]:
    """What a function and its cache show: a step is an argument of a call, or a change."""
    function, cached = make()
    called = to_static(function) if convert else function
    shown = []
    for step in steps:
        if callable(step):
            shown.append(step(cached))
        else:
            shown.append(called(step).tolist())
        shown.append(tuple(cached.cache_info()))
    return shown


def _held() -> tuple[Any, Any]:
    @functools.lru_cache
    def config():
        return {"scale": 1.0}

    return lambda x: x * config()["scale"], config


def _counted() -> tuple[Any, Any]:
    calls: list[int] = []

    @functools.lru_cache(maxsize=2)
    def count(n):
        calls.append(n)
        return len(calls)

    return lambda x: x * count(1) + count(2) + count(3) * count(3), count


def _recursive() -> tuple[Any, Any]:
    @functools.cache
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    return lambda x: x * fibonacci(30), fibonacci


def _of_tensors() -> tuple[Any, Any]:
    SCALES[0] = 1.0

    @functools.lru_cache
    def table(n):
        return dy2st.arange(n).astype("float32") + SCALES[0]

    return lambda x: x * table(2), table


def _keywords() -> tuple[Any, Any]:
    @functools.lru_cache(typed=True)
    def typed(n, factor=1):
        return type(n)(n) * factor

    return lambda x: x * typed(2) + typed(2.0) + typed(n=2, factor=3), typed


def _asked() -> tuple[Any, Any]:
    @functools.lru_cache
    def one():
        return 1

    return lambda x: x * one() + one.cache_info().hits, one


def _cleared() -> tuple[Any, Any]:
    made: list[int] = []

    @functools.lru_cache
    def fresh():
        made.append(1)
        return len(made)

    def function(x):
        fresh.cache_clear()
        return x * fresh()

    return function, fresh


def _set(cached: Any) -> None:
    cached()["scale"] = 10.0


def _clear(cached: Any) -> None:
    cached.cache_clear()


def _twice(cached: Any) -> None:
    SCALES[0] *= 2


@pytest.mark.filterwarnings("ignore:.*traced anew for every call")
@pytest.mark.parametrize(
    ("make", "change"),
    [
        (_held, _set),
        (_held, _clear),
        (_counted, _clear),
        (_recursive, _clear),
        (_of_tensors, _twice),
        (_of_tensors, _clear),
        (_keywords, _clear),
        (_asked, _clear),
        (_cleared, _clear),
    ],
)
def test_a_cache_holds_and_counts_what_it_does_in_python(make, change):
    steps = [X, X, change, X, X, change, X + 1, dy2st.ones([3, 2]), X]
    assert _calls(make, steps, convert=True) == _calls(make, steps, convert=False)


def test_the_very_object_of_the_cache_is_given():
    @functools.lru_cache
    def config():
        return {"scale": 1.0}

    config()["scale"] = 10.0
    assert to_static(lambda x: x * config()["scale"])(X).tolist() == [10.0, 20.0]


def test_a_method_is_cached_by_its_object():
    class Table:
        def __init__(self, first):
            self.first = first

        @functools.lru_cache
        def values(self, n):
            return [self.first + k for k in range(n)]

    tables = [Table(1.0), Table(2.0)]
    function = to_static(lambda x: x * tables[0].values(2)[1] + tables[1].values(2)[0])
    assert function(X).tolist() == [4.0, 6.0]
    tables[0].values(2)[1] = 5.0
    assert function(X).tolist() == [7.0, 12.0]
    assert Table.values.cache_info().misses == 2


def test_what_raises_is_not_kept():
    attempts = []

    @functools.lru_cache
    def shaky():
        attempts.append(1)
        if len(attempts) == 1:
            raise ValueError("not yet")
        return 3

    function = to_static(lambda x: x * shaky())
    with pytest.raises(ValueError, match="not yet"):
        function(X)
    assert function(X).tolist() == [3.0, 6.0] == function(X).tolist()
    assert tuple(shaky.cache_info())[:2] == (1, 2)


def test_a_gradient_flows_through_a_cached_tensor():
    weight = dy2st.to_tensor([3.0, 4.0], stop_gradient=False)

    @functools.lru_cache
    def doubled():
        return weight * 2

    to_static(lambda x: (x * doubled()).sum())(X).backward()
    assert weight.grad.tolist() == [2.0, 4.0]


def test_a_pure_function_of_a_tensor_is_computed_anew():
    @functools.lru_cache
    def flipped(x):
        return -x, 2 if x.sum() > 0 else 3

    function = to_static(lambda x: flipped(x)[0] * flipped(x)[1])
    for x in (X, -X):
        assert function(x).tolist() == (flipped(x)[0] * flipped(x)[1]).tolist()


def test_a_recursion_under_a_cache_may_end_with_a_plain_number():
    def paths(x):
        @functools.cache
        def count(place):
            return 1.0 if place is None or place < 1 else count(place - 1) * float(x[place])

        return count(int(x.argmax()))

    for x in (X, dy2st.to_tensor([3.0, 1.0])):
        assert to_static(paths)(x) == paths(x)


def _gives_a_list(x):
    return [x]


def _appends(x):
    SCALES.append(1.0)
    return x


def _prints(x):
    print("once")
    return x


@pytest.mark.parametrize("function", [_gives_a_list, _appends, _prints])
def test_a_function_of_a_tensor_that_a_cache_would_call_once_is_refused(function):
    cached = functools.lru_cache(function)

    def run(x):
        result = cached(x)
        return result[0] if isinstance(result, list) else result

    with pytest.raises(ConversionError, match=r"lru_cache.*\n.*because.*\n.*instead") as refused:
        to_static(run)(X)
    assert refused.value.at is not None
    assert len(SCALES) == 1


def test_a_parameter_as_the_argument_is_that_of_the_cache():
    weight = dy2st.to_tensor([3.0, 4.0], stop_gradient=False)

    @functools.lru_cache
    def twice(tensor):
        return tensor * 2

    assert to_static(lambda x: x + twice(weight))(X).tolist() == [7.0, 10.0]
    assert twice.cache_info().misses == 1


def test_the_first_call_in_a_branch_is_refused_and_a_later_one_is_not():
    @functools.lru_cache
    def scale():
        return 3.0

    def run(x):
        if x.sum() > 0:
            x = x * scale()
        return x

    with pytest.raises(ConversionError, match="scale.*for the first time"):
        to_static(run)(X)
    scale()
    function = to_static(run)
    assert function(X).tolist() == [3.0, 6.0]
    assert function(-X).tolist() == [-1.0, -2.0]


def test_a_traced_value_does_not_enter_the_cache_by_another_way():
    class Box:
        pass

    box = Box()

    @functools.lru_cache
    def inner():
        return box.x * 2

    def run(x):
        box.x = x
        result = inner()
        box.x = None
        return result

    with pytest.raises(ConversionError, match="trace"):
        to_static(run)(X)
    assert inner.cache_info().currsize == 0


@pytest.mark.filterwarnings("ignore:.*traced anew for every call")
def test_what_a_cached_function_changes_is_changed_once():
    log = []

    @functools.lru_cache
    def noted():
        log.append("called")
        return 2.0

    function = to_static(lambda x: x * noted())
    assert [function(X).tolist() for _ in range(3)] == [[2.0, 4.0]] * 3
    assert log == ["called"]
    assert len(function.program_cache) <= 1


def test_a_trace_that_begins_anew_asks_a_cache_once():
    asked = []

    @functools.lru_cache
    def plain(n):
        return n + 1

    class Signed:
        def __init__(self, x):
            self.x = x

        @property
        def value(self):
            asked.append(plain(1))
            return self.x if self.x.sum() > 0 else -self.x

    def helper(x):
        if x.sum() > 0:
            raise ValueError("no")
        return x

    def run(x):
        factor = plain(1)
        try:
            return helper(x) * factor
        except ValueError:
            return x * 0

    function = to_static(run)
    assert function(-X).tolist() == [-2.0, -4.0]
    assert tuple(plain.cache_info())[:2] == (0, 1)
    assert function(X).tolist() == [0.0, 0.0]
    assert tuple(plain.cache_info())[:2] == (1, 1)


def _ways_through_a_grid(x):
    calls = []

    @functools.cache
    def cost(r, c):
        calls.append((r, c))
        if r == c == 0:
            return x[0]
        ways = [cost(r - 1, c)] if r else []
        return x[r] + c + min(ways + ([cost(r, c - 1)] if c else []))

    return cost(1, 2), len(calls)


def _keeps_the_very_list(x):
    @functools.cache
    def parts(n, *, scale=1.0):
        return [x * scale] * n

    parts(2).append(x)
    return parts(2), parts(2, scale=2.0), parts(2) is parts(2)


def _first_called_in_a_branch(x):
    calls = []

    @functools.lru_cache
    def double(k):
        calls.append(k)
        return x * 2 + k

    y = double(1) if x.sum() > 0 else x
    for v in x:
        if v > 1:
            y = y + double(2)
    return y + double(1) + double(2), len(calls)


def _cleared_between(x):
    found = []

    @functools.cache
    def place():
        found.append(1)
        return len(found)

    first = place() + place()
    place.cache_clear()
    return x * first, place(), found


def _by_what_a_tensor_says(x):
    @functools.cache
    def scaled(k):
        return x * k

    return scaled(int(x.argmax())), scaled(x[0])


def _counts_what_a_tensor_says(x):
    calls = []

    @functools.cache
    def scaled(k):
        calls.append(k)
        return x * k

    place = int(x.argmax())
    return scaled(place) + scaled(place) + scaled(1), calls


def _counted(x):
    @functools.lru_cache(maxsize=2)
    def scaled(k, *, by=1):
        return x * k * by

    given = scaled(1) + scaled(1) + scaled(1, by=2) + scaled(k=1) + scaled(1)
    full, parameters = scaled.cache_info(), scaled.cache_parameters()
    scaled.cache_clear()
    return given, tuple(full), parameters, scaled.cache_info()


def _counted_in_branches(x):
    @functools.cache
    def double(k):
        return x * k

    y = double(1)
    for v in x:
        if v > 1:
            y = y + double(1) + double(2)
    return y, double.cache_info().hits, double.cache_info().currsize


def _by_type(x):
    @functools.lru_cache(typed=True)
    def named(k):
        return x * k, type(k).__name__

    @functools.lru_cache
    def one(k):
        return type(k).__name__

    return named(1), named(1.0), named(True), named.cache_info().misses, one(1), one(True)


def _without_a_place(x):
    @functools.lru_cache(maxsize=-1)
    def text(k):
        return len(str(k))

    return [text(n) for n in range(150)], text.cache_info().misses, x


LOCAL = [_ways_through_a_grid, _keeps_the_very_list, _first_called_in_a_branch]
LOCAL += [_cleared_between, _by_what_a_tensor_says, _counted, _counted_in_branches]
LOCAL += [_counts_what_a_tensor_says, _by_type, _without_a_place]


@pytest.mark.parametrize("function", LOCAL)
def test_a_cache_that_the_function_makes_keeps_what_python_would_keep(function):
    static = to_static(function)
    for x in (X, -X, X + 1):
        assert comparable(static(x)) == comparable(function(x))
    assert len(static.program_cache) == 1


def test_what_a_cache_counts_is_refused_after_a_call_with_what_only_the_run_knows():
    def hits(x):
        @functools.cache
        def doubled(n):
            return n * 2

        return doubled(int(x[0])) + doubled(int(x[0])), doubled.cache_info().hits

    with pytest.raises(ConversionError, match=r"doubled\(\), .*, is asked what it counts"):
        to_static(hits)(X)
    assert hits(X) == (4, 1)
