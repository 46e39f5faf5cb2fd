"""Generates the OPU's layers from a Program, quantised, as a Network and as a folder.

network, report = gen_ir(program, calibration=images, state=arrays, folder="out")

pipeline("opu") -> SkipOutputSoftmax -> group -> enhance -> quantise -> post-padding -> write
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from dy2st.jit.save_load import alone, for_file
from dy2st.jit.static_function import StaticFunction
from dy2st.passes.core.base import ModulePass
from dy2st.passes.core.context import PassContext
from dy2st.passes.core.info import PassInfo
from dy2st.passes.core.module import Module, as_module
from dy2st.passes.core.registry import register
from dy2st.passes.peephole import SkipOutputSoftmax
from dy2st.passes.pipelines import pipeline
from dy2st.targets.opu.batch import batch_of, one_image
from dy2st.targets.opu.canonical import post_padding, skip_pool_padding
from dy2st.targets.opu.enhance import enhance
from dy2st.targets.opu.grouping import group
from dy2st.targets.opu.host import as_images
from dy2st.targets.opu.ir_file import write_ir
from dy2st.targets.opu.machine import Machine, machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.quantiser import QuantisationReport, quantise
from dy2st.targets.opu.validate import check
from dy2st_runtime import nn
from dy2st_runtime.errors import ArgumentError, DTypeError, ShapeError
from dy2st_runtime.ir import Program


class Generated(NamedTuple):
    """What gen_ir gives: the report is None of a Network that is not quantised."""

    network: Network
    report: QuantisationReport | None


def gen_ir(
    program: Program | Module | StaticFunction | nn.Layer,
    calibration: Iterable[Any] = (),
    *,
    state: Mapping[str, Any] | None = None,
    name: str = "",
    quantize: bool = True,
    use_post_padding: bool = True,
    symmetric: bool = False,
    folder: str | Path | None = None,
    optimized: bool = False,
    unmapped: str = "refuse",
    leaky: str = "approximate",
    on: str | Path | Machine | None = "opu1024",
    columns: str = "host",
    **how: Any,
) -> Generated:
    """The Network of a Program, quantised with calibration inputs, and its report.

    program       with `state`, its arrays by name; or a Module that has both; or what to_static
                  gave for an InputSpec, a function or a layer.
    calibration   inputs as the model takes them: arrays, or tuples of them if it has several.
    name          which Program of a Module, if it has several.
    symmetric     store as many zeros on all four sides: the public simulator wants it so.
    folder        where OPU_IR.json and its arrays are written; nothing is, if anything fails.
    optimized     whether the passes of the pipeline `opu` have run already.
    unmapped      "refuse" or "host", and `leaky`: see `group`.
    on            the machine that it is for: where windows of an input go through it as channels
                  is decided before quantising, as it is part of the result. None: nowhere.
    columns       "host": where it is faster, the host stores the windows of an input as channels,
                  which is im2col; "none": nowhere.
    how           more for `quantise`: mode, headroom, correct_bias, ...

    >>> net = dy2st.nn.Sequential(dy2st.nn.Conv2D(3, 4, 3, padding=1), dy2st.nn.ReLU()).eval()
    >>> traced = dy2st.to_static(net, [dy2st.static.InputSpec([1, 3, 8, 8])])
    >>> image = np.random.default_rng(0).random((1, 3, 8, 8), "float32")
    >>> network, report = gen_ir(traced, [image], on="opu1024")
    >>> [(one.index, one.output_size) for one in network.layers]
    [(1, [1, 8, 8, 4])]
    """
    if columns not in ("host", "none"):
        raise ArgumentError(f"columns is {columns!r}, there are 'host' and 'none'")
    module, notes = _image_by_image(_module(program, state), name)
    if not optimized:
        module = pipeline("opu")(module)
    module = SkipOutputSoftmax(argmax=True)(module)
    network = group(module, name, unmapped=unmapped, leaky=leaky)
    network.notes = notes + network.notes
    report = None
    if on is not None:
        on = machine(on)
        if columns == "host":
            enhance(network, on)
        how |= {"on": on} if quantize else {}
    if quantize:
        samples = _samples(network, calibration)
        if not samples:
            raise ArgumentError("quantising needs calibration inputs; or set quantize=False")
        report = quantise(network, samples, **how)
    elif set(how) - {"on"}:
        raise ArgumentError(f"quantize is False: {', '.join(how)} has no meaning then")
    if use_post_padding:
        skip_pool_padding(network)
        post_padding(network, symmetric)
    check(network, quantize)
    if folder is not None:
        write_ir(network, folder)
    return Generated(network, report)


def _module(
    program: Program | Module | StaticFunction | nn.Layer, state: Mapping[str, Any] | None
) -> Module:
    if isinstance(program, nn.Layer):
        program = program.forward
        if not isinstance(program, StaticFunction):
            raise ArgumentError("the layer is not traced: to_static(layer, [InputSpec(...)]) does")
    if not isinstance(program, StaticFunction):
        return as_module(program, state)
    if state is not None:
        raise ArgumentError("`state` goes with a Program: a traced function has arrays of its own")
    traced = for_file([(program, program.concrete_program)])[0]
    return as_module(alone(traced), {n: t.array for n, t in traced.state.items()})


def _image_by_image(module: Module, name: str) -> tuple[Module, list[str]]:
    """The Programs for one image, and what the user should know of it."""
    names = [name] if name in module.programs else list(module.programs)
    counts = {batch_of(module.programs[own]) for own in names} - {1}
    programs = {own: one_image(module.programs[own]) for own in names}
    notes = [f"images go one by one, not {count} at a time" for count in sorted(counts)]
    return replace(module, programs={**module.programs, **programs}), notes


def _samples(network: Network, calibration: Iterable[Any]) -> list[Any]:
    """Calibration inputs as (n, h, w, c)."""
    found = []
    for number, sample in enumerate(calibration):
        arrays = sample if isinstance(sample, (tuple, list)) else (sample,)
        try:
            images = as_images(network, arrays)
        except (ArgumentError, DTypeError, ShapeError) as error:
            raise type(error)(f"calibration input {number}: {error}") from None
        found.append(images[0] if len(images) == 1 else tuple(images))
    return found


class GenIR(ModulePass):
    """gen_ir as the last pass of a pipeline: the Module stays, `result` has the Network.

    The passes of the pipeline `opu` go before it.
    """

    info = PassInfo("GenIR", 0, traceable=False, changes=False)

    def __init__(self, calibration: Iterable[Any] = (), **options: Any):
        """Take what `gen_ir` takes besides the Program."""
        self.calibration, self.options = calibration, options
        self.result: Generated | None = None

    def transform_module(self, module: Module, context: PassContext) -> Module:
        """The same Module."""
        options = {"optimized": True, **self.options}
        self.result = gen_ir(module, self.calibration, **options)
        return module


register("GenIR", GenIR)

__all__ = ["GenIR", "Generated", "gen_ir"]
