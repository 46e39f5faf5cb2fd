"""A function that is called again with the same types, as a function of the Program and calls.

The first call is recorded in place. At the second one with the same key the function is traced once
more, into a Block of its own that reads nothing but its parameters; from there on each such call is
one operator. This is done only where nobody can tell the difference: the function writes nothing,
changes no tensor in place, shows nothing, and returns new tensors or its arguments. All else, and
what is refused there, is recorded in place as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from dy2st.convert.call_context import Function, Key, Read, Recorded, Running, Site
from dy2st.convert.objects import cell_value
from dy2st.convert.stage.branch import end_region
from dy2st.convert.stage.counterparts import Counterparts
from dy2st.convert.stage.outcome import noted
from dy2st.convert.stage.recursion import name_of, recursive_call, tried
from dy2st.convert.trace import Region, Trace
from dy2st.convert.types import info
from dy2st.convert.values.flatten import build, flatten
from dy2st.convert.values.layout import Same, as_value_layout
from dy2st.convert.values.special import UNBOUND
from dy2st_runtime.dims import Dim, is_symbol, symbols
from dy2st_runtime.errors import listener
from dy2st_runtime.ir import Block, Operator, Tensor, TensorType, Variable
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.functions import define, relative_layers, symbols_in
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.promotion import autocast, is_paddles
from dy2st_runtime.ir.sizes import made_since, origins
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.ops.control_flow import append_call, is_unseen, shared_by

_CELL = "cell_contents"
_GAIN = 4  # one Layer that is like another one makes up for so many that are not


def repeatable(
    trace: Trace, function: FunctionType, bound: Callable[..., Any], site: Site | None = None
) -> Callable[..., Any]:
    """The traced form of a function, recorded as a function of the Program once it is repeated.

    site: that of one which gives its items away, which is recorded so only if it calls itself.
    """
    is_pushing = site is not None
    is_own = id(function) in trace.own
    site = site or trace.repeats.site(function.__code__ if is_own else function)

    def run(*args: Any, **kwargs: Any) -> Any:
        depth, repeats = len(trace.state.paths), trace.repeats
        one = Running(function, bound, args, kwargs, depth, trace.rounds)
        if site.running or site.settled is not None or site.recursion is not None:
            found = recursive_call(trace, site, one)
            if found is not NotImplemented:
                return found
            site.nested += trace.is_nested
        site.running.append(one)
        try:
            is_plain = is_pushing or site.is_refused or not may_repeat(trace)
            if is_plain or not any(depth or type(arg) is Variable for arg in args):
                return bound(*args, **kwargs)
            if site.called or site.functions:
                found = call_of_function(trace, site, one)
                if found is not NotImplemented:
                    return found
            block = trace.tracer.block
            with repeats.logging():
                before, start, mark = _state(trace), len(block.operators), len(repeats.log)
                result = bound(*args, **kwargs)
                operators = block.operators[start:]
                if trace.tracer.block is block and is_large(operators, repeats.least):
                    call = Call(trace, one)
                    if _state(trace) != before:
                        site.is_refused = True
                    elif call.fits:
                        given, results = call.leaves, variables_of(result)
                        leaves = [*map(trace.tracer.captured, given)]
                        ends = [*map(trace.tracer.captured, results)]
                        place = trace.tracer.locate(), trace.tracer.layer
                        read = repeats.read_since(mark)
                        first = Recorded(call.objects, read, operators, leaves, ends, *place)
                        repeats.note(site, call.key, first)
            return result
        finally:
            site.running.pop()

    return run


def may_repeat(trace: Trace) -> bool:
    """Whether what is recorded here depends on nothing but what a key has."""
    is_plain = (
        not trace.handlers
        and not trace.repeats.is_off
        and not trace.repeats.settling
        and listener.hear is None
        and autocast() is None
    )
    return is_plain and trace.tracer.recompute_call == 0 and not trace.tracer.has_gone_back


def call_of_function(trace: Trace, site: Site, one: Running) -> Any:
    """A call of a function of the Program, made now if need be; NotImplemented if there is none."""
    call = Call(trace, one)
    if not call.fits:
        return NotImplemented
    # The function that it is of is one which reads here what it was recorded with.
    same_key, layer = site.functions.get(call.key, ()), trace.tracer.layer
    matches = (match(trace, site, made, call.objects, layer) for made in same_key)
    found = next((made for made in matches if made is not None), None)
    first = first_of(trace, site, call) if found is None else None
    if first is not None:
        found = record_function(trace, site, one, call)
    if found is None:
        return NotImplemented
    if first is not None and first.function is None:
        # What was recorded in place is a call of it, too, when the trace ends.
        first.function = match(trace, site, found, first.objects, first.layer)
    return make_call(trace, found, call)


def variables_of(value: Any) -> Iterator[Variable]:
    """The Variables in a result, in the order in which it is taken apart."""
    if isinstance(value, (tuple, list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from variables_of(one)
    elif type(value) is Variable:
        yield value


def _state(trace: Trace) -> tuple[int, ...]:
    """What a function leaves alone that may be one of the Program."""
    return trace.repeats.version, *noted(trace)


def is_large(operators: Sequence[Operator], least: int) -> bool:
    """Whether operators, with those in their Blocks, are at least as many."""
    count = len(operators)
    for operator in operators:
        if count >= least:
            return True
        count += sum(1 for block in operator.blocks for _ in block.walk())
    return count >= least


# -- the key of a call ------------------------------------------------------------------------


class Call:
    """One call: its key, and the Variables that it gives the function.

    fits     whether it can be one of a function of the Program.
    cells    variables of functions around that the function reads, and what they hold.
    objects  those from outside; in the place of a Layer another one of its class may be.
    """

    def __init__(self, trace: Trace, one: Running):
        """Look at all that the function is given."""
        self.args, self.kwargs = one.args, one.kwargs
        self.leaves: list[Variable] = []
        self.cells: list[tuple[CellType, Any]] = []
        self.objects: list[Any] = []
        self._trace, self._places = trace, dict[int, int]()
        self._words: list[Any] = [
            trace.repeats.version,
            is_grad_enabled(),
            is_paddles(),
            len(one.args),
            *one.kwargs,
        ]
        self.fits = (
            self._function(one.function)
            and all(map(self._value, one.args))
            and all(map(self._value, one.kwargs.values()))
        )
        self.key: Key = tuple(self._words) if self.fits else ()

    def _function(self, function: FunctionType) -> bool:
        """A function itself: of one that the trace has made, what it is made of."""
        trace = self._trace
        if id(function) not in trace.own:
            return trace.is_outside(function) and self._by_id(function)
        if self._met(function):
            return True
        plain = not function.__dict__ and not function.__kwdefaults__
        defaults = function.__defaults__ or ()
        return (
            plain
            and self._by_id(function.__code__)
            and all(map(self._value, defaults))
            and all(map(self.take_cell, function.__closure__ or ()))
        )

    def take_cell(self, cell: CellType) -> bool:
        """A variable that functions share: it is given with what it holds now."""
        trace = self._trace
        if self._met(cell):
            return True
        place = trace.over.get((id(cell), _CELL))
        if id(cell) not in trace.own:
            return place is None and self._by_id(cell)
        held = cell_value(cell) if place is None else place.value
        if held is UNBOUND:
            return False
        self.cells.append((cell, held))
        return self._value(held)

    def _value(self, value: Any) -> bool:
        kind = type(value)
        if kind is Variable:
            return self.take_variable(value)
        if info(kind).is_atom or isinstance(value, np.dtype):
            self._words.append((kind, repr(value) if kind in (float, complex) else value))
            return True
        if kind is Dim:
            return self._by_id(value)
        if kind is tuple:
            self._words.append((kind, len(value)))
            return all(map(self._value, value))
        if kind is FunctionType:
            return self._function(value)
        if kind is MethodType:
            return self._function(value.__func__) and self._value(value.__self__)
        if not self._trace.is_outside(value):
            return False
        if not isinstance(value, Layer):
            return self._by_id(value)
        if not self._met(value):  # another one of its class has the same key
            self.objects.append(value)
            self._words.append(self._kept(type(value)))
        return True

    def take_variable(self, value: Variable) -> bool:
        """A value of the Program: by its type, and by its place among those that were given."""
        if self._met(value):
            return True
        now = self._trace.tracer.captured(value)
        if not isinstance(now.type, TensorType) or now.overwritten or data_of(now) is not None:
            return False
        self.leaves.append(value)
        # By identity: equal sizes are one object, and one that is only proved equal is another one.
        sizes = [one if type(one) is int else self._kept(one) for one in now.type.shape]
        kind = value.number, value.mixed, value.is_numpy
        self._words.append((Variable, now.type.dtype, *sizes, *kind))
        return True

    def _met(self, value: Any) -> bool:
        """Whether it was given before: then the key has the place of that."""
        if id(value) in self._places:
            self._words.append(("again", self._places[id(value)]))
            return True
        self._places[id(value)] = len(self._places)
        return False

    def _by_id(self, value: Any) -> bool:
        self.objects.append(value)
        self._words.append(self._kept(value))
        return True

    def _kept(self, value: Any) -> tuple[str, int]:
        """A word for an object that no other one ever gets."""
        self._trace.repeats.kept[id(value)] = value
        return "id", id(value)


def match(
    trace: Trace, site: Site, made: Function, objects: Sequence[Any], layer: str
) -> Function | None:
    """A function with what it reads in a Layer; None if that is something else."""
    tracer, found = trace.tracer, made
    if not all(map(is_, made.objects, objects)):
        if not site.patience:
            return None
        both = alike(trace, site, made.objects, objects, made.reads)
        if both is None or not (made.layer is None or both[0].layers_are_below(made.layer, layer)):
            return None
        tensors = [both[0].tensor(tracer.flags.state.get(outer)) for outer in made.captured]
        if any(one is None for one in tensors):
            return None
        found = replace(made, captured=[*map(tracer.captured, tensors)], reads=both[1])
    elif made.layer not in (None, layer):
        return None
    for outer in found.captured:
        tensor = tracer.flags.state.get(outer, outer)
        if tracer.held_by(tensor) is not outer or outer.overwritten is not None:
            return None
        if outer.maker is not tracer.program.block:
            return None
    return found


def alike(
    trace: Trace, site: Site, ones: Sequence[Any], others: Sequence[Any], reads: Sequence[Read]
) -> tuple[Counterparts, Sequence[Read]] | None:
    """What Layers have in the place of those of a call, with their reads; None if they differ.

    Where most of them do, none are compared any more.
    """
    found = Counterparts(trace, ones, others)
    followed = found.follow(reads)
    site.patience += _GAIN if followed is not None else -1
    return None if followed is None else (found, followed)


def first_of(trace: Trace, site: Site, call: Call) -> Recorded | None:
    """A call like this that was recorded before."""
    for known in site.called.get(call.key, ()):
        if all(map(is_, known.objects, call.objects)):
            return known
        if site.patience and alike(trace, site, known.objects, call.objects, known.read()):
            return known
    return None


def make_call(trace: Trace, made: Function, call: Call) -> Any:
    """One call, and what it returns."""
    tracer = trace.tracer
    for owner, kind, name, value in made.reads:
        trace.read(kind, owner, name, value)
    given = [*call.leaves, *made.captured]
    operands = [*map(tracer.local, given)]
    block = made.block
    types = [one.type for one in block.yields]
    results = append_call(tracer, made.name, operands, types, made.shared)
    known = dict(zip([*block.parameters, *block.yields], [*given, *results], strict=True))
    return build(trace, made.layout, iter([known[one] for one in made.leaves]))


# -- recording a function ---------------------------------------------------------------------


def record_function(trace: Trace, site: Site, one: Running, call: Call) -> Function | None:
    """Record a function for calls of a key; None if it has to be recorded in place."""
    repeats, tracer = trace.repeats, trace.tracer
    with tried(trace) as trial:  # what it is refused for is said where it is recorded in place
        trial.made = attempt(trace, one, call)
    made: Function | None = trial.made
    if made is None:
        site.is_refused = True
        return None
    made.name = repeats.free_name(name_of(one.function))
    define(tracer.program, made.name, made.block)
    tracer.aliases.separated(made.block.parameters)
    site.functions.setdefault(call.key, []).append(made)
    repeats.made.append((site, call.key, made))
    return made


def attempt(trace: Trace, one: Running, call: Call) -> Function | None:
    """Record what a call of a function does; None if no function can stand for it."""
    before, repeats, tracer = _state(trace), trace.repeats, trace.tracer
    with repeats.logging(), tracer.apart(), trace.region() as region:
        mark = len(repeats.log)
        own = parameters_for(trace, one.function, call)
        given = {id(value): one for value, one in zip(call.leaves, own, strict=True)}
        cells = {id(cell): _with(value, given) for cell, value in call.cells}
        for cell, _ in call.cells:
            trace.write(cell, _CELL, cells[id(cell)])
        args = [_with(value, given) for value in call.args]
        kwargs = {name: _with(value, given) for name, value in call.kwargs.items()}
        end_region(trace, region, lambda: (one.bound(*args, **kwargs),))
        reads = repeats.read_since(mark)()
        unchanged = all(tracer.held_by(one) is one and not one.overwritten for one in own)
    if not unchanged or _state(trace) != before or not is_silent(region, cells):
        return None
    return as_function(trace, region, own, call, reads)


def parameters_for(trace: Trace, function: FunctionType, call: Call) -> list[Variable]:
    """The parameters of the Block that is recorded, for what a call gives."""
    tracer, names = trace.tracer, function.__code__.co_varnames
    named = {id(one): name for one, name in zip(call.args, names, strict=False)}
    named |= {id(one): name for name, one in call.kwargs.items()}
    own = []
    for value in call.leaves:
        one = tracer.block.add_parameter(tracer.captured(value).type, named.get(id(value), ""))
        one.number, one.mixed, one.is_numpy = value.number, value.mixed, value.is_numpy
        own.append(one)
    return own


def _with(value: Any, given: Mapping[int, Variable]) -> Any:
    """What the function gets for a value: parameters in place of Variables."""
    if type(value) is tuple:
        return tuple([_with(one, given) for one in value])
    return given.get(id(value), value)


def is_silent(region: Region, cells: Mapping[int, Any]) -> bool:
    """Whether code has ended with a result, and has changed nothing that others know."""
    if region.raised is not None or region.outcome is not None or region.tensors:
        return False
    born = region.changed["born"]
    for (owner, _), place in region.changes.items():
        if owner not in born and (owner not in cells or place.value is not cells[owner]):
            return False
    marked = (*region.left_in("fragile"), *region.left_in("stale"))
    return all(one in born for one in marked) and all(
        _is_inside(variable, region.block) for variable in region.overwritten
    )


def _is_inside(tensor: Tensor, root: Block) -> bool:
    """Whether an operator of a Block, or of one inside, makes a tensor."""
    if not isinstance(tensor, Variable) or tensor.maker is root:
        return False
    return any(block is root for block in tensor.block.outwards())


def as_function(
    trace: Trace, region: Region, own: Sequence[Variable], call: Call, reads: Sequence[Read]
) -> Function | None:
    """What was recorded, if calls can stand for it."""
    tracer, block = trace.tracer, region.block
    assert region.results is not None
    (result,) = region.results
    if not _is_plain(result, region):
        return None
    layout = as_value_layout(Same(result, region))
    with trace.resumed(region):
        found = [tracer.local(leaf) for leaf in flatten(trace, result, layout, region)]
    outer = {inner: one for one, inner in tracer.captured_by(block).items()}
    arguments = [*own, *outer]
    known = {*own}  # as a set: tensors in a list would be compared by their elements
    outs = list(dict.fromkeys(one for one in found if one not in known))
    block.yields = outs
    shared, layer = shared_by(tracer, block, len(outs)), relative_layers(block, tracer.layer)
    if layer is None:
        return None
    # Parameters bind all sizes that the function has not found itself.
    bound, made = origins(block.parameters).keys(), made_since(region.since)
    # A call finds such a size where an axis of a result is the size itself.
    shapes = [one.tensor_type.shape for one in outs]
    found_at_calls = {size for shape in shapes for size in shape if is_symbol(size)}
    fits = (
        len(block.parameters) == len(arguments)
        and all(map(is_, block.parameters, arguments))
        and outer.keys().isdisjoint(outs)
        and all(one.maker is tracer.program.block for one in outer.values())
        and all(data_of(one) is None for one in outs)
        # A view of what a function has made itself is as any other tensor, if it is the only one.
        and all(_is_inside(tracer.views.root(one), block) for one in outs)
        and not any(other < len(outs) for _, other in shared)
        and all(map(is_unseen, block.walk()))
        and symbols_in(block).keys() <= bound | made
        and bound | found_at_calls >= {*symbols(shapes)}
    )
    if not fits:
        return None
    return Function(
        "", block, layout, found, shared, [*outer.values()], layer or None, call.objects, reads
    )


def _is_plain(value: Any, region: Region) -> bool:
    """Whether a result is made of tensors, constants and new containers."""
    if type(value) is Variable:
        return isinstance(value.type, TensorType)
    if info(type(value)).is_atom or isinstance(value, np.dtype):
        return True
    held = value
    if type(value) in (list, dict) and region.is_new(value):
        held = region.raw(value)
    elif type(value) is not tuple:
        return False
    parts = held.values() if type(held) is dict else held
    return type(held) is type(value) and all(_is_plain(one, region) for one in parts)
