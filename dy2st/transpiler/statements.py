"""Statements without a choice: assignments to all targets, `del`, `import`, `raise`, `assert`."""

from __future__ import annotations

import ast
from typing import Any

import gast

from dy2st.transpiler.lowering import (
    IN_PLACE,
    STORE,
    Lowering,
    Place,
    assign,
    assign_name,
    constant,
    give,
    load,
)
from dy2st.transpiler.nodes import Node


def bind_target(low: Lowering, target: Node, value: ast.expr) -> list[ast.stmt]:
    """The statements that give a target a value, which is evaluated first."""
    place = low.place(target)
    if isinstance(target, gast.Name):
        return [low.write(place, target.id, value)]
    if isinstance(target, gast.Tuple | gast.List):
        # Names are bound directly, up to the first target that evaluates something itself.
        targets = target.elts
        names: list[ast.expr] = []
        later: list[tuple[Node, str]] = []
        for one in targets:
            inner = one.value if isinstance(one, gast.Starred) else one
            if not later and isinstance(inner, gast.Name) and low.is_local(inner.id):
                names.append(ast.Name(id=inner.id, ctx=STORE, **place))
                continue
            later.append((inner, low.fresh("part")))
            names.append(ast.Name(id=later[-1][1], ctx=STORE, **place))
        bound = ast.Tuple(elts=names, ctx=STORE, **place)
        stars = [k for k, one in enumerate(targets) if isinstance(one, gast.Starred)]
        if stars:
            first, last = stars[0], len(targets) - stars[0] - 1
            counts = [constant(place, first), constant(place, last)]
            value = low.call(place, "unpack_star", value, *counts)
        elif not isinstance(value, ast.Tuple) or len(value.elts) != len(targets):
            value = low.call(place, "unpack", value, constant(place, len(targets)))
        out = [assign(place, bound, value)]
        for inner, part in later:
            out += [*bind_target(low, inner, load(place, part)), forget(place, part)]
        return out
    parts = [low.expression(target.value), _key(low, place, target)]
    if is_still(low, value) or all(is_still(low, part) for part in parts):
        return [_store(low, place, target, [*parts, value])]
    kept = Kept(low, place, value)
    return [*kept.start, _store(low, place, target, [*parts, kept.value]), *kept.end]


class Kept:
    """A value that stands still whatever is evaluated after it, and is let go at the end."""

    def __init__(self, low: Lowering, place: Place, value: ast.expr):
        """Give it a variable, unless it is one."""
        self.value = value
        self.start: list[ast.stmt] = []
        self.end: list[ast.stmt] = []
        if not is_still(low, value):
            name = low.fresh("value")
            self.value = load(place, name)
            self.start, self.end = [assign_name(place, name, value)], [forget(place, name)]


def is_still(low: Lowering, value: ast.expr) -> bool:
    """Whether it makes no difference when a lowered expression is evaluated."""
    is_name = isinstance(value, ast.Name) and not low.context.has(gast.NamedExpr)
    return is_name or isinstance(value, ast.Constant)


def forget(place: Place, name: str) -> ast.stmt:
    """`del` of a variable of ours, so that it holds nothing longer than the user's code does."""
    return ast.Delete(targets=[ast.Name(id=name, ctx=ast.Del(), **place)], **place)


def _key(low: Lowering, place: Place, target: Node) -> ast.expr:
    """The name of an attribute, or what stands in brackets."""
    if isinstance(target, gast.Attribute):
        return constant(place, target.attr)
    return low.expression(target.slice)


def _store(low: Lowering, place: Place, target: Node, values: list[ast.expr]) -> ast.stmt:
    kind = "set_attr" if isinstance(target, gast.Attribute) else "set_item"
    return ast.Expr(value=low.call(place, kind, *values), **place)


