"""Expressions of the user as calls of the protocol."""

from __future__ import annotations

import ast

import gast

from dy2st.transpiler.lowering import LOAD, OPERATORS, Lowering, bind, constant, load, tuple_of
from dy2st.transpiler.nodes import YIELDS, Block, Node, at, is_own, walk


def name(low: Lowering, node: Node) -> ast.expr:
    """A variable."""
    return low.read(node.id, id(node) in low.names.unsure)


def part_of(low: Lowering, node: Node) -> ast.expr:
    """`a.n`, `a[i]`."""
    return low.call(kind_of(node), *parts_of(low, node))


def kind_of(part: Node) -> str:
    """Which of the two it is."""
    return "attr" if isinstance(part, gast.Attribute) else "item"


def parts_of(low: Lowering, part: Node) -> list[ast.expr]:
    """The owner, and the name of an attribute or what stands in brackets."""
    owner, is_name = low.expression(part.value), isinstance(part, gast.Attribute)
    return [owner, constant(part.attr) if is_name else low.expression(part.slice)]


def slice_of(low: Lowering, node: Node) -> ast.expr:
    """`b:e:s`."""
    ends = [
        constant(None) if end is None else low.expression(end)
        for end in (node.lower, node.upper, node.step)
    ]
    return ast.Call(low.builtin("slice_"), ends, [])


def binary(low: Lowering, node: Node) -> ast.expr:
    """`a + b`."""
    return low.call(OPERATORS[type(node.op)], low.expression(node.left), low.expression(node.right))


def unary(low: Lowering, node: Node) -> ast.expr:
    """`-a`, `not a`."""
    # `-1` stays a constant.
    if isinstance(node.operand, gast.Constant) and isinstance(node.op, gast.USub):
        return ast.UnaryOp(ast.USub(), low.expression(node.operand))
    return low.call(OPERATORS[type(node.op)], low.expression(node.operand))


def compare(low: Lowering, node: Node) -> ast.expr:
    """`a < b`; in a chain each operand is evaluated once, and the later ones only if needed."""
    return _chain(low, node, low.expression(node.left), node.ops, node.comparators)


def _chain(low: Lowering, node: Node, left: ast.expr, ops: Block, operands: Block) -> ast.expr:
    operator, right = OPERATORS[type(ops[0])], low.expression(operands[0])
    if len(ops) == 1:
        return low.call(operator, left, right)
    if isinstance(right, ast.Constant):
        again: ast.expr = right
    else:
        kept = low.fresh("operand")
        right, again = bind(kept, right), load(kept)
    first = low.call(operator, left, right)
    rest = _chain(low, node, again, ops[1:], operands[1:])
    return _lazily(low, node, first, "convert_and", rest, operands[1:])


def logical(low: Lowering, node: Node) -> ast.expr:
    """`a and b`, `a or b`."""
    operator = "convert_and" if isinstance(node.op, gast.And) else "convert_or"
    result = low.expression(node.values[-1])
    for k in range(len(node.values) - 1)[::-1]:
        first, here = low.expression(node.values[k]), node.values[k] if k else node
        result = at(here, _lazily(low, here, first, operator, result, node.values[k + 1 :]))
    return result


def _lazily(
    low: Lowering, node: Node, first: ast.expr, operator: str, rest: ast.expr, operands: Block
) -> ast.expr:
    """`a and b`, where `rest` is lowered from the operands; of a `yield` in them Python's own."""
    if not _waits(low, operands):
        return low.call(operator, first, low.operand(node, rest))
    kept = low.fresh("operand")
    test, again = low.call("truth", bind(kept, first)), load(kept)
    body, orelse = (rest, again) if operator == "convert_and" else (again, rest)
    return ast.IfExp(test, body, orelse)


def choice(low: Lowering, node: Node) -> ast.expr:
    """`a if c else b`."""
    test = low.expression(node.test)
    body, orelse = low.expression(node.body), low.expression(node.orelse)
    if _waits(low, [node.body, node.orelse]):
        return ast.IfExp(low.call("truth", test), body, orelse)
    sides = low.operand(node, body), low.operand(node, orelse)
    return low.call("convert_ifexp", test, *sides)


def _waits(low: Lowering, nodes: Block) -> bool:
    """Whether one holds a `yield`, which no function of ours may take over."""
    return low.context.yields and any(type(one) in YIELDS for node in nodes for one in walk(node))


def call(low: Lowering, node: Node) -> ast.expr:
    """`f(a, *b, k=v, **d)`; a call that a rewrite has made is one of the protocol already."""
    if is_own(node):
        return ast.Call(load(node.func.id), low.expressions(node.args), [])
    # Whether this is `globals()`, which would find those of whoever calls it
    is_bare = isinstance(node.func, gast.Name) and not node.args and not node.keywords
    if is_bare and node.func.id == "globals" and low.is_builtin("globals"):
        return low.call("attr", load(low.function), constant("__globals__"))
    has_star = any(isinstance(one, gast.Starred) for one in node.args)
    if has_star or any(keyword.arg is None for keyword in node.keywords):
        # How many arguments there are may be known to the Program alone.
        marks = [constant(None), constant(True)]
        called = low.call("convert_call", low.expression(node.func), *marks)
        values = spread(low, node.args)
        keywords = [_keyword(low, keyword, "spread_double_star") for keyword in node.keywords]
        return ast.Call(called, values, keywords)
    # No argument can change what the attribute is, which Python reads before them.
    parts = [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node.func, gast.Attribute) and all(map(_is_quiet, parts)):
        method = at(node.func, constant(node.func.attr))
        called = low.call("convert_call", low.expression(node.func.value), method)
    else:
        called = low.call("convert_call", low.expression(node.func))
    keywords = [_keyword(low, keyword) for keyword in node.keywords]
    return ast.Call(called, low.expressions(node.args), keywords)


