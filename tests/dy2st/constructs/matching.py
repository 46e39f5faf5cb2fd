"""`match`: patterns and guards."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import dy2st
from tests.dy2st.catalogue.entry import construct


@dataclass
class Point:
    """A point of tensors or numbers."""

    x: object
    y: object


class Mode(enum.Enum):
    """A choice that is known when the Program is made."""

    DOUBLE = 1
    SHIFT = 2


class Limits:
    """Numbers under dotted names."""

    low = -6.0
    high = 6.0


@construct("`match` on a Python value", "Python decides; the case's tensor code is in the Program")
def on_a_python_value(x):
    y = x
    for mode in ("double", "shift", "other"):
        match mode:
            case "double":
                y = y * 2
            case "shift":
                y = y + 1
            case _:
                y = -y
    return y


@construct("tensor `if` inside a case", "a `cond`, as everywhere")
def tensor_if_in_a_case(x):
    match x.ndim:
        case 1:
            if x.sum() > 0:
                return x * 2
            return x - 1
        case _:
            return x


@construct("`case 6.0:` against a tensor", "`==` decides when the Program runs")
def literal_against_a_tensor(x):
    match x.sum():
        case 6.0:
            y = x * 2
        case -6.0:
            y = x - 1
        case 0:
            y = x + 5
        case _:
            y = x
    return y


@construct("`case 6 | 60:` against a tensor", "as `or`")
def or_of_literals_against_a_tensor(x):
    match x.sum():
        case 6 | 60:
            return x * 2
        case -6 | 0:
            return x + 1
    return x


@construct("a dotted name as pattern, against a tensor", "its value is looked up, then `==`")
def dotted_names_against_a_tensor(x):
    match x.sum():
        case Limits.low:
            return x + 1
        case Limits.high:
            return x * 2
        case _:
            return x


@construct("members of an enumeration as patterns", "Python decides")
def enumeration_members(x):
    y = x
    for mode in (Mode.SHIFT, Mode.DOUBLE):
        match mode:
            case Mode.DOUBLE if y.sum() > 0:
                y = y * 2
            case Mode.DOUBLE:
                y = y * 3
            case Mode.SHIFT:
                y = y + 1
    return y


@construct("a tensor guard", "a `cond`; the next cases are tried if it fails")
def tensor_guard(x):
    match x.ndim:
        case 1 if x.sum() > 10:
            return x + 1
        case 1 if x.sum() > 0:
            return x + 2
        case 1:
            return x + 3
    return x


@construct("`case name if ...:`", "the name is bound whether or not the guard holds")
def capture_with_tensor_guard(x):
    match x.sum():
        case total if total > 10:
            y = x + total
        case other if other > 0:
            y = x * other
        case _:
            y = x + total - other
    return y


@construct("guards between captures", "each case sees its own names")
def sequence_with_tensor_guard(x):
    match (x.sum(), x):
        case (total, _) if total > 10:
            y = x + total
        case (small, same) if small > 0:
            y = same * small
        case (rest, same):
            y = same - rest
    return y


@construct("numbers inside a sequence pattern", "all parts must fit when the Program runs")
def literals_in_a_sequence(x):
    match [x.max(), x.sum()]:
        case [3, 6]:
            return x * 2
        case [30, total]:
            return x + total
        case [-1, -6] | [0, 1]:
            return x - 1
        case [largest, 0]:
            return x + largest + 7
    return x


@construct("`[first, *others]`", "Python unpacks; the parts are tensors of the Program")
def star_in_a_sequence(x):
    match [x, x + 1, x + 2]:
        case [first, *others] if first.sum() > 0:
            return first + len(others)
        case [*others, last]:
            return last * others[0]
    return x


@construct("`*_` between others", "only the items that are named are taken")
def hidden_star(x):
    match [x.sum(), 5, 7, x]:
        case [6, *_, same]:
            return same * 2
        case [_, 5, *_]:
            return x + 5
    return x


@construct("mapping patterns", "Python finds the keys; values may be tensors")
def mapping_patterns(x):
    settings = {"scale": x.sum(), "shift": 1.0, "name": "layer"}
    match settings:
        case {"scale": 6, "missing": _}:
            return x
        case {"scale": 60.0, **rest}:
            return x + len(rest)
        case {"scale": scale, "name": "layer"} if scale > 0:
            return x * scale
        case {"shift": shift}:
            return x + shift
    return x


@construct("class patterns", "attributes are taken as Python does, their values may be tensors")
def class_patterns(x):
    match Point(x.sum(), x):
        case Point(6, y):
            return y + 1
        case Point(x=total, y=same) if total > 10:
            return same * total
        case Point(y=same):
            return same - 1
    return x


@construct("builtin classes as patterns", "a number of the Program is an int, float or bool")
def builtin_classes(x):
    total = int(x.sum())
    match total:
        case str():
            return x
        case bool():
            return x - 5
        case int(0):
            return x + 100
        case int(n):
            return x * n
    return x


@construct("`case True:` against a bool of the Program", "decided when the Program runs")
def singletons(x):
    match bool(x.sum() > 0):
        case None:
            return x
        case True:
            y = x * 2
        case False:
            y = x - 1
    return y


@construct("`case True:` against a tensor", "no tensor is the object `True`, as in Python")
def tensors_are_no_singletons(x):
    match x.sum() > 0:
        case True:
            return x * 2
        case _:
            return x - 1


@construct("a tensor against a sequence or mapping pattern", "does not fit, as in Python")
def tensors_are_no_sequences(x):
    match x:
        case [_, *_]:
            return x * 2
        case {}:
            return x * 3
        case dy2st.Tensor():
            return x + 1


@construct("`as` patterns", "the name is bound once all of the pattern fits")
def as_patterns(x):
    match (x.sum(), x):
        case (6 | 60 as total, same) as pair:
            return total + same + len(pair)
        case (_, same) as pair:
            return same * pair[0]
    return x


@construct("captures of alternatives", "each alternative binds the same names")
def captures_of_alternatives(x):
    match [x.sum(), x.max()]:
        case [6, found] | [found, 0]:
            return x + found
        case [-6 as found, _] | [_, 30 as found]:
            return x * found
    return x


@construct("sizes in patterns", "a size is compared as the number that it is")
def sizes(x):
    match x.shape:
        case [0] | [1]:
            return x
        case [3]:
            return x * 3
        case _:
            return x * 4


@construct("the subject", "is evaluated once")
def subject_once(x):
    seen = []

    def subject():
        seen.append(1)
        return x.sum()

    match subject():
        case 1:
            y = x
        case 6:
            y = x + 1
        case _:
            y = x + 2
    return y + len(seen)


@construct("`break` and `continue` in cases that a tensor decides", "as in a tensor `if`")
def jumps_out_of_cases(x):
    y = x
    for k in range(5):
        match y.sum():
            case total if total > 50:
                break
            case -6:
                y = y + 1
                continue
            case 0 if k > 2:
                break
        y = y * 2
    return y


@construct("a loop in a case, a `match` in a loop", "each is staged where it stands")
def loops_and_matches(x):
    y, n = x, 0
    while n < 3:
        match y.sum():
            case 6 | 60:
                while y.sum() < 100:
                    y = y + 10
            case _:
                y = y - 1
        n = n + 1
    return y


@construct("`match` in `match`", "inner ones are rewritten first")
def nested_matches(x):
    match x.sum():
        case 0:
            y = x
        case total:
            match total > 0, x.max():
                case flag, 3.0 if flag:
                    y = x * 3
                case _, largest if total > 10:
                    y = x * largest
                case _:
                    y = x - 1
    return y


@construct("a name bound by a case that did not run", "Python's UnboundLocalError at run time")
def unbound_capture(x):
    match [x.sum()]:
        case [6 as found]:
            pass
        case [60]:
            found = x.max()
    return x + found


@construct("a guard with `:=`", "binds also if the guard fails")
def walrus_in_a_guard(x):
    match x.ndim:
        case 1 if (total := x.sum()) > 0:
            return x + total
        case _:
            return x - total


@construct("an exception in a case that a tensor decides", "raised when the Program runs")
def raising_case(x):
    match x.sum():
        case 0:
            raise ValueError("a sum of zero")
        case -6:
            raise KeyError("minus six")
    return x


@construct("a sequence pattern against a list of unknown length", "its length is asked first")
def list_of_unknown_length(x):
    parts = []
    while len(parts) + 1 < x.max():
        parts.append(x + len(parts))
    match parts:
        case []:
            return x, 0
        case [first] | [_, first]:
            return first, 1
        case [first, *middle, last] if len(middle) < 4:
            return first * last, len(middle)
        case rest:
            return rest[-1], len(rest)


class Case:
    __match_args__ = ("x", "n")

    def __init__(self, x, n):
        self.x, self.n = x, n


@construct("`match` of one of several values", "each is matched as what it is")
def several_values(x):
    either = None if x.sum() > 20 else "a" if x.sum() > 0 else (x, x * 2)
    match either:
        case None:
            return x * 3
        case "a":
            return x * 4
        case (first, second):
            return first + second
    return x


@construct("`match` of one of two objects", "each is matched as what it is")
def one_of_two_objects(x):
    one, two = Case(x, 1), Case(x * 2, 2)
    match one if x.sum() > 0 else two:
        case Case(x=value, n=2):
            return value * 5
        case Case(value, n):
            return value * 7 + n


@construct("a pattern that fits one of three values", "binds its names where it fits")
def one_of_three(x):
    if x.sum() > 0:
        command = ("go", x, 2)
    elif x.max() > 0 or x.min() < -2:
        command = ("stop", x)
    else:
        command = {"k": x, "extra": 1}
    match command:
        case {"k": value, **rest}:
            return value - 1, len(rest)
    return x, -1


@construct("a `match` that nothing fits, before `return None`", "None on the paths where it fails")
def nothing_fits(x):
    subject = (x, 4) if x.sum() > 0 else x
    match subject:
        case (value, 4):
            return value
    return None
