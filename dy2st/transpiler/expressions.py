"""Expressions of the user as calls of the protocol."""

from __future__ import annotations

import ast
from typing import Any

import gast

from dy2st.transpiler.lowering import (
    BINARY,
    COMPARE,
    LOAD,
    UNARY,
    Lowering,
    Place,
    bind,
    call_of,
    constant,
    load,
    thunk,
    tuple_of,
)
from dy2st.transpiler.nodes import Block, Node, is_own, walk


def name(low: Lowering, node: Node) -> ast.expr:
    """A variable."""
    return low.read(low.place(node), node.id, id(node) in low.names.unsure)


def literal(low: Lowering, node: Node) -> ast.expr:
    """A constant."""
    return ast.Constant(value=node.value, kind=node.kind, **low.place(node))


def attribute(low: Lowering, node: Node) -> ast.expr:
    """`a.n`."""
    place = low.place(node)
    return low.call(place, "attr", low.expression(node.value), constant(place, node.attr))


def subscript(low: Lowering, node: Node) -> ast.expr:
    """`a[i]`."""
    place = low.place(node)
    return low.call(place, "item", low.expression(node.value), low.expression(node.slice))


def slice_of(low: Lowering, node: Node) -> ast.expr:
    """`b:e:s`."""
    place = low.place(node)
    ends = [
        constant(place, None) if end is None else low.expression(end)
        for end in (node.lower, node.upper, node.step)
    ]
    made = ast.Call(func=low.builtin(place, "slice_"), args=ends, keywords=[], **place)
    return made


def binary(low: Lowering, node: Node) -> ast.expr:
    """`a + b`."""
    place = low.place(node)
    operator = BINARY[type(node.op)]
    return low.call(place, operator, low.expression(node.left), low.expression(node.right))


def unary(low: Lowering, node: Node) -> ast.expr:
    """`-a`, `not a`."""
    place = low.place(node)
    # `-1` stays a constant.
    if isinstance(node.operand, gast.Constant) and isinstance(node.op, gast.USub):
        value = low.expression(node.operand)
        return ast.UnaryOp(op=ast.USub(), operand=value, **place)
    return low.call(place, UNARY[type(node.op)], low.expression(node.operand))


def compare(low: Lowering, node: Node) -> ast.expr:
    """`a < b`; in a chain each operand is evaluated once, and the later ones only if needed."""
    return _chain(low, node, low.expression(node.left), node.ops, node.comparators)


def _chain(low: Lowering, node: Node, left: ast.expr, ops: Block, operands: Block) -> ast.expr:
    place = low.place(node)
    operator, right = COMPARE[type(ops[0])], low.expression(operands[0])
    if len(ops) == 1:
        return low.call(place, operator, left, right)
    if isinstance(right, ast.Constant):
        again: ast.expr = right
    else:
        kept = low.fresh("operand")
        right, again = bind(place, kept, right), load(place, kept)
    first = low.call(place, operator, left, right)
    if _waits(operands[1:]):
        rest = _chain(low, node, again, ops[1:], operands[1:])
        return _python_choice(low, place, first, "convert_and", rest)
    rest = _chain(low, node, again, ops[1:], operands[1:])
    return low.call(place, "convert_and", first, low.operand(place, rest))


def logical(low: Lowering, node: Node) -> ast.expr:
    """`a and b`, `a or b`."""
    place = low.place(node)
    operator = "convert_and" if isinstance(node.op, gast.And) else "convert_or"
    *firsts, last = node.values
    result = low.expression(last)
    for k in range(len(firsts))[::-1]:
        waits = _waits(node.values[k + 1 :])
        first = low.expression(firsts[k])
        here = low.place(firsts[k]) if k else place
        if waits:
            result = _python_choice(low, here, first, operator, result)
        else:
            result = low.call(here, operator, first, low.operand(here, result))
    return result


def _python_choice(
    low: Lowering, place: Place, first: ast.expr, operator: str, rest: ast.expr
) -> ast.expr:
    """`a and b` where b holds a `yield`: Python's own choice."""
    kept = low.fresh("operand")
    test = low.call(place, "truth", bind(place, kept, first))
    again = load(place, kept)
    body, orelse = (rest, again) if operator == "convert_and" else (again, rest)
    return ast.IfExp(test=test, body=body, orelse=orelse, **place)


