"""Statements without a choice: assignments to all targets, `del`, `import`, `raise`, `assert`."""

from __future__ import annotations

import ast
from typing import Any

import gast

from dy2st.transpiler.expressions import kind_of, parts_of
from dy2st.transpiler.lowering import OPERATORS, STORE, Lowering, assign, constant, load, store
from dy2st.transpiler.nodes import Node, at


def bind_target(low: Lowering, target: Node, value: ast.expr) -> list[ast.stmt]:
    """The statements that give a target a value, which is evaluated first."""
    return [at(target, made) for made in _bound(low, target, value)]


def _bound(low: Lowering, target: Node, value: ast.expr) -> list[ast.stmt]:
    if isinstance(target, gast.Name):
        return [low.write(target.id, value)]
    if isinstance(target, gast.Tuple | gast.List):
        # Names are bound directly, up to the first target that evaluates something itself.
        targets = target.elts
        names: list[ast.expr] = []
        later: list[tuple[Node, str]] = []
        for one in targets:
            inner = one.value if isinstance(one, gast.Starred) else one
            if not later and isinstance(inner, gast.Name) and low.is_local(inner.id):
                names.append(store(inner.id))
                continue
            later.append((inner, low.fresh("part")))
            names.append(store(later[-1][1]))
        stars = [k for k, one in enumerate(targets) if isinstance(one, gast.Starred)]
        if stars:
            first, last = stars[0], len(targets) - stars[0] - 1
            counts = [constant(first), constant(last)]
            value = low.call("unpack_star", value, *counts)
        elif not isinstance(value, ast.Tuple) or len(value.elts) != len(targets):
            value = low.call("unpack", value, constant(len(targets)))
        out: list[ast.stmt] = [ast.Assign([ast.Tuple(names, STORE)], value)]
        for inner, part in later:
            out += [*bind_target(low, inner, load(part)), forget(part)]
        return out
    parts = parts_of(low, target)
    start: list[ast.stmt] = []
    end: list[ast.stmt] = []
    if not all(is_still(low, part) for part in parts):
        value, start, end = kept(low, value)
    return [*start, ast.Expr(low.call(f"set_{kind_of(target)}", *parts, value)), *end]


def kept(low: Lowering, value: ast.expr) -> tuple[ast.expr, list[ast.stmt], list[ast.stmt]]:
    """A value that stands still whatever runs after it, and what gives and takes its variable."""
    if is_still(low, value):
        return value, [], []
    name = low.fresh("value")
    return load(name), [assign(name, value)], [forget(name)]


def is_still(low: Lowering, value: ast.expr) -> bool:
    """Whether it makes no difference when a lowered expression is evaluated."""
    is_name = isinstance(value, ast.Name) and not low.context.has(gast.NamedExpr)
    return is_name or isinstance(value, ast.Constant)


def forget(name: str) -> ast.stmt:
    """`del` of a variable of ours, so that it holds nothing longer than the user's code does."""
    return ast.Delete([ast.Name(name, ast.Del())])


def delete(low: Lowering, target: Node, is_unsure: bool) -> list[ast.stmt]:
    """`del target`."""
    if isinstance(target, gast.Tuple | gast.List):
        return [made for part in target.elts for made in delete(low, part, is_unsure)]
    if isinstance(target, gast.Name):
        return [at(target, made) for made in delete_name(low, target.id, is_unsure)]
    return [at(target, ast.Expr(low.call(f"del_{kind_of(target)}", *parts_of(low, target))))]


def delete_name(low: Lowering, name: str, is_unsure: bool = False) -> list[ast.stmt]:
    """`del name`, of what is surely bound or not."""
    out: list[ast.stmt] = []
    # It raises what Python raises for a variable of its own.
    if is_unsure if low.is_local(name) else low.is_cell(name) and low.scope.has_cell(name):
        out.append(ast.Expr(low.read(name, is_unsure)))
    if low.is_local(name):
        return [*out, assign(name, low.undefined(name))]
    where = load(low.cell(name) if low.is_cell(name) else low.function)
    kind = "del_cell" if low.is_cell(name) else "del_glob"
    return [*out, ast.Expr(low.call(kind, where, constant(name)))]


def value(low: Lowering, node: Node) -> list[ast.stmt]:
    """An expression for its effect."""
    if isinstance(node.value, gast.Constant):
        return [ast.Pass()]
    make = getattr(node, "make", None)  # of what a comprehension does with each element
    return [ast.Expr(at(node, make()) if make else low.expression(node.value))]


