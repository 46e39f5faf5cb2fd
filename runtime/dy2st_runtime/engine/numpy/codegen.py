"""From a Program to the source text of one Python function.

    def fits(x0, x1):                   # whether the inputs are such as the Program takes
        if x0.dtype != dtype_x0 or len(x0.shape) != 2: return False
        ...
    def run(x, w):                      # one parameter a Block parameter
        s1 = x.shape[0]                 # symbols are bound where they are defined
        last = of_calls.last            # sizes that follow are computed when others are given
        if last[0] != (s1, ): last = of_calls.renew((s1, ))
        e1, e2, = last[1]
        v0 = matmul(x, w)               # kernels are called by name, nothing is dispatched
        if v1:                          # cond and while are Python's own
            v2 = add(v0, c0)
        else:
            v2 = v0
        del v0                          # a value is freed after its last use
        v3 = exp(v2, out=v2)            # or written over there
        v5 = append(v4, v3)             # and a list that nobody needs any more is changed
        return [v3]

Kernels, constants and attributes are globals of the generated module. Nested Blocks become nested
statements: their parameters are other names for the operands, so no code is needed for them.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from struct import pack
from typing import Any

import numpy as np

from dy2st_runtime.dims import (
    Condition,
    Constraint,
    Dim,
    Size,
    is_symbol,
    is_total,
    product,
    symbols,
    to_python,
)
from dy2st_runtime.engine.numpy.sizes_code import SizeCode
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir.aliasing import InPlace, lists_in_place, overwritten
from dy2st_runtime.ir.checks.broken_sizes import broken
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import interpreting
from dy2st_runtime.ir.functions import CALL
from dy2st_runtime.ir.program import Block, LocatedConstraint, Operator, Program, Variable
from dy2st_runtime.ir.sizes import Origin, computed_sizes, formulas, origins
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import TensorType

Form = tuple[Any, str]
"""A function, and the text of its call in which {} stands for the name of the function."""


def lowered(operator: Operator, operands: Sequence[str]) -> Form | None:
    """A shorter form of an operator's call, None if its kernel is called as it is."""
    form = _FORMS.get(operator.name)
    return None if form is None else form(operator, operands)


def _whole(operator: Operator) -> TensorType | None:
    """The type of the operand if the reduction is over all axes and keeps none."""
    type = operator.operands[0].type
    if not isinstance(type, TensorType) or operator.attributes["keepdim"]:
        return None
    if type.is_floating and type.dtype.itemsize == 2:  # their kernels compute in float32
        return None
    return type if operator.attributes["axis"] == tuple(range(type.rank)) else None


def _mean(operator: Operator, operands: Sequence[str]) -> Form | None:
    type = _whole(operator)
    if type is None or type.dtype.kind != "f" or type.dtype.itemsize < 4:
        return None
    count = product(type.shape)
    if not isinstance(count, int) or count == 0:
        return None
    return np.add.reduce, f"{{}}({operands[0]}, None) / {count}"


def _sum(operator: Operator, operands: Sequence[str]) -> Form | None:
    type = _whole(operator)
    if type is None or type.dtype.kind == "u":  # of which NumPy's sum has no sign either
        return None
    return np.add.reduce, f"{{}}({operands[0]}, None)"


def _reduction(function: Any) -> Callable[[Operator, Sequence[str]], Form | None]:
    def form(operator: Operator, operands: Sequence[str]) -> Form | None:
        if _whole(operator) is None:
            return None
        return function, f"{{}}({operands[0]}, None)"

    return form


_FORMS: dict[str, Callable[[Operator, Sequence[str]], Form | None]] = {
    "mean": _mean,
    "sum": _sum,
    "max": _reduction(np.maximum.reduce),
    "min": _reduction(np.minimum.reduce),
    "any": _reduction(np.logical_or.reduce),
    "all": _reduction(np.logical_and.reduce),
}


# CPython allows 20 nested loops and 100 levels of indentation: what is deeper is a function apart.
_MAX_DEPTH = 15

Lines = list[tuple[str, Operator | None]]


@dataclass
class Generated:
    """Source text, the globals it needs, and the operator behind every line.

    outer  the operators of the Program that others, which have no kernel, are part of.
    """

    source: str
    namespace: dict[str, Any]
    lines: dict[int, Operator]
    outer: dict[Operator, Operator]


