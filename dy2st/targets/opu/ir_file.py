"""Writes a Network as a folder, OPU_IR.json and its arrays, and reads it.

OPU_IR.json              one layer a line, with the known keys, and ours where they say something
network.json             inputs, outputs and what the host computes; files of others have none
host.mlir, host/         the Program of the host, and its constants
dump/weights_0.npy       of layer 1: (kh, kw, c / group, o), of a fully connected one the matrix
                         (o, c * h * w); float32, on the grid of its integers. Others may number
                         the layers that have weights alone: both are read
dump/bias_0.npy          (o,)
dump_raw/                the same before quantising
"""

from __future__ import annotations

import json
from copy import copy
from dataclasses import MISSING, asdict, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.targets.opu.canonical import local, unflatten
from dy2st.targets.opu.enhance import enhance_as_published
from dy2st.targets.opu.layer import Layer, LayerType
from dy2st.targets.opu.network import Array, Network, Tail
from dy2st.targets.opu.validate import check, check_layers, weight_shape
from dy2st_runtime.errors import FormatError, ParseError, VerifyError
from dy2st_runtime.files import temporary_folder
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ir.text.parser import parse_one

SCHEMA = "dy2st-opu-ir/1"
NAME = "OPU_IR.json"
_ENTRIES = (NAME, "network.json", "host.mlir", "host", "dump", "dump_raw")
OURS = ("name", "location", "activation_limit", "enhanced", "input_channels", "scale_source")
"""Keys that the known files do not have; left out where they have their default."""

KNOWN = tuple(entry.name for entry in fields(Layer) if entry.name not in OURS)
"""Keys that every line has."""

_DEFAULTS: dict[str, Any] = {
    entry.name: entry.default if entry.default_factory is MISSING else entry.default_factory()
    for entry in fields(Layer)
}
_LENGTHS = {"input_size": (2, 4), "output_size": (2, 4), "output_choice": (2,)}
_THREE = ("ker_size", "ker_stride", "pooling_size", "pooling_stride", "dilation")


# -- writing --------------------------------------------------------------------------------------


