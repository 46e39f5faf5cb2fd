"""Makes a tree of a Program for people: operators in order, inside of their Layers and Blocks.

    inputs                 x: float32[n, 4]
    layer  layers.0
      operator  matmul     x, layers.0.weight
      operator  add
    operator  cond
      block  if true
        operator  relu
        end  yield
      block  if false
        ...
    end  return

Constants of one element, and what a branch or loop reads from outside, stand at those who read
them. Nothing of the larger arrays goes into the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from dy2st.viewer.alignment import Mark, Step, paired, same_program
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import counted
from dy2st_runtime.html_page import BLOCK_TITLES
from dy2st_runtime.ir import Block, Operator, Program, Variable
from dy2st_runtime.ir.text.attribute_text import attribute_text, without_large
from dy2st_runtime.ir.text.printer import Names, program_lines

_LONGEST = 200
_PLAIN = (bool, int, float, str, np.dtype, Dim, Condition)

Reference: TypeAlias = "tuple[Node, int] | str"


@dataclass(eq=False)
class Node:
    """A row of the tree.

    kind      "operator", "layer", "block", "inputs", or "end" of a Block.
    tag       the name of a Layer of which it is all.
    label     the name of the operator, the path of a Layer inside of the one around it, ...
    mark      what became of it, from one Program to the other.
    operands  what it reads: a result of another Node by its number, or the name of a parameter.
    results   names and types.
    was       what a changed operator was before.
    """

    kind: str
    label: str
    parent: Node | None = None
    operator: Operator | None = None
    mark: Mark = Mark.SAME
    operands: list[Reference] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    was: str = ""
    tag: str = ""
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """All that is inside of it, in order; Blocks may nest deeper than Python's stack."""
        todo = self.children[::-1]
        while todo:
            node = todo.pop()
            yield node
            todo += node.children[::-1]


def graph_of(program: Program, after: Program | None = None) -> Node:
    """The tree of a Program, or of two, in which Nodes are marked by what differs in the second."""
    return _Builder(program, after).built()


