"""What `dy2st opu` does: compile, run, estimate, inspect, disasm, quantise.

This is loaded by `cli_opu.py` when one of them is called.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.model_files import BadInput
from dy2st.opu_inputs import Source, one_by_one, random_samples, read_samples, read_source
from dy2st.passes.core.module import Array
from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.compiled_file import (
    NAME,
    CompiledFolder,
    read_compiled,
    write_compiled,
    write_report,
)
from dy2st.targets.opu.debug_map import DebugMap
from dy2st.targets.opu.disassemble import disassemble
from dy2st.targets.opu.enhance import enhance
from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.gen_ir import Generated, gen_ir
from dy2st.targets.opu.host import as_images, run_tail
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.ir_file import NAME as IR_NAME
from dy2st.targets.opu.ir_file import read_ir, write_ir
from dy2st.targets.opu.layer import LayerType
from dy2st.targets.opu.machine import Machine, machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.packing import pack
from dy2st.targets.opu.quantiser import QuantisationReport, dequantised, quantised_inputs
from dy2st.targets.opu.quantiser.progress import shown
from dy2st.targets.opu.report import Report, Totals, as_table, report_of
from dy2st.targets.opu.report.shapes import described, products
from dy2st.targets.opu.report.tables import shape_text, shortened
from dy2st.targets.opu.sizes import input_size, tensor_size
from dy2st.targets.opu.steps import lower
from dy2st.targets.opu.unmapped import UnmappedError
from dy2st.targets.opu.validate import weight_shape
from dy2st.targets.opu.words import fetch_times
from dy2st_runtime.errors import FormatError
from dy2st_runtime.files import replacing

OK, DIFFERENT = 0, 1
_FIGURES = ("own_snr", "snr", "cosine")


@dataclass(frozen=True)
class Layers:
    """A file of layers, without their arrays."""

    title: str
    path: Path


def _note(text: str) -> None:
    print(f"dy2st: note: {text}", file=sys.stderr)


def _shows_progress() -> bool:
    return sys.stderr.isatty()


def _stage(text: str) -> None:
    """What takes its time now, for somebody who looks on."""
    if _shows_progress():
        print(f"{text} ...", file=sys.stderr, flush=True)


# -- from a model to a network --------------------------------------------------------------------


def _source(options: argparse.Namespace, needs_arrays: bool = True) -> Source:
    source = read_source(options.model, options.program, options.dim, needs_arrays)
    for text in source.notes:
        _note(text)
    return source


def _samples(options: argparse.Namespace, source: Source) -> list[Any]:
    if bool(options.calib) == bool(options.random_calib):
        raise BadInput(
            f"{options.command} needs calibration data: --calib images.npy, or --random-calib 4 "
            "where only times are of interest; not both"
        )
    if options.calib:
        rows = one_by_one(read_samples(options.calib, source.inputs))
    else:
        rows = random_samples(source.inputs, options.random_calib)
        images = _counted(options.random_calib, "image")
        _note(
            f"calibrated with {images} of random numbers: times are right, "
            "accuracy on real data is not; --calib takes real ones"
        )
    return [tuple(row) for row in rows]


def _quantised(options: argparse.Namespace, source: Source, on: Machine) -> Generated:
    made = _generated(options, source, on, _samples(options, source))
    for text in made.network.notes:
        _note(text)
    return made


def _generated(
    options: argparse.Namespace, source: Source, on: Machine, samples: Sequence[Any]
) -> Generated:
    """The network; without samples it is not quantised."""
    how: dict[str, Any] = {"unmapped": options.unmapped, "leaky": options.leaky, "on": on}
    how["symmetric"] = getattr(options, "padding", "exact") == "symmetric"
    if samples:
        how |= {"mode": options.calib_mode, "keep": options.measure, "progress": _shows_progress()}
    try:
        return gen_ir(source.module(), samples, quantize=bool(samples), **how)
    except UnmappedError as error:
        raise BadInput(str(error).replace("unmapped='host'", "--unmapped host")) from None


def _report(
    model: CompiledModel, title: str, quantisation: QuantisationReport | None = None
) -> Report:
    ready = model.prepared
    figures = {
        layer.index: {
            name: float(getattr(layer, name))
            for name in _FIGURES
            if np.isfinite(getattr(layer, name))
        }
        for layer in (quantisation.layers if quantisation else [])
    }
    report = report_of(
        model.network,
        model.machine,
        model.operations,
        ready.timeline,
        fetch_times(ready.blocks),
        figures,
        title,
    )
    return report


def _both_ways(model: CompiledModel, report: Report) -> Report:
    """With the totals of the other `psum_waits`; the public tool chain's schedule always waits."""
    return replace(report, other=_other_totals(model)) if model.mode == "own" else report


