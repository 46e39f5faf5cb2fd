"""Finds the first operator at which two runs part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dy2st.diagnostics.differences import Difference, difference
from dy2st.diagnostics.recorder import layer_of
from dy2st.diagnostics.rounding import ROUNDINGS, rounding, spread
from dy2st.diagnostics.trails import Ran, Step, array_of, interpreted
from dy2st_runtime import engine as engines
from dy2st_runtime.errors import Dy2stError, Location
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.dispatch import apply, interpreting
from dy2st_runtime.ir.functions import CALL
from dy2st_runtime.ir.interpret import Run
from dy2st_runtime.ir.program import Block, Operator, Program, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import ArrayType, TensorType
from dy2st_runtime.ops.generator import set_rng_state

_MOST_ALIKE = 8
"""Values of one size among which an equal one is looked for."""


@dataclass(frozen=True)
class Parting:
    """The first operator whose results differ.

    operator  its name.
    place     the user's line.
    layer     the path of its Layer, where that is known.
    found     how the results differ.
    cause     in words what is known of why.
    """

    operator: str
    place: Location | None
    layer: str
    found: Difference
    cause: str


# -- what an engine makes of a Program -----------------------------------------------------------


class _Keeping(Run):
    """An interpreter that keeps the results of the outermost operators, and the steps inside."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.results: list[Any] = []
        self.outermost: dict[Variable, Any] = {}
        self.inside: list[tuple[Operator, Operator, dict[str, Any], list[Any], list[Any]]] = []
        self._around: list[Operator] = []

    def operation(self, operator: Operator, operands: list[Any], sizes: Any) -> Any:
        self._around.append(operator)
        results = super().operation(operator, operands, sizes)
        self._around.pop()
        if not self._around:
            values = zip(operator.results, results, strict=True)
            self.outermost.update((variable, array_of(one)) for variable, one in values)
        elif not operator.blocks and operator.name != CALL:
            attributes = self.attributes(operator, sizes)
            given = [array_of(one) for one in operands]
            made = [array_of(one) for one in results]
            self.inside.append((self._around[0], operator, attributes, given, made))
        return results


def with_all_results(program: Program) -> tuple[Program, list[Variable]]:
    """The Program that gives the results of all of its outermost operators, and these."""
    shown = [
        result
        for operator in program.block.operators
        for result in operator.results
        if not isinstance(result.type, ArrayType)
    ]
    # The operators are shared with the Program: a copy would have other Variables, which nobody
    # could look up in what was kept.
    block = Block(program.block.parameters, program.block.operators, shown)
    whole = replace(program, block=block, updates=[], structure=None, changes={})
    program.block.program = program
    return whole, shown


def fault_of_engine(ran: Ran, engine: str | None, tolerance: float | None) -> Parting | None:
    """The first operator that an engine computes otherwise than NumPy's kernels; None if none.

    `engine` is the name by which the Program is compiled once more.
    """
    program = ran.program
    keeping = _kept(ran)
    wrong = _first_wrong(keeping.results, ran.results, tolerance)
    if wrong is None:
        return None
    # Sums of what cancels out may be anything: as far as other roundings are apart, so may they.
    roundings = [_kept(ran, seed) for seed in range(ROUNDINGS)]
    spreads = [
        _spread_of(one, [other.results[place] for other in roundings])
        for place, one in enumerate(keeping.results)
    ]
    wrong = _first_wrong(keeping.results, ran.results, tolerance, spreads)
    if wrong is None:
        return None
    place, found = wrong
    said = f"the engine {engine!r} computes it otherwise than NumPy's kernels do, of equal operands"
    whole, shown = with_all_results(program)
    count = len(program.inputs)
    arrays: list[Any] = [
        np.asarray(one) if not isinstance(one, list) else one for one in ran.arrays
    ]
    try:
        set_rng_state(ran.random)
        values = engines.compile(whole, engine).run(arrays[:count], arrays[count:])
    except Dy2stError:  # then the results of the whole stand alone
        values = []
    finally:
        program.block.program = program
    # In the order of the Program: what comes behind the first wrong one has wrong operands.
    for variable, have in zip(shown, values, strict=False):
        maker, want = variable.maker, keeping.outermost[variable]
        others = [one.outermost.get(variable) for one in roundings]
        apart = difference(want, have, tolerance, _spread_of(want, others))
        if apart is None or not isinstance(maker, Operator):
            continue
        if maker.blocks:
            inner = _inside(keeping, maker, engine, tolerance)
            if inner is not None:
                return replace(inner, cause=said)
        return _parting(maker, apart, said)
    maker = program.block.yields[place].maker
    cause = (
        f"no operator parts by itself in the engine {engine!r}: they do where they are computed "
        "together, and this one gives the first result that differs"
    )
    if isinstance(maker, Operator):
        return _parting(maker, found, cause)
    return Parting("the Program", None, "", found, cause)


