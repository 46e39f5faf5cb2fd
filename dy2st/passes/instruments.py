"""Watches passes: times, prints and counts them, runs the verifier and compares numbers."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from dy2st.passes.core.info import PassInfo, names_of, plain
from dy2st.passes.core.instrument import PassInstrument
from dy2st.passes.core.module import Module
from dy2st.passes.core.statistics import Statistics, statistics
from dy2st.passes.random_inputs import random_inputs
from dy2st_runtime import engine
from dy2st_runtime.errors import PassError, VerifyError
from dy2st_runtime.ir import is_floating
from dy2st_runtime.ir.checks.verifier import verify


@dataclass
class Timing:
    """One run of a pass: seconds by the clock, and those of the passes inside of it."""

    name: str
    seconds: float = 0.0
    operators: int = 0
    inner: list[Timing] = field(default_factory=list)

    @property
    def own(self) -> float:
        """Seconds without those of inner passes."""
        return self.seconds - sum(entry.seconds for entry in self.inner)


class PassTiming(PassInstrument):
    """How long every pass took: `print(timing.render())`, inside of the context or after it.

    >>> f = dy2st.to_static(lambda x: x + 1.0, [dy2st.static.InputSpec([3])])
    >>> timing = dy2st.passes.PassTiming()
    >>> with dy2st.passes.PassContext(instruments=[timing]):
    ...     _ = dy2st.passes.FoldConstant()(f.main_program)
    >>> "FoldConstant" in timing.render(), "FoldConstant" in timing.as_json()
    (True, True)
    """

    def __init__(self) -> None:
        """Nothing is measured yet."""
        self.timings: list[Timing] = []
        self._open: list[tuple[Timing, float]] = []

    def enter_pass_ctx(self) -> None:
        """Forget what was measured before."""
        self.timings, self._open = [], []

    def run_before_pass(self, module: Module, info: PassInfo) -> None:
        """Start the clock."""
        count = sum(len(program.operators) for program in module.programs.values())
        timing = Timing(info.name, operators=count)
        (self._open[-1][0].inner if self._open else self.timings).append(timing)
        self._open.append((timing, time.perf_counter()))

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Stop the clock."""
        timing, start = self._open.pop()
        timing.seconds = time.perf_counter() - start

    def pass_failed(self, info: PassInfo, error: BaseException) -> None:
        """Stop the clock, also of a pass that fails."""
        timing, start = self._open.pop()
        timing.seconds = time.perf_counter() - start

    def render(self) -> str:
        """A line a pass: name, milliseconds, without inner passes, share, operators a second."""
        total = sum(timing.seconds for timing in self.timings) or 1e-9
        lines = [f"{'pass':<40} {'ms':>9} {'own ms':>9} {'share':>6} {'operators/s':>12}"]
        lines += _rendered(self.timings, 0, total)
        return "\n".join(lines)

    def as_json(self) -> str:
        """The same as JSON."""
        return json.dumps([_as_dict(timing) for timing in self.timings], indent=1)


def _rendered(timings: list[Timing], depth: int, total: float) -> list[str]:
    lines = []
    for timing in timings:
        rate = f"{timing.operators / timing.seconds:,.0f}" if timing.seconds else ""
        lines.append(
            f"{'  ' * depth + timing.name:<40} {timing.seconds * 1e3:>9.3f} "
            f"{timing.own * 1e3:>9.3f} {timing.seconds / total:>6.0%} {rate:>12}"
        )
        lines += _rendered(timing.inner, depth + 1, total)
    return lines


def _as_dict(timing: Timing) -> dict[str, Any]:
    return {
        "name": timing.name,
        "seconds": timing.seconds,
        "operators": timing.operators,
        "inner": [_as_dict(entry) for entry in timing.inner],
    }


