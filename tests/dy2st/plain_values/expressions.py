# ruff: noqa
"""Operators, calls, displays, f-strings: each operand is evaluated once and in order."""

from __future__ import annotations

from tests.dy2st.catalogue.entry import on_values


@on_values((7, 2), (7, 0), ("a", 1))
def every_binary_operator(a, b):
    return (
        a + b, a - b, a * b, a / b, a // b, a % b, a**b, a << b, a >> b, a & b, a | b, a ^ b
    )  # fmt: skip


@on_values((1,), makes=True)
def matrix_multiplication():
    class M:
        def __matmul__(self, other):
            return ("m", other)

        def __imatmul__(self, other):
            return ("i", other)

    def f(x):
        m = M()
        n = M()
        n @= x
        return m @ x, n

    return f


@on_values((7, 2), (7, 0))
def every_operator_in_place(a, b):
    out = []
    for k in range(12):
        c = a
        if k == 0:
            c += b
        elif k == 1:
            c -= b
        elif k == 2:
            c *= b
        elif k == 3:
            c /= b
        elif k == 4:
            c //= b
        elif k == 5:
            c %= b
        elif k == 6:
            c **= b
        elif k == 7:
            c <<= b
        elif k == 8:
            c >>= b
        elif k == 9:
            c &= b
        elif k == 10:
            c |= b
        else:
            c ^= b
        out.append(c)
    return out


@on_values((3,), (0,), (True,))
def unary_operators(a):
    return -a, +a, ~a, not a, -1, not None, --2


