"""Decides where the values of a Program lie, before code is written.

Every value has a root: the value whose memory it is. A reshape has its operand's, a parameter of a
nested Block what is given for it, a loop's parameters are the loop's results. Roots are of a kind:

    SCALAR   0-d: a register
    STACK    a small tensor of known sizes: the stack, which LLVM keeps in registers where it can
    ARENA    sizes follow from those of the inputs: a part of the memory that each call takes
    FOREIGN  memory that others own: inputs, parameters, buffers, constants
    OBJECT   an object of Python: all of sizes that only data decides, lists, types foreign to code

Parts of the arena whose values do not live at the same time are one part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import count

from dy2st_runtime.dims import Size, product, same_shape
from dy2st_runtime.engine.native.machine.abi import is_native
from dy2st_runtime.engine.native.nests import views
from dy2st_runtime.engine.native.program.planner import Planned, Step
from dy2st_runtime.ir.aliasing import view_of
from dy2st_runtime.ir.definition import View, lookup
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import TensorType

STACK_BYTES = 1024


class Kind(Enum):
    """Where a root lies."""

    SCALAR = "scalar"
    STACK = "stack"
    ARENA = "arena"
    FOREIGN = "foreign"
    OBJECT = "object"


@dataclass
class Interval:
    """The steps, by number, from where a part of the arena is written to where it is last read."""

    start: int
    end: int
    bytes: Size


@dataclass
class Part:
    """A part of the arena: its size, and how long it is taken."""

    bytes: Size
    free_from: int


@dataclass
class Lifetimes:
    """What is decided.

    roots     the root of every value that is not its own.
    targets   values that are made in the memory of another: where a branch or iteration yields to.
    given     values that are made in an array that the Program gives back.
    parts     the part of the arena of each root of that kind; a loop's second one under (result,).
    """

    roots: dict[Variable, Variable] = field(default_factory=dict)
    targets: dict[Variable, Variable | tuple[Variable]] = field(default_factory=dict)
    given: set[Variable] = field(default_factory=set)
    parts: dict[Variable | tuple[Variable], int] = field(default_factory=dict)
    sizes: list[Part] = field(default_factory=list)
    kinds: dict[Variable, Kind] = field(default_factory=dict)
    last: dict[int, list[Variable]] = field(default_factory=dict)

    def root(self, variable: Variable) -> Variable:
        """The value whose memory this one is."""
        while variable in self.roots:
            variable = self.roots[variable]
        return variable


def kind_of(variable: Variable, is_early: Callable[[Size], bool]) -> Kind:
    """Where a value of this type lies."""
    type = variable.type
    if not isinstance(type, TensorType) or not is_native(type.dtype):
        return Kind.OBJECT
    if not type.shape:
        return Kind.SCALAR
    bytes = bytes_of(type)
    # Of an axis without elements the bytes are known, though data may decide the other sizes.
    if not all(map(is_early, (bytes, *type.shape))):
        return Kind.OBJECT
    return Kind.STACK if isinstance(bytes, int) and bytes <= STACK_BYTES else Kind.ARENA


def bytes_of(type: TensorType) -> Size:
    """The bytes of a tensor."""
    return product(type.shape) * type.dtype.itemsize


def is_alias(operator: Operator) -> bool:
    """Whether the result is the operand's memory, element by element."""
    if views.is_alias(operator):
        return is_native(operator.operands[0].dtype)
    # A list is the same object under another name.
    is_view = view_of(operator) is View.SAME and lookup(operator.name).kernel is not None
    return is_view and not isinstance(operator.results[0].type, TensorType)


