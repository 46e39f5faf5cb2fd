"""Tensors made of lists, and lists of tensors; `backward()` and `.grad`; Layers as a whole."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from dy2st.convert.kinds.lists import each
from dy2st.convert.kinds.table import function_row
from dy2st.convert.kinds.text import inside
from dy2st.convert.stage.branch import known
from dy2st.convert.trace import EACH_CALL, Trace
from dy2st.convert.types import info
from dy2st.convert.values.layout import Layout, Leaf, Number, Parts, Same, opened, with_leaves
from dy2st.convert.values.special import Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime import ops
from dy2st_runtime.autodiff.traced_gradients import gradients_or_zeros
from dy2st_runtime.autograd import AfterBackward, is_cleared, refuse_stopped, seed_of
from dy2st_runtime.errors import (
    ArgumentError,
    ConversionError,
    StateMade,
    TensorAsPython,
    UnsupportedSyntax,
)
from dy2st_runtime.ir import F, Tensor, Variable, user_location
from dy2st_runtime.ir.arguments import normalize_axis
from dy2st_runtime.ir.grad_mode import is_grad_enabled, no_grad, set_grad_enabled
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.ir.tracing.leaves import leaves_of
from dy2st_runtime.nn.containers import LayerList, ParameterList, Sequential
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layer_tree import with_written
from dy2st_runtime.nn.tables import STORES
from dy2st_runtime.parameter_updates import gradient_of
from dy2st_runtime.tensor import EagerTensor, to_tensor

# -- tensors and lists ----------------------------------------------------------------------------


@function_row(EagerTensor.tolist, Variable.tolist)
def _tolist(trace: Trace, tensor: Any) -> Any:
    if not isinstance(tensor, Variable):
        tensor = trace.tracer.variable(tensor)
    try:
        return trace.made(tensor.tolist())
    except TensorAsPython:  # only the run knows the numbers: a loop makes the list
        return _listed(trace, tensor)


def _listed(trace: Trace, tensor: Any) -> Any:
    if not tensor.ndim:
        return tensor.item()
    out: list[Any] = trace.made([])
    each(trace, tensor, lambda one: trace.call(out.append, _listed(trace, one)))
    return out


def _methods(name: str) -> list[Any]:
    return [getattr(kind, name) for kind in (EagerTensor, Variable)]


@function_row(ops.unbind, *_methods("unbind"))
def _unbind(trace: Trace, input: Any, axis: Any = 0) -> Any:
    """`x.unbind(axis)`, of a size that only the run knows, too: a list of a length."""
    if not isinstance(input, Tensor) or type(axis) is not int or not input.ndim:
        return trace.made(F.unbind(*trace.exported((input, axis))))
    place = normalize_axis(axis, input.ndim)
    if isinstance(input.shape[place], int):
        return trace.made(F.unbind(input, axis))
    return trace.call(list, F.moveaxis(input, place, 0))


@function_row(ops.unstack, *_methods("unstack"))
def _unstack(trace: Trace, x: Any, axis: Any = 0, num: Any = None) -> Any:
    """`x.unstack(axis)`: the same of a copy."""
    if num is not None or not isinstance(x, Tensor):
        return trace.made(F.unstack(*trace.exported((x, axis, num))))
    return _unbind(trace, F.assign(x), axis)


@function_row(to_tensor)
def to_tensor_(trace: Trace, data: Any, *args: Any, **options: Any) -> Any:
    """`to_tensor(data)`, of a list of a length too."""
    kind, dtype = type(data), (args or (options.get("dtype"),))[0]
    if kind in (Indexed, Generated, SymbolicSequence) or kind in (list, deque):
        content = trace.content(data) if kind in (list, deque) else trace.listed(data)
        made = _table(trace, content) if type(content) is SymbolicSequence else None
        is_of_rows = getattr(getattr(content, "element", None), "kind", None) is list
        if type(content) is not SymbolicSequence:
            is_of_rows = any(type(one) is SymbolicSequence for one in inside(trace, data))
        if made is None and is_of_rows:  # lists that have locations, or lengths
            rows: list[Any] = trace.made([])
            each(
                trace, data, lambda row: trace.method(rows, "append", to_tensor_(trace, row, dtype))
            )
            held = trace.content(rows)
            data = F.stack(held) if type(held) is list else F.array_stack(*held.arrays)
        if made is not None:
            # Python's floats become float32 as everywhere; tensors in the list keep their dtype.
            of_tensors = any(type(one) is Leaf for one in leaves_in(opened_parts(content.element)))
            if made.dtype == np.float64 and dtype is None and not of_tensors:
                made = F.cast(made, "float32")
            data = made
    return to_tensor(*trace.exported((data, *args)), **trace.exported(options))


def _table(trace: Trace, content: SymbolicSequence) -> Any:
    """A tensor of the numbers, or alike tensors, in a list's elements; None if it holds others.

    An element may be a tuple or list of them: what is at one place of all elements is a column.
    """
    element = None if content.element is None else opened_parts(content.element)
    leaves = [] if element is None else [*leaves_in(element)]
    if not any(isinstance(leaf, (Number, Leaf)) for leaf in leaves):
        return None
    kinds = {leaf.dtype if isinstance(leaf, Leaf) else _kind_of(leaf) for leaf in leaves}
    numbers = [kind for kind in (float, int, bool) if kind in kinds]
    if len(numbers) != len(kinds) and len(kinds) > 1:
        return None
    dtype = info(numbers[0]).dtype.name if numbers else None
    arrays = map(trace.tracer.local, content.arrays)
    found = [None if isinstance(leaf, Same) else F.array_stack(next(arrays)) for leaf in leaves]
    count = next(column.shape[0] for column in found if column is not None)
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, Same):
            found[place] = F.full([count], leaf.value, dtype)
        elif dtype is not None:
            found[place] = F.cast(found[place], dtype)
    return _beside(element, iter(found))


def opened_parts(node: Layout) -> Layout:
    """A node with all tuples and lists in it opened, and constants as they are."""
    inner = opened(node)
    if isinstance(inner, Parts) and issubclass(inner.kind, (tuple, list)):
        return with_leaves(inner, [opened_parts(item) for item in inner.items])
    is_constant = isinstance(node, Same) and info(type(node.value)).dtype is not None
    return node if is_constant else inner


def leaves_in(node: Layout) -> Iterator[Layout]:
    """What stands in such a node, and in all tuples and lists in it."""
    if isinstance(node, Parts) and issubclass(node.kind, (tuple, list)):
        for item in node.items:
            yield from leaves_in(item)
    else:
        yield node


def _kind_of(node: Layout) -> Any:
    """The type of a number, or of what is none."""
    if isinstance(node, Same):
        return type(node.value)
    return node.kind if isinstance(node, Number) else type(node)


def _beside(node: Layout | None, columns: Iterator[Any]) -> Any:
    if not isinstance(node, Parts):
        return next(columns)
    return F.stack([_beside(item, columns) for item in node.items], axis=1)


# -- gradients ------------------------------------------------------------------------------------
# Those of leaves are places like any others.

PLACE = "_grad"  # the slot of an eager tensor


@function_row(EagerTensor.backward, Variable.backward)
def backward(
    trace: Trace, tensor: Tensor, grad_tensor: Any = None, retain_graph: bool = False
) -> None:
    """`tensor.backward()`: the gradients are recorded, and added to those of the leaves."""
    tracer = trace.tracer
    output = tracer.local(tracer.captured(tensor))
    if not tracer.flags.flows_through(output):
        refuse_stopped(tensor)
    seed = tracer.variable(seed_of(tensor, grad_tensor))
    leaves = leaves_of(tracer, output, retain_graph)
    apart = tracer.flags.apart
    before = len(apart)
    found = gradients_or_zeros(tracer, [output], [seed], [*leaves])
    del apart[before:]  # all that gradients flow through is a leaf: none is made of another
    tracer.has_gone_back = True
    at_end: dict[AfterBackward, list[Tensor]] = {}
    for leaf, gradient in zip(leaves.values(), found, strict=True):
        for hook in () if gradient is None else _add(trace, leaf, *gradient):
            at_end.setdefault(hook, []).append(leaf)
    with no_grad():
        for hook, among in at_end.items():
            totals = trace.call(hook, *(grad_of(trace, leaf) for leaf in among))
            for leaf, total in zip(among, totals, strict=True):
                set_grad(trace, leaf, tracer.variable(total))


def _add(
    trace: Trace, leaf: Tensor, gradient: Variable, there: Variable | None
) -> list[AfterBackward]:
    """Add a gradient to that of a leaf; zeros change nothing where there is none to be added.

    Gives the hooks that are called when those of all leaves are there.
    """
    # The hooks of a leaf from outside; those of others are operators of the Program.
    hooks: list[Any] = []
    if not isinstance(leaf, Variable):
        held = trace.read("attr", leaf, "hooks", leaf.hooks)
        if held is not None:
            trace.read_content(held)
            hooks = [*trace.content(held)]
    has_zeros = _is_cleared(trace, leaf)
    before = None if has_zeros else _held(trace, leaf)
    is_none = not has_zeros and (before is None or type(before) is Union)  # on some paths, perhaps
    if there is not None and (is_none or hooks):
        _let_it_be_none(trace, there)
        return []
    at_end = [hook for hook in hooks if isinstance(hook, AfterBackward) and hook.at_end]
    for hook in hooks:
        changed = None if hook in at_end else trace.call(hook, gradient)
        gradient = gradient if changed is None else trace.tracer.variable(changed)
    with no_grad():
        add = lambda one: gradient if one is None else F.add(one, gradient)  # noqa: E731
        set_grad(trace, leaf, trace.map_cases(add, before))
    return at_end


def _let_it_be_none(trace: Trace, there: Variable) -> None:
    """Take it that a gradient stays None: where it does not, Python makes the call.

    What that leaves of a gradient is there at the next call: then there is no question.
    """
    if trace.call_context.gradients is not None:
        error = ArgumentError("a gradient is there that this Program takes for None")
        trace.record.has_written = True  # so that Python may make the call
        trace.tracer.check(F.logical_not(there), error)
        return
    raise ConversionError(
        "the gradient of a tensor that only a branch, or some iterations of a loop, depend on",
        why="on other paths it stays None, and a Program has a tensor there, or has none",
        hint="let each path use the tensor, by 0 * x if need be, or let gradients be zeros at "
        "first: x.grad = zeros_like(x), or clear_grad() after the first call",
    )


def grad_of(trace: Trace, tensor: Tensor) -> Any:
    """`tensor.grad`."""
    if (id(tensor), PLACE) not in trace.over and any(
        tensor is one for one in trace.tracer.program.inputs
    ):
        return tensor.grad  # refused: each call has another one
    return _held(trace, tensor)


@function_row(gradient_of)
def _of_step(trace: Trace, tensor: Tensor) -> Any:
    """The gradient that an optimizer takes a step by."""
    found = grad_of(trace, tensor)
    if type(found) is not Union:
        return found
    if trace.call_context.gradients is not None:
        trace.record.has_written = True  # Python may make the call, which leaves gradients
        raise ArgumentError("step() is taken by a gradient that only some paths have given")
    raise ConversionError(
        "a step of an optimizer is taken by a gradient that only some paths have given",
        why="on the others it is None, and which parameters a step moves is part of the Program",
        hint="let gradients be zeros at first: clear_grad() after the first call",
    )


def _held(trace: Trace, tensor: Tensor) -> Any:
    """The gradient of a tensor; an argument has none before the call, which a call checks."""
    place = trace.over.get((id(tensor), PLACE))
    if place is not None:
        return known(trace, place.value)
    if isinstance(tensor, Variable):
        return None
    return trace.read("attr", tensor, PLACE, tensor._grad)


def _is_cleared(trace: Trace, tensor: Tensor) -> bool:
    """Whether the gradient is the zeros that `clear_grad` left before the call.

    To add them changes nothing, and to read them takes as long as to read the weights. A Program
    that reads gradients takes zeros as well, so only one that does not asks at each call.
    """
    if isinstance(tensor, Variable) or (id(tensor), PLACE) in trace.over:
        return False
    return is_cleared(tensor) and bool(trace.read_volatile(is_cleared, tensor))


def set_grad(trace: Trace, tensor: Tensor, value: Any) -> None:
    """`tensor.grad = value`."""
    if not isinstance(tensor, Variable):
        trace.outside[id(tensor)] = tensor
    trace.write(tensor, PLACE, value)


@function_row(EagerTensor.clear_grad, Variable.clear_grad)
def _clear_grad(trace: Trace, tensor: Tensor) -> None:
    set_grad(trace, tensor, None)


@function_row(EagerTensor.clear_gradient, Variable.clear_gradient)
def clear_gradient(trace: Trace, tensor: Tensor, set_to_zero: bool = True) -> None:
    """`tensor.clear_gradient()`: zeros take no memory."""

    def cleared(held: Any) -> Any:
        if held is None:
            return None
        return F.expand(F.zeros([1] * tensor.ndim, tensor.dtype), tensor.shape)

    if not set_to_zero:
        set_grad(trace, tensor, None)
        return
    before = tensor if _is_cleared(trace, tensor) else _held(trace, tensor)
    set_grad(trace, tensor, trace.map_cases(cleared, before))


@function_row(Layer.clear_gradients)
def _clear_gradients(trace: Trace, layer: Layer, set_to_zero: bool = True) -> None:
    for parameter in trace.call(layer.parameters):
        trace.call(parameter.clear_gradient, set_to_zero)


@function_row(Layer.zero_grad)
def _zero_grad(trace: Trace, layer: Layer, set_to_none: bool = True) -> None:
    trace.call(layer.clear_gradients, not set_to_none)


@function_row(set_grad_enabled.__enter__)
def enter(trace: Trace, mode: Any) -> None:
    """Switch; a trace records for gradients, so nothing changes but for a caller's `no_grad`."""
    set_grad_enabled.__enter__(mode)
    if not is_grad_enabled() or trace.call_context.gradients is None:
        return
    if not trace.call_context.gradients[0]:
        # The Program would be run without a tape: Python makes the call, which has one here.
        if not any(kind == EACH_CALL for _, kind, *_ in trace.reads.values()):
            trace.call_context.is_lost = True
            warn_user(
                "a converted function that calls enable_grad() runs as Python under no_grad()"
            )
        raise ConversionError(
            "enable_grad() in a converted function that is called under no_grad()",
            why="a Program that is run without gradients records none of its parts",
            hint="call the function outside of no_grad(), and detach() what it returns",
        )
    trace.read_volatile(is_grad_enabled)


