"""torch's operator samples (OpInfo) through torch.export and `from_torch`.

    python -m tests.torch.opinfo [--gradients] [--engine NAME] [--most N] [--dtypes a,b] [part ...]
    python -m tests.torch.opinfo --share 0/4 >0 & ... --share 3/4 >3 &  # all entries, in four parts
    python -m tests.torch.opinfo --sum 0 1 2 3

Each sample is exported and imported, and counts as right, different, unknown (operators that we
lack), refused (another Dy2stError) or failed; those that torch itself does not export do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import logging
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree

import dy2st as P
from dy2st.importers.torch import from_torch
from dy2st_runtime.errors import Dy2stError, UnknownOperators
from tests.torch.op_samples import as_array, leaves, slopes_of, torch_slopes

RANDOM = frozenset(
    (
        "alpha_dropout bernoulli cauchy dropout dropout2d dropout3d exponential log_normal normal "
        "feature_alpha_dropout fractional_max_pool2d fractional_max_pool3d geometric multinomial "
        "rand_like randint randint_like randn randn_like rrelu uniform pca_lowrank svd_lowrank "
        "empty empty_like empty_permuted empty_strided new_empty new_empty_strided"
    ).split()
)
"""Entries that draw at random, or have no defined values."""
OF_ANY_SIGN = frozenset("linalg.eig linalg.eigh linalg.svd svd".split())
"""Entries whose results are vectors of any sign: the samples say what of them is compared."""
DTYPES = ("float32", "float64", "int64", "bool", "complex64")


class Outcome(NamedTuple):
    """What became of one sample, with the reason where it is not right."""

    status: str
    text: str = ""


class Sample(torch.nn.Module):
    """One call of an entry, of its tensors alone."""

    def __init__(self, function: Any, sample: Any, is_compared: bool):
        """`is_compared`: the results are what torch compares of them, which no sign changes."""
        super().__init__()
        leaves, self.spec = _pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
        self.function, self.tensors = function, [one for one in leaves if _is_tensor(one)]
        self.compared = sample.output_process_fn_grad if is_compared else lambda result: result
        self.leaves = [None if _is_tensor(one) else (one,) for one in leaves]
        self.clones = False  # what it changes in place

    def forward(self, *tensors: Any) -> Any:
        waiting = iter([one.clone() for one in tensors] if self.clones else tensors)
        leaves = [next(waiting) if one is None else one[0] for one in self.leaves]
        args, kwargs = _pytree.tree_unflatten(leaves, self.spec)
        return self.compared(self.function(*args, **kwargs))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def title(op: Any) -> str:
    """The name of an entry with its variant."""
    return f"{op.name}.{op.variant_test_name}".rstrip(".")


def entries() -> list[Any]:
    """The entries whose values are defined."""
    return [op for op in op_db if op.name.rpartition(".")[2] not in RANDOM]


def outcomes(
    op: Any,
    dtype: str,
    gradients: bool = False,
    engine: Any = None,
    step: int = 1,
    most: int | None = None,
) -> Iterator[Outcome]:
    """An outcome for every `step`-th sample of an entry that torch exports, at most `most`."""
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    if kind not in op.supported_dtypes("cpu") or (gradients and not op.supports_autograd):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # At once: a generator of torch's that is left may not end while torch.export traces.
            end = None if most is None else most * step
            samples = [*itertools.islice(op.sample_inputs("cpu", kind, gradients), 0, end, step)]
        except (NotImplementedError, RuntimeError):
            return  # no samples of this kind
        for sample in samples:
            if _draws(op, sample):
                continue
            found = _outcome(op, sample, gradients, engine)
            if found is not None:
                yield found


def _draws(op: Any, sample: Any) -> bool:
    """Whether a sample drops elements at random."""
    is_whole = op.name == "nn.functional.multi_head_attention_forward"
    share = sample.args[9] if is_whole else sample.kwargs.get("dropout_p")
    return bool(share) and bool(sample.kwargs.get("training", True))


def _outcome(op: Any, sample: Any, gradients: bool, engine: Any) -> Outcome | None:
    module = Sample(op, sample, gradients or title(op) in OF_ANY_SIGN)
    if any(one.layout != torch.strided for one in module.tensors):
        return None
    try:
        wanted = leaves(module(*module.tensors))
        if any(_is_tensor(one) and one.layout != torch.strided for one in wanted):
            return None
        slopes = (
            torch_slopes(wanted, [one for one in module.tensors if one.requires_grad])
            if gradients
            else []
        )
        with _quiet():
            program = torch.export.export(module, tuple(module.tensors))
            if any(_is_change(node) for node in program.graph.nodes):
                module.clones = True
                program = torch.export.export(module, tuple(module.tensors))
    except Exception:  # torch has no answer, or no graph of it
        return None
    shown = _shown(sample)
    try:
        model = from_torch(program, engine=engine)
        found, ours = _run(model, module.tensors, gradients)
        differs = _differs(found, wanted)
        if not differs and gradients:
            differs = _differs(ours, slopes)
            differs = differs and f"gradient {differs}"
    except UnknownOperators as error:
        return Outcome("unknown", " ".join(str(error).split("\n")[1:-1]).replace("\n", " "))
    except Dy2stError as error:
        if _is_refused_by_torch(program, module.tensors):
            return None
        return Outcome(
            "refused", f"{shown}: {type(error).__name__} {str(error).splitlines()[0]:.200}"
        )
    except Exception as error:  # a fault of ours
        return Outcome("failed", f"{shown}: {type(error).__name__} {str(error):.250}")
    return Outcome("different", f"{shown}: {differs}") if differs else Outcome("right")


def _is_refused_by_torch(program: Any, tensors: list[Any]) -> bool:
    """Whether torch's own graph does not take the sample that it was made of."""
    try:
        program.module()(*tensors)
    except Exception:
        return True
    return False