@dataclass
class _Writer:
    """The state of one generation."""

    program: Program
    text: Lines = field(default_factory=list)
    apart: Lines = field(default_factory=list)  # functions beside the one that is run
    early: set[str] = field(default_factory=set)  # what the function uses of sizes.results
    namespace: dict[str, Any] = field(default_factory=dict)
    names: dict[Variable, str] = field(default_factory=dict)
    symbols: dict[Dim, str] = field(default_factory=dict)
    shared: dict[Any, str] = field(default_factory=dict)
    waiting: list[LocatedConstraint] = field(default_factory=list)
    entry: frozenset[Dim] = frozenset()  # the symbols that are known when the Program starts
    sizes: SizeCode = field(default_factory=SizeCode)
    over: dict[Operator, int] = field(default_factory=dict)
    outer: dict[Operator, Operator] = field(default_factory=dict)  # that others are made of
    refuse: Any = None  # what raises because a constraint does not hold
    functions: dict[str, str] = field(default_factory=dict)  # their names in the text
    lists: InPlace = field(default_factory=lambda: InPlace(set(), set()))
    nested: bool = False
    count: int = 0

    # -- names ---------------------------------------------------------------------------------

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def name(self, variable: Variable) -> str:
        known = self.names.get(variable)
        if known is None:
            known = self.names[variable] = self.fresh("v")
        return known

    def constant(self, value: Any, stem: str = "c") -> str:
        """A global of the generated module; equal plain values share one."""
        # Equal keys for values that may share a global.
        if isinstance(value, float):
            # by its bits: NaN has a sign too; NumPy's float64 is a float, and has methods
            key: Any = type(value), pack("d", value)
        elif isinstance(value, (int, str, np.dtype)):
            key = type(value), value
        elif isinstance(value, np.generic):
            key = type(value), value.tobytes()
        else:
            key = id(value)
        known = self.shared.get(key)
        if known is None:
            known = self.shared[key] = self.fresh(stem)
            self.namespace[known] = value
        return known

    # -- lines ---------------------------------------------------------------------------------

    def line(self, depth: int, text: str, operator: Operator | None = None) -> None:
        self.text.append(("    " * depth + text, operator))

    # -- sizes ---------------------------------------------------------------------------------

    def bind_symbols(self, variable: Variable, depth: int, again: bool = False) -> None:
        """Bind the symbols that a Variable defines, and check what can be checked from then on."""
        if not isinstance(variable.type, TensorType):
            return
        is_new = False
        for axis, size in enumerate(variable.type.shape):
            if not is_symbol(size) or (size in self.symbols and not again):
                continue
            assert isinstance(size, Dim)
            name = self.symbols.setdefault(size, self.fresh("s"))
            self.line(depth, f"{name} = {self.name(variable)}.shape[{axis}]")
            is_new = True
        if is_new:
            self.check_constraints(depth)

    def check_constraints(self, depth: int) -> None:
        """Check the constraints whose symbols are all bound now."""
        for entry in list(self.waiting):
            condition = entry.constraint.condition
            if not all(symbol in self.symbols for symbol in symbols(condition)):
                continue
            self.waiting.remove(entry)
            if self.entry.issuperset(symbols(condition)):
                self.sizes.require(self.expression(condition))
            else:
                self.line(depth, self.late_check(entry))

    def late_check(self, entry: LocatedConstraint) -> str:
        """The check of a constraint that is not of the inputs' sizes alone."""
        condition = entry.constraint.condition
        known = "".join(f"{self.symbols[symbol]}, " for symbol in symbols(condition))
        refuse = self.constant(self.refuse, "refuse")
        return (
            f"if not {self.expression(condition)}: {refuse}({self.constant(entry, 'f')}, ({known}))"
        )

    def expression(self, value: Dim | Condition) -> str:
        """A size or condition as a Python expression."""
        # What sizes broadcast to; that they do is checked where it is required, in what branch.
        self.namespace["broadcast"] = lambda *sizes: next((n for n in sizes if n != 1), 1)
        return to_python(value, lambda symbol: self.symbols[symbol])

    def attribute(self, value: Any) -> str:
        """An attribute as a Python expression: a global, or computed from symbols."""
        if isinstance(value, (Dim, Condition)):
            return self._computed_early(value, self.expression(value))
        if isinstance(value, tuple) and _is_symbolic(value):
            text = self._formula(value)
            return self._computed_early(value, text)
        if value is None or isinstance(value, (bool, int)):
            return repr(value)
        return self.constant(value)

    def _formula(self, value: Any) -> str:
        if isinstance(value, (Dim, Condition)):
            return self.expression(value)
        if isinstance(value, tuple) and _is_symbolic(value):
            return f"({', '.join(map(self._formula, value))},)"
        return self.attribute(value)

    def _computed_early(self, value: Any, text: str) -> str:
        """The value of a formula, computed at the start if nothing stands against it."""
        # In a branch that is not taken nothing may fail; what is not plain is no size.
        can_wait = self.nested and not all(map(is_total, formulas(value)))
        is_known = self.entry.issuperset(symbols(value))
        if is_symbol(value) or can_wait or not is_known or not _has_only_sizes(value):
            return text
        name = self.sizes.result(text)
        self.early.add(name)
        return name