def _other_totals(model: CompiledModel) -> Totals:
    """Those of the same network where `psum_waits` is the other one."""
    on = model.machine.but(psum_waits=1 - model.machine.psum_waits)
    other = compile_network(model.network, on, model.mode)
    fetch = fetch_times(other.prepared.blocks)
    return report_of(other.network, on, other.operations, other.prepared.timeline, fetch).totals


# -- compile --------------------------------------------------------------------------------------


def compile_(options: argparse.Namespace) -> int:
    """`dy2st opu compile`."""
    source, on = _source(options), machine(options.machine)
    folder = options.output or f"{source.title}.opu"
    network, quantisation = _quantised(options, source, on)
    _stage("compiling")
    model = compile_network(network, on, options.mode)
    report = _both_ways(model, _report(model, source.title, quantisation))
    _stage("writing")
    compiled = CompiledFolder(source.title, model, source.inputs)
    names = write_compiled(folder, compiled, report, quantisation)
    sys.stdout.write(as_table(report))
    print(f"\nwritten to {folder}: {len(names)} files and folders; report.html shows the figures")
    return OK


# -- run ------------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> int:
    """`dy2st opu run`."""
    compiled = read_compiled(options.folder)
    model = compiled.model
    images = one_by_one(read_samples(options.input, compiled.inputs))
    integers = [quantised_inputs(model.network, as_images(model.network, x)) for x in images]
    made = _executed(model, integers)
    outputs = _outputs(model.network, _real(model.network, made), images)
    folder = Path(options.output or Path(options.folder) / "outputs")
    _write_outputs(folder, outputs, made if options.raw else {})
    cycles = model.prepared.timeline.cycles
    milliseconds = 1e3 * cycles / model.machine.clock_hz
    said = f"{cycles} cycles, {milliseconds:.3f} ms on {model.machine.name}"
    print(f"{compiled.title}: {_counted(len(images), 'image')}, each {said}")
    for place, output in enumerate(outputs):
        print(f"  output_{place}.npy  {output.dtype} {list(output.shape)}  {_range(output)}")
    print(f"written to {folder}")
    status = OK
    if "ir" in options.check:
        status = max(status, _check_ir(model, integers, made))
    if "float" in options.check:
        _check_float(model.network, images, outputs)
    return status


def _executed(model: CompiledModel, integers: Sequence[list[Array]]) -> dict[int, Array]:
    """What the layers of the outputs make of all images, int8 (n, h, w, c), by the binary."""
    rows = shown(integers, "executing", _shows_progress() and len(integers) > 1, len(integers))
    runs = [model.run(arrays) for arrays in rows]
    columns = zip(*runs, strict=True)
    return {
        index: np.concatenate(column)
        for index, column in zip(model.network.outputs, columns, strict=True)
    }


def _real(network: Network, made: dict[int, Array]) -> list[Array]:
    return [dequantised(made[i], network.layer(i).output_fraclen) for i in network.outputs]


def _outputs(network: Network, made: list[Array], images: Sequence[Sequence[Any]]) -> list[Array]:
    """The model's outputs, from what the layers make."""
    inputs = [np.concatenate(column) for column in zip(*images, strict=True)]
    return run_tail(network, made, inputs)


