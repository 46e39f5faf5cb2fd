"""Puts weights of another library into a Layer: other names, transposed matrices, what differs."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dy2st_runtime.checkpoint.loading import load
from dy2st_runtime.errors import ArgumentError, ParameterMismatch
from dy2st_runtime.nn import Layer, Linear
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.torch_arrays import is_of_torch

Array = np.ndarray[Any, Any]
Rename = (
    Mapping[str, str | None] | Sequence[tuple[str, str | None]] | Callable[[str], str | None] | None
)
_MOST_ROWS = 20


@dataclass(frozen=True)
class WeightsReport:
    """What `load_weights` did; as a text, one table of all that did not fit.

    `missing` are names of the Layer, `unexpected` and `left_out` of the state; `unfit` says for a
    name of the Layer what differs.
    """

    layer: str
    loaded: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    unfit: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    shapes: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def fits(self) -> bool:
        """Whether every tensor of the Layer has its value, and nothing was over."""
        return not (self.missing or self.unexpected or self.unfit)

    def note(self, name: str, problem: str) -> None:
        """Enter a tensor of the Layer as one that fits, or not."""
        if problem:
            self.unfit[name] = self.shapes[name] = problem
        else:
            self.loaded.append(name)

    def __str__(self) -> str:
        """The counts, and a row for each tensor that did not fit."""
        counts = [f"{len(self.loaded)} loaded"]
        for what in ("missing", "unexpected", "unfit", "left_out"):
            if getattr(self, what):
                counts.append(f"{len(getattr(self, what))} {_WORDS[what]}")
        rows = [
            (_WORDS[what], name, self.shapes.get(name, ""))
            for what in ("missing", "unexpected", "unfit")
            for name in getattr(self, what)
        ]
        lines = [f"weights of {self.layer}: {', '.join(counts)}"]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
        lines += [f"  {a:{widths[0]}}  {b:{widths[1]}}  {c}".rstrip() for a, b, c in rows]
        if len(lines) > _MOST_ROWS + 1:
            lines[_MOST_ROWS:] = [f"  and {len(lines) - _MOST_ROWS} more"]
        return "\n".join(lines)


_AS_TORCH = "square, and from a file of torch, which has it transposed: give transpose=True"
_WORDS = {
    "missing": "missing",
    "unexpected": "unexpected",
    "unfit": "unfit",
    "left_out": "left out",
}


def load_weights(
    layer: Layer,
    state: Mapping[str, Any] | str | os.PathLike[str] | io.BytesIO,
    *,
    prefix: str = "",
    rename: Rename = None,
    transpose: bool | Sequence[str] = False,
    strict: bool = True,
) -> WeightsReport:
    """Put the tensors of a state dict, or of a file that `load` reads, into a Layer.

    The names of the state become those of the Layer in two steps. `prefix`: names that begin with
    it lose it, all others are left out. `rename`: a dict of names, or a list of pairs (regular
    expression, replacement) that are applied one after the other, or a function of the name; None
    as the new name leaves a tensor out.

    torch keeps the matrix of a dense layer as (out, in), we and Paddle as (in, out):
    `transpose=True` transposes the weight of every `nn.Linear` inside; a list of regular
    expressions names the tensors of the Layer (whole names) whose last two axes are exchanged.

    Floats are cast to the dtype of the Layer, other dtypes must fit. If anything is missing, over,
    or of another shape, nothing is changed, and ParameterMismatch shows all of it in one table;
    `strict=False` loads what fits, and the report that is returned says the rest.

    >>> from dy2st_runtime import nn
    >>> layer = nn.Linear(2, 3)
    >>> state = {"fc.kernel": np.ones((3, 2)), "fc.bias": np.zeros(3), "step": np.array(7)}
    >>> names = [("kernel", "weight")]
    >>> print(load_weights(layer, state, prefix="fc.", rename=names, transpose=True))
    weights of Linear: 2 loaded, 1 left out
    """
    given = _tensors_of(state)
    own = layer.state_dict(use_hook=False)
    names, left_out = _named(given, prefix, rename)
    transposed = _transposed(layer, transpose, own)
    of_torch = layer.transposed_in_torch()
    report = WeightsReport(type(layer).__name__, left_out=left_out)
    values: dict[str, Array] = {}
    for name, source in names.items():
        value = given[source]
        array = value.array if isinstance(value, EagerTensor) else np.asarray(value)
        if name in own:
            if name in transposed and array.ndim > 1:
                array = np.ascontiguousarray(np.swapaxes(array, -1, -2))
            problem = _problem(own, name, array, values, name in transposed)
            is_wrong = is_of_torch(array) and id(own[name]) in of_torch
            report.note(name, problem or (_AS_TORCH if is_wrong else ""))
            values[name] = array
        else:
            report.unexpected.append(source)
            renamed = f", as {name}" * (name != source)
            report.shapes[source] = f"{list(array.shape)}{renamed}"
    _find_missing(report, own, values)
    if strict and not report.fits:
        raise ParameterMismatch(f"{report}\nstrict=False loads what fits")
    for name in report.loaded:
        own[name].set_value(values[name])
    return report


def _tensors_of(state: Any) -> Mapping[str, Any]:
    where = "the state"
    if isinstance(state, (str, os.PathLike, io.BytesIO)):
        where = "the buffer" if isinstance(state, io.BytesIO) else os.fspath(state)
        state = load(state)
    if not isinstance(state, Mapping):
        raise ArgumentError(f"{where} holds a {type(state).__name__}, not a dict of tensors")
    for name, value in state.items():
        if not isinstance(value, (EagerTensor, np.ndarray, np.generic)):
            raise ArgumentError(
                f"{where} is no dict of tensors alone: {name!r} is a {type(value).__name__}; take "
                "the part of it that is"
            )
    return state


# -- names ------------------------------------------------------------------------------------


def _named(
    given: Mapping[str, Any], prefix: str, rename: Rename
) -> tuple[dict[str, str], list[str]]:
    """The name in the state by the name in the Layer, and what is left out."""
    new_name = _renaming(rename)
    names: dict[str, str] = {}
    left_out: list[str] = []
    for source in given:
        name = new_name(source[len(prefix) :]) if source.startswith(prefix) else None
        if name is None:
            left_out.append(source)
        elif name in names:
            raise ArgumentError(f"rename gives {source!r} and {names[name]!r} the name {name!r}")
        else:
            names[name] = source
    return names, left_out


def _renaming(rename: Rename) -> Callable[[str], str | None]:
    if rename is None:
        return lambda name: name
    if callable(rename):
        return rename
    if isinstance(rename, Mapping):
        table = rename
        return lambda name: table.get(name, name)
    pairs = [(re.compile(pattern), new) for pattern, new in rename]

    def replaced(name: str) -> str | None:
        for pattern, new in pairs:
            if new is None and pattern.search(name):
                return None
            name = pattern.sub(new or "", name)
        return name

    return replaced


def _transposed(layer: Layer, transpose: bool | Sequence[str], own: Mapping[str, Any]) -> set[str]:
    """The names of the tensors to be transposed."""
    if transpose is True:
        inside = layer.named_sublayers(include_self=True)
        dense = {id(part.weight) for _, part in inside if isinstance(part, Linear)}
        return {name for name, tensor in own.items() if id(tensor) in dense}
    if isinstance(transpose, str):
        raise ArgumentError("transpose is True, False or a list of regular expressions")
    found: set[str] = set()
    for pattern in transpose or ():
        matching = {name for name in own if re.fullmatch(pattern, name)}
        if not matching:
            raise ArgumentError(f"transpose: no tensor of the Layer has a name like {pattern!r}")
        found |= matching
    return found


# -- what fits --------------------------------------------------------------------------------


def _problem(
    own: Mapping[str, EagerTensor],
    name: str,
    array: Array,
    values: Mapping[str, Array],
    is_transposed: bool,
) -> str:
    """Why a value does not fit, "" if it does."""
    tensor, shape = own[name], list(array.shape)
    if shape != tensor.shape:
        transposed = ", transposed" * is_transposed
        fits = not is_transposed and len(shape) > 1 and shape[:-2] + shape[:-3:-1] == tensor.shape
        hint = "; transposed it fits" * fits
        return f"{tensor.shape} here, {shape}{transposed} in the state{hint}"
    is_safe = np.can_cast(array.dtype, tensor.dtype, "safe") and not _is_float(tensor.dtype)
    if not (is_safe or (_is_float(array.dtype) and _is_float(tensor.dtype))):
        return f"{tensor.dtype} here, {array.dtype} in the state"
    for other, value in values.items():
        if own[other] is tensor and not np.array_equal(value, array):
            return f"is {other} here, and has another value in the state"
    return ""


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype.name == "bfloat16"


def _find_missing(
    report: WeightsReport, own: Mapping[str, EagerTensor], values: Mapping[str, Array]
) -> None:
    """What has no value; a tensor that has another name, too, needs one alone."""
    given = {id(own[name]) for name in values}
    for name, tensor in own.items():
        if id(tensor) not in given and name not in report.unfit:
            report.missing.append(name)
            report.shapes[name] = str(tensor.shape)


__all__ = ["WeightsReport", "load_weights"]