Write = Callable[[_Writer, Operator, int], None]


def generate(program: Program) -> Generated:
    """The Python function of a Program."""
    writer = _Writer(program)
    writer.waiting = list(program.constraints)
    writer.lists = lists_in_place(program.block)
    writer.functions = {name: writer.fresh("f") for name in program.functions}
    parameters = [writer.name(variable) for variable in program.block.parameters]
    writer.line(0, f"def run({', '.join(parameters)}):")
    # Bind the symbols of the inputs, and require what is about them; three lines are left free.
    known = origins(program.block.parameters)
    writer.refuse = partial(_refuse, known)
    writer.entry = frozenset(known)
    for symbol, origin in known.items():
        name = writer.symbols[symbol] = writer.fresh("s")
        writer.line(1, f"{name} = {bound_text(origin, writer.name(origin.variable))}")
    place = len(writer.text)
    writer.text += [("", None)] * (3 if known else 0)
    writer.check_constraints(1)
    for size, _ in computed_sizes(writer.program):
        if writer.entry.issuperset(symbols(size)):
            writer.sizes.part(writer.expression(size))
    _block(writer, program.block, 1, free=True)
    _return(writer, program.block)
    entry = [writer.symbols[symbol] for symbol in known]
    if entry and (writer.sizes.lines or writer.sizes.results):
        # Fill the free lines: take the sizes of the last call, or compute those of this one.
        key = f"({', '.join(entry)}, )"
        names = "".join(f"{name}, " for name in writer.sizes.results.values())
        writer.text[place : place + 3] = [
            ("    last = of_calls.last", None),
            (f"    if last[0] != {key}: last = of_calls.renew({key})", None),
            (f"    {names}= last[1]" if names else "", None),
        ]
        writer.text += [(text, None) for text in ("", *writer.sizes.function(entry))]
        writer.namespace["ShapeError"] = ShapeError
    for name, block in program.functions.items():
        _function(writer, name, block)
    lines: Lines = [*writer.text, *writer.apart]
    operators = {k: operator for k, (_, operator) in enumerate(lines, 1) if operator is not None}
    text = [*(text for text, _ in lines), "", *fits_function(program, writer.namespace)]
    return Generated("\n".join(text) + "\n", writer.namespace, operators, writer.outer)


def _return(writer: _Writer, block: Block) -> None:
    results = ", ".join(writer.name(variable) for variable in block.yields)
    writer.line(1, f"return [{results}]")


def _function(writer: _Writer, name: str, block: Block) -> None:
    """A function of the Program as one of Python, in which other sizes are known."""
    writer.symbols, writer.entry, writer.early, writer.waiting = {}, frozenset(), set(), []
    writer.lists = lists_in_place(block)
    parameters = ", ".join(map(writer.name, block.parameters))
    writer.text += [("", None), (f"def {writer.functions[name]}({parameters}):", None)]
    known = origins(block.parameters)
    writer.refuse = partial(_refuse, known)
    for symbol, origin in known.items():
        own = writer.symbols[symbol] = writer.fresh("s")
        writer.line(1, f"{own} = {bound_text(origin, writer.name(origin.variable))}")
    _block(writer, block, 1, free=True)
    _return(writer, block)


