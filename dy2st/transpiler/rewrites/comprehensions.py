"""Comprehensions that a tensor may decide; while nothing is traced they run as they are.

    [v * 2 for v in xs if v > 0]

    [v * 2 for v in xs if v > 0] if convert_untraced() else convert_comprehension(
        list, xs, lambda gathered_0, v:
            convert_filter(gathered_0, v > 0, lambda gathered_0:
                convert_gathered(gathered_0, v * 2)))

So are `sum`, `any`, `all`, `list`, `max` and `min` of a generator expression, and a `for` over one:
there the body is run where an item is made. Sets, dicts and other generator expressions stay: their
conditions must be Python's.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import Node, arguments, at, children, constant, is_own, load, walk
from dy2st.transpiler.rewrites.logical import ExpressionRewriter, can_wait, is_surely_bool

# Functions that consume a generator at once; the value says whether what they are given is
# gathered first, and then handed to them.
CONSUMERS = {"list": False, "sum": False, "any": False, "all": False, "max": True, "min": True}


def transform(tree: Node, context: Context) -> None:
    """Rewrite the comprehensions of all functions, but not those in class bodies."""
    _Comprehensions(context).visit(tree)


class _Comprehensions(ExpressionRewriter):
    def visit_ListComp(self, node: Node) -> Node:
        """`[... for ...]`."""
        if self.leaves(node):
            return node
        if not self._can_move(node):
            return self._left(node, "comprehension-scope")
        return self._either(node, node, "convert_comprehension", self._list())

    def visit_SetComp(self, node: Node) -> Node:
        """`{... for ...}` has a length that is known."""
        return node if self.leaves(node) else self._left(node, "comprehension-keys")

    visit_DictComp = visit_SetComp

    def visit_GeneratorExp(self, node: Node) -> Node:
        """A generator that a `for` consumes at once, or somebody later."""
        if self.leaves(node):
            return node
        if not getattr(node, "in_head", False) or not self._can_move(node):
            return self._left(node, "comprehension-lazy")
        return self._either(node, node, "convert_generated")

    def visit_Call(self, node: Node) -> Node:
        """`sum(... for ...)` and its like consume the generator at once."""
        if self.leaves(node) or not self._consumes(node) or not self._can_move(node.args[0]):
            return self.generic_visit(node)
        first, *others = node.args
        if not CONSUMERS[node.func.id]:
            return self._either(node, node, "convert_comprehension", node.func, others=others)
        gathered = at(first, gast.ListComp(first.elt, first.generators))
        made = self._either(first, gathered, "convert_comprehension", self._list())
        node.args = [made, *map(self.visit, others)]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def _list(self) -> Node:
        return load(self.context.helper("list"))

    def _consumes(self, node: Node) -> bool:
        """Whether this is a builtin with a generator expression."""
        name = node.func.id if isinstance(node.func, gast.Name) else ""
        if name not in CONSUMERS or name in self.context.bound or is_own(node):
            return False
        if not node.args or not isinstance(node.args[0], gast.GeneratorExp):
            return False
        if any(isinstance(argument, gast.Starred) for argument in node.args):
            return False
        is_plain = not node.keywords and len(node.args) <= (2 if name == "sum" else 1)
        return is_plain or CONSUMERS[name]

    def _can_move(self, node: Node) -> bool:
        """Whether the parts may run in functions: no closure sees that each item has its own."""
        first = {id(inner) for inner in walk(node.generators[0].iter)}
        consumed = {id(n.args[0]) for n in walk(node) if _is_call(n) and self._consumes(n)}
        for inner in walk(node):
            is_closure = isinstance(inner, gast.Lambda | gast.GeneratorExp) and inner is not node
            if is_closure and id(inner) not in first | consumed:
                return False
        return all(map(can_wait, children(node)))

    def _either(
        self, node: Node, native: Node, helper: str, *function: Node, others: Sequence[Node] = ()
    ) -> Node:
        """Python's own while nothing is traced, else the steps, one inside the other."""
        comprehension = native.args[0] if isinstance(native, gast.Call) else native
        moved = copy.deepcopy(comprehension)
        rest = [self.visit(copy.deepcopy(value)) for value in others]
        native.untouched = True
        iterable = self._iterable(moved.generators[0])
        turn = self._turn(moved, 0)
        call = self.context.call(helper, *copy.deepcopy(function), iterable, turn, *rest)
        chosen = gast.IfExp(self.context.call("convert_untraced"), native, call)
        chosen.stays = True
        return at(node, chosen)

    def _turn(self, node: Node, depth: int) -> Node:
        """`lambda gathered_0, v: ...`: what one item does to what is gathered."""
        generator, gathered = node.generators[depth], self.context.fresh("gathered")
        step = self._filtered(node, depth, 0, gathered)
        target = generator.target
        if isinstance(target, gast.Name):
            return self._lambda(node, [gathered, target.id], step)
        item = self.context.fresh("item")
        only = gast.comprehension(target, gast.List([load(item)], gast.Load()), [], 0)
        unpacked = at(node, gast.ListComp(step, [only]))
        unpacked.stays = True
        first = gast.Subscript(unpacked, constant(0), gast.Load())
        return self._lambda(node, [gathered, item], first)

    def _filtered(self, node: Node, depth: int, number: int, gathered: str) -> Node:
        tests = node.generators[depth].ifs
        if number < len(tests):
            then = self._lambda(node, [gathered], self._filtered(node, depth, number + 1, gathered))
            test = self.visit(tests[number])
            return at(test, self.context.call("convert_filter", load(gathered), test, then))
        if depth + 1 < len(node.generators):
            iterable = self._iterable(node.generators[depth + 1])
            turn = self._turn(node, depth + 1)
            return at(node, self.context.call("convert_turns", load(gathered), iterable, turn))
        value = self.visit(node.elt)
        return at(node, self.context.call("convert_gathered", load(gathered), value))

    def _iterable(self, generator: Node) -> Node:
        """What is iterated over; a variable may be looked at again by others."""
        iterable = self.visit(generator.iter)
        if isinstance(iterable, gast.Name | gast.Attribute | gast.Subscript):
            return at(iterable, self.context.call("convert_held", iterable))
        return iterable

    def _lambda(self, node: Node, names: list[str], body: Node) -> Node:
        made = gast.Lambda(arguments(names), body)
        made.own = True
        return at(node, made)

    def _left(self, node: Node, code: str) -> Node:
        """Python's own, whose conditions and iterables must not depend on the Program."""
        self.generic_visit(node)
        call = self.context.call
        for generator in node.generators:
            if generator.is_async:
                continue
            iterable = generator.iter
            generator.iter = at(iterable, call("convert_python_iter", iterable, constant(code)))
            for k, test in enumerate(generator.ifs):
                if not is_surely_bool(test):
                    asked = call("convert_python_bool", test, constant(code))
                    generator.ifs[k] = at(test, asked)
        return node


def _is_call(node: Node) -> bool:
    return isinstance(node, gast.Call)
