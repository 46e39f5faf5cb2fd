"""Comprehensions and generator expressions.

Items of generator expressions, `map`, `zip` and `enumerate` are made when somebody asks for them, in
Python's order. What has an `if`, and a `filter` of tensors, is gathered where several ask for its items,
as by `next` and a `for` behind it, or in `zip`: a tensor may decide how many there are. It is refused
if to make them changes, shows, draws or raises anything, which Python would do later, or never.
`takewhile` of a list or tensor asks its function of all items when it is called.
"""

from __future__ import annotations

import dy2st
from dy2st.errors import UnsupportedSyntax
from tests.dy2st.catalogue.entry import construct


@construct("a list comprehension over Python values", "Python gathers the tensors")
def over_python_values(x):
    return [x * k for k in range(3)], [x + k for k in (1, 2) if k > 1]


@construct("a tensor `if` in the element", "a `cond` an item")
def conditional_element(x):
    return [v * 2 if v.sum() > 0 else v - 1 for v in (x, x + 1, -x)]


@construct("`[... if tensor]`", "a list whose length is known when the Program runs")
def tensor_condition(x):
    return [v * 2 for v in (x, x + 1, -x) if v.sum() > 0]


@construct("several conditions", "each is evaluated only where those before it hold")
def several_conditions(x):
    return [v for v in (x, x + 1, -x) if v.sum() > 0 if v.max() > 2]


@construct("`and`, `or` in a condition", "as everywhere")
def logic_in_a_condition(x):
    return [v for v in x if v > 1 or v < -1 and v > -3]


@construct("over a tensor", "row by row")
def over_a_tensor(x):
    return [v * 2 for v in x], [v + 1 for v in x if v > 0]


@construct("over a list of unknown length", "a loop that appends")
def over_a_list_of_unknown_length(x):
    kept = [v for v in (x, x + 1, -x) if v.sum() > 0]
    return [v * 2 for v in kept], [v for v in kept if v.max() > 3]


@construct("two `for`", "loops in loops, in Python's order")
def nested_for(x):
    return [v * w for v in x for w in (1.0, 2.0)]


@construct("two `for` with tensor conditions", "each where it stands")
def nested_for_with_conditions(x):
    return [v + w for v in x if v > 0 for w in x if w > v]


@construct("a comprehension in a comprehension", "the inner one gives one element of the outer")
def nested_comprehensions(x):
    return [dy2st.stack([v + w for w in x]) for v in x]


@construct("a list of unknown length in a list", "lists of the Program hold tensors")
def sums_of_inner_lists(x):
    return [sum([w * 2 for w in x if w > v], v) for v in x]


@construct("targets that unpack", "as in Python, stars too")
def unpacked_targets(x):
    pairs = [a * b for a, b in zip(x, (1.0, 2.0, 3.0)) if a > 0]
    rests = [first + len(rest) for first, *rest in ((x, 1, 2), (-x, 3)) if first.sum() > 0]
    return pairs, rests


@construct("over zip() and enumerate() of tensors", "pairs of the Program")
def over_pairs(x):
    return [a * b for a, b in zip(x, x + 1) if a > 0], [k * v for k, v in enumerate(x)]


@construct("`len()`, index, truth, `for` of such a list", "work when the Program runs")
def uses_of_the_list(x):
    kept = [v for v in (x, x + 1, -x) if v.max() > 2]
    y = x
    if kept:
        y = kept[0] + kept[-1]
    for v in kept:
        y = y + v
    return y, len(kept)


@construct("`stack(...)` of such a list", "a tensor of unknown length")
def stack_of_the_list(x):
    kept = [v for v in (x, x + 1, 1 - x) if v.max() > 0]
    return dy2st.stack(kept), dy2st.concat(kept)


@construct("`max()`, `min()` of such a list", "Python's ValueError if it is empty")
def extremes_of_the_list(x):
    kept = [v for v in x if v > 0]
    return max(kept), min(kept)


@construct("`any()`, `all()`, `in` with such a list", "a loop each")
def questions_to_the_list(x):
    kept = [v for v in x if v > 0]
    return any([v > 2 for v in kept]), all([v > 1 for v in kept]), 3.0 in kept


