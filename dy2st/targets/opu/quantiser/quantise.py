"""Quantise a Network: calibrate, choose fraction lengths, round the parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from dy2st.targets.opu.float_network import layer_stages
from dy2st.targets.opu.layer import LayerType
from dy2st.targets.opu.machine import Machine, machine
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.quantiser.calibrate import Calibration, Inputs, calibrate
from dy2st.targets.opu.quantiser.fraction_lengths import (
    BIAS,
    DEFAULT,
    FIRST,
    LAST,
    SEED_LAST,
    Statistics,
    check_legal,
    least_error,
    legal_bias,
    legal_weights,
    quantised,
    seed_rule,
    statistics,
    without_saturation,
)
from dy2st.targets.opu.quantiser.groups import Groups, constraint_groups
from dy2st.targets.opu.quantiser.headroom import clamping_errors, floor_loss, may_clamp
from dy2st.targets.opu.quantiser.report import QuantisationReport, measured
from dy2st_runtime.errors import ArgumentError

MODES = ("mse", "max", "seed")
"""Least squared error over a group; nothing clamped; the rule of the seed."""

_STEPS_DOWN = 4  # how many smaller fraction lengths are tried for room in partial sums
_BELOW = 8  # bits of a partial sum below an output's last one


def quantise(
    network: Network,
    inputs: Inputs,
    mode: str = "mse",
    *,
    headroom: bool = True,
    correct_bias: bool = True,
    keep: int = 2,
    on: str | Path | Machine = "opu1024",
) -> QuantisationReport:
    """Fill in fraction lengths and integers from calibration inputs; the report says how good.

    inputs        any number of samples of floats, (h, w, c) or (n, h, w, c); tuples of arrays if
                  the network has several inputs.
    mode          "mse", "max" or "seed", see MODES. Only "seed" ties and chooses as the known tool
                  chain does, without headroom and correction.
    headroom      try smaller fraction lengths where partial sums are clamped.
    correct_bias  add to the bias what rounding down takes away on average.
    keep          how many inputs are kept for headroom and for the report's figures.

    On an error the Network is as it was.
    """
    if mode not in MODES:
        raise ArgumentError(f"there is no mode {mode!r}; there are {', '.join(MODES)}")
    target = machine(on)
    found = calibrate(network, inputs, max(keep, 1))
    planner = Planner(network, found, mode, target)
    if headroom and mode != "seed":
        planner.make_room()
    copy = planner.quantised_copy(correct_bias and mode != "seed")
    report = measured(copy, found.kept, mode, found.count, target)
    for layer, new in zip(network.layers, copy.layers, strict=True):
        for name in ("input", "output", "weight", "bias"):
            setattr(layer, f"{name}_fraclen", getattr(new, f"{name}_fraclen"))
    network.int_weights, network.int_biases = copy.int_weights, copy.int_biases
    return report


class Planner:
    """Fraction lengths of groups, weights and biases, on the way to be legal."""

    def __init__(self, network: Network, found: Calibration, mode: str, target: Machine) -> None:
        self.network, self.found, self.mode, self.target = network, found, mode, target
        self.groups = constraint_groups(network, seed=mode == "seed")
        self.weighted = [y for y in network.layers if y.has_weights]
        self.weights = {y.index: statistics(network.weights[y.index]) for y in self.weighted}
        self.biases = {y.index: statistics(network.biases[y.index], BIAS) for y in self.weighted}
        if self.mode == "seed":
            self.lengths = seed_lengths(self.network, self.found, self.groups)
        else:
            choose = self._of_least_error if self.mode == "mse" else self._largest
            self.lengths = [choose(group) for group in range(len(self.groups))]
        self._make_legal()

    # -- features ---------------------------------------------------------------------------

    def members(self, group: int) -> list[Statistics]:
        """What a group's fraction length rounds, with the errors of outputs; not what is zero."""
        outputs = [i for kind, i in self.groups.members[group] if kind == "out"]
        found = [self.found.made.get(i, self.found.tensors[i]) for i in outputs]
        return [stats for stats in found if not stats.is_zero]

    def _largest(self, group: int) -> int:
        """The largest fraction length that clamps nothing, on the way to an output either."""
        inside = [s for (i, _), s in self.found.within.items() if self.groups.output(i) == group]
        members = self.members(group) + [stats for stats in inside if not stats.is_zero]
        lengths = [without_saturation(stats) for stats in members]
        return min(SEED_LAST, *lengths) if lengths else DEFAULT

    def _of_least_error(self, group: int) -> int:
        errors = [stats.errors for stats in self.members(group)]
        return least_error(np.sum(errors, axis=0), last=SEED_LAST) if errors else DEFAULT

    def _make_legal(self) -> None:
        """Lower what cannot be reached: an output too fine for its products, or for its bias."""
        for _ in range(len(self.groups) + 2):
            before = list(self.lengths)
            for layer in self.network.layers:
                source, target = self.groups.input(layer.index), self.groups.output(layer.index)
                if layer.type == LayerType.SCALE:
                    scale = self.groups.output(layer.scale_source[0])
                    self._lower(target, self.lengths[source] + self.lengths[scale] + 13)
                    self._lower(scale, self.lengths[target] + 17 - self.lengths[source])
                    continue
                if source == target:
                    continue
                if layer.type == LayerType.NONE:
                    self._lower(target, self.lengths[source] + 15)
                    self._lower(source, self.lengths[target] + 16)
                    continue
                if not self.weights[layer.index].is_zero:
                    wanted = self._parameter(self.weights[layer.index], (FIRST, LAST))
                    self._lower(target, self.lengths[source] + wanted + 13)
                if not self.biases[layer.index].is_zero:
                    self._lower(
                        target, self._parameter(self.biases[layer.index], (FIRST, LAST)) + 13
                    )
            if self.lengths == before:
                return

    def _lower(self, group: int, last: int) -> None:
        self.lengths[group] = max(min(self.lengths[group], last), FIRST)

    # -- partial sums -----------------------------------------------------------------------

    def make_room(self) -> None:
        """Give groups the smaller fraction length whose clamped partial sums cost less."""
        extra = np.zeros((len(self.groups), _STEPS_DOWN + 1))
        for kept in self.found.kept:
            values: dict[int, Array] = {-i: array for i, array in enumerate(kept)}
            for layer in self.network.layers:
                if layer.has_weights:
                    group = self.groups.output(layer.index)
                    fraclen = self.lengths[group]
                    if may_clamp(self.network, layer, values, fraclen):
                        others = [fraclen - step for step in range(1, _STEPS_DOWN + 1)]
                        now = clamping_errors(self.network, layer, values, [fraclen], self.target)
                        if now[0]:
                            rest = clamping_errors(self.network, layer, values, others, self.target)
                            extra[group] += np.array(now + rest)
                values[layer.index] = layer_stages(self.network, layer, values)[-1][1]
        extra *= self.found.count / self.found.kept_count
        for group, errors in enumerate(extra):
            if errors[0]:
                members = self.members(group)
                first = self.lengths[group]
                totals = [
                    sum(stats.error(max(first - step, FIRST)) for stats in members) + errors[step]
                    for step in range(_STEPS_DOWN + 1)
                ]
                self.lengths[group] = max(first - int(np.argmin(totals)), FIRST)
        self._make_legal()

    # -- parameters -------------------------------------------------------------------------

    def _parameter(self, stats: Statistics, legal: tuple[int, int]) -> int:
        """The fraction length of weights or of a bias, between two."""
        if stats.is_zero:
            best = DEFAULT
        elif self.mode == "mse":
            return least_error(stats.errors, *legal)
        elif self.mode == "max":
            best = without_saturation(stats)
        else:
            best = seed_rule(stats)
        return min(max(best, legal[0]), legal[1])

    def quantised_copy(self, correct_bias: bool) -> Network:
        """The Network with all that quantising adds."""
        copy = replace(
            self.network,
            layers=[replace(layer) for layer in self.network.layers],
            int_weights={},
            int_biases={},
        )
        for layer in copy.layers:
            layer.input_fraclen = self.lengths[self.groups.input(layer.index)]
            layer.output_fraclen = self.lengths[self.groups.output(layer.index)]
            if layer.type == LayerType.NONE:
                layer.weight_fraclen = layer.bias_fraclen = 0
            elif layer.type == LayerType.SCALE:
                layer.weight_fraclen = self.lengths[self.groups.output(layer.scale_source[0])]
                layer.bias_fraclen = layer.output_fraclen + _BELOW
            else:
                index = layer.index
                legal = legal_weights(layer.input_fraclen, layer.output_fraclen)
                layer.weight_fraclen = self._parameter(self.weights[index], legal)
                copy.int_weights[index] = quantised(copy.weights[index], layer.weight_fraclen)
                bias, stats = copy.biases[index], self.biases[index]
                loss = floor_loss(copy, layer, self.target) if correct_bias else 0.0
                if loss:
                    bias = (bias.astype(np.float64) + loss).astype(np.float32)
                    stats = statistics(bias, BIAS)
                first, last = legal_bias(layer.output_fraclen)
                # whole partial sums: a schedule may give them a pass of their own
                if self.mode != "seed":
                    last = layer.output_fraclen + _BELOW
                layer.bias_fraclen = self._parameter(stats, (first, last))
                copy.int_biases[index] = quantised(bias, layer.bias_fraclen, BIAS)
            check_legal(layer)
        return copy


def seed_lengths(network: Network, found: Calibration, groups: Groups) -> list[int]:
    """The fraction lengths of the groups as the known tool chain has them.

    A layer's input has the smallest of all it reads, residuals too; an output that nobody reads
    has its own. The first that is written to a group stays.
    """
    lengths: dict[int, int] = {}
    rules = {producer: seed_rule(stats) for producer, stats in found.tensors.items()}
    for layer in network.layers:
        read = [rules[source] for source in (*layer.input_layer, *layer.residual_source)]
        lengths.setdefault(groups.input(layer.index), min(read))
    for producer, length in rules.items():
        lengths.setdefault(groups.output(producer), length)
    return [lengths[group] for group in range(len(groups))]


__all__ = ["MODES", "Planner", "quantise", "seed_lengths"]
