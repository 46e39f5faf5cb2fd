# ruff: noqa
"""`match` statements."""

from __future__ import annotations

from dataclasses import dataclass

from tests.dy2st.catalogue.entry import on_values


@dataclass
class Point:
    x: int
    y: int


@on_values((0,), (1,), (2,), (None,), ("a",), (-1,), (7,), (True,))
def values_and_alternatives(x):
    match x:
        case 0:
            return "zero"
        case 1 | 2:
            return "few"
        case None:
            return "none"
        case True:
            return "true"
        case "a":
            return "text"
        case -1:
            return "minus"
        case _:
            return "other"


@on_values((11,), (-1,), (5,))
def names_and_guards(x):
    match x:
        case n if n > 10:
            y = "big"
        case n if n < 0:
            y = "small"
        case n:
            y = n
    return y, n


@on_values(([],), ([1],), ((1, [2, 3]),), ([1, 2, 3],), ([1, 2, 1],), ("ab",), (5,))
def sequences(x):
    match x:
        case []:
            return "empty"
        case [a]:
            return a
        case (a, [b, c]):
            return a, b, c
        case [a, *rest, z] if a != z:
            return rest
        case [*_]:
            return "same"
    return "none"


@on_values(({"a": 1, "z": 2},), ({"b": {"c": 3}},), ({"q": 1},), ([],))
def mappings(x):
    match x:
        case {"a": 1, **rest}:
            return "a", rest
        case {"b": {"c": c}}:
            return c
        case {}:
            return "mapping"
    return "none"


@on_values((0, 0), (0, 1), (2, 0), (3, 3), (3, 4))
def classes(x, y):
    p = Point(x, y)
    match p:
        case Point(0, 0):
            return "origin"
        case Point(x=0, y=b) | Point(b, 0) as q:
            return b, q.x
        case Point(int(a), b) if a == b:
            return "diagonal"
        case Point():
            return "point"


@on_values((1,), (2,))
def dotted_values(x):
    class Color:
        RED = 1

    match x:
        case Color.RED:
            return "red"
    return "no"


@on_values((1,))
def a_name_alone(x):
    match x + 1:
        case y:
            z = y
    return y, z


@on_values(([2, 1],), ([1, 2],))
def names_stay_bound_after_a_guard_that_fails(x):
    match x:
        case [a, b] if a > b:
            return "greater"
        case _:
            return a


@on_values()
def the_subject_is_evaluated_once():
    seen = []

    def note(x):
        seen.append(x)
        return x

    match note(3), note(4):
        case (1, _):
            pass
        case (3, v):
            seen.append(v)
    return seen


@on_values(([1, 2],), (3,))
def captured_names(x):
    get = lambda: a
    match x:
        case [a, _]:
            return get()
        case a:
            return get(), "whole"


@on_values(([0, [1], 2, {"stop": 1}, 3],))
def a_match_in_a_generator_and_in_a_loop(values):
    for v in values:
        match v:
            case 0:
                continue
            case [x]:
                yield x
            case {"stop": _}:
                break
            case other:
                yield other, "other"
    yield "end"


@on_values(([0, 3],), ([3, 1, 3],), ([3, 2],))
def a_jump_out_of_a_case(values):
    out = []
    for v in values:
        match v:
            case 0:
                continue
            case 1:
                break
            case 2:
                return "two"
        out.append(v)
    else:
        out.append("else")
    return out


@on_values((1,))
def constant_guards(x):
    match x:
        case y if True:
            return y