@construct("`sum(... for ...)`", "adds in Python's order, under conditions too")
def sum_of_a_generator(x):
    return sum(v * 2 for v in x), sum((v for v in x if v > 1), x.sum())


@construct("`sum(1 for ... if tensor)`", "a number of the Program")
def counting(x):
    return sum(1 for v in x if v > 1), sum(2 for v in x for w in x if v > w)


@construct("`any(... for ...)`, `all(... for ...)`", "a bool of the Program")
def any_and_all(x):
    return any(v > 2 for v in x), all(v > 0 for v in x), any(v < 0 for v in x if v > -2)


@construct("where `any()` is sure before a tensor asks", "later items are not evaluated")
def any_stops(x):
    seen = []

    def look(k):
        seen.append(k)
        return k == 1

    return x, any(look(k) for k in range(4)), all(look(k) for k in range(4)), seen


@construct("`max(... for ...)`, `min(... for ...)`", "of all items that are gathered")
def extremes_of_a_generator(x):
    return max(v * v for v in x), min((v for v in x), key=None)


@construct("`list(... for ...)`", "as the list comprehension")
def list_of_a_generator(x):
    return list(v + 1 for v in x if v > 0)


@construct("sets and dicts over Python keys", "Python's; the values may be tensors")
def sets_and_dicts(x):
    scaled = {f"x{k}": x * k for k in range(3) if k != 1}
    return scaled, sorted({k % 2 for k in range(4)}), [v * 2 for v in scaled.values()]


@construct("`{key: value if tensor else ...}`", "a `cond` a value")
def dict_values(x):
    return {k: (v if v.sum() > 0 else -v) for k, v in {"a": x, "b": -x}.items()}


@construct(
    "`{... if tensor}`",
    "an entry that may be missing",
)
def dict_of_tensor_condition(x):
    return {k: v for k, v in {"a": x, "b": -x}.items() if v.sum() > 0}


@construct("generator expressions consumed by `for`", "one item after the other")
def generator_in_a_for(x):
    y = x
    for v in (w * 2 for w in (x, x + 1)):
        if v.sum() > 0:
            y = y + v
    return y


@construct("`for v in (... if tensor):`", "the body runs where an item is made, in Python's order")
def tensor_condition_in_the_head(x):
    def asked(v):
        print("asked", v)
        return v > 0

    total, last = x.sum() * 0, None
    for v in (w * 2 for w in x if asked(w)):
        print("taken", v)
        total, last = total + v, v
    return total, last


@construct("`break`, `continue`, `return`, `else` of such a `for`", "as of any other")
def jumps_over_a_generator(x):
    total = x.sum() * 0
    for k, v in ((k, v) for v in x if v > 0 for k in range(3) if v > k):
        if v > 25:
            return v, k
        if k == 1:
            continue
        total = total + v
        if total > 20:
            break
    else:
        total = total + 100
    return total, -1


@construct("what such a `for` changes and its generator reads", "attributes, lists and closures")
def generator_sees_the_turns(x):
    class Scale:
        factor = 1.0

    def more():
        nonlocal shift
        shift = shift + 1.0

    scale, shift, taken = Scale(), 0.5, []
    for v in (w * scale.factor + shift for w in x if len(taken) < 2):
        more()
        scale.factor = scale.factor + v
        taken.append(v)
    return scale.factor, shift, len(taken)


@construct(
    "a variable of the loop that its generator reads under a tensor condition",
    "item by item, with its value of then",
)
def generator_reads_a_variable(x):
    factor, total = 1.0, x.sum() * 0
    for v in (w * factor for w in x if w > 0):
        factor = factor + 1.0
        total = total + v
    return total


@construct("a tensor condition in a generator that somebody keeps", "it runs its consumer")
def lazy_generator(x):
    def total(items, start):
        for item in items:
            start = start + item
        return start

    factor = 1.0
    lazily = (v * factor for v in (x, -x, x + 1) if v.sum() > 0)
    factor = 2.0
    again = (w for v in (x, -x) if v.max() > 0 for w in v if w > 1)
    return total(lazily, x), sum(again, 0.5 + x.sum() * 0), list(again)