def _is_quiet(node: Node) -> bool:
    """Whether what an expression gives is there already: nothing runs for it."""
    if isinstance(node, gast.Tuple):
        return all(map(_is_quiet, node.elts))
    return isinstance(node, (gast.Name, gast.Constant))


def spread(low: Lowering, nodes: Block) -> list[ast.expr]:
    """Arguments, or bases of a class, where `*` may stand."""
    values: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            value = low.call("spread_star", low.expression(node.value))
            values.append(at(node, ast.Starred(value, LOAD)))
        else:
            values.append(low.expression(node))
    return values


def _keyword(low: Lowering, node: Node, double_star: str = "double_star") -> ast.keyword:
    value = low.expression(node.value)
    if node.arg is None:
        value = low.call(double_star, value)
    return at(node.value, ast.keyword(node.arg, value))


def keywords_as_dict(low: Lowering, keywords: Block) -> ast.expr:
    """The keywords of a class as a dict."""
    made = [_keyword(low, keyword) for keyword in keywords]
    keys = [None if one.arg is None else constant(one.arg) for one in made]
    return ast.Dict(keys, [one.value for one in made])


def walrus(low: Lowering, node: Node) -> ast.expr:
    """`(n := v)`."""
    target, value = node.target.id, low.expression(node.value)
    if low.is_local(target):
        return bind(target, value)
    kept = low.fresh("value")
    both = [bind(kept, value), low.written(target, load(kept))]
    return ast.Subscript(tuple_of(both), constant(0), LOAD)


def display(low: Lowering, node: Node) -> ast.expr:
    """`(a, b)`, `[a, b]`, `{a, b}`; a tuple stays, but for stars."""
    kind = type(node).__name__.lower()
    # Python makes a set of constants of a frozenset, which tells the order of its elements.
    is_sure = kind != "set" or all(isinstance(one, gast.Constant) for one in node.elts)
    stars = [isinstance(one, gast.Starred) for one in node.elts]
    values = low.expressions([one.value if star else one for one, star in zip(node.elts, stars)])
    if any(stars) or not is_sure:
        entries = [tuple_of([constant(star), one]) for star, one in zip(stars, values)]
        return low.call("gather", low.builtin(kind), *entries)
    if kind == "tuple":
        return tuple_of(values)
    return low.call("made", ast.Set(values) if kind == "set" else ast.List(values, LOAD))


def dict_display(low: Lowering, node: Node) -> ast.expr:
    """`{k: v}`."""
    # Constants are hashed by Python; any other key may be one that the Program computes.
    if not all(isinstance(key, gast.Constant) for key in node.keys):
        entries = []
        for key, value in zip(node.keys, node.values):
            first = [] if key is None else [low.expression(key)]
            entries.append(tuple_of([*first, low.expression(value)]))
        return low.call("gather_dict", *entries)
    keys, values = low.expressions(node.keys), low.expressions(node.values)
    return low.call("made", ast.Dict([*keys], values))


def joined(low: Lowering, node: Node) -> ast.expr:
    """An f-string."""
    return low.call("text", *(_part(low, part) for part in node.values))


def _part(low: Lowering, node: Node) -> ast.expr:
    if isinstance(node, gast.Constant):
        return low.expression(node)
    conversion = "" if node.conversion in (-1, None) else chr(node.conversion)
    spec = constant("")
    if node.format_spec is not None:
        parts = node.format_spec.values
        is_text = len(parts) == 1 and isinstance(parts[0], gast.Constant)
        spec = low.expression(parts[0] if is_text else node.format_spec)
    return at(node, tuple_of([low.expression(node.value), constant(conversion), spec]))


def yielded(low: Lowering, node: Node) -> ast.expr:
    """`yield v`, or `push(v)`."""
    value = constant(None) if node.value is None else low.expression(node.value)
    return ast.Yield(value) if low.context.yields else low.call("push", value)


def yielded_from(low: Lowering, node: Node) -> ast.expr:
    """`yield from v`, or `push_all(v)`."""
    value = low.expression(node.value)
    if low.context.yields:
        return ast.YieldFrom(low.call("iterate", value))
    return low.call("push_all", value)


EXPRESSIONS = {
    gast.Attribute: part_of,
    gast.BinOp: binary,
    gast.BoolOp: logical,
    gast.Call: call,
    gast.Compare: compare,
    gast.Constant: lambda low, node: ast.Constant(node.value, node.kind),
    gast.Dict: dict_display,
    gast.FormattedValue: lambda low, node: low.call("text", _part(low, node)),
    gast.IfExp: choice,
    gast.JoinedStr: joined,
    gast.List: display,
    gast.Name: name,
    gast.NamedExpr: walrus,
    gast.Set: display,
    gast.Slice: slice_of,
    gast.Subscript: part_of,
    gast.Tuple: display,
    gast.UnaryOp: unary,
    gast.Yield: yielded,
    gast.YieldFrom: yielded_from,
}
