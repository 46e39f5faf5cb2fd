"""to_static and the marks that steer it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeVar, overload

from dy2st.jit.static_function import InputSpecs, StaticFunction
from dy2st_runtime import engine as engines
from dy2st_runtime.errors import ArgumentError, NotConvertible, WrongKind
from dy2st_runtime.exported_buffers import constant_of
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.nn.layer import Layer

if TYPE_CHECKING:
    from dy2st.jit import concrete_program, graph_breaks
    from dy2st.passes import pipelines
else:
    graph_breaks = Lazy("dy2st.jit.graph_breaks")
    concrete_program = Lazy("dy2st.jit.concrete_program")
    pipelines = Lazy("dy2st.passes.pipelines")
from types import FunctionType, MethodType

AnyLayer = TypeVar("AnyLayer", bound=Layer)
Method = Callable[..., Any]
Marked = TypeVar("Marked", bound=Method)
P = ParamSpec("P")
R = TypeVar("R")
Backend = Literal["CINN", "PHI", "numpy"] | None


class Converter(Protocol):
    """What `to_static(...)` gives without a function: a decorator."""

    @overload
    def __call__(self, function: AnyLayer) -> AnyLayer: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, R]) -> StaticFunction[P, R]: ...


@overload
def to_static(  # type: ignore[overload-overlap]  # Layers can be called, but come first
    function: AnyLayer,
    input_spec: InputSpecs = None,
    build_strategy: Any = None,
    backend: Backend = "CINN",
    engine: str | None = None,
    *,
    full_graph: bool | None = None,
    property: Literal[False] = False,
) -> AnyLayer: ...
@overload
def to_static(
    function: Callable[P, R],
    input_spec: InputSpecs = None,
    build_strategy: Any = None,
    backend: Backend = "CINN",
    engine: str | None = None,
    *,
    full_graph: bool | None = None,
    property: Literal[False] = False,
) -> StaticFunction[P, R]: ...
@overload
def to_static(
    function: None = None,
    input_spec: InputSpecs = None,
    build_strategy: Any = None,
    backend: Backend = "CINN",
    engine: str | None = None,
    *,
    full_graph: bool | None = None,
    property: Literal[False] = False,
) -> Converter: ...
@overload
def to_static(
    function: None = None, *, property: Literal[True], full_graph: bool | None = None
) -> Callable[[Marked], Marked]: ...


@without_own_frames
def to_static(
    function: Any = None,
    input_spec: InputSpecs = None,
    build_strategy: Any = None,
    backend: str | None = "CINN",
    engine: str | None = None,
    **options: Any,
) -> Any:
    """Convert a function, a method or a Layer's forward to a static Program on its first call.

    Use it as a decorator, with or without arguments, or as a function. A Layer is converted in
    place and returned. `backend` says nothing: PaddlePaddle's compiler is not here.

    Parameters
    ----------
    function
        What is converted. With `property=True` it gives a Python value, and stays as it is.
    input_spec
        An InputSpec for each tensor argument: one Program serves all tensors that fit. Without it
        sizes that change from call to call become unknown.
    build_strategy
        The name of a pipeline, a pass or a list of passes that every Program goes through before
        it runs. Passes such as those of `"inference"` build parameters in: then the Program is made
        anew when parameters change, and calls that want gradients run it as it was traced.
    engine
        What runs the Programs ("numpy", "native", "auto", or one that was registered); without it
        DY2ST_ENGINE says so, else it is "auto".
    full_graph
        With False a call that is refused runs as Python, exactly, and the functions and Layers that
        it calls are converted by themselves; `report()` lists these graph breaks. Without it such a
        call raises.

    Raises
    ------
    NotConvertible
        For what cannot be converted: classes, Modules of torch's, what is not Python.
    ArgumentError
        If there are more InputSpecs than parameters.
    ConversionError
        When a call cannot be converted; it names the line, the cause and the way out.

    Examples
    --------
    >>> @dy2st.to_static
    ... def positive(x):
    ...     while x.sum() < 10:
    ...         x = x * 2
    ...     return x
    >>> positive(dy2st.to_tensor([1.0, 2.0])).tolist()
    [4.0, 8.0]
    >>> "while" in [one.name for one in positive.main_program.operators]
    True
    >>> import warnings
    >>> warnings.simplefilter("ignore")  # of the graph break
    >>> looks = dy2st.to_static(lambda x: float(np.median(x.numpy())), full_graph=False)
    >>> looks(dy2st.to_tensor([1.0, 3.0, 2.0]))
    2.0
    """
    _check_options({"backend": backend, **options})
    full_graph = options.get("full_graph")
    engines.check_name(engine)
    if options.get("property"):  # it gives a Python value, which no Program computes
        return (lambda function: function) if function is None else function
    passes = None if build_strategy is None else concrete_program.as_pass(build_strategy)
    if function is None:
        kept = {"input_spec": input_spec, "build_strategy": passes, "engine": engine}
        kept["full_graph"] = full_graph
        return functools.partial(to_static, **kept)
    io = sys.modules.get("dy2st_runtime.io")  # with which all models out of files come
    if io is not None and isinstance(function, io.LoadedModel):
        return with_passes_and_engine(function, input_spec, passes, engine)
    if isinstance(function, Layer):
        converted = _convert(function.forward, input_spec, passes, engine, full_graph)
        if converted._held is function:
            # The Layer holds the method: a reference back would keep it until the next collection.
            converted._held = None
        object.__setattr__(function, "forward", converted)
        return function
    return _convert(function, input_spec, passes, engine, full_graph)


def with_passes_and_engine(
    model: Any, input_spec: InputSpecs, passes: Any, engine: str | None
) -> Any:
    """The model, or another one whose Programs have gone through passes, or that an engine runs."""
    if input_spec is not None:
        raise ArgumentError("a loaded model has Programs: freeze(program, ...) fixes their sizes")
    if passes is None and engine is None:
        return model
    programs = dict(model.programs)
    state = {name: tensor.array for name, tensor in model.state_dict().items()}
    if passes is not None:
        module = pipelines.transformed(passes, programs, state)
        module.drop_unused_state()
        programs = module.programs
        state = {name: constant_of(array) for name, array in module.state.items()}
    return type(model)([*programs.values()], state, engine, model.limits)


def _convert(
    function: Any, input_spec: InputSpecs, passes: Any, engine: str | None, full_graph: bool | None
) -> StaticFunction:
    instance = held = None
    if isinstance(function, StaticFunction):
        # Converted twice: what is said now comes before what was said then.
        input_spec, passes = input_spec or function.input_spec, passes or function.passes
        engine = engine or function.engine
        is_broken = full_graph is None and function.breaks is not None
        full_graph = False if is_broken else full_graph
        instance, held, function = function.class_instance, function._held, function.__wrapped__
    elif inspect.ismethod(function):
        instance = held = function.__self__
        function = function.__func__
    elif isinstance(function, (staticmethod, classmethod)):
        raise NotConvertible(
            f"to_static of a {type(function).__name__}",
            at=None,
            why="what is decorated is no function yet",
            hint=f"to_static goes under @{type(function).__name__}: write the decorators in the "
            "other order",
        )
    elif why := why_not(function):
        raise not_convertible("to_static takes a function, a method or a Layer", function, why)
    breaks = None
    if full_graph is False:  # Python makes the calls that are refused
        how = {"passes": passes, "engine": engine}
        breaks = graph_breaks.GraphBreaks(functools.partial(StaticFunction, **how))
    made = StaticFunction(function, input_spec, instance, passes, engine, breaks)
    made._held = held
    return made


def _check_options(options: dict[str, Any]) -> None:
    defaults: dict[str, tuple[Any, ...]] = {
        "backend": (None, "CINN", "PHI", "numpy"),
        "full_graph": (None, True, False),
        "property": (False, True),
    }
    for name, value in options.items():
        if name not in defaults:
            raise WrongKind(
                f"to_static has no option {name!r}; it has 'input_spec', 'build_strategy' and "
                "'engine'"
            )
        if value not in defaults[name]:
            raise ArgumentError(f"to_static: {name}={value!r} is not supported, leave it out")


@overload
def not_to_static(func: None = None) -> Callable[[Marked], Marked]: ...
@overload
def not_to_static(func: Marked) -> Marked: ...
def not_to_static(func: Any = None) -> Any:
    """Leave a function as it is: converted code calls it unchanged, on traced tensors.

    >>> @dy2st.jit.not_to_static
    ... def helper(x):
    ...     return x + 1
    >>> dy2st.to_static(lambda x: helper(x) * 2)(dy2st.ones([1])).item()
    4.0
    """
    if func is None:
        return not_to_static
    marked: Any = func.__func__ if inspect.ismethod(func) else func
    marked.__dy2st_ignore__ = True
    return func


_OF_TORCH = "it is a Module of torch's: write it with dy2st.nn"


def why_not(function: Any) -> str:
    """Why something cannot be converted; empty if it can."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        return "it is a class"
    if any(kind.__module__.startswith("torch.") for kind in type(function).__mro__):
        return _OF_TORCH
    if not callable(function):
        return "it cannot be called"
    if isinstance(function, (FunctionType, MethodType, functools._lru_cache_wrapper)):
        return ""
    is_python = isinstance(type(function).__call__, FunctionType)
    return "" if is_python else "it is no Python code"


def not_convertible(what: str, function: Any, why: str) -> NotConvertible:
    """The refusal of what a function of ours does not take."""
    if why == _OF_TORCH:
        hint = 'dy2st.utils.load_weights(layer, "weights.pt", transpose=True) reads its weights'
    elif isinstance(function, type):
        hint = "decorate its methods, or convert an object of it"
    else:
        hint = "write a Python function that calls it, and convert that"
    return NotConvertible(f"{what}, not {function!r:.80}", at=None, why=why, hint=hint)
