"""Writes a compiled network as a folder that can be run from its files alone, and reads it.

compiled.json    the machine, the mode, and where inputs and outputs lie in DRAM; with the length
                 and checksum of every file that the program needs
program.bin      32-bit words, little-endian; program.lst is the same as text
dram.npy         uint8 (words, 64): weights and biases, from word 0 on
debug.json       a line for every block: source line, operator, layer, tile, words, cycles
OPU_IR.json ...  the layers and their arrays, see `ir_file.py`
report.*, trace.json, quantisation.*
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn
from zlib import crc32

import numpy as np

from dy2st.targets.opu.compiled import MODES, CompiledModel
from dy2st.targets.opu.debug_map import DebugMap, debug_map, load_debug_map
from dy2st.targets.opu.disassemble import disassemble
from dy2st.targets.opu.ir_file import read_ir, write_ir
from dy2st.targets.opu.machine import WORD, machine
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.operations import Origin
from dy2st.targets.opu.places import Places
from dy2st.targets.opu.quantiser import QuantisationReport
from dy2st.targets.opu.report import Report, as_chrome_trace, as_csv, as_json, as_page
from dy2st.targets.opu.sizes import tensor_size
from dy2st.targets.opu.steps import Input, Lowered, Tensor
from dy2st.targets.opu.words import decode
from dy2st_runtime.errors import ArgumentError, FormatError
from dy2st_runtime.files import temporary_folder

SCHEMA = "dy2st-opu-program/1"
NAME = "compiled.json"
_CHECKED = ("program.bin", "dram.npy", "debug.json", "OPU_IR.json", "network.json")
_NUMBERS = ("height", "width", "channels", "address")


@dataclass(frozen=True)
class Signature:
    """One input of the model: its name, and its shape for one image, without the batch."""

    name: str
    shape: tuple[int, ...]


@dataclass
class CompiledFolder:
    """What a folder holds: a model that runs, and what people want to know of it.

    inputs   as the model takes them.
    """

    title: str
    model: CompiledModel
    inputs: list[Signature] = field(default_factory=list)
    debug: DebugMap = field(default_factory=DebugMap)


# -- writing --------------------------------------------------------------------------------------


def write_compiled(
    folder: str | Path,
    compiled: CompiledFolder,
    report: Report,
    quantisation: QuantisationReport | None = None,
) -> list[str]:
    """Write a folder; afterwards it has all files, or those that it had. Their names.

    A folder that has other files keeps them. ArgumentError if it is a file, or has files of these
    names that are not from here.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"{folder} is a file; the name of a folder is wanted")
    if not folder.absolute().parent.is_dir():
        raise ArgumentError(f"there is no folder {folder.absolute().parent}")
    with temporary_folder(folder.absolute().parent) as made:
        new, old = made / "new", made / "old"
        new.mkdir()
        old.mkdir()
        _write_all(new, compiled, report, quantisation)
        names = sorted(
            (entry.name for entry in new.iterdir()), key=lambda name: (name == NAME, name)
        )
        if folder.exists():
            there = [name for name in names if (folder / name).exists()]
            if there and NAME not in there:
                shown = ", ".join(there)
                raise ArgumentError(
                    f"{folder} has {shown}, and is no compiled network: give another name"
                )
            # the manifest leaves first and comes last
            moves = [(folder, old, entry) for entry in reversed(names) if (folder / entry).exists()]
            moves += [(new, folder, entry) for entry in names]
            done: list[tuple[Path, Path, str]] = []
            try:
                for source, target, entry in moves:
                    (source / entry).rename(target / entry)
                    done.append((source, target, entry))
            except OSError:
                for source, target, entry in reversed(done):
                    (target / entry).rename(source / entry)
                raise
        else:
            new.rename(folder)
    return names


def _write_all(
    folder: Path, compiled: CompiledFolder, report: Report, quantisation: QuantisationReport | None
) -> None:
    model = compiled.model
    write_ir(model.network, folder)
    origins = [operation.origin for operation in model.operations]
    timeline = model.prepared.timeline
    compiled.debug = debug_map(model.words, model.machine, origins, model.network, timeline)
    (folder / "program.bin").write_bytes(model.words.astype("<u4").tobytes())
    np.save(folder / "dram.npy", model.parameters)
    texts = {
        "debug.json": compiled.debug.dump(),
        "program.lst": disassemble(model.words, model.machine, compiled.debug),
        **_report_files(report),
    }
    if quantisation is not None:
        texts["quantisation.json"] = json.dumps(quantisation.as_dict(), indent=1) + "\n"
        texts["quantisation.csv"] = quantisation.as_csv()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    facts = {
        "schema": SCHEMA,
        "title": compiled.title,
        "mode": model.mode,
        "machine": asdict(model.machine),
        "inputs": [{"name": x.name, "shape": list(x.shape)} for x in compiled.inputs],
        "dram_words": model.places.words,
        "feeds": [
            {
                "input": entry.index,
                "columns_of": entry.columns_of,
                "across": entry.across,
                "at": _tensor_facts(entry.tensor),
            }
            for entry in model.lowered.inputs
        ],
        "results": [
            {"layer": index, "at": _tensor_facts(model.lowered.tensors[index])}
            for index in dict.fromkeys(model.lowered.outputs)
        ],
        "files": {name: _sum_of(folder / name) for name in _CHECKED},
    }
    (folder / NAME).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _report_files(report: Report) -> dict[str, str]:
    return {
        "report.json": as_json(report),
        "report.csv": as_csv(report),
        "report.html": as_page(report),
        "trace.json": as_chrome_trace(report),
    }