class Analysis:
    """A walk over all steps, numbered in the order in which they are written."""

    def __init__(
        self,
        planned: Planned,
        outputs: Iterable[Variable],
        is_early: Callable[[Size], bool],
        is_placed: Callable[[Step], bool],
        is_change: Callable[[Step], bool],
    ) -> None:
        """Decide for a whole Program.

        `is_placed` says which steps write where they are asked, `is_change` which of them may write
        over their first operand.
        """
        self.found = Lifetimes()
        self._is_early, self._is_placed, self._is_change = is_early, is_placed, is_change
        self._numbers = count()
        self._loops: list[Loop] = []
        self._made: dict[Variable, int] = {}
        self._uses: list[tuple[Variable, int, tuple[Loop, ...]]] = []
        self._extra: list[tuple[Variable, Loop]] = []
        for parameter in planned.block.parameters:
            kind = kind_of(parameter, is_early)
            self.found.kinds[parameter] = kind if kind is Kind.OBJECT else Kind.FOREIGN
        self._block(planned)
        for variable in outputs:
            self._read(variable, next(self._numbers))
        # Let what the Program yields once be made in the array that it gives back.
        given = {self.found.root(variable): variable for variable in planned.block.yields}
        times = Counter(map(self.found.root, planned.block.yields))
        for step in planned.steps:
            for variable in step.results if self._is_target(step) else ():
                has_place = self.found.kinds.get(variable) in (Kind.STACK, Kind.ARENA)
                is_alone = has_place and times[variable] == 1
                if is_alone and _is_as_long(variable, given[variable]):
                    self.found.given.add(variable)
        # First come first served: the part that is free and fits best.
        intervals = self._intervals()
        for key, interval in sorted(intervals.items(), key=lambda pair: pair[1].start):
            parts = self.found.sizes
            index = next(_fitting(parts, interval), None)
            if index is None:
                index = len(parts)
                parts.append(Part(interval.bytes, 0))
            part = parts[index]
            part.free_from = interval.end + 1
            if isinstance(part.bytes, int) and isinstance(interval.bytes, int):
                part.bytes = max(part.bytes, interval.bytes)
            self.found.parts[key] = index

    # -- the walk ------------------------------------------------------------------------------

    def _block(self, planned: Planned, owned: Iterable[Variable] = ()) -> None:
        """The steps of a Block; `owned` are roots that nobody else reads when it is entered."""
        free = Owned(self.found, planned, set(owned))
        for step in planned.steps:
            number = next(self._numbers)
            step.number = number
            for variable in step.reads:
                self._read(variable, number)
            self._step(step, number, free)
            free.pass_by(step)
        for variable in planned.block.yields:
            self._read(variable, next(self._numbers))

    def _step(self, step: Step, number: int, free: Owned) -> None:
        operator = step.operator
        # Nothing is made: whoever reads the result reads the operand, whose range grows by that.
        if operator is not None and is_alias(operator):
            self.found.roots[operator.results[0]] = operator.operands[0]
            return
        is_flow = operator is not None and operator.name in ("cond", "while")
        if operator is not None and step.inner and not is_flow and step.specialised is None:
            inner = step.inner[0]
            self._enter(inner.block.parameters, operator.operands)
            self._block(inner)
            # A composite is replaced by its inner Block, so its results are what that yields.
            self.found.roots.update(zip(operator.results, inner.block.yields, strict=True))
            return
        if operator is not None and self._is_change(step) and free.has(operator.operands[0]):
            self.found.roots[operator.results[0]] = operator.operands[0]
            return
        for variable in step.results:
            self._made[variable] = number
            kind = kind_of(variable, self._is_early)
            is_constant = step.operator is not None and step.operator.name == "constant"
            # A constant is an array that the module holds.
            if is_constant and kind in (Kind.STACK, Kind.ARENA):
                kind = Kind.FOREIGN
            elif kind is Kind.ARENA and not self._is_placed(step):
                kind = Kind.OBJECT  # there is an array already: it is not copied
            self.found.kinds[variable] = kind
        if operator is not None and operator.name == "while":
            self._while(operator, step.inner, number)
        elif operator is not None and step.specialised is not None:
            for planned in step.inner:
                self._enter(planned.block.parameters, operator.operands)
                self._block(planned)
            # Operands are there as long as the kernel may be asked.
            self._keep((*operator.operands, *operator.results))
        elif operator is not None and is_flow:
            owned = {self.found.root(v) for v in operator.operands[1:] if free.has(v)}
            for planned in step.inner:
                self._enter(planned.block.parameters, operator.operands[1:])
                self._block(planned, owned)
            yields = [[self.found.root(v) for v in planned.block.yields] for planned in step.inner]
            for result, (one, other) in zip(
                operator.results, zip(*yields, strict=True), strict=True
            ):
                # Both branches leave there what they have changed.
                if one is other and one in owned and _is_as_long(one, result):
                    self.found.roots[result] = one
                    del self.found.kinds[result], self._made[result]
            for planned in step.inner:
                self._yield_to(planned, operator.results)
            self._keep(operator.results)

    def _read(self, variable: Variable, number: int) -> None:
        self._uses.append((self.found.root(variable), number, tuple(self._loops)))

    def _keep(self, values: Iterable[Variable]) -> None:
        """Let values have their memory up to here: results are written in Blocks, read or not."""
        for variable in values:
            self._read(variable, next(self._numbers))

    def _while(self, operator: Operator, inner: Sequence[Planned], number: int) -> None:
        loop, results = Loop(number), operator.results
        self._loops.append(loop)
        for planned, owned in zip(inner, ((), results), strict=True):
            self._enter(planned.block.parameters, [*results, *operator.operands[len(results) :]])
            self._block(planned, owned)
        loop.end = next(self._numbers)
        self._loops.pop()
        self._yield_to(inner[1], [(result,) for result in results])
        for result in results:
            self._uses.append((result, loop.end, tuple(self._loops)))
            self._extra.append((result, loop))
        for step in inner[1].steps:
            if step.ahead is not None:
                # Let a value have its memory as long as a loop runs.
                self._made[step.ahead.room] = loop.start
                self.found.kinds[step.ahead.room] = kind_of(step.ahead.room, self._is_early)
                self._uses.append((step.ahead.room, loop.end, tuple(self._loops)))

    def _enter(self, parameters: Sequence[Variable], given: Sequence[Variable]) -> None:
        self.found.roots.update(zip(parameters, given, strict=True))

    def _yield_to(self, planned: Planned, targets: Iterable[Variable | tuple[Variable]]) -> None:
        """Let what a Block makes itself, and yields once, be made where it is to go."""
        steps = [step for step in planned.steps if self._is_target(step)]
        made = {variable for step in steps for variable in step.results}
        yields = [self.found.root(variable) for variable in planned.block.yields]
        times = Counter(yields)
        for variable, target in zip(yields, targets, strict=True):
            kind = self.found.kinds.get(variable)
            if variable in made and kind in (Kind.STACK, Kind.ARENA) and times[variable] < 2:
                final = target[0] if isinstance(target, tuple) else target
                has_place = self.found.kinds.get(final) in (Kind.STACK, Kind.ARENA)
                if has_place and _is_as_long(variable, final):
                    self.found.targets[variable] = target

    def _is_target(self, step: Step) -> bool:
        """Whether code can make the results of a step wherever it is asked to."""
        is_loop = step.operator is not None and step.operator.name == "while"
        return not is_loop and self._is_placed(step)

    # -- the arena -----------------------------------------------------------------------------

    def _intervals(self) -> dict[Variable | tuple[Variable], Interval]:
        kinds, found = self.found.kinds, dict[Variable | tuple[Variable], Interval]()
        for variable, number in self._made.items():
            has_place = variable in self.found.targets or variable in self.found.given
            if kinds[variable] is Kind.ARENA and not has_place:
                found[variable] = Interval(number, number, bytes_of(variable.tensor_type))
        for result, loop in self._extra:
            if kinds[result] is Kind.ARENA:
                bytes = bytes_of(result.tensor_type)
                found[(result,)] = Interval(loop.start, loop.end, bytes)
        ends = dict[Variable, int]()
        for variable, number, loops in self._uses:
            made = self._made.get(variable, -1)
            outer = next((loop.end for loop in loops if loop.start > made), number)
            ends[variable] = max(ends.get(variable, 0), outer)
        for variable, end in ends.items():
            if variable in found:
                found[variable].end = max(found[variable].end, end)
            self.found.last.setdefault(end, []).append(variable)
        for result, _ in self._extra:  # either part may hold the result when the loop is over
            if (result,) in found:
                found[(result,)].end = found[result].end
        return found


