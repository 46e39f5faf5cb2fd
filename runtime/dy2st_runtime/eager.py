"""The interpreter at the bottom of every stack: it runs operators on arrays, at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st_runtime.autograd import Array, Node
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import EscapedVariable
from dy2st_runtime.ir.definition import Effect, OperatorDefinition
from dy2st_runtime.ir.dispatch import F, Look, install_eager
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.kernel_errors import as_ours
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.promotion import (
    as_array,
    as_paddle,
    autocast,
    autocasting,
    cast_inputs,
    common_dtype,
    complete,
    drop_missing,
    is_paddles,
    is_promoted,
)
from dy2st_runtime.ir.tracing.tracer import infer
from dy2st_runtime.ir.types import is_differentiable
from dy2st_runtime.storage import lay_by_rows, share
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.torch_arrays import COPIES, note_copy


class EagerInterpreter:
    """Runs kernels at once, and tapes what needs gradients.

    `as_recorded`: on the operands as they are, as a Program says it, whatever promotion is wanted.
    """

    def __init__(self, as_recorded: bool = False):
        """Say whose operators it runs."""
        self._as_recorded = as_recorded

    def run(
        self, definition: OperatorDefinition, inputs: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        """The result as an EagerTensor, or a tuple of several."""
        attributes = complete(definition, attributes)
        inputs = drop_missing(definition, inputs)
        settings = autocast()
        if settings is not None and not self._as_recorded:
            inputs = cast_inputs(settings, definition, inputs)
        if is_paddles() and not self._as_recorded:
            inputs = as_paddle(definition, inputs, attributes, infer)
        tensors = _tensors(definition, inputs)
        if not definition.takes_complex:  # faster than the call
            definition.refuse_complex(tensors)
        taped = is_grad_enabled() and not all([tensor.stopped for tensor in tensors])
        by_parts = definition.kernel is None or (taped and definition.gradient is None)
        if by_parts and definition.decompose is not None:
            if settings is None:
                return definition.decompose(*tensors, **attributes)
            with autocasting(None):  # one operator has one dtype
                return definition.decompose(*tensors, **attributes)
        assert definition.kernel is not None, f"operator {definition.name!r} has no kernel"
        if definition.shares:
            lay_by_rows(tensors[0])
        arrays = [tensor.array for tensor in tensors]
        try:
            results = definition.kernel(*arrays, **attributes)
        except (ValueError, TypeError, IndexError) as error:
            # The shape rule words the error better; without a finding NumPy's own text stands.
            try:
                infer(definition, [tensor.tensor_type for tensor in tensors], attributes)
            except Exception as worded:  # whichever the rule raises
                raise worded from None
            if definition.borrows or definition.hidden or definition.effect is Effect.VISIBLE:
                raise  # of a list, or of the user's own code
            raise as_ours(definition.name, error) from None
        several = isinstance(results, tuple)
        outputs = [np.asarray(result) for result in (results if several else (results,))]
        node = None
        if taped and definition.gradient is not None:
            node = Node(definition, tensors, outputs, attributes)
        if not several:
            if definition.name in COPIES:
                note_copy(arrays[0], outputs[0])
            made = _made(outputs[0], node, 0)
            if definition.shares:
                share(tensors[0], made)
            return made
        return tuple(_made(array, node, index) for index, array in enumerate(outputs))

    def share(self, owner: Any, view: Any, look: Look | None) -> None:
        """Note that a tensor is a view of another one."""
        if not isinstance(owner, EagerTensor):  # an array, or numbers
            return
        if look is not None:
            lay_by_rows(owner)
            view.array = look(owner.array)
        share(owner, view)

    def separate(self, tensor: Any) -> None:
        """Note that a tensor is a view of no other one."""
        tensor.storage = None


def _made(array: Array, node: Node | None, index: int) -> EagerTensor:
    tensor = EagerTensor(array)
    if node is not None and is_differentiable(array.dtype):
        tensor.node, tensor.index, tensor.stopped = node, index, False
    return tensor


def _tensors(definition: OperatorDefinition, inputs: tuple[Any, ...]) -> list[EagerTensor]:
    dtypes = [value.array.dtype for value in inputs if isinstance(value, EagerTensor)]
    if dtypes and len(dtypes) == len(inputs):  # most calls, and faster than to look closer
        first = dtypes[0]
        if not definition.promote or (first.isnative and dtypes.count(first) == len(dtypes)):
            return list(inputs)
    dtype = common_dtype(definition, inputs) if definition.promote else None
    tensors = []
    for index, value in enumerate(inputs):
        wanted = dtype if dtype is not None and is_promoted(definition, index) else None
        if isinstance(value, EagerTensor):
            if wanted is not None and value.array.dtype != wanted:
                value = F.cast(value, wanted)
            tensors.append(value)
        else:
            if isinstance(value, Variable):
                raise EscapedVariable(
                    f"{value!r} is used outside of the trace that it belongs to",
                    why="the traced function has kept it, in an attribute or a global, say",
                    hint="return it from the function instead",
                )
            assert not isinstance(value, (Dim, Condition)), "a Dim outside of a trace"
            tensors.append(EagerTensor(as_array(value, wanted)))
    return tensors


install_eager(EagerInterpreter(), EagerInterpreter(as_recorded=True))