def choice(low: Lowering, node: Node) -> ast.expr:
    """`a if c else b`."""
    place = low.place(node)
    test = low.expression(node.test)
    body, orelse = low.expression(node.body), low.expression(node.orelse)
    if _waits([node.body, node.orelse]):
        test = low.call(place, "truth", test)
        return ast.IfExp(test=test, body=body, orelse=orelse, **place)
    return low.call(
        place, "convert_ifexp", test, low.operand(place, body), low.operand(place, orelse)
    )


def _waits(nodes: Block) -> bool:
    """Whether one holds a `yield`, which no function of ours may take over."""
    kinds = (gast.Yield, gast.YieldFrom)
    return any(isinstance(inner, kinds) for node in nodes for inner in walk(node))


def call(low: Lowering, node: Node) -> ast.expr:
    """`f(a, *b, k=v, **d)`; a call that a rewrite has made is one of the protocol already."""
    place = low.place(node)
    if is_own(node):
        values = low.expressions(node.args)
        return ast.Call(func=load(place, node.func.id), args=values, keywords=[], **place)
    # Whether this is `globals()`, which would find those of whoever calls it
    is_bare = isinstance(node.func, gast.Name) and not node.args and not node.keywords
    if is_bare and node.func.id == "globals" and low.is_builtin("globals"):
        return low.call(place, "attr", load(place, low.function), constant(place, "__globals__"))
    if _has_star(node.args) or any(keyword.arg is None for keyword in node.keywords):
        # How many arguments there are may be known to the Program alone.
        marks = [constant(place, None), constant(place, True)]
        called = low.call(place, "convert_call", low.expression(node.func), *marks)
        values = spread(low, node.args, "spread_star")
        keywords = [_keyword(low, keyword, "spread_double_star") for keyword in node.keywords]
        return call_of(place, called, values, keywords)
    # No argument can change what the attribute is, which Python reads before them.
    parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node.func, gast.Attribute) and all(map(_is_quiet, parts)):
        name = constant(low.place(node.func), node.func.attr)
        called = low.call(place, "convert_call", low.expression(node.func.value), name)
    else:
        called = low.call(place, "convert_call", low.expression(node.func))
    arguments = spread(low, node.args)
    return call_of(place, called, arguments, [_keyword(low, keyword) for keyword in node.keywords])


def _is_quiet(node: Node) -> bool:
    """Whether what an expression gives is there already: nothing runs for it."""
    if isinstance(node, gast.Tuple):
        return all(map(_is_quiet, node.elts))
    return isinstance(node, (gast.Name, gast.Constant))


def spread(low: Lowering, nodes: Block, star: str = "star") -> list[ast.expr]:
    """Arguments, or bases of a class, where `*` may stand."""
    values: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            place = low.place(node)
            value = low.call(place, star, low.expression(node.value))
            values.append(ast.Starred(value=value, ctx=LOAD, **place))
        else:
            values.append(low.expression(node))
    return values


def _keyword(low: Lowering, node: Node, double_star: str = "double_star") -> ast.keyword:
    place = low.place(node.value)
    value = low.expression(node.value)
    if node.arg is None:
        value = low.call(place, double_star, value)
    return ast.keyword(arg=node.arg, value=value, **place)


def keywords_as_dict(low: Lowering, place: Place, keywords: Block) -> ast.expr:
    """The keywords of a class as a dict."""
    made = [_keyword(low, keyword) for keyword in keywords]
    keys: Any = [None if one.arg is None else constant(place, one.arg) for one in made]
    return ast.Dict(keys=keys, values=[one.value for one in made], **place)


def own_lambda(low: Lowering, node: Node) -> ast.expr:
    """A lambda that a rewrite has made: it runs here, and at once."""
    return thunk(low.place(node), low.expression(node.body))


