"""The arguments of a call: bound, told apart by keys, and which of their numbers are inputs.

Keys are equal only for calls and values of Python that a trace cannot tell apart.

A number that takes value after value is an input from the third on, in whatever list, tuple or dict
it stands: the first two have Programs of their own, in which they are constants. Where a trace with
an input is refused (a key of a dict, an operator's attribute), a number stays a constant.
"""

from __future__ import annotations

import inspect
import struct
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import eq, is_
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dy2st.convert.replay.places import is_number
from dy2st.convert.types import info, same
from dy2st.jit.input_spec import InputSpec
from dy2st_runtime.errors import ArgumentError, SpecError
from dy2st_runtime.ir import Output, Tensor
from dy2st_runtime.ir.structure import containers_of, is_container, map_entries
from dy2st_runtime.ir.tracing.traced_numbers import Trials
from dy2st_runtime.tensor import EagerTensor, from_numpy
from dy2st_runtime.thread_state import reference_to


def add_values(
    values: Iterable[Any], key: list[Any], tensors: list[EagerTensor], containers: list[Any]
) -> None:
    """Add to a key what values are beside the numbers in their tensors, and these to `tensors`.

    `containers` gets what may be changed: see `containers_of`.
    Equal keys are those of calls that a trace cannot tell apart. ArgumentError for arrays that
    can be no tensors.
    """
    for value in values:
        kind = type(value)
        if isinstance(value, EagerTensor):
            array = value.array
            key.append(array.dtype)
            key.append(array.shape)
            tensors.append(value)
        elif info(kind).is_plain:
            key.append(constant_key(value))
        elif kind is list or kind is tuple or kind is dict or is_container(value):
            # The length closes the list, so that `[a], b` and `[a, b]` have two keys.
            key += kind, len(value)
            if not isinstance(value, tuple):
                containers.append(value)
            is_dict = isinstance(value, dict)
            if is_dict:  # keys in their order, in which a trace goes through the dict
                key += map(constant_key, value)
            add_values(value.values() if is_dict else value, key, tensors, containers)
        elif isinstance(value, np.ndarray):
            add_values((as_tensor(value),), key, tensors, containers)
        else:
            if kind is set:
                containers.append(value)
            key.append(constant_key(value))


def sharing_of(objects: Sequence[Any]) -> tuple[int, ...]:
    """Which objects are one: for each the place of the first that it is; () if none are.

    >>> one = []
    >>> sharing_of([one, [], one]), sharing_of([one, []])
    ((0, 1, 0), ())
    """
    first: dict[int, int] = {}
    places = tuple([first.setdefault(id(one), place) for place, one in enumerate(objects)])
    return places if len(first) < len(places) else ()


def constant_key(value: Any) -> Hashable:
    """A key that is equal only for Python values that a trace cannot tell apart.

    Types count (1, 1.0 and True differ), floats count by their bits (0.0 and -0.0 differ), and
    objects that are not plain values count by identity.

    >>> constant_key((1, "a")) == constant_key((1, "a"))
    True
    >>> constant_key(1) == constant_key(True)
    False
    """
    kind = type(value)
    if kind is float:
        return kind, struct.pack("<d", value)
    row = info(kind)
    if row.is_single or (row.is_plain and row.same is eq):
        return kind, value
    if is_container(value):
        items = value.items() if isinstance(value, dict) else value
        return kind, tuple([constant_key(entry) for entry in items])
    if kind in (set, frozenset):
        return kind, frozenset([constant_key(entry) for entry in value])
    if kind is Output or isinstance(value, InputSpec):
        return kind, value
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    return Constant(value) if row.same and (row.is_atom or row.is_constant) else Identity(value)