def _write_outputs(folder: Path, outputs: Sequence[Array], raw: dict[int, Array]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {f"output_{place}.npy": output for place, output in enumerate(outputs)}
    arrays |= {f"layer_{index}.npy": array for index, array in raw.items()}
    with replacing(*(folder / name for name in arrays)) as temporary:
        for file, array in zip(temporary, arrays.values(), strict=True):
            np.save(file, array)


def _range(array: Array) -> str:
    return f"{array.min():.4g} to {array.max():.4g}" if array.size else "empty"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _check_ir(model: CompiledModel, integers: list[list[Array]], made: dict[int, Array]) -> int:
    """Whether the interpreter of the layers says the same."""
    status = OK
    wanted = [interpret(model.network, arrays, machine=model.machine) for arrays in integers]
    for index, array in made.items():
        expected = np.concatenate([values[index] for values in wanted])
        wrong = int((expected != array).sum())
        place = f"check ir: layer {index}, {array.size} numbers:"
        print(f"{place} {'equal' if not wrong else f'{wrong} differ'}")
        status = max(status, DIFFERENT if wrong else OK)
    return status


def _check_float(
    network: Network, images: Sequence[Sequence[Array]], outputs: Sequence[Array]
) -> None:
    """How far the outputs are from those in real numbers."""
    runs = [run_float(network, as_images(network, arrays)) for arrays in images]
    made = [np.concatenate([values[index] for values in runs]) for index in network.outputs]
    for place, (wanted, got) in enumerate(
        zip(_outputs(network, made, images), outputs, strict=True)
    ):
        exact, found = wanted.astype(np.float64), got.astype(np.float64)
        noise, signal = float(((found - exact) ** 2).sum()), float((exact**2).sum())
        ratio = "exact" if not noise else f"{10 * np.log10(max(signal, 1e-300) / noise):.1f} dB"
        said = f"signal to noise {ratio}, largest difference {abs(found - exact).max():.4g}"
        if exact.ndim == 2 and exact.shape[1] > 1:
            same = int((exact.argmax(1) == found.argmax(1)).sum())
            said += f", largest element the same in {same} of {len(exact)}"
        print(f"check float: output {place}: {said}")


# -- estimate -------------------------------------------------------------------------------------


def estimate(options: argparse.Namespace) -> int:
    """`dy2st opu estimate`."""
    on = machine(options.machine)
    layers = _layers_of(options)
    source = layers or _source(options, needs_arrays=False)
    axes = [[(name, value) for value in values] for name, values in options.sweep]
    names = [name for name, _ in options.sweep]
    if len(set(names)) != len(names):
        raise BadInput("--sweep names something twice: give all its values at once")
    is_calibrated = options.calib or options.random_calib
    samples = _samples(options, source) if is_calibrated and isinstance(source, Source) else []
    options.notes = set()
    if not axes:
        report = _both_ways(*_estimated(source, on, options, samples))
        sys.stdout.write(as_table(report))
        if options.output:
            names = write_report(options.output, report)
            print(f"\nwritten to {options.output}: {', '.join(names)}")
        _say_notes(options)
        return OK
    if options.output:
        raise BadInput("-o writes the report of one machine: leave out --sweep, or it")
    points = list(itertools.product(*axes))
    rows = [
        _sweep_row(source, on, dict(point), options, samples)
        for point in shown(points, "estimating", _shows_progress(), len(points))
    ]
    heads = (*names, "cycles", "ms", "frames/s", "GOPS", "of", "RME", "GB/s", "words")
    print(f"{source.title} on {on.name}, {options.mode} mode")
    sys.stdout.write(_table([heads, *rows]))
    if "macs" in names and "weight_rows" not in names:
        options.notes.add(
            "a bank of weights keeps its bytes: weight_rows goes down as macs goes up"
        )
    _say_notes(options)
    return OK


def _say_notes(options: argparse.Namespace) -> None:
    for text in sorted(options.notes):
        _note(text)


def _layers_of(options: argparse.Namespace) -> Layers | None:
    """Layers in a folder or file, if that is what is estimated."""
    path = Path(options.model)
    if not path.is_dir() and (path.suffix != ".json" or not path.is_file()):
        return None
    path = path / IR_NAME if path.is_dir() else path
    if options.calib or options.random_calib:
        raise BadInput(f"{path} has its fraction lengths: calibration data goes with a saved model")
    return Layers(path.absolute().parent.name if path.name == IR_NAME else path.stem, path)


def _estimated(
    source: Source | Layers, on: Machine, options: argparse.Namespace, samples: Sequence[Any]
) -> tuple[CompiledModel, Report]:
    """A program and its figures, with numbers that are made up without samples."""
    if isinstance(source, Layers):
        network = read_ir(source.path, arrays=False)
        enhance(network, on)
    else:
        network, _ = _generated(options, source, on, samples)
    if not samples:
        _make_up(network, has_lengths=isinstance(source, Layers))
    model = compile_network(network, on, options.mode)
    if not samples and options.mode == "own" and _could_pack(model):
        options.notes.add(_PACKED + _DECIDED * isinstance(source, Source))
    return model, _report(model, source.title)


_PACKED = (
    "fraction lengths and biases are assumed: with others, pixels of layers with few output "
    "channels may go side by side, which is faster"
)
_DECIDED = "; --calib or --random-calib 1 decides it as compile does"


def _make_up(network: Network, has_lengths: bool) -> None:
    """Integers with which pixels do not go side by side: no other number changes times."""
    for layer in network.layers:
        if not has_lengths:
            layer.input_fraclen = layer.output_fraclen = 4
            layer.weight_fraclen = 4 if layer.type == LayerType.SCALE else 9
            layer.bias_fraclen = 15
        if layer.has_weights:
            shape = weight_shape(layer)
            network.int_weights[layer.index] = np.zeros(shape, np.int8)
            network.int_biases[layer.index] = np.ones(shape[3], np.int16)


def _could_pack(model: CompiledModel) -> bool:
    """Whether other biases would let more pixels go side by side."""
    network = replace(
        model.network, int_biases={i: 0 * b for i, b in model.network.int_biases.items()}
    )
    other = lower(network)
    pack(other, model.machine)
    pairs = zip(other.steps, model.lowered.steps, strict=True)
    return any(one.across != own.across for one, own in pairs)


def _sweep_row(
    source: Source | Layers,
    on: Machine,
    changes: dict[str, float],
    options: argparse.Namespace,
    samples: Sequence[Any],
) -> tuple[str, ...]:
    totals = _estimated(source, _changed(on, changes), options, samples)[1].totals
    figures = (
        str(totals.cycles),
        f"{totals.milliseconds:.3f}",
        f"{totals.frames_per_second:.2f}",
        f"{totals.gops:.1f}",
        f"{totals.peak_gops:.1f}",
        f"{totals.efficiency:.3f}",
        f"{totals.bandwidth:.2f}",
        str(totals.words),
    )
    return (*(f"{value:g}" for value in changes.values()), *figures)


def _changed(on: Machine, changes: dict[str, float]) -> Machine:
    """The machine with other values; BadInput for a name that it does not have."""
    kinds = {entry.name: str(entry.type) for entry in fields(Machine) if entry.name != "name"}
    values: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in kinds:
            raise BadInput(f"--sweep {name}: a machine has no such number; it has {_names(kinds)}")
        if kinds[name] == "int" and value != int(value):
            raise BadInput(f"--sweep {name}: {value:g} is no whole number")
        values[name] = int(value) if kinds[name] == "int" else value
    if values.get("macs") and "weight_rows" not in values:
        values["weight_rows"] = max(1, on.weight_rows * on.macs // values["macs"])
    return replace(on, **values)


def _names(names: Iterable[str]) -> str:
    return ", ".join(names)


def _table(rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        texts = (c.ljust(w) if place in left else c.rjust(w) for place, (c, w) in cells)
        lines.append("  ".join(texts).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines) + "\n"


# -- inspect --------------------------------------------------------------------------------------


def inspect(options: argparse.Namespace) -> int:
    """`dy2st opu inspect`."""
    path = Path(options.model)
    if path.is_dir():
        return _inspect_folder(path)
    if path.suffix == ".json" and path.is_file():
        _print_layers(path.stem, read_ir(path, arrays=False))
        return OK
    source = _source(options, needs_arrays=False)
    how = {"quantize": False, "on": machine(options.machine), "leaky": options.leaky}
    unmapped: list[str] = []
    try:
        network, _ = gen_ir(source.module(), unmapped="refuse", **how)
    except UnmappedError as error:
        unmapped = [str(entry) for entry in error.entries]
        print(f"{_counted(len(unmapped), 'operator')} that no layer computes:")
        print("".join(f"  {text}\n" for text in unmapped))
        network, _ = gen_ir(source.module(), unmapped="host", **how)
        print("With --unmapped host they, and what follows, run on the host, and the layers are:\n")
    _print_layers(source.title, network)
    return DIFFERENT if unmapped else OK


def _inspect_folder(folder: Path) -> int:
    """A compiled folder, or one with OPU_IR.json, which needs no arrays here."""
    if (folder / NAME).exists():
        compiled = read_compiled(folder)
        model, words = compiled.model, len(compiled.model.words)
        _print_layers(compiled.title, model.network)
        print(
            f"for {model.machine.name}, {model.mode} mode: {len(model.operations)} operations in "
            f"{words} words, {model.prepared.timeline.cycles} cycles"
        )
        return OK
    if not (folder / IR_NAME).exists():
        raise BadInput(f"{folder} has neither {NAME} nor {IR_NAME}")
    _print_layers(folder.absolute().name, read_ir(folder, arrays=False))
    return OK


def _print_layers(title: str, network: Network) -> None:
    heads = ("#", "layer", "operation", "from", "input", "output", "MMAC", *_LENGTHS, "line")
    rows = [heads, *(_layer_row(network, index) for index in range(1, len(network.layers) + 1))]
    empty = [p for p, column in enumerate(zip(*rows, strict=True)) if not any(column[1:])]
    kept = [tuple(c for p, c in enumerate(row) if p not in empty) for row in rows]
    left = [kept[0].index(name) for name in ("layer", "operation", "line") if name in kept[0]]
    sys.stdout.write(_table(kept, left))
    total = sum(products(network, layer) for layer in network.layers)
    weights = sum(prod(weight_shape(layer)) for layer in network.layers if layer.has_weights)
    print(
        f"\n{title}: {_counted(len(network.layers), 'layer')}, {total / 1e6:.2f} MMAC, "
        f"{weights} weights, outputs of {_layers_text(network.outputs)}"
    )
    for text in network.notes:
        print(f"note: {text}")
    if network.tail and network.tail.program.operators:
        names = [operator.name for operator in network.tail.program.operators]
        print(f"on the host: {', '.join(names)}")
    for place, (name, _) in network.epilogues.items():
        print(f"on the host, on output {place}: {name}")


_LENGTHS = ("in fl", "w fl", "b fl", "out fl")


def _layer_row(network: Network, index: int) -> tuple[str, ...]:
    layer = network.layer(index)
    lengths: tuple[str, ...] = ("", "", "", "")
    if network.int_weights or any(other.output_fraclen for other in network.layers):
        own = (layer.weight_fraclen, layer.bias_fraclen)
        inner = ("", "") if layer.type == LayerType.NONE else tuple(map(str, own))
        lengths = (str(layer.input_fraclen), *inner, str(layer.output_fraclen))
    sources = [_producer(i) for i in layer.input_layer]
    sources += [f"+{_producer(i)}" for i in layer.residual_source]
    return (
        str(index),
        shortened(layer.name),
        shortened(described(layer) + " (columns)" * bool(layer.enhanced)),
        " ".join(sources),
        shape_text(input_size(network, layer)),
        shape_text(tensor_size(network, index)),
        f"{products(network, layer) / 1e6:.2f}",
        *lengths,
        layer.location,
    )


def _producer(index: int) -> str:
    return str(index) if index > 0 else f"in{-index}"


def _layers_text(indices: Sequence[int]) -> str:
    return f"layer{'s' * (len(indices) > 1)} {', '.join(map(str, indices))}"


# -- disasm ---------------------------------------------------------------------------------------


def disasm(options: argparse.Namespace) -> int:
    """`dy2st opu disasm`."""
    path = Path(options.program)
    if path.is_dir():
        compiled = read_compiled(path)
        words, on, debug = compiled.model.words, compiled.model.machine, compiled.debug
    else:
        words, on, debug = _words(path), machine(options.machine), None
    lines = disassemble(words, on, debug).splitlines()
    if options.layer is not None:
        lines = _of_layer(lines, debug, options.layer)
    print("\n".join(lines))
    return OK


def _of_layer(lines: list[str], debug: DebugMap | None, layer: int) -> list[str]:
    """The lines of a layer; the first line is a title."""
    if debug is None:
        raise BadInput("--layer needs a compiled folder: a file of words knows no layers")
    own = debug.of_layer(layer)
    if not own:
        raise BadInput(f"the program has no operations of layer {layer}")
    return [lines[entry.block + 1] for entry in own]


def _words(path: Path) -> Array:
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    data = path.read_bytes()
    if len(data) % 4:
        raise FormatError(f"{path} has {len(data)} bytes: no whole number of 32-bit words")
    return np.frombuffer(data, "<u4").astype(np.uint32)


# -- quantise -------------------------------------------------------------------------------------


def quantise(options: argparse.Namespace) -> int:
    """`dy2st opu quantise`."""
    source, on = _source(options), machine(options.machine)
    network, report = _quantised(options, source, on)
    print(f"{source.title} for {on.name}\n{report}")
    if options.output:
        write_ir(network, options.output)
        print(f"\nwritten to {options.output}: {IR_NAME}, dump, dump_raw")
    return OK


COMMANDS = {
    "compile": compile_,
    "run": run,
    "estimate": estimate,
    "inspect": inspect,
    "disasm": disasm,
    "quantise": quantise,
}

__all__ = ["COMMANDS", "compile_", "disasm", "estimate", "inspect", "quantise", "run"]