def walrus(low: Lowering, node: Node) -> ast.expr:
    """`(n := v)`."""
    place = low.place(node)
    target, value = node.target.id, low.expression(node.value)
    if low.is_local(target):
        return bind(place, target, value)
    kept = low.fresh("value")
    both = [bind(place, kept, value), low.written(place, target, load(place, kept))]
    pair = ast.Tuple(elts=both, ctx=LOAD, **place)
    return ast.Subscript(value=pair, slice=constant(place, 0), ctx=LOAD, **place)


def tuple_display(low: Lowering, node: Node) -> ast.expr:
    """`(a, b)` stays, but for stars."""
    if _has_star(node.elts):
        return _gather(low, node, "tuple")
    return tuple_of(low.place(node), low.expressions(node.elts))


def list_display(low: Lowering, node: Node) -> ast.expr:
    """`[a, b]`."""
    if _has_star(node.elts):
        return _gather(low, node, "list")
    place = low.place(node)
    return low.call(place, "made", ast.List(elts=low.expressions(node.elts), ctx=LOAD, **place))


def set_display(low: Lowering, node: Node) -> ast.expr:
    """`{a, b}`."""
    return _gather(low, node, "set")


def dict_display(low: Lowering, node: Node) -> ast.expr:
    """`{k: v}`."""
    place = low.place(node)
    # Constants are hashed by Python; any other key may be one that the Program computes.
    if not all(isinstance(key, gast.Constant) for key in node.keys):
        entries = []
        for key, value in zip(node.keys, node.values):
            first = [] if key is None else [low.expression(key)]
            entries.append(tuple_of(place, [*first, low.expression(value)]))
        return low.call(place, "gather_dict", *entries)
    keys: Any = low.expressions(node.keys)
    values = low.expressions(node.values)
    return low.call(place, "made", ast.Dict(keys=keys, values=values, **place))


def _has_star(nodes: Block) -> bool:
    return any(isinstance(node, gast.Starred) for node in nodes)


def _gather(low: Lowering, node: Node, kind: str) -> ast.expr:
    place = low.place(node)
    entries = []
    for entry in node.elts:
        is_star = isinstance(entry, gast.Starred)
        value = low.expression(entry.value if is_star else entry)
        entries.append(tuple_of(place, [constant(place, is_star), value]))
    return low.call(place, "gather", low.builtin(place, kind), *entries)


def joined(low: Lowering, node: Node) -> ast.expr:
    """An f-string."""
    return low.call(low.place(node), "text", *(_part(low, part) for part in node.values))


def _part(low: Lowering, node: Node) -> ast.expr:
    if isinstance(node, gast.Constant):
        return low.expression(node)
    place = low.place(node)
    conversion = "" if node.conversion in (-1, None) else chr(node.conversion)
    spec = constant(place, "")
    if node.format_spec is not None:
        parts = node.format_spec.values
        is_text = len(parts) == 1 and isinstance(parts[0], gast.Constant)
        spec = low.expression(parts[0] if is_text else node.format_spec)
    return tuple_of(place, [low.expression(node.value), constant(place, conversion), spec])


def yielded(low: Lowering, node: Node) -> ast.expr:
    """`yield v`."""
    place = low.place(node)
    value = None if node.value is None else low.expression(node.value)
    return ast.Yield(value=value, **place)


def yielded_from(low: Lowering, node: Node) -> ast.expr:
    """`yield from v`."""
    place = low.place(node)
    return ast.YieldFrom(value=low.call(place, "iterate", low.expression(node.value)), **place)


EXPRESSIONS = {
    gast.Attribute: attribute,
    gast.BinOp: binary,
    gast.BoolOp: logical,
    gast.Call: call,
    gast.Compare: compare,
    gast.Constant: literal,
    gast.Dict: dict_display,
    gast.FormattedValue: lambda low, node: low.call(low.place(node), "text", _part(low, node)),
    gast.IfExp: choice,
    gast.JoinedStr: joined,
    gast.List: list_display,
    gast.Name: name,
    gast.NamedExpr: walrus,
    gast.Set: set_display,
    gast.Slice: slice_of,
    gast.Subscript: subscript,
    gast.Tuple: tuple_display,
    gast.UnaryOp: unary,
    gast.Yield: yielded,
    gast.YieldFrom: yielded_from,
}
