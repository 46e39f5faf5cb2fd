"""What is asked about: functions, Layers, Programs and saved models, as something to call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CellType
from typing import Any

from dy2st.diagnostics.kept_state import named_values
from dy2st.jit.static_function import StaticFunction, set_way
from dy2st.passes.core.module import Module
from dy2st.passes.pipelines import transformed
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.io import LoadedMethod, LoadedModel, load
from dy2st_runtime.ir.program import Program
from dy2st_runtime.nn.layer import Layer

Call = Callable[..., Any]


def name_of(subject: Any) -> str:
    """What a page calls it."""
    if isinstance(subject, (str, os.PathLike)):
        return os.fspath(subject)
    for attribute in ("__qualname__", "__name__", "name"):
        name = getattr(subject, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(subject).__name__


def call_of(subject: Any, engine: str | None = None, passes: Any = None) -> Call:
    """What is called; with an engine or passes the subject is converted for these.

    ArgumentError for what cannot be called.
    """
    if is_saved(subject):
        if engine is None and passes is None and isinstance(subject, (LoadedModel, LoadedMethod)):
            return subject
        module = module_of(subject)
        return _of_module(
            module if passes is None else transformed(passes, module.programs, module.state), engine
        )
    if not callable(subject):
        raise ArgumentError(
            "a function, a Layer, a Program or the path of a saved model is wanted, "
            f"not {subject!r:.80}"
        )
    plain: Call = subject
    return plain if engine is None and passes is None else converted(subject, engine, passes)


def converted(subject: Any, engine: str | None = None, passes: Any = None) -> StaticFunction:
    """The subject as a converted function, of its own engine and passes if none are given."""
    layer = subject if isinstance(subject, Layer) else None
    function = subject.forward if layer is not None else subject
    if isinstance(function, StaticFunction):
        engine, passes = engine or function.engine, function.passes if passes is None else passes
        specs, instance = function.input_spec, function.class_instance
        plain = function.dygraph_function
    else:
        specs, instance, plain = None, getattr(function, "__self__", None), function
    made = StaticFunction(getattr(plain, "__func__", plain), specs, instance, passes, engine)
    return made if layer is None else made.as_called_by(layer)


def engine_name(subject: Any) -> str | None:
    """The engine that was asked for where it was converted or loaded; None without one."""
    function = getattr(subject, "forward", subject) if isinstance(subject, Layer) else subject
    name = getattr(function, "engine", None)
    return name if isinstance(name, str) else None


def is_saved(subject: Any) -> bool:
    """Whether it is Programs with their arrays, of which no Python is known."""
    return isinstance(subject, (str, os.PathLike, Program, Module, LoadedModel, LoadedMethod))


def module_of(subject: Any) -> Module:
    """The Programs, and their arrays as far as they are known."""
    if isinstance(subject, Module):
        return subject
    if isinstance(subject, Program):
        return Module({subject.name: subject}, {})
    model: Any = load(subject) if isinstance(subject, (str, os.PathLike)) else subject
    if isinstance(model, LoadedMethod):
        tensors, programs = model._state, {model.program.name: model.program}
    else:
        tensors, programs = model._tensors, dict(model.programs)
    return Module(programs, {name: tensor.array for name, tensor in tensors.items()})


def _of_module(module: Module, engine: str | None) -> LoadedModel:
    programs = list(module.programs.values())
    missing = [name for one in programs for name in one.state if name not in module.state]
    if missing:
        raise ArgumentError(
            f"the arrays of {', '.join(missing)} are not known: give the function or Layer, or "
            "passes.Module({name: program}, arrays)"
        )
    return LoadedModel(programs, module.state, engine)


@contextmanager
def calls_made(way: Any) -> Iterator[None]:
    """Let converted functions be called in this way inside the `with`."""
    before = set_way(way)
    try:
        yield
    finally:
        set_way(before)


# -- Layers -----------------------------------------------------------------------------------


def layer_paths(subject: Any) -> dict[int, str]:
    """`layers.0.conv1` of each Layer that the subject is or reads by name, by identity.

    With several of them a path begins with the name of the variable.
    """
    roots: dict[int, tuple[str, Layer]] = {}
    for name, value in named_values(subject):
        value = value.cell_contents if isinstance(value, CellType) else value
        if isinstance(value, Layer):
            roots.setdefault(id(value), (name, value))
    found: dict[int, str] = {}
    for name, root in roots.values():
        start = f"{name}." if len(roots) > 1 else ""
        for path, layer in root.named_sublayers(include_self=True):
            found.setdefault(id(layer), f"{start}{path}".rstrip("."))
    return found


__all__ = [
    "call_of",
    "calls_made",
    "converted",
    "engine_name",
    "is_saved",
    "layer_paths",
    "name_of",
]
