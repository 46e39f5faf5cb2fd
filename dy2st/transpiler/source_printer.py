"""The traced form of a function as text: the tree that is compiled, to be read.

Names are printed as names. Operators, attributes, items and displays, which the form sends through
the trace, are printed as the user wrote them; in the full text as the calls that they are.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import gast

from dy2st.transpiler.lowering import BUILTINS, OPERATORS, Lowering
from dy2st.transpiler.nodes import Node, split_docstring
from dy2st.transpiler.source import quiet

LOAD, STORE, DEL = ast.Load(), ast.Store(), ast.Del()


def readable(low: Lowering, tree: Node, form: ast.stmt, is_full: bool) -> str:
    """The text of a traced form, under the head that the user wrote."""
    made: Any = _Reader(low, is_full).visit(form)
    head: Any = gast.gast_to_ast(tree.args)
    docstring: Any = [gast.gast_to_ast(one) for one in split_docstring(tree.body)[0]]
    made.args, made.body = head, [*docstring, *made.body]
    made.name = low.fresh("lambda") if made.name == "<lambda>" else made.name
    return to_source(ast.fix_missing_locations(made))


class _Reader(ast.NodeTransformer):
    """Puts names of variables in place of what holds them, and back what the user wrote.

    is_full: operators, attributes, items and displays stay calls.
    """

    def __init__(self, low: Lowering, is_full: bool):
        """Know which names are those of the protocol."""
        self._is_full = is_full
        self._names = {name: known for known, name in low.context.helpers.items()}
        self._declared: list[tuple[str, str]] = []  # (statement, name) of the function at hand
        self._own: set[str] = set()  # the cells that it makes

    def called(self, node: ast.AST | None) -> str:
        """Which function of the protocol a node calls, if any."""
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        return self._names.get(node.func.id, "") if is_call else ""  # type: ignore[union-attr]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Say which variables of others a function binds."""
        if hasattr(node, "is_plain") and not self._is_full:  # a loop that runs as it is written
            return []
        before = self._declared, self._own
        self._declared, self._own = [], set()
        self.generic_visit(node)
        node.body = [one for one in node.body if not isinstance(one, ast.Pass)] or [ast.Pass()]
        kinds: dict[str, type[Any]] = {"nonlocal": ast.Nonlocal, "global": ast.Global}
        for word, kind in kinds.items():
            names = sorted({n for w, n in self._declared if w == word} - self._own)
            node.body[:0] = [kind(names=names)] if names else []
        self._declared, self._own = before
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Cells that are made, and variables that an import binds, are names already."""
        name = self.called(node.value)
        if name == "new_cell":
            cell: Any = node.targets[0]
            name = self._variable(cell.id)
            self._own.add(name)
            if node.value.args:  # type: ignore[attr-defined]
                return []
            # So it is a variable of this function, without a value.
            unset = ast.Constant(value="undefined")
            return [ast.AnnAssign(target=_store(name), annotation=unset, value=None, simple=1)]
        if name in ("imported", "rest"):
            return []
        target = node.targets[0]
        return self.assign(target, node.value)

    def _variable(self, cell: str) -> str:
        return cell.removeprefix("c_").rpartition("_")[0]

    def visit_Expr(self, node: ast.Expr) -> Any:
        """What changes a variable, attribute or item is an assignment or `del`."""
        name, args = self.called(node.value), getattr(node.value, "args", [])
        if name == "set_cell":
            return self.assign(self._bound("nonlocal", self._variable(args[0].id)), args[1])
        if name == "set_glob":
            return self.assign(self._bound("global", args[1].value), args[2])
        if name in ("del_cell", "del_glob"):
            word = "nonlocal" if name == "del_cell" else "global"
            self._bound(word, args[1].value)
            return ast.Delete(targets=[ast.Name(id=args[1].value, ctx=DEL)])
        if self._is_full or name not in ("set_attr", "set_item", "del_attr", "del_item"):
            return self.generic_visit(node)
        word, kind = name.split("_")
        owner = _PLACES[kind](self.visit(args[0]), self.visit(args[1]), STORE)
        if word == "set":
            return self.assign(owner, args[2])
        return ast.Delete(targets=[owner])

    def _bound(self, word: str, name: str) -> ast.Name:
        self._declared.append((word, name))
        return _store(name)

    def assign(self, target: ast.expr, value: ast.expr) -> Any:
        """`target = value`; a function or class that is made there stands before it."""
        name, args = self.called(value), getattr(value, "args", [])
        in_place = _OPERATORS.get(name[1:]) if name[:1] == "i" and not self._is_full else None
        if in_place is not None:
            place, first = self.visit(target), self.visit(args[0])
            operator, value = in_place(), self.visit(args[1])
            if ast.unparse(place) == ast.unparse(first):
                return ast.AugAssign(target=place, op=operator, value=value)
            whole = ast.BinOp(left=first, op=operator, right=value)
            return ast.Assign(targets=[place], value=whole)
        if name in ("unpack", "unpack_star") and not self._is_full:
            if name == "unpack_star" and isinstance(target, ast.Tuple):
                star = target.elts[args[1].value]
                target.elts[args[1].value] = ast.Starred(value=star, ctx=STORE)
            value = args[0]
        made, before = self._definitions(value)
        if before and made is None:
            return before
        value = self.visit(value if made is None else made)
        return [*before, ast.Assign(targets=[self.visit(target)], value=value)]

    def _definitions(self, value: ast.expr) -> tuple[ast.expr | None, list[ast.stmt]]:
        """The decorators of a `def` as calls of its name, and the `def`; nothing of others."""
        written = getattr(value, "written", None)
        if written is not None and not isinstance(written, gast.Lambda):
            return None, [self._definition(value, written)]
        is_decorated = isinstance(value, ast.Call) and self.called(value.func) == "convert_call"
        if not is_decorated or len(value.args) != 1:  # type: ignore[attr-defined]
            return value, []
        call: Any = value
        inner, before = self._definitions(call.args[0])
        if not before:
            return value, []
        call.args[0] = inner or ast.Name(id=before[0].name, ctx=LOAD)  # type: ignore[attr-defined]
        return call, before

    def _definition(self, made: Any, node: Node) -> ast.stmt:
        """A function or class as it is written, with what its head evaluates."""
        found: Any = gast.gast_to_ast(node)
        found.decorator_list = []
        if self.called(made) == "make_class":
            found.bases = [self.visit(one) for one in made.args[4].elts]
        self._take_defaults(found, made)
        return found  # type: ignore[no-any-return]

    def _take_defaults(self, found: Any, made: Any) -> None:
        if self.called(made) != "make_function":
            return
        _, _, _, defaults, keywords, *_ = made.args
        if isinstance(defaults, ast.Tuple):
            found.args.defaults = [self.visit(one) for one in defaults.elts]
        if isinstance(keywords, ast.Dict):
            values = iter([self.visit(one) for one in keywords.values])
            found.args.kw_defaults = [
                None if one is None else next(values) for one in found.args.kw_defaults
            ]

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`(value := v, set_cell(c, value))[0]` is `(n := v)`."""
        pair: Any = node.value
        name = self.called(pair.elts[1]) if isinstance(pair, ast.Tuple) and pair.elts[1:] else ""
        if name not in ("set_cell", "set_glob"):
            return self.generic_visit(node)
        args = pair.elts[1].args
        bound = ("nonlocal", self._variable(args[0].id))
        target = self._bound(*(bound if name == "set_cell" else ("global", args[1].value)))
        value = self.visit(pair.elts[0].value)
        return ast.NamedExpr(target=target, value=value)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Python's own, under names that the user may have for others."""
        known = BUILTINS.get(self._names.get(node.id, ""))
        return node if known is None else ast.Name(id=known.__name__, ctx=LOAD)  # type: ignore[attr-defined]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Variables are names; functions stand as they are written."""
        written = getattr(node, "written", None)
        if written is not None:
            made: Any = gast.gast_to_ast(written)
            self._take_defaults(made, node)
            return made  # type: ignore[no-any-return]
        name = self.called(node)
        if name in ("glob", "cell", "local_cell"):
            text: Any = node.args[1]
            return ast.Name(id=text.value, ctx=LOAD)
        self.generic_visit(node)
        args: list[Any] = node.args
        if self._is_full:
            return node
        if name == "convert_call":
            called = args[0] if len(args) != 2 else ast.Attribute(args[0], args[1].value, LOAD)
            return ast.Call(func=node.func, args=[called], keywords=[])
        if name in _SHOWN:
            return ast.Call(func=node.func, args=args[: _SHOWN[name]], keywords=[])
        make = _EXPRESSIONS.get(name)
        return node if make is None else make(*args)

    def visit_With(self, node: ast.With) -> Any:
        """What notes the handlers of a `try` is none of the user's."""
        self.generic_visit(node)
        is_ours = self.called(node.items[0].context_expr) == "handling" and not self._is_full
        return node.body if is_ours else node