def delete(low: Lowering, target: Node, is_unsure: bool) -> list[ast.stmt]:
    """`del target`."""
    place = low.place(target)
    if isinstance(target, gast.Tuple | gast.List):
        return [made for part in target.elts for made in delete(low, part, is_unsure)]
    if isinstance(target, gast.Name):
        name = target.id
        text = constant(place, name)
        if low.is_local(name):
            look = ast.Expr(value=low.read(place, name, is_unsure), **place)
            return [
                *([look] if is_unsure else []),
                assign_name(place, name, low.undefined(place, name)),
            ]
        out: list[ast.stmt] = []
        if low.is_cell(name):
            if low.scope.has_cell(name):  # it raises what Python raises for a variable of its own
                out.append(ast.Expr(value=low.read(place, name), **place))
            made = low.call(place, "del_cell", load(place, low.cell(name)), text)
        else:
            made = low.call(place, "del_glob", load(place, low.function), text)
        return [*out, ast.Expr(value=made, **place)]
    kind = "del_attr" if isinstance(target, gast.Attribute) else "del_item"
    made = low.call(place, kind, low.expression(target.value), _key(low, place, target))
    return [ast.Expr(value=made, **place)]


def nothing(low: Lowering, node: Node) -> list[ast.stmt]:
    """`global`, `nonlocal`: each read and write says by itself what it means."""
    return []


def passing(low: Lowering, node: Node) -> list[ast.stmt]:
    """`pass`."""
    return [ast.Pass(**low.place(node))]


def value(low: Lowering, node: Node) -> list[ast.stmt]:
    """An expression for its effect."""
    place = low.place(node)
    if isinstance(node.value, gast.Constant):
        return [ast.Pass(**place)]
    return [ast.Expr(value=low.expression(node.value), **place)]


def returned(low: Lowering, node: Node) -> list[ast.stmt]:
    """`return v`."""
    place = low.place(node)
    given = constant(place, None) if node.value is None else low.expression(node.value)
    return [give(place, given)]


def assigned(low: Lowering, node: Node) -> list[ast.stmt]:
    """`a = b = v`."""
    place = low.place(node)
    given = low.expression(node.value)
    if len(node.targets) == 1:
        return bind_target(low, node.targets[0], given)
    kept = Kept(low, place, given)
    bound = [made for target in node.targets for made in bind_target(low, target, kept.value)]
    return [*kept.start, *bound, *kept.end]


def annotated(low: Lowering, node: Node) -> list[ast.stmt]:
    """`a: T = v`; without a value only what stands in the target is evaluated."""
    if node.value is not None:
        return bind_target(low, node.target, low.expression(node.value))
    target = node.target
    if isinstance(target, gast.Name):
        return [ast.Pass(**low.place(node))]
    parts = [target.value, *([target.slice] if isinstance(target, gast.Subscript) else [])]
    return [ast.Expr(value=low.expression(part), **low.place(part)) for part in parts]


def augmented(low: Lowering, node: Node) -> list[ast.stmt]:
    """`a += v`: what stands in the target is evaluated once."""
    place, target = low.place(node), node.target
    operator = IN_PLACE[type(node.op)]
    if isinstance(target, gast.Name):
        known = low.read(place, target.id, id(node) in low.names.unsure)
        made = low.call(place, operator, known, low.expression(node.value))
        return [low.write(place, target.id, made)]
    owner = Kept(low, place, low.expression(target.value))
    if isinstance(target, gast.Attribute):
        kind, key = "attr", Kept(low, place, constant(place, target.attr))
    else:
        kind, key = "item", Kept(low, place, low.expression(target.slice))
    known = low.call(place, kind, owner.value, key.value)
    made = low.call(place, operator, known, low.expression(node.value))
    changed = low.call(place, f"set_{kind}", owner.value, key.value, made)
    return [*owner.start, *key.start, ast.Expr(value=changed, **place), *owner.end, *key.end]


def deleted(low: Lowering, node: Node) -> list[ast.stmt]:
    """`del a, b.c, d[i]`."""
    is_unsure = id(node) in low.names.unsure
    return [made for target in node.targets for made in delete(low, target, is_unsure)]


