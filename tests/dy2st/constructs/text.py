"""Text: f-strings, str(), format(), `%`, print, messages."""

from __future__ import annotations

import sys

from dy2st.errors import TensorAsPython
from tests.dy2st.catalogue.entry import construct


@construct('`f"{x}"`', "formatted when the Program runs, and returned as a str")
def f_string(x):
    return f"x is {x}, its sum {x.sum():.2f} or {float(x.sum()):>8.1f} of {x.shape[0]}"


@construct('`f"{x!r}"`, `f"{x=}"`', "what repr() of an eager tensor writes")
def f_string_repr(x):
    return f"{x!r} {x.sum()=} {[x, 1]} {(x.sum(),)}"


@construct('`f"{x:{width}}"`', "a format may be computed from Python values")
def f_string_width(x):
    width = 12
    return f"{x.sum():{width}.2f}|{'a':>{width}}"


@construct("`str(x)`, `repr(x)`, `format(x, spec)`", "of tensors and of traced numbers")
def str_repr_format(x):
    return str(x), repr(x.sum()), format(x.sum(), ".1f"), str(int(x.sum())), str([x])


@construct('`"%s" % x`', "with widths, conversions, several values, and names")
def percent(x):
    named = {"a": x.max()}
    return "%s and %.2f %% %d" % (x, x.sum(), 3), "%r" % x, "%(a)5.1f" % named  # noqa: UP031


@construct('`"{}".format(x)`', "fields by place, by name, with attributes and formats")
def format_method(x):
    return f"{x} {x.sum():.1f} {1}", "{a:.1f} {b!r:>5}".format(a=x.sum(), b="t")


@construct('`", ".join(...)`, `+`', "texts one after the other")
def join_texts(x):
    text = ", ".join([f"{value:.1f}" for value in x])
    text += "!"
    return "[" + text + "]" * 2


@construct(
    '`text += letter` in a loop, `"".join(...)` of as many texts as the data says',
    "a str; len(), comparisons, slices, `in`, find(), split() and replace() work on it, too",
)
def text_that_the_data_writes(x):
    text = ""
    for value in x:
        text += "+" if value > 0 else "-"
    return text, len(text), text.count("+"), "+-" in text


@construct("a text that differs by branch", "one of them, when the Program runs")
def text_by_branch(x):
    if x.sum() > 0:
        label = f"positive {x.sum()}"
    else:
        label = "none"
    return label + "."


@construct("a str that differs by branch", "compared when the Program runs")
def mode_by_branch(x):
    mode = "small"
    if x.sum() > 10:
        mode = "large"
    if mode == "large":
        x = x / 10
    return mode, mode.upper(), x


@construct("a str that a tensor loop changes", "carried as one of those that it can be")
def mode_in_loop(x):
    mode = "a"
    while x.sum() < 20 and x.sum() > -100:
        mode = "b" if mode == "a" else "c"
        x = x * 2 + 1
    return mode


@construct("a text made before `x[i] = v`", "shows the value of then")
def text_before_change(x):
    y = x * 1
    text = f"{y}"
    y[0] = 7
    return text, y


@construct("`print(x, sep=, end=)`", "prints when the Program runs, each time")
def print_tensors(x):
    print("x", x, [x.sum()], sep="-", end=";\n")
    print(f"{x.sum():.1f}", x.sum() > 0, flush=True)
    return x


@construct("`print` in a branch", "only where it is taken")
def print_in_branch(x):
    if x.sum() > 0:
        print("positive:", x.max())
    else:
        print("no")
    return x


@construct("`print` in a tensor loop", "once an iteration, with the iteration's values")
def print_in_loop(x):
    i = 0
    while x.sum() < 20 and i < 3:
        print(f"turn {i}: {x.sum():.1f}")
        x = x + 5
        i += 1
    return x


@construct("`print(..., file=sys.stderr)`", "the standard output and error")
def print_to_stderr(x):
    print("sum", x.sum(), file=sys.stderr)
    return x


@construct("`print` of None or a tensor", "whichever it is")
def print_optional(x):
    y = None
    if x.sum() > 0:
        y = x
    print(y, [y], {"y": y})
    return f"y={y}"


@construct('`raise ValueError(f"...")`', "the exception with the values of the run")
def raise_with_values(x):
    if x.sum() > 0:
        raise ValueError(f"the sum is {x.sum():.1f}")
    return x


@construct("`raise` with several arguments", "all of them, tensors too")
def raise_with_arguments(x):
    if x.sum() > 10:
        raise KeyError("key", x.shape[0])
    if x.sum() > 0:
        raise RuntimeError("sum", float(x.sum()))
    return x


class OutOfRangeError(Exception):
    """An exception of the user's own."""

    def __init__(self, value, limit):
        super().__init__(value)
        self.limit = limit


@construct("`raise` of the user's own class", "an object of that class, its attributes kept")
def raise_own_class(x):
    if x.sum() > 10:
        raise OutOfRangeError(f"{x.sum():.1f} is over", 10)
    return x


@construct("`raise` in both branches", "whichever it is; what follows is not reached")
def raise_in_both(x):
    if x.sum() > 0:
        if x.sum() > 10:
            raise ValueError("large")
        else:
            raise KeyError("small")
    return x


@construct("`raise` in a tensor loop", "on the iteration where Python raises")
def raise_in_loop(x):
    i = 0
    while i < 4:
        x = x * 2
        if x.sum() > 50:
            raise OverflowError(f"turn {i}: {x.max():.0f}")
        i += 1
    return x


@construct("`assert test, message`", "AssertionError with the message of the run")
def assert_with_values(x):
    assert x.sum() <= 10, f"the sum is {x.sum():.1f}"
    assert x.sum() >= 0, "negative"
    return x


@construct("`assert` without message", "an AssertionError without text")
def assert_alone(x):
    assert x.sum() > 0
    return x


@construct(
    "`text == other`, `text.split()`",
    "compare the tensors instead",
    refused=TensorAsPython,
    says="the comparison of a text with values of tensors in it",
)
def compare_text(x):
    return f"{x.sum()}" == "6.0"


@construct(
    "`print(x, file=buffer)`",
    "a Program can only write to the standard streams",
    refused=TensorAsPython,
    says="a file other than the standard output or error",
)
def print_to_file(x):
    with open("/dev/null", "w") as file:
        print(x, file=file)
    return x