def _store(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=STORE)


def _gather(kind: Any, *entries: Any) -> ast.expr:
    elements = [
        ast.Starred(value=one.elts[1], ctx=LOAD) if one.elts[0].value else one.elts[1]
        for one in entries
    ]
    if kind.id == "set":
        return ast.Set(elts=elements)
    made: Any = ast.List if kind.id == "list" else ast.Tuple
    return made(elts=elements, ctx=LOAD)  # type: ignore[no-any-return]


def _part(part: Any) -> ast.expr:
    if isinstance(part, ast.Constant):
        return part
    value, conversion, spec = part.elts
    if isinstance(spec, ast.Constant):
        spec = ast.JoinedStr(values=[spec]) if spec.value else None
    code = ord(conversion.value) if conversion.value else -1
    return ast.FormattedValue(value=value, conversion=code, format_spec=spec)


def _same(value: ast.expr, *_: ast.expr) -> ast.expr:
    return value


def _operator(kind: Any) -> Callable[..., ast.expr]:
    if issubclass(kind, ast.operator):
        return lambda left, right: ast.BinOp(left=left, op=kind(), right=right)
    if issubclass(kind, ast.unaryop):
        return lambda value: ast.UnaryOp(op=kind(), operand=value)
    return lambda left, right: ast.Compare(left=left, ops=[kind()], comparators=[right])


