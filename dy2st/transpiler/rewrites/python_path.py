"""The tree that runs: the user's statements inline, their staged forms beside them.

    if (test_0 := a > 0) is True or ... :       # plain and true
        x = 1
    elif test_0 is False:
        x = 2
    else:                                       # traced
        def true_fn_0(): ...
        def false_fn_0(): ...
        x = convert_ifelse(test_0, true_fn_0, false_fn_0, ...)

The tree that is printed keeps only the staged forms, which look at every value themselves. Inside
a staged form all statements are in staged form, so the whole grows with depth times length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    FUNCTIONS,
    LOOPS,
    Block,
    Node,
    assign,
    at,
    blocks,
    constant,
    is_own,
    is_untouched,
    load,
    statements,
    store,
    thunk,
    tuple_of,
    walk,
    with_fields,
)
from dy2st.transpiler.rewrites.control import Group, undeclared
from dy2st.transpiler.rewrites.logical import is_surely_bool
from dy2st.transpiler.rewrites.python_expressions import (
    Expressions,
    same,
)

# Longer chains of `elif` share one staged form, which begins with the case that is traced.
_SHARED_FROM = 4
# Deeper statements are in staged form only: each is written once for every statement around it.
MAXIMAL_INLINE_DEPTH = 12


def with_python_path(tree: Node, context: Context) -> Node:
    """The tree that runs, which shares nodes with the lowered tree; that one stays as it is."""
    return _PythonPath(tree, context).visit(tree)


class _PythonPath(Expressions):
    def __init__(self, tree: Node, context: Context):
        super().__init__(context)
        self._depth = 0
        self._tree = tree
        self._bindings: Counter[str] | None = None
        self._declared = _declared(tree)
        self._kinds.update(
            {
                gast.Assign: self._assign,
                gast.AsyncFunctionDef: self._function,
                gast.Expr: self._expression,
                gast.FunctionDef: self._function,
                gast.If: self._left_test,
                gast.While: self._left_test,
            }
        )
        self._groups: dict[type, Callable[[Group], Block | None]] = {
            gast.If: self._if,
            gast.While: self._while,
            gast.For: self._for,
        }

    def parts(self, nodes: list[Node]) -> list[Node]:
        """The forms of several nodes; those of one statement are taken together."""
        out: list[Node] = []
        skip = 0
        for place, node in enumerate(nodes):
            if skip:
                skip -= 1
                continue
            if hasattr(node, "match"):
                made, skip = self._match(node, nodes[place + 1 :])
                out += made
                continue
            group = getattr(node, "group", None)
            if group is not None:
                skip = len(group.nodes) - 1
                out += [at(group.statement, new) for new in self._group(group)]
            elif isinstance(node, gast.AST):
                out.append(self.visit(node))
            else:
                out.append(node)
        return out

    def _group(self, group: Group) -> Block:
        """One `if` or loop; a kind without a form here stays as it is printed."""
        inline = self._groups.get(type(group.statement))
        if inline is None or self._depth >= MAXIMAL_INLINE_DEPTH:
            return group.nodes
        is_loop = isinstance(group.statement, LOOPS)
        self._depth += 1
        self.loops += is_loop
        made = inline(group)
        self.loops -= is_loop
        self._depth -= 1
        return group.nodes if made is None else made

    def _if(self, group: Group) -> Block:
        chain = _chain(group)
        if len(chain) >= _SHARED_FROM:
            return self._elifs(chain)
        body, orelse = (self.parts(_branch(group, place)) for place in (0, 1))
        test, *arguments = group.call.args
        if is_surely_bool(test):
            return [gast.If(self.visit(test), body or [gast.Pass()], orelse)]
        found = self.decide(test)
        staged = self.context.call("convert_ifelse", found.staged, *arguments)
        last = gast.If(
            found.is_no, orelse or [gast.Pass()], [*group.starts, *group.with_call(staged)]
        )
        return [gast.If(found.yes, body or [gast.Pass()], [last])]

    def _match(self, start: Node, later: Block) -> tuple[Block, int]:
        """Python's own `match` for a plain subject, and for how many later nodes it stands."""
        looks = start.match
        found, last = self._cases(later)
        if looks.enums is None or not found or self._depth >= MAXIMAL_INLINE_DEPTH:
            return [self.visit(start)], 0
        count = found[0][1]
        subject = load(looks.subject)
        taken = gast.NamedExpr(store(looks.subject), self.visit(start.value))
        names = gast.Tuple([constant(name) for name in looks.names], gast.Load())
        asked = [constant(looks.depth), names]
        if looks.enums:
            enums = thunk(tuple_of(looks.enums))
            is_plain = self.context.call("is_plain_subject", taken, *asked, enums)
        else:
            is_plain = self.context.call("is_plain_subject", subject, *asked)
            kind = self.is_plain_type(taken, "plain_subjects")
            is_plain = gast.BoolOp(gast.Or(), [kind, is_plain])
        self._depth += 1
        cases = [(group.statement.pattern, self.parts(_branch(group, 0))) for group, _ in found]
        if last:
            cases.append((at(last[0], gast.MatchAs(None, None)), self.parts(last)))
        self._depth -= 1
        made = [gast.match_case(p, None, body or [gast.Pass()]) for p, body in cases]
        chosen = gast.If(is_plain, [gast.Match(subject, made)], later[:count])
        return [at(start, chosen)], count

    def _cases(self, block: Block) -> tuple[list[tuple[Group, int]], Block]:
        """The cases that begin a block, with the number of their nodes, and what follows them."""
        found: list[tuple[Group, int]] = []
        while block:
            before = int(self.own_name(getattr(block[0], "value", None)) == "convert_match")
            group = getattr(block[before], "group", None)
            if group is None or not hasattr(group.statement, "pattern"):
                break
            count = before + len(group.nodes)
            if found and count != len(block):
                break
            found.append((group, count))
            block = _branch(group, 1)
        return found, block

    def _elifs(self, chain: list[Group]) -> Block:
        """Many cases: each is looked at if all before it are surely false.

        if (level := 1) and (test := a) is True or ...: ...
        elif test is False and (level := 2) and ((test := b) is True or ...): ...
        elif test is False: ...
        else: the first traced case was number `level`
        """
        state, level = self.context.flag("test"), self.context.flag("level")
        tests: list[Node] = []
        is_open = False
        for number, group in enumerate(chain, 1):
            test = group.call.args[0]
            parts = [same(load(state), False)] if is_open else []
            if is_surely_bool(test):
                parts.append(self.visit(test))
            else:
                is_open = True
                parts += [gast.NamedExpr(store(level), constant(number)), self.truth(test, state)]
            tests.append(gast.BoolOp(gast.And(), parts) if len(parts) > 1 else parts[0])
        last = self.parts(_branch(chain[-1], 1))
        if is_open:
            staged = self._staged_from(chain, level, state)
            last = [gast.If(same(load(state), False), last or [gast.Pass()], staged)]
        for group, test in zip(chain[::-1], tests[::-1], strict=True):
            body = self.parts(_branch(group, 0)) or [gast.Pass()]
            last = [at(group.statement, gast.If(test, body, last))]
        return last

    def _staged_from(self, chain: list[Group], level: str, state: str) -> Block:
        """The staged form of all cases, where those before `level` are known to be false."""
        number, decided = self.context.flag("level"), self.context.flag("test")
        nodes: Block = []
        for place, group in reversed(list(enumerate(chain, 1))):
            test, *arguments = group.call.args
            is_it = gast.Compare(load(number), [gast.Eq()], [constant(place)])
            now = gast.IfExp(is_it, load(decided), test)
            is_past = gast.Compare(load(number), [gast.Gt()], [constant(place)])
            pred = at(test, gast.IfExp(is_past, constant(False), now))
            made = group.with_call(self.context.call("convert_ifelse", pred, *arguments))
            if nodes:
                made[1] = _with_rest(made[1], nodes)
            nodes = [at(group.statement, node) for node in (*group.starts, *made)]
        return [assign(number, load(level)), assign(decided, load(state)), *nodes]

    def _while(self, group: Group) -> Block | None:
        if group.starts:
            return None
        condition, turn = group.functions
        test = condition.body[-1].value
        body = self.parts(undeclared(turn)[:-1]) or [gast.Pass()]
        if is_surely_bool(test):
            return [gast.While(self.visit(test), body, [])]
        found = self.decide(test)
        operators, mark = self.context.flag("operators"), self.context.flag("mark")
        length = self.context.call("builtin_len", load(operators))
        is_recording = gast.Compare(load(operators), [gast.IsNot()], [constant(None)])
        marked = gast.If(is_recording, [assign(mark, length)], [])
        ended = gast.If(gast.UnaryOp(gast.Not(), found.yes), [gast.Break()], [])
        staged = self.context.call(
            "convert_rest_of_while", *group.call.args, load(mark), found.staged
        )
        undecided = gast.UnaryOp(gast.Not(), found.is_no)
        return [
            assign(operators, self.context.call("recorded_operators")),
            assign(mark, constant(0)),
            gast.While(constant(True), [*(at(test, n) for n in (marked, ended)), *body], []),
            gast.If(undecided, group.with_call(staged), []),
        ]

    def _for(self, group: Group) -> Block | None:
        if group.starts:
            return None
        if len(group.functions) == 2 and not self._has_stop(group):
            return self._for_range(group)
        return self._for_items(group)

    def _has_stop(self, group: Group) -> bool:
        return getattr(group.statement, "stop", None) is not None

    def _for_range(self, group: Group) -> Block:
        made, *rest = group.nodes
        taken, _, *inside, _ = undeclared(group.functions[1])
        numbers = made.targets[0].elts[0].id
        body = self.parts(inside) or [gast.Pass()]
        loop = gast.For(taken.targets[0], load(numbers), body, [], None)
        is_range = self._is_exactly(load(numbers), "builtin_range")
        return [self.visit(made), gast.If(is_range, [loop], rest)]

    def _for_items(self, group: Group) -> Block:
        statement = group.statement
        iterable, *arguments = group.call.args
        items = self.context.flag("items")
        body = undeclared(group.functions[-1])
        unpacks = group.functions[-1].args.args[0].id != getattr(statement.target, "id", None)
        inside = self.parts(body[1 if unpacks else 0 : -1]) or [gast.Pass()]
        stop = getattr(statement, "stop", None)
        if stop is None:
            pair = gast.Tuple(
                [load(items), gast.NamedExpr(store(items), constant(None))], gast.Load()
            )
            given = gast.Subscript(pair, constant(0), gast.Load())
            unrolled = [gast.For(statement.target, given, inside, [], None)]
        else:
            rest = self.context.call("convert_rest_of_for", load(items), *arguments)
            inside += self._leave(stop, group.with_call(rest))
            loop = gast.For(statement.target, load(items), inside, [], None)
            taken_by = "held_iter" if statement.facts.reread else "builtin_iter"
            unrolled = [
                assign(items, self.context.call(taken_by, load(items))),
                gast.Try([loop], [], [], [assign(items, constant(None))]),
            ]
        staged = self.context.call("convert_for_loop", load(items), *arguments)
        taken = gast.NamedExpr(store(items), self.visit(iterable))
        is_staged = self.context.call("is_staged_iterable", taken)
        return [at(iterable, gast.If(is_staged, group.with_call(staged), unrolled))]

    def _leave(self, stop: str, rest: Block) -> Block:
        """After a turn: leave if the flag is up, or let a traced flag decide on the rest."""
        traced = gast.If(gast.UnaryOp(gast.Not(), same(load(stop), True)), rest, [])
        lowered = same(load(stop), False)
        return [gast.If(gast.UnaryOp(gast.Not(), lowered), [traced, gast.Break()], [])]

    # Statements

    def _left_test(self, node: Node) -> Node:
        """A condition left as Python is looked at inline, and refused if it is traced."""
        if self.own_name(node.test) != "convert_python_bool":
            return self.generic(node)
        test, *reason = node.test.args
        found = self.decide(test)
        refusal = self.context.call("convert_python_bool", found.staged, *reason)
        refused = gast.BoolOp(gast.And(), [gast.UnaryOp(gast.Not(), found.is_no), refusal])
        new = self.generic(with_fields(node, {"test": constant(True)}))
        decided = at(node.test, gast.BoolOp(gast.Or(), [found.yes, refused]))
        return with_fields(new, {"test": decided})

    def _expression(self, node: Node) -> Node:
        """`convert_assert(test, message)` is called only if the test does not hold."""
        if self.own_name(node.value) != "convert_assert":
            return self.generic(node)
        test, *message = node.value.args
        found = self.decide(test)
        failed = gast.IfExp(found.is_no, constant(False), found.staged)
        failure = at(node, gast.Expr(self.context.call("convert_assert", failed, *message)))
        return at(node, gast.If(gast.UnaryOp(gast.Not(), found.yes), [failure], []))

    def _assign(self, node: Node) -> Node:
        """What changes lists and dicts of Python is done inline."""
        own = self.own_name(node.value)
        if own == "undefined":
            name = self.context.undefined_value(node.value.args[0].value)
            return with_fields(node, {"value": at(node, load(name))})
        inline = None
        if own == "convert_setitem" and len(node.value.args) == 3:
            inline = self._set_item(*node.value.args)
        elif own == "convert_append":
            inline = self._append(*node.value.args)
        elif own == "convert_pop":
            inline = self._pop(node)
        if inline is None:
            return self.generic(node)
        test, statement = inline
        return at(node, gast.If(test, [statement], [self.generic(node)]))

    def _set_item(self, target: Node, index: Node, value: Node) -> tuple[Node, Node] | None:
        if not self.is_simple(index) or not self.is_simple(target):
            return None
        test = self.is_container(target.id)
        known: frozenset[str] = frozenset()
        if isinstance(index, gast.Name):
            test = gast.BoolOp(gast.And(), [test, self.is_plain_type(index, "plain_types")])
            known = frozenset({index.id})
        item = gast.Subscript(target, index, gast.Store())
        return test, gast.Assign([item], self.visit_with(value, known), None)

    def _append(self, target: Node, value: Node) -> tuple[Node, Node] | None:
        if not self.is_simple(target):
            return None
        method = gast.Attribute(target, "append", gast.Load())
        return self._is_exactly(target, "builtin_list"), gast.Expr(
            gast.Call(method, [self.visit(value)], [])
        )

    def _pop(self, node: Node) -> tuple[Node, Node] | None:
        target, *arguments = node.value.args
        if not self.is_simple(target) or not all(isinstance(a, gast.Constant) for a in arguments):
            return None
        method = gast.Attribute(target, "pop", gast.Load())
        popped = gast.Call(method, arguments, [])
        return self._is_exactly(target, "builtin_list"), gast.Assign(
            [node.targets[0].elts[1]], popped, None
        )

    def _is_exactly(self, value: Node, kind: str) -> Node:
        found = self.context.call("type_of", value)
        return gast.Compare(found, [gast.Is()], [load(self.context.helper(kind))])

    def _function(self, node: Node) -> Node:
        """A function of the user; its decorators, defaults and annotations stay."""
        if is_untouched(node):
            return node
        local = node.local_names if not is_own(node) else frozenset()
        names = (local | self.context.flags) - self._declared
        defined = {function.name for function in _plain_definitions(node)} - self._declared
        once = frozenset(name for name in defined if self._is_bound_once(name))
        self.scopes.append((frozenset(names), once))
        around, (self._depth, self.loops) = (self._depth, self.loops), (0, 0)
        body = self.parts(node.body)
        self._depth, self.loops = around
        self.scopes.pop()
        return with_fields(node, {"body": body})

    def _is_bound_once(self, name: str) -> bool:
        if self._bindings is None:
            self._bindings = _count_bindings(self._tree)
        return self._bindings[name] == 1


