"""A machine that stores every value of a Program where `plan_memory` says, in one array of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dy2st.passes.plan_memory import Buffer, _place, _Planner, moved, plan_memory
from dy2st_runtime.dims import symbols
from dy2st_runtime.ir import ArrayType, Block, Operator, Program, TensorType, Variable
from dy2st_runtime.ir.aliasing import overwritten, views_in_order
from dy2st_runtime.ir.definition import lookup
from dy2st_runtime.ir.dispatch import eagerly
from dy2st_runtime.ir.interpret import Run
from dy2st_runtime.ops.slicing import _places
from dy2st_runtime.tensor import EagerTensor

GARBAGE = 0xA7


class _InRows(Run):
    """The interpreter, whose kernels see every operand row by row.

    So sums are made in one order, wherever the operands lie, and every bit can be compared.
    """

    def operation(self, operator: Operator, operands: Any, sizes: Any) -> Any:
        if not operator.blocks:
            operands = [v if isinstance(v, list) else in_rows(v.array) for v in operands]
        return super().operation(operator, operands, sizes)


def in_rows(array: np.ndarray) -> EagerTensor:
    """A copy that lies row by row."""
    return EagerTensor(np.array(array, order="C"))


def copied(value: Any) -> Any:
    """Lists of copies of the tensors."""
    return [copied(e) for e in value] if isinstance(value, list) else in_rows(value.array)


class _Sizes(_InRows):
    """Notes how large every size became; 1 where it never was."""

    def __init__(self, program: Program):
        super().__init__(program)
        self.largest: dict[str, int] = {}
        for operator in program.block.walk():
            for block in operator.blocks:
                self.note_all(block.parameters)
            self.note_all(operator.results)

    def note_all(self, variables: Any) -> None:
        types = [variable.type for variable in variables]
        for symbol in symbols(tuple(t.shape for t in types if isinstance(t, TensorType))):
            self.note(symbol, 1)

    def block(self, block: Block, arguments: Any, outer: Any) -> Any:
        for symbol, number in outer.items():
            self.note(symbol, number)
        return super().block(block, arguments, outer)

    def bind(self, variable: Variable, value: Any, sizes: Any) -> None:
        super().bind(variable, value, sizes)
        for symbol, number in sizes.items():
            self.note(symbol, number)

    def note(self, symbol: Any, number: int) -> None:
        self.largest[str(symbol)] = max(number, self.largest.get(str(symbol), 0))


class Arena(_InRows):
    """One run of a Program in the memory of its plan."""

    def __init__(self, program: Program, sizes: dict[str, int]):
        super().__init__(program)
        self.planner = _Planner(program, sizes)
        self.memory = np.full(plan_memory(program, sizes).arena, GARBAGE, np.uint8)
        self.plans: dict[Block, tuple[dict[Variable, Buffer], dict[Operator, Buffer], int]] = {}
        self.base = 0
        self.stored = 0

    def plan_of(self, block: Block, in_order: Any) -> Any:
        """Where the values of a Block lie, the work spaces in it, and its bytes in all."""
        if block not in self.plans:
            buffers, _ = self.planner.block(block, in_order)
            size = _place(buffers)
            where = {value: buffer for buffer in buffers for value in buffer.values}
            work = {block.operators[b.begin]: b for b in buffers if not b.values}
            self.plans[block] = where, work, size
        return self.plans[block]

    def block(self, block: Block, arguments: Any, outer: Any, in_order: Any = None) -> Any:
        in_order = block.parameters if in_order is None else in_order
        where, work, _ = self.plan_of(block, in_order)
        over = overwritten(block)
        views = views_in_order(block, over, in_order)
        sizes, known, base = dict(outer), {}, self.base
        for parameter, value in zip(block.parameters, arguments, strict=True):
            known[parameter] = value
            self.bind(parameter, value, sizes)
        for operator in block.operators:
            operands = [known[operand] for operand in operator.operands]
            places = [where.get(result) for result in operator.results]
            if operator.blocks:
                results = self.nested(operator, operands, sizes, places, work.get(operator))
            elif operator in views:
                results = self.look(operator, operands[0], sizes)
            else:
                made = self.operation(operator, operands, sizes)
                if operator in over:
                    target = operands[over[operator]].array
                    new = made[0].array
                    assert target.shape == new.shape and target.dtype == new.dtype
                    target[...] = new
                    results = [EagerTensor(target)]
                else:
                    stored = zip(operator.results, places, made, strict=True)
                    results = [self.store(*entry) for entry in stored]
            for variable, value in zip(operator.results, results, strict=True):
                known[variable] = value
                self.bind(variable, value, sizes)
            self.base = base
        return [known[variable] for variable in block.yields]

    def look(self, operator: Operator, operand: EagerTensor, sizes: Any) -> list[EagerTensor]:
        """A view: it has to be one."""
        attributes = self.attributes(operator, sizes)
        if operator.name == "slice":
            found: Any = operand.array[(*_places(**attributes), ...)]
        elif operator.name.startswith("dynamic_"):
            shape = operator.results[0].tensor_type.shape
            found = operand.array.reshape([s if isinstance(s, int) else -1 for s in shape])
        else:
            found = lookup(operator.name).kernel(operand.array, **attributes)  # type: ignore[misc]
        found = found if isinstance(found, tuple) else (found,)
        for result in found:
            assert not result.size or np.may_share_memory(result, operand.array), operator
        return [EagerTensor(result) for result in found]

    def store(self, variable: Variable, buffer: Buffer | None, value: Any) -> Any:
        """The value at its place in the arena; lists and what is empty lie beside it."""
        if isinstance(variable.type, ArrayType):
            return copied(value)
        if variable.maker.name == "constant" or not value.array.size:  # type: ignore[union-attr]
            return value
        assert buffer is not None, f"{variable!r} has no memory"
        return self.at(self.base + buffer.offset, buffer.size, value)

    def at(self, offset: int, size: int, value: Any) -> Any:
        array = value.array
        assert array.nbytes <= size and offset + size <= self.memory.nbytes
        place = np.ndarray(array.shape, array.dtype, self.memory.data, offset)
        place[...] = array
        self.stored += 1
        return EagerTensor(place)

    def nested(
        self, operator: Operator, operands: Any, sizes: Any, places: Any, work: Buffer | None
    ) -> list[Any]:
        """A `cond` or `while`: its Blocks run in the work space, which is garbage before."""
        outside, inside = self.base, self.base + (work.offset if work else 0)
        end = inside + (work.size if work else 0)

        def run(block: Block, arguments: Any, in_order: Any) -> Any:
            self.memory[inside:end] = GARBAGE
            self.base = inside
            results = self.block(block, arguments, sizes, in_order)
            assert inside + self.plan_of(block, in_order)[2] <= end
            self.base = outside
            return results

        def keep(values: Any) -> list[Any]:
            return [self.store(*e) for e in zip(operator.results, places, values, strict=True)]

        if operator.name == "cond":
            chosen = operator.blocks[0 if bool(operands[0].array) else 1]
            return keep(run(chosen, operands[1:], ()))
        condition, body = operator.blocks
        count = len(operator.results)
        carried, captured = keep(operands[:count]), operands[count:]
        while bool(run(condition, [*carried, *captured], condition.parameters[:count])[0].array):
            values = run(body, [*carried, *captured], body.parameters[:count])
            free = inside + self.plan_of(body, body.parameters[:count])[2]
            carried = keep(self.apart(operator, values, free, end))
        self.memory[inside:end] = GARBAGE
        return carried

    def apart(self, operator: Operator, values: Any, free: int, end: int) -> list[Any]:
        """The values of an iteration, those that lie in loop variables copied to the work space."""
        for place, variable in moved(operator).items():
            if not isinstance(values[place], list) and values[place].array.size:
                values[place] = self.at(free, end - free, values[place])
                free += self.planner.bytes_of(operator, variable)
        return values


def run_both(program: Program, inputs: Any, state: Any) -> tuple[list[Any], list[Any], int]:
    """What the interpreter yields, what a run in planned memory does, how many values it stored."""
    values = [in_rows(array) for array in (*inputs, *state)]
    with eagerly():
        plain = _Sizes(program)
        expected = plain.block(program.block, values, plain.sizes_of(values))
        arena = Arena(program, plain.largest)
        found = arena.block(program.block, values, arena.sizes_of(values))
    return expected, found, arena.stored
