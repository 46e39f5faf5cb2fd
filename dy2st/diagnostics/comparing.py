"""`dy2st.compare`: runs a function by Python and as a Program, and finds where the two part."""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from dy2st.diagnostics.differences import Difference, first_difference, leaves
from dy2st.diagnostics.gradient_rules import wrong_rule
from dy2st.diagnostics.kept_state import KeptState
from dy2st.diagnostics.locating import Parting, fault_of_engine, first_parting
from dy2st.diagnostics.recorder import engine_of
from dy2st.diagnostics.rounding import ROUNDINGS, spread
from dy2st.diagnostics.subjects import (
    call_of,
    calls_made,
    converted,
    engine_name,
    is_saved,
    layer_paths,
    name_of,
)
from dy2st.diagnostics.trails import RunsOf, Trail
from dy2st.jit.concrete_program import as_pass
from dy2st.jit.static_function import by_python
from dy2st_runtime.errors import (
    ArgumentError,
    ConversionError,
    Dy2stError,
    EngineError,
    Location,
    PassError,
)
from dy2st_runtime.ir.checks.broken_sizes import place_text
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.ir.types import is_differentiable
from dy2st_runtime.tensor import EagerTensor

Call = Callable[..., Any]


@dataclass(frozen=True)
class Comparison:
    """What a comparison has found: print it.

    name      what was called.
    sides     what its two sides are called.
    count     how many operators of the second have equal results.
    what      which result differs first: `result[0]`, `gradient of x`; empty if none does.
    found     how it differs.
    parting   the first operator that differs; None if all are equal, or none is known.
    raised    what both sides raise; empty if they end well, or differ.
    """

    name: str
    sides: tuple[str, str]
    count: int
    what: str = ""
    found: Difference | None = None
    parting: Parting | None = None
    raised: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether all results are equal."""
        return not self.what

    @property
    def operator(self) -> str:
        """The name of the first operator that differs; empty without one."""
        return "" if self.parting is None else self.parting.operator

    @property
    def place(self) -> Location | None:
        """The user's line that it stands on."""
        return None if self.parting is None else self.parting.place

    def __str__(self) -> str:
        """`f: equal, 12 operators compared`, or where the sides part."""
        if self.is_equal:
            noun = "operator" if self.count == 1 else "operators"
            said = f"{self.name}: equal, {self.count} {noun} compared ({' and '.join(self.sides)})"
            return f"{said}\n  both raise {self.raised}" if self.raised else said
        found, parting = self.found, self.parting
        assert found is not None
        lines = [
            f"{self.name}: {' and '.join(self.sides)} part",
            f"  {self.what}: {found.text}",
        ]
        if parting is not None:
            where = "a line that is not known"
            if parting.place is not None:
                where = place_text(parting.place)
            both = (parting.found.left, parting.found.right)
            values = zip(self.sides, map(array_text, both), strict=True)
            layer = f", in the layer {parting.layer}" if parting.layer else ""
            lines += [
                f"  first at the operator {parting.operator!r}, {where}{layer}:",
                f"    {parting.found.text}",
                *(f"    {side}: {one}" for side, one in values if one),
                f"  because: {parting.cause}",
            ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        text = str(self).replace("&", "&amp;").replace("<", "&lt;")
        return f"<pre>{text}</pre>"


class ComparisonError(Dy2stError, AssertionError):
    """Two ways to compute a call give other results; `comparison` says where they part."""

    def __init__(self, comparison: Comparison) -> None:
        """Say what was found."""
        self.comparison = comparison
        super().__init__(str(comparison))


RAISES = "what it raises"


@dataclass(eq=False)
class Outcome:
    """What a call gave, and left behind: values by what a message calls them."""

    values: dict[str, Any] = field(default_factory=dict)
    error: BaseException | None = None
    result: Any = None


# -- the function for users ----------------------------------------------------------------------


@without_own_frames
def compare(
    fn: Any,
    *args: Any,
    other: Any = None,
    engine: str | None = None,
    pipeline: Any = None,
    gradients: bool = False,
    tolerance: float | None = None,
    **kwargs: Any,
) -> Comparison:
    """Run a call in two ways, and find the first operator whose results differ.

    A function or Layer runs by Python, and converted; a Program, a `passes.Module`, a model or the
    path of one runs by NumPy's kernels one by one, and as it is. `other` is a second one to take in
    place of that. `engine` and `pipeline`, the name of passes or a pass, are for the second side.
    With `gradients` those of all results, by arguments and parameters, are compared, too, and the
    rule of each operator with finite differences.

    What a call leaves behind (buffers, parameters, gradients, lists, random numbers) is compared,
    and put back after each run: nothing is changed. Results may differ by a part of the largest
    element: `tolerance`, or 1e-4 of float32, 1e-9 of float64, 5e-3 of float16 and 4e-2 of bfloat16.

    Raises ArgumentError for what cannot be called or put back, as an iterator.

    >>> import dy2st
    >>> dy2st.compare(lambda x: (x * 2).exp(), dy2st.ones([3]))
    <lambda>: equal, 2 operators compared (Python and the Program)
    """
    passes = None if pipeline is None else as_pass(pipeline)
    left, right, sides = _sides(fn, other, engine, passes)
    names = _argument_names(fn, args, kwargs)
    if gradients:
        left, right = _differentiated(left), _differentiated(right)
    # Each side starts from the same state: what a call may change is found before the first runs.
    subjects = [("", one) for one in (fn, other) if one is not None]
    kept = KeptState([*subjects, *names])
    if kept.unknown:
        raise ArgumentError(f"compare: {kept.unknown[0]}, cannot be put back: give it as a list")
    pair = Pair(kept, (left, right), args, kwargs, tolerance, gradients)
    engines = engine_name(fn), engine or engine_name(fn if other is None else other)
    return pair.compared(name_of(fn), sides, layer_paths(fn), engines)


def _sides(
    fn: Any, other: Any, engine: str | None, passes: Any
) -> tuple[Call, Call, tuple[str, str]]:
    said = "".join(
        f", {one}" for one in (engine, getattr(getattr(passes, "info", None), "name", None)) if one
    )
    if other is not None:
        right = call_of(other, engine, passes)
        names = name_of(fn), name_of(other)
        if names[0] == names[1]:  # two lambdas, say
            names = ("the first", "the second")
        return call_of(fn), right, (names[0], f"{names[1]}{said}")
    if is_saved(fn):
        return (
            _interpreted(call_of(fn)),
            call_of(fn, engine, passes),
            ("NumPy", f"the Program{said}"),
        )
    return plain(fn), converted(fn, engine, passes), ("Python", f"the Program{said}")


def plain(fn: Any) -> Call:
    """The function with all that is converted in it as plain Python."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with calls_made(by_python):
            return fn(*args, **kwargs)

    return call


def _interpreted(call: Call) -> Call:
    """A call whose Programs are interpreted, operator by operator."""

    def interpreted(*args: Any, **kwargs: Any) -> Any:
        call(*args, **kwargs)  # it compiles, perhaps
        with Trail().recording({}):
            return call(*args, **kwargs)

    return interpreted


def _argument_names(
    fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[tuple[str, Any]]:
    try:
        bound = inspect.signature(getattr(fn, "forward", fn)).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return [*((f"argument {n}", one) for n, one in enumerate(args, 1)), *kwargs.items()]
    return list(bound.items())


def _differentiated(call: Call) -> Call:
    """A call that goes back from all that it returns, and gives the gradients beside."""

    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _leaf(args), _leaf(kwargs)
        outputs = call(*args, **kwargs)
        rng, total = np.random.default_rng(0), None
        for tensor in _tensors(outputs):
            if not tensor.stop_gradient:
                seed = np.asarray(rng.standard_normal(tensor.array.shape), tensor.array.dtype)
                # Random weights: a plain sum gives 0 to what cancels out, as behind a softmax.
                part = (tensor * EagerTensor(seed)).sum().cast("float64")
                total = part if total is None else total + part
        if total is not None:
            total.backward()
        found = [one._grad for one in _tensors([args, kwargs])]
        return outputs, _Gradients(found)

    return run


class _Gradients(list[Any]):
    """The gradients of arguments, in their order."""


def _leaf(value: Any) -> Any:
    """Arguments whose tensors of floats are leaves that want gradients."""
    if isinstance(value, EagerTensor):
        made = EagerTensor(value.array, name=value.name)
        made.stop_gradient = not is_differentiable(value.array.dtype)
        return made
    if isinstance(value, dict):
        return {key: _leaf(one) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_leaf(one) for one in value)
    return value


def _tensors(value: Any) -> Iterator[EagerTensor]:
    if isinstance(value, EagerTensor):
        yield value
    elif isinstance(value, dict):
        yield from (one for entry in value.values() for one in _tensors(entry))
    elif isinstance(value, (list, tuple)):
        yield from (one for entry in value for one in _tensors(entry))


# -- two ways of one call ------------------------------------------------------------------------


class Pair:
    """Two ways to make a call, and what is put back after each."""

    def __init__(
        self,
        kept: KeptState,
        calls: tuple[Call, Call],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        tolerance: float | None,
        asks_rules: bool = False,
    ) -> None:
        self.asks_rules = asks_rules
        self.kept, self.calls, self.args, self.kwargs = kept, calls, args, kwargs
        self.tolerance = tolerance
        self.is_steady = False  # whether they were equal though nothing was rounded otherwise

    def run(self, side: int, around: Any = None, shows: bool = False) -> Outcome:
        """Call one side, and put back what it changes."""
        # A call runs half a dozen times; what it prints is to be seen once.
        quiet = contextlib.nullcontext() if shows else contextlib.redirect_stdout(io.StringIO())
        try:
            with calls_made(None), quiet, around or contextlib.nullcontext():
                return outcome_of(self.calls[side], self.args, self.kwargs, self.kept)
        finally:
            self.kept.put_back()

    def compared(
        self,
        name: str,
        sides: tuple[str, str],
        paths: dict[int, str],
        engines: tuple[str | None, str | None],
    ) -> Comparison:
        """Both sides, operator by operator; `engines` are the names of theirs, if they have one."""
        left = self.run(0, shows=True)
        for _ in range(3):  # traced, and, for gradients, compiled
            self.run(1)
        runs = RunsOf()
        right = self.run(1, runs.recording())
        wrong = differs(left, right, sides, self.tolerance)
        trails = (Trail(), Trail())
        traced = [self.run(side, trail.recording(paths)) for side, trail in enumerate(trails)]
        self.is_steady = wrong is None
        if wrong is None:
            wrong_one = wrong_rule(trails[0].steps) if self.asks_rules else None
            if wrong_one is not None:  # it is the same for both
                return Comparison(name, sides, 0, "gradients", wrong_one.found, wrong_one)
            error = left.error
            raised = "" if error is None else f"{type(error).__name__}: {error}"
            return Comparison(name, sides, trails[1].count, raised=raised)
        # What cancels out may be anything: as far as other roundings are apart, so may it.
        roundings = [Trail() for _ in range(ROUNDINGS)]
        others = [self.run(0, trail.recording(paths, seed)) for seed, trail in enumerate(roundings)]
        spreads = {
            label: spread(value, [one.values.get(label) for one in others])
            for label, value in traced[0].values.items()
        }
        wrong = differs(left, right, sides, self.tolerance, spreads)
        if wrong is None:
            return Comparison(name, sides, trails[1].count)
        of_left = RunsOf()
        self.run(0, of_left.recording())
        parting = None
        for ran in (*runs.ran, *of_left.ran):
            # The operator that an engine computes otherwise than NumPy's kernels.
            with contextlib.redirect_stdout(io.StringIO()):
                own = engines[ran in runs.ran] or engine_of(ran.executable)
                parting = parting or fault_of_engine(ran, own, self.tolerance)
            self.kept.put_back()
        if parting is None:
            bad = [
                value
                for label, value in traced[1].values.items()
                if first_difference(
                    {label: left.values.get(label)}, {label: value}, self.tolerance, spreads
                )
            ]
            rounded = [trail.steps for trail in roundings]
            steps = trails[0].steps, trails[1].steps
            parting = first_parting(*steps, bad, self.tolerance, rounded) if bad else None
        return Comparison(name, sides, 0, *wrong, parting)


def differs(
    left: Outcome,
    right: Outcome,
    sides: tuple[str, str],
    tolerance: float | None,
    spreads: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[str, Difference] | None:
    """The first value of two outcomes that differs, in words for these sides."""
    errors = left.error, right.error
    if not any(errors):
        return first_difference(left.values, right.values, tolerance, spreads)
    is_refused = all(isinstance(error, Dy2stError) for error in errors)  # in other words, perhaps
    if is_refused or (all(errors) and type(errors[0]) is type(errors[1])):
        return None
    said = [
        f"{side} raises {type(one).__name__}: {one}" if one else f"{side} raises nothing"
        for side, one in zip(sides, errors, strict=True)
    ]
    return RAISES, Difference("; ".join(said))


def outcome_of(
    call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], kept: KeptState
) -> Outcome:
    """What a call gives and leaves, before that is put back."""
    try:
        result = call(*args, **kwargs)
    except (ConversionError, EngineError, PassError):  # refusals are the user's to see
        raise
    except Exception as error:  # whatever the user's code raises, by both ways
        return Outcome({RAISES: type(error).__name__}, error)
    gradients: list[Any] = []
    if isinstance(result, tuple) and result and isinstance(result[-1], _Gradients):
        result, gradients = result
    found = {f"result{path}": value for path, value in leaves(result)}
    found |= {
        f"the gradient of argument {place}": one.array
        for place, one in enumerate(gradients, 1)
        if one is not None
    }
    # What a step clears is zeros to one side, and nothing to the other.
    held = {name: one for name, one in kept.gradients().items() if np.any(one)}
    found |= {f"the gradient of {name}": one for name, one in held.items()}
    found |= {f"{name} after the call": one for name, one in kept.arrays().items()}
    return Outcome(found, None, result)


def array_text(value: Any) -> str:
    """An array in a line, in short; empty for what is none."""
    if not isinstance(value, np.ndarray):
        return ""
    return np.array2string(value, threshold=6, edgeitems=2, precision=6).replace("\n", " ")


__all__ = [
    "Comparison",
    "ComparisonError",
    "Outcome",
    "Pair",
    "compare",
    "differs",
    "outcome_of",
    "plain",
]