class Owned:
    """Which memory may be written over in a Block, at the step where the walk is."""

    def __init__(self, found: Lifetimes, planned: Planned, owned: set[Variable]) -> None:
        """`owned` are roots that nobody reads who is not in the Block, before it has ended."""
        self._found, self._planned, self._owned = found, planned, owned
        self._at = 0

    def pass_by(self, step: Step) -> None:
        """Go on to the next step: what this one has made is owned."""
        self._owned.update(one for one in step.results if one not in self._found.roots)
        self._at += 1

    def has(self, variable: Variable) -> bool:
        """Whether the step reads a value that lies in owned memory, once, and nobody after it."""
        root = self._found.root(variable)
        is_own = self._found.kinds.get(root) in (Kind.STACK, Kind.ARENA) and root in self._owned
        if not is_own:
            return False
        # How often the root is read from the step on.
        later = [v for step in self._planned.steps[self._at :] for v in step.reads]
        later += self._planned.block.yields
        return sum(self._found.root(one) is root for one in later) == 1


@dataclass
class Loop:
    """The numbers of a loop's own step, and behind its last one."""

    start: int
    end: int = 0


def _is_as_long(one: Variable, other: Variable) -> bool:
    """Whether a value fits the memory of another one in any call.

    It may be a reshape of it that is only right where a condition holds, which is checked later.
    """
    sizes = bytes_of(one.tensor_type), bytes_of(other.tensor_type)
    return same_shape(sizes[:1], sizes[1:]) is True


def _fitting(parts: Sequence[Part], interval: Interval) -> Iterator[int]:
    """The parts that may be used again: of the same formula, or of a number."""
    for index, part in enumerate(parts):
        if part.free_from <= interval.start and (
            part.bytes is interval.bytes
            or (isinstance(part.bytes, int) and isinstance(interval.bytes, int))
        ):
            yield index


__all__ = [
    "Analysis",
    "Block",
    "Interval",
    "Kind",
    "Lifetimes",
    "bytes_of",
    "is_alias",
    "kind_of",
]
