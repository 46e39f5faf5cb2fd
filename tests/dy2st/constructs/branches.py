"""Branches: `if`, `elif`, conditional expressions."""

from __future__ import annotations

from tests.dy2st.constructs.catalogue import construct


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