def _branch(group: Group, place: int) -> Block:
    """The statements of a branch, without the results that its function returns."""
    has_results = bool(group.statement.facts.changed)
    return undeclared(group.functions[place])[: -1 if has_results else None]


def _chain(group: Group) -> list[Group]:
    """An `if` and all its `elif`s: each is all that the `else` before it holds."""
    found = [group]
    while True:
        rest = _branch(found[-1], 1)
        inner = getattr(rest[0], "group", None) if rest else None
        if inner is None or not isinstance(inner.statement, gast.If):
            return found
        if len(rest) != len(inner.nodes):
            return found
        found.append(inner)


def _with_rest(function: Node, nodes: Block) -> Node:
    """A generated function with other statements between its declarations and its results."""
    rest = undeclared(function)
    declared = function.body[: len(function.body) - len(rest)]
    results = [node for node in rest[-1:] if isinstance(node, gast.Return)]
    return with_fields(function, {"body": [*declared, *nodes, *results]})


def _plain_definitions(node: Node) -> Block:
    """The functions without decorators that are defined in the statements of a function."""
    found: Block = []
    for block in blocks(node):
        for statement in block:
            if isinstance(statement, gast.FunctionDef) and not is_own(statement):
                found += [] if statement.decorator_list else [statement]
            elif not isinstance(statement, gast.ClassDef):
                found += _plain_definitions(statement)
    return found


def _count_bindings(tree: Node) -> Counter[str]:
    """How often each name is bound, in whatever scope."""
    found: Counter[str] = Counter()
    for node in walk(tree):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            found[node.id] += 1
        elif isinstance(node, (*FUNCTIONS, gast.ClassDef)):
            found[node.name] += 1
        elif isinstance(node, gast.alias):
            found[(node.asname or node.name).split(".")[0]] += 1
        elif isinstance(node, gast.MatchAs | gast.MatchStar) and node.name:
            found[node.name] += 1
        elif isinstance(node, gast.MatchMapping) and node.rest:
            found[node.rest] += 1
    return found


def _declared(tree: Node) -> frozenset[str]:
    """Names that some function rebinds for another one."""
    nodes = (n for n in statements(tree) if isinstance(n, gast.Global | gast.Nonlocal))
    return frozenset(name for node in nodes for name in node.names)