def with_clock(
    generated: Generated, clock: Callable[[], Any], put: Callable[[tuple[int, Any, Any]], object]
) -> tuple[Generated, list[Operator]]:
    """The function that reads a clock before and after each operator, and the operators.

    `put` is given the number of an operator among them, and both times.
    """
    text: list[str] = []
    lines: dict[int, Operator] = {}
    timed: list[Operator] = []
    for number, line in enumerate(generated.source.split("\n"), 1):
        operator = generated.lines.get(number)
        is_timed = operator is not None and not operator.blocks and operator.name != CALL
        depth = line[: len(line) - len(line.lstrip())]
        if is_timed:
            text.append(f"{depth}at = now()")
        text.append(line)
        if operator is not None:
            lines[len(text)] = operator
        if operator is not None and is_timed:
            text.append(f"{depth}put(({len(timed)}, at, now()))")
            timed.append(operator)
    namespace = {**generated.namespace, "now": clock, "put": put}
    return Generated("\n".join(text), namespace, lines, generated.outer), timed


def _block(writer: _Writer, block: Block, depth: int, free: bool) -> None:
    """The operators of a Block. Values from outside keep their names and are not freed here."""
    freed = last_uses(block)
    own = set(block.parameters)
    writer.over.update(overwritten(block))
    for operator in block.operators:
        if operator.name == "constant":
            value = operator.attributes["value"]
            scalar = value[()] if value.ndim == 0 else value
            writer.names[operator.results[0]] = writer.constant(scalar)
        elif operator.name in ("cond", "while"):
            write = _cond if operator.name == "cond" else _loop
            if depth > _MAX_DEPTH:
                # What is nested too deeply for Python, as a function of what it reads.
                function = writer.fresh("part")
                outer, writer.text = writer.text, []
                early, writer.early = writer.early, set()
                write(writer, operator, 1)
                read = [writer.name(operand) for operand in operator.operands]
                read += [*writer.symbols.values(), *sorted(writer.early)]
                inside = ", ".join(
                    name for name in dict.fromkeys(read) if name not in writer.namespace
                )
                results = ", ".join(writer.name(result) for result in operator.results)
                writer.line(1, f"return [{results}]")
                writer.apart += [("", None), (f"def {function}({inside}):", None), *writer.text]
                writer.text, writer.early = outer, early | writer.early
                call = f"{function}({inside})"
                writer.line(depth, f"[{results}] = {call}" if results else call)
            else:
                write(writer, operator, depth)
        else:
            _call(writer, operator, depth)
        if operator.name != "constant":
            for variable in operator.results:
                writer.bind_symbols(variable, depth)
        dead = [v for v in freed.get(operator, ()) if free or v not in own]
        # `del` what is not needed any more; small values are not worth the time.
        names = []
        for variable in dead:
            is_constant = isinstance(variable.maker, Operator) and variable.maker.name == "constant"
            if not is_constant and not is_small(variable):
                names.append(writer.name(variable))
        unique = [name for name in dict.fromkeys(names) if name not in writer.namespace]
        if unique:
            writer.line(depth, f"del {', '.join(unique)}")


NAMES = ("assign", "detach", "reshard")
"""The operators that give their operand another name."""


def is_small(variable: Variable) -> bool:
    """Whether memory of its own is cheaper than a thought about it."""
    type = variable.type
    return (
        isinstance(type, TensorType)
        and all(isinstance(size, int) and size <= 16 for size in type.shape)
        and type.rank <= 1
    )


