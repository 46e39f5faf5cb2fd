"""Chooses the plan of a step, by timing the operations of the best few candidates alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

from dy2st.targets.opu.compat import square_plan
from dy2st.targets.opu.machine import Machine
from dy2st.targets.opu.operations import Compute
from dy2st.targets.opu.schedule import Addresses, Scheduler
from dy2st.targets.opu.steps import Step
from dy2st.targets.opu.tiling import (
    FETCH,
    UNCOVERED,
    Plan,
    candidates,
    check_weights,
    passes,
    spans,
    strips,
    traffic,
)
from dy2st.targets.opu.timing import time_operations

TRIED = 3
"""Cuts that are timed; each in a few orders."""

ENOUGH = 1.001
"""Nothing more is tried for a step that takes so little more than its passes."""


WAITING = 1.02
"""A step that takes so much more than its passes is interleaved with the next, if that helps."""

UNEVEN = 0.08
"""How much slower a pair of plans is taken to be that has e times as many tiles of one step."""

PAIRS = 16
"""Pairs of plans that are timed."""


@dataclass(frozen=True)
class Decision:
    """The plan of a step, its cycles between others, and the rejected ones, best first.

    across     so many pixels share the lanes of a pass.
    with_next  the tiles of this step and the next one take turns: one moves data, one computes.
    """

    layer: int
    phase: int
    plan: Plan
    cycles: int
    rejected: tuple[tuple[Plan, int], ...] = ()
    with_next: bool = False
    across: int = 1


def choose(steps: list[Step], machine: Machine, is_compat: bool = False) -> list[Decision]:
    """A plan for every step; equal steps are looked at once."""
    known: dict[object, Decision] = {}
    found = []
    for step in steps:
        key = step.shape
        if key not in known:
            known[key] = _compat(step, machine) if is_compat else _own(step, machine)
        found.append(replace(known[key], layer=step.layer, phase=step.phase, across=step.across))
    return found if is_compat else paired(steps, found, machine)


def paired(steps: list[Step], found: list[Decision], machine: Machine) -> list[Decision]:
    """With those pairs interleaved that are faster so."""
    for number, (step, then) in enumerate(pairwise(steps)):
        taken = number and found[number - 1].with_next
        busy = passes(step, found[number].plan, machine)
        reads = {source.tensor for source in then.sources}
        is_alone = step.by == (1, 1) and step.target not in (then.post.residual, then.scale)
        if taken or reads != {step.target} or not is_alone:
            continue
        if found[number].cycles > WAITING * busy:
            # The best pair of plans for two steps, or those that there are.
            apart = found[number : number + 2]
            best, cycles = apart, sum(decision.cycles for decision in apart)
            # plans with small tiles for both, those of the second about as fast as of the first
            ranked: list[tuple[float, int, Plan, Plan]] = []
            for first in strips(step, machine):
                for second in strips(then, machine):
                    both_busy = passes(step, first, machine) + passes(then, second, machine)
                    moved = traffic(step, first, machine) + traffic(then, second, machine)
                    uneven = abs(log(first.tiles / second.tiles))
                    slow = log(max(both_busy, moved)) + UNEVEN * uneven
                    ranked.append((slow, len(ranked), first, second))
            for first, second in [
                (entry[2], entry[3])
                for entry in sorted(ranked, key=lambda entry: entry[:2])[:PAIRS]
            ]:
                anywhere = Addresses(defaultdict(int), defaultdict(int))
                work = [(step, first, anywhere), (then, second, anywhere)]
                operations = Scheduler(machine).run(work, pairs=(0,))
                together = time_operations(operations, machine).cycles
                if together < cycles:
                    cycles = together
                    one, two = apart
                    rest = [(d.plan, d.cycles) for d in apart]
                    best = [
                        replace(
                            one, plan=first, cycles=together, with_next=True, rejected=(rest[0],)
                        ),
                        replace(two, plan=second, cycles=0, rejected=(rest[1],)),
                    ]
            found[number : number + 2] = best
    return found


def _own(step: Step, machine: Machine) -> Decision:
    timed: list[tuple[float, Plan]] = []
    found = candidates(step, machine)[:TRIED]
    least = min(passes(step, plan, machine) for plan in found)
    for plan in (order for cuts in found for order in orders(step, cuts, machine)):
        timed.append((cycles_between(step, plan, machine), plan))
        if timed[-1][0] <= ENOUGH * least:
            break
    timed.sort(key=lambda entry: entry[0])
    ranked = tuple((plan, round(cycles)) for cycles, plan in timed)
    return Decision(step.layer, step.phase, *ranked[0], ranked[1:])


def orders(step: Step, plan: Plan, machine: Machine) -> list[Plan]:
    """The same cuts in the orders that differ."""
    several = len(step.output_tiles) > 1
    found = [plan]
    if several and plan.tiles > 1:
        found.append(replace(plan, outputs_outside=True))
    tall, wide = spans(step, 0, plan.rows), spans(step, 1, plan.columns)
    area = max(y.length for y in tall) * max(x.length for x in wide)
    together = min(len(step.output_tiles), machine.psum_rows // 2 // area)
    is_dense = step.kind == "dense" and step.blocks is None
    is_dense = is_dense and not machine.psum_waits
    if is_dense and together > 1 and len(step.sources) > machine.fm_banks:
        found.append(replace(plan, group=together))
    return found


def cycles_between(step: Step, plan: Plan, machine: Machine) -> float:
    """Cycles of a step with others before and after it: they cover most of its first load and last
    store.
    """
    anywhere = Addresses(defaultdict(int), defaultdict(int))
    operations = Scheduler(machine).run([(step, plan, anywhere)])
    timeline = time_operations(operations, machine)
    computes = [i for i, operation in enumerate(operations) if isinstance(operation, Compute)]
    inside = int(timeline.ends[computes[-1]] - timeline.starts[computes[0]])
    return inside + UNCOVERED * (timeline.cycles - inside) + FETCH * len(operations)


def _compat(step: Step, machine: Machine) -> Decision:
    """The one plan of the public tool chain; nothing covers its first load and last store."""
    check_weights(step, machine)
    plan = square_plan(step, machine) or candidates(step, machine)[0]
    anywhere = Addresses(defaultdict(int), defaultdict(int))
    operations = Scheduler(machine, is_compat=True).run([(step, plan, anywhere)])
    cycles = time_operations(operations, machine, is_compat=True).cycles
    return Decision(step.layer, step.phase, plan, cycles)


__all__ = ["TRIED", "Decision", "choose", "cycles_between", "orders"]
