"""Comprehensions are local functions of ordinary loops, called with their first iterable."""

from __future__ import annotations

import ast
from collections.abc import Callable

import gast

from dy2st.transpiler.analysis import INLINES, Scope
from dy2st.transpiler.lowering import Lowering
from dy2st.transpiler.nodes import Node
from dy2st.transpiler.statements import bind_target
from dy2st.transpiler.trees import (
    LOAD,
    STORE,
    Place,
    arguments,
    assign_name,
    call,
    call_of,
    constant,
    define,
    give,
    load,
    thunk,
    tuple_of,
)

Innermost = Callable[[], "list[ast.stmt]"]


def comprehension(low: Lowering, node: Node) -> ast.expr:
    """`[e for x in it if c]`, and sets and dicts alike."""
    place = low.place(node)
    first = low.expression(node.generators[0].iter)
    gathered = low.fresh("out")

    def innermost() -> list[ast.stmt]:
        out = load(place, gathered)
        if isinstance(node, gast.DictComp):
            pair = (low.expression(node.key), low.expression(node.value))
            added = low.call(place, "set_item", out, *pair)
        else:
            adds = constant(place, "append" if isinstance(node, gast.ListComp) else "add")
            value = low.expression(node.elt)
            added = call_of(place, low.call(place, "convert_call", out, adds), [value])
        return [ast.Expr(value=added, **place)]

    iterable, name = low.fresh("it"), low.fresh("comp")
    with_scope = _Inside(low, node, place)
    body = with_scope.run(lambda: _staged(low, node, 0, load(place, iterable), innermost))
    if isinstance(node, gast.ListComp):
        empty: ast.expr = ast.List(elts=[], ctx=LOAD, **place)
    elif isinstance(node, gast.DictComp):
        empty = ast.Dict(keys=[], values=[], **place)
    else:
        empty = ast.Call(func=low.builtin(place, "set"), args=[], keywords=[], **place)
    start = assign_name(place, gathered, low.call(place, "made", empty))
    body = [start, *with_scope.cells, *body, give(place, load(place, gathered))]
    low.out.append(define(place, name, arguments(place, [iterable]), body))
    return call(place, name, first)


def generator_expression(low: Lowering, node: Node) -> ast.expr:
    """`(e for x in it if c)`: a generator function, whose loops are Python's own, and one that
    gives each item to a function."""
    place = low.place(node)
    first = low.expression(node.generators[0].iter)

    def innermost() -> list[ast.stmt]:
        value = ast.Yield(value=low.expression(node.elt), **place)
        return [ast.Expr(value=value, **place)]

    iterable, name = low.fresh("it"), low.fresh("genexpr")
    low.generators.add(name)
    with_scope = _Inside(low, node, place)
    body = with_scope.run(lambda: _python_loops(low, node, 0, load(place, iterable), innermost))
    # Python evaluates the first iterable outside of the function, so it comes as an argument.
    parameters = arguments(place, [iterable])
    low.out.append(define(place, name, parameters, [*with_scope.cells, *body]))
    pushing = _pushing(low, node, place)
    is_map = len(node.generators) == 1 and not node.generators[0].ifs
    return low.call(
        place, "convert_generator", load(place, name), first, pushing, constant(place, is_map)
    )


def _pushing(low: Lowering, node: Node, place: Place) -> ast.expr:
    """The same as a function that gives each item to another one."""
    iterable, push, name = low.fresh("it"), low.fresh("push"), low.fresh("genexpr")

    def innermost() -> list[ast.stmt]:
        return [ast.Expr(value=call(place, push, low.expression(node.elt)), **place)]

    with_scope = _Inside(low, node, place)
    body = with_scope.run(lambda: _staged(low, node, 0, load(place, iterable), innermost))
    parameters = arguments(place, [iterable, push])
    low.out.append(define(place, name, parameters, [*with_scope.cells, *body]))
    return load(place, name)


