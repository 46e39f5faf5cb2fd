"""Operators of a Program as calls of jax, while jax traces: its trace is the code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, to_python
from dy2st_runtime.engine.xla.host_operators import IDENTITIES
from dy2st_runtime.engine.xla.library import callbacks, jax, jnp, lax
from dy2st_runtime.engine.xla.lists import rooms, with_room
from dy2st_runtime.engine.xla.lowerings.indexing import along_axis
from dy2st_runtime.engine.xla.lowerings.numbers import INT32, cast
from dy2st_runtime.engine.xla.mesh import constrain
from dy2st_runtime.engine.xla.plan import Island, Planner
from dy2st_runtime.engine.xla.table import ALONG, CHECKS, DRAWS, LOWERINGS
from dy2st_runtime.ir.definition import Effect, lookup
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType

Sizes = Mapping[Dim, Any]
"""Numbers; of an export sizes that jax knows by name."""


Layouts = Mapping[Variable, Callable[[Sequence[int]], Any]]
"""Of values that lie on a mesh what says where, of their shapes."""


def traceable(
    planner: Planner, island: Island, sizes: Sizes, layouts: Layouts = MappingProxyType({})
) -> Callable[[Sequence[Any], Any], tuple[list[Any], Any]]:
    """A function for jax: what an island writes of what it reads, and whether all is well.

    Behind what it writes is, for each of `island.chosen`, the number of what was read that it is,
    counted from 1, or 0 if it is a new value. It takes a key too, two numbers of 32 bits, if the
    island draws random numbers.
    """

    def run(arguments: Sequence[Any], key: Any) -> tuple[list[Any], Any]:
        trace = Trace(planner, sizes, None if key is None else jax.random.wrap_key_data(key))
        known = island.known(arguments)
        trace.reads(island)
        trace.operators(island.operators, known)
        made = [known[variable] for variable in island.writes]
        for place, variable in enumerate(island.writes):
            if variable in layouts:
                made[place] = constrain(made[place], layouts[variable](made[place].shape))
        origins = trace.origins([island.writes[place] for place in island.chosen])
        return made + origins, trace.well

    return run


class Trace:
    """One trace of operators; `well` is whether their checks hold, None where there are none."""

    def __init__(self, planner: Planner, sizes: Sizes, key: Any = None) -> None:
        """Take the numbers of all symbols, and a key of jax for random numbers if any are drawn."""
        self._planner = planner
        self._sizes = sizes
        self._key = key
        self.well: Any = None
        self._is_over = False  # whether a check is surely down: what follows is never reached
        self._is_inner = False  # whether it is of a branch or loop
        self._origin: dict[Variable, Any] | None = None  # by value; None if nobody asks

    def reads(self, island: Island) -> None:
        """Note which value is which of those that an island reads, if that is asked."""
        if island.chosen:
            numbers = {variable: number for number, variable in enumerate(island.reads, 1)}
            others = {v: numbers[one] for v, one in island.alias.items() if one in numbers}
            self._origin = numbers | others

    def origins(self, variables: Sequence[Variable]) -> list[Any]:
        """Which of what is read each of these values is, 0 if none; nothing if nobody asks."""
        known = self._origin
        return [] if known is None else [jnp.asarray(known.get(v, 0), INT32) for v in variables]

    def block(self, block: Block, arguments: Sequence[Any], origins: Any = ()) -> list[Any]:
        """What a Block yields."""
        known = dict(zip(block.parameters, arguments, strict=True))
        self._note(block.parameters, origins)
        self.operators(block.operators, known)
        return [known[variable] for variable in block.yields]

    def operators(self, operators: Sequence[Operator], known: dict[Variable, Any]) -> None:
        """Add what operators give to what is known."""
        for operator in operators:
            if self._is_over:
                known.update({one: self._zeros(one, known) for one in operator.results})
                continue
            results = self._operation(operator, [known[v] for v in operator.operands])
            for variable, value in zip(operator.results, results, strict=True):
                known[variable] = _typed(value, variable)
            if operator.name in IDENTITIES:
                self._note(operator.results, self.origins(operator.operands))

    def _note(self, variables: Sequence[Variable], origins: Sequence[Any]) -> None:
        if origins:
            self._origin = {**(self._origin or {}), **dict(zip(variables, origins))}

    def _operation(self, operator: Operator, operands: list[Any]) -> Sequence[Any]:
        if operator.name == "cond":
            return self._cond(operator, operands)
        if operator.name == "while":
            return self._loop(operator, operands)
        is_drawn = self._planner.draws(operator)
        if lookup(operator.name).effect is Effect.RANDOM and not is_drawn:
            return self._drawn_by_numpy(operator, operands)
        parts = self._planner.parts(operator)
        if parts is not None:
            return self.block(parts, operands)
        real = partial(number, sizes=self._sizes)
        attributes = {name: real(value) for name, value in operator.attributes.items()}
        axis = along_axis(operator, real) if operator.name in ALONG else None
        if is_drawn:
            made = DRAWS[operator.name](self._next_key(), *operands, **attributes)
        elif axis is None:
            made = LOWERINGS[operator.name](*operands, **attributes)
        else:
            made = ALONG[operator.name](*operands, **attributes, axis=axis)
        check = CHECKS.get(operator.name)
        if check is not None:
            self._require(check(made, *operands, **attributes))
        return made if isinstance(made, (tuple, list)) else [made]

    def _zeros(self, variable: Variable, known: Mapping[Variable, Any]) -> Any:
        """Any value of the type: sizes may be wrong where a check is down, and nobody reads it."""
        if isinstance(variable.type, ArrayType):
            return next(one for v, one in known.items() if v.type == variable.type)
        shape = [max(size, 0) for size in number(variable.tensor_type.shape, self._sizes)]
        return jnp.zeros(shape, variable.tensor_type.dtype)

    def _require(self, well: Any) -> None:
        if well is True:  # known while tracing: no flag to look at
            return
        self._is_over = well is False
        self.well = well if self.well is None else jnp.logical_and(self.well, well)

    def _next_key(self) -> Any:
        self._key, key = jax.random.split(self._key)
        return key

    def _apart(
        self, block: Block, arguments: Sequence[Any], key: Any, origins: Sequence[Any] = ()
    ) -> tuple[Any, list[Any], list[Any]]:
        """Whether all is well in a Block, what it yields, and the origins of that."""
        inner = Trace(self._planner, self._sizes, key)
        inner._is_inner = True
        results = inner.block(block, arguments, origins)
        well = jnp.asarray(True if inner.well is None else inner.well)
        return well, results, inner.origins(block.yields)

    def _with_rooms(self, operator: Operator, operands: list[Any]) -> list[Any]:
        """The operands of a branch or loop; the outermost has room for all that is appended."""
        found = {} if self._is_inner else rooms(operator) or {}
        first = 1 if operator.name == "cond" else 0
        made = [*operands]
        for place, parameter in enumerate(operator.blocks[-1].parameters, first):
            if isinstance(parameter.type, ArrayType):
                element, room = parameter.type.element, number(found.get(place, 0), self._sizes)
                assert isinstance(element, TensorType)
                shape = number(element.shape, self._sizes)
                made[place] = with_room(made[place], element, shape, max(room, 0))
        return made

    def _cond(self, operator: Operator, operands: list[Any]) -> list[Any]:
        condition, *captured = self._with_rooms(operator, operands)
        given = self.origins(operator.operands[1:])

        def branch(block: Block) -> Callable[..., Any]:
            def run(key: Any, *arguments: Any) -> tuple[Any, list[Any], list[Any]]:
                well, yields, origins = self._apart(block, arguments, key, given)
                pairs = zip(yields, operator.results, strict=True)
                return well, [_typed(value, variable) for value, variable in pairs], origins

            return run

        key = self._next_key() if self._planner.takes_key(operator) else None
        branches = map(branch, operator.blocks)
        well, results, origins = lax.cond(_truth(condition), *branches, key, *captured)
        self._note(operator.results, origins)
        if self._planner.may_fail(operator):
            self._require(well)
        return list(results)

    def _loop(self, operator: Operator, operands: list[Any]) -> list[Any]:
        """With what the condition checks made in the body: a loop ends where one does not hold."""
        count, operands = len(operator.results), self._with_rooms(operator, operands)
        captured, (condition, body) = operands[count:], operator.blocks
        given = self.origins(operator.operands)

        def goes_on(key: Any, values: Sequence[Any], _: Any) -> tuple[Any, Any]:
            well, (truth,), _ = self._apart(condition, [*values, *captured], _folded(key, 0))
            return well, jnp.logical_and(_truth(truth), well)

        def iterate(key: Any, values: Sequence[Any], origins: Any) -> tuple[Any, ...]:
            origins = [*origins, *given[count:]]
            well, yields, origins = self._apart(
                body, [*values, *captured], _folded(key, 1), origins
            )
            pairs = zip(yields, operator.results, strict=True)
            typed = [_typed(value, variable) for value, variable in pairs]
            return well, _folded(key, 2), typed, origins

        key = self._next_key() if self._planner.takes_key(operator) else None
        first = [_typed(v, r) for v, r in zip(operands[:count], operator.results, strict=True)]
        begin = key, first, given[:count]
        if not self._planner.may_fail(operator):  # a plain one, whose iterations XLA may count
            end = lax.while_loop(lambda s: goes_on(*s)[1], lambda s: iterate(*s)[1:], begin)
        else:

            def checked_iteration(state: tuple[Any, ...]) -> tuple[Any, ...]:
                well, *after = iterate(*state[2:])
                is_well, truth = goes_on(*after)
                return well & is_well, truth & well, *after

            state = *goes_on(*begin), *begin
            well, _, *end = lax.while_loop(lambda s: s[1], checked_iteration, state)
            self._require(well)
        self._note(operator.results, end[2])
        return list(end[1])

    def _drawn_by_numpy(self, operator: Operator, operands: list[Any]) -> list[Any]:
        """Random numbers inside of a branch or loop, by a call to NumPy's kernel, in order."""
        kernel = lookup(operator.name).kernel
        assert kernel is not None
        attributes = {name: number(v, self._sizes) for name, v in operator.attributes.items()}
        (result,) = operator.results
        shape = tuple(number(size, self._sizes) for size in result.tensor_type.shape)
        made = jax.ShapeDtypeStruct(shape, result.tensor_type.dtype)

        def draw(*arrays: Any) -> Any:
            return kernel(*map(np.asarray, arrays), **attributes)

        return [callbacks.io_callback(draw, made, *operands, ordered=True)]


