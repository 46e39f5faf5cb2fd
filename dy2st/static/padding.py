"""Whether a Program may be given more elements along an axis: what it computes for the real ones
must not depend on the others, nor on how many there are.

One walk over the Program follows the axes that have been made longer. How they pass through an
operator is in its record: by its kind, by the axes along which it works, by a rule of its own, or
by the operators that it is made of. Everything else on such an axis is a reason to refuse. So is
the size itself, wherever it is more than the length of an axis of a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dy2st_runtime.dims import Condition, Dim, symbols, using
from dy2st_runtime.errors import Location
from dy2st_runtime.ir import (
    Block,
    Effect,
    Kind,
    Operator,
    OperatorDefinition,
    Program,
    Tracer,
    Variable,
)
from dy2st_runtime.ir.checks.broken_sizes import place_text
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.failures import may_fail
from dy2st_runtime.ir.functions import inlined
from dy2st_runtime.ir.padding import Axes, NotIndifferent, Places, Site, Uneven
from dy2st_runtime.ir.sizes import facts_of
from dy2st_runtime.ir.types import ArrayType

NONE = Axes()


class Proof(NamedTuple):
    """That a Program may be padded: the longer axes of every output, and the least real size."""

    outputs: list[Axes]
    least: int


def proof_of(program: Program, symbol: Dim) -> Proof:
    """The proof that a size may be padded; NotIndifferent with the reason if there is none.

    The axes of inputs whose size is the symbol are padded, all others are as they are.
    """
    program = inlined(program)
    if program.functions:
        raise NotIndifferent("a function calls itself")
    walk = _Walk(symbol)
    for variable in program.block.parameters:
        walk.longer[variable] = walk.axes_of(variable)
    with using(facts_of(program)):
        walk.block(program.block)
    # what is required of the size can be checked before the Program runs
    own = set(symbols(tuple(v.tensor_type.shape for v in program.inputs)))
    for entry in program.constraints:
        found = set(symbols(entry.constraint.condition))
        if symbol in found and not own.issuperset(found):
            reason = f"it must fit what data decide: {entry.constraint.reason}"
            raise NotIndifferent(f"{reason}{_at(entry.location)}")
    yields = [walk.longer[variable] for variable in program.block.yields]
    for variable, axes in zip(program.block.yields, yields, strict=True):
        if axes and isinstance(variable.type, ArrayType):
            location = variable.maker.location if isinstance(variable.maker, Operator) else None
            raise NotIndifferent(f"a list that is returned holds it{_at(location)}")
    count = len(program.outputs)
    for name, axes in zip(program.updates, yields[count:], strict=True):
        if axes:
            raise NotIndifferent(f"the buffer `{name}` gets it")
    return Proof(yields[:count], walk.least)


def _at(location: Location | None) -> str:
    return f" ({place_text(location)})" if location else ""


class _OfNothing(Axes):
    """The axes of tensors in an empty list: as it is needed."""


class _Placed(NotIndifferent):
    """The same, with the name and place of the operator."""


class _Walk:
    """The longer axes of values, as far as the walk has come."""

    def __init__(self, symbol: Dim, is_part: bool = False):
        self.symbol, self.least, self.is_part = symbol, 0, is_part
        self.longer: dict[Variable, Axes] = {}

    # -- sizes -------------------------------------------------------------------------------

    def has(self, value: Any) -> bool:
        """Whether the symbol stands in a size or condition, or in nested tuples of them."""
        return any(found is self.symbol for found in symbols(tuple(_sizes_in(value))))

    def axes_of(self, variable: Variable) -> Axes:
        """The axes of a value, or of a list's, with the size; NotIndifferent for others of it."""
        tensor = variable.type
        if isinstance(tensor, ArrayType):  # whose tensors have the same sizes
            if tensor.tensor is None:
                return _OfNothing()
            tensor = tensor.tensor
        shape = tensor.shape
        for axis, size in enumerate(shape):
            if size is not self.symbol and self.has(size):
                whose = f"`{variable.name}`" if variable.name else "what it gives"
                raise NotIndifferent(f"{whose}, axis {axis}, has the size {size}")
        return Axes(axis for axis, size in enumerate(shape) if size is self.symbol)

    # -- operators ---------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Follow the operators of a Block whose parameters are known."""
        for operator in block.operators:
            try:
                self.operator(operator)
            except _Placed:
                raise
            except NotIndifferent as reason:
                if self.is_part:
                    raise
                place = _at(operator.location)
                raise _Placed(f"`{operator.name}` {reason}{place}") from None

    def operator(self, operator: Operator) -> None:
        """Note the longer axes of the results of one operator."""
        if operator.blocks:
            self.control_flow(operator)
            return
        given = [self.longer[operand] for operand in operator.operands]
        definition = lookup(operator.name)
        named = [name for name, value in operator.attributes.items() if self.has(value)]
        if not set(named).issubset(definition.sizes):
            raise NotIndifferent(f"needs the number {self.symbol} itself")
        found: Iterable[int] = ()
        if named or any(given):
            found = self.passed(operator, definition, given)
        kind: type[Axes] = Uneven if any(isinstance(a, Uneven) for a in given) else Axes
        kind = type(found) if isinstance(found, Axes) else kind
        for result in operator.results:
            self.note(result, found, kind)

    def note(self, variable: Variable, found: Iterable[int], kind: type[Axes]) -> None:
        """The longer axes of a value are those that have the size, and no others."""
        axes = self.axes_of(variable)
        is_empty = isinstance(found, _OfNothing)
        if axes != frozenset(found) and not is_empty:
            raise NotIndifferent("gives an axis of that size anew")
        self.longer[variable] = kind(axes) if axes and not is_empty else axes

    def passed(
        self, operator: Operator, definition: OperatorDefinition, given: Sequence[Axes]
    ) -> Iterable[int]:
        """The longer axes of the results, by the record of the operator."""
        if definition.effect is not Effect.PURE and definition.padding is None:
            raise NotIndifferent("does more than compute its results")
        self.check_failing(operator, definition, given)
        types = [operand.type for operand in operator.operands]
        results = [result.type for result in operator.results]
        site = Site(types, given, operator.attributes, results, self.symbol)
        if definition.padding is not None:
            found: Iterable[int] = definition.padding(site)
            return found
        if definition.is_elementwise:
            # axes are counted from the last; one of size 1 is stretched along a longer one
            return site.joined(range(len(site.types)), len(site.result))
        along = definition.works_along(types, operator.attributes)
        if along is not None:
            # every slice is for itself along axes along which the operator does not work
            others = range(1, len(site.types))
            site.keep_off(along)
            for index in others:
                if not definition.is_variadic and site.longer[index]:
                    site.refuse("has parameters along it")
                if definition.is_variadic and site.longer[index] != site.longer[0]:
                    site.refuse("joins it with an axis that is not longer")
            if definition.kind is Kind.REDUCTION and len(site.result) < len(site.shape(0)):
                return [axis - sum(gone < axis for gone in along) for axis in site.longer[0]]
            return set(site.longer[0])
        return self.by_parts(operator, definition, given)

    def check_failing(
        self, operator: Operator, definition: OperatorDefinition, given: Sequence[Axes]
    ) -> None:
        """An operator must not fail for what is behind the real elements."""
        if not any(given) or not may_fail(operator):
            return
        # A rule of its own looks after places.
        even = (Axes, _OfNothing, *[Places] * bool(definition.padding))
        if any(type(axes) not in even for axes in given):
            raise NotIndifferent("may fail for what is behind the real elements")
        self.least = 1  # what is repeated has not failed

    def by_parts(
        self, operator: Operator, definition: OperatorDefinition, given: Sequence[Axes]
    ) -> Iterable[int]:
        """A composite operator, by the operators that it is made of."""
        if definition.decompose is None:
            raise NotIndifferent("is not known to leave the real elements alone")
        tracer = Tracer(is_scratch=True)
        parameters = [tracer.block.add_parameter(operand.type) for operand in operator.operands]
        with interpreting(tracer):
            results = definition.decompose(*parameters, **operator.attributes)
        inside = _Walk(self.symbol, is_part=True)
        inside.longer = dict(zip(parameters, given, strict=True))
        inside.block(tracer.block)
        self.least = max(self.least, inside.least)
        found = [inside.longer[r] for r in (results if isinstance(results, tuple) else (results,))]
        is_uneven = any(isinstance(axes, Uneven) for axes in found)
        return Uneven(found[0]) if is_uneven else found[0]

    # -- control flow ------------------------------------------------------------------------

    def control_flow(self, operator: Operator) -> None:
        """A branch or loop that does not decide by it, and treats it well inside."""
        given = [self.longer[operand] for operand in operator.operands]
        if operator.name == "cond":
            self.check_condition(operator.operands[0])
            ends = [self.inside(block, given[1:]) for block in operator.blocks]
        else:
            ends = [self.after_iterations(operator, given)]
        for result, *axes in zip(operator.results, *ends, strict=True):
            for found in axes:
                is_uneven = any(isinstance(entry, Uneven) for entry in axes)
                self.note(result, found, Uneven if is_uneven else Axes)

    def inside(self, block: Block, values: Sequence[Axes]) -> list[Axes]:
        """What a Block yields whose parameters are these values."""
        for parameter, axes in zip(block.parameters, values, strict=True):
            self.note(parameter, axes, type(axes))
        self.block(block)
        return [self.longer[variable] for variable in block.yields]

    def after_iterations(self, operator: Operator, values: list[Axes]) -> list[Axes]:
        """What the loop variables are after any number of iterations."""
        condition, body = operator.blocks
        count, known = len(operator.results), -1
        values[:count] = [Uneven(v) if isinstance(v, Uneven) else v for v in values[:count]]
        while (uneven := sum(isinstance(axes, Uneven) for axes in values)) != known:
            known = uneven
            ends = self.inside(body, values)
            pairs = zip(ends, values[:count], strict=True)
            values[:count] = [Uneven(new) if isinstance(new, Uneven) else old for new, old in pairs]
        self.inside(condition, values)
        self.check_condition(condition.yields[0])
        return values[:count]

    def check_condition(self, condition: Variable) -> None:
        """What is decided must not depend on it."""
        if self.longer[condition]:
            raise NotIndifferent("decides by it")


def _sizes_in(value: Any) -> Sequence[Any]:
    if isinstance(value, tuple):
        return [size for entry in value for size in _sizes_in(entry)]
    return [value] if isinstance(value, (Dim, Condition)) else []


__all__ = ["NotIndifferent", "Proof", "proof_of"]