class _Inside:
    """The scope of a comprehension, and a list of statements of its own."""

    def __init__(self, low: Lowering, node: Node, place: Place):
        self._low, self._place = low, place
        table = low.names.table
        targets = table.of_all([one.target for one in node.generators]).writes
        parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        parts += [test for one in node.generators for test in one.ifs]
        parts += [one.iter for one in node.generators[1:]]
        is_inlined = INLINES and not isinstance(node, gast.GeneratorExp)
        # What a function inside sees of the targets lives in cells, one for each call.
        captured = table.of_all(parts).captured & targets
        self._scope = Scope(
            frozenset(targets - captured), frozenset(captured), low.scope, is_inlined
        )
        self.cells: list[ast.stmt] = []

    def run(self, make: Innermost) -> list[ast.stmt]:
        """Make statements inside."""
        low, place = self._low, self._place
        outer, low.scope = low.scope, self._scope
        for name in sorted(self._scope.cells):
            made = low.call(place, "new_cell")
            self.cells.append(assign_name(place, low.cell(name), made))
        statements = low.apart(make)
        low.scope = outer
        return statements


def _staged(
    low: Lowering, node: Node, depth: int, iterable: ast.expr, innermost: Innermost
) -> list[ast.stmt]:
    """`convert_for_loop(iterable, None, body)` for each generator, inside each other."""
    generator = node.generators[depth]
    place = low.place(generator.target)
    item, bind = _item(low, generator.target)
    name = low.fresh("for_loop_body")

    def then() -> list[ast.stmt]:
        if depth + 1 == len(node.generators):
            return innermost()
        inner = low.expression(node.generators[depth + 1].iter)
        return _staged(low, node, depth + 1, inner, innermost)

    def iteration() -> list[ast.stmt]:
        return [*bind(), *low.apart(lambda: _filtered(low, generator.ifs, then))]

    nothing = tuple_of(place, [])
    body = [*low.apart(iteration), give(place, nothing)]
    made = define(place, name, arguments(place, [item]), body)
    values = [iterable, constant(place, None), load(place, name)]
    return [made, ast.Expr(value=low.call(place, "convert_for_loop", *values), **place)]


def _item(low: Lowering, target: Node) -> tuple[str, Innermost]:
    """The name of the item, and what binds the target to it."""
    if isinstance(target, gast.Name) and low.is_local(target.id):
        return target.id, lambda: []
    item = low.fresh("item")
    return item, lambda: bind_target(low, target, load(low.place(target), item))


def _filtered(low: Lowering, tests: list[Node], then: Innermost) -> list[ast.stmt]:
    if not tests:
        return then()
    place = low.place(tests[0])
    test, name = low.expression(tests[0]), low.fresh("true_fn")
    inner = low.apart(lambda: _filtered(low, tests[1:], then))
    made = define(place, name, arguments(place, []), inner)
    values = [test, load(place, name), thunk(place, constant(place, None))]
    return [made, ast.Expr(value=low.call(place, "convert_ifelse", *values), **place)]


def _python_loops(
    low: Lowering, node: Node, depth: int, iterable: ast.expr, innermost: Innermost
) -> list[ast.stmt]:
    generator = node.generators[depth]
    place = low.place(generator.target)
    item, bind = _item(low, generator.target)

    def iteration() -> list[ast.stmt]:
        if depth + 1 == len(node.generators):
            inside = innermost
        else:
            inner = node.generators[depth + 1].iter
            inside = lambda: _python_loops(  # noqa: E731
                low, node, depth + 1, low.expression(inner), innermost
            )
        return [*bind(), *low.apart(lambda: _python_filtered(low, generator.ifs, inside))]

    target = ast.Name(id=item, ctx=STORE, **place)
    taken = low.call(place, "iterate", iterable)
    return [ast.For(target=target, iter=taken, body=low.apart(iteration), orelse=[], **place)]


def _python_filtered(low: Lowering, tests: list[Node], then: Innermost) -> list[ast.stmt]:
    if not tests:
        return then()
    place = low.place(tests[0])
    test = low.call(place, "truth", low.expression(tests[0]))
    body = low.apart(lambda: _python_filtered(low, tests[1:], then))
    return [ast.If(test=test, body=body, orelse=[], **place)]


EXPRESSIONS = {
    gast.ListComp: comprehension,
    gast.SetComp: comprehension,
    gast.DictComp: comprehension,
    gast.GeneratorExp: generator_expression,
}