class Constant:
    """Equal to another only if code cannot tell their values apart."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and same(self.value, other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), repr(self.value)))


class Identity:
    """Equal to another only for the same object, and to none when it is gone.

    >>> one, other = [], []
    >>> Identity(one) == Identity(one), Identity(one) == Identity(other)
    (True, False)
    """

    __slots__ = ("hash", "value")

    def __init__(self, value: Any):
        self.value = reference_to(value)
        # Kept, since the key stays in tables when its object is gone.
        self.hash = id(value)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        value = self.value()
        return isinstance(other, Identity) and value is not None and other.value() is value

    def __hash__(self) -> int:
        return self.hash


class ArrayInput(EagerTensor):
    """An array of NumPy that is an argument; what changes the tensor changes the array, too."""

    __slots__ = ("source",)
    source: np.ndarray[Any, Any]


class Signature:
    """The signature of a function, or of a method that is bound: without its instance."""

    def __init__(self, function: Callable[..., Any], is_bound: bool):
        """Ask the function."""
        self._function, self._is_bound = function, is_bound
        self._name = getattr(function, "__qualname__", type(function).__name__)
        self._ask()

    def _ask(self) -> None:
        """Ask the function, and remember its defaults: they may be set."""
        function: Any = self._function
        self._plain = function if type(function) is FunctionType else None
        self._defaults = None if self._plain is None else function.__defaults__
        self._named = {} if self._plain is None else dict(function.__kwdefaults__ or {})
        whole = inspect.signature(function)
        parameters = list(whole.parameters.values())
        # `def f(*args)` takes its instance as one of many: the parameter stays visible.
        is_one_of_many = bool(parameters) and parameters[0].kind is parameters[0].VAR_POSITIONAL
        self.whole = whole.replace(parameters=parameters[self._is_bound and not is_one_of_many :])
        self.has_defaults = bool(self._defaults or self._named)

    def is_outdated(self) -> bool:
        """Whether the function has other defaults than it had."""
        # Asked at every call; most functions have no keyword-only defaults to compare one by one.
        plain: Any = self._plain
        if plain is None or (plain.__defaults__ is self._defaults and not self._named):
            return False
        now = plain.__kwdefaults__ or {}
        if plain.__defaults__ is not self._defaults or now.keys() != self._named.keys():
            return True
        return not all(map(is_, now.values(), self._named.values()))

    def bind(
        self, bound: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        """Arguments by parameter name, defaults filled in.

        TypeError as Python words it, which the function says that is called so, `bound`.
        """
        if self.is_outdated():
            self._ask()
        try:
            found = self.whole.bind(*args, **kwargs)
        except TypeError as error:
            refused = TypeError(f"{self._name}() {error}")
        else:
            found.apply_defaults()
            return found.arguments
        # Python's own words come first; outside of the `except`, so that they have no context.
        # Python's check of arguments runs nothing of a function that refuses them.
        if self._plain is not None and not {"__wrapped__", "__signature__"} & {*vars(self._plain)}:
            bound(*args, **kwargs)
        raise refused

    def containers(self, arguments: dict[str, Any]) -> list[Any]:
        """The lists, dicts and sets among the arguments of a call, by parameter."""
        parameters = self.whole.parameters
        # The dict of these Python makes for the call.
        named = [name for name, one in parameters.items() if one.kind is one.VAR_KEYWORD]
        values = ((v.values() if n in named else (v,)) for n, v in arguments.items())
        return containers_of(one for found in values for one in found)

    def adds_no_state(self, arguments: dict[str, Any], kwargs: dict[str, Any]) -> bool:
        """Whether binding a call keeps the order of what it is given, and adds only constants.

        So a call that gives the same has the same arguments, as long as defaults are not set.
        """
        parameters = self.whole.parameters
        # The key of a call has keywords in the order in which they are given, not in that of
        # binding.
        if [name for name in arguments if name in kwargs] != list(kwargs):
            return False
        defaults = [v for name, v in arguments.items() if v is parameters[name].default]
        return not (any(map(is_tensor, defaults)) or containers_of(defaults))

    def call_of(self, specs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The `args` and `kwargs` of a call with these arguments."""
        bound = self.whole.bind_partial()
        bound.arguments.update(specs)
        return bound.args, bound.kwargs

    def given(self, specs: dict[str, Any]) -> dict[str, Any]:
        """Those of the arguments that are no defaults."""
        parameters = self.whole.parameters
        return {n: v for n, v in specs.items() if v is not parameters[n].default}

    def specs(self, input_spec: tuple[Any, ...], with_defaults: bool) -> dict[str, Any]:
        """InputSpecs (and Python constants) by parameter name; missing ones are defaults."""
        bound = self._bound_specs(input_spec, self.whole.bind)
        if with_defaults:
            bound.apply_defaults()
        return to_named_specs(bound.arguments)

    def match(self, input_spec: tuple[Any, ...], arguments: dict[str, Any]) -> dict[str, Any]:
        """The InputSpecs that were given, completed by the call's Python values and checked."""
        given = self._bound_specs(input_spec, self.whole.bind_partial)
        specs = to_named_specs({**arguments, **given.arguments})
        for name, value in arguments.items():
            _check_fits(name, specs[name], value)
        return specs

    def _bound_specs(self, input_spec: tuple[Any, ...], bind: Callable[..., Any]) -> Any:
        try:
            return bind(*input_spec)
        except TypeError as error:
            found = self._misfit(len(input_spec)) or f"input_spec of {self._name}(): {error}"
            raise ArgumentError(found) from None

    def says(self, input_spec: tuple[Any, ...], place: Any) -> bool:
        """Whether there is an InputSpec for an argument, of a place or name."""
        if isinstance(place, int):
            return place < len(input_spec)
        return place in [parameter.name for parameter in self._placed()[: len(input_spec)]]

    def words(self, path: tuple[Any, ...]) -> str:
        """The name of an argument, or of what stands in one: `d['rate']`."""
        first, *rest = path
        if isinstance(first, int):
            placed = self._placed()
            first = placed[first].name if first < len(placed) else f"args[{first}]"
        return str(first) + "".join(f"[{step!r:.60}]" for step in rest)

    def check_count(self, input_spec: tuple[Any, ...]) -> None:
        """Raise ArgumentError if there are more InputSpecs than parameters."""
        if len(input_spec) > len(self._placed()) and (misfit := self._misfit(len(input_spec))):
            raise ArgumentError(misfit)

    def _placed(self) -> list[inspect.Parameter]:
        places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [p for p in self.whole.parameters.values() if p.kind in places]

    def _misfit(self, count: int) -> str:
        """What is said of so many InputSpecs where they are too few or too many, or nothing."""
        placed = self._placed()
        names = ", ".join(f"'{parameter.name}'" for parameter in placed)
        found = f"input_spec of {self._name}() has {count} {'entry' if count == 1 else 'entries'}"
        missing = [f"'{p.name}'" for p in placed[count:] if p.default is p.empty]
        if missing:
            return f"{found}, none for {', '.join(missing)}: its parameters are {names}"
        takes_any = any(p.kind is p.VAR_POSITIONAL for p in self.whole.parameters.values())
        if count <= len(placed) or takes_any:
            return ""
        return f"{found}, and the function takes {len(placed)}: {names or 'nothing'}"


