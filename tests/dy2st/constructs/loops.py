"""Loops: `while`, `for`, their `else`, what they carry."""

from __future__ import annotations

import itertools

from tests.dy2st.catalogue.entry import construct


@construct("`while` on a tensor", "a loop of the Program")
def while_on_a_tensor(x):
    while x.sum() < 50:
        x = abs(x) * 2 + 1
    return x


@construct("`while` on a tensor and a number", "`and` stays short-circuit; the number is carried")
def while_on_both(x):
    n = 0
    while n < 4 and x.sum() > -40:
        x = x - 3
        n += 1
    return x, n


@construct("`while` on a Python value", "each iteration stands in the Program")
def while_of_python(x):
    n = 0
    while n < 3:
        x = x * 2
        n += 1
    return x, n


@construct(
    "`while` that a tensor decides from some iteration on", "the rest is a loop of the Program"
)
def while_that_becomes_traced(x):
    limit = 2
    n = 0
    while n < limit:
        n += 1
        if n == 2:
            limit = x.sum() / 2
    return x + n


@construct("`for` over `range`", "each iteration stands in the Program")
def for_over_a_range(x):
    for k in range(3):
        x = x * 2 + k
    return x


@construct("`for` over `range(tensor)`", "a loop of the Program; also with start and step")
def for_over_a_range_of_a_tensor(x):
    total = x.sum() * 0
    n = int(x.max())
    for k in range(n):
        total = total + k
    for k in range(1, n, 2):
        total = total - k * 3
    return total


@construct("`for` over a tensor", "row by row")
def for_over_a_tensor(x):
    y = x.sum() * 0
    for value in x:
        y = y * 2 + value
    return y


@construct("`for` over `zip` and `enumerate` of tensors", "as over the tensors")
def for_over_zip_of_tensors(x):
    y = x.sum() * 0
    for a, b in zip(x, x * 2, strict=True):
        y = y + a * b
    for k, value in enumerate(x):
        y = y + k * value
    return y


@construct("`for` over `reversed` and slices of a tensor", "as over the tensor")
def for_over_reversed(x):
    y = x.sum() * 0
    for value in reversed(x):
        y = y * 2 + value
    for value in x[1:]:
        y = y - value
    return y


@construct("`for` over a list of tensors, a tuple, a dict", "each iteration stands in the Program")
def for_over_containers(x):
    y = x
    for tensor in [x, x * 2]:
        if tensor.sum() > 10:
            y = y + tensor
    for name, weight in {"a": 2.0, "bb": 3.0}.items():
        y = y * weight + len(name)
    for key in {"c": 1}:
        y = y + len(key)
    return y


@construct("`for` over a generator", "items are made as the iterations need them")
def for_over_a_generator(x):
    y = x
    for k in (k * k for k in range(3)):
        if y.sum() > 10:
            y = y - k
        y = y + 1
    for k in itertools.islice(itertools.count(5), 2):
        y = y * k
    return y


@construct("unpacking targets", "`for a, (b, *c) in ...`")
def unpacking_targets(x):
    y = x
    for a, (b, *c) in [(1, (2, 3, 4)), (5, (6,))]:
        if y.sum() > a:
            y = y + b
        for d in c:
            y = y * d
    return y


@construct("a target that is an attribute or item", "assigned in every iteration")
def target_item(x):
    box = [0]
    for box[0] in range(3):
        x = x + box[0]
    if x.sum() > 10:
        x = x * box[0]
    return x, box


@construct("the target after a loop over `range`", "keeps its last value")
def target_after_the_loop(x):
    for k in range(3):
        x = x + k
    if x.sum() > 10:
        return x * k
    return x


@construct("the target after a loop over a tensor", "its last value")
def target_after_a_tensor(x):
    total = x.sum() * 0
    for value in x:
        if value > 15:
            break
        total = total + value
    return total, value


@construct(
    "the target after a loop that may have no iteration",
    "Python's UnboundLocalError at run time",
    inputs=([3.0, 1.0], [0.0, 0.0], [1.0, 0.0]),
)
def target_after_no_turn(x):
    for k in range(int(x.max())):
        x = x + 1
    return x + k


@construct("a variable first bound in a loop", "Python's UnboundLocalError where no iteration ran")
def first_bound_in_the_loop(x):
    while x.sum() > 0:
        y = x * 2
        x = x - 10
    return y


