"""Names: `nonlocal`, `global`, closures, `del`, private names, scopes."""

from __future__ import annotations

import os
import sys
from types import ModuleType

import dy2st
from dy2st.errors import ConversionError
from tests.dy2st.catalogue.entry import construct

SCALE = 3.0
total = 0
latest = None
settings = ModuleType("settings")


@construct("`nonlocal` in a nested function, called in a branch", "the update is of that branch")
def nonlocal_called_in_a_branch(x):
    c = x * 0

    def bump():
        nonlocal c
        c = c + 5

    if x.sum() > 0:
        bump()
    return c


@construct(
    "`nonlocal` under a tensor condition", "joined, and seen by every function that shares it"
)
def nonlocal_under_a_condition(x):
    count, best = 0, x

    def look(v):
        nonlocal count, best
        if v.sum() > best.sum():
            best = v
            count += 1

    look(x * 2)
    look(x - 1)
    look(x + 1)
    return count, best


@construct("`nonlocal` in a loop over a tensor's value", "carried from iteration to iteration")
def nonlocal_in_a_loop(x):
    c, n = x * 0, x.sum()

    def bump():
        nonlocal c
        c = c + n

    while n > 2:
        bump()
        n = n - 3
    return c, n


@construct("`nonlocal` two functions deep", "the variable of the outermost one")
def nonlocal_two_deep(x):
    c = 0

    def middle():
        def inner():
            nonlocal c
            if x.sum() > 0:
                c = c + 1
            else:
                c = c - 1

        inner()
        inner()

    middle()
    return c


@construct("a nested function handed to another function", "may assign its `nonlocal` there")
def nonlocal_through_a_callback(x):
    def each(action):
        for k in range(3):
            if x.sum() > k:
                action(x + k)

    seen = x * 0

    def note(v):
        nonlocal seen
        seen = seen + v

    each(note)
    return seen


@construct(
    "`global` under a tensor condition", "joined; the module is written when the Program runs"
)
def global_under_a_condition(x):
    global latest
    latest = x
    if x.sum() > 0:
        latest = x * 2
    return latest + 1


@construct("`global` in a branch, in a function that is called", "as if written in place")
def global_in_a_called_function(x):
    global total
    total = 0

    def add(n):
        global total
        total = total + n

    if x.sum() > 0:
        add(10)
    add(1)
    return total


@construct("`global` in a loop", "carried from iteration to iteration")
def global_in_a_loop(x):
    global latest
    latest = x
    while latest.sum() > 1:
        latest = latest / 2
    return latest


@construct(
    "`global` of something that is no tensor",
    "it is set at each call",
)
def global_of_an_object(x):
    global latest
    latest = object()
    return x


@construct("a global that only some paths bind", "a NameError where it is unbound when it is read")
def global_bound_on_some_paths(x):
    global latest
    latest = 1
    del latest
    if x.sum() > 0:
        latest = x * 2
    return latest + 1


@construct("`module.name = value` under a tensor condition", "as with `global`")
def variable_of_a_module(x):
    settings.scale = 1
    if x.sum() > 0:
        settings.scale = 2
        settings.latest = x + 1
    else:
        settings.latest = x * settings.scale
    return x * settings.scale, settings.latest


@construct("the same in a called function, by `setattr`, after a local import", "as with `global`")
def variable_of_a_module_set_in_other_ways(x):
    import tests.dy2st.constructs.names as own

    def note(value):
        settings.scale = value

    own.latest = x
    note(1)
    if x.sum() > 0:
        note(2)
        setattr(own, "latest", x * 3)
    own.latest = own.latest + 1
    return x * settings.scale, own.latest


@construct("`module.name += 1` in a loop on a tensor", "carried from iteration to iteration")
def variable_of_a_module_in_a_loop(x):
    settings.scale = 0
    total = x.sum()
    while total > 1:
        settings.scale += 1
        total = total / 2
    return settings.scale


@construct(
    "`getattr` and `hasattr` of a module's variable that only some paths set", "as in Python"
)
def variable_of_a_module_that_may_be_missing(x):
    if hasattr(settings, "extra"):
        del settings.extra
    if x.sum() > 0:
        settings.extra = x * 5
    found = getattr(settings, "extra", x)
    is_set = hasattr(settings, "extra")
    settings.extra = None
    return found, bool(is_set)


@construct('`globals()["name"] = value` under a tensor condition', "as with `global`")
def entry_of_globals(x):
    global latest
    latest = x
    if x.sum() > 0:
        globals()["latest"] = x * 2
    return latest


@construct(
    "an environment variable that is set under a tensor condition",
    "the Program sets none",
    refused=ConversionError,
    says="an environment variable is set",
)
def environment_in_a_branch(x):
    if x.sum() > 0:
        os.environ["DY2ST_OF_THIS_TEST"] = "1"
    return x


@construct("read a global", "its value is part of the Program; another value makes another Program")
def global_read(x):
    if x.sum() > 0:
        return x * SCALE
    return x