def write_report(folder: str | Path, report: Report) -> list[str]:
    """Write the files of a report alone, into a folder that may be new. Their names."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = _report_files(report)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return list(files)


def _tensor_facts(tensor: Tensor) -> dict[str, Any]:
    numbers = {key: int(getattr(tensor, key)) for key in _NUMBERS}
    return {"name": tensor.name, **numbers, "border": [int(side) for side in tensor.border]}


def _sum_of(path: Path) -> list[int]:
    data = path.read_bytes()
    return [len(data), crc32(data)]


# -- reading --------------------------------------------------------------------------------------


def read_compiled(folder: str | Path) -> CompiledFolder:
    """The model of a folder, ready to be run.

    FormatError names the file that is missing, truncated, changed or of another kind.
    """
    folder = Path(folder)
    path = folder / NAME
    if not path.is_file():
        hint = "; `dy2st opu compile` makes one that has it"
        if not folder.exists():
            raise FormatError(f"there is no folder {folder}")
        raise FormatError(f"{folder} is no compiled network: it has no {NAME}{hint}")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is no JSON: {error}") from None
    if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
        found = facts.get("schema") if isinstance(facts, dict) else facts
        raise FormatError(f"{path} is of {str(found)[:40]!r}, {SCHEMA!r} is known")
    for name in _CHECKED:
        try:
            length, checksum = (int(number) for number in facts["files"][name])
        except (KeyError, TypeError, ValueError) as error:
            _damaged(folder, f"files: {error!r}")
        path = folder / name
        if not path.is_file():
            raise FormatError(f"{path} is missing: compile again")
        found = _sum_of(path)
        if found[0] < length:
            raise FormatError(f"{path} is truncated: {found[0]} of {length} bytes")
        if found != [length, checksum]:
            raise FormatError(f"{path} is not the file that belongs to this program: compile again")
    network = read_ir(folder)
    try:
        return _rebuilt(folder, facts, network)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        _damaged(folder, repr(error))


def _damaged(folder: Path, why: str) -> NoReturn:
    raise FormatError(f"{folder / NAME} is damaged: {why}") from None


def _rebuilt(folder: Path, facts: dict[str, Any], network: Network) -> CompiledFolder:
    opu = machine(facts["machine"])
    words = np.frombuffer((folder / "program.bin").read_bytes(), "<u4").astype(np.uint32)
    parameters = np.load(folder / "dram.npy", allow_pickle=False)
    debug = load_debug_map((folder / "debug.json").read_text(encoding="utf-8"))
    operations = decode(words, opu)
    _demand(folder, facts["mode"] in MODES, f"the mode is {facts['mode']!r}")
    same = len(debug.entries) == len(operations)
    _demand(folder, same, f"{len(operations)} operations have {len(debug.entries)} entries")
    is_image = parameters.dtype == np.uint8 and parameters.shape[1:] == (WORD,)
    _demand(folder, is_image, f"dram.npy is {parameters.dtype} {list(parameters.shape)}")
    operations = [
        replace(operation, origin=Origin(entry.layer, entry.tile) if entry.layer else None)
        for operation, entry in zip(operations, debug.entries, strict=True)
    ]
    # Where inputs are written and outputs read.
    start = len(parameters)
    end = int(facts["dram_words"])
    feeds = [
        Input(
            int(entry["input"]),
            _tensor(entry["at"]),
            int(entry["columns_of"]),
            int(entry["across"]),
        )
        for entry in facts["feeds"]
    ]
    for entry in feeds:
        known = 0 <= entry.index < len(network.input_sizes)
        _demand(folder, known and 0 <= entry.columns_of <= len(network.layers), "feeds")
        if not entry.columns_of:
            _same_size(folder, entry.tensor, tuple(network.input_sizes[entry.index][1:]))
    tensors = {int(entry["layer"]): _tensor(entry["at"]) for entry in facts["results"]}
    _demand(folder, set(tensors) == set(network.outputs), f"results of layers {sorted(tensors)}")
    for index, tensor in tensors.items():
        _same_size(folder, tensor, tensor_size(network, index))
    for tensor in (*tensors.values(), *(entry.tensor for entry in feeds)):
        inside = start <= tensor.address and tensor.address + tensor.words <= end
        _demand(folder, inside, f"{tensor.name} does not lie in DRAM")
    lowered = Lowered(inputs=feeds, tensors=tensors, outputs=list(network.outputs))
    places = Places(int(facts["dram_words"]))
    model = CompiledModel(
        network, opu, facts["mode"], operations, words, parameters, lowered, places
    )
    inputs = [Signature(str(x["name"]), tuple(map(int, x["shape"]))) for x in facts["inputs"]]
    counts = len(inputs) == len(network.input_sizes)
    _demand(folder, counts, f"{len(inputs)} inputs, the network has {len(network.input_sizes)}")
    return CompiledFolder(str(facts["title"]), model, inputs, debug)


def _feed(facts: dict[str, Any]) -> Input:
    index, of, across = (int(facts[key]) for key in ("input", "columns_of", "across"))
    return Input(index, _tensor(facts["at"]), of, across)


def _tensor(facts: dict[str, Any]) -> Tensor:
    top, bottom, left, right = (int(side) for side in facts["border"])
    numbers = {key: int(facts[key]) for key in _NUMBERS}
    return Tensor(str(facts["name"]), border=(top, bottom, left, right), **numbers)


def _same_size(folder: Path, tensor: Tensor, wanted: tuple[int, ...]) -> None:
    found = (tensor.height, tensor.width, tensor.channels)
    _demand(folder, found == wanted, f"{tensor.name} is {found}, the layers say {wanted}")


def _demand(folder: Path, holds: bool, why: str) -> None:
    if not holds:
        _damaged(folder, why)


__all__ = ["NAME", "CompiledFolder", "Signature", "read_compiled", "write_compiled", "write_report"]
