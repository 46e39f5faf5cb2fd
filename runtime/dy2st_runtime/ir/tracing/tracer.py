"""The tracer: an interpreter that appends every operator to a Program instead of running it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from types import FrameType
from typing import Any, Protocol, TypeVar

import numpy as np

from dy2st_runtime.dims import (
    Condition,
    Constraint,
    Dim,
    Facts,
    collect,
    count_steps,
    current,
    require,
    using,
)
from dy2st_runtime.errors import Location
from dy2st_runtime.ir.data import carry, data_of
from dy2st_runtime.ir.definition import OperatorDefinition
from dy2st_runtime.ir.dispatch import F, Look, interpreting, stack
from dy2st_runtime.ir.exceptions import ErrorKind
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.program import (
    Block,
    LocatedConstraint,
    Operator,
    Program,
    Variable,
)
from dy2st_runtime.ir.promotion import (
    NUMBER_DTYPES,
    SCALAR_DTYPES,
    all_numbers,
    as_array,
    as_paddle,
    autocast,
    cast_inputs,
    common_dtype,
    complete,
    drop_missing,
    is_paddles,
    is_promoted,
)
from dy2st_runtime.ir.sizes import (
    assume,
    drop_implied,
    facts_where,
    fresh_symbols_from,
    lightened,
    note_inputs,
    restart_fresh_symbols,
    simplified_type,
    simplify_types,
    take_limits,
)
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.changes import (
    check_replaced,
    escaped,
    out_of_date,
    replace,
    set_value,
)
from dy2st_runtime.ir.tracing.gradient_flow import GradientFlags
from dy2st_runtime.ir.tracing.growth import Growth, Unrolled
from dy2st_runtime.ir.tracing.path_state import Path, PathState
from dy2st_runtime.ir.tracing.python_numbers import may_outgrow
from dy2st_runtime.ir.tracing.traced_list import TracedList
from dy2st_runtime.ir.tracing.views import Aliases, Views
from dy2st_runtime.ir.types import ArrayType, DType, TensorType, ValueType
from dy2st_runtime.lazy import cached_property


class Host(Protocol):
    """Who traces the user's code: asked what a Tracer cannot know."""

    outside: dict[int, Any]  # the objects that are older than the trace, by id
    call: Callable[..., Any]  # of functions and Layers of the user's
    stored: Callable[..., Any]  # what a Layer has registered now

    def carry_check(self, flag: Variable, error: BaseException, /) -> bool:
        """Whether a handler of the user's takes an error where a bool is false."""

    def check_sizes(self, condition: Condition, error: Exception, /) -> bool:
        """Whether one does where sizes do not fit; the code goes on where they do."""

    def check_operator(
        self,
        definition: OperatorDefinition,
        operands: Sequence[Variable],
        attributes: Mapping[str, Any],
        /,
    ) -> None:
        """Begin a branch where one takes what an operator raises: it is recorded in the other."""

    def explain(self, frame: FrameType, /) -> str:
        """Why the code of a frame runs as it is."""

    def before_changed(self, layer: Any, /) -> None:
        """Hear of a Layer made elsewhere that is about to change."""


_NUMBERS: dict[str, type] = {"b": bool, "i": int, "f": float}

Capture = Callable[["Tracer", Tensor], Variable]
At = Location | None  # where the user has called an operator
P = TypeVar("P", bound=Path)


@dataclass(eq=False)
class _Row:
    """What is known of a Block: what it reads from outside, requires, and has cut gradients of."""

    facts: Facts | None = None
    captured: dict[Variable, Variable] = field(default_factory=dict)
    required: set[Constraint] = field(default_factory=set)
    detached: dict[Variable, Variable] = field(default_factory=dict)


