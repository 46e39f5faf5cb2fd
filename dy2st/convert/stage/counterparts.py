"""Calls that are like one before: those of Layers that are alike, and the first call itself.

A function of the Program that was recorded for one Layer serves another one, if all that was read
from the first is found in the second: the same constants, tensors of the same types, and objects
of the same classes of which this holds again. Whatever is not understood is taken to differ.

That a call recorded in place is the first of several is known only when the second one comes; and
the values that it has made are those of the code behind it. So it becomes a call when the trace has
ended, where nothing but the results is used elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from dy2st.convert.call_context import Read, Recorded
from dy2st.convert.replay.places import value_at
from dy2st.convert.trace import Trace
from dy2st.convert.types import info, same
from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.ir import Block, Operator, Tensor, TensorType, Tracer, Variable
from dy2st_runtime.ir.functions import CALL
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.tables import Table

# What Layers call themselves and what their parameters were made by: nothing computes with it.
_LABELS = frozenset({"_full_name", "_weight_attr", "_bias_attr", "_param_attr"})


class Counterparts:
    """The objects that were found so far, each with the one in its place."""

    def __init__(self, trace: Trace, ones: Sequence[Any], others: Sequence[Any]):
        """Begin with Layers that calls are given."""
        self._trace = trace
        self.others: dict[int, tuple[Any, Any]] = {}
        self._ones: dict[int, Any] = {}
        self.are_alike = all(map(self._fit, ones, others))

    def follow(self, reads: Iterable[Read]) -> list[Read] | None:
        """The same reads of the other Layers; None if they find other things."""
        found: list[Read] = []
        for read in reads if self.are_alike else ():
            owner, kind, name, value = read
            if id(owner) not in self.others:
                # What no Layer was found to hold is the same for all; if it is another object of
                # one Layer, that was read in a way that is not known here.
                is_common = isinstance(owner, (type, FunctionType, ModuleType, np.dtype))
                is_module = type(owner) is dict and "__spec__" in owner and "__name__" in owner
                if not is_common and not is_module:
                    return None
                self._fit(value, value)
                found.append(read)
                continue
            other = self.others[id(owner)][1]
            is_place = kind in ("attr", "item") and other is not owner
            held = value_at(other, kind, name) if is_place else value
            if not self.fits_read(owner, other, kind, value, held):
                return None
            found.append((other, kind, name, held))
        return found if self.are_alike else None

    def tensor(self, one: Any) -> Any:
        """The tensor in the place of one; None if nobody has read it."""
        pair = self.others.get(id(one))
        return None if pair is None else pair[1]

    def layers_are_below(self, one: str, other: str) -> bool:
        """Whether Layers have the same paths, from two on: so operators can be named alike."""
        of = self._trace.record.layer_paths.of
        return all(
            _below(of(left, one), one) == _below(of(right, other), other) is not None
            for left, right in self.others.values()
            if isinstance(left, Layer)
        )

    def fits_read(self, owner: Any, other: Any, kind: str, value: Any, held: Any) -> bool:
        """Whether a read of one finds in the other what may stand in its place."""
        if owner is other:
            return self._fit(value, value) and all(self._fit(v, v) for v in _held(owner, kind))
        if any(key[0] == id(other) for key in self._trace.over):
            return False
        if kind in ("attr", "item"):
            return self._fit(value, held)
        if kind in ("content", "length") and type(owner) is type(other):
            return self._fit_contents(owner, other, kind == "content")
        if kind == "layer":
            return not value and self.fit_layers(owner, other)
        return False

    def _fit_contents(self, one: Any, other: Any, is_read: bool) -> bool:
        if type(one) not in (list, dict, Table) or len(one) != len(other):
            return False
        if isinstance(one, dict) and [*one] != [*other]:
            return False
        pairs = zip(_held(one, "content"), _held(other, "content"), strict=True)
        return not is_read or all(self._fit(*pair) for pair in pairs)

    def fit_layers(self, one: Layer, other: Layer) -> bool:
        """Whether all that two Layers hold fits."""
        mine, its = vars(one), vars(other)
        if [*mine] != [*its] or one._forward_pre_hooks or one._forward_post_hooks:
            return False
        for name, value in mine.items():
            held = its[name]
            if name in _LABELS or (type(value) is set and value == held):
                continue
            is_container = type(value) in (Table, dict, list)
            if not self._fit(value, held):
                return False
            if is_container and not self._fit_contents(value, held, True):
                return False
        return True

    def _fit(self, one: Any, other: Any) -> bool:
        """Whether one object may stand in the place of another one; noted if so."""
        if id(one) in self.others:
            return self.others[id(one)][1] is other
        if type(one) is not type(other):
            return False
        if info(type(one)).is_atom or isinstance(one, np.dtype):
            return same(one, other)
        if type(one) is tuple:
            return len(one) == len(other) and all(map(self._fit, one, other))
        if one is not other:
            if id(other) in self._ones or not isinstance(one, (Layer, Tensor, list, dict)):
                return False
            if isinstance(one, Tensor) and (one.dtype, [*one.shape]) != (
                other.dtype,
                [*other.shape],
            ):
                return False
        self.others[id(one)] = one, other
        self._ones[id(other)] = one
        return True


def _below(path: str, start: str) -> str | None:
    """A path from a Layer on that is around; None if that is not."""
    if not start or path == start:
        return path if not start else ""
    return path[len(start) :] if path.startswith(f"{start}.") else None


def _held(owner: Any, kind: str) -> Sequence[Any]:
    """What a container holds, where all of it was read."""
    if kind != "content" or not isinstance(owner, (list, dict)):
        return ()
    return [*owner.values()] if isinstance(owner, dict) else owner


def replace_first_calls(trace: Trace) -> None:
    """Let calls stand for what was recorded in place before there was a function."""
    blocks: dict[Block, list[Recorded]] = {}
    # What was recorded in another call was noted before that: outer ones first.
    for _, _, first in reversed(trace.repeats.called):
        made = first.function
        if (
            made is not None
            and first.operators
            and trace.tracer.program.functions.get(made.name) is made.block
        ):
            blocks.setdefault(first.operators[0].block, []).append(first)
    for block, firsts in blocks.items():
        replace_in_block(trace.tracer, block, firsts)


def replace_in_block(tracer: Tracer, block: Block, firsts: Sequence[Recorded]) -> None:
    """Put calls in the place of what stands in a Block in one piece still."""
    places = {operator: place for place, operator in enumerate(block.operators)}
    last_used = {one: place for operator, place in places.items() for one in operator.operands}
    last_used |= dict.fromkeys(block.yields, len(places))
    left: list[Operator | None] = [*block.operators]
    for first in firsts:
        start = places.get(first.operators[0], len(left))
        end = start + len(first.operators)
        if end <= len(left) and all(map(is_, left[start:end], first.operators)):
            # What other operators use has to be among the results.
            made = (one for operator in first.operators for one in operator.results)
            used = {one for one in made if last_used.get(one, 0) >= end}
            call = call_for(tracer, block, first)
            if call is not None and used <= {*call.results}:
                left[start:end] = [call, *[None] * (len(first.operators) - 1)]
                for one in call.results:
                    one.maker = call
    block.operators[:] = [one for one in left if one is not None]


def call_for(tracer: Tracer, block: Block, first: Recorded) -> Operator | None:
    """The call that stands for the first one; None if that differs from what was recorded later."""
    made, inside = first.function, {one for o in first.operators for one in o.results}
    assert made is not None
    given = [*first.arguments, *made.captured]
    operands = [seen_in(tracer, block, one) for one in given]
    if len(first.leaves) != len(made.leaves) or any(one is None for one in operands):
        return None
    found = dict(zip(made.leaves, first.leaves, strict=True))
    results = [found[one] for one in made.block.yields]
    sizes = {size for one in given for size in symbols_of(one)}
    if (
        not inside.issuperset(results)
        or len({*results}) < len(results)
        or [one.type for one in results] != [one.type for one in made.block.yields]
        or any(found[leaf] is not one for leaf, one in zip(made.leaves, first.leaves, strict=True))
        # A size that the data decide inside may be named in what the Program requires.
        or any(size not in sizes for one in inside for size in symbols_of(one))
    ):
        return None
    known = [one for one in operands if one is not None]
    call = Operator(CALL, known, {"function": made.name}, block)
    call.results, call.location = results, first.location
    return call


def symbols_of(variable: Variable) -> Sequence[Dim]:
    """The symbols in the shape of a value."""
    return symbols(variable.type.shape) if isinstance(variable.type, TensorType) else ()


def seen_in(tracer: Tracer, block: Block, variable: Variable) -> Variable | None:
    """A value of a Block around as a finished Block has it; None if it does not read that."""
    if variable.block is block:
        return variable
    if block.parent is None:
        return None
    outer = seen_in(tracer, block.parent, variable)
    known: Mapping[Variable, Variable] = tracer.captured_by(block)
    return None if outer is None else known.get(outer)
