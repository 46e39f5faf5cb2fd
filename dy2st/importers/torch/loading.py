"""`from_torch`: a Layer of a torch module, by its exported program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dy2st.importers.recording import Array, layer_of, record
from dy2st.importers.torch import rows  # noqa: F401  fills the table
from dy2st.importers.torch.exporting import (
    array_of,
    decomposed,
    exported,
    names_of_sizes,
)
from dy2st.importers.torch.graphs import Reader, check_known
from dy2st.importers.torch.sizes import Sizes
from dy2st.importers.torch.table import dtype_of
from dy2st_runtime.dims import Dim, require
from dy2st_runtime.errors import ArgumentError, ConversionError
from dy2st_runtime.io import LoadedModel
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.ir.program import Output, Program
from dy2st_runtime.ir.structure import map_entries
from dy2st_runtime.ir.types import TensorType


@without_own_frames
def from_torch(
    module: Any,
    example_inputs: Sequence[Any] | None = None,
    example_kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    engine: str | None = None,
) -> LoadedModel:
    """A Layer that computes what a torch.nn.Module, or an ExportedProgram of one, does.

    Inputs and `dynamic_shapes` are those of torch.export.export; names of its Dims become names of
    sizes. The mode is the module's: in training mode dropout draws, BatchNorm keeps its
    statistics, and parameters are trained. Weights stay in torch's memory until they are changed.

    Raises ConversionError where torch.export does, UnknownOperators with all operators that have
    no counterpart, ArgumentError for what is no module.

    >>> import torch  # doctest: +SKIP
    >>> net = dy2st.from_torch(torch.nn.Linear(4, 2), [torch.ones(3, 4)])  # doctest: +SKIP
    >>> net(dy2st.ones([3, 4])).shape  # doctest: +SKIP
    [3, 2]
    """
    program, guards = exported(module, example_inputs, example_kwargs, dynamic_shapes)
    named: list[dict[int, str]] = []
    if program is not module:
        args = example_inputs if isinstance(example_inputs, (tuple, list)) else [example_inputs]
        given = [] if example_inputs is None else args
        named = names_of_sizes(module, given, example_kwargs or {}, dynamic_shapes)
    made, state = program_of(decomposed(program), type(module).__name__, named, guards)
    model = layer_of(made, state, engine)
    if program is not module and module.training:
        model.train()
    return model


def program_of(
    exported: Any, name: str, named: Sequence[Mapping[int, str]] = (), guards: Sequence[Any] = ()
) -> tuple[Program, dict[str, Array]]:
    """The Program of an exported program, and its parameters and buffers."""
    graph, signature = exported.graph_module, exported.graph_signature
    check_known(graph)
    places = {node.name: node for node in graph.graph.nodes if node.op == "placeholder"}
    sizes = _sizes(exported, places, named)
    inputs: dict[str, TensorType] = {}
    state: dict[str, Array] = {}
    same: dict[int, str] = {}  # names of one tensor: tied weights stay tied
    names: dict[str, str] = {}  # of placeholders: the input or the state
    fixed: dict[str, Any] = {}
    trained: set[str] = set()
    changed = _changed(signature)
    held = {**exported.constants, **exported.state_dict}
    for spec in signature.input_specs:
        kind, label = spec.kind.name, spec.arg.name
        if kind == "USER_INPUT" and hasattr(spec.arg, "value"):
            fixed[label] = spec.arg.value
        elif kind == "USER_INPUT":
            value = places[label].meta["val"]
            shape = tuple(map(sizes.size, value.shape)) if hasattr(value, "shape") else ()
            dtype = dtype_of(getattr(value, "dtype", "int64"))
            inputs[label], names[label] = TensorType(dtype, shape), label
        elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            tensor = held[spec.target]
            key = names[label] = same.setdefault(id(tensor), spec.target)
            array = array_of(tensor)
            state[key] = array.copy() if spec.target in changed else array
            if kind == "PARAMETER" and tensor.requires_grad:
                trained.add(key)
        else:
            raise ArgumentError(f"from_torch takes tensors and numbers, not {label!r} ({kind})")
    updates = [same[id(held[one])] for one in changed]
    results: list[Any] = []

    def compute(given: Any, live: Mapping[str, Any]) -> list[Any]:
        known = dict(zip(inputs, given, strict=True)) | dict(live)
        for guard in guards:
            _require(sizes, guard)
        values = [fixed[label] if label in fixed else known[names[label]] for label in places]
        made = Reader().run(graph, values)
        kept = len(updates)
        results[:] = made[kept:]
        tensors = [one for one in results if not _is_fixed(one)]
        return [*tensors, *made[:kept]]

    program = record(name, inputs, state, trained, compute, updates)
    program.structure = _structure(exported.call_spec.out_spec, results)
    return program, state


def _sizes(exported: Any, places: Mapping[str, Any], named: Sequence[Mapping[int, str]]) -> Sizes:
    """The symbols of a program by the user's names, else by torch's."""
    names: dict[str, str] = {}
    specs = [
        spec for spec in exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"
    ]
    for spec, axes in zip(specs, named, strict=False):
        shape = getattr(places[spec.arg.name].meta.get("val"), "shape", ())
        for axis, name in axes.items():
            node = getattr(shape[axis], "node", None)
            if node is not None and node.expr.is_Symbol and name not in names.values():
                names[str(node.expr)] = name
    return Sizes(names, exported.range_constraints)


def _changed(signature: Any) -> list[str]:
    """The buffers that a call changes, in the order of their new values, which come first."""
    found = []
    for spec in signature.output_specs:
        kind = spec.kind.name
        if kind == "USER_INPUT_MUTATION":
            raise ConversionError(
                f"the module changes its input `{spec.target}` in place",
                at=None,
                why="a Program has no way to change the caller's tensor",
                hint=f"clone it first ({spec.target} = {spec.target}.clone()), and return it",
            )
        if kind in ("BUFFER_MUTATION", "PARAMETER_MUTATION"):
            found.append(spec.target)
        elif kind not in ("USER_OUTPUT", "LOSS_OUTPUT"):
            raise ArgumentError(f"from_torch reads no outputs of the kind {kind}")
    return found


def _require(sizes: Sizes, guard: Any) -> None:
    if type(guard).__name__ == "And":
        for part in guard.args:
            _require(sizes, part)
    elif sizes.knows(guard):
        condition = sizes.condition(guard)
        if condition is not None:
            reason = "torch.export follows the answer of the example to code that asks for a size"
            require(condition, reason)


def _is_fixed(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _structure(spec: Any, results: Sequence[Any]) -> Any:
    """The outputs nested as the module nests them, in Python's own containers."""
    count, leaves = 0, []
    for one in results:
        if _is_fixed(one):
            leaves.append(one)
            continue
        is_number = isinstance(one, Dim) or getattr(one, "number", None) is not None
        leaves.append(Output(count, is_number))
        count += 1
    return _plain(spec.unflatten(leaves))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(_plain, value))  # torch's own results are of classes of their own
    return map_entries(value, _plain)
