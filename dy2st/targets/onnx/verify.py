"""Runs a model of ONNX against its Program, at two sizes of every symbol."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from dy2st.diagnostics.locating import with_all_results
from dy2st.diagnostics.rounding import otherwise_rounded
from dy2st_runtime import engine
from dy2st_runtime.dims import Dim, evaluate
from dy2st_runtime.engine.contract import Executable
from dy2st_runtime.engine.onnx.library import checker, has_onnxruntime, onnxruntime, reference
from dy2st_runtime.engine.onnx.model import Model, output_names, write_model
from dy2st_runtime.engine.onnx.nesting import flat, unflat
from dy2st_runtime.errors import ArgumentError, Dy2stError, EngineError
from dy2st_runtime.ir.checks.broken_sizes import place_text
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.dispatch import eagerly
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ir.interpret import Run
from dy2st_runtime.ir.program import Operator, Program, Variable
from dy2st_runtime.ir.sizes import origins
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.tensor import EagerTensor

Array = np.ndarray[Any, Any]
Examples: TypeAlias = Sequence[Sequence[Any]]
Feeds: TypeAlias = dict[str, Array]
Runtime: TypeAlias = Callable[[Model, Feeds], list[Any]]

_ODD = (3, 5, 7, 9, 11, 13)
_OTHERS = (1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 64, 96, 128, 224)
_TRIES = 2000
_ROUNDINGS = 5
TOLERANCES = {"float16": 5e-3, "bfloat16": 4e-2, "float32": 1e-4, "float64": 1e-5}


def verify_model(
    model: Model,
    program: Program,
    arrays: Mapping[str, Array] | None,
    opset: int,
    checks: bool,
    examples: Examples = (),
    is_large: bool = False,
) -> None:
    """EngineError, with the first operator that differs, unless a model does what its Program does.

    `is_large`: one that is too large for a message, so that only onnx.reference runs it.
    """
    if not is_large:
        checker.check_model(model.proto, full_check=True)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # random inputs need not be what the code is for
        _run_all(model, program, arrays, opset, checks, examples, is_large)


def _run_all(
    model: Model,
    program: Program,
    arrays: Mapping[str, Array] | None,
    opset: int,
    checks: bool,
    examples: Examples,
    is_large: bool,
) -> None:
    executable = engine.compile(program, "numpy")
    given = [(_typed(program, one), "the example") for one in examples]
    cases = itertools.chain(given, inputs_of(program, executable, arrays, bool(examples)))
    runs: dict[str, Runtime] = {"onnx.reference": run_reference}
    if has_onnxruntime() and not is_large:
        runs["onnxruntime"] = run_onnxruntime
    drawn = _drawn(program)
    for inputs, where in cases:
        state = _state(program, arrays)
        wanted = executable.run(inputs, state)
        given_values = [*flat([one.type for one in program.inputs], inputs)]
        feeds = dict(zip(model.inputs, [*given_values, *_fed(program, arrays, state)], strict=True))
        for name, run in runs.items():
            try:
                found = run(model, feeds)
            except Exception as error:  # whatever a runtime has to say
                if _lacks(error):
                    continue
                said = f"{type(error).__name__}: {error}"
                raise EngineError(
                    f"the model of {program.name!r} does not run in {name} with {where}: {said}"
                ) from error
            found = unflat([one.type for one in program.block.yields], found)
            labels = output_names(program)
            pairs = zip(labels, found, wanted, program.block.yields, strict=True)
            unsteady: list[Any] | None = None
            for place, (label, have, want, variable) in enumerate(pairs):
                said = difference(have, want, variable in drawn)
                if said:
                    # It may be rounding alone: a step of Adam divides noise by its own size.
                    if unsteady is None:
                        unsteady = _otherwise_rounded(program, inputs, state)
                    others = [one[place] for one in unsteady]
                    said = difference(have, want, variable in drawn, others)
                if said:
                    first = _first_different(program, arrays, opset, checks, inputs, run)
                    raise EngineError(
                        f"the model of {program.name!r} is not the Program: with {where}, {name} "
                        f"gives another {label!r}: {said}; {first}"
                    )


def _lacks(error: Exception) -> bool:
    """Whether a runtime has no kernel for a dtype, or does not know the opset yet."""
    text = str(error)
    return "NOT_IMPLEMENTED" in text or "is under development and support for this" in text


def run_reference(model: Model, feeds: Feeds) -> list[Any]:
    """What onnx.reference gives."""
    found: list[Any] = reference.ReferenceEvaluator(model.proto).run(None, feeds)
    return found


def run_onnxruntime(model: Model, feeds: Feeds) -> list[Any]:
    """What onnxruntime gives."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found: list[Any] = session.run(None, feeds)
    return found


# -- inputs --------------------------------------------------------------------------------------


