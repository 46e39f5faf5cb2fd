"""However code takes items of an iterator where tensors decide, it gets Python's, or is refused."""

from __future__ import annotations

import itertools
import random
from itertools import product

import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.static import InputSpec
from tests.effort import effort

MADE = {
    "list": lambda numbers: iter([1, 2, 3, 4, 5]),
    "range": lambda numbers: iter(range(2, 30, 3)),
    "numbers": lambda numbers: iter(numbers),
    "pairs": lambda numbers: (k + v for k, v in enumerate(numbers)),
    "enumerate": lambda numbers: map(sum, enumerate([5, 7, 9])),
    "zip": lambda numbers: map(sum, zip(numbers, [1, 2, 3, 4])),
    "chain": lambda numbers: itertools.chain([7, 8], numbers),
    "islice": lambda numbers: itertools.islice(numbers, 1, 4),
    "cycle": lambda numbers: itertools.islice(itertools.cycle([4, 5, 6]), 12),
    "reversed": lambda numbers: reversed(numbers),
    "accumulate": lambda numbers: itertools.accumulate(numbers),
}


def next_one(items, v, found):
    found.append(next(items, -1))


def until_large(items, v, found):
    for k in items:
        found.append(k)
        if k > v:
            break


def two_at_a_time(items, v, found):
    for k in items:
        found.append(k * 100 + next(items, 0))
        if k > v:
            break


def one_for_each(items, v, found):
    found.extend([k - j for k, j in zip(items, range(v))])


def has_larger(items, v, found):
    found.append(any(k > v for k in items))


def is_there(items, v, found):
    found.append(v in items)


def raised(items, v, found):
    try:
        for k in items:
            if k > v:
                raise ValueError(k)
            found.append(k)
    except ValueError as error:
        found.append(-error.args[0])


def without_default(items, v, found):
    try:
        found.append(next(items))
        found.append(next(items))
    except StopIteration:
        found.append(-9)


def all_others(items, v, found):
    found.extend(list(items))


def greatest(items, v, found):
    found.append(max(items, default=0))


STEPS = (
    *(next_one, until_large, two_at_a_time, one_for_each, has_larger, is_there, raised),
    *(without_default, all_others, greatest),
)


def stepped(make, first, second, is_loop):
    def made(x):
        numbers = [int(v) for v in x]
        items, found = MADE[make](numbers), []
        if is_loop:
            for v in numbers:
                if v > 2:
                    first(items, v, found)
                else:
                    second(items, v, found)
        else:
            if numbers[0] > 2:
                first(items, numbers[0], found)
            second(items, numbers[-1], found)
        return found, list(items)

    return made


ALL = [*product(MADE, STEPS, STEPS, (True, False))]
SOME = random.Random(7).sample(ALL, effort(8, 300))


@pytest.mark.filterwarnings("ignore:.* unrolls the loop")
@pytest.mark.parametrize("sizes", ["known", "unknown"])
@pytest.mark.parametrize(("make", "first", "second", "is_loop"), SOME)
def test_items_are_taken_as_in_python(make, first, second, is_loop, sizes):
    function, draw = stepped(make, first, second, is_loop), random.Random(3)
    static = dy2st.to_static(function, input_spec=[InputSpec([None])] if sizes != "known" else None)
    for size in (1, 3, 5):
        x = dy2st.to_tensor([float(draw.randint(0, 6)) for _ in range(size)])
        try:
            found = static(x)
        except ConversionError as error:
            assert "instead" in str(error)
            return
        assert found == function(x)