@construct(
    "such a generator read on after `any()`",
    "how far it has come would be unknown",
    refused=UnsupportedSyntax,
    says="read on later",
)
def kept_generator_read_on(x):
    lazily = (v > 2 for v in x if v != 1)
    return any(lazily), sum(lazily)


@construct(
    "numbers in a list of unknown length",
    "numbers, of unknown number",
)
def numbers_in_a_list(x):
    return [k for k in range(3) if x[k] > 0]


@construct(
    "vectors added up from 0 under conditions",
    "0 or a vector",
)
def sum_of_vectors(x):
    return sum(v for v in (x, x + 1) if v.sum() > 0)


@construct("a list of unknown length `+` another", "a list with the entries of both")
def sum_of_lists(x):
    return [v for v in (x, -x) if v.sum() > 0] + [x]


@construct(
    "a list `+` one of unknown length",
    "a list of unknown length",
)
def sum_behind_a_list(x):
    return [x] + [v for v in (x, -x) if v.sum() > 0]


@construct("`:=` in a comprehension", "binds in the function, as in Python")
def walrus(x):
    parts = [(last := x + k) for k in range(3)]
    return parts, last


@construct(
    "`:=` in a tensor condition",
    "as in a `for` statement",
)
def walrus_in_a_tensor_condition(x):
    return [y for v in (x, -x) if (y := v + 1).sum() > 0]


@construct("functions made by a comprehension", "see the last item, as in Python")
def late_binding(x):
    functions = [lambda: x * k for k in range(3)]
    return [function() for function in functions]


@construct("the names of a comprehension", "are its own")
def own_names(x):
    v = x
    parts = [v for v in (x + 1, x + 2)]
    return v, parts


@construct("in a method", "`self` is seen")
def in_a_method(x):
    class Scaled:
        factor = 2

        def parts(self):
            return [v * self.factor for v in x if v > 0]

    return Scaled().parts()


@construct("an exception in an element", "Python's; a decided one when the Program runs")
def exception_in_an_element(x):
    def root(v):
        if v < 0:
            raise ValueError("no root")
        return dy2st.sqrt(v)

    return [root(v) for v in x]


@construct("comprehensions in a tensor loop and in a branch", "gathered where they stand")
def in_loops_and_branches(x):
    y, n = x, 0
    while n < 3 and y.max() < 50:
        y = y + sum(v for v in y if v > 0)
        n = n + 1
    if y.sum() > 10:
        y = dy2st.stack([v / 2 for v in y])
    return y


@construct("`list(...)` of iterables of unknown length", "a list of the Program")
def list_of_unknown_length(x):
    kept = [v for v in x if v > 0]
    return list(kept), list(reversed(kept)), list(x)


@construct("`enumerate()`, `zip()` over lists of unknown length", "pairs of the Program")
def pairs_of_unknown_length(x):
    y = x
    for k, v in enumerate([v for v in x if v > 0]):
        y = y + k * v
    for v, w in zip([v for v in x if v > 0], [v for v in x if v < 3]):
        y = y + v * w
    return y


@construct("`not` and `bool()` of such a list", "whether it is empty")
def truth_of_the_list(x):
    return not [v for v in x if v > 0], bool([v for v in x if v > 2])


@construct(
    "`sorted(... for ... if tensor)`, `tuple(...)`, `set(...)`",
    "of unknown length",
)
def other_consumers(x):
    return sorted(v for v in x if v > 0)


@construct(
    "`tuple(list)`, `sorted(list)` of a list of unknown length",
    "of unknown length",
)
def tuple_of_the_list(x):
    return tuple([v for v in x if v > 0])


@construct(
    "a list of unknown length unpacked",
    "the rest is a list of unknown length",
)
def unpacked_list(x):
    kept = [v for v in (x, x + 10) if v.max() > 5]
    first, *others = [x, *kept]
    return first + len(others)
