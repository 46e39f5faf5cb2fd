"""Functions and classes that a function makes, which are of the user's code, and comprehensions.

A comprehension is a local function of ordinary loops, called with its first iterable.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import gast

from dy2st.transpiler import nodes
from dy2st.transpiler.analysis import INLINES, Flow, Scope
from dy2st.transpiler.expressions import keywords_as_dict, spread
from dy2st.transpiler.lowering import (
    LOAD,
    Lowering,
    arguments,
    assign,
    constant,
    define,
    load,
    thunk,
    tuple_of,
)
from dy2st.transpiler.nodes import Node, at, is_own
from dy2st.transpiler.source import is_generic


def define_(low: Lowering, node: Node) -> list[ast.stmt]:
    """`def f(x): ...`, `class C(Base, key=v): ...`.

    Decorators are evaluated first, and called from the last one up.
    """
    decorators = low.expressions(node.decorator_list)
    value = _class(low, node) if isinstance(node, gast.ClassDef) else _made(low, node)
    for where, decorator in list(zip(node.decorator_list, decorators))[::-1]:
        value = at(node, value)
        value = at(where, ast.Call(low.call("convert_call", decorator), [value], []))
    return [low.write(node.name, value)]


def _made(low: Lowering, node: Node) -> ast.expr:
    a = node.args
    defaults = constant(None)
    if a.defaults:
        defaults = tuple_of(low.expressions(a.defaults))
    named = [(p.id, d) for p, d in zip(a.kwonlyargs, a.kw_defaults) if d is not None]
    kwdefaults = constant(None)
    if named:
        values = [low.expression(value) for _, value in named]
        kwdefaults = ast.Dict([constant(key) for key, _ in named], values)
    if is_generic(node):
        given = [one for one, has in ((defaults, a.defaults), (kwdefaults, named)) if has]
        return _call(low, "make_generic", node, given)
    values = [defaults, kwdefaults, *_annotations(low, node)]
    return _call(low, "make_function", node, values)


def _call(low: Lowering, maker: str, node: Node, values: list[ast.expr]) -> ast.expr:
    """Make it of the function, where its code lies in it, and the cells that the code takes."""
    found = low.inner.find(node)
    if found is None:
        return constant(None)  # no way leads here, so the compiler has dropped it
    path, code = found
    cells = [load(low.cell(name)) for name in code.co_freevars]
    where = [load(low.function), constant(path), tuple_of(cells)]
    made: Any = low.call(maker, *where, *values)
    made.written = node  # as its text shows it
    return made  # type: ignore[no-any-return]


def _annotations(low: Lowering, node: Node) -> list[ast.expr]:
    if isinstance(node, gast.Lambda):
        return []
    a = node.args
    in_order = [*a.args, *a.posonlyargs, a.vararg, *a.kwonlyargs, a.kwarg]  # that of CPython
    found = [(p.id, p.annotation) for p in in_order if p is not None and p.annotation is not None]
    found += [("return", node.returns)] if node.returns is not None else []
    if not found:
        return []
    values = [_annotation(low, annotation) for _, annotation in found]
    return [ast.Dict([constant(name) for name, _ in found], values)]


def _annotation(low: Lowering, node: Node) -> ast.expr:
    if low.has_lazy_annotations:
        return constant(ast.unparse(gast.gast_to_ast(node)))
    if isinstance(node, gast.Starred):  # `*args: *Ts` has the one value that it spreads
        only = low.call("unpack", low.expression(node.value), constant(1))
        return ast.Subscript(only, constant(0), LOAD)
    return low.expression(node)


def _class(low: Lowering, node: Node) -> ast.expr:
    if is_generic(node):
        return _call(low, "make_generic", node, [])
    bases, keywords = tuple_of(spread(low, node.bases)), keywords_as_dict(low, node.keywords)
    return _call(low, "make_class", node, [constant(node.name), bases, keywords])


def comprehension(low: Lowering, node: Node) -> ast.expr:
    """`[e for x in it if c]`, and dicts alike."""
    first = low.expression(node.generators[0].iter)
    gathered, iterable, name = low.fresh("out"), low.fresh("it"), low.fresh("comp")
    is_list = isinstance(node, gast.ListComp)

    def innermost() -> ast.expr:
        out = load(gathered)
        if isinstance(node, gast.DictComp):
            return low.call("set_item", out, low.expression(node.key), low.expression(node.value))
        adds = low.call("convert_call", out, constant("append"))
        return ast.Call(adds, [low.expression(node.elt)], [])

    empty: ast.expr = ast.List([], LOAD) if is_list else ast.Dict([], [])
    start = [assign(gathered, low.call("made", empty))]
    end = [ast.Return(load(gathered))]
    _define_loops(low, node, name, [iterable], innermost, start=start, end=end)
    return ast.Call(load(name), [first], [])


def set_comprehension(low: Lowering, node: Node) -> ast.expr:
    """`{e for x in it if c}`: `set(e for x in it if c)`, which knows what says nothing of order."""
    makes = low.call("convert_call", low.builtin("set"))
    return ast.Call(makes, [generator_expression(low, node)], [])


def generator_expression(low: Lowering, node: Node) -> ast.expr:
    """`(e for x in it if c)`: a generator function, whose loops are Python's own, and one that
    gives each item to a function."""
    # Python evaluates the first iterable outside of the function, so it comes as an argument.
    first = low.expression(node.generators[0].iter)
    iterable, name = low.fresh("it"), low.fresh("genexpr")
    low.generators.add(name)
    yields = lambda: ast.Yield(low.expression(node.elt))  # noqa: E731
    _define_loops(low, node, name, [iterable], yields, is_staged=False)
    taken, push, pushing = low.fresh("it"), low.fresh("push"), low.fresh("genexpr")
    gives = lambda: ast.Call(load(push), [low.expression(node.elt)], [])  # noqa: E731
    _define_loops(low, node, pushing, [taken, push], gives)
    is_map = len(node.generators) == 1 and not node.generators[0].ifs
    return low.call("convert_generator", load(name), first, load(pushing), constant(is_map))


_NO_STATE = Flow([], frozenset(), frozenset(), ([], []))


def _define_loops(
    low: Lowering,
    node: Node,
    name: str,
    parameters: list[str],
    innermost: Callable[[], ast.expr],
    is_staged: bool = True,
    start: Sequence[ast.stmt] = (),
    end: Sequence[ast.stmt] = (),
) -> None:
    """`def name(iterable): for x in iterable: if c: ...`, in the scope of the comprehension."""
    flow, block = _NO_STATE if is_staged else None, at(node, gast.Expr(None))
    block.make = innermost  # in the scope of the loops
    for part in node.generators[::-1]:
        for test in part.ifs[::-1]:
            block = at(test, gast.If(test, [block], []))
            block.flow = flow
        block = at(part.target, gast.For(part.target, part.iter, [block], [], None))
        block.flow = flow
    block.iter = at(node, nodes.load(parameters[0]))
    table = low.names.table
    targets = table.of_all([one.target for one in node.generators]).writes
    parts = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
    parts += [test for one in node.generators for test in one.ifs]
    parts += [one.iter for one in node.generators[1:]]
    is_inlined = INLINES and not isinstance(node, gast.GeneratorExp)
    # What a function inside sees of the targets lives in cells, one for each call.
    captured = table.of_all(parts).captured & targets
    outer, plain = low.scope, targets - captured | {parameters[0]}
    low.scope = Scope(frozenset(plain), frozenset(captured), outer, is_inlined)
    cells = [assign(low.cell(one), low.call("new_cell")) for one in sorted(captured)]
    loops = low.block([block])
    low.scope = outer
    made = define(name, arguments(parameters), [*start, *cells, *loops, *end])
    low.out.append(at(node, made))


EXPRESSIONS = {
    # One that a rewrite has made stays: it runs here, and at once.
    gast.Lambda: lambda low, n: thunk(low.expression(n.body)) if is_own(n) else _made(low, n),
    gast.ListComp: comprehension,
    gast.SetComp: set_comprehension,
    gast.DictComp: comprehension,
    gast.GeneratorExp: generator_expression,
}
STATEMENTS = {gast.FunctionDef: define_, gast.AsyncFunctionDef: define_, gast.ClassDef: define_}
