"""Branches: `if`, `elif`, conditional expressions."""

from __future__ import annotations

import contextlib

from tests.dy2st.catalogue.entry import construct


@construct("`if` / `else`", "both branches are in the Program; the tensor decides when it runs")
def if_else(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@construct("`if` without `else`", "where it is not taken, every variable keeps its value")
def if_without_else(x):
    y = x
    if x.sum() > 0:
        y = x * 2
    return y


@construct("`if` / `elif` / `else`", "as nested `if`s; conditions after a true one are not run")
def elif_chain(x):
    if x.sum() > 10:
        y = x + 1
    elif x.sum() > 0:
        y = x + 2
    else:
        y = x + 3
    return y


@construct("`if` in `if`", "a `cond` in a `cond`")
def nested_ifs(x):
    y = x
    if x.sum() > 0:
        z = x * 2
        if z.max() > 20:
            y = z + 1
        else:
            y = z - 1
    return y


@construct("a variable of one branch, read where it is bound", "carried with a hidden flag")
def bound_in_one_branch(x):
    positive = x.sum() > 0
    if positive:
        z = x * 2
    y = x
    if positive:
        y = y + z
    return y


@construct("a variable of one branch, read on any path", "Python's UnboundLocalError at run time")
def unbound_on_some_paths(x):
    if x.sum() > 0:
        z = x * 2
    return z


@construct(
    "a variable of one branch, then a branch that raises", "the error comes where it is read"
)
def unbound_past_a_branch_that_raises(x):
    if x.sum() > 0:
        z = x * 2
    if x.sum() > 10:
        raise ValueError("too large")
    else:
        print("still here")
        if x.sum() == 0:
            z = x
    print("before the read")
    return z


@construct("such a variable assigned, called with or put away unread", "the error comes there")
def unbound_is_checked_where_it_is_read(x):
    def ignore(value):
        print("called")

    if x.sum() > 0:
        z = None if x.sum() > 10 else x
    if x.sum() > -1:
        kept = [z]
        print("kept")
        ignore(z)
        other = z if x.sum() > 6 else x
        print("chosen")
    y = z
    print("assigned")
    return y, kept, other


@construct(
    "such a variable read in a `try` that may catch its error",
    "as in Python, path by path",
)
def unbound_is_caught(x):
    if x.sum() > 0:
        z = x
    try:
        y = z
    except UnboundLocalError:
        y = -x
    return y


@construct("a condition that is a number or tensor, not a bool", "its truth, as Python takes it")
def truth_of_a_number(x):
    if x.sum():
        return x * 2
    return x - 1


@construct("a condition of Python values", "decided while tracing")
def python_condition(x):
    mode = "double"
    if mode == "double":
        y = x * 2
    else:
        y = x.no_such_method()
    return y


@construct("`pass` in a branch", "nothing")
def pass_in_a_branch(x):
    if x.sum() > 0:
        pass
    else:
        x = x + 1
    return x


@construct("several variables in one branch, others in the other", "each is joined")
def different_variables(x):
    a, b, c = x, x * 2, 1
    if x.sum() > 0:
        a, b = b, a
    else:
        b = b + 1
        c = 2
    return a, b, c


@construct("Python numbers in both branches", "a number of the running Program")
def numbers_in_branches(x):
    if x.sum() > 0:
        n = 2
    else:
        n = -3
    return x * n, n + 1


@construct(
    "a number in one branch and a tensor in the other",
    "one of two values, and operators take whichever it is",
)
def number_or_tensor(x):
    if x.sum() > 0:
        n = 2
    else:
        n = x
    return n


@construct("a tuple, list or dict in both branches", "joined entry by entry")
def structures_in_branches(x):
    if x.sum() > 0:
        y = (x, [x + 1, {"a": x * 2}])
    else:
        y = (x * 3, [x - 1, {"a": x}])
    return y


@construct("a class in a branch", "a class of the user's, for that branch")
def class_in_a_branch(x):
    if x.sum() > 0:
        factor = 2

        class Scale:
            by = factor + 1

            def apply(self, v):
                return v * self.by * factor

        y = Scale().apply(x)
    else:
        y = x
    return y


@construct("a function in a branch", "a function of the user's, for that branch")
def function_in_a_branch(x):
    if x.sum() > 0:

        def power(v, n):
            return v if n < 2 else v * power(v, n - 1)

        y = power(x, 3)
    else:
        y = x
    return y


@construct("`with` in a branch", "entered and left while tracing")
def with_in_a_branch(x):
    if x.sum() > 0:
        with contextlib.suppress(KeyError):
            x = x * 2
            if x.max() > 10:
                x = x - 10
    return x


@construct("`if` of ten levels", "up to 300 levels, chains of `elif` and early returns among them")
def deep(x):
    r = 0
    s = x.sum()
    if s > -7:
        if s > -6:
            if s > -5:
                if s > -4:
                    if s > 5:
                        if s > 6:
                            if s > 7:
                                if s > 8:
                                    if s > 9:
                                        if s > 59:
                                            r = 10
                                        else:
                                            r = 9
                                    else:
                                        r = 8
                    else:
                        r = 4
    return r


@construct("the same function called in both branches", "traced in each")
def same_call_in_both(x):
    def step(v, by):
        if v.max() > by:
            return v - by
        return v + by

    if x.sum() > 0:
        y = step(x, 2)
    else:
        y = step(x, -2)
    return step(y, 1)


@construct("a branch that raises", "raised when the Program runs and takes it")
def branch_that_raises(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return x * 2


@construct("a list of a perhaps unbound variable on one path", "checked on that path alone")
def list_of_an_unbound_variable(x):
    if x.sum() > 0:
        z = None
    if x.sum() <= 0:
        return 5
    return [z]


@construct("a list past a branch that Python's own error ends", "is the same list")
def list_past_a_branch_that_fails(x):
    items = [x, x + 1]
    if x.sum() > 0:
        if x.sum() < 10:
            return items
        [][1]
    return len(items)


@construct("a number past a branch that raises", "stays Python's: it can be a count or an index")
def number_past_a_branch_that_raises(x):
    if x.sum() > 20:
        raise ValueError("too large")
    else:
        count = 2
    return [x] * count, [x, -x][count - 1]
