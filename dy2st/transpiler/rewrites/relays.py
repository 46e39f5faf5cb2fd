"""A function that relays what is raised in it to its caller, where a tensor decides on that.

    def f(x):                         def f(x):
        if x.sum() > 0:                   place_0 = convert_heard("file.py", "f", 1)
            raise ValueError              if x.sum() > 0:
        return g(x) + 1                       if convert_in_branch(place_0):
                                                  return convert_relayed(place_0, "0", ValueError)
                                              else:
                                                  raise ValueError
                                          call_0 = convert_relaying(place_0, g)(x)
                                          if convert_has_raised(call_0, 0, True): return ...
                                          return convert_result(call_0) + 1

In a `try` with handlers the exception of a called function is raised again, and `caught_raises`
does the rest. Only the lines that an exception is known to pass are rewritten.
"""

from __future__ import annotations

import builtins
import copy
from dataclasses import dataclass

import gast

from dy2st.transpiler.analysis.scopes import NameTable, bound_in
from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    CONTROL,
    SCOPES,
    Block,
    Node,
    assign,
    at,
    blocks,
    constant,
    first_line,
    functions_in,
    is_generator,
    is_own,
    load,
    split_docstring,
    store,
    walk,
    walk_scope,
)
from dy2st.transpiler.rewrites.caught_raises import open_asserts

# How many exceptions a call can relay.
MOST_RELAYED = 8
# Other rewrites know these methods by their names.
_KNOWN = frozenset(
    {
        *("add", "append", "clear", "discard", "extend", "format", "insert", "items", "keys"),
        *("pop", "popitem", "remove", "reverse", "setdefault", "sort", "update", "values"),
    }
)
_STOPS = (gast.Yield, gast.YieldFrom, gast.Await)


@dataclass(frozen=True)
class Relays:
    """The lines at which a function raises or is passed, and how many exceptions pass each."""

    counts: frozenset[tuple[int, int]]


def transform(tree: Node, context: Context, relays: Relays) -> None:
    """Rewrite the functions that have one of the lines."""
    counts = dict(relays.counts)
    for function in functions_in(tree):
        own = counts.keys() & range(function.lineno, function.end_lineno + 1)
        if own and isinstance(function, gast.FunctionDef) and not is_generator(function):
            _Relays(function, context, {line: counts[line] for line in own}).rewrite()


@dataclass(frozen=True)
class _Where:
    """The variable with the place of what hears of an exception, and whether it is a `try`."""

    place: str
    is_try: bool