def inputs_of(
    program: Program,
    executable: Executable,
    arrays: Mapping[str, Array] | None,
    has_others: bool = False,
) -> Iterator[tuple[list[Array], str]]:
    """Inputs that the Program takes, at two sizes of every symbol, with words for the sizes.

    ArgumentError where it takes none that were tried, unless there are others.
    """
    found = 0
    for sizes in sizes_of(program, executable):
        for inputs in _values(program, sizes):
            try:
                executable.run(inputs, _state(program, arrays))
            except Exception:  # whatever the user raises for inputs that the code is not for
                continue
            said = ", ".join(f"{name} = {number}" for name, number in sizes.items())
            yield inputs, said or "random inputs"
            found += 1
            break
        if found == 2 or (found and not sizes):
            return
    if not (found or has_others):
        raise ArgumentError(
            f"{program.name!r} refuses all inputs that were tried, so its model cannot be verified:"
            " give some as verify=[[array, ...]], or verify=False"
        )


def sizes_of(program: Program, executable: Executable) -> Iterator[dict[Dim, int]]:
    """Numbers for all symbols of the inputs: each 1, then odd ones; others where need be."""
    known = list(origins(program.inputs))
    if not known:
        yield {}
        return
    odd = [_ODD[place % len(_ODD)] for place in range(len(known))]
    firsts = [dict.fromkeys(known, 1), dict(zip(known, odd, strict=True))]
    firsts += [dict.fromkeys(known, number) for number in (3, 7, 2, 4, 8, 16, 32, 64)]
    wide = itertools.islice(itertools.product(_OTHERS, repeat=len(known)), _TRIES)
    others = (dict(zip(known, numbers, strict=True)) for numbers in wide)
    seen: list[dict[Dim, int]] = []
    for sizes in itertools.chain(firsts, others):
        if sizes not in seen and _fits(program, executable, sizes):
            seen.append(sizes)
            yield sizes


def _fits(program: Program, executable: Executable, sizes: Mapping[Dim, int]) -> bool:
    for symbol, number in sizes.items():
        most = symbol.maximum
        if number < (symbol.minimum or 0) or (most is not None and number > most):
            return False
    try:
        shapes = [_shape(variable, sizes) for variable in program.inputs]
        return all(n >= 0 for s in shapes for n in s) and executable.takes_shapes(shapes)
    except (Dy2stError, ZeroDivisionError):
        return False


def _shape(variable: Variable, sizes: Mapping[Dim, int]) -> tuple[int, ...]:
    assert isinstance(variable.type, TensorType)
    return tuple(
        evaluate(size, sizes) if isinstance(size, Dim) else size for size in variable.shape
    )


def _values(program: Program, sizes: Mapping[Dim, int]) -> Iterator[list[Array]]:
    """Random arrays; of integers small ones, since they may be places."""
    for seed, most in enumerate((4, 2, 1)):
        rng = np.random.default_rng(seed)
        yield [_random(rng, v.tensor_type.dtype, _shape(v, sizes), most) for v in program.inputs]
    rng = np.random.default_rng(9)
    yield [np.abs(_random(rng, v.tensor_type.dtype, _shape(v, sizes), 2)) for v in program.inputs]


def _random(rng: Any, dtype: Any, shape: tuple[int, ...], most: int) -> Array:
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(0, most, shape).astype(dtype))
    return np.asarray(rng.standard_normal(shape).astype(dtype))


def _typed(program: Program, example: Sequence[Any]) -> list[Array]:
    if len(example) != len(program.inputs):
        raise ArgumentError(f"{program.name!r} takes {len(program.inputs)} inputs")
    pairs = zip(example, program.inputs, strict=True)
    return [np.asarray(getattr(x, "array", x), v.tensor_type.dtype) for x, v in pairs]


def _state(program: Program, arrays: Mapping[str, Array] | None) -> list[Array]:
    """The arrays of parameters and buffers; random ones where they are inputs."""
    if arrays is not None:
        return [np.array(arrays[name]) for name in program.state]
    rng = np.random.default_rng(5)
    types = [variable.tensor_type for variable in program.state.values()]
    return [
        _random(rng, t.dtype, tuple(n if isinstance(n, int) else 1 for n in t.shape), 2)
        for t in types
    ]


def _fed(program: Program, arrays: Any, state: Sequence[Array]) -> list[Array]:
    """Those of the state that are inputs of the model."""
    pairs = zip(program.state, state, strict=True)
    return [array for name, array in pairs if arrays is None or name in program.updates]


# -- comparing -----------------------------------------------------------------------------------


class _Rounded(Run):
    """As the interpreter, but what is computed differs in its last bits."""

    def __init__(self, program: Program, rng: Any) -> None:
        super().__init__(program)
        self._rng = rng

    def operation(self, operator: Operator, operands: list[Any], sizes: Any) -> list[Any]:
        """Results with other last bits, of those of the result or of what it is made of."""
        results = super().operation(operator, operands, sizes)
        given = [one.array for one in operands if isinstance(one, EagerTensor)]
        return [self._rounded(one, given) for one in results]

    def _rounded(self, value: Any, given: list[Array]) -> Any:
        array = getattr(value, "array", None)
        if array is None:
            return value
        return EagerTensor(otherwise_rounded(array, given, self._rng))