def _call(writer: _Writer, operator: Operator, depth: int) -> None:
    definition = lookup(operator.name)
    if operator.name == CALL:
        function = writer.functions[operator.attributes["function"]]
        text = f"{function}({', '.join(map(writer.name, operator.operands))})"
        names = "".join(f"{writer.name(result)}, " for result in operator.results)
        writer.line(depth, f"{names}= {text}" if names else text, operator)
        return
    if definition.kernel is None:
        # A composite operator without kernel: the operators it is made of.
        assert definition.decompose is not None, f"operator {operator.name!r} has no kernel"
        tracer = Tracer()
        parameters = [tracer.block.add_parameter(operand.type) for operand in operator.operands]
        with tracer.tracing(), interpreting(tracer):
            results = definition.decompose(*parameters, **operator.attributes)
        results = results if isinstance(results, tuple) else (results,)
        for parameter, operand in zip(parameters, operator.operands, strict=True):
            writer.names[parameter] = writer.name(operand)
        for inner in tracer.block.operators:
            inner.location = operator.location
            writer.outer[inner] = writer.outer.get(operator, operator)
        tracer.block.yields = list(results)
        _block(writer, tracer.block, depth, free=False)
        own = [writer.name(result) for result in operator.results]
        _assign(writer, own, [writer.name(result) for result in results], depth)
        return
    if operator.name in NAMES:
        _assign(
            writer, [writer.name(operator.results[0])], [writer.name(operator.operands[0])], depth
        )
        return
    if operator.name == "require" and isinstance(operator.attributes["condition"], Condition):
        constraint = Constraint(operator.attributes["condition"], operator.attributes["message"])
        check = writer.late_check(LocatedConstraint(constraint, operator.location))
        writer.line(depth, check, operator)
        return
    operands = [writer.name(operand) for operand in operator.operands]
    # The call that writes its result over an operand, None if that may not be or does not pay.
    if operator in writer.lists.changed:
        changing = writer.constant(definition.in_place, "k")
        call = f"{changing}({', '.join([*operands, *_keywords(writer, operator)])})"
    else:
        index = writer.over.get(operator)
        if index is None or is_small(operator.results[0]):
            call = None
        else:
            target, kernel = operands[index], writer.constant(definition.kernel, "k")
            arguments = ", ".join([*operands, *_keywords(writer, operator)])
            call = f"{kernel}({arguments}, out={target})"
    if call is None:
        special = lowered(operator, operands)
        if special is not None:
            function, text = special
            call = text.format(writer.constant(function, "k"))
        else:
            arguments = ", ".join([*operands, *_keywords(writer, operator)])
            call = f"{writer.constant(definition.kernel, 'k')}({arguments})"
    targets = ", ".join(writer.name(result) for result in operator.results)
    if not operator.results:
        writer.line(depth, call, operator)
    else:
        writer.line(depth, f"{targets} = {call}", operator)


def _keywords(writer: _Writer, operator: Operator) -> list[str]:
    attributes = operator.attributes
    for name in attributes:
        assert name.isidentifier() and not keyword.iskeyword(name), name
    return [f"{name}={writer.attribute(value)}" for name, value in attributes.items()]


def _cond(writer: _Writer, operator: Operator, depth: int) -> None:
    condition, *captured = operator.operands
    results = [writer.name(result) for result in operator.results]
    bound = dict(writer.symbols)
    waiting = list(writer.waiting)
    for block, head in zip(
        operator.blocks, (f"if {writer.name(condition)}:", "else:"), strict=True
    ):
        writer.line(depth, head, operator)
        start = len(writer.text)
        for parameter, operand in zip(block.parameters, captured, strict=True):
            writer.names[parameter] = writer.name(operand)
        _nested(writer, block, depth + 1)
        yields = [writer.name(variable) for variable in block.yields]
        _assign(writer, results, yields, depth + 1)
        if len(writer.text) == start:
            writer.line(depth + 1, "pass")
        writer.symbols, writer.waiting = dict(bound), list(waiting)


def _loop(writer: _Writer, operator: Operator, depth: int) -> None:
    condition, body = operator.blocks
    count = len(operator.results)
    carried = [writer.name(result) for result in operator.results]
    first = [writer.name(operand) for operand in operator.operands[:count]]
    captured = operator.operands[count:]
    for place in range(count):
        if (operator, place) in writer.lists.copied:
            first[place] = f"[*{first[place]}]"
    _assign(writer, carried, first, depth)
    for block in operator.blocks:
        for parameter, name in zip(block.parameters[:count], carried, strict=True):
            writer.names[parameter] = name
        for parameter, operand in zip(block.parameters[count:], captured, strict=True):
            writer.names[parameter] = writer.name(operand)
    bound, waiting = dict(writer.symbols), list(writer.waiting)
    writer.line(depth, "while True:", operator)
    for parameter in condition.parameters[:count]:
        writer.bind_symbols(parameter, depth + 1, again=True)
    _nested(writer, condition, depth + 1)
    writer.line(depth + 1, f"if not {writer.name(condition.yields[0])}: break", operator)
    for parameter in body.parameters[:count]:
        writer.bind_symbols(parameter, depth + 1, again=True)
    _nested(writer, body, depth + 1)
    _assign(writer, carried, [writer.name(v) for v in body.yields], depth + 1)
    writer.symbols, writer.waiting = bound, waiting


