"""Calls of public functions with tensors at the edge: empty, of rank 0 or 1, of size 1.

    python -m tests.runtime.ops.edge_calls 5000 --from 0

A call gives a result or a Dy2stError, eagerly and in a Program, whose sizes may be unknown until it
runs. What an operator's record names as what its kernel raises is allowed too.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import dy2st
from dy2st.nn import functional
from dy2st.static import InputSpec
from dy2st_runtime.errors import Dy2stError
from dy2st_runtime.ir.dispatch import FUNCTIONS

SHAPES = [(), (0,), (1,), (3,), (0, 3), (3, 0), (1, 1), (2, 3), (3, 3), (2, 0, 3), (2, 3, 4)]
SHAPES += [(0, 3, 4, 4), (1, 3, 0, 4), (1, 2, 3, 3), (2, 4, 1, 1), (1, 2, 2, 2, 2)]
NUMBERS = (0, 1, 2, 3, -1)
LISTS = ([], [0], [1], [2, 3], [0, 1], [-1], [1, 2, 3])
PLAIN: dict[str, tuple[Any, ...]] = {
    "shape": (*LISTS, [2, -1]),
    "axis": (*NUMBERS, [0, 1]),
    "axes": LISTS,
    "perm": ([0], [1, 0], [], [0, 2, 1]),
    "equation": (
        "i->",
        "ii->i",
        "ii",
        "...i->...",
        "ij,jk->ik",
        "i,i->",
        "...",
        "->",
        "...,...->...",
    ),
    "dtype": ("float32", "int64", "bool"),
    "pad": ([1, 1], [1, 0, 0, 2], [-1, -1], [0, 0, 0, 0]),
    "mode": ("constant",),
    "num_or_sections": (1, 2, 3, [1, 2], [1, -1], []),
    "normalized_shape": (3, [3], [2, 3], [], 0),
    "size": ([2, 2], [1], 3, [0, 0]),
    "scale_factor": (2, [2, 2], 0.5),
    **dict.fromkeys(("starts", "ends", "strides", "repeat_times", "repeats", "shifts"), LISTS),
    **dict.fromkeys(("kernel_size", "output_size"), (1, 2, [2, 2], [1, 3])),
    **dict.fromkeys(("fill_value", "value", "start", "stop", "p"), (0, 1, 0.5)),
    **dict.fromkeys(
        ("k", "n", "num", "num_rows", "num_classes", "chunks", "maxlen", "num_groups")
        + ("upscale_factor", "axis0", "axis1", "source", "destination", "offset", "groups"),
        NUMBERS,
    ),
}
FLAGS = ("keepdim", "ceil_mode", "align_corners", "exclusive", "descending", "soft_label")
FLAGS += ("return_mask", "return_inverse", "return_counts", "return_index", "transpose_x")
OPTIONAL = {
    **dict.fromkeys(FLAGS, (True, False)),
    **dict.fromkeys(("axis", "dim", "start_axis"), (*NUMBERS, None)),
    "diagonal": NUMBERS,
    **dict.fromkeys(("size", "scale_factor", "k", "groups", "offset"), None),
    **dict.fromkeys(("stride", "dilation"), (1, 2, 0, [1, 2], -1)),
    "padding": (0, 1, 3, [1, 1], [0, 1, 1, 0], "same", "valid", -1),
    "output_padding": (0, 1, [1]),
    "reduction": ("none", "mean", "sum"),
    "data_format": ("NHWC", "NLC", "NCHW"),
    "mode": ("nearest", "bilinear", "linear", "reflect", "area"),
    "ignore_index": (0, -100),
    "num_classes": NUMBERS,
    "num": NUMBERS,
    "chunks": NUMBERS,
    "stop_axis": NUMBERS,
    "unbiased": (True, False),
    "repeats": LISTS,
    "decimals": NUMBERS,
    "ddof": NUMBERS,
}
LISTS_OF_TENSORS = {
    *((name, "x") for name in ("concat", "stack", "vstack", "hstack", "dstack", "add_n")),
    *(("broadcast_tensors", "input"), ("index_put", "indices"), ("row_stack", "x")),
}
TENSORS = {
    ("scaled_dot_product_attention", "value"),
    ("index_put", "value"),
    ("index_add", "value"),
}
INTEGERS = ("index", "indices", "label", "mask", "condition")
LEFT_OUT = {
    *("cond", "while_loop", "dynamic", "print_", "assert_", "raise_", "py_func"),
    *("seed", "get_rng_state", "set_rng_state"),
    *(name for name in FUNCTIONS if name.startswith("array_") or "random" in name),
}
NAMES = sorted(set(FUNCTIONS) & {*dy2st.__all__, *functional.__all__} - LEFT_OUT)


class Call:
    """One call: a function, tensors, and what else it is given."""

    def __init__(self, seed: int):
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.name = NAMES[seed % len(NAMES)]
        self.shape = self.one(SHAPES)
        self.tensors: list[Any] = []
        self.positional: list[Any] = []
        self.named: dict[str, Any] = {}
        for parameter in inspect.signature(FUNCTIONS[self.name]).parameters.values():
            self.take(parameter)

    def one(self, values: Any) -> Any:
        return values[self.rng.integers(len(values))]

    def take(self, parameter: inspect.Parameter) -> None:
        name = parameter.name
        if parameter.kind is parameter.VAR_POSITIONAL:
            self.positional += [self.tensor() for _ in range(self.rng.integers(0, 4))]
        elif parameter.default is not parameter.empty:
            if name in OPTIONAL and self.rng.integers(3) == 0:
                self.named[name] = self.one(OPTIONAL[name] or PLAIN[name])
        elif name in PLAIN and (self.name, name) not in TENSORS:
            self.positional.append(self.one(PLAIN[name]))
        elif (self.name, name) in LISTS_OF_TENSORS:
            self.positional.append([self.tensor() for _ in range(self.rng.integers(0, 4))])
        else:
            self.positional.append(self.tensor(name))

    def tensor(self, name: str = "x") -> Any:
        """A place for a tensor: usually of the shape of the one before it."""
        if self.rng.integers(3) == 0:
            self.shape = self.one(SHAPES)
        if name in INTEGERS:
            array = self.rng.integers(0, 3, self.shape)
            array = array.astype(bool) if name in ("mask", "condition") else array
        else:
            dtype = self.one(("float32", "float32", "float32", "int64", "bool"))
            array = np.asarray(self.rng.uniform(0, 3, self.shape)).astype(dtype)
        self.tensors.append(array)
        return _Place(len(self.tensors) - 1)

    def __call__(self, *tensors: Any) -> Any:
        positional, named = _filled((self.positional, self.named), tensors)
        return FUNCTIONS[self.name](*positional, **named)

    def __str__(self) -> str:
        shown = [f"{array.dtype}{list(array.shape)}" for array in self.tensors]
        positional, named = _filled((self.positional, self.named), shown)
        return f"seed {self.seed}: {self.name}(*{positional}, **{named})"


class _Place:
    def __init__(self, index: int):
        self.index = index


def _filled(value: Any, tensors: Any) -> Any:
    if isinstance(value, _Place):
        return tensors[value.index]
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(entry, tensors) for entry in value)
    if isinstance(value, dict):
        return {key: _filled(entry, tensors) for key, entry in value.items()}
    return value


def outcome(function: Any, arrays: Any) -> tuple[str, str]:
    """Whether a call gives a result, is refused, or goes wrong."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*[dy2st.to_tensor(array) for array in arrays])
    except Dy2stError as error:
        return "refused", f"{type(error).__name__}: {error}"
    except (IndexError, ZeroDivisionError) as error:
        return "raised", f"{type(error).__name__}: {error}"
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}"
    return "given", ""