class _Relays:
    def __init__(self, function: Node, context: Context, counts: dict[int, int]):
        self._function = function
        self._context = context
        self._counts = counts
        self._own = _own_names(function)
        self._opened_asserts: Block = []
        self._caught = ""  # the variable with the exception that a handler has caught

    def rewrite(self) -> None:
        """Rewrite the body."""
        function = self._function
        place = self._context.flag("heard")
        file = self._context.function.__code__.co_filename
        key = map(constant, (file, function.name, first_line(function)))
        docstring, rest = split_docstring(function.body)
        if not rest:
            return
        start = at(rest[0], assign(place, self._context.call("convert_heard", *key)))
        function.body = [*docstring, start, *self._block(rest, _Where(place, False))]

    def _block(self, block: Block, where: _Where | None) -> Block:
        if where is not None and not where.is_try and any(map(self._is_relayed, block)):
            block = self._opened(block)
        return [new for statement in block for new in self._statement(statement, where)]

    def _opened(self, block: Block) -> Block:
        out: Block = []
        for statement in block:
            if statement in self._opened_asserts or not self._is_relayed(statement):
                out.append(statement)
            elif isinstance(statement, gast.Assert):
                self._opened_asserts.append(statement)
                out += open_asserts([statement], self._context)
            else:
                out.append(statement)
        return out

    def _statement(self, node: Node, where: _Where | None) -> Block:
        if isinstance(node, SCOPES):
            return [node]
        if isinstance(node, gast.Raise):
            return [self._raise(node, where)]
        before: Block = []
        if where is not None and self._is_relayed(node):
            before = _Calls(self, where, self._own).taken_out(node)
        return [*before, *self._with_blocks(node, where)]

    def _with_blocks(self, node: Node, where: _Where | None) -> Block:
        if isinstance(node, gast.Try):
            return self._try(node, where)
        if not isinstance(node, CONTROL) and not self._keeps(node, where):
            where = None
        for block in blocks(node):
            block[:] = self._block(block, where)
        return [node]

    def _keeps(self, node: Node, where: _Where | None) -> bool:
        """Whether a `return` may stand in a statement where a `raise` stood."""
        return where is not None and not where.is_try and isinstance(node, gast.With)

    def _try(self, node: Node, where: _Where | None) -> Block:
        start: Block = []
        inner = where
        if node.handlers:
            inner = _Where(self._context.flag("place"), True)
            start = [at(node, assign(inner.place, self._context.call("convert_place")))]
            if where is not None and not where.is_try:
                node.unmatched = lambda error: self._raise_or_relay(node, where, load(error))
        for handler in node.handlers:
            self._handler(handler, where)
        node.body = self._block(node.body, inner)
        node.orelse = self._block(node.orelse, where)
        node.finalbody = self._block(node.finalbody, None)
        return [*start, node]

    def _handler(self, handler: Node, where: _Where | None) -> None:
        outer, self._caught = self._caught, ""
        start: Block = []
        if any(_is_bare_raise(inner) for inner in walk_scope(handler)):
            self._caught = self._context.flag("caught")
            handler.name = handler.name or store(self._context.flag("error"))
            start = [at(handler.body[0], assign(self._caught, load(handler.name.id)))]
        handler.body = [*start, *self._block(handler.body, where)]
        self._caught = outer

    def _is_relayed(self, node: Node) -> bool:
        """Whether one of the lines is a statement's own, not of a statement in it."""
        inner = [statement for block in blocks(node) for statement in block]
        last = min([node.end_lineno + 1, *(statement.lineno for statement in inner)])
        last = last if inner and last > node.lineno else max(last, node.lineno + 1)
        return not self._counts.keys().isdisjoint(range(node.lineno, last))

    def _raise(self, node: Node, where: _Where | None) -> Node:
        if where is None or where.is_try or node.cause is not None:
            return node
        if not self._is_relayed(node) or (node.exc is None and not self._caught):
            return node
        error = load(self._caught) if node.exc is None else copy.deepcopy(node.exc)
        return self._raise_or_relay(node, where, error)

    def _raise_or_relay(self, node: Node, where: _Where, error: Node) -> Node:
        raised = node if isinstance(node, gast.Raise) else gast.Raise(error, None)
        test = self._context.call("convert_in_branch", load(where.place))
        relayed = gast.Return(self.relayed(where, error))
        return at(node, gast.If(test, [relayed], [raised]))

    def relayed(self, where: _Where, error: Node) -> Node:
        """The call that makes an exception the function's result."""
        site = constant(self._context.fresh("relay"))
        return self._context.call("convert_relayed", load(where.place), site, error)

    def called(self, call: Node, where: _Where) -> tuple[str, Block]:
        """A variable for the result of a call, and the statements that call and look at it."""
        name = self._context.flag("call")
        lines = range(call.lineno, call.end_lineno + 1)
        count = min(max(self._counts.get(line, 0) for line in lines), MOST_RELAYED)
        function = self._context.call("convert_relaying", load(where.place), call.func)
        call.func = at(call, function)
        looked: Block = []
        for index in reversed(range(count)):
            is_last = constant(index == count - 1)
            test = self._context.call("convert_has_raised", load(name), constant(index), is_last)
            error = self._context.call("convert_relayed_error", load(name), constant(index))
            again = (
                gast.Raise(error, None) if where.is_try else gast.Return(self.relayed(where, error))
            )
            looked = [gast.If(test, [again], looked)]
        return name, [at(call, statement) for statement in (assign(name, call), *looked)]

    def result(self, name: str) -> Node:
        """The result of a call that has not raised."""
        return self._context.call("convert_result", load(name))

    def kept(self, value: Node) -> tuple[Node, Node]:
        """A variable for a value that is evaluated before a call, and its assignment."""
        name = self._context.flag("kept")
        return at(value, load(name)), at(value, assign(name, value))


