"""Differentiates a `while`: by another one, which goes from the last iteration to the first.

What an iteration needs has been appended to lists, iteration by iteration. The loop variables of
the backward loop are how many iterations are left, the gradients of the loop variables, and the
sums of the gradients of what the body reads from around.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from dy2st_runtime.autodiff.activity import before_setting, behind
from dy2st_runtime.autodiff.gradient import Gradient, cleaned, flag_of, type_of_gradient
from dy2st_runtime.autodiff.stand_ins import StandIns
from dy2st_runtime.autodiff.walk import Found, Walk, same_sizes
from dy2st_runtime.autodiff.zero_gradients import zero_gradient
from dy2st_runtime.dims import Dim
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.join import renewed
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.sizes import fresh_symbol
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType
from dy2st_runtime.ops.control_flow import close_blocks

_COUNT = TensorType("int64", ())
_FLAG = TensorType("bool", ())


def through_iterations(walk: Walk, operator: Operator, found: Found) -> None:
    """Hand the gradients of the results of a `while` on to what it starts with and reads."""
    loop = _Backward(walk, operator, [gradient and cleaned(gradient) for gradient in found])
    while not loop.record():
        pass
    loop.append()


@dataclass
class _Carried:
    """One gradient that goes from iteration to iteration.

    inner     the parameter of the body, for a loop variable or for what is read.
    outer     what the loop is given for it.
    last      what it is after the loop; what is read stays.
    result    what an iteration makes of it; None for what is read.
    type      its type; sizes that change from iteration to iteration are symbols of their own.
    start     the gradient before the first iteration backwards; None for nothing.
    is_sure   whether it is there at the start of every iteration; if not, a flag says it.
    is_full   of a list, whether each element has one.
    own       what it is at the start of an iteration, and that bool.
    end       what it is at the end.
    """

    inner: Variable
    outer: Variable
    last: Variable
    result: Variable | None
    type: ValueType
    start: Gradient | None = None
    is_sure: bool = False
    is_full: bool = False
    own: list[Variable] = field(default_factory=list)
    end: Gradient | None = None


class _Backward:
    """The backward loop in the making."""

    def __init__(self, walk: Walk, operator: Operator, found: Found) -> None:
        self.walk, self.operator, self.tracer = walk, operator, walk.tracer
        self.body = operator.blocks[1]
        self.free: set[Dim] = set()
        self.variables = [
            self._variable(place, found[place]) for place in _reaching(operator, found)
        ]
        pairs = [*zip(self.body.parameters, operator.operands, strict=True)]
        self.read = [
            self._summed(inner, outer)
            for inner, outer in pairs[len(operator.results) :]
            if walk.is_varied(outer)
        ]

    def _variable(self, place: int, start: Gradient | None) -> _Carried:
        groups = (self.body.parameters, self.operator.operands, self.operator.results)
        inner, outer, last = (group[place] for group in groups)
        result = self.body.yields[place]
        type = type_of_gradient(self._common(last.type, [v.type for v in (inner, outer, result)]))
        is_sure = isinstance(type, ArrayType) or _is_sure(start)
        is_full = start is not None and start.is_full
        return _Carried(inner, outer, last, result, type, start, is_sure, is_full)

    def _summed(self, inner: Variable, outer: Variable) -> _Carried:
        type = type_of_gradient(outer.type)
        is_list = isinstance(type, ArrayType)
        return _Carried(inner, outer, outer, None, type, is_sure=is_list)

    def _common(self, type: ValueType, others: Sequence[ValueType]) -> ValueType:
        """The type, with free symbols for sizes that are others at other moments."""
        shapes = [other.shape for other in others if isinstance(other, TensorType)]
        if not isinstance(type, TensorType):
            return type
        sizes = []
        # A gradient has the sizes of its value, which may be others before and after iterations.
        for size, *rest in zip(type.shape, *shapes, strict=True):
            if not all(
                size is other
                or (isinstance(size, int) and isinstance(other, int) and size == other)
                for other in rest
            ):
                size = fresh_symbol("size")
                self.free.add(size)
            sizes.append(size)
        return type.with_shape(sizes)

    @property
    def carried(self) -> list[_Carried]:
        """All gradients, in the order of the loop variables."""
        return [*self.variables, *self.read]

    # -- the body ----------------------------------------------------------------------------

    def record(self) -> bool:
        """Record an iteration; False if a gradient was thought to be sure that is not."""
        with self.tracer.nested() as self.made:
            self.left = self.made.add_parameter(_COUNT)
            inside = [self._parameters(one, self.made) for one in self.carried]
            residuals, operator = self.walk.shared.residuals, self.operator
            value = self.walk.forward.value
            pairs = zip(self.body.parameters, operator.operands, strict=True)
            self.forward = StandIns(
                self.tracer,
                self.body,
                residuals.homes,
                {
                    start: partial(value, outer)
                    for start, outer in [*pairs][len(operator.results) :]
                },
                lambda variable: value(residuals.of_iterations(operator, variable)),
                # The last iteration comes first.
                lambda: self.tracer.local(F.subtract(self.left, 1)),
            )
            self.inner = Walk(self.walk.shared, self.forward)
            for one, gradient in zip(self.variables, inside, strict=False):
                assert one.result is not None
                self.inner.seed(one.result, gradient)
            self.inner.run(self.body)
            for one, gradient in zip(self.carried, inside, strict=True):
                found = self.inner.gradient(one.inner)
                one.end = found and cleaned(found)
                # What all iterations read is summed; a variable of the loop is replaced.
                if one.end is not None and one.result is None:
                    one.end = self.inner.added(gradient, one.end)
        # Whether each gradient is at the end of an iteration what it is taken for at its start.
        sure = [
            one for one in self.variables if one.is_sure and not isinstance(one.type, ArrayType)
        ]
        wrong = [one for one in sure if not _is_sure(one.end)]
        loose = [one for one in self.variables if one.is_full and not (one.end and one.end.is_full)]
        # Each can change once, from True to False, so recording comes to an end.
        for one in wrong:
            one.is_sure = False
        for one in loose:
            one.is_full = False
        return not wrong and not loose

    def _parameters(self, one: _Carried, block: Block) -> Gradient:
        """The gradient at the start of an iteration."""
        one.own = [block.add_parameter(self._renewed(type)) for type in self._types(one)]
        there = None if one.is_sure else (one.own[1],)
        return Gradient(one.own[0], there, True, one.is_full)

    def _types(self, one: _Carried) -> list[ValueType]:
        return [one.type] if one.is_sure else [one.type, _FLAG]

    def _renewed(self, type: ValueType) -> ValueType:
        return renewed(type, self.free)

    # -- the operator ------------------------------------------------------------------------

    def append(self) -> None:
        """Append the loop, and pass on what it gives."""
        tracer, made = self.tracer, self.made
        self.read = [one for one in self.read if one.end is not None]
        own = [self.left, *(variable for one in self.carried for variable in one.own)]
        with tracer.inside(made):
            yields = [F.subtract(self.left, 1)]
            for one in self.carried:
                yields += self._with_flag(one, one.end, self.inner, one.inner)
            made.yields = [tracer.local(variable) for variable in yields]
            self.forward.finish(one.type for one in self.carried)
        made.parameters = own  # those that are read follow
        # The loop counts down the iterations that the forward one has made.
        with tracer.nested() as tested:
            left = tested.add_parameter(_COUNT)
            for one in self.carried:
                self._parameters(one, tested)
            tested.yields = [F.greater_than(left, 0)]
        # How many iterations there were.
        counted = self.walk.shared.residuals.iterations(self.operator)
        value = self.walk.forward.value(counted)
        count: Variable = value if isinstance(value.type, TensorType) else F.array_length(value)
        first = [count]
        for one in self.carried:
            first += self._with_flag(one, one.start, self.walk, one.last)
        operands = [*map(tracer.local, first), *close_blocks(tracer, (tested, made), len(own))]
        types = [self._renewed(type) for one in self.carried for type in self._types(one)]
        results = tracer.append("while", operands, {}, [_COUNT, *types], (tested, made)).results
        rest = list(results[1:])
        for one in self.carried:
            value, there = rest.pop(0), None
            if not one.is_sure:
                there = (rest.pop(0),)
            if self.walk.is_varied(one.outer):
                same_sizes(self.tracer, value, one.outer)
                self.walk.add(one.outer, Gradient(value, there, True, one.is_full))

    def _with_flag(
        self, one: _Carried, gradient: Gradient | None, walk: Walk, value: Variable
    ) -> list[Variable]:
        """A gradient, and whether it is there if that is not sure."""
        if gradient is None:
            gradient = Gradient(zero_gradient(walk, value), (F.full([], False, "bool"),))
        same_sizes(self.tracer, gradient.value, value)
        return [gradient.value] if one.is_sure else [gradient.value, flag_of(gradient.there)]


def _is_sure(gradient: Gradient | None) -> bool:
    return gradient is not None and gradient.there is None


def _reaching(operator: Operator, found: Found) -> list[int]:
    """The loop variables to which a gradient may come, in some iteration."""
    body, places = operator.blocks[1], {i for i, one in enumerate(found) if one is not None}
    # A gradient that reaches a variable flows into what the iteration before yields for it.
    before = -1
    while before != len(places):
        before = len(places)
        reached = behind(body.operators, [body.yields[i] for i in places], before_setting)
        places |= {i for i, v in enumerate(body.parameters[: len(found)]) if v in reached}
    return sorted(places)


__all__ = ["through_iterations"]
