"""Lists, dicts, sets and objects, changed where a tensor decides."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import dy2st
from dy2st.errors import ConversionError
from tests.dy2st.catalogue.entry import construct


@construct("`list.append` in one branch", "the length is known when the Program runs")
def append_in_one_branch(x):
    parts = [x]
    if x.sum() > 0:
        parts.append(x + 1)
    if x.sum() > 10:
        parts.append(x + 2)
    return parts, len(parts)


@construct("`append` in both branches", "each branch has its own effects only")
def append_in_both_branches(x):
    left, right = [1], [2]
    if x.sum() > 0:
        left.append(x)
    else:
        right.append(x)
    return left, right


@construct("`extend`, `insert`", "as Python does them, in the branch that is taken")
def extend_and_insert(x):
    parts = [x]
    if x.sum() > 0:
        parts.extend([x + 1, x + 2])
    else:
        parts.insert(0, x - 1)
    return parts


@construct("`pop`, `reverse`", "the item and the rest of the list")
def pop_and_reverse(x):
    parts = [x, x + 1, x + 2]
    if x.sum() > 0:
        item = parts.pop(0)
    else:
        item = x
        parts.reverse()
    return parts, item


@construct("`remove`, `clear`, `sort`", "lists of Python values too")
def remove_clear_sort(x):
    numbers = [3, 1, 2]
    if x.sum() > 10:
        numbers.clear()
    elif x.sum() > 0:
        numbers.remove(1)
    else:
        numbers.sort()
    return numbers


@construct("`+=` of a list", "changes the list itself")
def list_plus_equals(x):
    parts = [x]
    if x.sum() > 0:
        parts += [x + 1]
    return parts


@construct("`del items[i]`, `del items[a:b]`", "the list of the branch that is taken")
def delete_items(x):
    parts = [x, x + 1, x + 2]
    if x.sum() > 0:
        del parts[1]
    if x.sum() > 10:
        del parts[:1]
    return parts


@construct("`items[a:b] = values`", "slices may change the length")
def assign_slice(x):
    parts = [x, x + 1, x + 2]
    if x.sum() > 0:
        parts[0:2] = [x * 10]
    return parts


@construct("`items[i] = value`", "in place, for all names of the list")
def set_item_under_two_names(x):
    parts = [x, x]
    other = parts
    if x.sum() > 0:
        parts[0] = x + 1
        other[1] = other[0] * 2
    return parts, other, parts is other


@construct("`for` over a list of unknown length", "the loop runs over whichever list it is")
def iterate_over_choice(x):
    parts = [x]
    if x.sum() > 0:
        parts.append(x * 2)
    total = x * 0
    for part in parts:
        total = total + part
    return total


@construct("`items[i]` where there may be none", "IndexError when the Program runs")
def index_a_choice(x):
    parts = []
    if x.sum() > 0:
        parts.append(x)
    return parts[0] + 1


@construct("`if items:`", "asks for the length when the Program runs")
def truth_of_choice(x):
    parts = []
    if x.sum() > 0:
        parts.append(x)
    if parts:
        return parts[0]
    return x - 1


@construct("`in` a list of tensors and numbers", "compared when the Program runs")
def membership(x):
    first = int(x[0])
    return first in [1, 5], 2.0 in x, first not in (10, 11)


@construct("`dict` entries of one branch", "the keys are known when the Program runs")
def keys_of_one_branch(x):
    table = {"a": x}
    if x.sum() > 0:
        table["b"] = x + 1
    if "b" in table:
        x = table["b"] * 2
    return table, x, table.get("b"), len(table)


@construct("`update`, `setdefault`, `pop`, `del` of a dict", "each in its branch")
def dict_methods(x):
    table = {"a": x}
    if x.sum() > 0:
        table.update(b=x + 1)
        table["c"] = 3
    else:
        table.setdefault("z", x)
    if x.sum() > 10:
        table.pop("a")
    if x.sum() == 0:
        del table["a"]
    return table


@construct("a missing key", "KeyError when the Program runs")
def missing_key(x):
    table = {}
    if x.sum() > 0:
        table["a"] = x
    return table["a"]


@construct("`for key, value in table.items()`", "over whichever dict it is, in its order")
def iterate_over_items(x):
    table = {"a": x}
    if x.sum() > 0:
        table["b"] = x + 1
    total = x * 0
    for key, value in table.items():
        total = total + value * len(key)
    return total


@construct("`set.add` in one branch", "a set of Python values")
def set_add(x):
    seen = {1}
    if x.sum() > 0:
        seen.add(2)
    return len(seen), 2 in seen


@construct(
    "a loop over a set of ints that the data decides",
    "in Python's order, if it has only grown, or was a range and has only lost elements",
)
def loop_over_a_set_of_ints(x):
    found = []
    for number in {int(v * 9) for v in x}:
        found.append(number)
    return found


@construct("a list in a dict", "changed inside of what holds it")
def nested_list(x):
    table = {"k": [x], "n": (x, [1])}
    if x.sum() > 0:
        table["k"].append(x + 1)
        table["n"][1][0] = 5
    return table


@construct("`append` in a tensor loop", "a list of the Program: tensors of one dtype and rank")
def append_in_loop(x):
    parts = []
    i = 0
    while i < x.sum() and i < 4:
        parts.append(x + i)
        i += 1
    return parts, len(parts), isinstance(parts, list)


@construct("`append` on some iterations", "the list is as long as Python's")
def append_on_some_turns(x):
    parts = [x]
    for value in x.astype("int64"):
        if value > 1:
            parts.append(x + value)
    return len(parts), parts


@construct("`+=`, `extend`, `pop` in a tensor loop", "as on Python's list")
def change_in_loop(x):
    parts = []
    i = 0
    while i < x.sum() and i < 4:
        parts.extend([x, x + i])
        parts += [x * 2]
        if i == 2:
            parts.pop(0)
        i += 1
    return parts


@construct("`items[i] = value` in a tensor loop", "in place, for all names of the list")
def set_item_in_loop(x):
    parts = [x, x]
    other = parts
    i = 0
    while i < x.sum() and i < 3:
        parts[0] = parts[0] + 1
        i += 1
    return parts, other, parts is other


@construct("`items = [...]` in a tensor loop", "another list: other names keep the first")
def rebind_in_loop(x):
    parts = [x]
    first = parts
    i = 0
    while i < x.sum() and i < 3:
        parts = [parts[0] + 1]
        i += 1
    return parts, first


@construct("a nested list in a tensor loop", "in place, wherever it is held")
def nested_in_loop(x):
    table = {"k": [x], "t": (x, 1)}
    inner = table["k"]
    i = 0
    while i < x.sum() and i < 3:
        table["k"][0] = table["k"][0] * 2
        i += 1
    return table, inner


@construct(
    "`x = concat([x, y])` in a tensor loop", "a size that changes from iteration to iteration"
)
def growing_tensor(x):
    grown = x
    i = 0
    while i < x.sum() and i < 3:
        grown = dy2st.concat([grown, x])
        i += 1
    return grown


@construct("`x[i] = v`, `x += v` on a tensor in a branch", "the branch's tensor is another one")
def tensor_changed_in_branch(x):
    y = x * 1
    if x.sum() > 0:
        y[0] = 7
        y += 1
    return y


class Counter:
    """An object with a number and a list."""

    def __init__(self):
        self.n = 0
        self.items = []
        self.best = None

    def count(self, x):
        self.n += 1
        return x + self.n

    def keep(self, x):
        self.items.append(x)


@construct("`obj.attribute = value` in a branch", "an attribute is joined like a variable")
def attribute_in_branch(x):
    counter = Counter()
    if x.sum() > 0:
        counter.n = 1
        counter.best = x
    if counter.best is not None:
        x = x + counter.best
    return x, counter.n


@construct("a method that changes its object", "its effects stay in the branch that calls it")
def method_in_branch(x):
    counter = Counter()
    if x.sum() > 0:
        x = counter.count(x)
    x = counter.count(x)
    return x, counter.n


@construct("a list in an attribute", "appended to in one branch")
def list_attribute(x):
    counter = Counter()
    if x.sum() > 0:
        counter.keep(x)
        counter.items.append(x + 1)
    return counter.items, len(counter.items)


@construct("attributes in a tensor loop", "carried from iteration to iteration")
def attribute_in_loop(x):
    counter = Counter()
    while x.sum() < 20 and counter.n < 5:
        x = counter.count(x)
    return x, counter.n


@construct("`obj.best = None`, then a tensor in a loop", "which it is, is carried too")
def optional_attribute_in_loop(x):
    counter = Counter()
    for value in x.astype("int64"):
        if value > 1:
            counter.best = value
    return counter.best


@dataclass
class Point:
    """A dataclass."""

    a: object
    b: list = field(default_factory=list)


@construct("objects in a list", "each has its own attributes")
def objects_in_list(x):
    points = [Point(x), Point(x)]
    if x.sum() > 0:
        points[0].a = x + 1
    while points[1].a.sum() < 30:
        points[1].a = points[1].a + 5
    return points[0].a, points[1].a


@construct(
    "a list of unknown length under another name",
    "one list, under both names",
)
def stale_name(x):
    parts = [x]
    other = parts
    if x.sum() > 0:
        parts.append(x + 1)
    return parts, len(other)


def _keep(parts, x):
    parts.append(x)


@construct(
    "a function that appends to its argument, in a branch",
    "one list, wherever it is changed",
)
def append_by_helper(x):
    parts = []
    if x.sum() > 0:
        _keep(parts, x)
    return parts


@construct("`next(iterator)` in a branch", "the Program carries how far it has come")
def next_in_branch(x):
    numbers = iter([1, 2, 3])
    if x.sum() > 0:
        next(numbers)
    return next(numbers)


@construct(
    "`table[key]` where a tensor decides on the key",
    "the entry of each key",
)
def key_by_branch(x):
    key = "a" if x.sum() > 0 else "b"
    return {"a": 1, "b": 2}[key]


@construct("`stack`, `concat` of a list of unknown length", "as long as Python's")
def stack_choice(x):
    parts = [x]
    if x.sum() > 0:
        parts.append(x + 1)
    return dy2st.stack(parts), dy2st.concat(parts)


class Slotted:
    """An object without a `__dict__`."""

    __slots__ = ("n",)
    made = 0

    def __init__(self):
        self.n = 0


@construct("`__slots__` and class attributes in a branch", "joined like all others")
def slots_and_class_attributes(x):
    class Local(Slotted):
        __slots__ = ()

    thing = Local()
    if x.sum() > 0:
        thing.n = 1
        Local.made += 1
    return thing.n, Local.made, Slotted.made


@construct(
    "an attribute of a class outside of the function",
    "set where the branch is taken",
    inputs=([1.0, 2.0, 3.0],),
)
def attribute_of_an_outer_class(x):
    if x.sum() > 0:
        Slotted.made += 1
    return x * (Slotted.made > 0)


@construct("a list in a closure", "appended to by the function that has it")
def list_in_closure(x):
    parts = []

    def keep(value):
        parts.append(value)

    if x.sum() > 0:
        keep(x)
    return len(parts), parts


@construct(
    "a list with two names in a loop on a tensor",
    "one list, under both names",
)
def two_names_in_a_loop(x):
    parts = same = [x]
    turn = 0
    while turn < x.sum() and turn < 3:
        parts[0] = parts[0] + same[0]
        turn = turn + 1
    return parts, same


@construct(
    "an array of NumPy that a branch changes",
    "a Program changes no arrays of Python",
    refused=ConversionError,
    says="the ndarray in a variable is changed",
)
def changed_array(x):
    counts = np.zeros(3)
    if x.sum() > 0:
        counts[0] += 1
    return x * float(counts[0])


@construct("`sum` over a list of unknown length", "of whichever items there are")
def sum_of_unknown_length(x):
    parts = [x]
    if x.sum() > 0:
        parts.append(x)
    return [part * 2 for part in parts], sum(part.sum() for part in parts)


@construct("`stack` of a list of one of many lengths", "of whichever items there are")
def stacked_list_of_some_length(x):
    items = []
    for _ in range(4):
        items.append(x.max())
        if x.max() > 4:
            break
    else:
        items.append(x.min())
    return dy2st.stack(items), len(items)


class Bag:
    """What it holds is asked of tensors."""

    def __init__(self, items):
        self.items = items

    def __contains__(self, value):
        for item in self.items:
            if (item == value).all():
                return True
        return False


@construct("`tensor in object`", "its `__contains__` is asked")
def tensor_in_an_object(x):
    bag = Bag([x, x + 1])
    return x in bag, x + 5 in bag, x + 5 not in bag


@construct(
    "a slice of a list of unknown length",
    "a list of unknown length",
)
def slice_of_a_growing_list(x):
    items, value = [x], x
    while value.sum() > 0 and len(items) < 3:
        value = value - 5
        items.append(value)
    return items[:2]


@construct("`|=`, `*=` of one of two sets, dicts or lists", "in place, for all names")
def changed_by_operators_in_place(x):
    names = {1, 2} if x.sum() > 0 else {3}
    entries = {"a": 1} if x.sum() > 0 else {"b": 1}
    items = [1] if x.sum() > 0 else [2, 3]
    same_names, same_entries, same_items = names, entries, items
    same_names |= {9}
    same_entries |= {"z": x}
    same_items *= 2
    return sorted(names), entries, items, sorted(same_names), same_entries, same_items


@construct(
    "a list inside of a dict of unknown keys is changed in place",
    "it is one list in each case",
)
def change_inside_of_a_choice(x):
    entries = {"m": []}
    if x.sum() > 0:
        entries["x"] = 1
    entries["m"].append(5)
    return entries


@construct("an entry of a dict of unknown keys is set anew", "in whichever dict it is")
def entry_of_a_choice_set_anew(x):
    entries = {"m": [1]}
    if x.sum() > 0:
        entries["x"] = 1
    entries["m"] = [*entries["m"], 5]
    return entries


@construct(
    "a list that some paths put into another one is changed later",
    "one list, in both places",
)
def change_of_a_list_put_into_another(x):
    inner, outer = [0], []
    if x.sum() > 0:
        outer.append(inner)
    inner.append(5)
    return outer, inner


@construct(
    "two rows of a list change places, as a tensor says, and change later",
    "names of lists are places in a table of the Program",
)
def rows_that_change_places(x):
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    place = 2 if x.sum() > 0 else 1
    for other in range(3):
        if x.sum() > rows[other][0]:
            place = other
    rows[0], rows[place] = rows[place], rows[0]
    for row in rows[1:]:
        row[1] -= rows[0][1]
    return rows, rows[0] is rows[place]


@construct(
    "the best list so far is the one that goes on, or an older one",
    "both names see what is appended to either",
)
def best_list_so_far(x):
    best = run = [0.0]
    left = x.sum() + 3
    while left > 0:
        if left < 2:
            run = [1.0]
        run.append(2.0)
        if len(run) > len(best):
            best = run
        left = left - 1
    run.append(3.0)
    return best, run, best is run


@construct("a dict that holds dicts, as a trie", "tables of the Program, as deep as the data lead")
def trie_of_dicts(x):
    root = {}
    for word in ((1, 2), (1, 3), (1, 2, 4)):
        node = root
        for letter in word:
            letter = letter if x.sum() > 0 else letter % 2
            if letter not in node:
                node[letter] = {}
            node = node[letter]
    return root
