"""Exports a module by torch.export: the one place where torch is imported."""

from __future__ import annotations

import inspect
import logging
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from typing import Any

from dy2st.importers.recording import Array
from dy2st.importers.torch.table import ROWS, dtype_of
from dy2st_runtime.errors import ArgumentError, ConversionError

_HINT = (
    "change the module so that torch.export takes it, or write it with dy2st: `dy2st port FILE` "
    "turns torch's code into ours, and to_static converts what torch.export refuses"
)

_STATISTICS = ("aten.batch_norm.default", "aten.instance_norm.default")


def _torch() -> Any:
    try:
        return import_module("torch.export")
    except ImportError:
        raise ArgumentError(
            "from_torch exports modules by torch, which is not installed here; "
            "where it is, torch.export.save(torch.export.export(...), file) does that, too"
        ) from None


def exported(
    module: Any, args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None, shapes: Any
) -> tuple[Any, list[Any]]:
    """The ExportedProgram of a module, or the one that is given, and the conditions on its sizes.

    They are those that the user's code, or a module of torch.nn, has decided by.
    """
    if hasattr(module, "graph_signature"):
        return module, _decisions(module)
    torch = _torch()
    if not hasattr(module, "named_parameters"):
        what = type(module).__name__
        raise ArgumentError(f"from_torch takes a torch.nn.Module or ExportedProgram, not {what}")
    if args is None and kwargs is None:
        raise ArgumentError(
            "from_torch(module, example_inputs): the inputs of one call, as a tuple"
        )
    args = args if isinstance(args, (tuple, list)) else () if args is None else (args,)

    def export(shapes: Any, of_any_size: bool) -> Any:
        sizes = _of_any_size() if of_any_size else nullcontext()
        with _quietly(), _without_fast_paths(), _unknown_lengths(), sizes:
            return torch.export(
                module, tuple(args), dict(kwargs or {}), dynamic_shapes=shapes, strict=False
            )

    if shapes:
        # A size that is asked whether it is 1 breaks what a Dim of torch's promises: then the
        # questions are those of an export whose Dims promise nothing. Torch has no class for it.
        with suppress(Exception):
            program = export(shapes, True)
            return program, _decisions(program)
    try:
        program = export(shapes, False)
    except Exception as error:  # whatever torch raises is its reason
        lines = [line for line in str(error).splitlines() if line.strip()]
        said = lines[0].strip() if lines else "no reason given"
        raise ConversionError(
            f"torch.export refuses {type(module).__name__}: {type(error).__name__}: {said}; "
            f"{_HINT}",
            at=None,
        ) from error
    if shapes:
        with suppress(Exception):
            return program, _decisions(export(_without_promises(torch, shapes), True))
    return program, _decisions(program)


def _without_promises(torch: Any, shapes: Any) -> Any:
    """The same unknown sizes, with `Dim.AUTO` for each Dim."""
    if isinstance(shapes, Mapping):
        return {key: _without_promises(torch, one) for key, one in shapes.items()}
    if isinstance(shapes, (list, tuple)):
        return type(shapes)([_without_promises(torch, one) for one in shapes])
    return torch.Dim.AUTO if isinstance(shapes, torch.Dim) else shapes


def decomposed(program: Any) -> Any:
    """The program without changes in place, and with what we lack taken apart by torch."""
    if all(_is_plain(node) for node in _calls(program.graph_module)):
        return program
    torch = _torch()
    table = torch.default_decompositions()
    for operator in list(table):
        if str(operator) in ROWS and not operator._schema.is_mutable:
            table.pop(operator)
    with _quietly(), _unknown_lengths():
        return program.run_decompositions(table)


