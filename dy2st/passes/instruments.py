"""Instruments for a PassContext: timing, printing, statistics, the verifier, a numeric check."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from dy2st.passes.core.info import PassInfo
from dy2st.passes.core.instrument import PassInstrument
from dy2st.passes.core.module import Module
from dy2st.passes.core.statistics import Statistics, statistics
from dy2st.passes.random_inputs import random_inputs
from dy2st_runtime import engine
from dy2st_runtime.errors import PassError, VerifyError
from dy2st_runtime.ir.verifier import verify


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
    """How long every pass took: `print(timing.render())`, inside of the context or after it."""

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
        if self._open and self._open[-1][0].name == info.name:
            self._open[-1][0].seconds = time.perf_counter() - self._open[-1][1]
            self._open.pop()

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
    """Print the Module before and after some passes, or all (None)."""

    def __init__(
        self,
        before: Iterable[str] | None = (),
        after: Iterable[str] | None = None,
        file: TextIO | None = None,
    ):
        """Choose the passes by name, and where to print."""
        self.before = None if before is None else frozenset(before)
        self.after = None if after is None else frozenset(after)
        self.file = file

    def run_before_pass(self, module: Module, info: PassInfo) -> None:
        """Print if it is wanted."""
        if self.before is None or info.name in self.before:
            self._print(f"before {info.name}", module)

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Print if it is wanted."""
        if self.after is None or info.name in self.after:
            self._print(f"after {info.name}", module)

    def _print(self, header: str, module: Module) -> None:
        out = sys.stdout if self.file is None else self.file
        print(f"// {header}", file=out)
        for program in module.programs.values():
            print(program, end="", file=out)


class DumpIR(PassInstrument):
    """Write the text after every pass into a folder: `001_FoldConstant.mlir`, ..."""

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
        name = f"{self.count:03}_{info.name.replace(' ', '_').replace('/', '_')}.mlir"
        text = "".join(str(program) for program in module.programs.values())
        (self.folder / name).write_text(text, encoding="utf-8")


class PassStatistics(PassInstrument):
    """What every pass changed: `changes` has its name and the counts before and after."""

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
        """A pass that fails has changed nothing."""
        if self._open:
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
    """Run the verifier after every pass; PassError names the pass that broke a Program."""

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Verify."""
        for name, program in module.programs.items():
            try:
                verify(program)
            except VerifyError as error:
                raise PassError(
                    f"after {info.name} the Program {name!r} is broken\n{error}"
                ) from None


class CheckNumbers(PassInstrument):
    """Run every Program on random inputs before and after each pass, and compare the outputs.

    Floats may differ by `rtol` of the largest number of an output; all else must be equal. Programs
    that draw random numbers, or of which inputs cannot be made up, are not compared.
    """

    def __init__(self, rtol: float = 1e-5, seed: int = 0):
        """Choose how exact the outputs must be."""
        self.rtol, self.seed = rtol, seed
        self._open: list[dict[str, Any]] = []
        self.compared = 0

    def enter_pass_ctx(self) -> None:
        """Start anew."""
        self._open, self.compared = [], 0

    def run_before_pass(self, module: Module, info: PassInfo) -> None:
        """Run the Programs."""
        found: dict[str, Any] = {}
        for name, program in module.programs.items():
            made = random_inputs(program, module.state, self.seed)
            if made is not None:
                inputs, state = made
                found[name] = (inputs, state, _outputs(module, name, inputs, state))
        self._open.append(found)

    def run_after_pass(self, module: Module, info: PassInfo) -> None:
        """Run them again."""
        for name, (inputs, state, expected) in self._open.pop().items():
            if name not in module.programs:
                continue
            state = {**state, **module.state}
            outputs = _outputs(module, name, inputs, state)
            self.compared += 1
            for index, (left, right) in enumerate(zip(expected, outputs, strict=False)):
                self._compare(left, right, f"output {index} of {name!r} after {info.name}")

    def pass_failed(self, info: PassInfo, error: BaseException) -> None:
        """Forget what was run before it."""
        if self._open:
            self._open.pop()

    def _compare(self, expected: Any, found: Any, what: str) -> None:
        if isinstance(expected, list) or expected.dtype != found.dtype:
            return
        if expected.shape != found.shape:
            raise PassError(f"{what} has the shape {found.shape}, not {expected.shape}")
        if expected.dtype.kind != "f":
            if not np.array_equal(expected, found):
                raise PassError(f"{what} has other numbers")
            return
        size = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
        if not np.allclose(expected, found, self.rtol, self.rtol * size, equal_nan=True):
            off = np.nanmax(np.abs(expected - found))
            raise PassError(f"{what} is off by {off:.3g}; numbers are as large as {size:.3g}")


def _outputs(module: Module, name: str, inputs: list[Any], state: dict[str, Any]) -> list[Any]:
    program = module.programs[name]
    arrays = [state[key] for key in program.state]
    return engine.compile(program).run(inputs, arrays)[: len(program.outputs)]


__all__ = [
    "CheckNumbers",
    "DumpIR",
    "PassPrinting",
    "PassStatistics",
    "PassTiming",
    "VerifyAfter",
]
