"""Records the graph of an exported program node by node, nested graphs as branches and loops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dy2st.importers.torch.exporting import array_of, is_of_torch
from dy2st.importers.torch.numbers import NUMBERS
from dy2st.importers.torch.table import ROWS, Call, as_tensor, dtype_of, listed
from dy2st_runtime.errors import Location, UnknownOperators
from dy2st_runtime.ir import current_tracer
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.grad_mode import enable_grad, no_grad
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ops.control_flow import cond, while_loop

_IGNORED = ("device", "layout", "pin_memory", "memory_format", "non_blocking", "generator")
_FRAME = re.compile(r'File "(.*)", line (\d+)')


def check_known(module: Any) -> None:
    """UnknownOperators with all that have no row, each with a line of the user's."""
    missing: dict[str, str] = {}
    for graph in module.modules():
        for node in graph.graph.nodes if hasattr(graph, "graph") else ():
            if node.op == "call_function" and _function(node) is None:
                missing.setdefault(str(node.target), str(location(node) or "no line known"))
    if missing:
        listed = "\n".join(f"  {name}  ({line})" for name, line in sorted(missing.items()))
        raise UnknownOperators(
            f"dy2st has no counterpart of {len(missing)} of this program's operators:\n{listed}\n"
            "write these lines with other functions"
        )


def location(node: Any) -> Location | None:
    """The innermost line of the user's own code that a node comes from, and its module's path."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not is_of_torch(frame[0])] or frames
    modules = [*(node.meta.get("nn_module_stack") or {"": ("", "")}).values()]
    return Location(own[-1][0], int(own[-1][1]), layer=modules[-1][0]) if own else None


def _function(node: Any) -> Callable[..., Any] | None:
    """What records a node: a row, a number's arithmetic, or a branch or loop."""
    target = node.target
    if hasattr(target, "_schema"):
        return ROWS.get(str(target))
    if hasattr(target, "dispatch"):  # of higher order
        return HIGHER.get(str(target))
    return NUMBERS.get(target.__name__.lstrip("_"))


HIGHER: dict[str, Callable[..., Any]] = {}
"""What records operators of higher order, by their names."""


def _higher(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        HIGHER[name] = function
        return function

    return register


class Reader:
    """Records graphs; `constant` gives what stands for a tensor that a graph holds."""

    def run(self, module: Any, inputs: Sequence[Any]) -> Any:
        """The outputs of a graph, nested as torch has them."""
        values: dict[Any, Any] = {}
        waiting = iter(inputs)
        tracer = current_tracer()
        assert tracer is not None
        for node in module.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(waiting)
            elif node.op == "get_attr":
                values[node] = self._attribute(module, node.target)
            elif node.op == "call_function":
                place = location(node)
                with tracer.located(lambda place=place: place):  # type: ignore[misc]
                    values[node] = self._call(node, values)
            elif node.op == "output":
                return _taken(node.args[0], values)
        raise AssertionError("a graph without an output")

    def _attribute(self, module: Any, target: str) -> Any:
        held = module
        for part in target.split("."):
            held = getattr(held, part)
        return held if hasattr(held, "graph") else F.assign(array_of(held))

    def _call(self, node: Any, values: dict[Any, Any]) -> Any:
        function = _function(node)
        assert function is not None
        args = _taken(node.args, values)
        kwargs = {
            key: _taken(value, values) for key, value in node.kwargs.items() if key not in _IGNORED
        }
        if not hasattr(node.target, "_schema"):
            if hasattr(node.target, "dispatch"):
                return function(self, *args, **kwargs)
            return function(*args, **kwargs)
        metas = [*_tensors(node.meta.get("val"))]
        call = Call(
            str(node.target), [dtype_of(one.dtype) for one in metas], [one.shape for one in metas]
        )
        made = function(call, *args, **kwargs)
        return _finished(node, made, node.meta.get("val"))


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)
    elif hasattr(value, "dtype"):
        yield value


def _finished(node: Any, made: Any, wanted: Any) -> Any:
    """The result in torch's dtype; its rank, and sizes that both know, are as torch says."""
    if isinstance(wanted, (list, tuple)) and isinstance(made, (list, tuple)):
        return [_finished(node, *pair) for pair in zip(made, wanted, strict=False)]
    if made is None or not hasattr(wanted, "dtype"):
        return made
    made = as_tensor(made, dtype_of(wanted.dtype))
    if str(node.target) == "aten.unique_consecutive.default":  # torch is wrong about a vector
        return made
    pairs = zip(made.shape, wanted.shape, strict=False)
    known = [(a, b) for a, b in pairs if type(a) is int and type(b) is int]
    assert made.ndim == len(wanted.shape) and all(a == b for a, b in known), (
        f"{node.target}: {made.shape}, not {wanted.shape}"
    )
    return made


