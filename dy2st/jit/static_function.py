"""StaticFunction: a function that is traced on its first call and run as a Program after."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st.convert.references import reference_to
from dy2st.jit import switches
from dy2st.jit.cache import ProgramCache
from dy2st.jit.code_level import note
from dy2st.jit.constants import constant_key
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.layer_state import LayerState
from dy2st_runtime.errors import ArgumentError, SpecError
from dy2st_runtime.ir import Program, Tensor, Variable, current_tracer
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.ir.promotion import get_promotion
from dy2st_runtime.ir.structure import flatten, is_container, map_entries
from dy2st_runtime.ir.tracebacks import hide_own_frames, without_own_frames
from dy2st_runtime.late import Late
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor, from_numpy

if TYPE_CHECKING:
    from dy2st.convert.once import OneCall
    from dy2st.jit import tracing
    from dy2st.jit.concrete_program import ConcreteProgram
    from dy2st.jit.generality import Axis, Family, Shapes
    from dy2st.jit.report import Report
    from dy2st.jit.shape_table import ShapeTable
else:
    tracing = Late("dy2st.jit.tracing")

InputSpecs = Sequence[Any] | None

# Calls that differ in more than sizes; forgotten ones begin again with a Program for their sizes.
_MOST_FAMILIES = 256


class StaticFunction:
    """A converted function: call it like the original.

    Each set of argument types and Python values has a Program of its own, in which sizes that
    change from call to call are unknown; with `input_spec` there is one for all tensors that fit.
    """

    # All but this lies in one `__dict__`, which the forms of a method bound to one object share.
    __slots__ = ("__dict__", "__weakref__", "_held")
    _held: Any

    def __init__(
        self,
        function: Callable[..., Any],
        input_spec: InputSpecs = None,
        layer: Layer | None = None,
        passes: Any = None,
    ):
        """Wrap a function, or a method of `layer` given as its plain function.

        `passes` is a pass, which is done to every Program of it.
        """
        if input_spec is not None and not isinstance(input_spec, (list, tuple)):
            raise TypeError(f"input_spec is a list of InputSpecs, not {input_spec!r}")
        self._held = None
        self._function = function
        self._input_spec = None if input_spec is None else tuple(input_spec)
        self._layer: Callable[[], Any] | None = None if layer is None else reference_to(layer)
        # By identity: instances may be equal, or have no hash.
        self._methods: dict[int, StaticFunction] = {}
        self.passes = passes
        self._called: Layer | None = None
        # Loads all that a trace needs, now: a process may be forked while others load.
        self._trace = tracing.new_trace()
        self._signature = inspect.signature(function)
        self._state: LayerState | None = None
        self._families: dict[Any, Family] = {}
        self._asks = False  # whether a trace has asked for `stop_gradient` of inputs or results
        self.program_cache = ProgramCache()
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__module__ = getattr(function, "__module__", __name__)
        self.__doc__ = getattr(function, "__doc__", None)
        self.__annotations__ = getattr(function, "__annotations__", {})
        self.__wrapped__ = function
        self.__signature__ = self._signature if layer is None else self._without_first()

    # -- what it wraps -----------------------------------------------------------------------

    def __get__(self, instance: Any, owner: type | None = None) -> StaticFunction:
        """A method of its own for every instance: instances have their own Programs."""
        if instance is None:
            return self
        known = self._methods.get(id(instance))
        return (known or self._method_of(instance))._holding(instance)

    def _method_of(self, instance: Any) -> StaticFunction:
        key = id(instance)
        method = StaticFunction(self._function, self._input_spec, passes=self.passes)
        methods = self._methods
        try:
            # A weak reference, or the table of methods would keep the instance alive.
            method._layer = weakref.ref(instance, functools.partial(methods.pop, key))
            method.__signature__ = method._without_first()
        except TypeError:  # it takes none: nothing tells when it goes, so it has no place there
            method._layer = reference_to(instance)
            method.__signature__ = method._without_first()
            return method
        return methods.setdefault(key, method)

    def _holding(self, instance: Any) -> StaticFunction:
        """The same method, which keeps its instance alive, as a bound method of Python does."""
        method = object.__new__(StaticFunction)
        method.__dict__ = self.__dict__
        method._held = instance
        return method

    def __eq__(self, other: object) -> bool:
        """As bound methods of Python: those of one function and instance are equal."""
        return isinstance(other, StaticFunction) and self.__dict__ is other.__dict__

    def __hash__(self) -> int:
        """Equal methods have one hash."""
        return id(self.__dict__)

    def hold_instance(self) -> StaticFunction:
        """Keep the instance alive, as a bound method of Python does."""
        self._held = self.class_instance
        return self

    def __repr__(self) -> str:
        """`StaticFunction(Net.forward)`."""
        return f"StaticFunction({self.__qualname__})"

    def __deepcopy__(self, memo: dict[int, Any]) -> StaticFunction:
        """The method of the copied Layer; Programs are traced anew."""
        instance = self.class_instance
        return self.bound_to(memo.get(id(instance), instance))

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickled by name, or as the method of its Layer; Programs are traced anew."""
        if _global_of(self.__module__, self.__qualname__) is self:
            return str(self.__qualname__)
        parts = (self._function, self._input_spec, self.class_instance, self.passes)
        return StaticFunction, parts

    def bound_to(self, instance: Any) -> StaticFunction:
        """The same method of another Layer, with Programs of its own."""
        return StaticFunction(self._function, self._input_spec, instance, self.passes)

    def as_called_by(self, layer: Layer) -> StaticFunction:
        """The forward with all that a call of its Layer does around it: the Layer's own hooks."""
        made = self.bound_to(self.class_instance)
        made._called = layer
        return made

    @property
    def class_instance(self) -> Any:
        """The Layer (or object) that this is a method of, None for a function."""
        if self._layer is None:
            return None
        instance = self._layer() if self._held is None else self._held
        if instance is None:
            raise ReferenceError(
                f"the object that {self.__qualname__} is a method of is gone: keep it in a variable"
            )
        return instance

    @property
    def dygraph_function(self) -> Callable[..., Any]:
        """The user's function as it was, bound if it is a method."""
        instance = self.class_instance
        return self._function if instance is None else self._function.__get__(instance)

    @property
    def input_spec(self) -> tuple[Any, ...] | None:
        """The InputSpecs that were given."""
        return self._input_spec

    @property
    def code(self) -> str:
        """The rewritten source text."""
        return tracing.transpile(self._function).code  # type: ignore[arg-type]

    def train(self) -> None:
        """The mode is that of the Layers; ArgumentError if this one's own is another."""
        self._check_mode("train", True)

    def eval(self) -> None:
        """As `train`."""
        self._check_mode("eval", False)

    def _check_mode(self, name: str, training: bool) -> None:
        layer = self.class_instance
        if isinstance(layer, Layer) and layer.training is not training:
            raise ArgumentError(f"{self.__name__} is in the mode of its Layer: call layer.{name}()")

    def rollback(self) -> Callable[..., Any]:
        """Undo the conversion: the Layer's method, or the function, is the user's own again."""
        instance = self.class_instance
        if isinstance(instance, Layer) and instance.__dict__.get(self.__name__) is self:
            del instance.__dict__[self.__name__]
        return self.dygraph_function

    # -- calling -----------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the Program for these arguments, traced now if there is none yet."""
        if not switches.enabled():
            return self.dygraph_function(*args, **kwargs)
        if current_tracer() is not None:
            return tracing.convert_call(self.dygraph_function)(*args, **kwargs)
        try:
            return self._run(args, kwargs)
        except BaseException as error:  # goes on, without our frames: no trace is around
            hide_own_frames(error)
            raise

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments = self._bind(args, kwargs)
        leaves, structure = flatten(arguments, _is_tensor)
        tensors = [_as_tensor(leaf) for leaf in leaves]
        return self._program_for(arguments, structure, tensors)(tensors)

    @without_own_frames
    def get_concrete_program(self, *args: Any, **kwargs: Any) -> ConcreteProgram:
        """The Program for these arguments (tensors or InputSpecs), traced now if need be."""
        arguments = self._bind(args, kwargs)
        specs = _to_named_specs(arguments)
        return self._traced(tracing.OneCall(), specs, key=constant_key(specs))

    @property
    @without_own_frames
    def concrete_program(self) -> ConcreteProgram:
        """The Program of the InputSpec, or else of the last call."""
        if self._input_spec is not None:
            return self.concrete_program_specify_input_spec(self._input_spec)
        last = self.program_cache.last()
        if last is None:
            raise ArgumentError(
                f"{self.__qualname__} has no Program yet: give to_static, or save, an input_spec, "
                "or call the function once"
            )
        return last

    @without_own_frames
    def concrete_program_specify_input_spec(self, input_spec: Sequence[Any]) -> ConcreteProgram:
        """The Program for these InputSpecs."""
        if not isinstance(input_spec, (list, tuple)):
            raise TypeError(f"input_spec is a list of InputSpecs, not {input_spec!r}")
        specs = self._bind_specs(tuple(input_spec))
        return self._traced(tracing.OneCall(), specs, key=constant_key(specs))

    def like(self, concrete: ConcreteProgram) -> ConcreteProgram:
        """The Program for the arguments of another."""
        specs = dict(concrete.arguments)
        return self._traced(tracing.OneCall(), specs, key=constant_key(specs))

    @property
    @without_own_frames
    def main_program(self) -> Program:
        """The Program of `concrete_program`."""
        return self.concrete_program.main_program

    @property
    def optimized_program(self) -> Program:
        """What the passes of `build_strategy` make of it; the same Program without passes."""
        better = self.concrete_program.optimized
        return self.main_program if better is None else better.program

    @property
    def inputs(self) -> list[Variable]:
        """The placeholders of `concrete_program`."""
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list[Variable]:
        """The results of `concrete_program`, flattened."""
        return self.concrete_program.outputs

    def shapes(self) -> ShapeTable:
        """A table of all sizes in the Program of `concrete_program`: print it."""
        return tracing.ShapeTable(self.main_program)

    def report(self) -> Report:
        """What became of every function and statement that was met for `concrete_program`.

        Print it: functions converted or left as Python, statements staged, run or left as Python,
        each with the reason.
        """
        return self.concrete_program.report

    # -- finding the Program -----------------------------------------------------------------

    def _program_for(
        self, arguments: dict[str, Any], structure: Any, tensors: list[EagerTensor]
    ) -> ConcreteProgram:
        dtypes = tuple(t.array.dtype for t in tensors)
        shapes = tuple(t.array.shape for t in tensors)
        python, mode = constant_key(structure), self._mode()
        call = tracing.OneCall((is_grad_enabled(), *(tensor.stopped for tensor in tensors)))
        key = (dtypes, shapes, python, mode)
        known = self.program_cache.find((*key, self._asked(call)), call)
        if known is not None:
            return known
        if self._input_spec is None:
            family = self._family((dtypes, tuple(map(len, shapes)), python, mode), shapes)
            concrete = self._for_shapes(call, _to_named_specs(arguments), shapes, family)
        else:
            specs = self._match(arguments)
            concrete = self._traced(call, specs, key=constant_key(specs))
        self.program_cache.add_call((*key, self._asked(call)), concrete)
        return concrete

    def _asked(self, call: OneCall) -> Any:
        """What of gradients counts for a call: nothing before some trace has asked."""
        return call.gradients if self._asks else None

    def _family(self, key: Any, shapes: Shapes) -> Family:
        known = self._families.get(key)
        if known is None:
            while len(self._families) >= _MOST_FAMILIES:
                self._families.pop(next(iter(self._families)), None)
            known = self._families.setdefault(key, tracing.Family(shapes))
        return known

    def _for_shapes(
        self, call: OneCall, specs: dict[str, Any], shapes: Shapes, family: Family
    ) -> ConcreteProgram:
        """The Program for a call without InputSpecs: with symbols if it may, else with numbers."""
        new = family.see(shapes)
        last = self.program_cache.last()
        is_for_one_call = last is not None and bool(last.effects)
        general = None if is_for_one_call else self._general(call, specs, family, new)
        if general is not None:
            if general.executable.takes_shapes(shapes):
                return general
            note(f"{self.__qualname__}() gets a Program for the shapes {list(shapes)} alone")
        concrete = self._traced(call, specs, key=constant_key(specs))
        if shapes == family.first:
            family.compare_with(concrete)
        return concrete

    def _general(
        self, call: OneCall, specs: dict[str, Any], family: Family, new: frozenset[Axis]
    ) -> ConcreteProgram | None:
        """The Program in which all axes that may be are symbols; None if none may."""
        while family.symbolic:
            wider = tracing.generalised(specs, family.symbolic)
            sizes = tracing.axes_text(specs, family.symbolic)
            where = f"{self.__qualname__}(): unknown sizes of {sizes}"
            try:
                key = ("found", constant_key(wider))
                concrete = self._traced(call, wider, key, is_asked_for=False)
                if family.accepts(concrete):
                    return concrete
                self.program_cache.discard(concrete)
                note(f"{where} cannot be: they change what kind of value is returned")
            except Exception as error:
                # Whatever it is, a trace with numbers shows whether it is an error of the user's.
                note(f"{where} cannot be: {type(error).__name__}: {str(error).splitlines()[:1]}")
            family.pin(new)
            new = frozenset()
        return None

    def _traced(
        self, call: OneCall, specs: dict[str, Any], key: Any, is_asked_for: bool = True
    ) -> ConcreteProgram:
        python = ("specs", key, self._mode())
        key = (*python, self._asked(call))
        known = self.program_cache.find(key, call)
        if known is not None:
            return known
        is_anew = self.program_cache.is_spent(key)
        bound = self._signature.bind_partial()
        bound.arguments.update(self._with_self(specs))
        instance = self.class_instance
        layer = instance if isinstance(instance, Layer) else None
        arguments = (bound.args, bound.kwargs)
        called = self._function if self._called is None else self._call_of_layer
        concrete: ConcreteProgram = self._trace(
            self._function,
            *arguments,
            self.__name__,
            layer,
            is_asked_for,
            self.passes,
            called,
            call,
        )
        given = {n: v for n, v in specs.items() if v is not self._signature.parameters[n].default}
        if all(isinstance(value, InputSpec) for value in given.values()):
            concrete.arguments = given
        self._asks |= bool(concrete.asked)
        self.program_cache.add((*python, self._asked(call)), concrete)
        if is_anew and concrete.effects:
            warn_user(
                f"{self.__qualname__}() is traced anew for every call, which takes long, since "
                f"{concrete.effects[0]}",
                tracing.place_of(self._function),
            )
        return concrete

    def _call_of_layer(self, *args: Any, **kwargs: Any) -> Any:
        own = 0 if self._layer is None else 1
        return tracing.convert_call(self._called)(*args[own:], **kwargs)

    def _mode(self) -> Any:
        """What else the Program depends on: Python values of the Layer or object, its mode too."""
        if tracing.uses_heart:  # its guards say what a Program depends on
            return get_promotion()
        instance = self.class_instance
        if not isinstance(instance, Layer):
            own = None if instance is None else tracing.object_key(instance)
            return get_promotion(), own
        if self._state is None:
            self._state = LayerState(instance)
        return get_promotion(), self._state.key()

    # -- arguments ---------------------------------------------------------------------------

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by parameter name, defaults filled in; TypeError as Python words it."""
        own = () if self.class_instance is None else (self.class_instance,)
        try:
            bound = self._signature.bind(*own, *args, **kwargs)
        except TypeError as error:
            refused = TypeError(f"{self.__qualname__}() {error}")
        else:
            bound.apply_defaults()
            return self._without_self(bound.arguments)
        self._refuse_call((*own, *args), kwargs)
        raise refused

    def _refuse_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise what Python says of arguments that do not fit: it runs nothing of the function."""
        function = self._function
        is_plain = type(function) is FunctionType and not {
            "__wrapped__",
            "__signature__",
        } & set(vars(function))
        if is_plain:
            function(*args, **kwargs)

    def _without_self(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._layer is None:
            return dict(arguments)
        first, is_one_of_many = self._first()
        own = {first: arguments[first][1:]} if is_one_of_many else {}
        rest = {name: value for name, value in arguments.items() if name != first}
        return own | rest

    def _with_self(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if self._layer is None:
            return arguments
        first, is_one_of_many = self._first()
        instance = self.class_instance
        own = (instance, *arguments.get(first, ())) if is_one_of_many else instance
        return {**arguments, first: own}

    def _without_first(self) -> inspect.Signature:
        """What a bound method of Python shows."""
        parameters = list(self._signature.parameters.values())
        is_one_of_many = bool(parameters) and parameters[0].kind is parameters[0].VAR_POSITIONAL
        return self._signature.replace(parameters=parameters[not is_one_of_many :])

    def _first(self) -> tuple[str, bool]:
        """The parameter that gets the instance, and whether it is `*args`."""
        parameter = next(iter(self._signature.parameters.values()))
        return parameter.name, parameter.kind is parameter.VAR_POSITIONAL

    def _bind_specs(self, input_spec: tuple[Any, ...]) -> dict[str, Any]:
        """InputSpecs (and Python constants) by parameter name; missing ones are defaults."""
        bound = self._bound_specs(input_spec, self._signature.bind)
        if self._called is None:  # hooks see the arguments that a call gives, and no defaults
            bound.apply_defaults()
        return _to_named_specs(self._without_self(bound.arguments))

    def _bound_specs(self, input_spec: tuple[Any, ...], bind: Callable[..., Any]) -> Any:
        own = () if self._layer is None else (None,)
        try:
            return bind(*own, *input_spec)
        except TypeError as error:
            raise ArgumentError(f"input_spec of {self.__qualname__}(): {error}") from None

    def _match(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The InputSpecs that were given, completed by the call's Python values and checked."""
        assert self._input_spec is not None
        given = self._bound_specs(self._input_spec, self._signature.bind_partial)
        specs = _to_named_specs({**arguments, **self._without_self(given.arguments)})
        for name, value in arguments.items():
            _check_fits(name, specs[name], value)
        return specs


def _global_of(module: str, path: str) -> Any:
    """What a qualified name stands for in a module that is loaded; None if nothing."""
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, np.ndarray, InputSpec))


def _as_tensor(value: Any) -> EagerTensor:
    if isinstance(value, EagerTensor):
        return value
    if isinstance(value, np.ndarray):
        return from_numpy(value)
    raise ArgumentError(f"a converted function is called with {value!r}, which has no data")


def _to_named_specs(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: _to_specs(value, name) for name, value in arguments.items()}


def _to_specs(arguments: Any, name: str) -> Any:
    """The same arguments with an InputSpec, named after its place, for every tensor."""
    if isinstance(arguments, InputSpec):
        if arguments.name is not None:
            return arguments
        return InputSpec(arguments.shape, arguments.dtype, name, arguments.stop_gradient)
    if isinstance(arguments, (Tensor, np.ndarray)):
        return InputSpec(list(arguments.shape), arguments.dtype, name)
    if isinstance(arguments, dict) and is_container(arguments):
        pairs = ((key, _to_specs(value, str(key))) for key, value in arguments.items())
        return type(arguments)(pairs)
    if is_container(arguments):
        counter = iter(range(len(arguments)))
        return map_entries(arguments, lambda entry: _to_specs(entry, f"{name}_{next(counter)}"))
    return arguments


def _check_fits(name: str, spec: Any, value: Any) -> None:
    """Raise SpecError unless the argument has the form of its spec."""
    if isinstance(spec, InputSpec):
        _check_tensor(name, spec, value)
    elif is_container(spec):
        if type(value) is not type(spec):
            kind = "tensor" if isinstance(value, Tensor) else type(value).__name__
            raise SpecError(
                f"argument `{name}` is a {kind}; its InputSpec is a {type(spec).__name__}"
            )
        if len(value) != len(spec):
            raise SpecError(
                f"argument `{name}` has {len(value)} entries; its InputSpec has {len(spec)}"
            )
        pairs = spec.items() if isinstance(spec, dict) else enumerate(spec)
        for key, entry in pairs:
            _check_fits(f"{name}[{key!r}]", entry, value[key])
    elif isinstance(value, (Tensor, np.ndarray)):
        raise SpecError(
            f"argument `{name}` is a tensor; its entry of input_spec is {spec!r:.60}: write "
            f"InputSpec({list(value.shape)}, '{value.dtype}')"
        )
    elif constant_key(value) != constant_key(spec):
        raise SpecError(f"argument `{name}` is {value!r:.60}; its input_spec says {spec!r:.60}")


def _no_tensor(name: str, spec: InputSpec, value: Any) -> str:
    kind = type(value)
    if hasattr(value, "__dlpack__"):
        what, hint = f"a {kind.__module__}.{kind.__qualname__}", f"dy2st.from_dlpack({name})"
    elif hasattr(value, "__array__") or isinstance(value, (list, tuple, int, float)):
        what, hint = f"{value!r:.60}", f"dy2st.to_tensor({name})"
    else:
        return f"argument `{name}` is {value!r:.60}; its InputSpec says tensor: {spec}"
    return f"argument `{name}` is {what}, not a tensor of dy2st ({spec}): give {hint}"


def _check_tensor(name: str, spec: InputSpec, value: Any) -> None:
    if not isinstance(value, (Tensor, np.ndarray)):
        raise SpecError(_no_tensor(name, spec, value))
    if value.ndim != len(spec.shape):
        raise SpecError(
            f"argument `{name}` has {value.ndim} axes, shape {list(value.shape)}; its InputSpec "
            f"has {len(spec.shape)}: {list(spec.shape)}"
        )
    if value.dtype != spec.dtype:
        raise SpecError(
            f"argument `{name}` has dtype {value.dtype}; its InputSpec says {spec.dtype}: cast it"
        )
    for axis, (size, wanted) in enumerate(zip(value.shape, spec.shape, strict=True)):
        if isinstance(wanted, int) and size != wanted:
            raise SpecError(f"argument `{name}`, axis {axis}: {size}; its InputSpec says {wanted}")


__all__ = ["StaticFunction"]