def _folded(key: Any, number: int) -> Any:
    """Another key; None of none."""
    return None if key is None else jax.random.fold_in(key, number)


def _truth(condition: Any) -> Any:
    """A condition of one element as a bool."""
    return jnp.reshape(jnp.asarray(condition) != 0, ())


def _typed(value: Any, variable: Variable) -> Any:
    """A value with the dtype that the Program says, and no other that jax might prefer."""
    if not isinstance(variable.type, TensorType):  # a list
        return value
    value = jnp.asarray(value)
    dtype = variable.type.dtype
    if value.dtype == np.bool_:
        return cast(value, dtype)
    return value.astype(dtype) if value.dtype != dtype or value.weak_type else value


def number(value: Any, sizes: Sizes) -> Any:
    """An attribute with numbers in place of sizes."""
    if isinstance(value, tuple):
        return tuple(number(entry, sizes) for entry in value)
    if not isinstance(value, (Dim, Condition)):
        return value
    names: dict[str, Any] = {
        "min": min,
        "max": max,
        "broadcast": lambda *given: next((size for size in given if size != 1), 1),
    }

    def name(symbol: Dim) -> str:
        names[f"s{len(names)}"] = sizes[symbol]
        return f"s{len(names) - 1}"

    return eval(to_python(value, name), names)


__all__ = ["Sizes", "Trace", "number", "traceable"]
