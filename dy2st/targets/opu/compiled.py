"""Compiles a Network to a program for the OPU, with its image of DRAM, ready to be run.

model = compile_network(network, machine("opu1024"))
model.run([x])           # int8 (n, h, w, c) in, a list of the network's outputs out
model.decisions[0]       # how layer 1 is cut, and what else was tried
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dy2st.targets.opu import sizes
from dy2st.targets.opu.buffers import Region
from dy2st.targets.opu.choice import Decision, choose
from dy2st.targets.opu.executable import check_executable
from dy2st.targets.opu.layout import (
    pack_bias,
    pack_depthwise,
    pack_features,
    pack_weights,
    unpack_features,
)
from dy2st.targets.opu.machine import CHANNELS, WORD, Machine
from dy2st.targets.opu.machine import machine as machine_of
from dy2st.targets.opu.network import Array, Network
from dy2st.targets.opu.operations import Operation
from dy2st.targets.opu.packing import pack
from dy2st.targets.opu.places import Places, place
from dy2st.targets.opu.schedule import Addresses, Scheduler, tap_slices
from dy2st.targets.opu.simulator import Execution, Prepared, prepare, simulate
from dy2st.targets.opu.steps import Lowered, Step, lower, need_borders
from dy2st.targets.opu.timing import Timeline, time_operations
from dy2st.targets.opu.words import encode
from dy2st_runtime.errors import ArgumentError, counted
from dy2st_runtime.lazy import cached_property

MODES = ("own", "compat")


@dataclass
class CompiledModel:
    """A program and what it needs.

    operations  in the order in which they are fetched; `words` are the same as bits.
    parameters  words of DRAM from 0 on: weights and biases.
    lowered     steps, tensors with their addresses, and what the host writes.
    decisions   how each step is cut, in the order of the steps.
    """

    network: Network
    machine: Machine
    mode: str
    operations: list[Operation]
    words: Array
    parameters: Array
    lowered: Lowered
    places: Places
    decisions: list[Decision] = field(default_factory=list)

    def image(self, inputs: Sequence[Array]) -> Array:
        """DRAM before the program, uint8 (words, 64), for one image: int8 (1, h, w, c)."""
        dram = np.zeros((self.places.words, WORD), np.uint8)
        dram[: len(self.parameters)] = self.parameters
        for entry in self.lowered.inputs:
            x = inputs[entry.index][0]
            if entry.columns_of:
                x = columns(self.network, entry.columns_of, x, entry.across)
            words = pack_features(x, entry.tensor.border)
            dram[entry.tensor.address : entry.tensor.address + len(words)] = words
        return dram

    def regions(self) -> list[Region]:
        """Who owns which words of DRAM, for the simulator's checks."""
        regions = [Region("parameters", 0, len(self.parameters), True, False)]
        end = len(self.parameters)
        for entry in self.lowered.inputs:
            tensor = entry.tensor
            regions.append(Region(tensor.name, tensor.address, tensor.words, True, False))
            end = max(end, tensor.address + tensor.words)
        return [*regions, Region("maps", end, self.places.words - end)]

    @cached_property
    def prepared(self) -> Prepared:
        """The words, read and timed."""
        return prepare(self.words, self.machine, is_compat=self.mode == "compat")

    def execute(self, inputs: Sequence[Array]) -> Execution:
        """Run the words on one image in the simulator."""
        origins = [operation.origin for operation in self.operations]
        return simulate(self.prepared, self.image(inputs), self.machine, self.regions(), origins)

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """The network's outputs int8 (n, h, w, c), one image after the other."""
        wanted = self.network.input_sizes
        if len(inputs) != len(wanted):
            raise ArgumentError(
                f"the network has {counted(len(wanted), 'input')}, not {len(inputs)}"
            )
        for index, (x, size) in enumerate(zip(inputs, wanted, strict=True)):
            if x.dtype != np.int8 or x.shape[1:] != tuple(size[1:]) or len(x) != len(inputs[0]):
                raise ArgumentError(
                    f"input {index} is int8 (n, {', '.join(map(str, size[1:]))}), "
                    f"not {x.dtype} {x.shape}"
                )
        every = []
        for number in range(len(inputs[0])):
            dram = self.execute([x[number : number + 1] for x in inputs]).dram
            found = []
            for index in self.network.outputs:
                tensor = self.lowered.tensors[index]
                words = dram[tensor.address : tensor.address + tensor.words]
                shape = (tensor.height, tensor.width, tensor.channels)
                found.append(unpack_features(words, shape, tensor.border))
            every.append(found)
        return [np.stack(images) for images in zip(*every, strict=True)]

    def time(self) -> Timeline:
        """When every operation begins and ends, without fetching."""
        return time_operations(self.operations, self.machine, is_compat=self.mode == "compat")

    @property
    def macs(self) -> int:
        """Useful multiplications of an image."""
        return sum(step.macs for step in self.lowered.steps)


