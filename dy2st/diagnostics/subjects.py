"""What is asked about: functions, Layers, Programs and saved models, as something to call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from dy2st.jit.static_function import StaticFunction
from dy2st.passes.core.module import Module
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
    if isinstance(subject, (str, os.PathLike)):
        return load(subject, engine=engine)
    if isinstance(subject, Program):
        subject = Module({subject.name: subject}, {})
    if isinstance(subject, Module):
        return _of_module(subject, engine)
    if isinstance(subject, (LoadedModel, LoadedMethod)):
        if engine is None:
            return subject
        programs = getattr(subject, "programs", None) or {"": subject.program}
        return LoadedModel([*programs.values()], _arrays(subject), engine)
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


def _of_module(module: Module, engine: str | None) -> LoadedModel:
    programs = list(module.programs.values())
    missing = [name for one in programs for name in one.state if name not in module.state]
    if missing:
        raise ArgumentError(
            f"the arrays of {', '.join(missing)} are not known: give the function or Layer, or "
            "passes.Module({name: program}, arrays)"
        )
    return LoadedModel(programs, module.state, engine)


def _arrays(subject: Any) -> dict[str, Any]:
    tensors = subject._tensors if isinstance(subject, LoadedModel) else subject._state
    return {name: tensor.array for name, tensor in tensors.items()}


# -- Layers -----------------------------------------------------------------------------------


def layer_paths(subject: Any) -> dict[int, str]:
    """`layers.0.conv1` of each Layer that the subject is or reads by name, by identity.

    With several of them a path begins with the name of the variable.
    """
    roots: dict[int, tuple[str, Layer]] = {}
    for name, value in _held(subject):
        if isinstance(value, Layer):
            roots.setdefault(id(value), (name, value))
    found: dict[int, str] = {}
    for name, root in roots.values():
        start = f"{name}." if len(roots) > 1 else ""
        for path, layer in root.named_sublayers(include_self=True):
            found.setdefault(id(layer), f"{start}{path}".rstrip("."))
    return found


def _held(subject: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(subject, StaticFunction):
        yield "self", subject.class_instance
        subject = subject.dygraph_function
    yield "self", subject
    yield "self", getattr(subject, "__self__", None)
    function = getattr(subject, "__func__", subject)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it has no value yet
            continue
    names = function.__globals__
    yield from ((name, names[name]) for name in code.co_names if name in names)


__all__ = ["call_of", "converted", "layer_paths", "name_of"]
