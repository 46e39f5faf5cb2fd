"""Where training a GPT stops to scale, on paper: memory, bytes sent and time by plan and chips.

    python benchmarks/scaling_on_paper.py

State is float32: 4 bytes a parameter, as much for its gradient, 8 for Adam; activations and what
is sent of them are bfloat16. A step takes 4 M tokens in sequences of 2,048, one at a time on each
group of chips (gradient merge), each block computed anew in the backward. As `dist.plan` counts:
gradients are all-reduced along `dp`; from stage 1 on parameters are gathered, in stage 3 at each
use, in the forward and the backward of every sequence; along `mp` a block all-reduces its results
four times.
"""

from __future__ import annotations

from typing import NamedTuple

# A chip, as an H100 is: memory, the FLOP/s that training reaches, bytes a second to the chips of
# the same host (8), and to other hosts.
MEMORY, SPEED, NEAR, FAR = 80e9, 400e12, 450e9, 50e9
HOST = 8
TOKENS, SEQUENCE, LETTERS = 4 * 1024**2, 2048, 50304
CHIPS = (8, 64, 512, 4096)


class Model(NamedTuple):
    """A GPT: width and depth."""

    name: str
    width: int
    depth: int

    @property
    def parameters(self) -> float:
        """Twelve squares of the width a block, and the table of tokens."""
        return 12 * self.width**2 * self.depth + LETTERS * self.width


MODELS = (
    Model("125 M", 768, 12),
    Model("1.3 B", 2048, 24),
    Model("6.7 B", 4096, 32),
    Model("13 B", 5120, 40),
    Model("70 B", 8192, 86),
)


class Plan(NamedTuple):
    """A stage of ZeRO along `dp`, and the chips along `mp`."""

    stage: int
    mp: int

    def __str__(self) -> str:
        """`stage 1, mp=8`."""
        return f"stage {self.stage}" + (f", mp={self.mp}" if self.mp > 1 else "")


PLANS = tuple(Plan(stage, mp) for mp in (1, 8) for stage in (0, 1, 3))


def state(model: Model, plan: Plan, chips: int) -> float:
    """Bytes of parameters, and of what Adam remembers, on a chip."""
    dp, owned = chips // plan.mp, model.parameters / plan.mp
    return 8 * owned / (dp if plan.stage >= 1 else 1) + 4 * owned / (dp if plan.stage >= 3 else 1)


def memory(model: Model, plan: Plan, chips: int) -> float:
    """Bytes on a chip."""
    dp, owned = chips // plan.mp, model.parameters / plan.mp
    kept = state(model, plan, chips) + 4 * owned / (dp if plan.stage >= 2 else 1)  # gradients
    # The inputs of blocks, and one block: 34 bytes and, for the 128 wide heads, its weights.
    weights = 5 * SEQUENCE / 128 * model.width / plan.mp
    blocks = SEQUENCE * (2 * model.width * model.depth + (34 * model.width + weights) / plan.mp)
    whole = 2 * 12 * 4 * model.width**2 / plan.mp if plan.stage >= 3 else 0  # two blocks, gathered
    return kept + blocks + whole


def sent(model: Model, plan: Plan, chips: int) -> tuple[float, float]:
    """Bytes that a chip sends in a step, in rings: along `dp`, and along `mp`."""
    dp, owned = chips // plan.mp, 4 * model.parameters / plan.mp
    turns = max(1, TOKENS // SEQUENCE // dp)
    ring = (dp - 1) / dp
    along_data = {0: 2 * owned, 1: 3 * owned, 3: (2 * turns + 2) * owned}[plan.stage] * ring
    results = 4 * model.depth * turns * SEQUENCE * model.width * 2
    return along_data, 2 * results * (plan.mp - 1) / plan.mp


def seconds(model: Model, plan: Plan, chips: int) -> tuple[float, float]:
    """Of computing, and of sending, in a step."""
    along_data, along_tensors = sent(model, plan, chips)
    speed = NEAR if chips <= HOST else FAR
    computing = 8 * model.parameters * TOKENS / chips / SPEED
    return computing, along_data / speed + along_tensors / NEAR


def stops(model: Model, plan: Plan) -> str:
    """From how many chips on sending takes longer than computing, which cannot hide it then."""
    fitting = [2**n for n in range(3, 13) if memory(model, plan, 2**n) <= MEMORY]
    if not fitting:
        return "does not fit"
    for chips in fitting:
        computing, sending = seconds(model, plan, chips)
        if chips // plan.mp > TOKENS // SEQUENCE:
            return f"{chips:,}: a sequence each is the least"
        if sending > computing:
            return f"{chips:,}" + (": sends too much" if chips == fitting[0] else "")
    return "beyond 4,096"


def main() -> None:
    """Print the table."""
    heads = "".join(f" GB at {chips:,} |" for chips in CHIPS)
    print(f"| model | plan |{heads} GB sent at 64 | at 4,096 | stops at |")
    print("| --- | --- |" + " --- |" * (len(CHIPS) + 3))
    for model in MODELS:
        for plan in PLANS:
            needs = [memory(model, plan, chips) for chips in CHIPS]
            cells = [f"{n / 1e9:.1f}" + " (no)" * (n > MEMORY) for n in needs]
            cells += [f"{sum(sent(model, plan, chips)) / 1e9:,.1f}" for chips in (64, 4096)]
            print(f"| {model.name} | {plan} | {' | '.join(cells)} | {stops(model, plan)} |")


if __name__ == "__main__":
    main()
