"""Reads for the commands of `dy2st opu`: a model with its sizes as numbers, and arrays for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dy2st.model_files import BadInput, read_array_file, read_model, sound
from dy2st.passes import Module
from dy2st.passes.core.module import Array
from dy2st.static.freezing import freeze
from dy2st.targets.opu.compiled_file import Signature
from dy2st_runtime.dims import is_symbol, symbols
from dy2st_runtime.errors import counted
from dy2st_runtime.ir import Program

MAIN = "forward"
_RANDOM_SEED = 0


@dataclass(frozen=True)
class Source:
    """A Program whose sizes are numbers, with its arrays; `notes` are for the user."""

    title: str
    program: Program
    state: dict[str, Array]
    inputs: list[Signature]
    notes: list[str]

    def module(self) -> Module:
        """For passes."""
        return Module({self.program.name: self.program}, dict(self.state))


# -- models ---------------------------------------------------------------------------------------


def read_source(
    name: str, program: str | None, sizes: Sequence[tuple[str, int]], needs_arrays: bool = True
) -> Source:
    """The model of a name, with numbers for sizes; a batch that is open becomes 1.

    Without `needs_arrays` arrays that are not there are made up. BadInput says what is missing.
    """
    model = sound(read_model(name))
    notes: list[str] = []
    programs = {entry.name: entry for entry in model.programs}
    if program is None:
        program = MAIN if MAIN in programs else next(iter(programs))
        if len(programs) > 1 and program != MAIN:
            raise BadInput(f"{model.name} has {', '.join(programs)}: --program NAME says which")
    if program not in programs:
        raise BadInput(f"{model.name} has no Program {program!r}; it has {', '.join(programs)}")
    # Numbers for all sizes of inputs; an open batch is 1, as images go one by one.
    whole = programs[program]
    known = dict(sizes)
    for variable in whole.inputs:
        shape = variable.tensor_type.shape
        if shape and is_symbol(shape[0]) and str(shape[0]) not in known:
            known[str(shape[0])] = 1
    chosen = freeze(whole, **known) if known else whole
    for variable in chosen.inputs:
        left = sorted(map(str, symbols(variable.tensor_type.shape)))
        if left:
            raise BadInput(
                f"the size {left[0]!r} of {variable.name or 'an input'}, {variable.type}, is not "
                f"known: the OPU needs a number\n  instead: --dim {left[0]}=224, or "
                "dy2st.static.bucket before saving, for several sizes"
            )
    state = dict(model.arrays or {})
    missing = [entry for entry in chosen.state if entry not in state]
    if missing and needs_arrays:
        shown = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise BadInput(
            f"{name} lacks the arrays of {shown}: they stand in the file .safetensors that "
            "dy2st.jit.save writes beside the text"
        )
    if missing:
        notes.append(f"arrays are made up: {name} has none of its own; times do not depend on them")
        for entry in missing:
            kind = chosen.state[entry].tensor_type
            numbers = np.random.default_rng(_RANDOM_SEED).uniform(0.5, 1.0, kind.shape)
            state[entry] = np.asarray(numbers).astype(kind.dtype)
    inputs = [
        Signature(v.name or f"input {place}", tuple(int(size) for size in v.tensor_type.shape[1:]))
        for place, v in enumerate(chosen.inputs)
    ]
    title = Path(name).name.removesuffix(".mlir")
    return Source(title, chosen, state, inputs, notes)


# -- arrays ---------------------------------------------------------------------------------------


def random_samples(inputs: Sequence[Signature], count: int) -> list[list[Array]]:
    """Images of normal random numbers, the same each time."""
    numbers = np.random.default_rng(_RANDOM_SEED)
    return [
        [numbers.standard_normal((1, *entry.shape)).astype(np.float32) for entry in inputs]
        for _ in range(count)
    ]


def read_samples(names: Sequence[str], inputs: Sequence[Signature]) -> list[list[Array]]:
    """Arrays for every input of the model, float32 (n, ...), file by file.

    An .npy is one input: as many files as the model has inputs, and as many again, in turn. An
    .npz has an array for every input, by its name or in their order; for a model of one input, any
    number of arrays. BadInput names the file that does not fit.
    """
    rows: list[list[Array]] = []
    waiting: list[Array] = []
    for name in names:
        found = read_array_file(name)
        if isinstance(found, dict):
            _no_half(waiting, inputs, names)
            if len(inputs) == 1:
                rows += [
                    [_fitting(f"{name}: {key}", array, inputs[0])] for key, array in found.items()
                ]
            else:
                if len(found) != len(inputs):
                    raise BadInput(
                        f"{name} has {counted(len(found), 'array')}, "
                        f"the model {counted(len(inputs), 'input')}"
                    )
                by_name = {entry.name for entry in inputs} == set(found)
                keys = [entry.name for entry in inputs] if by_name else list(found)
                pairs = zip(keys, inputs, strict=True)
                rows += [[_fitting(f"{name}: {key}", found[key], entry) for key, entry in pairs]]
            continue
        waiting.append(_fitting(name, found, inputs[len(waiting)]))
        if len(waiting) == len(inputs):
            rows.append(waiting)
            waiting = []
    _no_half(waiting, inputs, names)
    for row in rows:
        if len({len(array) for array in row}) > 1:
            counts = ", ".join(str(len(array)) for array in row)
            raise BadInput(f"the inputs have different numbers of images: {counts}")
    return rows


def _fitting(name: str, array: Array, wanted: Signature) -> Array:
    """The array as float32 with a batch; BadInput for another shape, type or what is no number."""
    if array.dtype.kind not in "fiu":
        raise BadInput(f"{name} has elements of type {array.dtype}, not numbers")
    if array.shape == wanted.shape:
        array = array[None]
    if array.shape[1:] != wanted.shape or not len(array):
        shape = ", ".join(map(str, wanted.shape))
        channels_last = (*wanted.shape[1:], *wanted.shape[:1])
        is_channels_last = len(wanted.shape) == 3 and array.shape[1:] == channels_last
        raise BadInput(
            f"{name} has the shape {list(array.shape)}; {wanted.name} takes [n, {shape}]"
            + (": transpose(0, 3, 1, 2) puts channels first" if is_channels_last else "")
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        place = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
        raise BadInput(f"{name} has {array[tuple(place)]} at {place}")
    return array.astype(np.float32)


def _no_half(waiting: list[Array], inputs: Sequence[Signature], names: Sequence[str]) -> None:
    if waiting:
        shown = ", ".join(entry.name for entry in inputs)
        raise BadInput(
            f"{counted(len(names), 'file')} for the {counted(len(inputs), 'input')} {shown}: "
            "one each"
        )


def one_by_one(rows: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Every image alone."""
    return [
        [array[place : place + 1] for array in row] for row in rows for place in range(len(row[0]))
    ]


__all__ = [
    "MAIN",
    "Source",
    "one_by_one",
    "random_samples",
    "read_samples",
    "read_source",
]