def _nested(writer: _Writer, block: Block, depth: int) -> None:
    outer, writer.nested = writer.nested, True
    _block(writer, block, depth, free=False)
    writer.nested = outer


def _assign(writer: _Writer, targets: Sequence[str], values: Sequence[str], depth: int) -> None:
    """All at once, since a value may be another's target."""
    pairs = [(t, v) for t, v in zip(targets, values, strict=True) if t != v]
    if pairs:
        left, right = zip(*pairs, strict=True)
        writer.line(depth, f"{', '.join(left)} = {', '.join(right)}")


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_is_symbolic(entry) for entry in value)
    return isinstance(value, (Dim, Condition))


def _has_only_sizes(value: Any) -> bool:
    """Whether nothing in nested tuples is a global of the generated module."""
    if isinstance(value, tuple):
        return all(map(_has_only_sizes, value))
    return value is None or isinstance(value, (bool, int, Dim, Condition))


def _refuse(known: Mapping[Dim, Origin], entry: LocatedConstraint, values: tuple[int, ...]) -> None:
    """Raise what is to say of a constraint that does not hold."""
    sizes = dict(zip(symbols(entry.constraint.condition), values, strict=True))
    raise broken(entry, sizes, known)


def bound_text(origin: Origin, array: str) -> str:
    """The value of a symbol as a Python expression."""
    _, factor, offset = origin.solved
    real = f"{array}.shape[{origin.axis}]"
    return real if (factor, offset) == (1, 0) else f"({real} - {offset}) // {factor}"


def fits_function(program: Program, namespace: dict[str, Any]) -> list[str]:
    """The lines of `fits`: whether the inputs have the dtypes and sizes that the Program takes."""
    names_of_all = [f"x{index}" for index in range(len(program.inputs))]
    pairs = zip(program.inputs, names_of_all, strict=True)
    arrays = {v: name for v, name in pairs if isinstance(v.type, TensorType)}
    lines = []
    for variable, array in arrays.items():
        namespace[f"dtype_{array}"] = variable.dtype
        rank = variable.tensor_type.rank
        lines.append(
            f"if {array}.dtype != dtype_{array} or len({array}.shape) != {rank}: return False"
        )
    known, names = origins(program.inputs), dict[Dim, str]()
    for symbol, origin in known.items():
        name = names[symbol] = f"s{len(names)}"
        lines.append(f"{name} = {bound_text(origin, arrays[origin.variable])}")
        largest = "" if symbol.maximum is None else f" <= {symbol.maximum}"
        lines.append(f"if not {symbol.minimum} <= {name}{largest}: return False")
    tests = [
        f"{array}.shape[{axis}] == "
        f"{to_python(size, names.__getitem__) if isinstance(size, Dim) else size}"
        for variable, array in arrays.items()
        for axis, size in enumerate(variable.tensor_type.shape)
        if not _binds(size, known, variable, axis)
    ]
    lines.append(f"return {' and '.join(tests) or True}")
    return [f"def fits({', '.join(names_of_all)}):", *(f"    {line}" for line in lines)]


def _binds(size: Size, known: Mapping[Dim, Origin], variable: Variable, axis: int) -> bool:
    """Whether this axis is where a symbol comes from."""
    if not isinstance(size, Dim) or not is_symbol(size):
        return False
    origin = known[size]
    return origin.variable is variable and origin.axis == axis


def last_uses(block: Block) -> dict[Operator, list[Variable]]:
    """For every Operator the Variables that are read there for the last time, or never."""
    kept = set(block.yields)
    last: dict[Variable, Operator] = {}
    for operator in block.operators:
        for variable in (*operator.results, *operator.operands):
            last[variable] = operator
    freed: dict[Operator, list[Variable]] = {}
    for variable, operator in last.items():
        if variable not in kept:
            freed.setdefault(operator, []).append(variable)
    return freed


__all__ = ["NAMES", "Generated", "generate", "is_small", "last_uses", "with_clock"]
