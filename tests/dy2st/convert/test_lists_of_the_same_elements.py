"""Lists that hold the same elements by value: a change through one of them is in no other."""

import collections
import copy
import itertools

import pytest

import dy2st
from dy2st.errors import ConversionError, EscapedVariable
from dy2st.jit import to_static
from dy2st.static import InputSpec

X = [3.0, 1.0, 2.0]
SPECS = [InputSpec([None], "float32", "x")]


class Job:
    def __init__(self, length):
        self.length, self.done = length, 0


# What makes a second list of the same elements.
AGAIN = {
    "sorted": lambda jobs: sorted(jobs, key=lambda job: job.length),
    "a slice": lambda jobs: jobs[0:2],
    "list": list,
    "a sum": lambda jobs: jobs + [],
    "reversed": lambda jobs: list(reversed(jobs)),
    "a comprehension": lambda jobs: [job for job in jobs if job.length > 0.5],
    "copy": lambda jobs: jobs.copy(),
    "copy.copy": copy.copy,
    "filter": lambda jobs: list(filter(lambda job: job.length > 0.5, jobs)),
    "a product": lambda jobs: jobs * 1,
    "deque": collections.deque,
    "a star": lambda jobs: [*jobs],
    "values of a dict": lambda jobs: list(dict(enumerate(jobs)).values()),
    "chain": lambda jobs: list(itertools.chain(jobs)),
    "one that was taken": lambda jobs: [list(jobs).pop()],
}


@pytest.mark.parametrize("again", AGAIN.values(), ids=AGAIN)
def test_a_change_through_one_list_is_seen_in_the_other(again):
    def changed(x):
        jobs = [Job(length) for length in x]
        for job in again(jobs):
            job.done = job.done + 1
        return [job.done for job in jobs]

    x = dy2st.to_tensor(X)
    assert to_static(changed, input_spec=SPECS)(x) == changed(x)


def _in_a_branch(x):
    rows = [[value, 0] for value in x]
    others = sorted(rows, key=lambda row: row[0])
    if x.sum() > 2:
        for row in others:
            row[1] = 5
    return [row[1] for row in rows]


def _by_index_in_a_loop(x):
    rows = [[value, 0] for value in x]
    others = [*rows]
    for place in range(len(x)):
        others[place][1] = place
    return [row[1] for row in rows]


def _appended_to_two(x):
    first, second = [], []
    for value in x:
        row = [value, 0]
        first.append(row)
        second.append(row)
    for row in first:
        row[1] = 7
    return [row[1] for row in second]


def _a_list_inside(x):
    rows = [[[value], 0] for value in x]
    inner = [row[0] for row in rows]
    for one in inner:
        one.append(1.0)
    return [len(row[0]) for row in rows]


def _two_of_them(x):
    jobs = [Job(length) for length in x]
    some = [jobs[0]]
    if x.sum() > 0:
        some.append(jobs[1])
    for job in some:
        job.done = 1
    return [job.done for job in jobs]


def _objects_of_a_group(x):
    jobs, groups = [Job(length) for length in x], {}
    for job in jobs:
        groups.setdefault(int(job.length) % 2, []).append(job)
    for key in groups:
        for job in groups[key]:
            job.done = 1
    return [job.done for job in jobs]


def _the_object_itself(x):
    first = Job(x[0])
    jobs = [first]
    if x.sum() > 0:
        jobs.append(Job(x[1]))
    jobs[0].done = 3
    return first.done


def _in_a_tuple(x):
    rows = [[value, 0] for value in x]
    kept = tuple(rows)
    for row in rows:
        row[1] = 7
    return [row[1] for row in kept]


def _one_row_many_times(x):
    rows = [[0]] * int(x.sum())
    rows[0].append(1)
    return [len(row) for row in rows]


def _one_list_under_all_keys(x):
    held = dict.fromkeys([int(value) for value in x], [])
    held[3].append(1)
    return [len(one) for one in held.values()]


def _one_list_under_two_keys(x):
    row = [0]
    held = {1: row, 2: row}
    held[int(x[0])] = [5]
    held[1].append(1)
    held[2].append(2)
    return held[1], held[2], row


def _rows_twice(x):
    rows = [[value] for value in x]
    rows = rows + rows
    rows[0].append(1)
    return [len(row) for row in rows]


def _some_rows_once_more(x):
    rows = [[value] for value in x]
    rows.extend(rows[:2])
    rows[0].append(1)
    rows[-1].append(2)
    return [len(row) for row in rows]


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("changed", [_objects_of_a_group, _the_object_itself, _two_of_them])
def test_an_object_sees_a_change_of_it_as_an_element(changed, size):
    x = dy2st.to_tensor(X)
    assert to_static(changed, input_spec=[InputSpec([size])])(x) == changed(x)


