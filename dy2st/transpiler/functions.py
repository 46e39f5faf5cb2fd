"""Functions and classes that a function makes, which are of the user's code, and comprehensions.

A comprehension is a local function of ordinary loops, called with its first iterable.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import gast

from dy2st.transpiler.analysis import INLINES, Scope
from dy2st.transpiler.expressions import keywords_as_dict, own_lambda, spread
from dy2st.transpiler.lowering import (
    LOAD,
    STORE,
    Lowering,
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
from dy2st.transpiler.nodes import Node, is_own
from dy2st.transpiler.source import is_generic
from dy2st.transpiler.statements import bind_target


def lambda_(low: Lowering, node: Node) -> ast.expr:
    """`lambda x: v`; one that a rewrite has made stays."""
    return own_lambda(low, node) if is_own(node) else _made(low, node)


def define_function(low: Lowering, node: Node) -> list[ast.stmt]:
    """`def f(x): ...`."""
    return _bound(low, node, lambda: _made(low, node))


def define_class(low: Lowering, node: Node) -> list[ast.stmt]:
    """`class C(Base, key=v): ...`."""
    return _bound(low, node, lambda: _class(low, node))


def _bound(low: Lowering, node: Node, make: object) -> list[ast.stmt]:
    """Decorators are evaluated first, and called from the last one up."""
    assert callable(make)
    place = low.place(node)
    decorators = [(low.place(one), low.expression(one)) for one in node.decorator_list]
    value: ast.expr = make()
    for where, decorator in decorators[::-1]:
        value = call_of(where, low.call(where, "convert_call", decorator), [value])
    return [low.write(place, node.name, value)]


def _made(low: Lowering, node: Node) -> ast.expr:
    place = low.place(node)
    a = node.args
    defaults = constant(place, None)
    if a.defaults:
        defaults = tuple_of(place, low.expressions(a.defaults))
    named = [(p.id, d) for p, d in zip(a.kwonlyargs, a.kw_defaults) if d is not None]
    kwdefaults = constant(place, None)
    if named:
        keys = [constant(place, key) for key, _ in named]
        values = [low.expression(value) for _, value in named]
        kwdefaults = ast.Dict(keys=[*keys], values=values, **place)
    if is_generic(node):
        given = [one for one, has in ((defaults, a.defaults), (kwdefaults, named)) if has]
        return _call(low, place, "make_generic", node, given)
    values = [defaults, kwdefaults, *_annotations(low, place, node)]
    return _call(low, place, "make_function", node, values)


def _call(low: Lowering, place: Place, maker: str, node: Node, values: list[ast.expr]) -> ast.expr:
    """Make it of the function, where its code lies in it, and the cells that the code takes."""
    found = low.inner.find(node)
    if found is None:
        return constant(place, None)  # no way leads here, so the compiler has dropped it
    path, code = found
    cells = [load(place, low.cell(name)) for name in code.co_freevars]
    where = [load(place, low.function), constant(place, path), tuple_of(place, cells)]
    made: Any = low.call(place, maker, *where, *values)
    made.written = node  # as its text shows it
    return made  # type: ignore[no-any-return]


def _annotations(low: Lowering, place: Place, node: Node) -> list[ast.expr]:
    if isinstance(node, gast.Lambda):
        return []
    a = node.args
    in_order = [*a.args, *a.posonlyargs, a.vararg, *a.kwonlyargs, a.kwarg]  # that of CPython
    found = [(p.id, p.annotation) for p in in_order if p is not None and p.annotation is not None]
    found += [("return", node.returns)] if node.returns is not None else []
    if not found:
        return []
    keys = [constant(place, name) for name, _ in found]
    values = [_annotation(low, place, annotation) for _, annotation in found]
    return [ast.Dict(keys=[*keys], values=values, **place)]


def _annotation(low: Lowering, place: Place, node: Node) -> ast.expr:
    if low.has_lazy_annotations:
        return constant(place, ast.unparse(gast.gast_to_ast(node)))
    if isinstance(node, gast.Starred):  # `*args: *Ts` has the one value that it spreads
        only = low.call(place, "unpack", low.expression(node.value), constant(place, 1))
        return ast.Subscript(value=only, slice=constant(place, 0), ctx=LOAD, **place)
    return low.expression(node)


def _class(low: Lowering, node: Node) -> ast.expr:
    place = low.place(node)
    if is_generic(node):
        return _call(low, place, "make_generic", node, [])
    bases = ast.Tuple(elts=spread(low, node.bases), ctx=LOAD, **place)
    keywords = keywords_as_dict(low, place, node.keywords)
    name = constant(place, node.name)
    return _call(low, place, "make_class", node, [name, bases, keywords])


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
    gast.Lambda: lambda_,
    gast.ListComp: comprehension,
    gast.SetComp: comprehension,
    gast.DictComp: comprehension,
    gast.GeneratorExp: generator_expression,
}
STATEMENTS = {
    gast.FunctionDef: define_function,
    gast.AsyncFunctionDef: define_function,
    gast.ClassDef: define_class,
}