@function_row(is_grad_enabled)
def _is_recording(trace: Trace) -> bool:
    """`is_grad_enabled()`: as the function has set it, or else as its caller."""
    if is_grad_enabled():
        trace.tracer.flags.asked.append(user_location())
    return is_grad_enabled() and trace.tracer.flags.is_recording


# -- Layers ---------------------------------------------------------------------------------------


def held_in_order(trace: Trace, owner: Any, method: str) -> tuple[Any, ...] | None:
    """What a Layer of ours holds; None of others, and where the user's class has the method."""
    in_order = LayerList, Sequential, ParameterList
    kind = next((one for one in in_order if isinstance(owner, one)), None)
    if kind is None or getattr(type(owner), method) is not getattr(kind, method):
        return None
    store = "_parameters" if kind is ParameterList else "_sub_layers"
    return tuple(stored(trace, owner, store).values())


def stored(trace: Trace, layer: Layer, store: str) -> dict[str, Any]:
    """What a Layer has registered in a store, with what the code has set by attributes."""
    held = vars(layer).get(store, {})
    if trace.is_outside(layer):  # the code has seen all that it holds
        read_layer(trace, layer)
        for one in held.values():
            trace.mark_outside(one)
    over = [(name, one.value) for (of, name), one in trace.over.items() if of == id(layer)]
    written = {name: known(trace, value) for name, value in over if isinstance(name, str)}
    for name, value in written.items():
        if type(value) is Union and (name in held or Leaf in map(type, value.layouts)):
            trace.native(value)  # refused, in its words
    return with_written(store, held, written)


