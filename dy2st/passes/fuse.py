"""FuseOps: says which operators an engine, or a layer of an accelerator, computes in one go.

    conv - add - relu - add - relu          two groups: conv, add, relu, add, relu are one if the
                                            second operand of the later add comes from outside

Every operator has a kind: elementwise < broadcast < injective < reduction < contraction <
opaque. Where
all ways from a value lead through one operator, they may be fused:

1. a convolution or product takes in the elementwise operators that follow it,
2. elementwise and injective operators go into what follows them, a reduction at the latest,
3. injective operators that are left go together.

The Program stays as it is: the groups are a partition of its outermost operators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dy2st.passes.core.graph import constant_of
from dy2st_runtime.ir import DEFINITIONS, Block, Kind, Operator, Program, TensorType, Variable

MOST_OPERATORS = 256


def kind_of(operator: Operator) -> Kind:
    """The kind of an operator; a broadcast of equal shapes is elementwise."""
    kind = DEFINITIONS[operator.name].kind
    if kind is Kind.BROADCAST:
        types = [v.type for v in (*operator.operands, *operator.results)]
        shapes = {type.shape for type in types if isinstance(type, TensorType)}
        return Kind.ELEMENTWISE if len(shapes) == 1 else kind
    return kind


@dataclass(eq=False)
class FusionGroup:
    """Operators that are computed in one go, in order; the kind is that of the heaviest.

    >>> f = dy2st.to_static(lambda x: dy2st.exp(x) + 1.0, [dy2st.static.InputSpec([3])])
    >>> [group] = dy2st.passes.fusion_groups(f.main_program)
    >>> group.anchor.name, [one.name for one in group.inputs()], len(group.operators)
    ('add', ['x'], 2)
    """

    operators: list[Operator] = field(default_factory=list)
    kind: Kind = Kind.ELEMENTWISE

    @property
    def anchor(self) -> Operator:
        """The heaviest operator, the first of several."""
        return max(self.operators, key=kind_of)

    def inputs(self) -> list[Variable]:
        """What the group reads and does not make, constants left out."""
        made = {v for operator in self.operators for v in operator.results}
        read = dict.fromkeys(v for operator in self.operators for v in operator.operands)
        return [v for v in read if v not in made and constant_of(v) is None]

    def __str__(self) -> str:
        """`conv + add + relu`."""
        return " + ".join(operator.name for operator in self.operators)


Check = Callable[[FusionGroup, Operator], bool]


def fusion_groups(
    program: Program, check: Check | None = None, most_operators: int = MOST_OPERATORS
) -> list[FusionGroup]:
    """The groups of the outermost operators, in the order of their last operators.

    Constants are in no group. `check(group, operator)` may keep an operator out of a group: that
    is how a target says what one of its layers can do.

    >>> f = dy2st.to_static(lambda x: dy2st.exp(x) + 1.0, [dy2st.static.InputSpec([3])])
    >>> len(dy2st.passes.fusion_groups(f.main_program))
    1
    >>> len(dy2st.passes.fusion_groups(f.main_program, check=lambda group, operator: False))
    2
    """
    return _Fusion(program.block, check, most_operators).run()


class _Fusion:
    """Groups as a union-find over the positions of operators."""

    def __init__(self, block: Block, check: Check | None, most: int):
        self.check, self.most = check, most
        self.operators = [o for o in block.operators if o.name != "constant"]
        self.place = {operator: i for i, operator in enumerate(self.operators)}
        self.kinds = [kind_of(operator) for operator in self.operators]
        # for every operator the one that all ways from its results lead through, -1 if none, and
        # the heaviest kind on the ways, the dominator's own included
        users: list[list[int]] = [[] for _ in self.operators]
        leaves = {v.maker for v in block.yields}
        for index, operator in enumerate(self.operators):
            for operand in dict.fromkeys(operator.operands):
                if isinstance(operand.maker, Operator) and operand.maker in self.place:
                    users[self.place[operand.maker]].append(index)
        count = len(self.operators)
        dominator, depth = [-1] * count, [0] * count
        edge = [Kind.OPAQUE] * count
        for index in reversed(range(count)):
            if not users[index] or self.operators[index] in leaves:
                continue
            found, kind = users[index][0], self.kinds[users[index][0]]
            for user in users[index][1:]:
                kind = max(kind, self.kinds[user])
                found, kind = _common(found, user, kind, dominator, depth, edge)
                if found < 0:
                    break
            if found >= 0:
                dominator[index], edge[index] = found, kind
                depth[index] = depth[found] + 1
        self.dominator, self.edge, self.users = dominator, edge, users
        self.group = list(range(len(self.operators)))
        self.members = [[index] for index in self.group]
        self.heaviest = list(self.kinds)

    def run(self) -> list[FusionGroup]:
        """Fuse phase by phase."""
        for phase in range(3):
            for index in range(len(self.operators)):
                sink = self.dominator[index]
                if sink < 0 or self._root(index) == self._root(sink):
                    continue
                kind, edge = self.heaviest[self._root(index)], self.edge[index]
                end = self.heaviest[self._root(sink)]
                if kind is Kind.CONTRACTION:
                    fits = phase == 0 and edge <= Kind.BROADCAST and end <= Kind.BROADCAST
                    most = Kind.BROADCAST
                elif kind <= Kind.BROADCAST:
                    fits = phase < 2 and edge <= Kind.REDUCTION and end <= Kind.REDUCTION
                    most = Kind.INJECTIVE
                else:
                    fits = phase == 2 and kind is Kind.INJECTIVE and edge <= Kind.INJECTIVE
                    fits = fits and end <= Kind.INJECTIVE
                    most = Kind.INJECTIVE
                way = self._way(index, sink, most) if fits else None
                if way is not None:
                    self._merge([index, *way, sink])
        found: dict[int, FusionGroup] = {}
        for index, operator in enumerate(self.operators):
            root = self._root(index)
            group = found.setdefault(root, FusionGroup(kind=self.heaviest[root]))
            group.operators.append(operator)
        return sorted(found.values(), key=lambda group: self.place[group.operators[-1]])

    # -- fusing ------------------------------------------------------------------------------

    def _root(self, index: int) -> int:
        while self.group[index] != index:
            self.group[index] = self.group[self.group[index]]
            index = self.group[index]
        return index

    def _way(self, index: int, sink: int, most: Kind) -> list[int] | None:
        """The operators between two, None if one is too heavy or they are too many."""
        found: list[int] = []
        todo = [index]
        seen = {index, sink}
        while todo:
            for user in self.users[todo.pop()]:
                if user in seen:
                    continue
                seen.add(user)
                if self.heaviest[self._root(user)] > most or user > sink:
                    return None
                found.append(user)
                if len(found) + 2 > self.most:
                    return None
                todo.append(user)
        return found

    def _merge(self, indices: list[int]) -> None:
        roots = list(dict.fromkeys(self._root(index) for index in sorted(indices)))
        size = sum(len(self.members[root]) for root in roots)
        heavy = [root for root in roots if self.heaviest[root] is Kind.CONTRACTION]
        if size > self.most or len(heavy) > 1:
            return
        if self.check is not None:
            group = FusionGroup()
            for index in sorted(index for root in roots for index in self.members[root]):
                operator = self.operators[index]
                if group.operators and not self.check(group, operator):
                    return
                group.operators.append(operator)
                group.kind = max(group.kind, self.kinds[index])
        first = roots[0]
        for root in roots[1:]:
            self.group[root] = first
            self.members[first] += self.members[root]
            self.heaviest[first] = max(self.heaviest[first], self.heaviest[root])


def _common(
    left: int, right: int, kind: Kind, dominator: list[int], depth: list[int], edge: list[Kind]
) -> tuple[int, Kind]:
    """The first operator that both lead to, -1 if there is none, and the heaviest on the way."""
    while left != right:
        if left < 0 or right < 0:
            return -1, kind
        if depth[left] < depth[right]:
            left, right = right, left
        kind = max(kind, edge[left])
        left = dominator[left]
    return left, kind


__all__ = ["FusionGroup", "Kind", "fusion_groups", "kind_of"]
