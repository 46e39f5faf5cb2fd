"""Changes of containers of the user's that change nothing at one call, and something at the next."""

import copy
import random
from collections import OrderedDict, deque

import numpy as np
import pytest

import dy2st
from dy2st import to_static

X = dy2st.to_tensor(np.array([1.0, 2.0], "float32"))


def _set(key, value):
    return lambda held, count: held.__setitem__(key, value)


def _reversed(held, count):
    held.reverse()


def _next_put_last(held, count):
    held.pop(0)
    held.append(count)


def _last_put_first(held, count):
    held.insert(0, count)
    held.pop()


def _pushed_on_the_left(held, count):
    held.appendleft(count)
    held.pop()


def _taken_and_put_back(held, count):
    held[1] = held.pop(1)


def _last_replaced(held, count):
    held.pop()
    held.append(2)


def _first_cut(held, count):
    held[:1] = []
    held.append(1)


def _first_deleted(held, count):
    del held[0]
    held.append(1)


CHANGES = {
    "the same number at a place": ([5, 6], _set(0, 5)),
    "the same number at the last place": ([6, 5], _set(-1, 5)),
    "the same number under a key": ({0: 5, 1: 6}, _set(0, 5)),
    "the same entries": ({0: 5, 1: 6}, lambda held, count: held.update({0: 5})),
    "the same elements": ([5, 6], lambda held, count: held.__setitem__(slice(None), [5, 6])),
    "an element that is there": ({1}, lambda held, count: held.add(1)),
    "three reversed": ([1, 2, 3], _reversed),
    "a queue": ([0, 0, 0], _next_put_last),
    "a queue from the other end": ([0, 0, 0], _last_put_first),
    "a queue of two ends": (deque([0, 0, 0]), _pushed_on_the_left),
    "turned": (deque([1, 2, 1]), lambda held, count: held.rotate(1)),
    "an entry moved to the end": (
        OrderedDict([(0, 1), (1, 2)]),
        lambda held, count: held.move_to_end(1),
    ),
    "an entry taken and put back": ({0: 1, 1: 2}, _taken_and_put_back),
    "the last replaced": ([1, 2], _last_replaced),
    "the first cut off": ([1, 1, 2], _first_cut),
    "the first deleted": ([1, 1, 2], _first_deleted),
    "a place that counts": ([0, 0], lambda held, count: held.__setitem__(count % 2, count)),
}


def _unchanged(held, count):
    """Between the calls nothing happens."""


def _poked(held, count):
    """The user's own code changes it between the calls."""
    if isinstance(held, set):
        held.symmetric_difference_update({1, count + 5})
    elif isinstance(held, dict):
        held[0] = count
        held[count + 5] = 0
    else:
        held[0] = count
        held.append(count)


def same(start, change, between):
    """Whether a converted function leaves what Python leaves, call after call."""
    held, wanted = copy.copy(start), copy.copy(start)
    state = {"count": 0}

    def function(x):
        state["count"] += 1
        change(held, state["count"])
        return x * 2

    static = to_static(function)
    for call in range(1, 5):
        static(X)
        change(wanted, call)
        shown = (list(one.items()) if isinstance(one, dict) else one for one in (held, wanted))
        assert next(shown) == next(shown), f"call {call}"
        between(held, call)
        between(wanted, call)


@pytest.mark.parametrize("between", [_unchanged, _poked])
@pytest.mark.parametrize("name", CHANGES)
def test_what_leaves_a_container_as_it_was_once_changes_it_at_another_call(name, between):
    same(*CHANGES[name], between)


STEPS = (
    "held.append({})",
    "held.insert({}, 1)",
    "held.pop()",
    "held.pop({})",
    "held.reverse()",
    "held[{}] = {}",
    "held[{}], held[0] = held[0], held[{}]",
    "held[{}:] = [1, 2]",
    "del held[0]",
    "held.extend([1, {}])",
    "held.sort()",
)


@pytest.mark.parametrize("seed", range(20))
def test_random_changes_of_a_list_are_pythons(seed, tmp_path):
    draw = random.Random(seed)
    steps = [draw.choice(STEPS) for _ in range(draw.randint(1, 4))]
    lines = [one.format(*(draw.randrange(3) for _ in range(2))) for one in steps]
    text = "def change(held, count):\n    held += [1, 2, 1]\n"
    text += "\n".join(f"    {line}" for line in lines) + "\n    del held[3:]\n"
    path = tmp_path / f"changes_{seed}.py"
    path.write_text(text)
    space: dict[str, object] = {}
    exec(compile(text, str(path), "exec"), space)
    same([1, 1, 2], space["change"], _unchanged)


def test_an_element_that_the_call_has_put_there_is_another_one_where_there_were_more():
    held = []

    @to_static
    def put(count):
        held.append(count)
        held[0] = count

    for count in range(3):
        put(count)
    assert held == [2, 1, 2]
