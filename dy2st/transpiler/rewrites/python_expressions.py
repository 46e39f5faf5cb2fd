"""Expressions of the tree that runs: Python's own where the operands are plain.

Where an operand turns out to be traced, the call that the rewrites made decides:

    a and b    B if (t := A) is True or ... else ... convert_and(t, lambda: B)

Every operand is evaluated once. A temporary ends as a bool or as a traced value: it holds no
object of the user. Names are bound in expressions, so the iterables of comprehensions, where
Python forbids that, and generator expressions, which outlive the statement, keep the calls.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    Node,
    at,
    call,
    constant,
    is_own,
    is_untouched,
    load,
    store,
    thunk,
    walk,
    with_fields,
)
from dy2st.transpiler.rewrites.logical import is_surely_bool

_COMPARISONS = {
    "==": gast.Eq,
    "!=": gast.NotEq,
    "<": gast.Lt,
    "<=": gast.LtE,
    ">": gast.Gt,
    ">=": gast.GtE,
    "is": gast.Is,
    "is not": gast.IsNot,
}
# Conditions inside conditions, as `(a and b) or c`, are taken apart to this depth.
_TAKEN_APART = 3
# Methods of lists, dicts and sets that look at no item, called with plain arguments.
_PLAIN_METHODS = frozenset({"add", "append", "get", "items", "keys", "values"})
_ASKED = frozenset({"get", "items", "keys", "values"})
_PLAIN_BUILTINS = frozenset({"abs", "bool", "float", "int", "len"})
_BUILTINS = frozenset(dir(builtins))
# In these a name may come to mean another value.
_BINDING = (gast.Lambda, gast.NamedExpr, gast.comprehension)


@dataclass(eq=False, repr=False)
class Decision:
    """A condition in parts, for a statement that goes one of three ways.

    yes, no: evaluate the condition; true if it is surely true, or surely false.
    is_yes, is_no: after either of them, what it was; neither holds for a traced condition.
    staged: the traced condition, after either of them.
    is_single: whether one temporary ends as True, False or the traced condition.
    """

    yes: Node
    no: Node
    is_yes: Node
    is_no: Node
    staged: Node
    is_single: bool = False


class Expressions:
    """Rebuilds expressions; nodes without a change are shared with the tree that is printed."""

    def __init__(self, context: Context):
        """Share the context of the conversion."""
        self.context = context
        self._own = {known: name for name, known in context.helpers.items()}
        # The variables of the functions around, and the functions defined in them once for all.
        self.scopes: list[tuple[frozenset[str], frozenset[str]]] = []
        self.loops = 0
        self._known: dict[str, str] = {}
        self._plain_names: frozenset[str] = frozenset()  # whose types were looked at just now
        self._calls: dict[str, Callable[[Node], Node]] = {
            "convert_and": self._logical,
            "convert_call": self._callee,
            "convert_chain": self._chain,
            "convert_ifexp": self._ifexp,
            "convert_in": self._in,
            "convert_is": self._is,
            "convert_is_not": self._is,
            "convert_not": self._not,
            "convert_not_in": self._in,
            "convert_or": self._logical,
            "defined": self._defined,
        }
        self._kinds: dict[type, Callable[[Node], Node]] = {
            gast.Call: self._call,
            gast.DictComp: self._comprehension,
            gast.GeneratorExp: lambda node: node,
            gast.Lambda: self._lambda,
            gast.ListComp: self._comprehension,
            gast.SetComp: self._comprehension,
        }

    def own_name(self, node: Node) -> str:
        """Which function of `convert` an expression calls, or an empty text."""
        if isinstance(node, gast.Call) and is_own(node):
            return self._own.get(node.func.id, "")
        return ""

    def visit(self, node: Node) -> Node:
        """The form of a node that runs."""
        if is_untouched(node):
            return node
        own = self._calls.get(self.own_name(node))
        if own is not None:
            return at(node, own(node))
        special = self._kinds.get(type(node))
        return self.generic(node) if special is None else special(node)

    def visit_with(self, node: Node, plain_names: frozenset[str]) -> Node:
        """The form of an expression that is evaluated only if these variables are plain."""
        if not any(isinstance(inner, _BINDING) for inner in walk(node)):
            self._plain_names = plain_names
        new = self.visit(node)
        self._plain_names = frozenset()
        return new

    def generic(self, node: Node) -> Node:
        """A node with the forms of its parts that run; the very node if none differs."""
        changes = {}
        for field in node._fields:
            value = getattr(node, field, None)
            new = self._field(value)
            if new is not value:
                changes[field] = new
        return with_fields(node, changes) if changes else node

    def _field(self, value: Node) -> Node:
        if isinstance(value, list):
            new = self.parts(value)
            unchanged = len(new) == len(value) and all(map(_same, new, value))
            return value if unchanged else new
        return self.visit(value) if isinstance(value, gast.AST) else value

    def parts(self, nodes: list[Node]) -> list[Node]:
        """The forms of several nodes."""
        return [self.visit(node) if isinstance(node, gast.AST) else node for node in nodes]

    # Conditions

    def decide(self, node: Node, depth: int = 0, state: str | None = None) -> Decision:
        """Take a condition apart; if it is in one part, `state` may be its temporary."""
        own = self.own_name(node)
        if own == "convert_not":
            inner = self.decide(node.args[0], depth)
            staged = at(node, self.context.call("convert_not", inner.staged))
            return Decision(inner.no, inner.yes, inner.is_no, inner.is_yes, staged)
        if own in ("convert_and", "convert_or") and depth < _TAKEN_APART:
            join = self._joined if len(node.args) == 2 else self._several
            return join(node, own, depth)
        chain = self._unchained(node) if own == "convert_chain" else None
        if chain is not None:
            return self._joined(chain, "convert_and", depth)
        return self._single(node, state or self.context.flag("test"))

    def _single(self, node: Node, name: str) -> Decision:
        value = gast.NamedExpr(store(name), _as_bool(self.visit(node), node))
        is_yes, is_no = same(load(name), True), same(load(name), False)
        if is_surely_bool(node):
            yes, no = value, gast.UnaryOp(gast.Not(), value)
        elif isinstance(node, gast.BinOp):
            yes, no = self._of_number(name, value)
        else:
            plain = self.plain(name)
            truth = gast.UnaryOp(gast.Not(), gast.UnaryOp(gast.Not(), load(name)))
            truth = gast.NamedExpr(store(name), truth)
            untruth = gast.UnaryOp(gast.Not(), truth)
            yes = _or(same(value, True), _and(differs(load(name), False), plain, truth))
            no = _or(same(value, False), _and(differs(load(name), True), plain, untruth))
        made = Decision(yes, no, is_yes, is_no, load(name), True)
        for part in (made.yes, made.no, made.is_yes, made.is_no, made.staged):
            at(node, part)
        return made

    def _of_number(self, name: str, value: Node) -> tuple[Node, Node]:
        """Whether the result of arithmetic is surely true, or false: it is seldom a bool."""
        known = self.is_plain_type(value, "plain_scalars")
        plain = _or(known, self.context.call("untraced", load(name)))
        truth = gast.UnaryOp(gast.Not(), gast.UnaryOp(gast.Not(), load(name)))
        truth = gast.NamedExpr(store(name), truth)
        return _and(plain, truth), _and(plain, gast.UnaryOp(gast.Not(), truth))

    def _joined(self, node: Node, operator: str, depth: int) -> Decision:
        """`a and b` or `a or b`: b is looked at if a leaves the question open."""
        first, other = node.args
        one = self.decide(first, depth + 1)
        two = self.decide(_evaluated(other), depth + 1)
        later = self.context.call(operator, one.staged, other)
        if operator == "convert_and":
            is_no = _or(one.is_no, _and(one.is_yes, two.is_no))
            made = Decision(
                _and(one.yes, two.yes),
                _or(one.no, _and(one.is_yes, two.no)),
                _and(one.is_yes, two.is_yes),
                is_no,
                gast.IfExp(one.is_yes, two.staged, later),
            )
        else:
            is_yes = _or(one.is_yes, _and(one.is_no, two.is_yes))
            made = Decision(
                _or(one.yes, _and(one.is_no, two.yes)),
                _and(one.no, two.no),
                is_yes,
                _and(one.is_no, two.is_no),
                gast.IfExp(one.is_no, two.staged, later),
            )
        for part in (made.yes, made.no, made.is_yes, made.is_no, made.staged):
            at(node, part)
        return made

    def _several(self, node: Node, operator: str, depth: int) -> Decision:
        """Three and more operands share a temporary; a number says which one was the last."""
        first, *others = node.args
        state, level = self.context.flag("test"), self.context.flag("level")
        parts: list[Node] = []
        for number, operand in enumerate((first, *map(_evaluated, others)), 1):
            parts += [gast.NamedExpr(store(level), constant(number))]
            parts += [self.truth(operand, state, depth + 1)]
        is_yes, is_no = same(load(state), True), same(load(state), False)
        if operator == "convert_and":
            yes = _and(*parts)
        else:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            yes = _or(*(_and(*([is_no] if number else []), *p) for number, p in enumerate(pairs)))
        staged = self._from_level(operator, load(state), level, others)
        made = Decision(yes, _and(gast.UnaryOp(gast.Not(), yes), is_no), is_yes, is_no, staged)
        for part in (made.yes, made.no, made.staged):
            at(node, part)
        return made

    def truth(self, node: Node, state: str, depth: int = 0) -> Node:
        """Whether a condition is surely true; `state` becomes True, False or what is traced."""
        found = self.decide(node, depth, state)
        if found.is_single:
            return found.yes
        left = gast.IfExp(found.is_no, constant(False), found.staged)
        decided = gast.NamedExpr(store(state), gast.IfExp(found.yes, constant(True), left))
        return at(node, same(decided, True))

    def _from_level(self, operator: str, value: Node, level: str, others: list[Node]) -> Node:
        """The call that decides on from the operand of that number, whose value is known."""
        operands = gast.Tuple([constant(None), *others], gast.Load())
        rest = gast.Subscript(operands, gast.Slice(load(level), None, None), gast.Load())
        return self.context.call(operator, value, gast.Starred(rest, gast.Load()))

    def _unchained(self, node: Node) -> Node | None:
        """`a < b < c` as `a < b and b < c`, if b is a variable or literal."""
        left, symbol, lazy, *rest = node.args
        middle = _evaluated(lazy)
        if symbol.value not in _COMPARISONS or not self.is_simple(middle):
            return None
        first = at(node, gast.Compare(left, [_COMPARISONS[symbol.value]()], [middle]))
        if len(rest) == 2 and rest[0].value not in _COMPARISONS:
            return None
        if len(rest) == 2:
            operator = _COMPARISONS[rest[0].value]()
            second = at(node, gast.Compare(middle, [operator], [_evaluated(rest[1])]))
        else:
            second = at(node, self.context.call("convert_chain", middle, *rest))
            if self._unchained(second) is None:
                return None
        return at(node, self.context.call("convert_and", first, at(node, thunk(second))))

    # Values

    def _not(self, node: Node) -> Node:
        found = self.decide(node.args[0])
        later = self.context.call("convert_not", found.staged)
        return gast.IfExp(
            found.yes, constant(False), gast.IfExp(found.is_no, constant(True), later)
        )

    def _ifexp(self, node: Node) -> Node:
        test, body, orelse = node.args
        found = self.decide(test)
        later = self.context.call("convert_ifexp", found.staged, body, orelse)
        other = gast.IfExp(found.is_no, self.visit(_evaluated(orelse)), later)
        return gast.IfExp(found.yes, self.visit(_evaluated(body)), other)

    def _chain(self, node: Node) -> Node:
        chain = self._unchained(node)
        return self.generic(node) if chain is None else self._logical(chain)

    def _logical(self, node: Node) -> Node:
        """`a and b` as a value: a itself comes back if it decides."""
        operator = self.own_name(node) or "convert_and"
        first, *others = node.args
        *decisive, last = map(_evaluated, others)
        last = self.visit(last)
        if is_surely_bool(first) and not decisive:
            kind = gast.And() if operator == "convert_and" else gast.Or()
            return gast.BoolOp(kind, [self.visit(first), last])
        name, goes_on = self.context.flag("operand"), operator == "convert_and"
        opens = [self._open(first, name, goes_on)]
        later = self.context.call(operator, load(name), *others)
        if decisive:
            level = self.context.flag("level")
            opens.insert(0, gast.NamedExpr(store(level), constant(1)))
            for number, operand in enumerate(decisive, 2):
                opens += [gast.NamedExpr(store(level), constant(number))]
                opens += [self._open(operand, name, goes_on)]
            later = self._from_level(operator, load(name), level, others)
        decided = gast.IfExp(self.plain(name), released(name), later)
        ended = gast.IfExp(same(load(name), not goes_on), constant(not goes_on), decided)
        return gast.IfExp(_and(*opens) if len(opens) > 1 else opens[0], last, ended)

    def _open(self, operand: Node, name: str, goes_on: bool) -> Node:
        """Whether an operand leaves it to the next one."""
        asked = load(name) if goes_on else gast.UnaryOp(gast.Not(), load(name))
        # The temporary lets go of the operand before the next one is evaluated, as Python does.
        let_go = same(gast.NamedExpr(store(name), constant(goes_on)), goes_on)
        value = gast.NamedExpr(store(name), self.visit(operand))
        plain = _and(differs(load(name), not goes_on), self.plain(name), asked, let_go)
        return at(operand, _or(same(value, goes_on), plain))

    def _in(self, node: Node) -> Node:
        """`a in b` where b finds a by its value, and is no list or tuple of traced items."""
        value, container = node.args
        if not self.is_simple(value) or not self.is_simple(container):
            return self.generic(node)
        is_in = self.own_name(node) == "convert_in"
        compared = gast.Compare(value, [gast.In() if is_in else gast.NotIn()], [container])
        tests = [self.is_plain_type(container, "plain_values", "fresh_lookups")]
        tests += [self.is_plain_type(value, "plain_types")] if isinstance(value, gast.Name) else []
        return gast.IfExp(tests[0] if len(tests) == 1 else _and(*tests), compared, node)

    def _is(self, node: Node) -> Node:
        """`a is b` where neither is a bool or one of several values, of which a tensor decides."""
        if not all(map(self.is_simple, node.args)):
            return self.generic(node)
        is_same = self.own_name(node) == "convert_is"
        operators = (gast.Is, gast.IsNot) if is_same else (gast.IsNot, gast.Is)
        compared = gast.Compare(node.args[0], [operators[0]()], [node.args[1]])
        names = [value for value in node.args if isinstance(value, gast.Name)]
        types = load(self.context.helper("same_as_types"))
        kinds = [self.context.call("type_of", name) for name in names]
        belongs = gast.In if is_same else gast.NotIn
        chosen = [gast.Compare(kind, [belongs()], [types]) for kind in kinds]
        if not chosen:
            return compared
        if is_same:
            return _or(compared, _and(chosen[0] if len(chosen) == 1 else _or(*chosen), node))
        return _and(compared, _or(chosen[0] if len(chosen) == 1 else _and(*chosen), node))

    def _defined(self, node: Node) -> Node:
        """`defined(x)` is a look at the type, and a call only where it may be unbound."""
        name = node.args[0]
        if len(node.args) > 1 or not isinstance(name, gast.Name):
            return node
        kind = self.context.call("type_of", name)
        unbound = load(self.context.helper("perhaps_unbound"))
        return gast.IfExp(gast.Compare(kind, [gast.In()], [unbound]), node, name)

    # Calls

    def _call(self, node: Node) -> Node:
        """Methods and builtins that treat plain arguments as Python does are called at once."""
        new = self.generic(node)
        if self.own_name(node.func) != "convert_call":
            return new
        function = node.func.args[0]
        tests = self._plain_call(function, node)
        if tests is None:
            return self._remembered(function, node, new)
        test = tests[0] if len(tests) == 1 else _and(*tests)
        return at(node, gast.IfExp(test, with_fields(node, {"func": function}), new))

    def _remembered(self, function: Node, node: Node, new: Node) -> Node:
        """Where a name is called again and again: a function that is known is called at once."""
        if not isinstance(function, gast.Name) or not self._is_repeated(function.id):
            return new
        if node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
            return new
        name = function.id
        site = self.context.site(name, len(node.args))
        # A variable for each site: what it knows lives as long as a frame that calls it.
        if site not in self._known:
            self._known[site] = self.context.flag("known")
        variable = self._known[site]
        known = load(variable)
        taken = gast.NamedExpr(store(variable), gast.Call(_part(load(site), "known"), [], []))
        now = load(self.context.helper("now"))
        is_known = _and(
            taken,
            gast.Compare(_part(known, "function"), [gast.Is()], [load(name)]),
            gast.Compare(_part(known, "code"), [gast.Is()], [_part(load(name), "__code__")]),
            gast.Compare(_part(known, "era"), [gast.Is()], [_part(now, "era")]),
        )
        found = self.context.call("convert_call_at", load(site), load(name))
        chosen = gast.IfExp(is_known, known, gast.NamedExpr(store(variable), found))
        return with_fields(new, {"func": at(function, _part(chosen, "converted"))})

    def _is_repeated(self, name: str) -> bool:
        """Whether a loop, or the function of that name itself, calls the name."""
        if name in _BUILTINS or any(name in once for _, once in self.scopes):
            return False
        return self.loops > 0 or name == self.context.function.__name__

    def _plain_call(self, function: Node, node: Node) -> list[Node] | None:
        """The tests under which a call needs no look at its function, None if there are none."""
        if node.keywords or not all(isinstance(a, gast.Name | gast.Constant) for a in node.args):
            return None
        names = [a for a in node.args if isinstance(a, gast.Name)]
        if not all(map(self.is_simple, names)):
            return None
        if isinstance(function, gast.Attribute) and isinstance(function.value, gast.Name):
            if function.attr in _PLAIN_METHODS and self.is_simple(function.value):
                kind = "fresh_containers" if function.attr in _ASKED else "plain_containers"
                asked = [a for a in names if a.id not in self._plain_names]
                plain = [self.is_plain_type(load(a.id), "plain_types") for a in asked]
                return [self.is_plain_type(function.value, kind), *plain]
        elif isinstance(function, gast.Name) and function.id in _PLAIN_BUILTINS and names:
            builtin = load(self.context.helper(f"builtin_{function.id}"))
            fresh = ("plain_scalars", "fresh_containers")
            plain = [self.is_plain_type(load(a.id), *fresh) for a in names]
            return [gast.Compare(function, [gast.Is()], [builtin]), *plain]
        return None

    def _callee(self, node: Node) -> Node:
        function = node.args[0]
        if isinstance(function, gast.Name) and any(function.id in s for _, s in self.scopes):
            return function
        return self.generic(node)

    def _lambda(self, node: Node) -> Node:
        self.scopes.append((frozenset(parameter_names(node)), frozenset()))
        new = self.visit(node.body)
        self.scopes.pop()
        return node if new is node.body else with_fields(node, {"body": new})

    def _comprehension(self, node: Node) -> Node:
        """The targets and iterables stay."""
        names = ("key", "value") if isinstance(node, gast.DictComp) else ("elt",)
        changes: dict[str, Node] = {name: self.visit(getattr(node, name)) for name in names}
        changes["generators"] = [
            with_fields(g, {"ifs": self.parts(g.ifs)}) if g.ifs else g for g in node.generators
        ]
        return with_fields(node, changes)

    # Small parts

    def is_simple(self, node: Node) -> bool:
        """Whether an expression is a literal or a variable that nothing else can change."""
        if isinstance(node, gast.Name) and self.scopes:
            return node.id in self.scopes[-1][0]
        return isinstance(node, gast.Constant)

    def plain(self, name: str) -> Node:
        """Whether a temporary holds a value that is not traced."""
        kind = self.is_plain_type(load(name), "plain_scalars", "fresh_containers")
        return _or(kind, self.context.call("untraced", load(name)))

    def is_plain_type(self, value: Node, *types: str) -> Node:
        """Whether the type of a value is in one of some sets, as `plain_types`."""
        tests = [
            gast.Compare(
                self.context.call("type_of", value), [gast.In()], [load(self.context.helper(name))]
            )
            for name in types
        ]
        return tests[0] if len(tests) == 1 else _or(*tests)

    def is_container(self, name: str) -> Node:
        """Whether a variable holds a list or dict of Python."""
        return self.is_plain_type(load(name), "plain_containers")


def _as_bool(value: Node, node: Node) -> Node:
    """Literals and what joins them are surely decided, but not surely True or False."""
    if isinstance(node, gast.Constant) or (isinstance(node, gast.BoolOp) and is_surely_bool(node)):
        return gast.UnaryOp(gast.Not(), gast.UnaryOp(gast.Not(), value))
    return value


def same(value: Node, truth: bool) -> Node:
    """`value is True` or `value is False`."""
    return gast.Compare(value, [gast.Is()], [constant(truth)])


def differs(value: Node, truth: bool) -> Node:
    """`value is not True` or `value is not False`."""
    return gast.Compare(value, [gast.IsNot()], [constant(truth)])


def released(name: str) -> Node:
    """The value of a temporary, which lets go of it."""
    let_go = gast.NamedExpr(store(name), constant(None))
    pair = gast.Tuple([load(name), let_go], gast.Load())
    return gast.Subscript(pair, constant(0), gast.Load())


def parameter_names(function: Node) -> set[str]:
    """The names of the parameters of a function or lambda."""
    return {n.id for n in walk(function.args) if isinstance(n, gast.Name) and _is_param(n)}


def _is_param(node: Node) -> bool:
    return isinstance(node.ctx, gast.Param)


def _or(*values: Node) -> Node:
    return gast.BoolOp(gast.Or(), list(values))


def _and(*values: Node) -> Node:
    return gast.BoolOp(gast.And(), list(values))


def _part(value: Node, name: str) -> Node:
    return gast.Attribute(value, name, gast.Load())


def _same(one: object, other: object) -> bool:
    return one is other


def _evaluated(lazy: Node) -> Node:
    """What a lambda without parameters, or a function that a rewrite has named, gives."""
    return lazy.body if isinstance(lazy, gast.Lambda) else at(lazy, call(lazy.id))
