"""A Program as a model of ONNX."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath, PureWindowsPath
from typing import Any

import numpy as np

from dy2st_runtime.dims import symbols
from dy2st_runtime.engine.onnx.graph import solved_sizes, value_of
from dy2st_runtime.engine.onnx.library import defs, helper, onnx, require_onnx
from dy2st_runtime.engine.onnx.nodes import Scope, Value
from dy2st_runtime.engine.onnx.protos import constant_of, graph_of, import_opsets, info_of
from dy2st_runtime.engine.onnx.writer import Writer, require_writable
from dy2st_runtime.engine.onnx.writer_tools import if_else
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.program import Operator, Program, Variable
from dy2st_runtime.ir.sizes import origins
from dy2st_runtime.ir.structure import Container, Output
from dy2st_runtime.version import VERSION

Array = np.ndarray[Any, Any]
OLDEST, DEFAULT = 13, 20
_IR = 10  # of opsets from 19 to 22
_FUNCTIONS = 8  # the first that has functions


@dataclass(eq=False)
class Model:
    """A model of ONNX, and what its names stand for.

    proto     the model.
    inputs    names of the inputs of the Program; state that is given at each call stands behind.
    outputs   names of its outputs, then of the new values of buffers. Of lists of lists there are
              several names: see `nesting.py`.
    values    by name, the operator's Variable that each value at the top is.
    left_out  operators that the model has not, since they compute nothing.
    made_by   by the name of each node the operator that it is a part of.
    """

    proto: Any
    inputs: list[str]
    outputs: list[str]
    values: dict[str, Variable] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    made_by: dict[str, Operator] = field(default_factory=dict)


def newest_opset() -> int:
    """The newest version of the operator set that the package onnx knows; it must be here."""
    require_onnx()
    return int(defs.onnx_opset_version())


def check_opset(opset: Any) -> int:
    """The version, if it is one that is written; ArgumentError else."""
    newest = newest_opset()
    if not isinstance(opset, (int, np.integer)) or isinstance(opset, bool):
        raise ArgumentError(f"opset_version is a number from {OLDEST} to {newest}, not {opset!r}")
    if not OLDEST <= opset <= newest:
        raise ArgumentError(
            f"opset_version is one from {OLDEST} to {newest}, not {opset}: older ones have no "
            "lists in loops, and newer ones the installed package onnx does not know"
        )
    return int(opset)


def ir_version(opset: int) -> int:
    """The version of the format: one that runtimes read which know the opset."""
    least = int(helper.find_min_ir_version_for([helper.make_opsetid("", opset)]))
    return max(least, _IR) if opset >= 19 else least


def write_model(
    program: Program,
    arrays: Mapping[str, Array] | None,
    opset: int = DEFAULT,
    checks: bool = True,
    given: Collection[str] | None = None,
    knows_sizes: bool = False,
    metadata: Mapping[str, str] | None = None,
) -> Model:
    """The model of a Program; parameters and buffers lie in it, or are inputs without `arrays`.

    Those that the Program changes are both: inputs that may be left out, and their new values are
    outputs; or those in `given`. `knows_sizes`: who calls the model has checked what the Program
    requires of the sizes of its inputs.

    Raises ArgumentError for what cannot be written: all of it at once, with its lines.
    """
    require_writable(program, check_opset(opset))
    if not program.block.yields:
        raise ArgumentError(f"{program.name!r} has no outputs, and a model of ONNX needs one")
    w = Writer(opset, checks)
    w.about_of = about
    w.scopes.append(Scope())
    inputs = [
        value_of(variable.type, w.take(variable.name or f"input_{place}"))
        for place, variable in enumerate(program.inputs)
    ]
    state = []
    for name, variable in program.state.items():
        taken = w.take(name)
        if arrays is None:
            state.append(value_of(variable.type, taken))
        else:
            state.append(w.initializer(taken, np.asarray(arrays[name])))
            state[-1] = Value(taken, variable.tensor_type.dtype, variable.tensor_type.shape)
    updated = program.updates if given is None else given
    inputs_of_state = [
        value
        for value, name in zip(state, program.state, strict=True)
        if arrays is None or name in updated
    ]
    arguments = [leaf for value in (*inputs, *inputs_of_state) for leaf in value.leaves]
    yields = zip(program.block.yields, output_names(program), strict=True)
    labels = [
        leaf.name
        for variable, label in yields
        for leaf in value_of(variable.type, w.take(label)).leaves
    ]
    w.solved = solved_sizes(program.block.parameters)
    results = _written(w, program, [*inputs, *state], knows_sizes)
    values = {value.name: v for v, value in w.scope.values.items() if isinstance(v.maker, Operator)}
    outputs = _outputs(w, results, labels, values)
    graph = graph_of(program.name, w.scope, arguments, outputs)
    del graph.input[:], graph.output[:]
    graph.input.extend(info_of(value, with_shape=True) for value in arguments)
    graph.output.extend(info_of(value, with_shape=True) for value in outputs)
    used = _names_read(graph)
    # Parameters and buffers are initializers, constants nodes: readers know which may be trained.
    named = {value.name for value in state}
    arrays_used = {name: p for name, p in w.initializers.items() if name in used}
    graph.initializer.extend(p for name, p in arrays_used.items() if name in named)
    nodes = list(graph.node)
    del graph.node[:]
    graph.node.extend(constant_of(p) for name, p in arrays_used.items() if name not in named)
    graph.node.extend(nodes)
    proto = _model_of(graph, program, opset, w, metadata)
    names = [value.name for value in arguments], [value.name for value in outputs]
    return Model(proto, *names, values, w.left_out, w.made_by)


def _written(w: Writer, program: Program, arguments: list[Value], knows_sizes: bool) -> list[Value]:
    """What the Program yields, with the checks that its sizes ask for."""
    own = dict(zip(program.block.parameters, arguments, strict=True))
    for symbol, origin in origins(program.block.parameters).items():
        w.scope.symbols[symbol] = (own[origin.variable], origin.axis)
    known = set(w.scope.symbols)
    yields = w.block(program.block, arguments)
    pairs = zip(yields, program.block.yields, strict=True)
    results = [leaf for value, one in pairs for leaf in w.typed(value, one).leaves]
    if w.checks:
        for entry in program.constraints:
            condition = entry.constraint.condition
            found = symbols(condition)
            is_known = knows_sizes and known.issuperset(found)
            if not is_known and all(w.depth_of(symbol) is not None for symbol in found):
                w.require(w.size(condition))
    well = w.well(w.scope)
    return results if well is None else _guarded(w, results, well)


def _guarded(w: Writer, results: list[Value], well: Value) -> list[Value]:
    """The results, of which one fails unless all is well: by a place that is outside."""
    w.place, w.about = "check", "fails unless all that the Program requires holds"
    zero = w.const(np.int64(0))
    place = w.where(well, zero, w.const(np.int64(1)), ())
    nothing = w.op("Gather", w.int64s([0]), place, shape=())
    for index, value in enumerate(results):
        if not value.is_list:
            shape = w.op("Add", w.op("Shape", value), nothing)
            made = w.op("Reshape", value, shape, shape=value.shape)
            return [*results[:index], made, *results[index + 1 :]]
    if not results:
        return results
    first = results[0]
    made = if_else(
        w,
        well,
        lambda: w.same_list(first),
        lambda: w.failing_list(first),
    )
    return [made, *results[1:]]


def _outputs(
    w: Writer, results: list[Value], labels: list[str], values: dict[str, Variable]
) -> list[Value]:
    """The results under their names: nodes are renamed where that is enough."""
    made = {name: node for node in w.scope.nodes for name in node.output}
    renamed: dict[str, str] = {}
    outputs = []
    for value, label in zip(results, labels, strict=True):
        if value.name in made and value.name not in renamed:
            renamed[value.name] = label
        else:
            name = renamed.get(value.name, value.name)
            w.place = "output"
            w.node("Identity", [Value(name, value.dtype, value.shape, value.is_list)], [label])
        outputs.append(Value(label, value.dtype, value.shape, value.is_list))
    for node in w.scope.nodes:
        _rename(node, renamed)
    for old, new in renamed.items():
        if old in values:
            values[new] = values.pop(old)
    return outputs


def _rename(node: Any, renamed: Mapping[str, str]) -> None:
    for names in (node.input, node.output):
        for place, name in enumerate(names):
            if name in renamed:
                names[place] = renamed[name]
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            for inner in attribute.g.node:
                _rename(inner, renamed)


def _names_read(graph: Any) -> set[str]:
    read = {value.name for value in (*graph.output, *graph.input)}
    for node in graph.node:
        read.update(node.input)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                read |= _names_read(attribute.g)
    return read


def output_names(program: Program) -> list[str]:
    """What outputs are called: by their places in what the function returns, or by number.

    New values of buffers and arguments have the name of the buffer or argument and `.new`.
    """
    count = len(program.outputs)
    names = [f"output_{place}" for place in range(count)]
    for name, place in program.changes.items():
        names[place] = f"{name}.new"
    for path, entry in _paths(program.structure, ()):
        if (
            isinstance(entry, Output)
            and entry.index < count
            and any(isinstance(p, str) for p in path)
        ):
            names[entry.index] = ".".join(map(str, path))
    return [*names, *(f"{name}.new" for name in program.updates)]


def _paths(tree: Any, path: tuple[Any, ...]) -> Any:
    if isinstance(tree, Container):
        yield from _paths(tree.entry, path)
    elif isinstance(tree, dict):
        for key, entry in tree.items():
            yield from _paths(entry, (*path, key))
    elif isinstance(tree, (tuple, list)):
        for key, entry in enumerate(tree):
            yield from _paths(entry, (*path, key))
    else:
        yield path, tree


# -- what readers see ----------------------------------------------------------------------------


def about(operator: Operator) -> str:
    """The line and Layer of an operator, `relu net.py:9 in layers.0`; no folder of this machine."""
    location = operator.location
    if location is None:
        return operator.name
    path = PureWindowsPath(location.file) if "\\" in location.file else PurePath(location.file)
    name = "/".join(path.parts[-2:]) if path.is_absolute() else path.as_posix()
    place = f"{path.name if path.is_absolute() else name}:{location.line}"
    layer = f" in {location.layer}" if location.layer else ""
    return f"{operator.name} {place}{layer}"


def _model_of(
    graph: Any,
    program: Program,
    opset: int,
    w: Writer,
    metadata: Mapping[str, str] | None,
) -> Any:
    graph.doc_string = f"the Program {program.name!r}"
    proto = onnx.ModelProto(
        ir_version=ir_version(opset), producer_name="dy2st", producer_version=VERSION, graph=graph
    )
    if w.functions:
        proto.functions.extend(w.functions.values())
        proto.ir_version = max(proto.ir_version, _FUNCTIONS)
    import_opsets(proto, opset)
    facts = {
        "dy2st.structure": repr(program.structure),
        "dy2st.updates": json.dumps({name: f"{name}.new" for name in program.updates}),
        "dy2st.trainable": json.dumps([n for n, yes in program.trainable.items() if yes]),
    }
    if w.left_out:
        facts["dy2st.left_out"] = json.dumps(w.left_out)
    for key, value in {**facts, **(metadata or {})}.items():
        proto.metadata_props.add(key=key, value=value)
    return proto


__all__ = [
    "DEFAULT",
    "OLDEST",
    "Model",
    "check_opset",
    "newest_opset",
    "output_names",
    "write_model",
]