class _Calls:
    """Takes the calls out of a statement, in the order in which Python evaluates."""

    def __init__(self, relays: _Relays, where: _Where, own: set[str]):
        self._relays = relays
        self._where = where
        self._own = own
        self._out: Block = []

    def taken_out(self, node: Node) -> Block:
        """The statements for the calls of a statement, which then has their results."""
        field = self._field(node)
        value = getattr(node, field, None) if field else None
        if value is None or not _has_call(value):
            return []
        setattr(node, field, at(value, self._expression(value)))
        return self._out

    def _field(self, node: Node) -> str:
        if isinstance(node, gast.AugAssign) and not self._is_settled(node.target):
            return ""
        kinds = (gast.Expr, gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Return)
        if isinstance(node, kinds):
            return "value"
        return {gast.If: "test", gast.For: "iter", gast.Assert: "test"}.get(type(node), "")

    def _expression(self, node: Node) -> Node:
        parts = _parts(node)
        last = max((k for k, part in enumerate(parts) if _has_call(part.value)), default=-1)
        for k, part in enumerate(parts[: last + 1]):
            value = part.value
            if _has_call(value):
                part.put(at(value, self._expression(value)))
            if k < last and not part.is_owner and not self._is_settled(part.value):
                kept, assignment = self._relays.kept(part.value)
                self._out.append(assignment)
                part.put(kept)
        if not _is_call(node):
            return node
        name, statements = self._relays.called(node, self._where)
        self._out += statements
        return self._relays.result(name)

    def _is_settled(self, value: Node) -> bool:
        """Whether a call that follows cannot change what this is."""
        if isinstance(value, gast.Name):
            return value.id in self._own
        return isinstance(value, gast.Constant)


@dataclass
class _Part:
    """An expression in a field of another one, or at a place of a list in it."""

    owner: Node
    field: str
    index: int | None = None
    is_owner: bool = False

    @property
    def value(self) -> Node:
        held = getattr(self.owner, self.field)
        return held if self.index is None else held[self.index]

    def put(self, value: Node) -> None:
        if self.index is None:
            setattr(self.owner, self.field, value)
        else:
            getattr(self.owner, self.field)[self.index] = value


_FIELDS: dict[type, tuple[str, ...]] = {
    gast.Attribute: ("value",),
    gast.BinOp: ("left", "right"),
    gast.IfExp: ("test",),
    gast.Subscript: ("value", "slice"),
    gast.UnaryOp: ("operand",),
}


def _parts(node: Node) -> list[_Part]:
    """The parts that Python evaluates in any case, in that order."""
    if isinstance(node, gast.Call):
        return _parts_of_call(node)
    if isinstance(node, gast.Compare):
        return [_Part(node, "left"), _Part(node, "comparators", 0)]
    if isinstance(node, gast.BoolOp):
        return [_Part(node, "values", 0)]
    if isinstance(node, (gast.List, gast.Set, gast.Tuple)):
        if any(isinstance(entry, gast.Starred) for entry in node.elts):
            return []
        return [_Part(node, "elts", k) for k in range(len(node.elts))]
    return [_Part(node, field) for field in _FIELDS.get(type(node), ())]


def _parts_of_call(node: Node) -> list[_Part]:
    if any(isinstance(a, gast.Starred) for a in node.args) or any(
        keyword.arg is None for keyword in node.keywords
    ):
        return []
    parts = [_Part(node, "args", k) for k in range(len(node.args))]
    parts += [_Part(keyword, "value") for keyword in node.keywords]
    if isinstance(node.func, gast.Name):
        return parts
    if isinstance(node.func, gast.Attribute) and node.func.attr in _KNOWN:
        return [_Part(node.func, "value", is_owner=True), *parts]
    return [_Part(node, "func"), *parts]


def _has_call(node: Node) -> bool:
    return _is_call(node) or any(_has_call(part.value) for part in _parts(node))


def _is_call(node: Node) -> bool:
    """Whether this is a call that may raise what a `raise` statement in it raises."""
    if not isinstance(node, gast.Call) or is_own(node):
        return False
    if any(isinstance(inner, _STOPS) for inner in walk_scope(node)):
        return False
    if isinstance(node.func, gast.Name):
        return not hasattr(builtins, node.func.id)
    return not (isinstance(node.func, gast.Attribute) and node.func.attr in _KNOWN)


def _is_bare_raise(node: Node) -> bool:
    return isinstance(node, gast.Raise) and node.exc is None


def _own_names(function: Node) -> set[str]:
    """The variables that no other function can assign while one of them is called."""
    inner = {n for s in walk(function) if isinstance(s, gast.Nonlocal) for n in s.names}
    return bound_in(NameTable().inside(function), function) - inner