@on_values((1, 2), (2, 2), ("a", 1))
def every_comparison(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, a != b, a is b, a is not b


@on_values((1, [1]), (2, (1,)), (1, 1))
def membership(a, b):
    return a in b, a not in b


@on_values((1, 2, 2, 3), (1, 0, 2, 3), (1, 2, 1, 3), (1, 2, 2, 2))
def a_chain_evaluates_each_operand_once_and_only_as_far_as_needed(*values):
    seen = []

    def note(k):
        seen.append(k)
        return values[k]

    return note(0) < note(1) <= note(2) != note(3), seen


@on_values((0, 0), (1, 0), (0, 1), makes=True)
def a_chain_gives_what_the_first_false_comparison_gives():
    class Odd:
        def __init__(self, name, value):
            self.name, self.value = name, value

        def __lt__(self, other):
            return [] if self.value else [self.name]

    def f(p, q):
        return Odd("a", p) < Odd("b", q) < Odd("c", 0)

    return f


@on_values((1, 2, 3), (0, 2, 3), (1, [], 3), (0, 0, ()))
def and_gives_its_operands(a, b, c):
    seen = []

    def note(x):
        seen.append(x)
        return x

    return note(a) and note(b) and note(c), note(a) or note(b) or note(c), seen


@on_values(*[(a, b, c) for a in (0, 1) for b in ("", "x") for c in ((), (1,))])
def and_inside_or(a, b, c):
    return a and b or c, a or b and c, not a and b, not (a or b) or c


@on_values(*[(p, q, r) for p in (0, 1) for q in (0, 1) for r in (0, 1)], makes=True)
def the_truth_of_each_operand_is_asked_once():
    class Once:
        def __init__(self, value):
            self.value, self.asked = value, 0

        def __bool__(self):
            self.asked += 1
            return self.value

    def f(p, q, r):
        a, b, c = Once(p), Once(q), Once(r)
        result = a and b and c
        return result.value, a.asked, b.asked, c.asked

    return f


@on_values((1,), (0,), (3,))
def a_conditional_expression_evaluates_one_side(x):
    return (1 // x if x else "none") if x != 3 else (x, -x)[x > 1]


@on_values(("abc",), ("a",))
def a_walrus_binds_a_local(x):
    if (n := len(x)) > 2:
        return n
    y = (m := n + 1) * m
    return y, m, n


@on_values((1,), (0,))
def a_walrus_in_an_operand_that_may_not_run(x):
    y = 5
    z = x and (y := x + 1) or (w := 7)
    return y, z, w if z == 7 else None


@on_values((1,), (0,))
def a_walrus_that_did_not_run_leaves_its_variable_unbound(x):
    x and (y := x)
    return y


@on_values((1,), (0,))
def a_walrus_in_a_conditional_expression_and_a_chain(x):
    a = (p := 1) if x else (p := 2)
    b = 0 < x < (q := 10) and q
    return a, p, b


@on_values(([0, 1, 2],), ([0],), ([],))
def a_walrus_in_the_test_of_a_loop(values):
    out = []
    while (v := values.pop()) > 0:
        out.append(v)
    return out, v


@on_values(([4], (5, 6), {"k": 7}), ((), [], {}), makes=True)
def calls_take_stars_and_double_stars():
    def g(*args, **kwargs):
        return args, kwargs

    def f(a, b, c):
        return g(1, *a, 2, *b, x=3, **c), g(*a, **c), g(**c, y=1), g(*a, *b, *"xy")

    return f


@on_values(makes=True)
def keywords_may_have_the_names_of_the_protocols_own():
    def g(**kwargs):
        return kwargs

    def f():
        return g(function=1, self=2, name=3, F=4)

    return f


@on_values()
def arguments_are_evaluated_in_order():
    seen = []

    def note(x):
        seen.append(x)
        return x

    def g(*args, **kwargs):
        return args, kwargs

    g(note(1), *note([2]), note(3), k=note(4), **note({"l": 5}), m=note(6))
    return seen


@on_values(([],))
def methods_are_attributes_that_are_called(x):
    x.append(1)
    copy = x.copy
    x.append(2)
    return x, copy(), "a,b".split(","), [].__len__()


@on_values(makes=True)
def attributes_are_read_set_and_deleted():
    class Box:
        pass

    def f():
        box = Box()
        box.a = box.b = 1
        box.a += 1
        del box.b
        return vars(box), box.missing

    return f


@on_values(([1, 2, 3, 4],), ([],))
def items_and_slices(x):
    x[0] = 9
    x[1:3] = [7, 8, 9]
    del x[-1:]
    return x, x[0], x[1:], x[:1], x[::2], x[-2:None:1], x[:]


@on_values(([3, 4],), ([],), makes=True)
def indexes_of_several_parts():
    class Show:
        def __getitem__(self, index):
            return index

    def g(rest):
        s = Show()
        return s[1, 2], s[1:2, ::3], s[()], s[..., None], s[(1, *rest)]

    return g


@on_values()
def an_attribute_in_place_is_evaluated_once():
    seen = []

    class Box:
        n = 1

    box = Box()

    def get():
        seen.append("get")
        return box

    get().n += len(seen)
    return box.n, seen


@on_values(([1, 2, 3],))
def an_item_in_place_is_evaluated_once(x):
    seen = []

    def note(v):
        seen.append(v)
        return v

    note(x)[note(1)] += note(5)
    note(x)[note(0) : note(2)] *= 2
    return x, seen


@on_values(([],), ((),))
def in_place_operators_change_the_object(x):
    y = x
    y += [1]
    return x is y, x


@on_values((1, 2))
def displays(a, b):
    return [a, b], (a, b), {a, b}, {a: b, "k": [a]}, [], (), {}, (a,), [[], [a]]


@on_values(([1, 2], {"x": 3}), ((), {}), (1, {}))
def displays_with_stars(a, b):
    return [*a, 1, *b], (*a, 1), {*a, *b}, {**b, "x": 1}, {"x": 1, **b, None: 2}, [*a]


@on_values()
def a_display_evaluates_in_order():
    seen = []

    def note(x):
        seen.append(x)
        return x

    d = {note(1): note(2), note(3): note(4), **{note(5): note(6)}}
    return d, seen


@on_values((1.5, "ü", 8), ("q", 1, 4))
def f_strings(a, b, w):
    return f"", f"a", f"{a}", f"x{a!r:>{w}}y{b!s}{{}}{b!a}", f"{a=}", f"{a:{w}.{2}f}"


@on_values((2,))
def an_f_string_inside_an_f_string(a):
    return f"{f'{a}' + 'x'!r} {[f'{k}' for k in range(a)]}"


@on_values((1,))
def implicit_concatenation(a):
    return f"x{a}y{a + 1}"


@on_values()
def constants():
    return 1, 1.5, 2j, "s", b"b", None, True, ..., -0.0, 10**20, (1, (2, "x"))


@on_values()
def an_ellipsis_and_a_string_alone_do_nothing():
    """Doc."""
    ...
    "text"
    return 1


@on_values(((1, 2),), ("ab",), ([1],), ((1, 2, 3),), (5,), ({1: 2, 3: 4},))
def unpacking(v):
    a, b = v
    (c, d), [e, *g] = v, v
    *h, i = v
    return a, b, c, d, e, g, h, i


@on_values(((1, 2, (3, 4), 5, 6),), ((1, 2, 3),), makes=True)
def unpacking_into_attributes_and_items():
    class Box:
        pass

    def f(v):
        box, x = Box(), [0, 0]
        box.a, x[0], (y, x[1]), *box.rest = v
        return vars(box), x, y

    return f


@on_values()
def targets_are_bound_from_left_to_right():
    x = [0, 0, 0]
    i = 0
    i, x[i] = 1, 9
    x[i], i = 8, 2
    a = b = c = x
    x, a = 1, x
    return x, i, a is b is c


@on_values((1, 2, 3))
def a_swap(a, b, c):
    a, b = b, a
    a, b, c = c, a, b
    [a, b] = [b, a]
    return a, b, c


@on_values(([],), ([1],))
def an_assignment_to_no_target(v):
    () = v
    [] = v
    return 1


@on_values((1,))
def an_annotated_assignment(x):
    a: int = x
    b: list[undefined_name]  # noqa: F821
    x: float = a + 1

    class Box:
        pass

    box = Box()
    box.n: int = 5
    (box.m): int
    return a, x, box.n, b


@on_values()
def imports():
    import os.path
    import os.path as p
    from os import sep, path as q
    import collections.abc, math

    return os.path is p is q, sep, math.pi, collections.abc.Sized


@on_values()
def an_import_that_fails():
    try:
        import no_such_module_at_all
    except ImportError as error:
        found = str(error)
    from os import no_such_name_at_all

    return found


@on_values()
def a_relative_import():
    from . import nothing_here

    return nothing_here


@on_values()
def a_method_is_looked_up_before_its_arguments_are_evaluated():
    seen = []

    class Seen:
        def __getattr__(self, name):
            seen.append(name)
            return lambda *args: args

    o = Seen()
    return o.first(o.second(1)), o.third(seen.append("arg")), o.fourth(n := len(seen)), seen, n


@on_values(makes=True)
def nothing_holds_a_value_longer_than_the_users_code_does():
    import gc
    import weakref

    class Box:
        pass

    def f():
        boxes = {}
        boxes["a"], (boxes["b"], *_) = Box(), (Box(), 1)
        boxes["c"] = boxes["d"] = Box()
        boxes["e"] = Box()
        boxes["e"].n = Box()
        boxes["e"].n = 1
        boxes["e"].n += 1
        seen = [weakref.ref(box) for box in boxes.values()]
        boxes.clear()
        gc.collect()
        return [one() is None for one in seen]

    return f
