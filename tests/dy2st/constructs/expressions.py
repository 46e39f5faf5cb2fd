"""Expressions: `and`, `or`, `not`, comparisons, `if ... else`, `:=`, order of evaluation."""

from __future__ import annotations

import dy2st
from dy2st.errors import ConversionError
from tests.dy2st.catalogue.entry import construct


@construct("`and`, `or`, `not` on tensors", "by value, as in Python; later operands run if needed")
def logical_operators(x):
    s = x.sum()
    if s > 0 and s < 50 or not s < 5:
        return x + 1
    return x - 1


@construct("the value of `and` and `or`", "the operand itself")
def value_of_logical_operators(x):
    s = x.sum()
    return (s and s * 2), (s or s + 7)


@construct("`and` that guards its second operand", "not computed where the first is false")
def guarding_and(x):
    table = {"a": 1}
    key = "b"
    if key in table and table[key] > 0:
        return x
    if x.sum() > 0 and check(x):
        return x * 2
    return x * 3


def check(x):
    """Raise on what `and` must keep away."""
    if x.sum() < 0:
        raise ValueError("must not run")
    return x.max() > 5


@construct("`x is None or condition`", "`is` is decided while tracing")
def none_or_condition(x, y=None):
    if y is None or y.sum() > 0:
        x = x + 1
    y = x
    if y is not None and y.sum() > 0:
        x = x * 2
    return x


@construct("`a < b < c` on tensors", "the middle one is computed once")
def chained_comparison(x):
    s = x.sum()
    if 0 < s < 50:
        return x + 1
    return x - 1 if -10 < s <= 0 != s else x


@construct("`a if condition else b`", "one of them is computed")
def conditional_expression(x):
    return x * 2 if x.sum() > 0 else x - 1


@construct("nested `if ... else`", "as nested branches")
def nested_conditional_expression(x):
    s = x.sum()
    return x if s > 10 else x * 2 if s > 0 else x * 3 if s < 0 else x * 4


@construct("`if ... else` inside of calls, items and operators", "in Python's order")
def conditional_inside_of_others(x):
    s = x.sum()
    return [dy2st.abs(x if s > 0 else -x), (1 if s > 0 else 2) + x[0 if s > 0 else 1]]


@construct("`in` a list of tensors or numbers", "compared when the Program runs")
def membership(x):
    s = x.sum()
    return (1 if s in [6, 60] else 0), (1 if s not in (0, -6) else 0)


@construct("`:=` in the condition of `if`", "bound for both branches and after")
def walrus_in_if(x):
    if (s := x.sum()) > 0:
        y = x * s
    else:
        y = x - s
    return y, s


@construct("`:=` in the condition of `while`", "bound each iteration, and after the loop")
def walrus_in_while(x):
    y = x
    while (s := y.sum()) > 2:
        y = y / 2
    return y, s


@construct(
    "`:=` in the condition of `while` with `else`", "bound each iteration, in `else`, and after"
)
def walrus_in_while_else(x):
    y = x
    while (s := y.sum()) > 2:
        y = y / 2
    else:
        y = y + s
    return y, s


@construct("`:=` in an operand of `and`", "bound where the operand runs; reads are guarded")
def walrus_in_and(x):
    if x.sum() > 0 and (m := x.max()) > 5:
        return x * m
    return x


@construct("`:=` in an operand, read after", "Python's UnboundLocalError where it did not run")
def walrus_read_unbound(x):
    found = x.sum() > 0 and (m := x.max()) > 5
    return (1 if found else 2), m


@construct("`:=` in operands of operands", "each where it runs")
def walrus_nested(x):
    m = n = x * 0
    if x.sum() < 0 or ((m := x + 1).sum() > 10 and (n := x + 2).sum() > 0):
        m = m - 1
    return m, n


@construct("`:=` in `if ... else`", "bound in the side that runs")
def walrus_in_conditional_expression(x):
    n = 0
    y = (n := x.sum()) * 2 if x.max() > 0 else (n := x.min()) - 1
    return y, n


