"""Jumps: `break`, `continue` and `return`, out of whatever they stand in."""

from __future__ import annotations

import contextlib

import dy2st
from tests.dy2st.catalogue.entry import construct

ROWS = ([1.0, 0.0], [-2.0, 3.0], [4.0, -5.0])


@contextlib.contextmanager
def doubled(box):
    """Changes a list on entry and exit."""
    box.append("in")
    yield 2
    box.append("out")


@construct("`return` in `if`", "the rest of the function becomes the other branch")
def return_in_if(x):
    if x.sum() > 0:
        return x * 2
    y = x - 1
    return y * 3


@construct("`return` in each branch", "one `cond`; each branch gives its value")
def return_in_each_branch(x):
    if x.sum() > 10:
        return x
    elif x.sum() > 0:
        return x + 1
    else:
        return -x


@construct("a chain of guarded `return`s", "`cond` in `cond`, in the order of the text")
def chain_of_returns(x):
    if x.sum() > 10:
        return x + 1
    if x.sum() > 0:
        return x + 2
    if x.sum() < 0:
        return x + 3
    return x + 4


@construct(
    "`return` on some paths of a nested `if`", "a hidden flag tells that the result is there"
)
def return_on_some_paths(x):
    y = x + 1
    if x.sum() > 0:
        y = y * 2
        if x.max() > 20:
            return y - 100
        y = y + 5
    return y


@construct("`return` of several values", "each is joined by itself")
def return_of_a_tuple(x):
    if x.sum() > 0:
        return x, x.sum() * 2
    return x * 3, x.max()


@construct("`break` in `while`", "the flag becomes part of the loop's condition")
def break_in_while(x):
    n = 0
    while x.sum() < 100:
        x = abs(x) * 2 + 1
        if x.max() > 62:
            break
        n = n + 1
    return x, n


@construct("`continue` in `while`", "the rest of the iteration is under the flag")
def continue_in_while(x):
    total = x.sum() * 0
    n = x.sum() * 0
    while n < 6:
        n = n + 1
        if x.sum() + n > 3:
            continue
        total = total + n
    return total


@construct("`while True` left by a tensor", "a loop that ends when the flag is up")
def while_true(x):
    n = 0
    while True:
        if x.sum() > 40 or n > 5:
            break
        x = x + 2
        n = n + 1
    return x


@construct("`break` in `for` over a list", "each iteration stands in the Program, under the flag")
def break_over_a_list(x):
    y = x
    for weight in [1.0, 2.0, 3.0, 4.0]:
        y = y * weight
        if y.sum() > 20:
            break
    return y


@construct("`continue` in `for` over `range`", "the rest of the iteration is under the flag")
def continue_over_a_range(x):
    y = x
    for k in range(4):
        if y.sum() > 10 * k:
            continue
        y = y + k
    return y


@construct("`break` in `for` over a tensor", "a loop of the Program that ends early")
def break_over_a_tensor(x):
    total = x.sum() * 0
    for value in x:
        if value > 15:
            break
        total = total + value
    return total


@construct("`break` in `for` over `range(tensor)`", "a loop of the Program that ends early")
def break_over_a_range_of_a_tensor(x):
    total = x.sum() * 0
    for k in range(int(x.max())):
        if total > 20:
            break
        total = total + k
    return total


@construct("`break` and `continue` over `enumerate`, `zip`, `.items()`", "as over a list")
def jumps_over_several_iterables(x):
    y = x
    for k, w in enumerate([1.0, 2.0, 3.0]):
        if y.sum() > 20 + k:
            continue
        y = y * w
    for a, b in zip([1, 2, 3], (x, x + 1, x + 2), strict=True):
        if y.sum() > 50:
            break
        y = y + a * b
    for name, w in {"one": 1.0, "two": 2.0}.items():
        if y.max() < len(name):
            break
        y = y - w
    return y


@construct("jumps of nested loops", "each loop has its own flags")
def jumps_of_nested_loops(x):
    count = 0
    for k in range(3):
        if x.sum() < -k:
            continue
        for j in range(3):
            if x.max() > 10 * j + k:
                continue
            if j > 1:
                break
            count = count + 1
        if x.sum() > 50:
            break
        count = count + 10
    return count