class Tracer:
    """Records one Program.

    `capture(tracer, tensor)` is asked once for every eager tensor that an operator meets; it
    returns the Variable that stands for it: a parameter, a buffer or a constant.

    >>> from dy2st_runtime.ir import TensorType, Tracer, Variable, lookup
    >>> from dy2st_runtime.ir.tracing.path_state import Path
    >>> tracer, place = Tracer(), dy2st.errors.Location("model.py", 7)
    >>> x = tracer.block.add_parameter(TensorType("float32", (2,)), "x")
    >>> with tracer.tracing(), tracer.located(lambda: place):
    ...     found = tracer.locate()
    ...     y = dy2st.exp(x) * 2
    >>> found is place, tracer.growth.made.total(), [*tracer.unrolled]
    (True, 0, [])
    >>> [operator.name for operator in tracer.program.operators], str(y.maker.location)
    (['exp', 'constant', 'multiply'], 'model.py:7')

    Operators, constants and numbers, one by one; what was recorded since a mark is taken back.

    >>> tracer.run(lookup("exp"), (x,), {}), tracer.append("exp", [x], {}, [x.type])
    (Variable(%?: float32[2]), Operator(exp(float32[2]) -> (float32[2])))
    >>> one = tracer.number(1)
    >>> tracer.constant(np.zeros(2)), one.number, tracer.cast_number(one, np.dtype("float64"))
    (Variable(%?: float64[2]), <class 'int'>, Variable(%?: float64[]))
    >>> n = dy2st.dims.symbol("n")
    >>> with tracer.tracing(), tracer.unguarded():
    ...     tracer.hold_from_here(dy2st.dims.Condition(">", n, 2))
    >>> tracer.block.operators[-1].attributes["condition"]
    n > 2
    >>> tracer.discard(begin=3, end=len(tracer.block.operators))
    >>> len(Tracer.of_block(tracer.program, tracer.block).block.operators)
    3

    What stands for an eager tensor: by default a constant; parameters where live tensors are read.

    >>> tensor = dy2st.ones([2])
    >>> tracer.reads_live_tensors, tracer.captured_already(tensor), tracer.held_by(tensor)
    (False, None, None)
    >>> tracer.captured(tensor), tracer.variable(tensor)
    (Variable(%?: float32[2]), Variable(%?: float32[2]))
    >>> tracer.assign(tensor, y)
    >>> tracer.captured(tensor) is y, len(tracer.known()), len(tracer.assigned())
    (True, 1, 1)
    >>> with tracer.tracing(), tracer.path(Path) as path:
    ...     tracer.assign(tensor, dy2st.exp(y))
    >>> tracer.captured(tensor) is y, [new.maker.name for _, new in path.tensors.values()]
    (True, ['exp'])
    >>> with tracer.tracing(), tracer.resumed(path):
    ...     tracer.captured(tensor).maker.name
    'exp'

    A nested Block reads nothing from outside: what it needs becomes a parameter of it.

    >>> with tracer.tracing(), tracer.nested() as block:
    ...     inner = tracer.local(x)
    ...     with tracer.inside(block):
    ...         z = dy2st.exp(tracer.as_seen(x))
    >>> block, tracer.captured_by(block)[x] is inner, tracer.import_into(block, x) is inner
    (Block(1 parameter, 1 operator), True, True)
    >>> tracer.adopt(block, x, Variable(x.type, block))  # one stands for it already
    False
    >>> tracer.forward(inner, x)
    >>> tracer.held_by(inner) is x
    True
    >>> with tracer.tracing(), tracer.apart():  # nothing that is known of sizes is known here
    ...     print(tracer.block is tracer.program.block)
    True

    Views share their memory; sizes are learnt, and what they must satisfy has a line.

    >>> n = dy2st.dims.symbol("n")
    >>> with tracer.tracing():
    ...     view, other = y.reshape([2, 1]), y * 1
    ...     tracer.separate(view)
    ...     tracer.share(y, other, None)
    ...     tracer.learn([n >= 3], "a window is 3 wide")
    ...     tracer.check((y > 0).all(), ValueError("not positive"))
    ...     tracer.locate_constraints(place)
    >>> [one.constraint.condition for one in tracer.program.constraints]
    [n >= 3]
    >>> with tracer.resuming(dy2st.dims.Facts(), number=0):
    ...     again = dy2st.exp(y)

    Changes in place give the tensor another Variable; who holds the old one is refused.

    >>> with tracer.tracing():
    ...     old = tracer.as_it_was(x)
    ...     tracer.replace(x, lambda now: now * 10)
    ...     tracer.set_value(x, dy2st.zeros([2]))
    ...     tracer.change(tensor, y)
    ...     tracer.hold(tensor, old)
    ...     tracer.renew(dy2st.Parameter(np.ones(2, "float32")), dy2st.zeros([2]))
    >>> tracer.captured(x) is x
    False
    >>> with tracer.tracing(), tracer.path(Path) as path:
    ...     tracer.overwrite(z)
    >>> path.overwritten == [z], z.overwritten
    (True, None)
    """

    def __init__(
        self,
        program: Program | None = None,
        capture: Capture | None = None,
        is_scratch: bool = False,
    ):
        """Record into `program`; without `capture` every eager tensor becomes a constant.

        `is_scratch`: only the types are wanted, for a trace around this one.
        """
        self._is_scratch = is_scratch
        self.layer = ""  # the path of the Layer whose code runs
        self._locate: Callable[[], Location | None] | None = None  # in place of the user's line
        self.host: Host | None = None
        self._is_guarded = True  # whether handlers of the user's may catch what is recorded
        self.program = Program() if program is None else program
        self.block = self.program.block
        self._capture = capture
        self.state = PathState()
        self._rows: defaultdict[Block, _Row] = defaultdict(_Row)
        self._constraints: list[Constraint] = []
        self.aliases = Aliases()
        self.views = Views(self)
        self.flags = GradientFlags(self)
        self.made: dict[int, tuple[Any, Block]] = {}  # Layers that the trace makes, and where
        self.has_gone_back = False  # whether backward() was called
        self.is_grad_wanted = is_grad_enabled()
        self.recompute_call = 0  # the number of the call of `recompute` that is traced, 0 for none
        self.given_out: dict[Any, Variable] = {}  # by finished Blocks, for gradients

    @classmethod
    def of_block(cls, program: Program, block: Block) -> Tracer:
        """One that goes on recording at the end of a Block, which may be a nested one."""
        tracer = cls(program, is_scratch=True)
        tracer.block = block
        return tracer

    @cached_property
    def growth(self) -> Growth:
        """What lines have made of the Program, and loops that were unrolled."""
        return Growth()

    @property
    def unrolled(self) -> Iterable[Unrolled]:
        """The loops of which each iteration was recorded, where they have made much."""
        return self.growth.unrolled.values() if "growth" in vars(self) else ()

    @property
    def reads_live_tensors(self) -> bool:
        """Whether eager tensors become parameters and buffers of the Program, not constants."""
        return self._capture is not None

    # -- running a trace ---------------------------------------------------------------------

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Let operators called inside the `with` be recorded."""
        restart_fresh_symbols()
        with collect(self._divert) as self._constraints, interpreting(self):
            self._rows[self.block].facts = current()
            count_steps()
            current().place = lambda: str(user_location() or "")
            note_inputs(current(), self.program.inputs)
            yield
            self.locate_constraints(user_location())
            # Only now all facts are known, by which constraints may follow from others.
            drop_implied(self.program)
            simplify_types(self.program)

    def _divert(self, condition: Condition, error: Exception) -> bool:
        """Whether the code goes on only where sizes fulfil a condition."""
        host = self.host if self._is_guarded else None
        return host is not None and host.check_sizes(condition, error)

    @contextmanager
    def unguarded(self) -> Iterator[None]:
        """Record, inside the `with`, what surely fits, or what no code of the user's computes."""
        outer, self._is_guarded = self._is_guarded, False
        try:
            yield
        finally:
            self._is_guarded = outer

    @contextmanager
    def resuming(self, facts: Facts, number: int) -> Iterator[None]:
        """Record anew, where facts are known, with new symbols numbered from there."""
        with collect() as self._constraints, interpreting(self), using(facts):
            self._rows[self.block].facts = facts
            with fresh_symbols_from(number):
                yield
            self.locate_constraints(self.locate())

    @contextmanager
    def located(self, locate: Callable[[], Location | None]) -> Iterator[None]:
        """Let another function than the user's line say where what is recorded comes from."""
        outer, self._locate = self._locate, locate
        try:
            yield
        finally:
            self._locate = outer

    @contextmanager
    def nested(self, condition: Condition | None = None) -> Iterator[Block]:
        """Record into a new Block inside the current one, which runs where a condition holds."""
        block = Block(parent=self.block)
        self._rows[block].facts = facts_where(condition)
        with self.inside(block):
            yield block

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Go on recording into a Block, with what is known there; what is learnt stays there."""
        outer, self.block = self.block, block
        try:
            with using(self._rows[block].facts or current()):
                yield
                if self._constraints:
                    self.locate_constraints(self.locate())
        finally:
            self.block = outer

    @contextmanager
    def path(self, make: Callable[[Block], P], condition: Condition | None = None) -> Iterator[P]:
        """Record into a new Block, as `nested`, on a path of its own: nothing changes around it."""
        with self.nested(condition) as block:
            path = make(block)
            with self.state.on(path):
                yield path
        self._note_tensors(path)

    @contextmanager
    def resumed(self, path: Path) -> Iterator[None]:
        """Go on at the end of a path."""
        with self.inside(path.block), self.state.on(path):
            yield
        self._note_tensors(path)

    def _note_tensors(self, path: Path) -> None:
        """Note what a path has left in the tensors that are known around it."""
        path.tensors = {
            key: (tensor, variable)
            for key, (tensor, variable) in path.changed["tensors"].items()
            if self.held_by(tensor) is not variable
            and not self.views.is_known_by_base(tensor, variable)
            # What the Block has made itself ends with it: nobody around can name it.
            and getattr(tensor, "block", None) is not path.block
        }

    @contextmanager
    def apart(self, block: Block | None = None) -> Iterator[None]:
        """Record what comes next where nothing is known of sizes: by default in the first Block."""
        self.locate_constraints(self.locate())
        facts, trunk = Facts(), self.program.block
        facts.place, facts.steps_left = current().place, current().steps_left
        note_inputs(facts, self.program.inputs)
        outer, self._rows[trunk] = self._rows[trunk], _Row(facts)
        try:
            with self.inside(block or trunk), using(facts):
                yield
        finally:
            self._rows[trunk] = outer

    def captured_by(self, block: Block) -> dict[Variable, Variable]:
        """What a nested Block reads from outside: outer Variable -> parameter of the Block."""
        return self._rows[block].captured

    def adopt(self, block: Block, outer: Variable, inner: Variable) -> bool:
        """Let a Variable be the parameter of a nested Block for an outer one; False if one is."""
        known = self._rows[block].captured
        if outer in known:
            return False
        known[outer], inner.maker = inner, block
        block.parameters.append(inner)
        return True

    def import_into(self, block: Block, variable: Variable) -> Variable:
        """The parameter of a finished nested Block that stands for an outer Variable."""
        known = self._rows[block].captured
        found = known.get(variable)
        if found is None:
            found = known[variable] = block.add_parameter(variable.type, variable.name)
            found.held = data_of(variable)
            self.aliases.imported(found, variable)
        return found

    # -- recording ---------------------------------------------------------------------------

    def run(
        self, definition: OperatorDefinition, inputs: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        """Append one operator; return its result Variable, or a tuple of several."""
        attributes = complete(definition, attributes)
        inputs = drop_missing(definition, inputs)
        if TracedList in map(type, inputs):
            inputs = tuple([i.of_python() if type(i) is TracedList else i for i in inputs])
        settings = autocast()
        if settings is not None and not self._is_scratch:
            inputs = cast_inputs(settings, definition, inputs)
        if self._capture is not None and is_paddles():
            inputs = as_paddle(definition, inputs, attributes, infer)
        dtype = common_dtype(definition, inputs)
        at = None if self._is_scratch else self.locate()
        operands = []
        for index, value in enumerate(inputs):
            wanted = dtype if is_promoted(definition, index) else None
            is_local = isinstance(value, Variable)
            variable = self.local(value) if is_local else self.variable(value, wanted, at)
            if wanted is None and variable.number is float and not self._is_scratch:
                # As a Python float given to a function, but one that is cast keeps all digits.
                wanted = None if definition.name == "cast" else np.dtype(SCALAR_DTYPES[float])
            if wanted is not None and variable.tensor_type.dtype != wanted:
                variable = self._cast(variable, wanted)
            operands.append(variable)
        operands = operands if is_grad_enabled() else [self._detach(one) for one in operands]
        block = self.block
        types = infer(definition, [v.type for v in operands], attributes)
        are_numbers = definition.promote and all_numbers(inputs)
        if (
            are_numbers
            and dtype is not None
            and isinstance(types[0], TensorType)
            and types[0].rank > 0
        ):
            # As `stack([1.0, 2.0])`: a tensor of the dtype that such numbers get.
            wanted = np.dtype(SCALAR_DTYPES[float]) if dtype.kind == "f" else dtype
            operands = [self._cast(one, wanted) for one in operands]
            types = infer(definition, [v.type for v in operands], attributes)
            are_numbers = False
        if definition.raises is not None and self._is_guarded and self.host is not None:
            self.host.check_operator(definition, operands, attributes)
        if self.block is not block:  # a branch has begun: a handler goes on in its other side
            operands = [self.local(v) for v in operands]
        operator = self.append(definition.name, operands, attributes, types, at=at)
        if definition.data is not None:
            carry(definition, operator)
        # A size that the data decides is a new symbol; what bounds it is a fact from here on.
        limits = [] if self._is_scratch else take_limits()
        if limits:
            self.learn(limits, "as many as there may be")
        # What Python computes of numbers alone is a number, and does not widen a tensor's dtype.
        if are_numbers:
            for result in operator.results:
                result.number = _NUMBERS.get(result.tensor_type.dtype.kind)
            if operator.results[0].number is int and may_outgrow(definition.name, inputs):
                self.append("check_int", operands, {"operation": definition.name}, [])
        if definition.shares and not self._is_scratch and isinstance(inputs[0], Tensor):
            self.views.note(operator.results[0], inputs[0], [(operator, 0)])
        return operator.results[0] if len(types) == 1 else tuple(operator.results)

    def share(self, owner: Any, view: Any, look: Look | None) -> None:
        """Note that a tensor is a view of another one."""
        if not self._is_scratch and isinstance(owner, Tensor) and isinstance(view, Variable):
            self.views.note_between(view, owner)

    def separate(self, tensor: Any) -> None:
        """Note that a tensor is a view of no other one."""
        self.views.separate(tensor)

    def append(
        self,
        name: str,
        operands: Sequence[Variable],
        attributes: Mapping[str, Any],
        types: Iterable[ValueType],
        blocks: Sequence[Block] = (),
        at: At = None,  # if that is known already
    ) -> Operator:
        """Append an operator whose operands are of the current Block and whose types are known."""
        if not self._is_scratch:
            at = at or self.locate()
            self.locate_constraints(at)
        operator = Operator(name, [*operands], dict(attributes), self.block, [*blocks])
        operator.location, operator.recompute_call = at, self.recompute_call
        if self.block.parent is not None:  # what is known here need not be known elsewhere
            types = map(simplified_type, types)
        operator.results.extend(map(Variable, types, repeat(operator)))
        self.block.operators.append(operator)
        self.aliases.note_elements(operator)
        if self.block.parent is not None and self.block.parent.parent is not None:
            self.growth.note(operator)
        return operator

    def variable(self, value: Any, dtype: DType | None = None, at: At = None) -> Variable:
        """The Variable of the current Block that stands for any value an operator accepts."""
        if isinstance(value, Variable):
            return self.local(value)
        if isinstance(value, Tensor):
            return self.local(self.captured(value))
        if isinstance(value, (Dim, Condition)):
            return self._from_dim(value, dtype)
        return self.constant(as_array(value, dtype), at)

    def number(self, value: Any) -> Variable:
        """A Variable that behaves as the Python number (or Dim) that it stands for."""
        if isinstance(value, (Dim, Condition)):
            return self._from_dim(value, None)
        variable = self.constant(as_array(value, np.dtype(NUMBER_DTYPES[type(value)])))
        variable.number = type(value)
        return variable

    def cast_number(self, variable: Variable, dtype: DType) -> Variable:
        """A number of Python in a dtype, with all its digits; no number any more."""
        return self._cast(self.local(variable), dtype)

    def _from_dim(self, value: Dim | Condition, dtype: DType | None) -> Variable:
        kind = int if isinstance(value, Dim) else bool
        wanted = np.dtype(NUMBER_DTYPES[kind]) if dtype is None else dtype
        attributes = {"value": value, "dtype": wanted}
        result = self.append("from_dim", [], attributes, [TensorType(wanted, ())]).results[0]
        result.number = kind if dtype is None else None
        return result

    def constant(self, array: np.ndarray[Any, Any], at: At = None) -> Variable:
        """A Variable with a fixed value."""
        type = TensorType(array.dtype, array.shape)
        return self.append("constant", [], {"value": array}, [type], at=at).results[0]

    def captured(self, tensor: Tensor) -> Variable:
        """The Variable that currently stands for an eager tensor, or for a Variable of the user's
        that was changed in place."""
        held = self.held_by(tensor)
        if held is not None:
            return self.views.now(tensor, held)
        if self._capture is None:
            return self.constant(np.asarray(tensor))
        variable = self._capture(self, tensor)
        if not isinstance(variable.maker, Operator):
            # A constant is made anew where it is used; parameters and buffers have one Variable.
            self.state.tensors.put(id(tensor), (tensor, variable))
            self.flags.state[variable] = tensor
        return variable

    def held_by(self, tensor: Tensor) -> Variable | None:
        """What a tensor was given last, though its base may have changed since; None if nothing."""
        known = self.state.tensors.get(id(tensor))
        if known is not None:
            return known[1]
        return tensor if isinstance(tensor, Variable) else None

    def captured_already(self, tensor: Tensor) -> Variable | None:
        """As `captured`; None for a tensor that no operator has met."""
        is_new = not isinstance(tensor, Variable) and id(tensor) not in self.state.tensors
        return None if is_new else self.captured(tensor)

    def assign(self, tensor: Tensor, variable: Variable) -> None:
        """Let `variable` stand for a tensor from now on."""
        if self.held_by(tensor) is None:
            self.captured(tensor)  # other paths have it as it was
        self.state.tensors[id(tensor)] = tensor, variable

    def change(self, tensor: Tensor, variable: Variable) -> None:
        """Let a tensor that the user changes in place hold `variable` from now on.

        What shares memory with it changes, too.
        """
        self.views.change(tensor, variable)

    def hold(self, tensor: Tensor, variable: Variable) -> None:
        """Let a tensor alone hold `variable` from now on.

        Its other names hold the same object; a result of a branch that may be it is out of date.
        """
        self.overwrite(self.captured(tensor))
        self.assign(tensor, variable)
        # The list that holds the element changes with it.
        if isinstance(tensor, Variable) and tensor in self.aliases.borrowed:
            self.assign(self.aliases.borrowed[tensor], F.array_of([variable]))

    def forward(self, inner: Variable, variable: Variable) -> None:
        """Let `variable` stand for a parameter of a Block whose operators were moved out of it."""
        self.state.tensors.put(id(inner), (inner, variable))

    def known(self) -> list[tuple[Tensor, Variable]]:
        """The tensors that another Variable stands for now, or that were captured."""
        return list(self.state.tensors.values())

    def assigned(self) -> list[tuple[Tensor, Variable]]:
        """Every captured tensor with the Variable that stands for it now, in order of capture."""
        return [entry for entry in self.known() if not isinstance(entry[0], Variable)]

    def discard(self, begin: int, end: int) -> None:
        """Take back the operators `begin` to `end` of the Block, unless something needs them."""
        probe = self.block.operators[begin:end]
        results = {result for operator in probe for result in operator.results}
        # A tensor that holds one of the results needs its operator, and so does what follows it:
        # then all stay.
        held = (variable for _, variable in self.known())
        read = (one for operator in self.block.operators[end:] for one in operator.operands)
        if not results.isdisjoint(held) or not results.isdisjoint(read):
            return
        del self.block.operators[begin:end]
        self.views.forget_made()
        # Whoever else holds a result of theirs is told so where it is used.
        for operator in probe:
            operator.block = Block()

    # -- closed blocks -----------------------------------------------------------------------

    def local(self, variable: Variable) -> Variable:
        """The same value as seen from the current Block."""
        variable = self.captured(variable)
        if variable.overwritten is not None:
            raise out_of_date(variable, self.aliases.is_chosen(variable))
        if variable.block is self.block:
            return variable
        return self.as_seen(variable)

    def as_seen(self, variable: Variable) -> Variable:
        """A value of whatever Block around as the current Block has it."""
        if variable.block is self.block:
            return variable
        # A parameter has a type alone; whether it is a number of Python goes along beside it.
        number, mixed, is_numpy = variable.number, variable.mixed, variable.is_numpy
        for block in self._path_from(variable):
            variable = self.import_into(block, variable)
        variable.number, variable.mixed, variable.is_numpy = number, mixed, is_numpy
        return variable

    def check(self, flag: Variable, error: BaseException) -> None:
        """Record that the Program raises what Python raises unless a bool Variable is true."""
        if self.host is not None and self.host.carry_check(flag, error):
            return
        attributes = {"message": str(error), "kind": ErrorKind.of(error)}
        self.append("assert_bound", [self.local(flag)], attributes, [])

    def as_it_was(self, variable: Variable) -> Variable:
        """The value of a Variable in the current Block, though the user has changed it since."""
        if variable.block is not self.block:
            for block in self._path_from(variable):
                variable = self.import_into(block, variable)
        if variable.overwritten is None and self.captured(variable) is variable:
            return variable
        # Another Variable of the same value: no change in place has put it out of date.
        return self.append("assign", [variable], {}, [variable.type]).results[0]

    def _path_from(self, variable: Variable) -> list[Block]:
        """Blocks from just inside the Variable's own down to the current one."""
        path, block, home = [], self.block, variable.block
        while block is not home:
            path.append(block)
            if block.parent is None:
                raise escaped(variable)
            block = block.parent
        return path[::-1]

    def learn(self, conditions: Iterable[Condition], reason: str) -> None:
        """Enter conditions that always hold, so that what follows may use them."""
        found = list(conditions)
        with self.unguarded():
            for condition in found:
                require(condition, reason)
        if found:
            self.locate_constraints(user_location())

    def hold_from_here(self, condition: Condition) -> None:
        """Record that sizes fulfil a condition behind an operator that raises for all others."""
        self.append("require", [], {"condition": condition, "message": "checked above"}, [])
        assume(condition)

    def replace(
        self, tensor: Tensor, compute: Callable[[Tensor], Any], is_same_memory: bool = False
    ) -> None:
        """Let a tensor become what is computed of it, in place."""
        replace(self, tensor, compute, is_same_memory)

    def set_value(self, tensor: Tensor, value: Any) -> None:
        """Give a tensor other numbers in place: shape and dtype stay, no gradient flows through."""
        set_value(self, tensor, value)

    def renew(self, tensor: Tensor, value: Any) -> None:
        """Give a tensor other numbers, as an optimizer does: what is a leaf stays one."""
        variable = self.variable(value)
        check_replaced(tensor, self.captured(tensor), variable)
        # Gradients begin in the leaf, so none flow on into what computed its new numbers.
        if self.flags.get(tensor):
            (new,) = self.append("detach", [variable], {}, [variable.type]).results
        else:
            new = self.flags.begun(tensor, variable)
        self.change(tensor, new)

    def overwrite(self, variable: Variable) -> None:
        """Note that the user changed a tensor in place: none that may be it is read any more."""
        place = user_location() or Location("<unknown>", 0)
        for one in self.aliases.of(self.aliases.origin(variable)):
            if one.overwritten is None:
                self.state.overwritten[one] = place

    # -- helpers -----------------------------------------------------------------------------

    def locate(self) -> Location | None:
        """Where the operator belongs that is recorded now: the line of the user, by default."""
        return user_location(self.layer) if self._locate is None else self._locate()

    def _detach(self, variable: Variable) -> Variable:
        """The same value without gradients, for code under `no_grad`."""
        if isinstance(variable.type, ArrayType) or not variable.type.is_differentiable:
            return variable
        if self.flags.is_surely_stopped(variable):
            return variable
        # Once for each Block: what one branch has recorded does not run in another one.
        detached = self._rows[self.block].detached
        if variable not in detached:
            (detached[variable],) = self.append("detach", [variable], {}, [variable.type]).results
        return detached[variable]

    def _cast(self, variable: Variable, dtype: DType) -> Variable:
        type = variable.tensor_type.with_dtype(dtype)
        return self.append("cast", [variable], {"dtype": dtype}, [type]).results[0]

    def locate_constraints(self, location: Location | None) -> None:
        """Enter what shape rules required since: of the whole Program, or of one nested Block.

        A branch that is not taken requires nothing, and the sizes of an iteration are those of the
        iteration.
        """
        if not self._constraints:
            return
        new, self._constraints[:] = list(self._constraints), []
        for constraint in new:
            required = self._rows[self.block].required
            if constraint in required or constraint in self._rows[self.program.block].required:
                continue
            required.add(constraint)
            if self.block.parent is None:
                self.program.constraints.append(LocatedConstraint(constraint, location))
            else:
                attributes = {"condition": constraint.condition, "message": constraint.reason}
                self.append("require", [], attributes, [])


def current_tracer() -> Tracer | None:
    """The tracer that records now, None while operators run eagerly.

    >>> from dy2st_runtime.ir import current_tracer
    >>> current_tracer() is None
    True
    """
    held = stack.interpreters
    return held[-1] if held and isinstance(held[-1], Tracer) else None


def infer(
    definition: OperatorDefinition, types: Sequence[ValueType], attributes: Mapping[str, Any]
) -> list[ValueType]:
    """Types of an operator's results, by its rule or by its decomposition."""
    definition.refuse_complex(types)
    if definition.infer is not None:
        result = definition.typed(types, attributes)
    else:
        assert definition.decompose is not None
        scratch = Tracer(is_scratch=True)
        parameters = [scratch.block.add_parameter(type) for type in types]
        with interpreting(scratch):  # constraints go to the trace that asks
            results = definition.decompose(*parameters, **attributes)
        results = results if isinstance(results, tuple) else (results,)
        result = [result.type for result in results]
    return list(map(lightened, result if isinstance(result, (tuple, list)) else (result,)))


def converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is called instead of the user's function: while one is traced, its traced form."""
    tracer = current_tracer()
    if tracer is None or tracer.host is None:
        return function
    return partial(tracer.host.call, function)
