"""Keeps what a call may change, to put it back: tensors, containers, objects, random numbers.

All is looked at that a function reaches: its Layers, arguments, closure and the globals it names,
and what these hold. Arrays of tensors are never changed in place, so they are kept as they are.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from dy2st.convert.objects import slots_of
from dy2st.convert.types import info
from dy2st.convert.types.values import fill, read_state, write_state
from dy2st.jit.static_function import StaticFunction
from dy2st_runtime.ir.location import is_own_file
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.ops.generator import get_rng_state, set_rng_state
from dy2st_runtime.tensor import EagerTensor

_SLOTS = ("array", "stopped", "node", "index", "_grad", "hooks", "storage", "resident")
_ATOMS = (int, float, complex, str, bytes, type, ModuleType, BuiltinFunctionType, CodeType)
_EARLY = (Layer, EagerTensor, dict, tuple, FunctionType, MethodType, StaticFunction, CellType)
_MOST = 200_000
_COMPILED = ("_executable", "_trained")
"""Attributes of loaded models that hold what was compiled, which stays."""
_TABLES = ("_parameters", "_buffers", "_sub_layers")
_USERS = (
    *("dy2st_runtime.nn", "dy2st_runtime.optimizer", "dy2st_runtime.grad_scaler"),
    *("dy2st_runtime.io", "dy2st.nn", "dy2st.optimizer", "dy2st.paddle"),
)
"""Modules of ours whose objects hold what users train."""


class KeptState:
    """What all that is reachable held at a moment.

    tensors  the tensors by the way to them: `first.weight`.
    unknown  in words what was met that nobody can put back, such as an iterator.
    """

    def __init__(self, roots: Sequence[tuple[str, Any]]) -> None:
        """Look at everything that can be reached from some values with names."""
        self.tensors: dict[str, EagerTensor] = {}
        self.unknown: list[str] = []
        self._undo: list[Callable[[], object]] = []
        self._seen: dict[int, Any] = {}  # what was met, which stays alive so that ids stay its own
        numbers, own, python = np.random.get_state(), get_rng_state(), random.getstate()
        self._undo.append(lambda: np.random.set_state(numbers))
        self._undo.append(lambda: random.setstate(python))
        self._undo.append(lambda: set_rng_state(own))
        # Layers come first, since tensors are called by their names.
        waiting, later = deque(roots), deque[tuple[str, Any]]()
        while (waiting or later) and len(self._seen) < _MOST:
            is_early = bool(waiting)
            name, value = (waiting or later).popleft()
            if value is None or isinstance(value, _ATOMS) or id(value) in self._seen:
                continue
            if is_early and not isinstance(value, _EARLY):
                later.append((name, value))
                continue
            self._seen[id(value)] = value
            (waiting if is_early else later).extend(self._keep(name, value))

    def put_back(self) -> None:
        """Let everything be as it was."""
        for undo in self._undo:
            undo()

    def arrays(self) -> dict[str, Any]:
        """What the tensors hold now, by the way to them."""
        return {name: tensor.array for name, tensor in self.tensors.items()}

    def gradients(self) -> dict[str, Any]:
        """The gradients that they have now."""
        held = {name: tensor._grad for name, tensor in self.tensors.items()}
        return {name: one.array for name, one in held.items() if one is not None}

    def _keep(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        """Note how to put a value back; what it holds comes next."""
        if isinstance(value, EagerTensor):
            self.tensors[name.removeprefix(".")] = value
            self._keep_slots(value, _SLOTS)
            yield f"{name}.grad", value._grad
        elif isinstance(value, (tuple, frozenset)):
            yield from ((f"{name}[{place}]", one) for place, one in enumerate(value))
        elif isinstance(value, (FunctionType, MethodType, StaticFunction)):
            code = value.__code__ if isinstance(value, FunctionType) else None
            if code is not None and not is_own_file(code.co_filename):
                names: dict[str, Any] = getattr(value, "__globals__", {})
                globals_now = {key: names[key] for key in names_in(code) if key in names}
                self._undo.append(lambda: names.update(globals_now))
            yield from named_values(value)
        elif isinstance(value, CellType):
            inside = value.cell_contents
            self._undo.append(lambda: setattr(value, "cell_contents", inside))
            yield name, inside
        elif info(type(value)).state in ("hidden", "array"):
            state = read_state(value)
            self._undo.append(lambda: write_state(value, state))
        elif hasattr(type(value), "__next__"):
            self.unknown.append(f"`{name}`, a {type(value).__name__} that gives each value once")
        else:
            yield from self._keep_object(name, value)

    def _keep_object(self, name: str, value: Any) -> Iterator[tuple[str, Any]]:
        if info(type(value)).state in ("items", "derived"):
            held = read_state(value)
            self._undo.append(lambda: write_state(value, held))
            is_dict = info(type(value)).base.family == "dict"
            pairs = dict(held).items() if is_dict else enumerate(held)
            for key, one in pairs:
                yield f"{name}.{key}" if isinstance(key, str) else f"{name}[{key!r:.40}]", one
        # What belongs to the compiler holds nothing of the user's.
        module = str(type(value).__module__)
        is_ours = module.startswith(("dy2st.", "dy2st_runtime.", "threading"))
        if is_ours and (module.endswith("update_programs") or not module.startswith(_USERS)):
            return
        fields = getattr(value, "__dict__", None)
        if isinstance(fields, dict):
            kept = {key: one for key, one in fields.items() if key not in _COMPILED}
            self._undo.append(lambda: put_fields(fields, kept))
            for key, one in kept.items():
                # A Layer knows its tensors by other names than those of its tables.
                inner = name if isinstance(value, Layer) and key in _TABLES else f"{name}.{key}"
                yield inner, one
        plain = [slot for slot in slots_of(type(value)) if hasattr(value, slot)]
        self._keep_slots(value, plain)
        yield from ((f"{name}.{slot}", getattr(value, slot)) for slot in plain)

    def _keep_slots(self, value: Any, slots: Sequence[str]) -> None:
        held = {slot: getattr(value, slot) for slot in slots}

        def put_back() -> None:
            for slot, one in held.items():
                object.__setattr__(value, slot, one)

        if held:
            self._undo.append(put_back)


def put_fields(fields: dict[str, Any], kept: Mapping[str, Any]) -> None:
    """Let an object have the attributes that it had, and what was compiled meanwhile."""
    now = {key: one for key, one in fields.items() if key in _COMPILED}
    if len(fields) != len(kept) + len(now) or any(
        fields.get(key, fields) is not one for key, one in kept.items()
    ):
        fill(fields, {**kept, **now})


def named_values(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function reads that it is not given: its object, closure, and globals by name."""
    if isinstance(function, StaticFunction):
        yield "self", function.class_instance
        function = function.dygraph_function
    if isinstance(function, MethodType):
        yield "self", function.__self__
        function = function.__func__
    if not isinstance(function, FunctionType):
        yield "self", function
        return
    code = function.__code__
    if is_own_file(code.co_filename):
        return
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty one
            _ = cell.cell_contents
            yield name, cell
    names = function.__globals__
    for name in names_in(code):
        if name in names and not isinstance(names[name], _ATOMS):
            yield name, names[name]
    yield from (("default", one) for one in (function.__defaults__ or ()))


def names_in(code: CodeType) -> Iterator[str]:
    """The names that code and the functions in it ask for."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


__all__ = ["KeptState", "named_values"]