def _taken(value: Any, values: dict[Any, Any]) -> Any:
    """An argument with values in place of nodes, and NumPy's dtypes in place of torch's."""
    kind = type(value).__name__
    if kind == "Node":
        return values[value]
    if isinstance(value, (list, tuple)):
        made = [_taken(one, values) for one in value]
        return tuple(made) if isinstance(value, tuple) else made
    if isinstance(value, dict):
        return {key: _taken(one, values) for key, one in value.items()}
    if kind == "dtype":
        return dtype_of(value)
    return None if kind in ("device", "layout", "memory_format") else value


# -- operators of higher order ----------------------------------------------------------------


@_higher("cond")
def _branches(reader: Reader, truth: Any, true: Any, false: Any, operands: Sequence[Any]) -> Any:
    if isinstance(truth, bool):
        return reader.run(true if truth else false, operands)
    empty: list[int] = []

    def side(graph: Any) -> list[Any]:
        made = reader.run(graph, operands)
        empty[:] = [place for place, one in enumerate(made) if one is None]
        return [as_tensor(one) for one in made if one is not None]

    results: list[Any] = list(cond(_truth(truth), lambda: side(true), lambda: side(false)))
    for place in empty:
        results.insert(place, None)
    return results


def _truth(value: Any) -> Any:
    return F.reshape(value, []) if isinstance(value, Variable) and value.ndim else value


@_higher("while_loop")
def _loop(
    reader: Reader, test: Any, body: Any, carried: Sequence[Any], more: Sequence[Any] = ()
) -> Any:
    def tested(*values: Any) -> list[Any]:
        (found,) = listed(reader.run(test, [*values, *more]))
        return [_truth(as_tensor(found))]

    def iteration(*values: Any) -> list[Any]:
        return [as_tensor(one) for one in reader.run(body, [*values, *more])]

    return while_loop(tested, iteration, [as_tensor(one) for one in carried])


@_higher("map_impl")
def _mapped(reader: Reader, graph: Any, rows: Sequence[Any], more: Sequence[Any]) -> Any:
    _, outputs = _scanned_rows(lambda _, row: ([], reader.run(graph, [*row, *more])), [], rows)
    return outputs


@_higher("scan")
def _scan(
    reader: Reader, graph: Any, first: Sequence[Any], rows: Sequence[Any], more: Sequence[Any] = ()
) -> Any:
    def step(state: Sequence[Any], row: Sequence[Any]) -> tuple[Any, Any]:
        made = reader.run(graph, [*state, *row, *more])
        return made[: len(first)], made[len(first) :]

    state, outputs = _scanned_rows(step, first, rows)
    return [*state, *outputs]


def _scanned_rows(
    step: Callable[..., Any], first: Sequence[Any], rows: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """One row of each tensor after the other: the last state, and the outputs of all rows."""
    tracer = current_tracer()
    assert tracer is not None
    length = rows[0].shape[0]
    types = step(first, [F.zeros(one.shape[1:], one.dtype) for one in rows])[1]
    buffers = [F.zeros([length, *one.shape], one.dtype) for one in types]
    end = len(first)

    def iteration(t: Any, *values: Any) -> list[Any]:
        state, made = step(values[:end], [one[t] for one in rows])
        kept = [F.setitem(old, t, new) for old, new in zip(values[end:], made, strict=True)]
        return [t + 1, *(as_tensor(one) for one in state), *kept]

    start = [tracer.variable(0), *(as_tensor(one) for one in first), *buffers]
    _, *last = while_loop(lambda t, *_: [t < length], iteration, start)
    return last[:end], last[end:]


@_higher("wrap_with_set_grad_enabled")
def _gradients_set(reader: Reader, is_enabled: bool, graph: Any, *operands: Any) -> Any:
    with enable_grad() if is_enabled else no_grad():
        return reader.run(graph, operands)


@_higher("wrap_with_autocast")
def _autocast(
    reader: Reader, device: Any, dtype: Any, is_enabled: Any, cache: Any, graph: Any, *operands: Any
) -> Any:
    return reader.run(graph, operands)  # what is cast shows in the dtypes of results
