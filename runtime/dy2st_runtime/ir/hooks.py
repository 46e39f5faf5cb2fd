"""Inserts hooks on traced tensors: an operator returns the tensor, its gradient calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from dy2st_runtime.errors import ArgumentError, TensorAsPython
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.location import user_location
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer, current_tracer

Hook = Callable[[Any], Any]
HOOKED = "hooked"
"""The operator."""
_LASTING = (int, float, complex, str, bytes, type(None), type, ModuleType)


class Hooks(str):
    """The name of the first hook of a tensor of a Program, with the functions themselves."""

    def __new__(cls, hook: Hook) -> Hooks:
        """Be its name."""
        return super().__new__(cls, getattr(hook, "__name__", type(hook).__name__))

    def __init__(self, hook: Hook) -> None:
        """Take the first one."""
        self.functions = [hook]

    def gradient(self, g: Any, convert: Callable[[Hook], Hook]) -> Any:
        """What the hooks make of a gradient."""
        for hook in self.functions:
            changed = convert(hook)(g)
            g = g if changed is None else changed
        return g


class Handle:
    """What `register_hook` of a traced tensor returns: called, or by `remove()`, it removes it."""

    def __init__(self, hooks: Hooks, hook: Hook) -> None:
        """Take the hook, and those among which it is."""
        self._hooks: Hooks | None = hooks
        self._hook = hook

    def remove(self) -> bool:
        """Remove the hook; False if it is removed already."""
        if current_tracer() is None:
            raise refused("a hook of a traced tensor is removed when the trace is over")
        hooks, self._hooks = self._hooks, None
        if hooks is not None:
            hooks.functions.remove(self._hook)
        return hooks is not None

    __call__ = remove


def register(tracer: Tracer, tensor: Variable, hook: Hook) -> Handle:
    """Let a hook see the gradient of a tensor, of all its uses, those before among them.

    Raises TensorAsPython where the hook would outlast the call, or depend on it.
    """
    variable = tracer.captured(tensor)
    maker = variable.maker
    if not isinstance(maker, Operator) or maker.blocks:
        raise refused("register_hook() of an input, a parameter, or the result of a branch")
    if variable.block is not tracer.block:
        raise refused("register_hook() in a branch or loop, of a tensor from around it")
    for value in _held(hook):
        is_outside = tracer.host is not None and id(value) in tracer.host.outside
        is_outside = is_outside or hasattr(value, "named_parameters")
        if not is_outside and not isinstance(value, _LASTING):
            raise refused(f"a hook that holds a {type(value).__name__} of the traced function")
    if tracer.flags.stops(variable):
        raise ArgumentError("a hook on a tensor that has stop_gradient=True never runs")
    if maker.name == HOOKED:
        hooks: Hooks = maker.attributes["hook"]
        hooks.functions.append(hook)
    else:
        hooks = Hooks(hook)
        # The operator stands between a Variable and what has made it.
        lookup(HOOKED)  # loads its family
        block = maker.block
        made = Variable(variable.type, maker)
        made.held = variable.held
        maker.results = [made if result is variable else result for result in maker.results]
        inserted = Operator(HOOKED, [made], {"hook": hooks}, block, [], [variable], user_location())
        variable.maker = inserted
        place = next(i for i, operator in enumerate(block.operators) if operator is maker)
        block.operators.insert(place + 1, inserted)
    return Handle(hooks, hook)


def _held(hook: Any) -> Iterator[Any]:
    """What a function keeps of where it was made."""
    if isinstance(hook, (MethodType, BuiltinFunctionType)):
        yield hook.__self__
    elif isinstance(hook, partial):
        yield from (*hook.args, *hook.keywords.values())
        yield from _held(hook.func)
    elif isinstance(hook, FunctionType):
        cells = [cell.cell_contents for cell in hook.__closure__ or ()]
        for value in (*cells, *(hook.__defaults__ or ()), *(hook.__kwdefaults__ or {}).values()):
            yield from _held(value) if isinstance(value, FunctionType) else [value]
    else:
        yield hook


def refused(what: str) -> TensorAsPython:
    """The refusal of a hook."""
    return TensorAsPython(
        what,
        why="a Program serves all calls, and its hooks are called after each",
        hint="register the hook outside of the function, on a parameter once, or on what the "
        "function takes or returns; or let the hook hold nothing but numbers and Layers, and "
        "register it where the tensor is computed",
    )


__all__ = ["HOOKED", "Handle", "Hooks", "refused", "register"]
