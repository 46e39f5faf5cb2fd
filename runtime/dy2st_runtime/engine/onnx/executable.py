"""The engine `onnxruntime`: a Program runs as the model of ONNX that it is exported as.

Parameters are inputs of the model. Where the very same arrays come again, which then have not
changed (see `exported_buffers`), they are built into a second one, which onnxruntime optimises:
it folds constants and lays weights out for its kernels. Sizes stay unknown: there is one model.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dy2st_runtime import exported_buffers
from dy2st_runtime.engine.numpy import executable as reference
from dy2st_runtime.engine.onnx.library import onnxruntime, printer
from dy2st_runtime.engine.onnx.model import DEFAULT, Model, write_model
from dy2st_runtime.engine.onnx.nesting import flat, is_nested, unflat
from dy2st_runtime.engine.onnx.node_times import NodeTimes
from dy2st_runtime.engine.onnx.table import LEFT_OUT
from dy2st_runtime.engine.runner import Clock, Runner, Span
from dy2st_runtime.errors import ArgumentError, DTypeError, EngineError
from dy2st_runtime.ir.checks.broken_sizes import place_text
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.types import ArrayType
from dy2st_runtime.lazy import cached_property

Array = np.ndarray[Any, Any]


class Executable(Runner):
    """A Program that onnxruntime runs. Several threads may call it at once."""

    def __init__(self, program: Program) -> None:
        """Write the model, and let onnxruntime load it."""
        super().__init__(program)
        _require_runnable(program)
        parameters = program.block.parameters
        yields = list(map(_root, program.block.yields))
        self._computed = list(dict.fromkeys(v for v in yields if isinstance(v.maker, Operator)))
        block = Block(parameters, program.block.operators, self._computed)
        self._whole = replace(program, block=block, updates=[], structure=None, changes={})
        program.block.program = program
        # Where a yield comes from: ~n is the n-th argument, n the n-th that is computed.
        own = {variable: ~place for place, variable in enumerate(parameters)}
        own.update({variable: place for place, variable in enumerate(self._computed)})
        self._places = [own[variable] for variable in yields]
        self._copied = [place < 0 for place in self._places]
        self._are_nested = tuple(
            any(is_nested(one.type) for one in values)
            for values in (program.inputs, self._computed)
        )
        self._are_plain = self._places == list(range(len(self._computed)))
        self._are_plain = self._are_plain and not self._are_nested[1]
        self._flows = [isinstance(v.maker, Operator) and bool(v.maker.blocks) for v in yields]
        self._passing = [n for n, one in enumerate(yields) if self._flows[n] and _may_pass(one)]
        self._names = list(program.state)
        self._fixed = [n for n, name in enumerate(program.state) if name not in program.updates]
        self._given: tuple[list[str], Any] = ([], None)
        if self._computed:
            self._given = self._loaded(None)
        self._kept: tuple[Any, ...] = ((), None, 0)  # ids of arrays, a session, exported buffers
        self._last: tuple[int, ...] = ()
        self._shapes: Any = None
        self._measures: NodeTimes | None = None

    @cached_property
    def reference(self) -> reference.Executable:
        """The same Program in NumPy's engine, which says what is wrong with a call."""
        return reference.compile_program(self.program)

    @cached_property
    def source(self) -> str:
        """The model, as ONNX prints it."""
        return str(printer.to_text(self._model(None).proto))

    def check(self, inputs: Sequence[Array]) -> None:
        """As the contract says."""
        self.reference.check(inputs)

    def takes_shapes(self, shapes: Sequence[Sequence[int]]) -> bool:
        """As the contract says."""
        return self.reference.takes_shapes(shapes)

    def run(
        self,
        inputs: Sequence[Array],
        state: Sequence[Array],
        as_is: Container[int] = (),
        as_one: Collection[int] = (),
        bare: int = 0,
    ) -> list[Array]:
        """As the contract says."""
        is_known = not as_one or not any(self._flows[place] for place in as_one)
        if is_known and as_is and self._passing:
            is_known = not any(place in as_is for place in self._passing)
        if not is_known or not self._computed or not self._fits(inputs):
            return self.reference.run(inputs, state, as_is, as_one, bare)
        try:
            found = self._run(inputs, state)
        except _errors() as error:
            # Whatever the Program raises there, with its words and its line.
            self.reference.run(inputs, state, as_is, as_one, bare)
            raise EngineError(f"onnxruntime cannot run {self.program.name!r}: {error}") from error
        if self._are_plain and not (as_is or as_one or bare):
            return found
        if self._are_nested[1]:
            found = unflat([one.type for one in self._computed], found)
        held = [*inputs, *state]
        results = [held[~place] if place < 0 else found[place] for place in self._places]
        return self.given(results, (inputs, state), as_is, as_one, bare, self._copied)

    def measure(self, clock: Clock | None) -> None:
        """Let onnxruntime write down the times of nodes from now on, by sessions of their own."""
        if self._measures is not None:
            self._measures.close()
        self._measures = None if clock is None else NodeTimes(clock)

    def spans(self) -> list[Span]:
        """The nodes that ran since this was asked last."""
        return [] if self._measures is None else self._measures.spans()

    def _fits(self, inputs: Sequence[Array]) -> bool:
        """Whether inputs are such as the Program takes; those of the last call are looked up."""
        try:
            facts = [(one.dtype, one.shape) for one in inputs]
        except AttributeError:  # a list of the Program
            self.check(inputs)
            return True
        if facts == self._shapes:
            return True
        self.check(inputs)
        # Kernels of onnxruntime that move windows do not expect that there is nothing to move over.
        if any(0 in shape for _, shape in facts) or not self.takes_shapes([s for _, s in facts]):
            return False
        self._shapes = facts
        return True

    def _run(self, inputs: Sequence[Array], state: Sequence[Array]) -> list[Any]:
        if self._are_nested[0]:
            inputs = flat([one.type for one in self.program.inputs], inputs)
        names, session = self._given
        arrays = [*map(_array, inputs), *state]
        if self._fixed:
            ids = (
                tuple(map(id, state))
                if len(self._fixed) == len(state)
                else tuple([id(state[place]) for place in self._fixed])
            )
            kept, loaded, count = self._kept[:3]
            if ids == kept and count == int(exported_buffers.COUNT):
                names, session = loaded
                arrays = [*map(_array, inputs), *[state[n] for n in self._updated]]
            elif ids == self._last and all(exported_buffers.is_constant(a) for a in state):
                loaded = self._loaded(dict(zip(self._names, state, strict=True)))
                # The arrays are held, so that no other gets an id of theirs.
                self._kept = (ids, loaded, int(exported_buffers.COUNT), list(state))
            self._last = ids
        feeds = dict(zip(names, arrays, strict=True))
        if self._measures is None:
            found: list[Any] = session.run(None, feeds)
        else:
            built_in = None if session is self._given[1] else self._kept[3]
            held = None if built_in is None else dict(zip(self._names, built_in, strict=True))
            model = self._model(held)
            found = self._measures.run(session, partial(self._session, model), model.made_by, feeds)
        return list(map(_own, found))

    @cached_property
    def _updated(self) -> list[int]:
        return [n for n in range(len(self._names)) if n not in set(self._fixed)]

    def _model(self, arrays: Any) -> Model:
        whole = replace(self._whole, updates=[])
        self.program.block.program = self.program
        given = None if arrays is None else self.program.updates
        return write_model(whole, arrays, DEFAULT, given=given, knows_sizes=True)

    def _loaded(self, arrays: Any) -> tuple[list[str], Any]:
        """The names of the arguments, and a session of onnxruntime."""
        model = self._model(arrays)
        return model.inputs, self._session(model)

    def _session(self, model: Model, times: str = "") -> Any:
        """A session, which writes the times of nodes into a file whose name begins so."""
        options = onnxruntime.SessionOptions()
        if times:
            options.enable_profiling, options.profile_file_prefix = True, times
        options.log_severity_level = 4
        threads = os.environ.get("OMP_NUM_THREADS", "")
        options.intra_op_num_threads = int(threads) if threads.isdigit() else 0
        try:
            return onnxruntime.InferenceSession(
                model.proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except _errors() as error:
            raise EngineError(
                f"the engine 'onnxruntime' cannot run {self.program.name!r}: {error}; "
                "take another engine for it"
            ) from error


def _array(value: Any) -> Any:
    """An array, for a number of NumPy; lists of such."""
    if type(value) is np.ndarray:
        return value
    return list(map(_array, value)) if isinstance(value, list) else np.asarray(value)


def _own(array: Any) -> Any:
    """An array of NumPy's own int64: onnxruntime calls it `longlong`, which NumPy tells apart."""
    if isinstance(array, list):
        return [_own(one) for one in array]
    own = _OWN.get(array.dtype.char)
    return array if own is None else array.view(own)


_OWN = {"q": np.dtype("int64"), "Q": np.dtype("uint64")}


def _root(variable: Variable) -> Variable:
    """The value that a value is, where operators give their operand as it is."""
    while isinstance(variable.maker, Operator) and variable.maker.name in IDENTITIES:
        variable = variable.maker.operands[0]
    return variable


def _may_pass(variable: Variable) -> bool:
    """Whether a branch or loop may give what the Program was given: which, a model does not say."""
    variable = _root(variable)
    maker = variable.maker
    if not isinstance(maker, Operator):
        return True
    if not maker.blocks:
        return False
    place = next(n for n, one in enumerate(maker.results) if one is variable)
    if maker.name == "while":
        return _may_pass(maker.operands[place]) or _passes_on(maker, maker.blocks[1], place, 0)
    return any(_passes_on(maker, block, place, 1) for block in maker.blocks)


def _passes_on(operator: Operator, block: Block, place: int, first: int) -> bool:
    """Whether what a Block yields there may be a value that its operator captures."""
    variable = _root(block.yields[place])
    if variable.maker is block:
        number = next(n for n, one in enumerate(block.parameters) if one is variable)
        return _may_pass(operator.operands[number + first])
    # What an inner branch or loop gives may come from anywhere.
    return isinstance(variable.maker, Operator) and bool(variable.maker.blocks)


def _errors() -> tuple[type[Exception], ...]:
    """The classes of errors of onnxruntime, which have no root of their own."""
    state = onnxruntime.capi.onnxruntime_pybind11_state
    names = ("Fail", "InvalidArgument", "InvalidGraph", "NotImplemented", "RuntimeException")
    return tuple(getattr(state, name) for name in names)


def _require_runnable(program: Program) -> None:
    """EngineError for what onnxruntime has not, or would do in another way."""
    refused = []
    for operator in program.block.walk():
        reason = ""
        if lookup(operator.name).effect is Effect.RANDOM:
            reason = "it draws other random numbers than NumPy"
        elif operator.name in LEFT_OUT and lookup(operator.name).effect is Effect.VISIBLE:
            reason = "it prints nothing"
        if reason:
            place = f" ({place_text(operator.location)})" if operator.location else ""
            refused.append(f"  {operator.name}: {reason}{place}")
    for variable in (*program.block.parameters, *program.block.yields):
        if _dtype(variable) == "bfloat16":
            refused.append("  bfloat16: it takes and gives no arrays of it")
    if refused:
        raise EngineError(
            "\n".join([_CANNOT.format(program.name), *dict.fromkeys(refused), _OTHER])
        )


IDENTITIES = ("assign", "detach", "hooked", "sealed", "set_stop_gradient")
"""What gives its first operand as it is: results are one object where the Program has one."""
_CANNOT, _OTHER = "the engine 'onnxruntime' cannot run {!r}:", "Take another engine for it."


def _dtype(variable: Variable) -> str:
    type = variable.type
    inner = type.tensor if isinstance(type, ArrayType) else type
    return "" if inner is None else inner.dtype.name


def compile_program(program: Program) -> Executable:
    """Compile a Program for onnxruntime; EngineError, with the lines, for what it has not."""
    try:
        return Executable(program)
    except (ArgumentError, DTypeError) as error:
        lines = str(error).splitlines()[1:] or [f"  {error}"]
        raise EngineError("\n".join([_CANNOT.format(program.name), *lines, _OTHER])) from None


__all__ = ["Executable", "compile_program"]