@construct("`return` in a loop over a list", "the flag ends the loop and skips what follows")
def return_in_a_python_loop(x):
    for k in range(4):
        if x.sum() < 5 * k:
            return x * k
    return x - 1


@construct("`return` in `while`", "the loop of the Program ends, its value is the result")
def return_in_while(x):
    n = x.sum() * 0
    while n < 5:
        n = n + 1
        if x.sum() > 5 * n:
            return x * n
    return x - n


@construct("`return` in a loop over a tensor", "the loop of the Program ends early")
def return_in_a_loop_over_a_tensor(x):
    for value in x:
        if value > 2:
            return value * 10
    return x.sum() - 1


@construct("`return` out of nested loops", "ends them all")
def return_out_of_nested_loops(x):
    n = x.sum() * 0
    while n < 3:
        for k in range(3):
            if x.sum() > 3 * k + n * 10:
                return x * k + n
        n = n + 1
    return x


@construct("`for` ... `else` with a tensor's `break`", "`else` runs under the flag")
def for_else(x):
    for k in range(3):
        if x.sum() < k - 1:
            y = x * 2
            break
    else:
        y = x + 100
    return y


@construct("`while` ... `else` with a tensor's `break`", "`else` runs under the flag")
def while_else(x):
    n = x.sum() * 0
    while n < 3:
        n = n + 1
        if x.sum() == 6 * n:
            break
    else:
        n = n + 100
    return n


@construct("a jump in `else` of a loop", "belongs to the loop around it")
def jump_in_loop_else(x):
    y = x
    for k in range(3):
        for j in range(2):
            if y.sum() > 10 + j:
                break
        else:
            if y.sum() < 0:
                break
            y = y * 3
            continue
        y = y + k
    return y


@construct("`return` in `else` of a loop", "only where no `break` was met")
def return_in_loop_else(x):
    for value in x:
        if value > 5:
            break
    else:
        return x * 2
    return x * 3


@construct("`return` in `with`", "the value is made inside; `__exit__` runs as Python's")
def return_in_with(x):
    with dy2st.no_grad():
        if x.sum() > 0:
            return x * 2
        y = x + 1
    return y * 3


@construct("`break` and `continue` in `with`", "out of the context, in or out of a tensor's branch")
def jumps_in_with(x):
    box = []
    y = x
    for k in range(3):
        with doubled(box) as two:
            if y.sum() > 20:
                break
            if y.sum() < 0:
                continue
            y = y * two
        y = y + k
    return y


@construct("`return` in `try` and `except`", "the rest of the body is the other branch")
def return_in_try(x):
    try:
        if x.sum() > 0:
            return x * 2
        y = x + int("3")
    except ValueError:
        return x * 100
    return y


@construct("`return` in `except`", "where Python raises while the Program is made")
def return_in_except(x):
    try:
        n = int("zz")
    except ValueError:
        if x.sum() > 0:
            return x * 2
        n = 1
    return x + n


@construct(
    "`return` in the body, `else` and `finally`",
    "`else` is skipped, `finally` runs after",
    unknown=[[None]],
)
def return_in_try_else(x):
    y = x
    try:
        if x.sum() > 10:
            return y + 1
    except ValueError:
        return y
    else:
        y = y * 2
        if x.sum() > 0:
            return y
    finally:
        y = y + 1000
    return y


@construct(
    "the value of `return` in `try` ... `finally`", "made before `finally` changes variables"
)
def value_before_finally(x):
    y = x + 1
    try:
        if x.sum() > 0:
            return y
    finally:
        y = y * 0
    return y - 7


@construct("`break` and `continue` in `try`", "`finally` runs in every iteration")
def jumps_in_try(x):
    y, n = x, 0
    for k in range(4):
        try:
            if y.sum() > 20:
                break
            if y.sum() < 0:
                continue
            y = y + k
        finally:
            n = n + 1
        y = y * 2
    return y, n


