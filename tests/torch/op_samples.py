"""Samples of torch's own operator tests (OpInfo), answered by us: `python -m tests.torch.op_samples`.

    python -m tests.torch.op_samples [--gradients] [--program ENGINE] [--show] [part of a name ...]

Each sample is counted as right, different, refused (a Dy2stError) or failed (another error), or apart,
if it means something else to PaddlePaddle (`op_reasons`); samples that torch itself refuses do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import dy2st as P
from dy2st_runtime.errors import Dy2stError
from tests.torch.op_entries import adapted
from tests.torch.op_reasons import LABELS, RANDOM, reason

DTYPES = (torch.float64, torch.int64, torch.bool, torch.complex128)


@dataclass
class Outcome:
    """What became of one sample, with the reason where it is not right."""

    name: str
    status: str
    text: str = ""


def entries(parts: Any = ()) -> list[Any]:
    """The entries of torch that a function of ours answers, those with a part in their names."""
    known = [op for op in op_db if adapted(op) is not None and not _is_random(op)]
    return [op for op in known if not parts or any(part in op.name for part in parts)]


def _is_random(op: Any) -> bool:
    return op.name.rpartition(".")[2] in RANDOM


def outcomes(
    op: Any, dtype: Any, gradients: bool = False, engine: str | None = None
) -> Iterator[Outcome]:
    """An outcome for every sample of an entry."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in op.sample_inputs("cpu", dtype, requires_grad=gradients):
            if sample.broadcasts_input and op.variant_test_name == "inplace":
                continue
            why = reason(op, sample, dtype, gradients)
            found = Outcome(op.name, "apart", why) if why else None
            found = found or _outcome(op, sample, gradients, engine)
            if found is not None:
                yield found


def _outcome(op: Any, sample: Any, gradients: bool, engine: str | None) -> Outcome | None:
    if gradients and op.name in LABELS:
        sample.args = (sample.args[0].detach(), *sample.args[1:])
    given = (sample.input, *sample.args), dict(sample.kwargs)
    try:
        wanted = op(sample.input, *sample.args, **sample.kwargs)
        slopes = _torch_gradients(wanted, given) if gradients else []
    except Exception:  # torch has no answer
        return None
    name = f"{op.name}.{op.variant_test_name}".rstrip(".")
    try:
        found, ours = _run(op, given, gradients, engine)
    except Dy2stError as error:
        return Outcome(name, "refused", f"{_shown(given)}: {str(error).splitlines()[0][:150]}")
    except Exception as error:  # counted as a fault of ours
        return Outcome(name, "failed", f"{_shown(given)}: {type(error).__name__} {error!s:.150}")
    inputs = [np.zeros(0, as_array(t).dtype) for t in leaves([*given[0], *given[1].values()])
              if isinstance(t, torch.Tensor)]  # fmt: skip
    differs = _differs(found, leaves(wanted), inputs)
    if not differs and gradients:
        differs = _differs(ours, slopes)
        differs = differs and f"gradient {differs}"
    return (
        Outcome(name, "different", f"{_shown(given)}: {differs}")
        if differs
        else Outcome(name, "right")
    )


def _run(op: Any, given: Any, gradients: bool, engine: str | None) -> tuple[list[Any], list[Any]]:
    """Our results and gradients, as arrays."""
    tensors: list[Any] = []
    args, kwargs = _taken(given, tensors)
    function = adapted(op)
    assert function is not None

    def call(*values: Any) -> Any:
        named = _filled(kwargs, values)
        return function(*_filled(args, values), **named)

    call = call if engine is None else P.to_static(call, engine=engine)
    with np.errstate(all="ignore"):
        results = leaves(call(*tensors))
        if not gradients:
            return [as_array(one) for one in results], []
        slopes = slopes_of(results, tensors)
    return [as_array(one) for one in results], slopes


def slopes_of(results: list[Any], tensors: Any) -> list[Any]:
    """Our gradients of the weighed results, of all tensors that have one."""
    parts = [
        (one * P.to_tensor(weights_of(one.shape, one.dtype.kind == "c"))).sum()
        for one in results
        if isinstance(one, P.Tensor) and one.dtype.kind in "fcV" and not one.stop_gradient
    ]
    if parts:
        sum((P.real(part) if part.dtype.kind == "c" else part) for part in parts).backward()
    return [
        np.zeros(x.shape) if x.grad is None else x.grad.numpy()
        for x in tensors
        if not x.stop_gradient
    ]


class _Place(int):
    """Where a tensor is among those of a call."""


def _taken(value: Any, tensors: list[Any]) -> Any:
    """A structure with places for its tensors, which become ours; dtypes become names."""
    if isinstance(value, torch.Tensor):
        array = value.detach().resolve_conj().resolve_neg().numpy()
        tensors.append(P.to_tensor(array.copy(), stop_gradient=not value.requires_grad))
        return _Place(len(tensors) - 1)
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
        return None
    if isinstance(value, torch.Size):
        return list(value)
    if isinstance(value, (list, tuple)):
        return type(value)([_taken(one, tensors) for one in value])
    if isinstance(value, dict):
        dropped = ("device", "layout", "memory_format", "pin_memory")
        return {k: _taken(v, tensors) for k, v in value.items() if k not in dropped}
    return value


