"""Fits the square tiles that the public tool chain chooses.

The rest of its mode is the flag `is_compat` of the scheduler (banks are filled in turn, features
are loaded again for every tile of outputs, a layer begins when all before it is stored) and of the
event model (a store takes its words alone). Strides are counted as they are, and rows between are
not loaded, unlike in the tool chain.
"""

from __future__ import annotations

from dy2st.targets.opu.machine import CHANNELS, Machine
from dy2st.targets.opu.steps import Step
from dy2st.targets.opu.tiling import Plan, fits, spans, square_cuts


def square_plan(step: Step, machine: Machine) -> Plan | None:
    """The tool chain's tiles, aligned to pooling and within the buffers; None if it has none."""
    edge = tile_edge(step, machine) // max(step.stride)
    pool = step.post.pool
    if pool is not None:
        edge //= max(pool.stride_y, pool.stride_x)
    for smaller in range(max(1, edge), 0, -1):
        rows, columns = (square_cuts(length, smaller) for length in step.made)
        if fits(step, spans(step, 0, rows), spans(step, 1, columns), machine):
            return Plan(rows, columns)
    return None


def tile_edge(step: Step, machine: Machine) -> int:
    """The edge of its tiles, in input pixels without the kernel's overlap; 0 if none fits.

    The step is taken for a square one, by its longer edge.
    """
    reach, stride = max(step.reach), max(step.stride)
    total = max(step.height, step.width) * stride
    best = (float("inf"), 0)
    for edge in range(min(reach + 1, total), total + 1):
        if (edge + reach - 1) ** 2 > machine.fm_rows:
            break
        count, rest = divmod(total, edge)
        cost = count * count * _tile_cost(step, edge, edge, machine)
        if rest:
            cost += 2 * count * _tile_cost(step, edge, rest, machine)
            cost += _tile_cost(step, rest, rest, machine)
        if cost <= best[0]:
            best = (cost, edge)
    return best[1]


def _tile_cost(step: Step, height: int, width: int, machine: Machine) -> float:
    """Cycles as the tool chain counts them: it takes 64 rows of features for one word."""
    reach, stride = max(step.reach), max(step.stride)
    lanes = min(machine.macs // CHANNELS, step.outputs)
    pixels = -(-height // stride) * -(-width // stride)
    compute = reach * reach * pixels * CHANNELS / lanes
    features = (height + reach - 1) * (width + reach - 1)
    return max(compute, (features + reach * reach * CHANNELS * CHANNELS) / CHANNELS)


__all__ = ["square_plan", "tile_edge"]