@construct("`:=` in a comparison's chain", "bound where the chain gets so far")
def walrus_in_chain(x):
    m = x * 0
    r = 0 < x.sum() < (m := x + 1).max() * 2
    return (1 if r else 0), m


@construct("`:=` in a call's argument or an index", "in Python's order")
def walrus_in_arguments(x):
    y = dy2st.maximum((a := x + 1), a * 2)
    return y, x[(i := 1)], a, i


@construct("`:=` in a comprehension", "bound in the function around")
def walrus_in_comprehension(x):
    sums = [(last := x * k).sum() for k in range(3)]
    if x.sum() > 0:
        last = last + 1
    return sums, last


@construct("order of evaluation", "left to right, operands and arguments alike")
def order_of_evaluation(x):
    seen = []

    def note(name, value):
        seen.append(name)
        return value

    y = note("a", x) + note("b", 2) * note("c", x)
    z = [note("d", 1), *note("e", (2, 3))]
    if note("f", x).sum() > note("g", 0):
        y = y + 1
    return y, z, seen


@construct("unpacking, starred, nested and swapped", "as in Python")
def unpacking(x):
    (a, *b), c = [x, x + 1, x + 2], 3
    a, c = c, a
    if x.sum() > 0:
        c, (d, *b) = b[0], (c, *b)
    else:
        d, (*b, _) = x, [*b, c]
    return a, b, c, d


@construct("augmented assignment", "as in Python: in place where the object can")
def augmented_assignments(x):
    y = x.clone()
    n = 7
    if x.sum() > 0:
        y += 1
        y *= 2
        n //= 2
    else:
        n **= 2
    return y, n


@construct("slices and indices", "of tensors and of Python's sequences")
def slices(x):
    i = 1
    y = x[i:] + x[:-i]
    if x.sum() > 0:
        y = y[::-1] if False else y * 2
    return y, x[-1], [1, 2, 3][i:]


@construct("`lambda` with a condition", "converted when it is called")
def lambda_with_condition(x):
    pick = lambda v: v * 2 if v.sum() > 0 else v - 1  # noqa: E731
    return pick(x), pick(-x)


@construct("several `lambda`s on one line", "each is found by its place")
def lambdas_on_one_line(x):
    a, b = (lambda v: v + 1 if v.sum() > 0 else v), (lambda v: v - 1 if v.sum() > 0 else -v)
    return a(x), b(x)


@construct("`assert` on a tensor", "checked when the Program runs, with the user's message")
def assertion(x):
    assert x.sum() > -1, "must not be negative"
    return x * 2


@construct("`bool(x) is True`, `... is not False`", "by value: Python has one True and one False")
def is_true(x):
    positive = bool(x.sum() > 0)
    big = x.max() > 5
    return positive is True, False is not positive, positive is False, big is True


@construct("`n ** -k`, `n ** k` of numbers of the Program", "floats and ints as Python has them")
def powers_of_numbers(x):
    number, real = int(x[0]), float(x[1])
    return number**2, number**-2, 2**-number if number < 0 else 2**number, real**-1, real**3.0


@construct(
    "a complex or infinite power of such numbers", "an error when the Program runs, never `nan`"
)
def powers_without_a_value(x):
    return float(x.sum() - 60.0) ** -1 if x.sum() > 0 else 1.0


@construct("`is` between tensors with two names", "decided while tracing")
def names_of_one_tensor(x):
    y = x * 2
    z = y
    return (x, z) if z is y and y is not x else y


@construct(
    "`is` between tensors, one of which a branch or loop gives",
    "a Program knows what a variable holds, and not which object that is",
    refused=ConversionError,
    says="`is` between two tensors",
)
def identity_after_a_branch(x):
    y = x + 1 if x.sum() > 0 else x
    return y if y is x else -y
