"""StaticFunction: a function that is traced on its first call and run as a Program after."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Concatenate, Generic, overload

from dy2st_runtime.errors import ArgumentError, ConversionError, WrongKind
from dy2st_runtime.ir import Program, Variable, current_tracer
from dy2st_runtime.ir.dispatch import stack
from dy2st_runtime.ir.location import hide_own_frames, without_own_frames
from dy2st_runtime.ir.tracing.tracer import converted
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.thread_state import reference_to

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Self, TypeVar

    from dy2st.convert.record import Break, Report
    from dy2st.jit import programs, signature, trace
    from dy2st.jit.concrete_program import ConcreteProgram
    from dy2st.jit.graph_breaks import GraphBreaks
    from dy2st.transpiler import lower
    from dy2st_runtime import shape_table

    P = ParamSpec("P", default=...)
    R = TypeVar("R", default=Any)
    Rest = ParamSpec("Rest", default=...)
else:
    from typing import ParamSpec, TypeVar

    shape_table = Lazy("dy2st_runtime.shape_table")
    # What converts and runs is loaded with the first StaticFunction, all at once.
    lower = Lazy("dy2st.transpiler.lower")
    programs = Lazy("dy2st.jit.programs")
    signature = Lazy("dy2st.jit.signature")
    trace = Lazy("dy2st.jit.trace")
    P = ParamSpec("P")
    R = TypeVar("R")


InputSpecs = Sequence[Any] | None
Way = Callable[["StaticFunction[Any, Any]", tuple[Any, ...], dict[str, Any]], Any]
# Of the whole process: what makes calls in place of Programs; now, and while conversion is on.
_way: Way | None = None
_usual: Way | None = None


class StaticFunction(Generic[P, R]):
    """A converted function: call it like the original. `to_static` makes it.

    Each set of argument types and Python values has a Program of its own, in which sizes that
    change from call to call are unknown; with `input_spec` there is one for all tensors that fit.
    A Layer's `forward` is one after `to_static(layer)`.

    >>> @dy2st.to_static(input_spec=[dy2st.static.InputSpec(["n"], name="x")])
    ... def positive(x):
    ...     if x.sum() > 0:
    ...         x = x * 2
    ...     return x
    >>> positive(dy2st.to_tensor([3.0, -1.0])).tolist()
    [6.0, -2.0]
    >>> positive.inputs[0].name, positive.outputs[0].shape
    ('x', [n])
    >>> positive.input_spec[0].name, positive.class_instance, len(positive.program_cache)
    ('x', None, 1)
    >>> [one.name for one in positive.main_program.operators]
    ['sum', 'constant', 'greater_than', 'cond']
    >>> positive.dygraph_function(dy2st.to_tensor([3.0, -1.0])).tolist()
    [6.0, -2.0]
    """

    # All but this lies in one `__dict__`, which the forms of a method bound to one object share.
    __slots__ = ("__dict__", "__weakref__", "_held")
    _held: Any
    __wrapped__: Callable[..., Any]

    def __init__(
        self,
        function: Callable[P, R],
        input_spec: InputSpecs = None,
        layer: Layer | None = None,
        passes: Any = None,
        engine: str | None = None,
        breaks: GraphBreaks | None = None,
    ):
        """Wrap a function, or a method of `layer` given as its plain function.

        `passes` is a pass, which is done to every Program of it; `engine` names what runs them.
        With `breaks` Python makes the calls that are refused, which are noted there.
        """
        if input_spec is not None and not isinstance(input_spec, (list, tuple)):
            raise WrongKind(f"input_spec is a list of InputSpecs, not {input_spec!r}")
        self._held = None
        self._function = function
        self._input_spec = None if input_spec is None else tuple(input_spec)
        # By identity: instances may be equal, or have no hash.
        self._methods: dict[int, StaticFunction] = {}
        self.passes, self.engine, self.breaks = passes, engine, breaks
        self.broken: dict[Hashable, Break] = {}  # calls that Python makes, by key
        self.called: Callable[..., Any] = function  # by a trace, before its arguments the instance
        self._training = True
        self._bind_to(None if layer is None else reference_to(layer))
        self.programs = programs.Programs()
        # Of what has none of its own.
        self.__name__, self.__annotations__ = type(function).__name__, {}
        self.__qualname__ = self.__name__
        functools.update_wrapper(self, function, updated=())

    # -- what it wraps -----------------------------------------------------------------------

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(
        self: StaticFunction[Concatenate[Any, Rest], R], instance: object, owner: type | None = None
    ) -> StaticMethod[Rest, R]: ...

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method of its own for every instance: instances have their own Programs."""
        if instance is None:
            return self
        known = self._methods.get(id(instance)) or self._method_of(instance)
        # The same method, which keeps its instance alive, as a bound method of Python does.
        method = object.__new__(StaticFunction)
        method.__dict__ = known.__dict__
        method._held = instance
        return method

    def _method_of(self, instance: Any) -> StaticFunction:
        key = id(instance)
        method = self.bound_to(None)
        methods = self._methods
        try:
            # A weak reference, or the table of methods would keep the instance alive.
            method._bind_to(weakref.ref(instance, functools.partial(methods.pop, key)))
        except TypeError:  # it takes none: nothing tells when it goes, so it has no place there
            method._bind_to(reference_to(instance))
            return method
        # Another thread may have come first: all get one method, and so one set of Programs.
        return methods.setdefault(key, method)

    def _bind_to(self, instance: Callable[[], Any] | None) -> None:
        self._layer = instance
        self.signature = signature.Signature(self._function, instance is not None)
        self.signature.check_count(self._input_spec or ())
        self.__signature__ = self.signature.whole

    def __eq__(self, other: object) -> bool:
        """As bound methods of Python: those of one function and instance are equal."""
        return isinstance(other, StaticFunction) and self.__dict__ is other.__dict__

    def __hash__(self) -> int:
        """Equal methods have one hash."""
        return id(self.__dict__)

    def __repr__(self) -> str:
        """`StaticFunction(Net.forward)`."""
        return f"StaticFunction({self.__qualname__})"

    def __deepcopy__(self, memo: dict[int, Any]) -> StaticFunction:
        """The method of the copied Layer; Programs are traced anew."""
        instance = self.class_instance
        made = self.bound_to(memo.get(id(instance), instance))
        made._held = memo.get(id(self._held), self._held)
        return made

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickled by name, or as the method of its Layer; Programs are traced anew."""
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is self:
            return str(self.__qualname__)
        parts = self._function, self._input_spec, self.class_instance
        how = self.passes, self.engine, self.breaks
        return StaticFunction, (*parts, *how), {"_held": self._held}

    def bound_to(self, instance: Any) -> StaticFunction:
        """The same method of another Layer, with Programs of its own.

        >>> one, other = dy2st.to_static(dy2st.nn.Linear(2, 2)), dy2st.nn.Linear(2, 2)
        >>> one.forward.bound_to(other).class_instance is other
        True
        """
        how = self.passes, self.engine, self.breaks
        return StaticFunction(self._function, self._input_spec, instance, *how)

    def as_called_by(self, layer: Layer) -> StaticFunction:
        """The forward with all that a call of its Layer does around it: the Layer's own hooks.

        >>> net = dy2st.to_static(dy2st.nn.Linear(2, 2))
        >>> _ = net.register_forward_post_hook(lambda layer, inputs, y: y * 0.0)
        >>> whole = net.forward.as_called_by(net)
        >>> program = whole.get_concrete_program(dy2st.ones([1, 2])).main_program
        >>> [one.name for one in program.block.walk()]
        ['matmul', 'add', 'constant', 'multiply']
        """
        made, own = self.bound_to(self.class_instance), int(self._layer is not None)
        # A trace gives the instance of a method first, which the Layer's call adds by itself.
        made.called = lambda *args, **kwargs: converted(layer)(*args[own:], **kwargs)
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
    def dygraph_function(self) -> Callable[P, R]:
        """The user's function as it was, bound if it is a method."""
        instance = self.class_instance
        return self._function if instance is None else self._function.__get__(instance)

    @property
    def program_cache(self) -> programs.ProgramCache:
        """The Programs that are there, one for each key of a call."""
        return self.programs.cache

    @property
    def input_spec(self) -> tuple[Any, ...] | None:
        """The InputSpecs that were given."""
        return self._input_spec

    @property
    def code(self) -> str:
        """The code that runs, with the names of `dy2st.jit.dy2static`.

        >>> def double(x):
        ...     return x * 2 if x.sum() > 0 else x
        >>> print(dy2st.to_static(double).code.strip())
        def double(x):
            return convert_ifexp(convert_call(x.sum)() > 0, lambda : x * 2, lambda : x)
        """
        return lower.code_of(self._function)  # type: ignore[arg-type]

    def train(self) -> None:
        """The mode is that of the Layers; ArgumentError if this one's own is another.

        >>> net = dy2st.to_static(dy2st.nn.Linear(2, 3))
        >>> net.forward.train()
        """
        self._check_mode("train", True)

    def eval(self) -> None:
        """As `train`, for inference mode.

        >>> net = dy2st.to_static(dy2st.nn.Linear(2, 3)).eval()
        >>> net.forward.eval()
        """
        self._check_mode("eval", False)

    def _check_mode(self, name: str, training: bool) -> None:
        layer = self.class_instance
        if isinstance(layer, Layer) and layer.training is not training:
            raise ArgumentError(f"{self.__name__} is in the mode of its Layer: call layer.{name}()")
        self._training = training

    def rollback(self) -> Callable[P, R]:
        """Undo the conversion: the Layer's method, or the function, is the user's own again.

        >>> net = dy2st.to_static(dy2st.nn.Linear(2, 3))
        >>> _ = net.forward.rollback()
        >>> isinstance(net.forward, dy2st.jit.StaticFunction)
        False
        """
        instance = self.class_instance
        if isinstance(instance, Layer) and instance.__dict__.get(self.__name__) is self:
            del instance.__dict__[self.__name__]
        return self.dygraph_function

    # -- calling -----------------------------------------------------------------------------

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Run the Program for these arguments, traced now if there is none yet."""

    else:

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Run the Program for these arguments, traced now if there is none yet."""
            if _way is not None:
                return _way(self, args, kwargs)
            # In a trace it is inlined: what it computes belongs to the Program around.
            if stack.interpreters and current_tracer() is not None:
                return converted(self.dygraph_function)(*args, **kwargs)
            tensors: list[EagerTensor] = []
            containers: list[Any] = []
            known = asked = None
            try:
                known = self.programs.known(args, kwargs, tensors, containers)
                if known is not None and known.straight is not None:
                    return known.straight(tensors, known)
                asked = programs.Invocation(self, args, kwargs, known, tensors, containers)
                return asked.made()
            except BaseException as error:  # goes on, without our frames: no trace is around
                again = None
                if asked is None and known is not None:
                    again = programs.Invocation(self, args, kwargs, known, tensors).instead(error)
                if again is None:
                    hide_own_frames(error)
                    raise
            return again()

    @without_own_frames
    def get_concrete_program(self, *args: Any, **kwargs: Any) -> ConcreteProgram:
        """The Program for these arguments (tensors or InputSpecs), traced now if need be.

        >>> double = dy2st.to_static(lambda x: x * 2)
        >>> found = double.get_concrete_program(dy2st.static.InputSpec(["n", 3]))
        >>> found.outputs[0].shape
        [n, 3]
        """
        arguments = self.signature.bind(self.dygraph_function, args, kwargs)
        return self.programs.of_specs(trace.Subject(self, signature.to_named_specs(arguments)))

    @property
    @without_own_frames
    def concrete_program(self) -> ConcreteProgram:
        """The Program of the InputSpec, or else of the last call; ArgumentError without both.

        >>> double = dy2st.to_static(lambda x: x * 2)
        >>> _ = double(dy2st.ones([2, 3]))
        >>> double.concrete_program.inputs[0].shape
        [2, 3]
        """
        if self._input_spec is not None:
            return self.concrete_program_specify_input_spec(self._input_spec)
        last = self.program_cache.last()
        if last is None and self.broken and self.breaks is not None:
            raise self.breaks.refusal(self, None)
        if last is None:
            raise ArgumentError(
                f"{self.__qualname__} has no Program yet: give to_static, or save, an input_spec, "
                "or call the function once"
            )
        return last

    @without_own_frames
    def concrete_program_specify_input_spec(self, input_spec: Sequence[Any]) -> ConcreteProgram:
        """The Program for these InputSpecs, in the order of the arguments.

        >>> add = dy2st.to_static(lambda x, y: x + y)
        >>> specs = [dy2st.static.InputSpec(["n", 3]), dy2st.static.InputSpec([3])]
        >>> add.concrete_program_specify_input_spec(specs).outputs[0].shape
        [n, 3]
        """
        if not isinstance(input_spec, (list, tuple)):
            raise WrongKind(f"input_spec is a list of InputSpecs, not {input_spec!r}")
        # Hooks see the arguments that a call gives, and no defaults.
        specs = self.signature.specs(tuple(input_spec), with_defaults=self.called is self._function)
        try:
            return self.programs.of_specs(trace.Subject(self, specs))
        except ConversionError as error:
            if self.breaks is None:
                raise
            refusal = self.breaks.refusal(self, error)
        raise refusal

    @property
    @without_own_frames
    def main_program(self) -> Program:
        """The Program of `concrete_program`."""
        return self.concrete_program.main_program

    @property
    def optimized_program(self) -> Program:
        """What the passes of `build_strategy` make of it; the same Program without passes.

        >>> spec = [dy2st.static.InputSpec([2])]
        >>> twice = dy2st.to_static(lambda x: x.t().t() + 1.0, spec, build_strategy="inference")
        >>> [one.name for one in twice.optimized_program.block.walk()]
        ['constant', 'add']
        """
        concrete = self.concrete_program
        return (concrete.optimized or concrete).main_program

    @property
    def inputs(self) -> list[Variable]:
        """The placeholders of `concrete_program`."""
        return self.concrete_program.inputs

    @property
    def outputs(self) -> list[Variable]:
        """The results of `concrete_program`, flattened."""
        return self.concrete_program.outputs

    @without_own_frames
    def shapes(self) -> shape_table.ShapeTable:
        """A table of all sizes in the Program of `concrete_program`: print it.

        >>> spec = [dy2st.static.InputSpec(["n", 4])]
        >>> net = dy2st.to_static(dy2st.nn.Linear(4, 2), spec)
        >>> "[n, 2]" in str(net.forward.shapes())
        True
        """
        return shape_table.ShapeTable(self.main_program)

    @without_own_frames
    def report(self, whole: bool = False) -> Report:
        """What became of every function and statement that was met for `concrete_program`.

        Print it: functions converted or left as Python, statements staged, run or left as Python,
        each with the reason; loops that were unrolled to many operators; what is compiled now.
        `whole` names the functions of dy2st and of other libraries, too.

        >>> def total(x):
        ...     s = dy2st.zeros([])
        ...     for row in x:
        ...         s = s + row.sum()
        ...     return s
        >>> total = dy2st.to_static(total, [dy2st.static.InputSpec(["n", 3])])
        >>> "line 3: for: staged" in str(total.report())
        True
        """
        if self.breaks is not None and self.breaks.found:
            return self.breaks.report(self, whole)
        concrete, constants = self.concrete_program, self.programs.constants(self.signature)
        compiling = tuple(concrete.compiling())
        return replace(concrete.report, constants=constants, compiling=compiling, whole=whole)


if TYPE_CHECKING:

    class StaticMethod(StaticFunction[P, R]):
        """A converted method that is bound to its object: the same class, for type checkers."""

        def __get__(self, instance: Any, owner: type | None = None) -> Self: ...


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Switch conversion on or off: while it is off, converted functions run as plain Python.

    >>> enable_to_static(True)
    """
    if not isinstance(enable_to_static_bool, bool):
        raise WrongKind(f"enable_to_static takes a bool, not {enable_to_static_bool!r}")
    set_way(_usual if enable_to_static_bool else by_python)


def set_way(way: Way | None) -> Way | None:
    """Let a function make all calls of converted functions from now on; what it was before.

    It is given the function and the arguments; without one Programs run.
    """
    global _way
    before, _way = _way, way
    return before


def is_way(way: Way | None) -> bool:
    """Whether this makes calls now."""
    return _way is way


def set_usual_way(way: Way | None) -> None:
    """As `set_way`, for as long as conversion is on, also after it was off."""
    global _usual
    _usual = way
    set_way(way)


def by_python(
    function: StaticFunction[Any, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The way of plain Python."""
    return function.dygraph_function(*args, **kwargs)
