"""`dy2st opu run`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.passes.core.module import Array
from dy2st.targets.opu.commands.inputs import one_by_one, read_samples
from dy2st.targets.opu.commands.layer_files import signatures
from dy2st.targets.opu.commands.messages import DIFFERENT, OK, note
from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.compiled_file import NAME as MANIFEST
from dy2st.targets.opu.compiled_file import CompiledFolder, read_compiled
from dy2st.targets.opu.float_network import run_float
from dy2st.targets.opu.host import as_images, run_tail
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.ir_file import NAME as IR_NAME
from dy2st.targets.opu.ir_file import read_ir
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.quantiser import dequantised, quantised_inputs
from dy2st.targets.opu.quantiser.report import measured
from dy2st_runtime.errors import counted
from dy2st_runtime.files import replacing
from dy2st_runtime.progress import shown

_EXPLAINED = 4  # images that a warning is made of


def run(options: argparse.Namespace) -> int:
    """`dy2st opu run`."""
    compiled = _compiled(options)
    model = compiled.model
    images = one_by_one(read_samples(options.input, compiled.inputs))
    integers = [quantised_inputs(model.network, as_images(model.network, x)) for x in images]
    # what the layers of the outputs make of all images, int8 (n, h, w, c), by the binary
    rows = shown(integers, "executing")
    runs = [model.run(arrays) for arrays in rows]
    columns = zip(*runs, strict=True)
    made = {
        index: np.concatenate(column)
        for index, column in zip(model.network.outputs, columns, strict=True)
    }
    fractions = {i: model.network.layer(i).output_fraclen for i in model.network.outputs}
    real = [dequantised(made[i], fraction) for i, fraction in fractions.items()]
    outputs = _outputs(model.network, real, images)
    folder = Path(options.output or Path(options.folder) / "outputs")
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {f"output_{number}.npy": entry for number, entry in enumerate(outputs)}
    arrays |= {
        f"layer_{index}.npy": array for index, array in (made if options.raw else {}).items()
    }
    with replacing(*(folder / name for name in arrays)) as temporary:
        for file, array in zip(temporary, arrays.values(), strict=True):
            with file.open("wb") as opened:  # given a name, np.save would write to another one
                np.save(opened, array)
    cycles = model.prepared.timeline.cycles
    milliseconds = 1e3 * cycles / model.machine.clock_hz
    said = f"{cycles} cycles, {milliseconds:.3f} ms on {model.machine.name}"
    print(f"{compiled.title}: {counted(len(images), 'image')}, each {said}")
    for place, output in enumerate(outputs):
        span = f"{output.min():.4g} to {output.max():.4g}" if output.size else "empty"
        print(f"  output_{place}.npy  {output.dtype} {list(output.shape)}  {span}")
    print(f"written to {folder}")
    status = OK
    if "ir" in options.check:
        # whether the interpreter of the layers says the same
        wanted = [interpret(model.network, arrays, machine=model.machine) for arrays in integers]
        for index, array in made.items():
            expected = np.concatenate([values[index] for values in wanted])
            wrong = int((expected != array).sum())
            what = f"check ir: layer {index}, {array.size} numbers:"
            print(f"{what} {'equal' if not wrong else f'{wrong} differ'}")
            status = max(status, DIFFERENT if wrong else OK)
    if "float" in options.check:
        _check_float(model, images, outputs)
    return status


def _compiled(options: argparse.Namespace) -> CompiledFolder:
    """What is in the folder; layers are compiled for `options.machine`."""
    folder = Path(options.folder)
    if (folder / MANIFEST).exists() or not (folder / IR_NAME).exists():
        return read_compiled(folder)
    network = read_ir(folder)
    for text in network.notes:
        note(text)
    model = compile_network(network, options.machine)
    return CompiledFolder(folder.absolute().name, model, signatures(network))


def _outputs(network: Network, made: list[Array], images: Sequence[Sequence[Any]]) -> list[Array]:
    """The model's outputs, from what the layers make."""
    inputs = [np.concatenate(column) for column in zip(*images, strict=True)]
    return run_tail(network, made, inputs)


def _check_float(
    model: CompiledModel, images: Sequence[Sequence[Array]], outputs: Sequence[Array]
) -> None:
    """How far the outputs are from those in real numbers, and why, if that is far."""
    network = model.network
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
    some = [as_images(network, arrays) for arrays in images[:_EXPLAINED]]
    for text in measured(network, some, "", 0, model.machine).warnings():
        note(text)


__all__ = ["run"]
