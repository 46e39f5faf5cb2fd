"""The operators that XLA does not compute, each with the reason; NumPy's kernels do.

A Program that has one of them is cut into parts: see `plan.py`. So is one with lists, and one whose
results have sizes that depend on the data, whatever the operator.
"""

from __future__ import annotations

_LENGTH = "how many elements there are depends on the data, and XLA wants to know all sizes"
_LIST = "a list of tensors, whose length only the run decides"
_PYTHON = "Python's streams, loggers and warnings"
_BOXES = "boxes: each once in a model, of few elements, and long"
_PROCESSES = "processes exchange what each of them has computed; XLA knows one Program on a mesh"
_RANDOM = "random numbers are those that NumPy's generators give for a seed"

HOST_OPERATORS = {
    **dict.fromkeys(("nonzero", "unique", "unique_consecutive", "bincount", "nms"), _LENGTH),
    **dict.fromkeys(("matrix_nms", "slice_places"), _LENGTH),
    **{
        f"dynamic_{name}": "a value of a tensor is a size, and XLA wants to know all sizes"
        for name in (
            *("arange", "broadcast_to", "full", "one_hot", "pad", "reshape", "resize"),
            *("scatter_nd", "squeeze", "strided_slice", "tile", "topk", "unsqueeze", "upsampling"),
        )
    },
    **{
        f"array_{name}": _LIST
        for name in (
            *("append", "concat", "create", "delete", "empty", "extend", "gather", "insert"),
            *("length", "pop", "read", "repeat", "slice", "stack", "write"),
        )
    },
    **dict.fromkeys(("print", "write", "log_message", "warn"), _PYTHON),
    **dict.fromkeys(("generate_proposals", "bilinear_weights", "regions"), _BOXES),
    **dict.fromkeys(("regions_back", "roi_pool_places"), _BOXES),
    **dict.fromkeys(("bernoulli", "binomial", "gaussian", "multinomial", "poisson"), _RANDOM),
    **dict.fromkeys(("randint", "randperm", "standard_gamma", "uniform"), _RANDOM),
    **dict.fromkeys(("all_reduce", "all_gather", "reduce_scatter", "all_to_all"), _PROCESSES),
    "broadcast_from": _PROCESSES,
    "eig": "XLA has it for CPUs alone",
    "ctc": "a table of paths that is long for each sample and short for the batch",
    "ctc_slope": "a table of paths that is long for each sample and short for the batch",
    "failure": "whether an operator would fail, which its kernel is asked",
    "spend": "limits are counted by Python",
    "spend_result": "limits are counted by Python",
}

IDENTITIES = ("assign", "detach", "hooked", "sealed", "set_stop_gradient")
"""What gives its first operand as it is: results are one object where the Program has one."""

NEVER_RAISE = {
    *(f"array_{name}" for name in ("append", "create", "empty", "extend", "length")),
    *("nonzero", "unique", "unique_consecutive", "gaussian", "randint", "randperm", "uniform"),
}
"""Operators of the host that raise for no data: they need not wait for others that may."""

__all__ = ["HOST_OPERATORS", "IDENTITIES", "NEVER_RAISE"]