def _is_change(node: Any) -> bool:
    """Whether a node may change an input of the program."""
    schema = getattr(node.target, "_schema", None)
    is_batch = "batch_norm" in str(node.target)
    return schema is not None and (schema.is_mutable or is_batch)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _run(model: Any, tensors: Any, gradients: bool) -> tuple[list[Any], list[Any]]:
    given = [
        P.to_tensor(as_array(one).copy(), stop_gradient=not (gradients and one.requires_grad))
        for one in tensors
    ]
    used = {variable.name for variable in model.programs[next(iter(model.programs))].inputs}
    assert len(used) == len(given)
    with np.errstate(all="ignore"):
        results = leaves(model(*given))
        if not gradients:
            return [as_array(one) for one in results], []
        slopes = slopes_of(results, given)
    return [as_array(one) for one in results], slopes


def _differs(found: list[Any], wanted: list[Any]) -> str:
    """What is not as it should be, nothing if all is."""
    if len(found) != len(wanted):
        return f"{len(found)} results, not {len(wanted)}"
    for ours, theirs in zip(found, map(as_array, wanted), strict=True):
        if ours.shape != theirs.shape:
            return f"the shape {ours.shape}, not {theirs.shape}"
        kinds = [one.dtype for one in (ours, theirs) if one.dtype.kind in "fc"]
        rough = max([float(np.finfo(kind).eps) for kind in kinds], default=0.0)
        finite = np.abs(theirs[np.isfinite(theirs)]) if theirs.dtype.kind in "fc" else np.ones(1)
        size = max(1.0, float(finite.max(initial=1.0)))  # sums cancel
        near = {"rtol": max(1e-7, 40 * rough), "atol": max(1e-8, 10 * rough * size)}
        if not np.allclose(ours, theirs, equal_nan=True, **near):
            return f"{ours.ravel()[:4]}, not {theirs.ravel()[:4]}"
    return ""


def _shown(sample: Any) -> str:
    def short(value: Any) -> str:
        if _is_tensor(value):
            return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
        if isinstance(value, (list, tuple)):
            return "(" + ", ".join(map(short, value)) + ")"
        return repr(value)

    named = [f"{key}={short(value)}" for key, value in sample.kwargs.items()]
    return ", ".join([short(sample.input), *map(short, sample.args), *named])[:140]


def main(arguments: list[str]) -> None:
    """Count, and show what is not right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--engine", default=None)
    parser.add_argument("--most", type=int, default=None, help="samples of each entry and dtype")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--dtypes", default=None)
    parser.add_argument("--exact", action="store_true", help="parts are whole names")
    parser.add_argument("--seconds", type=float, default=10**9, help="for each entry and dtype")
    parser.add_argument("--share", default="0/1", help="1/4: the second of four parts of all")
    parser.add_argument("--sum", action="store_true", help="parts are files of what was printed")
    chosen = parser.parse_args(arguments)
    if chosen.sum:
        lines = (line for part in chosen.parts for line in Path(part).read_text().splitlines())
        report([_counted(line) for line in lines if line.startswith("== ")])
        return
    dtypes = chosen.dtypes or ("float64" if chosen.gradients else ",".join(DTYPES))
    place, shares = map(int, chosen.share.split("/"))
    found: list[tuple[str, Counter[str]]] = []
    for op in entries()[place::shares]:
        name = title(op)
        if not chosen.parts or any(
            part == name if chosen.exact else part in name for part in chosen.parts
        ):
            found.append((name, _campaign(op, name, dtypes.split(","), chosen)))
            print(f"== {name}: {json.dumps(found[-1][1])}", flush=True)
    report(found)


def _campaign(op: Any, name: str, dtypes: list[str], chosen: Any) -> Counter[str]:
    own: Counter[str] = Counter()
    for dtype in dtypes:
        begun = time.time()
        options = chosen.gradients, chosen.engine, chosen.step, chosen.most
        for found in outcomes(op, dtype, *options):
            own[found.status] += 1
            if found.status != "right":
                text = f"{found.status:9} {name} {dtype}: {found.text}".replace("\n", " ")
                print(text, flush=True)
            if time.time() - begun > chosen.seconds:
                break
    return own


def _counted(line: str) -> tuple[str, Counter[str]]:
    name, _, counts = line.removeprefix("== ").partition(": ")
    return name, Counter(json.loads(counts))


def report(found: list[tuple[str, Counter[str]]]) -> None:
    """Print what became of all samples, and how many entries have samples and are right."""
    total = sum((own for _, own in found), Counter[str]())
    entries = Counter[str]()
    for name, own in found:
        entries[name] += own.total()
    wrong = {name for name, own in found if own.total() > own["right"]}
    answered = sum(bool(count) for count in entries.values())
    share = total["right"] / max(total.total(), 1)
    print(f"{answered} entries, {answered - len(wrong)} of them right in all samples")
    print(f"{total.total()} samples: {dict(total)}, right {share:.2%}")


if __name__ == "__main__":
    main(sys.argv[1:])