def is_tensor(value: Any) -> bool:
    """Whether it is data of a call, or stands for it."""
    return isinstance(value, (Tensor, np.ndarray, InputSpec))


def as_tensor(value: Any) -> EagerTensor:
    """The tensor of an argument; ArgumentError if it has no data."""
    if isinstance(value, EagerTensor):
        return value
    if isinstance(value, np.ndarray):
        tensor = ArrayInput(from_numpy(value).array)
        tensor.source = value
        return tensor
    raise ArgumentError(f"a converted function is called with {value!r}, which has no data")


def to_named_specs(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same arguments with an InputSpec for every tensor."""
    return {name: _to_specs(value, name) for name, value in arguments.items()}


def _to_specs(arguments: Any, name: str) -> Any:
    """The same arguments with an InputSpec, named after its place, for every tensor."""
    if isinstance(arguments, InputSpec):
        if arguments.name is not None:
            return arguments
        return InputSpec(arguments.shape, arguments.dtype, name, arguments.stop_gradient)
    if isinstance(arguments, NumberInput):
        return NumberSpec(float if arguments.array.dtype.kind == "f" else int, name)
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
    said, is_tensors = "", isinstance(value, (Tensor, np.ndarray))
    if isinstance(spec, InputSpec):
        said = _misfit_of_tensor(spec, value) if is_tensors else _no_tensor(name, spec, value)
    elif is_container(spec):
        if type(value) is not type(spec):
            kind = "tensor" if isinstance(value, Tensor) else type(value).__name__
            said = f" is a {kind}; its InputSpec is a {type(spec).__name__}"
        elif isinstance(spec, dict) and value.keys() != spec.keys():
            said = f" has the keys {[*value]}; its InputSpec has {[*spec]}"
        elif len(value) != len(spec):
            said = f" is of length {len(value)}; its InputSpec is of length {len(spec)}"
        pairs = spec.items() if isinstance(spec, dict) else enumerate(spec)
        for key, entry in () if said else pairs:
            _check_fits(f"{name}[{key!r}]", entry, value[key])
    elif is_tensors:
        wanted = f"InputSpec({list(value.shape)}, '{value.dtype}')"
        said = f" is a tensor; its entry of input_spec is {spec!r:.60}: write {wanted}"
    elif constant_key(value) != constant_key(spec):
        said = f" is {value!r:.60}; its input_spec says {spec!r:.60}"
    if said:
        raise SpecError(f"argument `{name}`{said}")


def _no_tensor(name: str, spec: InputSpec, value: Any) -> str:
    kind = type(value)
    if hasattr(value, "__dlpack__"):
        what, hint = f"a {kind.__module__}.{kind.__qualname__}", f"dy2st.from_dlpack({name})"
    elif hasattr(value, "__array__") or isinstance(value, (list, tuple, int, float)):
        what, hint = f"{value!r:.60}", f"dy2st.to_tensor({name})"
    else:
        return f" is {value!r:.60}; its InputSpec says tensor: {spec}"
    return f" is {what}, not a tensor of dy2st ({spec}): give {hint}"


def _misfit_of_tensor(spec: InputSpec, value: Any) -> str:
    said, wanted = "; its InputSpec says ", list(spec.shape)
    if value.ndim != len(wanted):
        return f" has the shape {list(value.shape)}{said}{wanted}, another number of axes"
    if value.dtype != spec.dtype:
        return f" has dtype {value.dtype}{said}{spec.dtype}: cast it"
    for axis, (size, one) in enumerate(zip(value.shape, wanted, strict=True)):
        if isinstance(one, int) and size != one:
            return f", axis {axis}: {size}{said}{one}"
    return ""


# The place or name of an argument, and the keys that lead on from there.
Path: TypeAlias = "tuple[Any, ...]"


class NumberInput(EagerTensor):
    """A Python number of a call that is an input of its Program."""

    __slots__ = ()


class NumberSpec(InputSpec):
    """What a converted function may expect of a number: the Program takes it as a tensor."""

    def __init__(self, number: type, name: str | None = None):
        """Take the kind of the number, int or float."""
        super().__init__([], np.dtype("int64" if number is int else "float64"), name)
        self.number = number

    def _key(self) -> tuple[Any, ...]:
        return *super()._key(), self.number


class Numbered(NamedTuple):
    """The arguments of a call in which numbers are inputs, and the places that are, with these."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    places: dict[Path, Any]


class NumberInputs:
    """The numbers of one function that are inputs.

    Threads share it without a lock: what one of them forgets is learned again.
    """

    def __init__(self) -> None:
        """None is at first."""
        self._are: dict[Path, set[Any]] = {}  # each with the values that stay constants
        self._ways: dict[Path, None] = {}  # what leads to them, in order
        self.trials: Trials[Path] = Trials()

    def __bool__(self) -> bool:
        """Whether any is."""
        return bool(self._are)

    def see(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], is_given: Callable[[Any], bool]
    ) -> None:
        """Learn from a call that has no Program yet; an InputSpec `is_given` of some arguments."""
        given: list[tuple[Any, Any]] = [*enumerate(args), *kwargs.items()]
        trials, new = self.trials, list[Path]()
        for place, argument in given:
            for path, value in () if is_given(place) else _numbers(argument, (place,)):
                is_known = path in self._are or path in trials.refused
                if not is_known and trials.see(path, (value,)):
                    # Values before this one have Programs in which they are constants; this one
                    # has none yet.
                    trials.seen[path].discard(value)
                    new.append(path)
        if new := trials.begin(new):
            self._set({**self._are, **{path: trials.seen.get(path, set()) for path in new}})

    def refuse(self, places: Iterable[Path], why: str) -> None:
        """A trace with these as inputs is refused: some of them are none any more."""
        gone = self.trials.refuse(places, why)
        self._set({path: values for path, values in self._are.items() if path not in gone})

    def keep(self, places: Mapping[Path, Any]) -> None:
        """Let these numbers, of such places, be constants."""
        for path, value in places.items():
            self._are.get(path, set()).add(value)

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Numbered:
        """A call with its numbers as inputs, where they are."""
        places: dict[Path, Any] = {}
        new, named = list(args), dict(kwargs)
        for (place,) in [way for way in self._ways if len(way) == 1]:
            if isinstance(place, int):
                if place < len(new):
                    new[place] = self._given(new[place], (place,), places)
            elif place in named:
                named[place] = self._given(named[place], (place,), places)
        return Numbered(tuple(new), named, places)

    def _set(self, are: dict[Path, set[Any]]) -> None:
        self._are = are
        self._ways = dict.fromkeys(path[: n + 1] for path in are for n in range(len(path)))

    def _given(self, value: Any, path: Path, places: dict[Path, Any]) -> Any:
        """An argument with inputs in the places of numbers; adds the places."""
        if path not in self._ways:
            return value
        kind = type(value)
        if kind is float or kind is int:
            constants = self._are.get(path)
            if constants is None or value in constants or not is_number(value, kind):
                return value
            places[path] = value
            return NumberInput(np.asarray(value, "int64" if kind is int else "float64"))
        if not is_container(value):
            return value
        keys = iter(value if isinstance(value, dict) else range(len(value)))
        return map_entries(value, lambda one: self._given(one, (*path, next(keys)), places))


def _numbers(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The numbers in an argument, with their places."""
    if type(value) in (int, float):
        yield path, value
    elif is_container(value):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(entry, (*path, key))


def kind_of(tensor: EagerTensor) -> Any:
    """What tells a tensor of a call from a number beside its shape."""
    return tensor.array.dtype if type(tensor) is not NumberInput else (tensor.array.dtype, "number")
