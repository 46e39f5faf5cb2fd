"""What must hold of a model before it is recorded: versions, names, order, and known operators."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from dy2st.importers.onnx.graphs import Function, Graph, GraphReader, Model, Node
from dy2st.importers.onnx.package import OLDEST, body_of, newest, schema
from dy2st_runtime.errors import FormatError, UnknownOperators

Read = Callable[..., Any]
_SHOWN = 5
_MOST_CALLS = 64


class Checker:
    """Checks one model, and finds what reads each of its nodes."""

    def __init__(
        self,
        model: Model,
        reader: GraphReader,
        rows: Mapping[tuple[str, str], Read],
        refused: Mapping[tuple[str, str], str | Callable[[Node], str]],
        of_function: Callable[[Function], Read],
        of_body: Callable[[Node], Read],
        is_strict: bool = True,
    ):
        """`of_function` reads a call of a function, `of_body` one of an operator with a body.

        Not strict: of ONNX's own functions, which may lack outputs.
        """
        self._is_strict = is_strict
        self.model, self._reader = model, reader
        self._rows, self._refused = rows, refused
        self._of_function, self._of_body = of_function, of_body
        self._unknown: dict[str, list[Node]] = {}
        self._why: dict[str, str] = {}
        self._bodies: dict[tuple[str, str, int], Function] = {}

    def check(self) -> None:
        """FormatError for a broken model, UnknownOperators with all that it has of these."""
        for domain, version in self.model.opsets.items():
            known = newest(domain)
            if known and not OLDEST <= version <= known:
                raise FormatError(
                    f"the model is of version {version} of the operators of ONNX"
                    f"{f' ({domain})' if domain else ''}; the package onnx "
                    f"that is installed knows {OLDEST} to {known}"
                )
        order(self.model.graph, frozenset())
        for function in self.model.functions.values():
            order_function(function, self._is_strict)
        self._check_calls()
        seen: set[int] = set()
        waiting = [self.model.graph.walk(), *(walk(f) for f in self.model.functions.values())]
        while waiting:
            for node in waiting.pop():
                body = self._resolve(node)
                if body is not None and id(body) not in seen:
                    seen.add(id(body))
                    order_function(body, is_strict=False)
                    waiting.append(walk(body))
        if self._unknown:
            raise UnknownOperators(self._message())

    def _resolve(self, node: Node) -> Function | None:
        """Note what reads a node; the function that defines it, if it has no row."""
        function = self.model.functions.get(node.key)
        if function is not None:
            node.read = self._of_function(function)
            return None
        key = (node.domain, node.operator)
        if not node.version:
            domain = f"the domain {node.domain}" if node.domain else "ONNX's own domain"
            self._note(node, f"the model names no version of {domain}")
            return None
        record = schema(node.operator, node.version, node.domain)
        if record is not None:
            check_node(node, record)
        why = self._refused.get(key, "")
        why = why if isinstance(why, str) else why(node)
        if why:
            self._note(node, why)
        elif key in self._rows:
            node.read = self._rows[key]
        elif record is not None and record.has_function:
            place = (*key, record.since_version)
            if place not in self._bodies:
                proto = body_of(record, self._main_version(node))
                body = self._reader.function(proto, self.model.opsets)
                body.attributes = {**body.attributes, **self._defaults(record)}
                self._bodies[place] = body
            node.read = self._of_function(self._bodies[place])
            return self._bodies[place]
        elif record is not None and record.has_context_dependent_function:
            node.read = self._of_body(node)
        else:
            self._note(node, "" if record is not None else "ONNX has no such operator")
        return None

    def _defaults(self, record: Any) -> dict[str, Any]:
        """The values that ONNX's record gives to attributes that a node leaves out."""
        defaults = {name: one.default_value for name, one in record.attributes.items()}
        return {
            name: self._reader.value(value, self.model.opsets, 0, record.name)
            for name, value in defaults.items()
            if value.type
        }

    def _main_version(self, node: Node) -> int:
        """The version of ONNX's own domain, in which bodies are written."""
        return node.version if not node.domain else self.model.opsets.get("", 1)

    def _note(self, node: Node, why: str) -> None:
        name = f"{node.domain}.{node.operator}" if node.domain else node.operator
        self._unknown.setdefault(name, []).append(node)
        self._why[name] = why

    def _message(self) -> str:
        lines = []
        for name, nodes in self._unknown.items():
            shown = [node.name or f"node {node.number}" for node in nodes[:_SHOWN]]
            more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
            why = f": {self._why[name]}" if self._why[name] else ""
            lines.append(f"{name} ({', '.join(shown)}{more}){why}")
        return "dy2st does not read these operators:\n  " + "\n  ".join(lines)

    def _check_calls(self) -> None:
        """No function may call itself, by whatever way."""
        functions, done = self.model.functions, set()
        for first in functions:
            path: list[tuple[Any, Iterator[Any]]] = [(first, self._calls(first))]
            while path:
                key = next(path[-1][1], None)
                if key is None:
                    done.add(path.pop()[0])
                elif any(key == entry for entry, _ in path):
                    raise FormatError(f"the function {key[1]!r} calls itself")
                elif len(path) > _MOST_CALLS:
                    raise FormatError(f"functions call each other deeper than {_MOST_CALLS}")
                elif key not in done:
                    path.append((key, self._calls(key)))

    def _calls(self, key: tuple[str, str, str]) -> Iterator[Any]:
        functions = self.model.functions
        return (node.key for node in walk(functions[key]) if node.key in functions)