def _filled(value: Any, tensors: Any) -> Any:
    if isinstance(value, _Place):
        return tensors[value]
    if isinstance(value, (list, tuple)):
        return type(value)([_filled(one, tensors) for one in value])
    if isinstance(value, dict):
        return {key: _filled(one, tensors) for key, one in value.items()}
    return value


def leaves(value: Any) -> list[Any]:
    """The values in lists and tuples, without None."""
    if isinstance(value, (list, tuple)):
        return [leaf for one in value for leaf in leaves(one)]
    return [] if value is None else [value]


def as_array(value: Any) -> Any:
    """A tensor of either library as an array of NumPy."""
    if isinstance(value, torch.Tensor):
        value = value.detach().resolve_conj().resolve_neg()
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
    return value.numpy() if isinstance(value, P.Tensor) else np.asarray(value)


def weights_of(shape: Any, is_complex: bool) -> Any:
    """What the elements of a result are weighed by before they are added: the same each time."""
    rng = np.random.default_rng(1)
    made = rng.uniform(0.5, 1.5, tuple(shape))
    return made + 0j if is_complex else made


def _torch_gradients(wanted: Any, given: Any) -> list[Any]:
    inputs: list[Any] = []
    for leaf in leaves([*given[0], *given[1].values()]):
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
            inputs.append(leaf)
    return torch_slopes(leaves(wanted), inputs)


def torch_slopes(wanted: list[Any], inputs: list[Any]) -> list[Any]:
    """The gradients of the weighed results by torch."""
    outputs = [
        (one * torch.as_tensor(weights_of(one.shape, one.is_complex()))).sum()
        for one in wanted
        if isinstance(one, torch.Tensor) and one.requires_grad
    ]
    if not outputs or not inputs:
        return [np.zeros(x.shape) for x in inputs]
    total = sum(one.real if one.is_complex() else one for one in outputs)
    found = torch.autograd.grad(total, inputs, allow_unused=True)
    pairs = zip(found, inputs, strict=True)
    return [np.zeros(x.shape) if g is None else as_array(g) for g, x in pairs]


def _tolerance(arrays: Any) -> dict[str, float]:
    """By the coarsest of their dtypes: integers become other floats there than here."""
    kinds = [one.dtype for one in arrays if one.dtype.kind in "fc"]
    rough = max([float(np.finfo(kind).eps) for kind in kinds], default=0.0)
    return {"rtol": max(1e-7, 20 * rough), "atol": max(1e-8, 5 * rough)}


def _differs(found: list[Any], wanted: list[Any], inputs: Any = ()) -> str:
    """What is not as it should be, nothing if all is; inputs of float32 are no more exact."""
    if len(found) != len(wanted):
        return f"{len(found)} results, not {len(wanted)}"
    for ours, theirs in zip(found, map(as_array, wanted), strict=True):
        if ours.shape != theirs.shape:
            return f"the shape {ours.shape}, not {theirs.shape}"
        if ours.dtype.kind == "V":
            ours = ours.astype(np.float32)
        if not np.allclose(ours, theirs, equal_nan=True, **_tolerance([ours, theirs, *inputs])):
            return f"{ours.ravel()[:4]}, not {theirs.ravel()[:4]}"
    return ""


def _shown(given: Any) -> str:
    def short(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        if isinstance(value, (list, tuple)):
            return "(" + ", ".join(map(short, value)) + ")"
        return repr(value)

    named = [f"{key}={short(value)}" for key, value in given[1].items()]
    return ", ".join([*map(short, given[0]), *named])[:160]


def main(arguments: list[str]) -> None:
    """Count, and show what is not right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--program", default=None)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--most", type=int, default=10**9, help="samples of each entry")
    chosen = parser.parse_args(arguments)
    total: Counter[str] = Counter()
    for op in entries(chosen.parts):
        own: Counter[str] = Counter()
        for dtype in (torch.float64,) if chosen.gradients else DTYPES:
            if dtype not in op.supported_dtypes("cpu"):
                continue
            if chosen.gradients and not op.supports_autograd:
                continue
            with contextlib.suppress(NotImplementedError):
                samples = outcomes(op, dtype, chosen.gradients, chosen.program)
                for _, found in zip(range(chosen.most), samples, strict=False):
                    key = found.status + (" complex" if dtype.is_complex else "")
                    own[key] += 1
                    if chosen.show and found.status not in ("right", "apart"):
                        print(f"{found.status:9} {found.name}: {found.text}".replace("\n", " "))
        total += own
        wrong = [key for key in own if not key.startswith(("right", "apart"))]
        if wrong:
            print(f"== {op.name}.{op.variant_test_name}: {dict(own)}", flush=True)
    counted = total - Counter(apart=total["apart"], **{"apart complex": total["apart complex"]})
    right = total["right"] + total["right complex"]
    print(f"{len(entries(chosen.parts))} entries: {dict(total)}")
    print(f"right: {right / counted.total():.2%}, of all samples {right / total.total():.2%}")


if __name__ == "__main__":
    main(sys.argv[1:])
