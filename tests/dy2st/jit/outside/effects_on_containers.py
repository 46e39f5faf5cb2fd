"""What a function writes into lists, dicts, sets and caches outside of it."""

from __future__ import annotations

import collections
import functools

import dy2st
from tests.dy2st.jit.outside.scenario import Box, each_call, effect, seen


@effect
def a_list_of_results():
    held = []

    def f(x):
        held.append(x * 2)
        return x

    return f, lambda: seen(held)


@effect
def a_list_of_pairs():
    held = []

    def f(x):
        held.append(("sum", x.sum()))
        return x

    return f, lambda: seen(held)


@effect
def a_list_by_augmented_assignment():
    held = Box(log=[])

    def f(x):
        held.log += [x.max()]
        return x

    return f, lambda: seen(held.log)


@effect
def a_list_extended():
    held = []

    def f(x):
        held.extend([x.max(), x.min()])
        return x

    return f, lambda: seen(held)


@effect
def a_list_appended_to_in_a_loop():
    held = []

    def f(x):
        for i in range(3):
            x = x * 0.5
            held.append(x.sum() * i)
        return x

    return f, lambda: seen(held)


@effect
def a_list_appended_to_where_a_tensor_decides():
    held = []

    def f(x):
        if x.sum() > 2.5:
            held.append(x)
        return x * 2

    return f, lambda: seen(held)


@effect
def an_append_held_as_a_method():
    held = []
    note = held.append

    def f(x):
        note(x.sum())
        return x

    return f, lambda: seen(held)


@each_call
def a_list_whose_length_is_read():
    held = []

    def f(x):
        held.append(x)
        return x * len(held)

    return f, lambda: seen(held)


@each_call
def a_list_that_is_stacked():
    held = []

    def f(x):
        held.append(x)
        return dy2st.stack(held).sum(0)

    return f, lambda: seen(held)


@effect
def a_window_of_the_last_two():
    held = collections.deque(maxlen=2)

    def f(x):
        held.append(x.sum())
        return x

    return f, lambda: seen(list(held))


@each_call
def a_stack_that_is_popped():
    held = [1.0, 2.0, 3.0, 4.0, 5.0]
    return lambda x: x * held.pop(), lambda: held


@each_call
def a_list_rotated():
    held = [1.0, 2.0, 3.0]

    def f(x):
        held.append(held.pop(0))
        return x * held[0]

    return f, lambda: held


@effect
def an_entry_of_a_list_replaced():
    held = [None, None]

    def f(x):
        held[0], held[1] = held[1], x.sum()
        return x

    return f, lambda: seen(held)


@effect
def a_list_emptied_and_filled():
    held = []

    def f(x):
        held.clear()
        for part in (x, x * 2):
            held.append(part)
        return x

    return f, lambda: seen(held)


@effect
def a_part_of_a_list_assigned():
    held = [0.0, 0.0, 0.0]

    def f(x):
        held[1:] = [x.max(), x.min()]
        return x

    return f, lambda: seen(held)


@each_call
def a_list_deleted_from():
    held = [1.0, 2.0, 3.0, 4.0, 5.0]

    def f(x):
        del held[0]
        return x

    return f, lambda: held


@effect
def an_entry_of_a_dict():
    held = {}

    def f(x):
        held["last"] = x.sum()
        return x

    return f, lambda: seen(held)


@effect
def a_counter_in_a_dict():
    held = {}

    def f(x):
        held["n"] = held.get("n", 0) + 1
        return x * held["n"]

    return f, lambda: held


@effect
def a_dict_updated():
    held = {"a": 1}

    def f(x):
        held.update(sum=x.sum(), max=x.max())
        return x

    return f, lambda: seen(held)


@effect
def a_default_dict_of_lists():
    held = collections.defaultdict(list)

    def f(x):
        held["sums"].append(x.sum())
        return x

    return f, lambda: seen(dict(held))


@effect
def a_setdefault():
    held = {}

    def f(x):
        held.setdefault("first", x.sum())
        return x * held["first"]

    return f, lambda: seen(held)


@each_call
def a_counter_of_collections():
    held = collections.Counter()

    def f(x):
        held["calls"] += 1
        held.update("ab")
        return x

    return f, lambda: sorted(held.items())


@effect
def a_key_that_a_tensor_decides():
    held = {}

    def f(x):
        if x.sum() > 2.5:
            held["big"] = x
        else:
            held["small"] = x
        return x

    return f, lambda: seen(held)


@effect
def an_entry_popped():
    held = {"a": 1.0, "b": 2.0}
    return lambda x: x * held.pop("a", 5.0), lambda: held


@each_call
def a_set_of_names():
    held = set()

    def f(x):
        held.add(len(held))
        return x

    return f, lambda: sorted(held)


@effect
def a_set_that_fills_up():
    held = set()

    def f(x):
        held.add("called")
        return x * 2 if len(held) > 1 else x

    return f, lambda: sorted(held)


@effect
def a_cache_filled_at_the_first_call():
    held = {}

    def f(x):
        n = x.shape[0]
        if n not in held:
            held[n] = dy2st.ones([n]) * 3
        return x * held[n]

    return f, lambda: seen(held)


@effect
def a_cache_of_a_computed_tensor():
    held = Box(mask=None)

    def f(x):
        if held.mask is None:
            held.mask = (x > 1.5).astype("float32")
        return x * held.mask

    return f, lambda: seen(held.mask)


@effect
def a_cache_by_try():
    held = {}

    def f(x):
        try:
            return x + held["bias"]
        except KeyError:
            held["bias"] = x.sum()
            return x

    return f, lambda: seen(held)


@effect
def a_function_with_a_cache():
    calls = []

    @functools.cache
    def mask(n):
        calls.append(n)
        return dy2st.ones([n])

    return lambda x: x + mask(x.shape[0]), lambda: calls


@effect
def a_cached_property():
    class Local:
        calls = 0

        @functools.cached_property
        def mask(self):
            self.calls += 1
            return dy2st.ones([2])

    held = Local()

    return lambda x: x + held.mask, lambda: seen(held.calls, vars(held))


@effect
def a_mutable_default():
    def f(x, log=[]):
        log.append(x.sum())
        return x

    return f, lambda: seen(f.__defaults__[0])


@effect
def an_attribute_of_the_function():
    def helper(x):
        helper.calls += 1
        return x * helper.calls

    helper.calls = 0

    return lambda x: helper(x), lambda: helper.calls