def _kept(ran: Ran, seed: int | None = None) -> _Keeping:
    """What NumPy's kernels make of a Program that ran; with a seed by other roundings."""
    keeping = _Keeping(ran.program)
    set_rng_state(ran.random)
    with nullcontext() if seed is None else rounding(seed):
        keeping.results = interpreted(ran.program, ran.arrays, keeping)
    return keeping


def _spread_of(value: Any, others: Sequence[Any]) -> Any:
    return None if isinstance(value, list) else spread(np.asarray(value), others)


def _first_wrong(
    wanted: Sequence[Any],
    found: Sequence[Any],
    tolerance: float | None,
    spreads: Sequence[Any] = (),
) -> tuple[int, Difference] | None:
    for place, (want, have) in enumerate(zip(wanted, found, strict=True)):
        limit = spreads[place] if spreads else None
        for one, other in _pairs(want, have):
            apart = difference(one, other, tolerance, limit)
            if apart is not None:
                return place, apart
    return None


def _pairs(want: Any, have: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(want, list):
        yield want, have
    elif not isinstance(have, list) or len(want) != len(have):
        yield np.asarray(len(want)), np.asarray(len(have) if isinstance(have, list) else -1)
    else:
        for one, other in zip(want, have, strict=True):
            yield from _pairs(one, other)


def _inside(
    keeping: _Keeping, around: Operator, engine: str | None, tolerance: float | None
) -> Parting | None:
    """The first operator in a branch or loop that the engine computes otherwise, by itself."""
    made: dict[Any, Any] = {}
    for outer, operator, attributes, given, wanted in keeping.inside:
        is_pure = lookup(operator.name).effect is Effect.PURE
        if outer is not around or not is_pure or any(isinstance(one, list) for one in given):
            continue
        types = tuple((np.asarray(one).dtype.str, np.shape(one)) for one in given)
        # A loop runs an operator again and again with one shape: it is compiled once for that.
        key = id(operator), types, repr(attributes)
        try:
            if key not in made:
                made[key] = engines.compile(program_of(operator, attributes, given), engine)
            have = made[key].run([np.asarray(one) for one in given], [])
        except Dy2stError:  # an operator that is none by itself
            continue
        wrong = _first_wrong(wanted, have, tolerance)
        if wrong is not None:
            return _parting(operator, wrong[1], "")
    return None


def program_of(operator: Operator, attributes: dict[str, Any], given: Sequence[Any]) -> Program:
    """A Program of one operator, of these sizes."""
    program = Program(operator.name)
    arrays = [np.asarray(one) for one in given]
    types = [TensorType(one.dtype, one.shape) for one in arrays]
    operands = [program.block.add_parameter(one, f"x{n}") for n, one in enumerate(types)]
    program.inputs = list(operands)
    tracer = Tracer(program)
    with tracer.tracing(), interpreting(tracer):
        results = apply(operator.name, *operands, **attributes)
    several = results if isinstance(results, tuple) else (results,)
    program.block.yields = [tracer.variable(one) for one in several]
    return program


def _parting(operator: Operator, found: Difference, cause: str) -> Parting:
    return Parting(operator.name, operator.location, layer_of(operator), found, cause)


# -- two runs -------------------------------------------------------------------------------------


class Alignment:
    """Which steps of one trail have an equal one in another.

    The n-th operator of a name on a line belongs to the n-th of the other trail; where passes have
    made others of some of them, any value counts that is equal.
    """

    def __init__(
        self,
        left: Sequence[Step],
        right: Sequence[Step],
        tolerance: float | None,
        roundings: Sequence[Sequence[Step]],
    ) -> None:
        """Compare all steps of `right`; `roundings` are those of `left` with other last bits."""
        self.left, self.right, self._tolerance = left, right, tolerance
        self._spreads: dict[int, list[Any]] = {}
        keys = [step.key for step in left]
        # Other roundings may have taken other branches, whose steps are no measure for these.
        alike = [one for one in roundings if [step.key for step in one] == keys]
        for place, step in enumerate(left if alike else ()):
            others = [one[place].results for one in alike]
            self._spreads[id(step)] = [
                _spread_of(value, [other[n] for other in others])
                for n, value in enumerate(step.results)
            ]
        of_key: dict[Any, list[Step]] = {}
        for step in left:
            of_key.setdefault(step.key, []).append(step)
        self.partners: list[Step | None] = []
        seen: dict[Any, int] = {}
        for step in right:
            number = seen.get(step.key, 0)
            seen[step.key] = number + 1
            found = of_key.get(step.key, ())
            self.partners.append(found[number] if number < len(found) else None)
        counts = [
            Counter(one.key for one in trail if not one.is_constant) for trail in (left, right)
        ]
        # Constants do not count: Python makes some that a Program has folded away.
        self._is_rewritten = counts[0] != counts[1]
        self._by_shape: dict[Any, list[tuple[float, Any]]] = {}
        for step in left:
            for one in step.results:
                if isinstance(one, np.ndarray):
                    self._by_shape.setdefault(one.shape, []).append((_sum(one), one))
        self.agrees = [self.agree(*pair) for pair in zip(right, self.partners, strict=True)]

    def agree(self, step: Step, partner: Step | None) -> bool:
        """Whether a step has the results of its partner, or of any other step."""
        if partner is not None and self.apart(partner, step) is None:
            return True
        if partner is not None and not self._is_rewritten:
            return False
        for value in step.results:
            if not isinstance(value, np.ndarray):
                continue
            total = _sum(value)
            # By their sums: to compare each value with all others would take the square of time.
            near = sorted(self._by_shape.get(value.shape, ()), key=lambda one: abs(one[0] - total))
            others = [other for _, other in near[:_MOST_ALIKE]]
            if all(difference(one, value, self._tolerance) for one in others):
                return False
        return True

    def apart(self, left: Step, right: Step) -> Difference | None:
        """How the results of two steps differ."""
        if len(left.results) != len(right.results):
            return Difference(f"{len(left.results)} and {len(right.results)} results")
        spreads = self._spreads.get(id(left), ())
        found = _first_wrong(left.results, right.results, self._tolerance, spreads)
        return None if found is None else found[1]

    def nearest(self, step: Step) -> Step | None:
        """The step of the left that stands for one: its partner, or another of its line."""
        partner = self.partners[self.right.index(step)]
        partner = partner or next((one for one in self.left if one.key == step.key), None)
        if partner is None or _shapes(partner) != _shapes(step):  # of another use of it there
            return None
        return partner


def _shapes(step: Step) -> list[Any]:
    return [np.shape(one) for one in step.results if not isinstance(one, list)]


def _sum(array: Any) -> float:
    with np.errstate(all="ignore"):
        # Short floats overflow in a sum; bfloat16 is of kind V to NumPy.
        kind = array.astype(np.complex128) if array.dtype.kind in "cfV" else array
        total = abs(complex(np.sum(kind)))
    return total if np.isfinite(total) else 0.0


def first_parting(
    left: Sequence[Step],
    right: Sequence[Step],
    wrong: Sequence[Any],
    tolerance: float | None,
    roundings: Sequence[Sequence[Step]] = (),
) -> Parting | None:
    """The first operator of the right trail that makes of equal values others than the left.

    `wrong` are the arrays of the right that are wrong in the end: only what leads to them counts,
    as long as there is anything.
    """
    aligned = Alignment(left, right, tolerance, roundings)
    maker = {id(one): place for place, step in enumerate(right) for one in step.results}
    guilty: set[int] = set()
    waiting = [maker[id(one)] for one in wrong if id(one) in maker]
    while waiting:
        place = waiting.pop()
        if place in guilty or aligned.agrees[place] or right[place].is_constant:
            continue
        guilty.add(place)
        waiting += [maker[id(one)] for one in right[place].operands if id(one) in maker]
    if not guilty:
        places = range(len(right))
        guilty = {n for n in places if not aligned.agrees[n] and not right[n].is_constant}
    if not guilty:
        return None
    first = right[min(guilty)]
    partner = aligned.nearest(first)
    if partner is None:
        apart = Difference("the other run has no such operator there", None, first.results[0])
        cause = "it stands on no line of the other run, or not as often"
    else:
        found = aligned.apart(partner, first)
        apart = found or Difference("what it gives is used elsewhere", None, None)
        cause = cause_of(partner, first, tolerance)
    return Parting(first.name, first.where.place, first.where.layer, apart, cause)


def cause_of(left: Step, right: Step, tolerance: float | None) -> str:
    """What two steps read that differs."""
    names = lookup(right.name).inputs
    for number, (one, other) in enumerate(zip(left.operands, right.operands, strict=False)):
        name = names[min(number, len(names) - 1)].rstrip("*?") if names else str(number)
        is_value = not any(isinstance(read, list) or read is None for read in (one, other))
        found = difference(one, other, tolerance) if is_value else None
        if found is not None:
            return f"its operand `{name}` differs: {found.text}"
    changed = [
        f"{key}={left.attributes[key]!r:.40} and {right.attributes[key]!r:.40}"
        for key in left.attributes
        if key in right.attributes
        and not np.array_equal(left.attributes[key], right.attributes[key])
    ]
    if changed:
        return f"its attributes differ: {', '.join(changed)}"
    return "it makes other results of equal operands"


__all__ = ["Parting", "fault_of_engine", "first_parting", "with_all_results"]
