"""What a function writes outside of it: names, objects, iterators, random numbers, tensors."""

from __future__ import annotations

import dataclasses

import dy2st
from tests.dy2st.jit.outside.scenario import Box, effect, seen

COUNT = 0
HISTORY = []


@effect
def a_global_counter():
    globals()["COUNT"] = 0

    def f(x):
        global COUNT
        COUNT += 1
        return x * 2

    return f, lambda: COUNT


@effect
def a_global_counter_that_is_used():
    globals()["COUNT"] = 0

    def f(x):
        global COUNT
        COUNT += 1
        return x * COUNT

    return f, lambda: COUNT


@effect
def a_global_list():
    HISTORY.clear()

    def f(x):
        HISTORY.append(x.sum())
        return x

    return f, lambda: seen(HISTORY)


@effect
def a_counter_of_a_closure():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x + count

    return f, lambda: count


@effect
def a_running_sum_of_a_closure():
    total = dy2st.zeros([])

    def f(x):
        nonlocal total
        total = total + x.sum()
        return x + total

    return f, lambda: seen(total)


@effect
def a_counter_of_an_object():
    held = Box(count=0)

    def f(x):
        held.count += 1
        return x * 2

    return f, lambda: held.count


@effect
def a_counter_that_decides():
    held = Box(count=0)

    def f(x):
        held.count += 1
        if held.count % 2 == 0:
            return x * 2
        return x * 3

    return f, lambda: held.count


@effect
def a_counter_that_a_tensor_decides():
    held = Box(count=0)

    def f(x):
        if x.sum() > 2.5:
            held.count += 1
        return x + held.count

    return f, lambda: seen(held.count)


@effect
def a_counter_in_a_tensor_loop():
    held = Box(count=0)

    def f(x):
        while x.sum() < 50:
            x = x * 2 + 1
            held.count += 1
        return x

    return f, lambda: seen(held.count)


@effect
def a_float_that_decays():
    held = Box(rate=1.0)

    def f(x):
        held.rate *= 0.5
        return x * held.rate

    return f, lambda: held.rate


@effect
def a_number_that_alternates():
    held = Box(phase=0)

    def f(x):
        held.phase = 1 - held.phase
        return x * (held.phase + 1)

    return f, lambda: held.phase


@effect
def a_name_that_changes():
    held = Box(state="start")

    def f(x):
        held.state = "running" if held.state == "start" else "end"
        return x * len(held.state)

    return f, lambda: held.state


@effect
def the_last_result():
    held = Box(last=None)

    def f(x):
        held.last = x * 2
        return x

    return f, lambda: seen(held.last)


@effect
def the_last_result_that_is_used():
    held = Box(last=None)

    def f(x):
        y = x if held.last is None else x + held.last
        held.last = y
        return y

    return f, lambda: seen(held.last)


@effect
def the_largest_so_far():
    held = Box(best=dy2st.zeros([]))

    def f(x):
        if x.max() > held.best:
            held.best = x.max()
        return x / held.best

    return f, lambda: seen(held.best)


@effect
def an_attribute_deleted_and_set():
    held = Box()

    def f(x):
        if hasattr(held, "mark"):
            del held.mark
        else:
            held.mark = 1
        return x

    return f, lambda: vars(held)


@effect
def a_property_that_is_set():
    class Local:
        kept = 0

        @property
        def level(self):
            return self.kept

        @level.setter
        def level(self, value):
            self.kept = value + 1

    held = Local()

    def f(x):
        held.level = held.level
        return x * held.level

    return f, lambda: held.kept


@effect
def setattr_by_a_computed_name():
    held = Box(step=0)

    def f(x):
        held.step += 1
        setattr(held, f"result_{held.step % 2}", x.sum())
        return x

    return f, lambda: seen(vars(held))


@effect
def a_class_attribute():
    class Local:
        made = 0

        def __init__(self):
            Local.made += 1

    def f(x):
        Local()
        return x

    return f, lambda: Local.made


@effect
def a_field_of_a_dataclass():
    @dataclasses.dataclass
    class Stats:
        calls: int = 0
        total: object = 0.0

    held = Stats()

    def f(x):
        held.calls += 1
        held.total = held.total + x.sum()
        return x / held.calls

    return f, lambda: seen(held.calls, held.total)


@effect
def a_tensor_outside_set():
    held = dy2st.zeros([2])

    def f(x):
        held.set_value(held + x)
        return x * 2

    return f, lambda: seen(held)


@effect
def an_element_of_a_tensor_outside():
    held = dy2st.zeros([2])

    def f(x):
        held[0] = x.max()
        return x + held

    return f, lambda: seen(held)


@effect
def an_object_made_and_kept():
    held = Box(parts=[])

    class Part:
        def __init__(self, value):
            self.value = value

    def f(x):
        held.parts.append(Part(x.sum()))
        return x

    return f, lambda: seen([part.value for part in held.parts])


@effect
def a_linked_list():
    held = Box(head=None)

    def f(x):
        held.head = (x.sum(), held.head)
        return x

    return f, lambda: seen(held.head)


@effect
def a_dict_made_and_kept():
    held = []

    def f(x):
        held.append({"sum": x.sum(), "shape": list(x.shape)})
        return x

    return f, lambda: seen(held)


@effect
def a_function_made_and_kept():
    held = []

    def f(x):
        y = x.sum()
        held.append(lambda: y * 2)
        return x

    return f, lambda: seen([function() for function in held])


@effect
def what_is_written_in_a_helper():
    held = Box(log=[], count=0)

    def note(value):
        held.count += 1
        held.log.append(value)

    def f(x):
        note(x.sum())
        note(x.max())
        return x * 2

    return f, lambda: seen(held.log, held.count)


@effect
def what_is_written_and_taken_back():
    held = Box(depth=0)

    def f(x):
        held.depth += 1
        try:
            return x * held.depth
        finally:
            held.depth -= 1

    return f, lambda: held.depth


@effect
def a_context_manager_that_counts():
    held = Box(entered=0, left=0)

    class Local:
        def __enter__(self):
            held.entered += 1

        def __exit__(self, *error):
            held.left += 1

    def f(x):
        with Local():
            if x.sum() > 2.5:
                return x * 2
        return x

    return f, lambda: vars(held)


@effect
def what_is_written_before_an_error():
    held = []

    def f(x):
        held.append("called")
        raise ValueError("always")

    return f, lambda: held


@effect
def what_is_written_before_an_error_that_a_tensor_decides():
    held = []

    def f(x):
        held.append("called")
        if x.sum() > 4:
            raise ValueError("too much")
        return x

    return f, lambda: held


@effect
def an_argument_that_is_a_list_of_an_object():
    held = Box(out=[])

    def collect(x, out):
        out.append(x)
        return len(out) > 0

    return lambda x: x * 2 if collect(x.sum(), held.out) else x, lambda: seen(held.out)


@effect
def two_names_for_one_list_written():
    held = []
    other = Box(log=held)

    def f(x):
        other.log.append(x.sum())
        held.append(x.max())
        return x

    return f, lambda: seen(held)


@effect
def read_back_after_it_is_written():
    held = {"n": 0}

    def f(x):
        held["n"] += 1
        return x * held["n"] + len(held)

    return f, lambda: held


@effect
def what_vars_shows_after_a_write():
    held = Box(count=0)

    def f(x):
        held.count += 1
        return x * vars(held)["count"]

    return f, lambda: held.count