@construct("a variable bound in some iterations", "carried with a hidden flag")
def bound_in_some_turns(x):
    n = x.sum() * 0
    while n < 3:
        if x.sum() > n * 10:
            y = x + n
        n = n + 1
    return y


@construct("a variable bound in some iterations over a list", "carried with a hidden flag")
def bound_in_some_python_turns(x):
    for k in range(3):
        if x.sum() > k * 10:
            y = x + k
    if x.sum() < 0:
        y = x
    return y


@construct("a variable bound before a loop on one path", "unread, it may stay unbound")
def bound_on_one_path_before(x):
    if x.sum() > 10:
        y = x
    n = x.sum() * 0
    while n < 3:
        n = n + 1
        if n > 2:
            y = x * n
    return y


@construct("a number that becomes a tensor", "starts as a tensor")
def number_becomes_tensor(x):
    total = 0
    while total < 20:
        total = total + (x * x).sum() + 1
    return total


@construct("tuples and dicts that are carried", "entry by entry")
def carried_containers(x):
    pair = (x, x.sum() * 0)
    state = {"n": x.sum() * 0}
    while state["n"] < 3:
        pair = (pair[0] + 1, pair[1] + pair[0].sum())
        state["n"] = state["n"] + 1
    return pair, state


@construct("loops in loops", "a `while` in a `while`")
def loops_in_loops(x):
    n = x.sum() * 0
    while n < 3:
        m = n
        while m < 4 and x.sum() > m:
            x = x - 1
            m = m + 1
        for k in range(2):
            if x.sum() < 0:
                x = x + k
        n = n + 1
    return x, n


@construct("`for` ... `else` without `break`", "`else` always runs")
def else_without_break(x):
    y = x.sum() * 0
    for value in x:
        y = y + value
    else:
        y = y * 2
    while y < 10:
        y = y + 3
    else:
        y = y + 100
    return y


@construct("`for` ... `else` over a tensor", "`else` where no `break` was met")
def else_over_a_tensor(x):
    for value in x:
        if value > 2:
            found = value
            break
    else:
        found = x.sum() - 1
    return found


@construct("`while (n := ...)`", "the test is made at the start of each iteration")
def walrus_in_while(x):
    total = x.sum() * 0
    while (left := 10 - total) > 0:
        total = total + left / 2 + 1
    return total, left


@construct("the iterable changes inside the loop", "the loop runs over what it was given")
def iterable_changes(x):
    items = [1, 2, 3]
    for k in items:
        if k == 1:
            items = [7]
        x = x + k
    if x.sum() > 10:
        x = x + items[0]
    return x


@construct("a list that grows while it is iterated", "as Python: the loop sees the new items")
def list_grows(x):
    items = [1.0]
    for k in items:
        if len(items) < 4:
            items.append(k + 1)
        x = x * k
    if x.sum() > 0:
        x = x - 1
    return x


@construct("a condition that prints", "prints as often as Python asks")
def condition_that_prints(x):
    def below(v):
        print("asked", v.sum())
        return v.sum() < 10

    turns = 0
    while turns < 3 and below(x):
        x = x + 1
        turns = turns + 1
    return x, turns


@construct("a perhaps unbound variable that a loop sets to None", "stays unbound where it was")
def unbound_or_none(x):
    if x.sum() > 10:
        last = x
    turns = x.sum() * 0
    while turns < 1:
        turns = turns + 1
        if x.sum() > 5:
            last = None
    if x.sum() < 0:
        last = None
    return [last, 1]


@construct(
    "`while n < 3 and thing:` of an object that an iteration changes",
    "its `__bool__` sees the iteration",
)
def object_as_condition(x):
    class Thing:
        def __init__(self, value):
            self.value = value

        def __bool__(self):
            return bool(self.value.sum() > 5)

    thing, turns = Thing(x), 0
    while turns < 3 and thing:
        turns = turns + 1
        thing.value = thing.value / 8
    return turns, thing.value


@construct(
    "a list that a loop over it makes longer under a tensor", "a loop by index over the list"
)
def list_grows_under_its_loop(x):
    items = [x]
    for item in items:
        if item.max() > 1:
            items.append(item - 1)
    return len(items)


@construct("a list of what is left, that a `while` takes from and adds to", "a list of the Program")
def list_of_what_is_left(x):
    left, turns = [x], 0
    while left:
        item = left.pop(0)
        if item.max() > 1:
            left.append(item - 1)
        turns += 1
    return turns