def write_ir(network: Network, folder: str | Path) -> Path:
    """Write a Network; the folder afterwards has all of it, or what it had before.

    FormatError if the Network is not valid.
    """
    is_quantised = bool(network.int_weights)
    check(network, is_quantised)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_folder(folder) as made:
        lines = [json.dumps(as_line(layer)) for layer in network.layers]
        (made / NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")
        _write_arrays(made / "dump_raw", network, network.weights, network.biases)
        if is_quantised:
            _write_arrays(made / "dump", network, *on_the_grid(network))
        facts: dict[str, Any] = {
            "schema": SCHEMA,
            "input_sizes": [list(size) for size in network.input_sizes],
            "input_orders": network.input_orders,
            "outputs": network.outputs,
            "epilogues": {str(i): [name, facts] for i, (name, facts) in network.epilogues.items()},
            "notes": network.notes,
            "host_inputs": network.tail.inputs if network.tail else [],
        }
        (made / "network.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        if network.tail is not None:
            (made / "host.mlir").write_text(str(network.tail.program), encoding="utf-8")
            (made / "host").mkdir()
            for key, array in network.tail.state.items():
                np.save(made / "host" / f"{key}.npy", array)
        old = made / "old"
        old.mkdir()
        for name in _ENTRIES:
            if (folder / name).exists():
                (folder / name).rename(old / name)
        # The file that others look for comes last.
        for name in reversed(_ENTRIES):
            if (made / name).exists():
                (made / name).rename(folder / name)
    return folder


def as_line(layer: Layer) -> dict[str, Any]:
    """The keys and values of a layer's line, in the form of the known files."""
    values = {key: _plain(value) for key, value in asdict(layer).items()}
    values["dilation"] = values["dilation"][1:]
    if layer.upsample <= 1:
        values["upsample_method"] = ""
    return {k: v for k, v in values.items() if k not in OURS or v != _DEFAULTS[k]}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [int(entry) for entry in value]
    return value if value is None or isinstance(value, (str, float)) else int(value)


def on_the_grid(network: Network) -> tuple[dict[int, Array], dict[int, Array]]:
    """The real numbers that integer weights and biases stand for."""
    weights, biases = {}, {}
    for index, array in network.int_weights.items():
        layer = network.layer(index)
        weights[index] = (array * 2.0**-layer.weight_fraclen).astype(np.float32)
        biases[index] = (network.int_biases[index] * 2.0**-layer.bias_fraclen).astype(np.float32)
    return weights, biases


def _write_arrays(
    folder: Path, network: Network, weights: dict[int, Array], biases: dict[int, Array]
) -> None:
    folder.mkdir()
    for index, array in weights.items():
        if network.layer(index).type == LayerType.FULLY_CONNECTED:
            array = array.transpose(3, 2, 0, 1).reshape(array.shape[3], -1)
        np.save(folder / f"weights_{index - 1}.npy", array)
        np.save(folder / f"bias_{index - 1}.npy", biases[index])


# -- reading --------------------------------------------------------------------------------------


def read_ir(place: str | Path, arrays: bool = True) -> Network:
    """The Network of a folder, or of a file of layers, validated.

    Without `arrays` there are no weights and biases, and none need be there.
    FormatError names the line and key that are wrong, or the array that is missing.
    """
    path = Path(place) / NAME if Path(place).is_dir() else Path(place)
    folder = path.parent
    if not path.is_file():
        raise FormatError(f"{folder} has no {path.name}")
    lines = _lines(path)
    network = Network([_layer(path, *entry) for entry in lines])
    try:
        _take_facts(network, folder)
        _complete(network)
        if not any(key in values for _, values in lines for key in OURS):
            enhance_as_published(network)
        # a note for every key that no layer of ours has, with its lines and its first value
        kinds = {entry.name for entry in fields(Layer)}
        found: dict[str, list[int]] = {}
        first: dict[str, Any] = {}
        for number, values in lines:
            for key in values:
                if key not in kinds:
                    found.setdefault(key, []).append(number)
                    first.setdefault(key, values[key])
        network.notes += [
            f"the key {key!r} means nothing here and is left out: line {numbers[0]}"
            + (f" and {len(numbers) - 1} more" if len(numbers) > 1 else "")
            + f", {first[key]!r:.40}"
            for key, numbers in found.items()
        ]
        is_quantised = (folder / "dump").is_dir()
        check_layers(network, is_quantised)
        if arrays:
            _read_arrays(network, folder, is_quantised)
        check(network, is_quantised)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None
    return network


def _lines(path: Path) -> list[tuple[int, dict[str, Any]]]:
    found = []
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise FormatError(f"{path} is no text") from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise FormatError(f"{path}, line {number} is no JSON: {error}") from None
        if not isinstance(values, dict):
            raise FormatError(f"{path}, line {number}: a layer is an object, not {line[:40]}")
        found.append((number, values))
    if not found:
        raise FormatError(f"{path} is empty")
    return found


def _layer(path: Path, number: int, values: dict[str, Any]) -> Layer:
    where = f"{path}, line {number}"
    kinds = {entry.name: str(entry.type) for entry in fields(Layer)}
    for key in values:
        # A key that others have is left out, with a note; one of ours with a slip would be lost.
        near = get_close_matches(key, OURS, n=1, cutoff=0.8) if key not in kinds else []
        if near and near[0] not in values:
            raise FormatError(f"{where}: a layer has no {key!r}; is {near[0]!r} meant?")
    values = {key: value for key, value in values.items() if key in kinds}
    for key in KNOWN:
        if key not in values:
            raise FormatError(f"{where}: {key!r} is missing")
    for key, value in values.items():
        if not _fits(value, kinds[key]):
            names = {"list[int]": "a list of integers", "int": "an integer", "str": "a text"}
            wanted = names.get(kinds[key], "a number or null")
            raise FormatError(f"{where}: {key} is {value!r}, {wanted} is expected")
        lengths = _LENGTHS.get(key, (1, 2, 3) if key in _THREE else ())
        lengths = (1, 2, 4) if key.endswith("padding_size") else lengths
        may_be_empty = _DEFAULTS[key] is not MISSING
        if lengths and len(value) not in lengths and (value or not may_be_empty):
            wanted = " or ".join(map(str, lengths))
            raise FormatError(f"{where}: {key} is {value!r}, {wanted} numbers are expected")
    return local(Layer(**{key: _said(key, value) for key, value in values.items()}))


def _said(key: str, value: Any) -> Any:
    """The value; the default where others leave a key empty because the layer does not have it."""
    is_empty = value in ([], "") or (key == "group" and value == 0)
    return copy(_DEFAULTS[key]) if is_empty and _DEFAULTS[key] is not MISSING else value


def _fits(value: Any, kind: str) -> bool:
    if kind == "list[int]":
        return isinstance(value, list) and all(_fits(entry, "int") for entry in value)
    if isinstance(value, bool):
        return False
    if kind == "float | None":
        return value is None or (isinstance(value, (int, float)) and np.isfinite(value))
    return isinstance(value, {"int": int, "str": str}[kind])


def _take_facts(network: Network, folder: Path) -> None:
    """Inputs and outputs: from our own file, or from the layers."""
    path = folder / "network.json"
    if not path.exists():
        network.outputs = [y.index for y in network.layers if -1 in y.output_layer]
        return
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["schema"] != SCHEMA:
            raise FormatError(f"network.json is of {facts['schema']!r}, {SCHEMA!r} is known")
        network.input_sizes = [_four(size) for size in facts["input_sizes"]]
        network.input_orders = [str(order) for order in facts["input_orders"]]
        network.outputs = [int(index) for index in facts["outputs"]]
        epilogues = facts["epilogues"].items()
        network.epilogues = {int(i): (str(name), dict(more)) for i, (name, more) in epilogues}
        network.notes = [str(note) for note in facts["notes"]]
        network.tail = _read_tail(folder, [int(place) for place in facts["host_inputs"]])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"network.json is damaged: {error!r}") from None


def _four(size: Any) -> tuple[int, int, int, int]:
    n, high, wide, channels = (int(entry) for entry in size)
    return n, high, wide, channels


def _read_tail(folder: Path, inputs: list[int]) -> Tail | None:
    path = folder / "host.mlir"
    if not path.exists():
        return None
    try:
        program = parse_one(path.read_text(encoding="utf-8"))
        verify(program)
    except (ParseError, VerifyError) as error:
        raise FormatError(f"host.mlir is damaged: {error}") from None
    state = {name: _array(folder / "host" / f"{name}.npy") for name in program.state}
    return Tail(program, state, inputs)


def _complete(network: Network) -> None:
    """What files of others leave out: channels of parts, sizes of inputs, padding given twice."""
    count = max(
        (-index for y in network.layers for index in y.input_layer if index <= 0), default=0
    )
    sizes = network.input_sizes or [(0, 0, 0, 0)] * (count + 1)
    for layer in network.layers:
        producers = [index for index in layer.input_layer if index <= len(network.layers)]
        if not producers:
            continue
        place = -producers[0]
        if place >= 0 and place < len(sizes) and not network.input_sizes:
            # the input without the padding that is in its size
            n, high, wide, channels = layer.input_size
            top, bottom, left, right = (
                layer.padding_size if layer.extra_pre_padding else (0, 0, 0, 0)
            )
            sizes[place] = n, high - top - bottom, wide - left - right, channels
        if not layer.input_channels:
            made = [network.layer(i).output_size[3] for i in producers if i > 0]
            layer.input_channels = made or [layer.input_size[3]]
        if place < 0:
            # a padding that the producer has stored already is not padded again
            producer = network.layer(producers[0])
            if producer.post_padding and layer.type != LayerType.TRANSPOSED:
                stored = zip(producer.post_padding_size, layer.pre_remove_padding_size, strict=True)
                if layer.padding_size == [there - skipped for there, skipped in stored]:
                    layer.padding_size = [0, 0, 0, 0]
        if layer.type == LayerType.FULLY_CONNECTED and producers == layer.input_layer:
            unflatten(network, layer)
    network.input_sizes = sizes
    if not network.input_orders:
        network.input_orders = ["NCHW"] * len(sizes)


def _read_arrays(network: Network, folder: Path, is_quantised: bool) -> None:
    has_raw = (folder / "dump_raw").is_dir()
    weighted = [layer for layer in network.layers if layer.has_weights]
    # the numbers in the names of arrays: of all layers, or of those with weights alone
    of_all = [layer.index - 1 for layer in weighted]
    there = {
        path.name
        for path in folder.joinpath("dump" if is_quantised else "dump_raw").glob("weights_*.npy")
    }
    of_weighted = list(range(len(weighted)))
    is_all = all(f"weights_{number}.npy" in there for number in of_all)
    is_weighted = all(f"weights_{number}.npy" in there for number in of_weighted)
    numbers = of_weighted if is_weighted and not is_all else of_all
    for layer, number in zip(weighted, numbers, strict=True):
        index = layer.index
        if is_quantised:
            weights, bias = _pair(folder / "dump", layer, number)
            network.int_weights[index] = _integers(
                weights, layer.weight_fraclen, 8, index, "weights"
            )
            network.int_biases[index] = _integers(bias, layer.bias_fraclen, 16, index, "bias")
        network.weights[index], network.biases[index] = (
            _pair(folder / "dump_raw", layer, number)
            if has_raw or not is_quantised
            else (weights, bias)
        )


def _pair(folder: Path, layer: Layer, number: int) -> tuple[Array, Array]:
    weights = _array(folder / f"weights_{number}.npy")
    bias = _array(folder / f"bias_{number}.npy")
    high, wide, channels, outputs = weight_shape(layer)
    if layer.type == LayerType.FULLY_CONNECTED and weights.ndim == 2:
        is_matrix = weights.shape == (outputs, channels * high * wide)
        shape = (outputs, channels, high, wide)
        weights = weights.reshape(shape).transpose(2, 3, 1, 0) if is_matrix else weights
    return np.ascontiguousarray(weights), bias.reshape(-1)


def _array(path: Path) -> Array:
    name = f"{path.parent.name}/{path.name}"
    if not path.is_file():
        raise FormatError(f"{name} is missing")
    try:
        array: Array = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise FormatError(f"{name} is no array: {error}") from None
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise FormatError(f"{name} has numbers that are not finite")
    return array


def _integers(array: Array, fraclen: int, bits: int, index: int, what: str) -> Array:
    """The integers of numbers on the grid of a fraction length."""
    exact = array.astype(np.float64) * 2.0**fraclen
    rounded = np.rint(exact)
    limit = 2 ** (bits - 1)
    if not np.array_equal(exact, rounded):
        raise FormatError(f"layer {index}: {what} in dump are no multiples of 2 ** -{fraclen}")
    if rounded.size and (rounded.min() < -limit or rounded.max() >= limit):
        raise FormatError(f"layer {index}: {what} in dump do not fit {bits} bits")
    return rounded.astype(f"int{bits}")


__all__ = ["KNOWN", "NAME", "OURS", "as_line", "on_the_grid", "read_ir", "write_ir"]