def read_layer(trace: Trace, layer: Layer) -> None:
    """Note all that a Layer holds but for the attributes that the trace has set unread."""
    own = [name for key, name in trace.over if key == id(layer) and isinstance(name, str)]
    own = [one for one in own if (id(layer), "attr", one) not in trace.reads]
    registered = {one for store in STORES for one in vars(layer).get(store, ())}
    trace.read("layer", layer, "all", frozenset(own) - registered)


def note_change(trace: Trace, layer: Layer) -> None:
    """Refuse to change an older Layer on some paths; else each call is traced for it."""
    kind, at = type(layer).__name__, user_location()
    context, are_seen = trace.call_context, (one[1] == EACH_CALL for one in trace.reads.values())
    if not trace.is_nested and not any(are_seen) and context.may_leave(at):
        context.is_lost = True
        raise StateMade(f"a {kind} is changed", at=at)
    if not trace.is_nested:
        trace.read(EACH_CALL, note_change, "changed", f"a {kind} is changed at {at}")
        return
    raise UnsupportedSyntax(
        f"a {kind} gets other layers, hooks, buffers or another mode in a branch or loop that "
        "depends on a tensor",
        at=at,
        why="Python does it while the function is traced: it would be done on every path",
        hint="do it before or after the call, or keep a bool or tensor that says what to use",
    )
