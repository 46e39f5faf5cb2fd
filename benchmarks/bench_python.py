"""Converted code without tensors against the functions as they were written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from measuring import in_turns

from dy2st.convert import convert_call
from dy2st.jit import to_static
from dy2st.static import InputSpec

WORDS = [f"word {n % 13}" for n in range(300)]


def loop_with_for(turns):
    total = 0
    for i in range(turns):
        if i % 3 == 0:
            total += i
        elif i % 3 == 1:
            total -= 1
        else:
            total += 2
    return total


def loop_with_while(turns):
    total = i = 0
    while i < turns:
        if i & 1:
            total += i
        i += 1
    return total


def loop_with_jumps(turns):
    total = 0
    for i in range(turns):
        if i % 7 == 3 and total > 5:
            continue
        if total < 0 or i > 100_000:
            break
        total += i
    return total


def nested_function(calls):
    def add(a, b):
        if a > b:
            return a - b
        return a + b

    total = 0
    for i in range(calls):
        total = add(total, i)
    return total


def count_words(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def four_statements(a, b):
    c = a + b
    d = c * 2
    e = d - a
    return e


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


CASES = [
    # function, arguments, how many calls a round, goal
    (loop_with_for, (20_000,), 1, 3),
    (loop_with_while, (20_000,), 1, 3),
    (loop_with_jumps, (20_000,), 1, 3),
    (nested_function, (5_000,), 1, 3),
    (count_words, (WORDS,), 20, 3),
    (four_statements, (3, 4), 10_000, 3),
    (fib, (15,), 1, 5),
]


def repeated(function: Callable, arguments: tuple, count: int) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            function(*arguments)

    return run


def ratio(function: Callable, arguments: tuple, count: int) -> float:
    own = repeated(convert_call(function), arguments, count)
    rounds = in_turns(own, repeated(function, arguments, count), rounds=25)
    # The best of each: what disturbs so short a run only ever makes it slower.
    return min(mine for mine, _ in rounds) / min(floor for _, floor in rounds)


@pytest.mark.parametrize("function, arguments, count, goal", CASES, ids=lambda case: str(case)[:20])
def test_called_directly(figure, function, arguments, count, goal):
    name = function.__name__.replace("_", " ")
    figure(f"{name}, against Python", lambda: ratio(function, arguments, count), "times", goal)


@pytest.mark.parametrize("function, arguments, count, goal", CASES, ids=lambda case: str(case)[:20])
def test_inside_a_trace(figure, function, arguments, count, goal):
    def measure() -> float:
        found = []

        def traced(x):
            found.append(ratio(function, arguments, count))
            return x + 1

        traced.__dy2st_ignore__ = True
        _ = to_static(traced, input_spec=[InputSpec([None], "float32", "x")]).concrete_program
        return found[0]

    name = function.__name__.replace("_", " ")
    figure(f"{name}, in a trace", measure, "times", goal)


def deepest(function: Callable) -> int:
    low, high = 1, 100_000
    while high - low > 1:
        middle = (low + high) // 2
        high_again = high
        high = middle
        with suppress(RecursionError):
            function(middle)
            low, high = middle, high_again
    return low


def test_depth_of_recursion(figure):
    figure(
        "recursion depth of Python",
        lambda: deepest(depth) / deepest(convert_call(depth)),
        "times",
        2,
    )