@construct("`break` in `except`, `continue` in `else`", "as flags")
def jumps_in_except_and_else(x):
    y = x
    for text in ["1", "2", "z", "4"]:
        try:
            n = int(text)
        except ValueError:
            if y.sum() > 5:
                break
            n = 3
        else:
            if y.sum() < 0:
                continue
        y = y + n
    return y


@construct("`return` in `finally`", "overrides the `return` before it")
def return_in_finally(x):
    try:
        if x.sum() > 0:
            return x * 2
    finally:
        if x.sum() > 10:
            return x * 3
    return x - 1


@construct("`break` in `finally`", "overrides a `return` on its way")
def break_in_finally(x):
    y = x
    for k in range(3):
        try:
            if x.sum() > 10:
                return y * 100
            y = y + k
        finally:
            if x.sum() > 0:
                break
    return y


@construct(
    "a jump in `finally` that a tensor decides, and an exception",
    "write an `except`",
    refused=dy2st.errors.UnsupportedSyntax,
    says="swallows an exception",
)
def tensor_swallows(x):
    try:
        int("1" if True else "zz") / int("0")
    except KeyError:
        pass
    finally:
        if x.sum() < 1000:
            return x
    return x + 1


@construct("a jump in `finally` that Python decides", "swallows the exception, as in Python")
def python_swallows(x):
    for k in range(3):
        try:
            int("zz")
        finally:
            if k == 1:
                break
            continue
    if x.sum() > 0:
        return x + k
    return x - k


@construct("`return` out of `match`", "the rest is under the flag")
def return_out_of_match(x):
    for mode in ["add", "halve", "stop"]:
        match mode:
            case "add":
                if x.sum() > 10:
                    return x
                x = x + 1
            case "halve" if x.ndim:
                x = x / 2
                if x.sum() < 0:
                    break
            case _:
                return x * 10
    return x * 100


@construct("jumps out of `try` in `with` in a loop of the Program", "all of them as flags")
def jumps_out_of_all(x):
    n = x.sum() * 0
    while n < 5:
        with dy2st.no_grad():
            try:
                n = n + 1
                if x.sum() > 50:
                    return x
                if x.sum() > 5:
                    break
                if n > 3:
                    continue
            finally:
                x = x + 1
        x = x - 3
    return x * n


@construct(
    "a value in one path, none in the other",
    "`return` without a value gives None",
    inputs=([1.0, 2.0], [3.0, 4.0]),
)
def bare_return_of_python(x, flag=False):
    if flag:
        return
    if x.sum() > 5:
        return x
    return x + 1


@construct("`return {...}` out of a loop on a tensor", "entry by entry")
def dict_out_of_a_loop(x):
    turn = 0
    while turn < x.sum():
        turn = turn + 1
        if turn * turn > 10:
            return {"scaled": x * turn, "turns": [turn]}
    return {"scaled": x, "turns": [0]}


@construct("a tuple or None out of a loop on a tensor", "whichever it is")
def tuple_or_none_out_of_a_loop(x):
    turn = 0
    while turn < x.sum():
        turn = turn + 1
        if turn * turn > 10:
            return x * turn, turn


@construct("`return` out of a loop from a branch that changes an object", "what it changed is seen")
def return_after_a_change(x):
    class Box:
        value = x

    box = Box()

    def put(value):
        box.value = value + 1

    for v in x:
        if v > 2:
            put(x * v)
            return box.value
    return x - box.value


@construct(
    "`return items` out of a `try` whose `finally` changes `items`, under a tensor",
    "the very object, as `finally` leaves it",
)
def returned_list_changes_in_finally(x):
    items = [x]
    try:
        if x.sum() > 0:
            return items
    finally:
        items.append(x * 2)
    return items


@construct("`return` out of a `try` whose `finally` changes something else", "as in Python")
def finally_changes_something_else(x):
    items, log = [x], []
    try:
        if x.sum() > 0:
            return items
        if x.sum() < 0:
            return items, log
    finally:
        number = len(items)
        items = [number]
    return items
