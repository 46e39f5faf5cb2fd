"""All alignments of labels with steps: the functions that compute `ctc` and `ctc_slope`.

    i32 ctc(ptr out, ptr log_p, ptr labels, ptr steps, ptr lengths, i64 size...)     1: wrong labels

One sequence after the other, in float64, as NumPy's kernel does it. A row has a number for each
state of a sequence: vectors of them, and on both sides some that are -inf. `log_p` at its symbols
and the numbers before, of each step, are kept in rows; those after are made when they are needed.
"""

from __future__ import annotations

import math

from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.math.exponential import exp
from dy2st_runtime.engine.native.math.logarithm import logaddexp
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import FLOAT64, INT64, Lanes, Value
from dy2st_runtime.engine.native.text.magnitudes import Bounded, magnitude_tests
from dy2st_runtime.ir.program import Operator

_WIDE = 8
"""States of a vector."""

_ROWS = 5
"""Rows beside those of the steps: of log_p, skips, what is after, symbols; one if no steps are."""


@writer(
    lambda operator: (
        operator.name in ("ctc", "ctc_slope")
        and operator.attributes["blank"] >= 0
        and all(abi.is_native(v.dtype) and v.dtype != "uint64" for v in operator.operands)
    )
)
def _write(body: Body, step: Step, operator: Operator) -> None:
    body.module.pool("scratch")
    name = body.module.shared(_Paths(operator).text(), "ctc")
    pointers = [body.place(operator.results[0])]
    pointers += [body.places.address(operand) for operand in operator.operands]
    log_p, labels = (operand.tensor_type.shape for operand in operator.operands[:2])
    arguments = [f"ptr {pointer}" for pointer in pointers]
    arguments += [f"i64 {body.sizes.value(size)}" for size in (*log_p, labels[1])]
    # Rows for all steps may need more bytes than 64 bits count, where there are no classes.
    rows: Bounded = {(log_p[0] + _ROWS, labels[1] + 2 * _WIDE): 2.0**42}
    for fits in magnitude_tests(body.function, rows, body.sizes.value):
        body.unless(fits, [operator])
    with body.lock.without(body.lock.is_long([log_p])):
        failed = body.function.let(f"call i32 @{name}({', '.join(arguments)})")
    body.unless(body.function.let(f"icmp eq i32 {failed}, 0"), [operator])


