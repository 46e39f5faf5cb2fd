"""Defines loop nests: the form between operators and machine code.

A nest computes its outputs from its leaves in parts, one after the other. A part runs over axes:
rows, and inside of each row columns. A node of a part is one number at each place, or one a row:

    nest
      leaf 0: float32, rank 2
      output 0: float32, rank 2
      part [s0] x [1024], lanes along axis 1
        %0 = load 0 [1024, 1] float32 at [0, 1]
        %1 = max %0 float32 at [0]
        %2 = apply subtract %0 %1 float32 at [0, 1]
        %3 = apply exp %2 float32 at [0, 1]
        store %3 in 0 [1024, 1]

Sizes that are not known stand as s0, s1, ...: nests with equal texts are one function.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime.dims import Dim, Size
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import DType
from dy2st_runtime.lazy import cached_property


@dataclass(frozen=True, eq=False)
class Leaf:
    """A tensor that is read: where its elements lie, counted in elements, for a part's axes.

    A leaf of rank 0 is passed by value, all others by the address of the first element.
    """

    variable: Variable
    strides: tuple[Size, ...]
    offset: Size = 0

    @property
    def is_scalar(self) -> bool:
        """Whether it is passed by value."""
        return self.variable.tensor_type.rank == 0


@dataclass(frozen=True, eq=False)
class Node:
    """A number at each place, of other nodes; `axes` are those along which it changes."""

    dtype: DType
    axes: frozenset[int]
    operands: tuple[int, ...] = ()

    def words(self) -> str:
        """What it is, in the text form."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Load(Node):
    """An element of a leaf, further on by as many steps of `picks` as the first operands say.

    An operand behind those says where it may be read at all.
    """

    leaf: int = 0
    picks: tuple[Size, ...] = ()

    def words(self) -> str:
        """`load 0 %1`."""
        return f"load {self.leaf}{_operands(self)}"


@dataclass(frozen=True, eq=False)
class Literal(Node):
    """A number that the text of the function holds."""

    value: Any = 0

    def words(self) -> str:
        """`literal 1.5`."""
        return f"literal {self.value!r}"


@dataclass(frozen=True, eq=False)
class Position(Node):
    """The place along an axis: 0, 1, 2, ... in int64."""

    axis: int = 0

    def words(self) -> str:
        """`position 1`."""
        return f"position {self.axis}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Apply(Node):
    """An elementwise operator."""

    operator: Operator

    def words(self) -> str:
        """`apply clip %1 {'max': 6.0, 'min': 0.0}`."""
        operator = self.operator
        shown = {key: operator.attributes[key] for key in sorted(operator.attributes)}
        return f"apply {operator.name}{_operands(self)}{f' {shown}' if shown else ''}"


@dataclass(frozen=True, eq=False)
class Reduce(Node):
    """What becomes of all columns of a row: "sum", "max", ...; `count` is how many there are."""

    kind: str = "sum"
    count: Size = 0

    def words(self) -> str:
        """`max %1`."""
        return f"{self.kind}{_operands(self)}"


def _operands(node: Node) -> str:
    return "".join(f" %{operand}" for operand in node.operands)


@dataclass(frozen=True, eq=False)
class Store:
    """A node is written into an output: strides as those of leaves.

    Output -1 stands for a check: the function gives 1 if the node is false anywhere, and else 0.
    """

    node: int
    output: int
    strides: tuple[Size, ...]
    offset: Size = 0