def imported(low: Lowering, node: Node) -> list[ast.stmt]:
    """`import a.b`, `from a import b`: Python's own, and then what it binds is stored."""
    place = low.place(node)
    made: Any = gast.gast_to_ast(node)
    out: list[ast.stmt] = [made]
    for alias in node.names:
        bound = (alias.asname or alias.name).split(".")[0]
        found = load(place, bound)
        given: tuple[Any, ...] = (0, alias.name if alias.asname else bound, "")
        if isinstance(node, gast.ImportFrom):
            given = (node.level, node.module or "", alias.name)
        values = [constant(place, one) for one in given]
        found = low.call(place, "imported", load(place, low.function), *values, found)
        out.append(low.write(place, bound, found))
    return out


def raised(low: Lowering, node: Node) -> list[ast.stmt]:
    """`raise E from C`."""
    place = low.place(node)
    if node.exc is None:
        return [ast.Raise(exc=None, cause=None, **place)]
    error = low.call(place, "raised", low.expression(node.exc))
    cause = None if node.cause is None else low.expression(node.cause)
    return [ast.Raise(exc=error, cause=cause, **place)]


def asserted(low: Lowering, node: Node) -> list[ast.stmt]:
    """`assert t, m`."""
    place = low.place(node)
    if not __debug__:
        return [ast.Pass(**place)]
    message = constant(place, None)
    if node.msg is not None:
        message = low.operand(place, low.expression(node.msg))
    test = low.expression(node.test)
    return [ast.Expr(value=low.call(place, "convert_assert", test, message), **place)]


def delete_name(low: Lowering, place: Place, name: str) -> list[ast.stmt]:
    """`del name` of what is bound."""
    if low.is_local(name):
        return [assign_name(place, name, low.undefined(place, name))]
    target = gast.Name(name, gast.Del(), None, None)
    return delete(low, target, False)


def type_alias(low: Lowering, node: Node) -> list[ast.stmt]:
    """`type X = ...`: Python's own, which evaluates it when somebody asks."""
    place, name = low.place(node), node.name.id
    made: Any = gast.gast_to_ast(node)
    bound = [] if low.is_local(name) else [low.write(place, name, load(place, name))]
    return [made, *bound]


def matched(low: Lowering, node: Node) -> list[ast.stmt]:
    """What is left of `match`: names alone, and guards that are constants."""
    place = low.place(node)
    kept = Kept(low, place, low.expression(node.subject))
    inner: list[ast.stmt] = []
    # From the last one on, since each case stands in the `else` of the one before.
    for case in node.cases[::-1]:
        name = case.pattern.name
        bound = [] if name is None else [low.write(place, name, kept.value)]
        body = low.block(case.body)
        if case.guard is not None:
            test = low.call(place, "truth", low.expression(case.guard))
            body = [ast.If(test=test, body=body, orelse=inner, **place)]
        inner = [*bound, *body]
    return [*kept.start, *inner]


def jumped(low: Lowering, node: Node) -> list[ast.stmt]:
    """`break` and `continue` in loops that stay Python's own."""
    kind: Any = ast.Break if isinstance(node, gast.Break) else ast.Continue
    return [kind(**low.place(node))]


STATEMENTS: dict[type, Any] = {
    gast.AnnAssign: annotated,
    gast.Assert: asserted,
    gast.Assign: assigned,
    gast.AugAssign: augmented,
    gast.Break: jumped,
    gast.Continue: jumped,
    gast.Delete: deleted,
    gast.Expr: value,
    gast.Global: nothing,
    gast.Import: imported,
    gast.ImportFrom: imported,
    gast.Match: matched,
    gast.Nonlocal: nothing,
    gast.Pass: passing,
    gast.Raise: raised,
    gast.Return: returned,
}
if hasattr(gast, "TypeAlias"):  # since Python 3.12
    STATEMENTS[gast.TypeAlias] = type_alias