@construct("late binding", "a closure sees the value that the variable has when it is called")
def late_binding(x):
    y = x
    look = lambda: y  # noqa: E731
    before = look()
    if x.sum() > 0:
        y = x * 2
        inside = look()
    else:
        inside = look() - 1
    return before, inside, look()


@construct("closures made in a loop", "all see the last value")
def closures_in_a_loop(x):
    functions = []
    for i in range(3):
        functions.append(lambda: x * i)  # noqa: B023
    return [f() for f in functions]


@construct("a default that takes the loop variable", "has the value of its iteration")
def default_takes_the_loop_variable(x):
    functions = []
    for i in range(3):
        functions.append(lambda i=i: x + i)
    return [f() for f in functions]


@construct("a closure called each iteration", "sees the value of the iteration")
def closure_called_each_turn(x):
    y, total_ = x, x * 0
    look = lambda: y  # noqa: E731
    while y.sum() > 1:
        y = y / 2
        total_ = total_ + look()
    return total_, look()


@construct("a variable of a closure, bound in both branches only", "joined")
def closure_over_branches(x):
    def look():
        return y

    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return look()


@construct("`del` in a branch", "later reads raise where the branch was taken")
def del_in_a_branch(x):
    y = x * 2
    z = x
    if x.sum() > 0:
        z = y + 1
        del y
    return z, y


@construct("`del` in a branch, bound anew after it", "the new value")
def del_and_bind_anew(x):
    y = x * 2
    if x.sum() > 0:
        z = y
        del y
    else:
        z = y + 1
    y = z * 2
    return y


@construct(
    "`del` of a variable that a closure uses", "unbound for the closure too, until bound anew"
)
def del_of_a_shared_variable(x):
    y = x * 2
    look = lambda: y  # noqa: E731
    z = look()
    if x.sum() > 0:
        z = z + y
        del y
    y = x
    return z, look()


@construct("`del` of a list's or dict's item", "in place, in Python")
def del_of_items(x):
    items, table = [x, x * 2, x * 3], {"a": x, "b": x + 1}
    del items[1], table["a"]
    return items, table


@construct("`except ... as e` in a branch", "`e` is unbound after it, as in Python")
def exception_name_in_a_branch(x):
    r = 0
    if x.sum() > 0:
        try:
            raise KeyError("missing")
        except KeyError as e:
            r = len(str(e))
    return r


@construct("the name of an exception, used before it too", "one variable, as in Python")
def exception_name_used_before(x):
    e = x
    if x.sum() > 0:
        e = x + 1
    try:
        e = e * len({}["none"])
    except KeyError as error:
        e = e - len(error.args)
    return e


class Meter:
    """Private names."""

    def __init__(self, x):
        self.__total = x * 0

    def run(self, x):
        """Assign a private attribute in a branch."""
        if x.sum() > 0:
            self.__total = self.__total + x
        return self.__total


@construct("private names (`self.__total`)", "mangled as in Python")
def private_names(x):
    return Meter(x).run(x)


@construct("`import` in a function", "a variable like any other")
def local_import(x):
    if x.sum() > 0:
        import math

        y = x * math.floor(2.5)
    else:
        from math import ceil

        y = x * ceil(2.5)
    return y


@construct("annotations of variables", "not evaluated for local variables, as in Python")
def annotated_variables(x):
    y: no_such_name  # noqa: F821
    if x.sum() > 0:
        y: dy2st.Tensor = x * 2
    else:
        y = x
    z: int = 3
    return y + z


@construct("`locals()`", "the variables of the user, no more")
def locals_of_a_function(x):
    def inner(a):
        b = a + 1
        return sorted(locals()), b

    names, y = inner(x)
    if x.sum() > 0:
        y = y * 2
    return names, y


@construct("`eval` and `exec` of text", "run by Python on the user's variables")
def eval_and_exec(x):
    def inner(a):
        space = {"a": a}
        exec("b = a * 2", space)
        return eval("b + 1", space)

    y = inner(x)
    if x.sum() > 0:
        y = y * 2
    return y


@construct(
    "a condition in a function that calls `locals()`",
    "such a function is called as it is: `locals()` would show the rewrite",
    refused=ConversionError,
    says="locals()",
)
def condition_beside_locals(x):
    names = len(locals())
    if x.sum() > 0:
        return x * names
    return x


@construct("names of functions, classes and variables alike", "each in its own scope")
def alike_names(x):
    def x_(x):
        class x_:
            x = 2

        return x * x_.x

    if x.sum() > 0:
        x = x_(x)
    return x


@construct("`sys._getframe().f_code.co_name`", "the user's function")
def frame_name(x):
    def name():
        return sys._getframe().f_code.co_name

    y = x
    if x.sum() > 0:
        y = x + 1
    return name(), y


@construct(
    "`del` on every path of a perhaps unbound variable", "Python's error where it is unbound"
)
def deleted_on_every_path(x):
    if x.sum() > 0:
        y = x
    if x.sum() > 10:
        del y
    else:
        x = x + 1
        del y
    print("deleted")
    return y