@pytest.mark.parametrize(
    "changed",
    [
        _in_a_branch,
        _by_index_in_a_loop,
        _appended_to_two,
        _a_list_inside,
        _in_a_tuple,
        _one_row_many_times,
        _rows_twice,
        _one_list_under_all_keys,
        _one_list_under_two_keys,
        _some_rows_once_more,
    ],
)
def test_a_list_sees_a_change_through_another_one(changed):
    x = dy2st.to_tensor(X)
    assert repr(to_static(changed, input_spec=SPECS)(x)) == repr(changed(x))


def _through_itself(x):
    jobs = [Job(length) for length in x]
    for job in jobs:
        job.done = job.done + 1
    for job in jobs:
        if job.length > 1:
            job.done = job.done + 5
    return [job.done for job in jobs]


def _sorted_in_place(x):
    jobs = [Job(length) for length in x]
    jobs.sort(key=lambda job: job.length)
    for place, job in enumerate(jobs):
        job.done = place
    return [job.done for job in jobs]


def _under_the_old_name(x):
    jobs = [Job(length) for length in x]
    jobs = [job for job in jobs if job.length > 1]
    for job in jobs:
        job.done = 7
    return [job.done for job in jobs]


def _taken_and_put_back(x):
    jobs, rounds = [Job(length) for length in x], 0
    while jobs and rounds < 10:
        job = jobs.pop(0)
        job.done = job.done + 1
        rounds += 1
        if job.done < 2:
            jobs.append(job)
    return rounds


def _some_by_their_places(x):
    rows, some = [collections.deque([0]) for _ in x], []
    for place in range(len(rows)):
        if x[place] > 1:
            some.append(rows[place])
    for row in some:
        row.append(1)
    return [list(row) for row in some]


@pytest.mark.parametrize(
    "changed",
    [
        *(_through_itself, _sorted_in_place, _under_the_old_name, _taken_and_put_back),
        _some_by_their_places,
    ],
)
def test_a_list_that_nobody_else_holds_may_change_its_elements(changed):
    x = dy2st.to_tensor(X)
    assert to_static(changed, input_spec=SPECS)(x) == changed(x)


# What puts one row into a list, where a loop does it in each iteration.
ONCE_MORE = {
    "insert": lambda rows, row: rows.insert(0, row),
    "a slice": lambda rows, row: rows.__setitem__(slice(0, 0), [row]),
    "extend": lambda rows, row: rows.extend([row]),
    "in place": lambda rows, row: rows.__iadd__([row]),
    "twice": lambda rows, row: rows.extend([row] * 2),
    "a sum": lambda rows, row: [row] + rows,
    "a star": lambda rows, row: [row, *rows],
    "appendleft": lambda rows, row: rows.appendleft(row),
}


@pytest.mark.parametrize("once_more", ONCE_MORE.values(), ids=ONCE_MORE)
def test_one_row_in_many_places_changes_in_all_of_them(once_more):
    is_deque = once_more is ONCE_MORE["appendleft"]

    def changed(x):
        row, rows = [0.0], collections.deque() if is_deque else []
        for value in x:
            rows = once_more(rows, row) or rows
            rows[0].append(value)
        return [[float(value) for value in row] for row in rows]

    x = dy2st.to_tensor(X)
    assert to_static(changed, input_spec=SPECS)(x) == changed(x)


def _of_a_comprehension(x):
    row = [0]
    rows = [row for _ in x]
    rows[0].append(1)
    return rows


def _in_two_lists(x):
    row, some, others = [0], [[1] for _ in x], [[2] for _ in x]
    some.insert(0, row)
    others.insert(0, row)
    some[0].append(3)
    return some, others


def _before_the_loop(x):
    row = [0]
    rows = [row, row]
    for _ in x:
        rows.append([1])
    rows[0].append(2)
    return rows


def _in_rows(x):
    row, rows = [0], [[[5]]]
    for _ in x:
        rows.append([row, [1]])
    rows[1][0].append(2)
    return rows


def _as_a_default(x):
    row, rows = [0], {}
    for value in x:
        rows.setdefault(int(value), row).append(1)
    return rows


def _drawn_again(x):
    jobs = [Job(length) for length in x]
    drawn = [jobs[int(value) % 2] for value in x]
    for job in drawn:
        job.done += 1
    return [job.done for job in drawn]


