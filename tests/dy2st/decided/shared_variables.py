"""Variables that closures share, `nonlocal` and `global`, under tensor conditions."""

from __future__ import annotations

from tests.dy2st.catalogue.entry import on

alike = on([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [10.0, 20.0, 30.0], [0.0, 0.0, 0.0])
alike_made = on(
    [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [10.0, 20.0, 30.0], [0.0, 0.0, 0.0], makes=True
)


@alike
def a_nested_function_that_assigns_nonlocal_may_be_called_in_one_branch(x):
    c, calls = x * 0, 0

    def bump(by):
        nonlocal c, calls
        c, calls = c + by, calls + 1

    if x.sum() > 0:
        bump(5)
        bump(x)
    else:
        bump(1)
    return c, calls


@alike
def a_condition_inside_the_nested_function_decides_too(x):
    c = 0

    def bump(v):
        nonlocal c
        if v.max() > 5:
            c += 10
        else:
            c -= 1

    if x.sum() > 0:
        bump(x)
    bump(x * 10)
    return c


@alike_made
def a_method_of_a_foreign_function_calls_back():
    def apply(action, v):
        if v.sum() > 0:
            action(v)

    def f(x):
        seen = x

        def note(v):
            nonlocal seen
            seen = v * 2

        apply(note, x)
        return seen

    return f


@alike
def closures_see_the_value_of_the_branch_inside_and_the_joined_one_after(x):
    y = x
    look = lambda: y  # noqa: E731
    before = look()
    if x.sum() > 0:
        y = x * 2
        inside = look()
    else:
        inside = look() - 1
    return before, inside, look(), y


@alike
def closures_see_the_value_of_each_turn(x):
    y, total = x, x * 0
    look = lambda: y  # noqa: E731
    while y.sum() > 1:
        y = y / 2
        total = total + look()
    return look(), total


@alike
def a_list_in_a_shared_variable_is_changed_in_one_branch_only(x):
    items = [x]

    def last():
        return items[-1]

    if x.sum() > 0:
        items[0] = items[0] * 2
        items[0] = last() + 1
    return last(), items


class Meter:
    def __init__(self, x):
        self.__total = x * 0
        self.count = 0

    def run(self, x):
        if x.sum() > 0:
            self.__total = self.__total + x
            self.count += 1
        n = x.sum()
        while n > 3:
            self.__total = self.__total + 1
            n = n - 4
        return self.__total, self.count


@alike
def private_attributes_are_kept_apart_and_carried(x):
    return Meter(x).run(x)


@alike
def classes_of_both_branches_that_know_themselves_stay_inside(x):
    if x.sum() > 0:

        class C:
            def make(self):
                return C, x

        y = C().make()[0]().make()[1]
    else:

        class C:
            def make(self):
                return C, x * 2

        y = C().make()[1]
    return y


@alike
def a_variable_of_a_closure_that_some_paths_bind_may_be_passed_on(x):
    look = lambda: y  # noqa: E731
    if x.sum() > 0:
        y = x + 1
    if x.max() > 5:
        y = x * 3
    if x.sum() > 0:
        return look()
    return x