def returned(low: Lowering, node: Node) -> list[ast.stmt]:
    """`return v`."""
    return [ast.Return(constant(None) if node.value is None else low.expression(node.value))]


def assigned(low: Lowering, node: Node) -> list[ast.stmt]:
    """`a = b = v`."""
    given = low.expression(node.value)
    if len(node.targets) == 1:
        return bind_target(low, node.targets[0], given)
    given, start, end = kept(low, given)
    given = at(node, given)
    bound = [made for target in node.targets for made in bind_target(low, target, given)]
    return [*start, *bound, *end]


def annotated(low: Lowering, node: Node) -> list[ast.stmt]:
    """`a: T = v`; without a value only what stands in the target is evaluated."""
    if node.value is not None:
        return bind_target(low, node.target, low.expression(node.value))
    target = node.target
    if isinstance(target, gast.Name):
        return [ast.Pass()]
    parts = [target.value, *([target.slice] if isinstance(target, gast.Subscript) else [])]
    return [at(part, ast.Expr(low.expression(part))) for part in parts]


def augmented(low: Lowering, node: Node) -> list[ast.stmt]:
    """`a += v`: what stands in the target is evaluated once."""
    target, operator = node.target, f"i{OPERATORS[type(node.op)]}"
    if isinstance(target, gast.Name):
        known = low.read(target.id, id(node) in low.names.unsure)
        made = low.call(operator, known, low.expression(node.value))
        return [low.write(target.id, made)]
    kind = kind_of(target)
    (owner, start, end), (key, *more) = (kept(low, part) for part in parts_of(low, target))
    made = low.call(operator, low.call(kind, owner, key), low.expression(node.value))
    changed = ast.Expr(low.call(f"set_{kind}", owner, key, made))
    return [*start, *more[0], changed, *end, *more[1]]


def deleted(low: Lowering, node: Node) -> list[ast.stmt]:
    """`del a, b.c, d[i]`."""
    is_unsure = id(node) in low.names.unsure
    return [made for target in node.targets for made in delete(low, target, is_unsure)]


def imported(low: Lowering, node: Node) -> list[ast.stmt]:
    """`import a.b`, `from a import b`: Python's own, and then what it binds is stored."""
    out: list[ast.stmt] = [gast.gast_to_ast(node)]
    for alias in node.names:
        bound = (alias.asname or alias.name).split(".")[0]
        given: tuple[Any, ...] = (0, alias.name if alias.asname else bound, "")
        if isinstance(node, gast.ImportFrom):
            given = (node.level, node.module or "", alias.name)
        values = [constant(one) for one in given]
        found = low.call("imported", load(low.function), *values, load(bound))
        out.append(low.write(bound, found))
    return out


def raised(low: Lowering, node: Node) -> list[ast.stmt]:
    """`raise E from C`."""
    if node.exc is None:
        return [ast.Raise()]
    error = low.call("raised", low.expression(node.exc))
    return [ast.Raise(error, None if node.cause is None else low.expression(node.cause))]


def asserted(low: Lowering, node: Node) -> list[ast.stmt]:
    """`assert t, m`."""
    if not __debug__:
        return [ast.Pass()]
    message = constant(None)
    if node.msg is not None:
        message = low.operand(node, low.expression(node.msg))
    return [ast.Expr(low.call("convert_assert", low.expression(node.test), message))]


def type_alias(low: Lowering, node: Node) -> list[ast.stmt]:
    """`type X = ...`: Python's own, which evaluates it when somebody asks."""
    name, made = node.name.id, gast.gast_to_ast(node)
    bound = [] if low.is_local(name) else [low.write(name, load(name))]
    return [made, *bound]


STATEMENTS: dict[type, Any] = {
    gast.AnnAssign: annotated,
    gast.Assert: asserted,
    gast.Assign: assigned,
    gast.AugAssign: augmented,
    gast.Break: lambda low, node: [ast.Break()],  # in a loop that stays Python's own
    gast.Continue: lambda low, node: [ast.Continue()],
    gast.Delete: deleted,
    gast.Expr: value,
    gast.Global: lambda low, node: [],  # each read and write says by itself what it means
    gast.Import: imported,
    gast.ImportFrom: imported,
    gast.Nonlocal: lambda low, node: [],
    gast.Pass: lambda low, node: [ast.Pass()],
    gast.Raise: raised,
    gast.Return: returned,
}
if hasattr(gast, "TypeAlias"):  # since Python 3.12
    STATEMENTS[gast.TypeAlias] = type_alias