def _is_plain(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return True
    if str(node.target) in _STATISTICS and node.args[3] is not None and node.args[5]:
        return False  # it writes running statistics, though its schema does not say so
    return str(node.target) in ROWS and not schema.is_mutable


def _calls(module: Any) -> Iterator[Any]:
    for one in module.modules():
        if hasattr(one, "graph"):
            yield from (node for node in one.graph.nodes if node.op == "call_function")


@contextmanager
def _quietly() -> Iterator[None]:
    """Without torch's warnings and logs about its own work."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def _without_fast_paths() -> Iterator[None]:
    """Without the fused layers that torch takes where nothing is trained."""
    switch = import_module("torch.backends.mha")
    before = switch.get_fastpath_enabled()
    switch.set_fastpath_enabled(False)
    try:
        yield
    finally:
        switch.set_fastpath_enabled(before)


@contextmanager
def _unknown_lengths() -> Iterator[None]:
    """Let recurrent networks say the shapes of their results by formulas.

    torch would run them step by step on the example, and so take its length for the only one.
    """
    operators = import_module("torch").ops.aten
    recurrent = [getattr(operators, name).input for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")]
    before = [dict(one.py_kernels) for one in recurrent]
    for one in recurrent:
        one.py_kernels.update(dict.fromkeys(one.py_kernels, _recurrent_shapes))
        one._dispatch_cache.clear()
    try:
        yield
    finally:
        for one, kernels in zip(recurrent, before, strict=True):
            one.py_kernels.update(kernels)
            one._dispatch_cache.clear()


def _of_any_size() -> Any:
    """Let code that asks whether a size is 0 or 1 leave a condition on it.

    torch takes sizes of 2 and more for granted else, and answers such questions without a trace.
    """
    config = import_module("torch.fx.experimental._config")
    has_it = hasattr(config, "backed_size_oblivious")
    return config.patch(backed_size_oblivious=True) if has_it else nullcontext()


def _recurrent_shapes(
    x: Any,
    first: Any,
    params: Any,
    has_biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    *_: Any,
) -> Any:
    states = first if isinstance(first, (list, tuple)) else [first]
    size = states[0].shape[-1] * (2 if bidirectional else 1)
    last = [one.new_empty(one.shape) for one in states]
    return (x.new_empty([*x.shape[:2], size]), *last)


# -- names of sizes ---------------------------------------------------------------------------


def names_of_sizes(
    module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], shapes: Any
) -> list[dict[int, str]]:
    """The user's names of the axes of each leaf of the inputs, in torch's order of leaves."""
    if not shapes:
        return []
    given: dict[str, Any] = {}
    try:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return []
    for name, parameter in bound.signature.parameters.items():
        if name in bound.arguments:
            value = bound.arguments[name]
            given.update(value if parameter.kind is parameter.VAR_KEYWORD else {name: value})
    if isinstance(shapes, Mapping):
        pairs = [(shapes.get(name), value) for name, value in given.items()]
    else:
        pairs = list(zip([*shapes, *[None] * len(given)], given.values(), strict=False))
    return [names for shape, value in pairs for names in _names(shape, value)]


def _names(shape: Any, value: Any) -> Iterator[dict[int, str]]:
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _names(shape.get(key) if isinstance(shape, Mapping) else None, entry)
    elif isinstance(value, (list, tuple)):
        inner = shape if isinstance(shape, (list, tuple)) else [None] * len(value)
        for one, entry in zip(inner, value, strict=False):
            yield from _names(one, entry)
    else:
        axes = shape if isinstance(shape, Mapping) else dict(enumerate(shape or ()))
        named = {axis: getattr(dim, "__name__", None) for axis, dim in axes.items()}
        yield {axis: name for axis, name in named.items() if isinstance(name, str)}


# -- what torch has found of sizes ------------------------------------------------------------


def is_of_torch(file: str) -> bool:
    """Whether a file is one of torch's own, of this installation or another."""
    folder = os.path.dirname(str(import_module("torch").__file__))
    path = file.replace(os.sep, "/")
    return file.startswith((folder + os.sep, "torch/")) or "site-packages/torch/" in path


def _decisions(program: Any) -> list[Any]:
    # Other guards come of how torch computes shapes and strides: they say nothing of the model.
    for node in program.graph.nodes:
        for size in getattr(node.meta.get("val"), "shape", ()):
            if hasattr(size, "node"):
                return [one.expr for one in size.node.shape_env.guards if _is_decision(one)]
    return []


def _is_decision(guard: Any) -> bool:
    place = getattr(getattr(guard, "sloc", None), "framework_loc", None)
    file = str(getattr(place, "filename", ""))
    return bool(file) and (not is_of_torch(file) or f"torch{os.sep}nn{os.sep}" in file)


# -- arrays -----------------------------------------------------------------------------------


def array_of(tensor: Any) -> Array:
    """The elements of a tensor of torch, in its own memory wherever NumPy knows the dtype."""
    dtype = dtype_of(tensor.dtype)
    if str(tensor.layout) != "torch.strided":
        raise ArgumentError(f"a tensor of {tensor.layout} has no counterpart here: to_dense() it")
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if dtype.name == "bfloat16":
        return tensor.view(import_module("torch").int16).numpy().view(dtype)  # type: ignore[no-any-return]
    return tensor.numpy()  # type: ignore[no-any-return]