class _Builder:
    def __init__(self, program: Program, after: Program | None) -> None:
        self._before, self._after = program, after
        self._known: dict[Variable, Reference] = {}
        self._names = Names(), Names()  # of both Programs, as their texts have them
        for one, names in zip((program, after), self._names):
            if one is not None:
                program_lines(one, False, 1, names)
        self._todo: list[tuple[Node, str, Block | None, Block | None]] = []

    def built(self) -> Node:
        """The root, which is no row itself."""
        now = self._before if self._after is None else self._after
        root = Node("root", now.name)
        inputs = Node("inputs", "inputs", root)
        for program in (self._before, self._after):
            for name, one in ({} if program is None else program.state).items():
                self._known[one] = f"{name}: {one.type}"
            for place, one in enumerate(() if program is None else program.inputs):
                self._known[one] = inputs, place
        inputs.results = [(f"%{one.name}", str(one.type)) for one in now.inputs]
        if inputs.results:
            root.children.append(inputs)
        after = None if self._after is None else self._after.block
        self._todo = [(root, "return", self._before.block, after)]
        functions = self.functions(root)
        while self._todo:
            self.fill(*self._todo.pop())
        root.children += functions
        for node in [root, *root.walk()][::-1]:
            node.children = [_without_single(child) for child in node.children]
        return root

    def functions(self, root: Node) -> list[Node]:
        """The Nodes of the functions of both Programs, which are filled behind their own Blocks."""
        sides = [{} if one is None else one.functions for one in (self._before, self._after)]
        found = []
        for name in dict.fromkeys([*sides[0], *sides[1]]):
            node, pair = Node("block", f"function {name}", root), [one.get(name) for one in sides]
            for block, names in zip(pair, self._names):
                parameters = [] if block is None else block.parameters
                self._known.update({one: (node, place) for place, one in enumerate(parameters)})
                node.results = [(names.of(v), str(v.type)) for v in parameters] or node.results
            self._todo.insert(0, (node, "return", pair[0], pair[1]))
            found.append(node)
        return found

    def fill(self, node: Node, end: str, before: Block | None, after: Block | None) -> None:
        """Put the operators of a Block, or of two in each other's place, into a Node."""
        compares = self._after is not None
        steps = paired(before, after) if compares else same_program(before)
        layers: list[tuple[str, Node]] = []  # that are open, the outermost first
        for step in steps:
            operator = step.now
            if operator.name == "constant" and step.mark is Mark.SAME:
                for one in filter(None, (step.before, step.after)):
                    value, result = one.attributes.get("value"), one.results[0]
                    is_number = isinstance(value, np.ndarray) and not value.ndim
                    text = str(value) if is_number else f"constant {result.type}"
                    self._known[result] = text
                continue
            around = self.layer(node, layers, operator)
            self.add(around, step)
        last = Node("end", end, node)
        yields = (after or before or Block()).yields
        last.operands = [self._known.get(one, "?") for one in yields]
        if compares and (before is None or after is None):
            last.mark = Mark.ADDED if before is None else Mark.REMOVED
        node.children.append(last)

    def layer(self, node: Node, layers: list[tuple[str, Node]], operator: Operator) -> Node:
        """The Node of the Layer that an operator is of; one without a place is of the last."""
        if operator.location is not None:
            wanted = operator.layer.split(".") if operator.layer else []
            whole = node.parent  # whose Block it is: what names its Layer is said there
            outer = whole.operator.layer.split(".") if whole is not None and whole.operator else []
            if wanted[: len(outer)] == outer:
                wanted = wanted[len(outer) :]
            common = 0
            while common < min(len(wanted), len(layers)) and layers[common][0] == wanted[common]:
                common += 1
            del layers[common:]
            for name in wanted[common:]:
                around = layers[-1][1] if layers else node
                layers.append((name, Node("layer", name, around)))
                around.children.append(layers[-1][1])
        return layers[-1][1] if layers else node

    def add(self, parent: Node, step: Step) -> None:
        """Append the Node of an operator, and those of its Blocks."""
        operator = step.now
        node = Node("operator", operator.name, parent, operator, step.mark)
        parent.children.append(node)
        names = self._names[1] if step.after is not None else self._names[0]
        node.results = [(names.of(one), str(one.type)) for one in operator.results]
        node.operands = [self._known.get(one, "?") for one in operator.operands]
        for one in (step.before, step.after):
            for place, result in enumerate(one.results if one is not None else ()):
                self._known[result] = node, place
        if step.before is not None and step.after is not None:
            was = [self._known.get(one, "?") for one in step.before.operands]
            if step.mark is Mark.CHANGED:
                given = ", ".join(map(" = ".join, attributes_text(step.before.attributes)))
                types = ", ".join(str(one.type) for one in step.before.results)
                count = len(step.before.operands)
                node.was = (
                    f"before: {operator.name} of {counted(count, 'value')}, {given} -> {types}"
                )
            else:
                # Does it read another one of the values that both Programs have?
                pairs = [pair for pair in zip(was, node.operands) if pair[0] != pair[1]]
                makers = [[one[0] for one in pair if isinstance(one, tuple)] for pair in pairs]
                kept = [[one.mark is Mark.SAME for one in pair] for pair in makers]
                if [True, True] in kept:
                    node.mark, node.was = Mark.CHANGED, "it reads other values"
        self.open_blocks(node, step)

    def open_blocks(self, node: Node, step: Step) -> None:
        """Append the Nodes of the Blocks of an operator, which are filled later."""
        operator = step.now
        titles = BLOCK_TITLES.get(operator.name, ())
        opened = []
        for place, block in enumerate(operator.blocks):
            title = titles[place] if place < len(titles) else f"block {place}"
            inner = Node("block", title, node, mark=step.mark)
            if inner.mark is Mark.CHANGED:
                inner.mark = Mark.SAME
            node.children.append(inner)
            pair = [
                one.blocks[place] if one is not None and place < len(one.blocks) else None
                for one in (step.before, step.after)
            ]
            for one, own in zip((step.before, step.after), pair):
                if one is None or own is None:
                    continue
                # The parameters of a Block are what they stand for outside of it.
                given = one.operands[1:] if one.name == "cond" else one.operands
                carried = len(one.results) if one.name == "while" else 0
                for number, (inside, outer) in enumerate(zip(own.parameters, given)):
                    is_own = number < carried
                    self._known[inside] = (inner, number) if is_own else self._known.get(outer, "?")
            if operator.name == "while":
                own_names = self._names[step.after is not None]
                variables = block.parameters[: len(operator.results)]
                inner.results = [(own_names.of(one), str(one.type)) for one in variables]
                inner.operands = node.operands[: len(variables)]
            opened.append((inner, "yield", pair[0], pair[1]))
        self._todo += reversed(opened)


def _without_single(node: Node) -> Node:
    """A Layer that holds one row is that row."""
    if node.kind != "layer" or len(node.children) > 1:
        return node
    (only,) = node.children
    only.parent = node.parent
    if only.kind == "layer":
        only.label = f"{node.label}.{only.label}"
    else:
        only.tag = f"{node.label}.{only.tag}" if only.tag else node.label
    return only


# -- texts ------------------------------------------------------------------------------------


def value_text(value: Any) -> str:
    """An attribute in short; of arrays only the type, and the number of those of one element."""
    if isinstance(value, np.ndarray):
        return str(value) if value.ndim == 0 else f"{value.dtype}{list(value.shape)}"
    if isinstance(value, bytes):
        return counted(len(value), "byte")
    if isinstance(value, (tuple, list)):
        text = f"[{', '.join(map(value_text, value))}]"
    elif isinstance(value, dict):
        text = f"{{{', '.join(f'{key}: {value_text(one)}' for key, one in value.items())}}}"
    elif value is None or isinstance(value, _PLAIN):
        text = repr(value) if isinstance(value, str) else str(value)
    else:
        text = attribute_text(without_large(value, 1))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def attributes_text(attributes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values, in the order of the names."""
    return [(name, value_text(attributes[name])) for name in sorted(attributes)]


__all__ = ["Node", "attributes_text", "graph_of", "value_text"]