_OPERATORS: Mapping[str, Any] = {
    name: getattr(ast, kind.__name__) for kind, name in OPERATORS.items()
}
_PLACES: Mapping[str, Callable[..., ast.expr]] = {
    "attr": lambda owner, name, ctx=LOAD: ast.Attribute(value=owner, attr=name.value, ctx=ctx),
    "item": lambda owner, index, ctx=LOAD: ast.Subscript(value=owner, slice=index, ctx=ctx),
}
_EXPRESSIONS: Mapping[str, Callable[..., ast.expr]] = {
    **{name: _operator(kind) for name, kind in _OPERATORS.items()},
    **_PLACES,
    "slice_": lambda *ends: ast.Slice(
        *[None if isinstance(e, ast.Constant) and e.value is None else e for e in ends]
    ),
    "gather": _gather,
    "gather_dict": lambda *entries: ast.Dict(
        keys=[one.elts[0] if len(one.elts) == 2 else None for one in entries],
        values=[one.elts[-1] for one in entries],
    ),
    "text": lambda *parts: ast.JoinedStr(values=[*map(_part, parts)]),
    **dict.fromkeys(("made", "truth", "iterate", "manager", "raised"), _same),
    **dict.fromkeys(("double_star", "spread_star", "spread_double_star"), _same),
}
# How many arguments of a statement are shown: not the names of variables, nor the loop as written.
_SHOWN: Mapping[str, int] = {
    "convert_ifelse": 6,
    "convert_while_loop": 3,
    "convert_for_loop": 4,
    "convert_try": 5,
    "convert_with": 3,
}


# What astor 0.8.1 prints wrongly or not at all.
_BEYOND_ASTOR = tuple(
    getattr(ast, name)
    for name in ("JoinedStr", "Match", "TryStar", "TypeAlias", "TemplateStr")
    if hasattr(ast, name)
)


def to_source(tree: ast.AST) -> str:
    """Print a tree as Python text that parses to the same tree."""
    if sys.version_info >= (3, 14) or any(
        isinstance(node, _BEYOND_ASTOR) or getattr(node, "type_params", None)
        for node in ast.walk(tree)
    ):
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    # Lines stay whole: astor would break them in the middle of a call.
    # The heavy import of this module, made where it is needed: it warns on Python 3.12
    with quiet.held():
        import astor
    module: ModuleType = astor
    text: str = module.to_source(tree, pretty_source="".join)
    return text
