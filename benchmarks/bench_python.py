"""Plain Python inside of a trace against the same code outside of it, where it runs untouched."""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import SimpleQueue
from types import FunctionType

import pytest

from dy2st.jit import not_to_static, to_static
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


def nested_loops(turns):
    total = 0
    for i in range(turns):
        for j in range(10):
            total += i * j
    return total


def items_of_a_list(turns):
    items = [0] * 10
    for i in range(turns):
        k = i % 10
        items[k] = items[k] + i
    return items


def count_words(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


def list_comprehension(turns):
    return [i * 2 for i in range(turns)]


def nested_function(calls):
    def add(a, b):
        if a > b:
            return a - b
        return a + b

    total = 0
    for i in range(calls):
        total = add(total, i)
    return total


class Counter:
    def __init__(self):
        self.value = 0

    def step(self, by):
        self.value = self.value + by


def method_of_an_object(calls):
    counter = Counter()
    for i in range(calls):
        counter.step(i)
    return counter.value


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


ARITHMETIC, ITEMS, METHODS = 5, 15, 40
CASES = [
    (loop_with_for, 20_000, ARITHMETIC),
    (loop_with_while, 20_000, ARITHMETIC),
    (loop_with_jumps, 20_000, ARITHMETIC),
    (nested_loops, 2_000, ARITHMETIC),
    (items_of_a_list, 5_000, ITEMS),
    (count_words, WORDS * 10, METHODS),
    (list_comprehension, 5_000, METHODS),
    (nested_function, 5_000, METHODS),
    (method_of_an_object, 5_000, METHODS),
    (fib, 15, METHODS),
]
ROUNDS = 9


def ratio(function: Callable, argument: object) -> float:
    """The best of each in turns: what disturbs so short a run only ever makes it slower."""
    queue: SimpleQueue[float] = SimpleQueue()  # a list would be put back when the trace ends

    @not_to_static
    def mark():
        queue.put(time.process_time())

    plain = FunctionType(function.__code__, function.__globals__)
    not_to_static(plain)

    def traced(x):
        for _ in range(ROUNDS):
            mark()
            function(argument)
            mark()
            plain(argument)
            mark()
        return x + 1

    _ = to_static(traced, input_spec=[InputSpec([None], "float32", "x")]).concrete_program
    marks = [queue.get_nowait() for _ in range(queue.qsize())]
    starts, middles, ends = marks[::3], marks[1::3], marks[2::3]
    own = min(b - a for a, b in zip(starts, middles, strict=True))
    return own / min(b - a for a, b in zip(middles, ends, strict=True))


@pytest.mark.parametrize("function, argument, goal", CASES, ids=lambda case: str(case)[:20])
def test_inside_a_trace(figure, function, argument, goal):
    name = function.__name__.replace("_", " ")
    figure(f"{name}, in a trace", lambda: ratio(function, argument), "times", goal)