def _otherwise_rounded(
    program: Program, inputs: Sequence[Array], state: Sequence[Array]
) -> list[list[Any]]:
    """What the Program yields where each operator rounds in another way, several times."""
    found = []
    for number in range(_ROUNDINGS):
        run = _Rounded(program, np.random.default_rng(number))
        values = [EagerTensor(np.array(one)) for one in (*inputs, *state)]
        try:
            with eagerly(as_recorded=True), no_grad():
                results = run.block(program.block, values, run.sizes_of(values))
        except Exception:  # whatever the user raises: it computes what it does not take
            continue
        found.append([_arrays(one) for one in results])
    return found


def _arrays(value: Any) -> Any:
    return [_arrays(one) for one in value] if isinstance(value, list) else value.array


def difference(found: Any, wanted: Any, is_drawn: bool = False, others: Sequence[Any] = ()) -> str:
    """How a result differs from what it should be; empty if it does not.

    Of random numbers only dtype and rank are compared. `others` is what other roundings give: as
    much as they are apart, a result may be.
    """
    if isinstance(wanted, list):
        if any(len(one) != len(wanted) for one in others):
            return ""
        if not isinstance(found, list) or len(found) != len(wanted):
            return f"a list of {len(found)} and not of {len(wanted)}"
        said = [
            difference(have, want, is_drawn, [one[place] for one in others])
            for place, (have, want) in enumerate(zip(found, wanted, strict=True))
        ]
        return next((one for one in said if one), "")
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.dtype != wanted.dtype or found.ndim != wanted.ndim:
        return f"{found.dtype}{list(found.shape)}, not {wanted.dtype}{list(wanted.shape)}"
    if is_drawn:
        return ""
    others = [np.asarray(one) for one in others]
    if any(one.shape != wanted.shape for one in others):
        return ""
    if found.shape != wanted.shape:
        return f"the shape {list(found.shape)}, not {list(wanted.shape)}"
    tolerance = TOLERANCES.get(wanted.dtype.name)
    if tolerance is None:
        is_other = found != wanted
        for one in others:
            is_other &= one == wanted
        count = int(np.sum(is_other))
        return f"{count} of {wanted.size} elements" if count else ""
    have, want = found.astype(np.float64), wanted.astype(np.float64)
    finite = np.abs(want[np.isfinite(want)])
    limit: Any = tolerance * (1 + finite.max(initial=0))
    with np.errstate(invalid="ignore"):
        for one in others:
            apart = np.abs(one.astype(np.float64) - want)
            limit = np.maximum(limit, 20 * np.where(np.isnan(apart), np.inf, apart))
        is_same = (
            (have == want) | (np.isnan(have) & np.isnan(want)) | (np.abs(have - want) <= limit)
        )
    if is_same.all():
        return ""
    with np.errstate(invalid="ignore"):
        worst = np.nanmax(np.where(is_same, 0, np.abs(have - want)))
    return f"{int(np.sum(~is_same))} of {wanted.size} elements, by up to {worst:.3g}"


def _drawn(program: Program) -> set[Variable]:
    """The values that depend on random numbers."""
    found: set[Variable] = set()
    for operator in program.block.operators:
        inside = [operator, *(one for block in operator.blocks for one in block.walk())]
        is_random = any(lookup(one.name).effect is Effect.RANDOM for one in inside)
        if is_random or any(operand in found for operand in operator.operands):
            found.update(operator.results)
    return found


def _first_different(
    program: Program,
    arrays: Mapping[str, Array] | None,
    opset: int,
    checks: bool,
    inputs: Sequence[Array],
    run: Runtime,
) -> str:
    """Which operator at the top is the first whose results differ, all of them being outputs."""
    whole, shown = with_all_results(program)
    state, drawn = _state(program, arrays), _drawn(program)
    try:
        wanted = engine.compile(whole, "numpy").run(inputs, state)
        model = write_model(whole, None, opset, checks)
        found = run(model, dict(zip(model.inputs, [*inputs, *state], strict=True)))
    except Exception as error:  # then the words above stand alone
        return f"which operator is the first is not known: {type(error).__name__}"
    for variable, have, want in zip(shown, found, wanted, strict=True):
        said = difference(have, want, variable in drawn)
        if said and isinstance(variable.maker, Operator):
            place = variable.maker.location
            where = f" ({place_text(place)})" if place else ""
            return f"the first operator that differs is {variable.maker.name}{where}: {said}"
    return "no operator at the top differs by itself: small differences add up"


__all__ = [
    "Examples",
    "difference",
    "inputs_of",
    "run_onnxruntime",
    "run_reference",
    "verify_model",
]