class _Paths:
    """The function of an operator."""

    def __init__(self, operator: Operator) -> None:
        pointers = ("%out", "%log_p", "%labels", "%steps", "%lengths")
        sizes = ("%most", "%count", "%classes", "%labels_most")
        parameters = [*(("ptr", name) for name in pointers), *(("i64", name) for name in sizes)]
        code = self._code = Code("NAME", parameters, "double", "i32")
        code.scales = Processor.host().scales
        self._dtypes = dict(zip(pointers[1:], (o.dtype for o in operator.operands), strict=True))
        self._blank, self._has_slope = operator.attributes["blank"], operator.name == "ctc_slope"
        self._one, self._lanes = Lanes(code, 1), Lanes(code, _WIDE)
        self._states = code.plus(code.times("%labels_most", 2), 1)
        self._end = code.up_to(code.plus(self._states, _WIDE - 1), _WIDE)
        self._stride = code.plus(self._end, 2 * _WIDE)

    def text(self) -> str:
        """The function, as `@NAME`."""
        code = self._code
        with code.loop("0", "%count") as sample:
            steps, length = (self._whole(name, sample) for name in ("%steps", "%lengths"))
            inside = code.both(
                code.let(f"icmp ule i64 {steps}, %most"),
                code.let(f"icmp ule i64 {length}, %labels_most"),
            )
            self._code.require(inside)
            with code.loop("0", length) as place:
                label = self._whole("%labels", code.plus(code.times(sample, "%labels_most"), place))
                self._code.require(code.let(f"icmp ult i64 {label}, %classes"))
        if self._has_slope:
            bytes = str(self._dtypes["%log_p"].itemsize)
            for size in ("%most", "%count", "%classes"):
                bytes = code.times(size, bytes)
            code.line(f"call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {bytes}, i1 false)")
        # Memory for all rows, -inf, and for the slope of a step.
        lanes = self._lanes
        size = code.times(code.plus("%most", _ROWS), self._stride)
        bytes = code.times(code.plus(size, "%classes"), 8)
        memory = code.let(f"call ptr @scratch_take(i64 {bytes})")
        code.require(code.let(f"icmp ne ptr {memory}, null"))  # NumPy has none either, and says so
        with code.loop("0", size, str(_WIDE)) as at:
            lanes.store(lanes.constant(-math.inf, FLOAT64), code.at(memory, at))
        starts = [code.plus(code.times(self._stride, row), _WIDE) for row in range(_ROWS)]
        rows = [code.at(memory, start) for start in starts]
        self._symbols_p, self._skips, self._after, self._symbols, self._first = rows
        self._total = code.at(memory, size)
        with code.loop("0", "%count") as sample:
            self._sample(sample)
        code.line(f"call void @scratch_give(ptr {memory})")
        code.line("ret i32 0")
        return code.text()

    # -- integers ------------------------------------------------------------------------------

    def _whole(self, pointer: str, at: str) -> str:
        dtype = self._dtypes[pointer]
        place = self._code.let(f"getelementptr {stored(dtype)}, ptr {pointer}, i64 {at}")
        return self._one.cast(self._one.load(place, dtype), INT64).text

    def _safe(self, pointer: str, at: str) -> str:
        """An integer that was looked at before, as another thread may have changed it since."""
        code, most = self._code, {"%steps": "%most", "%lengths": "%labels_most"}.get(pointer)
        limit = most or code.minus("%classes", 1)
        return code.least(code.most(self._whole(pointer, at), 0), limit)

    def _put(self, row: str, state: str, value: Value) -> None:
        self._one.store(value, self._code.at(row, state))

    def _symbol(self, state: str) -> str:
        return self._one.load(self._code.at(self._symbols, state), INT64).text

    # -- numbers -------------------------------------------------------------------------------

    def _sample(self, sample: str) -> None:
        code, one = self._code, self._one
        steps, length = (self._safe(name, sample) for name in ("%steps", "%lengths"))
        # The symbols of a sequence, blanks behind its end, and where a blank may be skipped.
        with code.loop("0", self._states) as state:
            self._put(self._symbols, state, Value(str(self._blank), INT64))
        with code.loop("0", length) as place:
            label = self._safe("%labels", code.plus(code.times(sample, "%labels_most"), place))
            state = code.plus(code.times(place, 2), 1)
            self._put(self._symbols, state, Value(label, INT64))
        with code.loop("3", self._states, "2") as state:
            own, before = (self._symbol(code.minus(state, less)) for less in (0, 2))
            skip = code.choose(code.compare("ne", own, before), "0.0", _NEVER, "double")
            self._put(self._skips, state, Value(skip, FLOAT64))
        with code.when(code.compare("sgt", steps, 0)):
            # Paths that are in a state at a step, that step's symbol included.
            lanes = self._lanes
            with code.loop("0", self._end, str(_WIDE)) as state:
                lanes.store(lanes.constant(-math.inf, FLOAT64), code.at(self._first, state))
            self._gather(sample, "0")
            with code.loop("0", code.least(self._states, 2)) as state:
                self._put(self._first, state, one.load(code.at(self._symbols_p, state), FLOAT64))
            with code.loop("1", steps) as step:
                self._gather(sample, step)
                old, new = self._row(code.minus(step, 1)), self._row(step)
                with code.loop("0", self._end, str(_WIDE)) as state:
                    found = lanes.add(
                        self._joined(old, state, -1), self._load(self._symbols_p, state)
                    )
                    lanes.store(found, code.at(new, state))
        row = self._row(code.most(code.minus(steps, 1), 0))
        last = code.times(length, 2)
        ends = [one.load(code.at(row, code.minus(last, less)), FLOAT64) for less in (1, 0)]
        nothing = code.choose(code.compare("eq", length, 0), "0.0", _NEVER, "double")
        has_none = Value(code.compare("eq", steps, 0), INT64)
        total = one.select(has_none, Value(nothing, FLOAT64), logaddexp(one, *ends))
        if self._has_slope:
            limit = one.constant(math.inf, FLOAT64)
            possible = one.compare("lt", one.magnitude(total), limit)
            with code.when(possible.text), code.loop("0", steps) as iteration:
                step = code.minus(code.minus(steps, 1), iteration)
                self._slope(sample, step, code.compare("eq", iteration, 0), last, total)
        else:
            found = one.cast(one.negate(total), self._dtypes["%log_p"])
            one.store(found, self._element("%out", sample))

    def _element(self, pointer: str, at: str) -> str:
        type = stored(self._dtypes["%log_p"])
        return self._code.let(f"getelementptr {type}, ptr {pointer}, i64 {at}")

    def _row(self, step: str) -> str:
        return self._code.at(self._first, self._code.times(step, self._stride))

    def _line(self, sample: str, step: str) -> str:
        """Where the classes of a step of a sequence begin."""
        code = self._code
        return code.times(code.plus(code.times(step, "%count"), sample), "%classes")

    def _gather(self, sample: str, step: str) -> None:
        code, one = self._code, self._one
        line = self._line(sample, step)
        with code.loop("0", self._states) as state:
            place = self._element("%log_p", code.plus(line, self._symbol(state)))
            value = one.cast(one.load(place, self._dtypes["%log_p"]), FLOAT64)
            self._put(self._symbols_p, state, value)

    def _load(self, row: str, state: str) -> Value:
        return self._lanes.load(self._code.at(row, state), FLOAT64)

    def _joined(self, row: str, state: str, way: int) -> Value:
        """What comes to states by staying, going on by one, and skipping one, forth or back."""
        code, lanes = self._code, self._lanes
        one, two = (code.let(f"add nsw i64 {state}, {way * by}") for by in (1, 2))
        stay = logaddexp(lanes, self._load(row, state), self._load(row, one))
        skips = self._load(self._skips, state if way < 0 else two)
        may_skip = lanes.compare("eq", skips, lanes.constant(0, FLOAT64))
        skipped = lanes.select(may_skip, self._load(row, two), lanes.constant(-math.inf, FLOAT64))
        return logaddexp(lanes, stay, skipped)

    # -- the slope -----------------------------------------------------------------------------

    def _slope(self, sample: str, step: str, is_end: str, last: str, total: Value) -> None:
        """Minus the shares of the paths that have a symbol at a step, and what is before it."""
        code, lanes, one = self._code, self._lanes, self._one
        self._gather(sample, step)
        with code.loop("0", "%classes") as place:
            one.store(one.constant(0, FLOAT64), code.at(self._total, place))
        with code.when(is_end):
            # A path may end in the last label, or in the blank behind it.
            with code.loop("0", self._end, str(_WIDE)) as state:
                lanes.store(lanes.constant(-math.inf, FLOAT64), code.at(self._after, state))
            with code.loop(code.most(code.minus(last, 1), 0), code.plus(last, 1)) as state:
                self._put(self._after, state, one.constant(0, FLOAT64))
        with code.when(code.no(is_end)), code.loop("0", self._end, str(_WIDE)) as state:
            after = self._joined(self._after, state, 1)
            lanes.store(after, code.at(self._after, state))
        # Shares go where the numbers before were; with the step's symbols goes what is after.
        row = self._row(step)
        with code.loop("0", self._end, str(_WIDE)) as own:
            after = self._load(self._after, own)
            both = lanes.add(self._load(row, own), after)
            share = exp(lanes, lanes.subtract(both, lanes.splat(total)))
            lanes.store(share, code.at(row, own))
            further = lanes.add(after, self._load(self._symbols_p, own))
            lanes.store(further, code.at(self._after, own))
        with code.loop("0", self._states) as state:
            target = code.at(self._total, self._symbol(state))
            share = one.load(code.at(self._row(step), state), FLOAT64)
            one.store(one.subtract(one.load(target, FLOAT64), share), target)
        line = self._line(sample, step)
        with code.loop("0", "%classes") as place:
            value = one.load(code.at(self._total, place), FLOAT64)
            target = self._element("%out", code.plus(line, place))
            one.store(one.cast(value, self._dtypes["%log_p"]), target)


_NEVER = "0xFFF0000000000000"
"""-inf."""

ALIGNMENTS = (_write,)

__all__ = ["ALIGNMENTS"]