def _the_first_in_each_iteration(x):
    rows, drawn = [[0] for _ in x], []
    for _ in x:
        drawn.append(rows[0])
        drawn[-1].append(1)
    return drawn


@pytest.mark.parametrize(
    "changed",
    [
        *(_of_a_comprehension, _in_two_lists, _before_the_loop, _in_rows, _as_a_default),
        *(_drawn_again, _the_first_in_each_iteration),
    ],
)
def test_a_row_that_is_put_twice_changes_in_both_places(changed):
    x = dy2st.to_tensor(X)
    assert to_static(changed, input_spec=SPECS)(x) == changed(x)


# What puts a tensor into a list of several kinds of elements.
PUT = {
    "append": lambda items, x: items.append(x),
    "extend": lambda items, x: items.extend([x]),
    "a slice": lambda items, x: items.__setitem__(slice(0, 1), [x]),
    "a sum": lambda items, x: items + [x],
}


@pytest.mark.parametrize("put", PUT.values(), ids=PUT)
def test_a_tensor_in_a_list_of_several_kinds_is_still_that_tensor_where_it_changes(put):
    def changed(x, items):
        if x.sum() > 0:
            items.append(items[0])
        kept = put(items, x)
        x.add_(x)
        return kept if isinstance(kept, list) else items

    def kept(x, items):
        if x.sum() > 0:
            items.append(items[0])
        made = put(items, x)
        return made if isinstance(made, list) else items

    x = dy2st.to_tensor(X)
    with pytest.raises(EscapedVariable):
        to_static(changed)(x, [dy2st.ones([3]), 1])
    assert any(item is x for item in to_static(kept)(x, [dy2st.ones([3]), 1]))


def test_a_list_in_a_dict_that_may_miss_it_is_refused_where_its_length_is_decided():
    def changed(x):
        held = {key: [key] for key in range(3)}

        def step(value, left_out):
            for key in list(held):
                if key == left_out:
                    del held[key]
                else:
                    held[key].append(value)

        if x[0] > 0:
            step(x[0], 1)
        else:
            step(x[0], 0)
        for value in x:
            if value > 1:
                step(value, 2)
        return held

    with pytest.raises(ConversionError, match="a list is changed in place that is an element"):
        to_static(changed)(dy2st.to_tensor(X))


class Holder:
    def __init__(self, held):
        self.held = held


def rows_of_a_branch(x):
    if x.sum() > 5:
        row = [x[0]]
        rows = [row]
    else:
        row = [x[1]]
        rows = [row, [x[0]]]
    return row, rows


def a_row_by_its_name(x):
    row, rows = rows_of_a_branch(x)
    row.append(x[1])
    return len(rows[0]), len(rows)


def a_row_by_its_place(x):
    row, rows = rows_of_a_branch(x)
    rows[0].append(x[1])
    return len(row), len(rows)


def what_an_object_holds(x):
    row = one = None
    if x.sum() > 5:
        row = [x[0]]
        one = Holder(row)
    if one is not None:
        one.held.append(x[1])
    return 0 if row is None else len(row)


def what_an_object_holds_by_its_name(x):
    row = one = None
    if x.sum() > 5:
        row = [x[0]]
        one = Holder(row)
    if row is not None:
        row.append(x[1])
    return 0 if one is None else len(one.held)


@pytest.mark.parametrize(
    "changed",
    [
        a_row_by_its_name,
        a_row_by_its_place,
        what_an_object_holds,
        what_an_object_holds_by_its_name,
    ],
    ids=lambda one: one.__name__,
)
def test_what_a_branch_has_put_into_something_changes_under_both_names_behind_it(changed):
    static = to_static(changed, input_spec=SPECS)
    for values in (X, [1.0, -2.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == changed(x)


def added_by(row):
    return lambda value: row.append(value)


def length_by(row):
    return lambda: len(row)


def changed_in_a_closure(x):
    row = add = None
    if x.sum() > 5:
        row = [1]
        add = added_by(row)
    if add is not None:
        add(2)
    return 0 if row is None else len(row)


def read_in_a_closure(x):
    row = [1] if x.sum() > 5 else [2, 3]
    if x[0] > 0:
        row = [4]
        length = length_by(row)
    else:
        length = length_by([])
    row.append(2)
    return length()


@pytest.mark.parametrize("changed", [changed_in_a_closure, read_in_a_closure])
def test_a_closure_of_a_branch_that_knows_a_list_that_changes_is_refused(changed):
    with pytest.raises(ConversionError, match="a list is used that a branch or loop"):
        to_static(changed, input_spec=SPECS)(dy2st.to_tensor(X))