def findings(seed: int) -> Iterator[str]:
    """What is wrong with one call: eagerly, in a Program, and in one of unknown sizes."""
    call = Call(seed)
    eager = outcome(call, call.tensors)
    if eager[0] == "wrong":
        yield f"eager: {eager[1]}\n  {call}"
    specs = [InputSpec(a.shape, a.dtype.name) for a in call.tensors]
    open_specs = [InputSpec([None] * a.ndim, a.dtype.name) for a in call.tensors]
    for kind, given in (("program", specs), ("unknown sizes", open_specs)):
        static = dy2st.to_static(lambda *tensors: call(*tensors), given)
        found = outcome(static, call.tensors)
        if found[0] == "wrong":
            yield f"{kind}: {found[1]}\n  {call}"
        elif found[0] == "given" != eager[0]:
            yield f"{kind}: a result, where eagerly {eager[1]}\n  {call}"


def main() -> int:
    """Run many, and print what is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--from", dest="first", type=int, default=0)
    options = parser.parse_args()
    wrong = 0
    for seed in range(options.first, options.first + options.count):
        for finding in findings(seed):
            wrong += 1
            print(finding, flush=True)
        if seed % 1000 == 999:
            print(f"... {seed + 1}: {wrong} wrong", flush=True)
    print(f"{options.count} calls, {wrong} findings")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
