# ruff: noqa
"""Comprehensions and generator expressions, and their scopes."""

from __future__ import annotations

from tests.dy2st.catalogue.entry import on_values


@on_values(([1, 2, 3],), ([],), (5,))
def lists_sets_and_dicts(x):
    return [v * 2 for v in x], {v % 2 for v in x}, {v: -v for v in x if v}


@on_values((5,), (0,))
def several_generators_and_conditions(n):
    return [
        (a, b, c) for a in range(n) if a % 2 if a > 0 for b in range(a) for c in [a + b] if c < 4
    ]


@on_values((4,))
def a_comprehension_in_a_comprehension(n):
    return [[a * b for b in range(a)] for a in range(n)], [x for x in [y for y in range(n)]]


@on_values(([1, 2],))
def the_variables_of_a_comprehension_are_its_own(x):
    v = "outer"
    found = [v for v in x]
    again = {k: v for k in x for v in [k]}
    return v, found, again


@on_values(([1, 2],))
def the_first_iterable_is_evaluated_outside(x):
    return [x for x in x], [y for x in [x] for y in x]


@on_values(([1, 2, 3],))
def a_variable_of_two_generators(x):
    return [v for v in x for v in range(v)], [v for v in x if v for v in [v, -v] if v]


@on_values(([(1, 2), (3, 4)],), ([(1, (2, 3))],), ([1],))
def targets_are_unpacked(x):
    return [a + b for a, b in x], {k: v for k, (v, *_) in x}, [d for (_, d) in x]


@on_values(([1, 2],))
def a_target_may_be_an_attribute_or_an_item(x):
    class Box:
        pass

    box, spot = Box(), [0]
    found = [box.n for box.n in x], [spot[0] for spot[0] in x]
    return found, box.n, spot


@on_values((3,))
def lambdas_in_a_comprehension_share_its_variable(n):
    late = [lambda: i for i in range(n)]
    early = [lambda i=i: i for i in range(n)]
    return [g() for g in late], [g() for g in early]


@on_values((3,))
def a_lambda_in_a_nested_comprehension(n):
    made = [[lambda: (i, j, n) for j in range(i)] for i in range(n)]
    return [[g() for g in row] for row in made]


@on_values((2,))
def lambdas_in_all_kinds_of_comprehensions_in_one_line(n):
    a, b, c = [lambda: i for i in range(n)], {i: lambda: -i for i in range(n)}, list((lambda: i + n) for i in range(n))  # fmt: skip
    return a[0](), b[0](), c[0]()


@on_values((1,))
def a_comprehension_of_a_captured_variable(n):
    def up():
        nonlocal n
        n += 1
        return n

    return [up() + n for _ in range(3)], [n for n in range(n)], n


@on_values((2,))
def a_comprehension_in_a_default_and_a_decorator(n):
    def g(x=[k for k in range(n)]):
        return x

    return g(), (lambda y={k for k in range(n)}: y)()


@on_values(([1, 2, -1],), ([-1],), ([],))
def a_walrus_in_a_comprehension_binds_a_variable_of_the_function(x):
    found = [last := v for v in x if (w := v) > 0]
    return found, last, w


@on_values(([0, 2, 4],), ([],))
def a_walrus_in_a_generator_expression(x):
    hit = any((found := v) > 1 for v in x)
    return hit, found


@on_values((True,), (False,))
def a_comprehension_reads_a_variable_without_a_value(flag):
    if flag:
        x = 1
    try:
        return [x for _ in range(1)]
    except NameError:
        return "unbound"


@on_values(([0, 1, 2, 3, 5],))
def conditions_and_operands_inside(x):
    return [a if a > 1 else -a for a in x if a and a < 3 or a == 5], [0 < a < 3 for a in x]


@on_values(([1, 0],), ([0],), ([],))
def a_comprehension_in_an_operand_and_in_a_test(x):
    if [v for v in x if v] and (y := [v + 1 for v in x]):
        return y
    while [v for v in x]:
        x.pop()
    return x or [k for k in range(2)]


@on_values()
def a_generator_expression_is_lazy():
    seen = []

    def note(v):
        seen.append(v)
        return v

    g = (note(v) for v in note([1, 2, 3]) if note(v) > 1)
    seen.append("made")
    first = next(g)
    return first, seen, list(g), seen


@on_values((3,))
def a_generator_expression_sees_later_values(n):
    k = 1
    g = (v * k for v in range(n))
    k = 10
    return list(g)


@on_values((3,))
def a_generator_expression_made_in_a_branch_sees_later_values(n):
    k = 1
    if n:
        k = 2
        g = (v * k for v in range(n))
    k = 10
    return list(g)


@on_values((1,), ([1],))
def a_generator_expression_of_what_is_not_iterable_fails_at_once(x):
    g = (v for v in x)
    return "late", list(g)


@on_values(([1, 2],), ([],))
def generator_expressions_as_arguments(x):
    return sum(v for v in x), max((v for v in x), default=0), ",".join(str(v) for v in x)


@on_values((4,))
def nested_generator_expressions(n):
    return list(list(a * b for b in range(a)) for a in range(n)), list(
        a + b for a in range(n) if a for b in (c for c in range(a))
    )


@on_values((3,))
def lambdas_in_a_generator_expression(n):
    g = [h for h in ((lambda: i) for i in range(n))]
    return [h() for h in g], [h() for h in ((lambda: i) for i in range(n))]


@on_values(([],))
def a_generator_expression_has_its_name(n):
    return type(k for k in n).__name__


@on_values()
def a_stop_iteration_in_a_generator_expression():
    it = iter([1])
    return list(next(it) for _ in range(3))


@on_values(([1, 0],))
def a_comprehension_stops_with_the_exception_of_its_element(x):
    return [1 // v for v in x]


@on_values((3,))
def await_free_comprehensions_in_class_bodies_run_as_they_are(n):
    class C:
        k = n
        values = [v for v in range(k)]

    return C.values


@on_values(([],))
def the_name_of_a_generator_expression_is_pythons(x):
    g = (v for v in x)
    return g.__name__, g.__qualname__.rpartition(".")[2]
