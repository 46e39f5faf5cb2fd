"""What the passes of the inference pipeline make of well-known models.

python -m examples.zoo                  all models, with their published sizes
python -m examples.zoo resnet50 --time  one of them, and how long it runs
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dy2st
from dy2st.passes import Module, pipeline, plan_memory, statistics
from dy2st.passes.plan_memory import amount
from dy2st_runtime import engine
from dy2st_runtime.ir.functions import inlined

from .models import MODELS

HEADINGS = (
    *("model", "operators", "batch norms", "MACs", "parameters"),
    *("memory for each value", "planned memory"),
)


@dataclass
class Comparison:
    """A Program before and after the pipeline, each with its arrays, and inputs for both."""

    name: str
    before: Any
    after: Any
    before_state: list[Any]
    after_state: list[Any]
    inputs: list[Any]
    sizes: dict[str, int]

    def row(self) -> tuple[str, ...]:
        """What the table says of the model."""
        programs = (self.before, self.after)
        counts = [statistics(program, self.sizes) for program in programs]
        plans = [plan_memory(program, self.sizes) for program in programs]
        norms = [sum(o.name == "batch_norm" for o in inlined(p).block.walk()) for p in programs]
        return (
            self.name,
            _change(f"{count.operators}" for count in counts),
            _change(map(str, norms)),
            _change(_millions(count.macs) for count in counts),
            _change(_millions(count.parameters) for count in counts),
            _change(amount(plan.unplanned) for plan in plans),
            _change(amount(plan.arena) for plan in plans),
        )

    def difference(self) -> float:
        """The largest one of the results, as a part of the largest number in them."""
        expected = engine.compile(self.before).run(self.inputs, self.before_state)
        found = engine.compile(self.after).run(self.inputs, self.after_state)
        pairs = zip(expected, found, strict=True)
        return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)

    def times(self, repeat: int = 7) -> tuple[float, float]:
        """The medians of the milliseconds that both take, turn by turn."""
        runs = [
            (engine.compile(self.before), self.before_state),
            (engine.compile(self.after), self.after_state),
        ]
        taken: list[list[float]] = [[], []]
        for _ in range(repeat):
            for times, (executable, state) in zip(taken, runs, strict=True):
                begin = time.perf_counter()
                executable.run(self.inputs, state)
                times.append((time.perf_counter() - begin) * 1e3)
        return float(np.median(taken[0])), float(np.median(taken[1]))


def compare(name: str, tiny: bool = False) -> Comparison:
    """A model of the zoo, traced for every batch and put through the pipeline."""
    model = MODELS[name]
    net = (model.tiny if tiny else model.full)()
    specs = model.tiny_specs if tiny else model.full_specs
    inputs = model.inputs(np.random.default_rng(0), 1, tiny)
    concrete = dy2st.to_static(net, specs).forward.concrete_program
    program = concrete.main_program
    state = {key: tensor.array for key, tensor in concrete.state.items()}
    module = pipeline("inference")(Module({program.name: program}, state))
    after = module.programs[program.name]
    sizes = {
        str(size): number
        for variable, array in zip(program.inputs, inputs, strict=True)
        for size, number in zip(variable.tensor_type.shape, array.shape, strict=True)
        if not isinstance(size, int)
    }
    states = ([state[key] for key in program.state], module.state_of(after))
    return Comparison(name, program, after, *states, inputs, sizes)


def table(names: Sequence[str], tiny: bool = False) -> str:
    """The comparisons as a Markdown table."""
    rows = [HEADINGS, ("---",) * len(HEADINGS), *(compare(name, tiny).row() for name in names)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _change(values: Any) -> str:
    before, after = values
    return before if before == after else f"{before} -> {after}"


def _millions(count: int) -> str:
    return f"{count / 1e6:,.1f} M"


def main() -> None:
    """Print the table, and the times if they are asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.zoo",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("models", nargs="*", help=f"any of {', '.join(MODELS)}; all by default")
    parser.add_argument("--tiny", action="store_true", help="small models of the same structure")
    parser.add_argument("--time", action="store_true", help="run them, too, and compare results")
    parser.add_argument("--svg", type=Path, metavar="FOLDER", help="draw how memory is used")
    options = parser.parse_args()
    unknown = [name for name in options.models if name not in MODELS]
    if unknown:
        parser.error(f"there is no model {unknown[0]!r}; there are {', '.join(MODELS)}")
    names = options.models or list(MODELS)
    print(table(names, options.tiny))
    for name in names:
        if options.svg:
            draw(name, options.tiny, options.svg)
        if options.time:
            tell_times(compare(name, options.tiny))


def draw(name: str, tiny: bool, folder: Path) -> None:
    """Write `NAME_memory.svg`, the memory after the pipeline."""
    comparison = compare(name, tiny)
    folder.mkdir(parents=True, exist_ok=True)
    picture = plan_memory(comparison.after, comparison.sizes).svg(title=name)
    (folder / f"{name}_memory.svg").write_text(picture, encoding="utf-8")


def tell_times(comparison: Comparison) -> None:
    """Print how long the Program takes before and after, and how far the results are apart."""
    before, after = comparison.times()
    print(
        f"{comparison.name}: {before:.1f} ms -> {after:.1f} ms, {before / after:.2f} times as "
        f"fast; largest difference {comparison.difference():.1e}"
    )


if __name__ == "__main__":
    main()