def walk(function: Function) -> Iterator[Node]:
    """All nodes of a function."""
    return Graph(function.key[1], [], [], {}, function.nodes).walk()


def check_node(node: Node, record: Any) -> None:
    """FormatError unless inputs, outputs and attributes are those of ONNX's record."""
    if record.deprecated and node.version >= record.since_version:
        raise FormatError(f"{node}: version {node.version} has the operator no more")
    for what, names, least, most in (
        ("inputs", node.inputs, record.min_input, record.max_input),
        ("outputs", node.outputs, record.min_output, record.max_output),
    ):
        if not least <= len(names) <= most:
            wanted = least if least == most else f"{least} to {most}"
            raise FormatError(f"{node} has {len(names)} {what}, not {wanted}")
    known = record.attributes
    for name in node.attributes:
        if name not in known:
            raise FormatError(
                f"{node} has the attribute {name!r}, which version {node.version} does not have"
            )
    for name, attribute in known.items():
        if attribute.required and name not in node.attributes:
            raise FormatError(f"{node} lacks the attribute {name!r}")


# -- names and order --------------------------------------------------------------------------


def order(graph: Graph, outer: Collection[str]) -> None:
    """Bring the nodes of a graph into an order in which they can run; mostly it is there.

    FormatError for names that nothing gives, or two things, and for cycles.
    """
    where = f"the graph {graph.name!r}" if graph.name else "a graph"
    names = [*graph.input_names, *(n for n in graph.arrays if n not in set(graph.input_names))]
    made = dict.fromkeys(names)
    if len(made) != len(names):
        raise FormatError(f"{where} has two inputs of one name")
    graph.nodes = _ordered(graph.nodes, made, outer, where)
    for name in graph.output_names:
        if name not in made and name not in outer:
            raise FormatError(f"{where} has the output {name!r}, which no node gives")


def order_function(function: Function, is_strict: bool = True) -> None:
    """`order` of the nodes of a function; ONNX's own leave out outputs that nobody asks for."""
    where = f"the function {function.key[1]!r}"
    made = dict.fromkeys(function.inputs)
    function.nodes = _ordered(function.nodes, made, frozenset(), where)
    for name in function.outputs if is_strict else ():
        if name not in made:
            raise FormatError(f"{where} has the output {name!r}, which no node gives")


def _ordered(
    nodes: list[Node], made: dict[str, None], outer: Collection[str], where: str
) -> list[Node]:
    """The nodes in order; what they give is added to `made`."""
    makers = {name: node for node in nodes for name in node.outputs if name}
    given = [name for node in nodes for name in node.outputs if name]
    if len(given) != len(makers) or any(name in made for name in given):
        twice = next(n for i, n in enumerate(given) if n in made or n in given[:i])
        raise FormatError(f"{where}: {twice!r} is given twice, by {makers[twice]} and before")
    inner = _Names(outer, made)
    later = []
    for place, node in enumerate(nodes):
        needs = set(_needs(node))
        if any(name not in inner for name in needs):
            later = nodes[place:]
            break
        made.update(dict.fromkeys(name for name in node.outputs if name))
    found = [*nodes[: len(nodes) - len(later)], *_sorted(later, makers, inner, where)]
    for node in found:
        for graph in node.graphs():
            order(graph, inner)
    return found


class _Names:
    """Names of a graph, and of those around it."""

    def __init__(self, outer: Collection[str], own: Collection[str]):
        self._outer, self._own = outer, own

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._outer

    def __len__(self) -> int:
        return len(self._own) + len(self._outer)

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._outer


def _needs(node: Node) -> Iterable[str]:
    """What a node reads, its graphs included."""
    yield from (name for name in node.inputs if name)
    for graph in node.graphs():
        yield from _free(graph)


def _free(graph: Graph) -> Iterator[str]:
    """The names that a graph takes from around it."""
    own = {*graph.input_names, *graph.arrays}
    own.update(name for node in graph.nodes for name in node.outputs)
    for node in graph.nodes:
        for name in _needs(node):
            if name not in own:
                yield name
    yield from (name for name in graph.output_names if name not in own)


def _sorted(nodes: list[Node], makers: Mapping[str, Node], known: _Names, where: str) -> list[Node]:
    """Nodes after those whose results they read."""
    found: list[Node] = []
    waits = {}
    readers: dict[str, list[Node]] = {}
    for node in nodes:
        open_names = {name for name in _needs(node) if name not in known}
        missing = [name for name in open_names if name not in makers]
        if missing:
            raise FormatError(f"{where}: {node} reads {missing[0]!r}, which nothing gives")
        waits[node] = len(open_names)
        for name in open_names:
            readers.setdefault(name, []).append(node)
    ready = [node for node in nodes if not waits[node]]
    for node in ready:
        found.append(node)
        for name in (name for name in node.outputs if name):
            known._own[name] = None  # type: ignore[index]
            for reader in readers.get(name, ()):
                waits[reader] -= 1
                if not waits[reader]:
                    ready.append(reader)
    if len(found) < len(nodes):
        shown = ", ".join(str(node) for node in nodes if waits[node])
        raise FormatError(f"{where} has a cycle: these nodes wait for each other: {shown:.400}")
    return found