def compile_network(
    network: Network, machine: Machine | str = "opu1024", mode: str = "own"
) -> CompiledModel:
    """A program for a quantised network.

    mode  "own": everything overlaps with everything; "compat": square tiles and one layer after the
          other, as in the public tool chain.

    Raises ArgumentError for a layer that fits in no tiling, and for integers or fraction lengths
    that are missing or do not fit.

    >>> from dy2st.targets.opu.gen_ir import gen_ir
    >>> net = dy2st.nn.Sequential(dy2st.nn.Conv2D(3, 4, 3, padding=1), dy2st.nn.ReLU()).eval()
    >>> traced = dy2st.to_static(net, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> image = np.random.default_rng(0).random((1, 3, 8, 8), "float32")
    >>> network, _ = gen_ir(traced, [image], on="opu1024")
    >>> model = compile_network(network, "opu1024")
    >>> [output.shape for output in model.run([np.zeros((1, 8, 8, 3), "int8")])]
    [(1, 8, 8, 4)]
    """
    if mode not in MODES:
        raise ArgumentError(f"mode is {mode!r}, there are {', '.join(MODES)}")
    opu = machine_of(machine)
    for layer in network.layers:
        check_executable(network, layer)
    lowered = lower(network)
    if mode == "own":
        pack(lowered, opu)
    need_borders(lowered)
    decisions = choose(lowered.steps, opu, mode == "compat")
    blocks, addresses = _parameters(lowered.steps, opu)
    parameters = np.concatenate(blocks) if blocks else np.zeros((0, WORD), np.uint8)
    pairs = [number for number, decision in enumerate(decisions) if decision.with_next]
    places = place(lowered, len(parameters), opu, pairs)
    work = [
        (step, decision.plan, at)
        for step, decision, at in zip(lowered.steps, decisions, addresses, strict=True)
    ]
    operations = Scheduler(opu, places, mode == "compat").run(work, pairs)
    words = encode(operations, opu)
    return CompiledModel(
        network, opu, mode, operations, words, parameters, lowered, places, decisions
    )


def _parameters(steps: list[Step], machine: Machine) -> tuple[list[Array], list[Addresses]]:
    """Words of all weights and biases, and where they are."""
    blocks: list[Array] = []
    found = []
    here = 0
    for step in steps:
        at = Addresses()
        found.append(at)
        for output in range(len(step.output_tiles) if step.kind != "copy" else 0):
            at.biases[output] = here
            if step.biases is None:
                raise ArgumentError(
                    f"layer {step.layer} has no integer biases: quantise the network first"
                )
            blocks.append(pack_bias(step.biases[output * CHANNELS : (output + 1) * CHANNELS]))
            here += len(blocks[-1])
            for source in step.sources_of(output) if step.scale is None else ():
                for taps in tap_slices(step, machine):
                    at.weights[output, source, taps.start] = here
                    if step.weights is None:
                        raise ArgumentError(f"layer {step.layer} has no weights")
                    tile = np.ascontiguousarray(step.weights(output, source, taps))
                    if step.kind == "depthwise":
                        blocks.append(pack_depthwise(tile[..., 0], machine))
                    else:
                        blocks.append(pack_weights(tile, machine))
                    here += len(blocks[-1])
    return blocks, found


def columns(network: Network, index: int, x: Array, across: int = 1) -> Array:
    """The windows of an enhanced layer as channels: c ascending, r and s descending.

    With `across`, one window is that of so many outputs side by side.
    """
    layer = network.layer(index)
    top, bottom, left, right = sizes.border(network, layer)
    tall, wide = sizes.kernel_size(network, layer)
    height, width = sizes.multiplied_size(network, layer)
    _, step_y, step_x = layer.ker_stride
    _, by_y, by_x = layer.dilation
    x = np.pad(x, ((top, bottom), (left, right), (0, 0)))
    wide, width, step_x = wide + (across - 1) * step_x, width // across, step_x * across
    rows, ends = (height - 1) * step_y + 1, (width - 1) * step_x + 1
    taps = [
        x[r * by_y :, s * by_x :][:rows:step_y, :ends:step_x]
        for r in reversed(range(tall))
        for s in reversed(range(wide))
    ]
    return np.stack(taps, axis=-1).reshape(height, width, -1)


__all__ = ["MODES", "CompiledModel", "columns", "compile_network"]