class PassPrinting(PassInstrument):
    """Print the Module before and after some passes, or all (None).

    >>> f = dy2st.to_static(lambda x: x + 1.0, [dy2st.static.InputSpec([3])])
    >>> import io
    >>> file = io.StringIO()
    >>> printing = dy2st.passes.PassPrinting(after=["FoldConstant"], file=file)
    >>> with dy2st.passes.PassContext(instruments=[printing]):
    ...     _ = dy2st.passes.FoldConstant()(f.main_program)
    >>> file.getvalue().splitlines()[0]
    '// after FoldConstant'
    """

    def __init__(
        self,
        before: Iterable[str] | None = (),
        after: Iterable[str] | None = None,
        file: TextIO | None = None,
    ):
        """Choose the passes by name, and where to print."""
        self.before = None if before is None else _chosen(before)
        self.after = None if after is None else _chosen(after)
        self.file = file

    def run_before_pass(self, module: Module, info: PassInfo) -> None:
        """Print if it is wanted."""
        if self.before is None or plain(info.name) in self.before:
            self._print(f"before {info.name}", module)

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Print if it is wanted."""
        if self.after is None or plain(info.name) in self.after:
            self._print(f"after {info.name}", module)

    def _print(self, header: str, module: Module) -> None:
        out = sys.stdout if self.file is None else self.file
        print(f"// {header}", file=out)
        for program in module.programs.values():
            print(program, end="", file=out)


def _chosen(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(plain, names_of(names, "passes")))


class DumpIR(PassInstrument):
    """Write the text after every pass into a folder: `001_FoldConstant.mlir`, ...

    >>> import os, tempfile
    >>> f = dy2st.to_static(lambda x: x + 1.0, [dy2st.static.InputSpec([3])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with dy2st.passes.PassContext(instruments=[dy2st.passes.DumpIR(folder)]):
    ...         _ = dy2st.passes.FoldConstant()(f.main_program)
    ...     print(os.listdir(folder))
    ['001_FoldConstant.mlir']
    """

    def __init__(self, folder: str | Path):
        """The folder is made if it is missing."""
        self.folder = Path(folder)
        self.count = 0

    def enter_pass_ctx(self) -> None:
        """Make the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.count = 0

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Write one file."""
        self.count += 1
        name = f"{self.count:03}_{re.sub(r'[^A-Za-z0-9.-]', '_', info.name)}.mlir"
        text = "".join(str(program) for program in module.programs.values())
        (self.folder / name).write_text(text, encoding="utf-8")


class PassStatistics(PassInstrument):
    """What every pass changed: `changes` has its name and the counts before and after.

    >>> f = dy2st.to_static(lambda x: x * (dy2st.ones([3]) + 1.0), [dy2st.static.InputSpec([3])])
    >>> counting = dy2st.passes.PassStatistics()
    >>> with dy2st.passes.PassContext(instruments=[counting]):
    ...     _ = dy2st.passes.FoldConstant()(f.main_program)
    >>> "FoldConstant" in counting.render()
    True
    """

    def __init__(self) -> None:
        """Nothing is counted yet."""
        self.changes: list[tuple[str, Statistics, Statistics]] = []
        self._open: list[Statistics] = []

    def enter_pass_ctx(self) -> None:
        """Forget what was counted before."""
        self.changes, self._open = [], []

    def run_before_pass(self, module: Module, info: PassInfo) -> None:
        """Count."""
        self._open.append(_counts(module))

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Count again."""
        self.changes.append((info.name, self._open.pop(), _counts(module)))

    def pass_failed(self, info: PassInfo, error: BaseException) -> None:
        """A pass that fails is not counted."""
        self._open.pop()

    def render(self) -> str:
        """A line a pass: operators, multiply-accumulates, parameters, bytes of values."""
        lines = [f"{'pass':<40} {'operators':>16} {'MACs':>26} {'parameters':>22}"]
        for name, before, after in self.changes:
            lines.append(
                f"{name:<40} {f'{before.operators} -> {after.operators}':>16} "
                f"{f'{before.macs} -> {after.macs}':>26} "
                f"{f'{before.parameters} -> {after.parameters}':>22}"
            )
        return "\n".join(lines)


def _counts(module: Module) -> Statistics:
    total = Statistics()
    for program in module.programs.values():
        total = total - (Statistics() - statistics(program))
    return total


class VerifyAfter(PassInstrument):
    """Run the verifier after every pass; PassError names the pass that broke a Program.

    >>> f = dy2st.to_static(lambda x: x + 1.0, [dy2st.static.InputSpec([3])])
    >>> with dy2st.passes.PassContext(instruments=[dy2st.passes.VerifyAfter()]):
    ...     better = dy2st.passes.FoldConstant()(f.main_program)
    """

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Verify."""
        for name, program in module.programs.items():
            try:
                verify(program)
            except VerifyError as error:
                raise PassError(
                    f"after {info.name} the Program {name!r} is broken\n{error}"
                ) from None


@dataclass
class _Run:
    """What a Program gives for some inputs, by what it is: an output or a buffer."""

    inputs: list[Any]
    state: dict[str, Any]
    values: dict[str, Any]


class CheckNumbers(PassInstrument):
    """Run every Program on random inputs before and after each pass, and compare what it gives.

    Floats may differ by `rtol`, or a few of the last bits of their dtype, of the largest number of
    an output, or of 1; all else must be equal. Not compared are Programs that draw random numbers,
    for which no inputs can be made up or that fail for them, and outputs of which an operator is
    left to the host; `compared` counts those that were.

    >>> f = dy2st.to_static(lambda x: x * (dy2st.ones([3]) + 1.0), [dy2st.static.InputSpec([3])])
    >>> check = dy2st.passes.CheckNumbers()
    >>> with dy2st.passes.PassContext(instruments=[check]):
    ...     _ = dy2st.passes.FoldConstant()(f.main_program)
    >>> check.compared
    1
    """

    def __init__(self, rtol: float = 1e-5, seed: int = 0):
        """Choose how exact the outputs must be."""
        self.rtol, self.seed = rtol, seed
        self._open: list[dict[str, _Run]] = []
        self.compared = 0

    def enter_pass_ctx(self) -> None:
        """Start anew."""
        self._open, self.compared = [], 0

    def run_before_pass(self, module: Module, info: PassInfo) -> None:
        """Run the Programs."""
        found: dict[str, _Run] = {}
        for name, program in module.programs.items():
            made = random_inputs(program, module.state, self.seed)
            if made is None:
                continue
            try:
                found[name] = _Run(*made, _values(module, name, *made))
            except Exception:
                continue  # it was not the pass: an index may lie outside, say
        self._open.append(found)

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Run them again."""
        for name, run in self._open.pop().items():
            if name not in module.programs:
                continue
            what = f"of {name!r} after {info.name}"
            try:
                values = _values(module, name, run.inputs, {**run.state, **module.state})
            except Exception as error:
                raise PassError(f"a run {what} fails: {error}") from error
            self.compared += 1
            if values.keys() != run.values.keys():
                raise PassError(f"the results {what}: {[*values]}, before: {[*run.values]}")
            for entry, expected in run.values.items():
                if not any(entry == f"output {index}" for index in module.epilogues.get(name, ())):
                    self._compare(expected, values[entry], f"{entry} {what}")

    def pass_failed(self, info: PassInfo, error: BaseException) -> None:
        """Forget what was run before it."""
        self._open.pop()

    def _compare(self, expected: Any, found: Any, what: str) -> None:
        if isinstance(expected, list):
            if len(expected) != len(found):
                raise PassError(f"{what} has {len(found)} elements, not {len(expected)}")
            for left, right in zip(expected, found, strict=True):
                self._compare(left, right, f"an element of {what}")
            return
        if expected.shape != found.shape:
            raise PassError(f"{what} has the shape {found.shape}, not {expected.shape}")
        if is_floating(expected.dtype) and is_floating(found.dtype):
            self._compare_floats(expected, found, what)
        elif expected.dtype != found.dtype:
            raise PassError(f"{what} has the dtype {found.dtype}, not {expected.dtype}")
        elif not np.array_equal(expected, found):
            raise PassError(f"{what} has other numbers")

    def _compare_floats(self, expected: Any, found: Any, what: str) -> None:
        rtol = max(self.rtol, 4 * _last_bit(expected.dtype), 4 * _last_bit(found.dtype))
        left, right = expected.astype(np.float64), found.astype(np.float64)
        size = np.abs(left[np.isfinite(left)]).max(initial=1.0)
        if np.allclose(left, right, rtol, rtol * size, equal_nan=True):
            return
        finite = np.isfinite(left) & np.isfinite(right)
        off = np.abs(left[finite] - right[finite]).max(initial=0.0)
        kinds = (np.isnan, np.isposinf, np.isneginf)
        are_same = all(np.array_equal(kind(left), kind(right)) for kind in kinds)
        wrong = "" if are_same else "; infinities or NaN differ"
        raise PassError(f"{what} is off by {off:.3g}; numbers are as large as {size:.3g}{wrong}")


def _values(module: Module, name: str, inputs: list[Any], state: dict[str, Any]) -> dict[str, Any]:
    program = module.programs[name]
    arrays = [state[key] for key in program.state]
    labels = [f"output {index}" for index in range(len(program.outputs))]
    labels += [f"the buffer {key!r}" for key in program.updates]
    with np.errstate(all="ignore"):
        return dict(zip(labels, engine.compile(program).run(inputs, arrays), strict=True))


def _last_bit(dtype: Any) -> float:
    return float(np.finfo(dtype).eps) if dtype.kind == "f" else 2.0**-7  # bfloat16


__all__ = [
    "CheckNumbers",
    "DumpIR",
    "PassPrinting",
    "PassStatistics",
    "PassTiming",
    "VerifyAfter",
]