@dataclass
class Part:
    """Loops over axes, the rows first; along `lane` the numbers of a vector lie."""

    axes: list[Size]
    columns: int
    lane: int | None
    nodes: list[Node] = field(default_factory=list)
    stores: list[Store] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many of the axes are rows."""
        return len(self.axes) - self.columns

    @property
    def column_axes(self) -> frozenset[int]:
        """The axes that are reduced, if anything is."""
        return frozenset(range(self.rows, len(self.axes)))


@dataclass
class Nest:
    """One function: its leaves and outputs are its parameters, in this order, then its sizes."""

    leaves: list[Leaf]
    outputs: list[Variable]
    parts: list[Part]

    @cached_property
    def has_checks(self) -> bool:
        """Whether the function gives an i32, 1 where a check has failed."""
        return any(store.output < 0 for part in self.parts for store in part.stores)

    @property
    def axes(self) -> list[Size]:
        """The axes of the first part."""
        return self.parts[0].axes if self.parts else []

    @cached_property
    def sizes(self) -> list[Dim]:
        """The sizes that are parameters, each once, in order of appearance."""
        found: dict[Dim, None] = {}
        for size in self._all_sizes():
            if isinstance(size, Dim):
                found.setdefault(size)
        return list(found)

    def _all_sizes(self) -> Iterator[Size]:
        for part in self.parts:
            yield from part.axes
            for node in part.nodes:
                if isinstance(node, Load):
                    leaf = self.leaves[node.leaf]
                    yield from (*leaf.strides, leaf.offset, *node.picks)
                elif isinstance(node, Literal) and isinstance(node.value, Dim):
                    yield node.value
                elif isinstance(node, Reduce):
                    yield node.count
            for store in part.stores:
                yield from (*store.strides, store.offset)

    @cached_property
    def text(self) -> str:
        """The text form: all that the machine code depends on."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        names = {size: f"s{index}" for index, size in enumerate(self.sizes)}
        yield "nest"
        for index, leaf in enumerate(self.leaves):
            type = leaf.variable.tensor_type
            yield f"  leaf {index}: {type.dtype}, rank {type.rank}"
        for index, output in enumerate(self.outputs):
            yield f"  output {index}: {output.tensor_type.dtype}, rank {output.tensor_type.rank}"
        for part in self.parts:
            rows, columns = part.axes[: part.rows], part.axes[part.rows :]
            shown = f"{_sizes(rows, names)} x {_sizes(columns, names)}"
            yield f"  part {shown}, lanes along axis {part.lane}"
            for index, node in enumerate(part.nodes):
                place, words = f" {sorted(node.axes)}", node.words()
                if isinstance(node, Load):
                    leaf = self.leaves[node.leaf]
                    picks = f" x {_sizes(node.picks, names)}" if node.picks else ""
                    place = f" {_placed(leaf.strides, leaf.offset, names)}{picks}"
                elif isinstance(node, Reduce):
                    place += f" of {_size(node.count, names)}"
                elif isinstance(node, Literal) and isinstance(node.value, Dim):
                    words = f"literal {names[node.value]}"
                yield f"    %{index} = {words} {node.dtype}{place}"
            for store in part.stores:
                place = _placed(store.strides, store.offset, names)
                yield f"    store %{store.node} in {store.output} {place}"


def _size(size: Size, names: dict[Dim, str]) -> str:
    return names[size] if isinstance(size, Dim) else str(size)


def _sizes(sizes: Sequence[Size], names: dict[Dim, str]) -> str:
    return f"[{', '.join(_size(size, names) for size in sizes)}]"


def _placed(strides: Sequence[Size], offset: Size, names: dict[Dim, str]) -> str:
    start = _size(offset, names)
    return _sizes(strides, names) + ("" if start == "0" else f" + {start}")


def verify(nest: Nest) -> None:
    """AssertionError unless each part is whole: operands first, places and outputs that exist."""
    written: set[int] = set()
    for part in nest.parts:
        axes = frozenset(range(len(part.axes)))
        assert part.lane is None or part.lane in axes, "lanes along no axis"
        for index, node in enumerate(part.nodes):
            assert all(operand < index for operand in node.operands), (
                f"%{index} comes before its operands"
            )
            inherited = frozenset[int]().union(*(part.nodes[o].axes for o in node.operands))
            if isinstance(node, Load):
                leaf = nest.leaves[node.leaf]
                assert len(leaf.strides) == len(part.axes), (
                    f"leaf {node.leaf} has one stride an axis"
                )
                assert leaf.variable.tensor_type.dtype == node.dtype, f"%{index} has another dtype"
            elif isinstance(node, Reduce):
                assert not node.axes & part.column_axes, (
                    f"%{index} is reduced and changes along columns"
                )
            elif isinstance(node, Apply):
                assert node.axes == inherited, (
                    f"%{index} changes along other axes than its operands"
                )
            assert node.axes <= axes, f"%{index} changes along an axis that is not there"
        for store in part.stores:
            assert store.node < len(part.nodes), "a store of no node"
            assert len(store.strides) == len(axes), "a store has one stride an axis"
            output = nest.outputs[store.output].tensor_type.dtype if store.output >= 0 else "bool"
            assert part.nodes[store.node].dtype == output, "a store of another dtype"
            written.update([store.output] if store.output >= 0 else [])
    assert written == set(range(len(nest.outputs))), "an output is not written"


__all__ = [
    "Apply",
    "Leaf",
    "Literal",
    "Load",
    "Nest",
    "Node",
    "Part",
    "Position",
    "Reduce",
    "Store",
    "verify",
]
