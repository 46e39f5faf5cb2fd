"""Copies a Program, so that it can be changed while the first stays as it is."""

from __future__ import annotations

from dy2st_runtime.ir.program import Block, Operator, Program, Variable


def clone(program: Program) -> Program:
    """A Program with Blocks, Operators and Variables of its own; types and arrays are shared."""
    values: dict[Variable, Variable] = {}
    made = Program(program.name, structure=program.structure, updates=list(program.updates))
    copy_block(program.block, made.block, values)
    copy_functions(program, made)
    made.inputs = [values[v] for v in program.inputs]
    made.parameters = {name: values[v] for name, v in program.parameters.items()}
    made.buffers = {name: values[v] for name, v in program.buffers.items()}
    made.trainable = dict(program.trainable)
    made.changes = dict(program.changes)
    made.constraints = list(program.constraints)
    made.placements = dict(program.placements)
    return made


def copy_functions(program: Program, made: Program) -> None:
    """Give a Program the functions of another one."""
    for name, block in program.functions.items():
        made.functions[name] = Block(program=made)
        copy_block(block, made.functions[name], {})


def copy_block(old: Block, new: Block, values: dict[Variable, Variable]) -> None:
    """Fill an empty Block with copies; `values` gets every Variable's copy.

    Blocks may be nested deeper than Python's own stack goes.
    """
    todo = [(old, new)]
    while todo:
        source, target = todo.pop()
        for parameter in source.parameters:
            copied = _copied(parameter, target)
            values[parameter] = copied
            target.parameters.append(copied)
        append = target.operators.append
        for operator in source.operators:
            made = copy_operator(operator, target, values)
            append(made)
            for inner in operator.blocks:
                block = Block(parent=target)
                made.blocks.append(block)
                todo.append((inner, block))
        target.yields = [values[v] for v in source.yields]


def copy_operator(operator: Operator, block: Block, values: dict[Variable, Variable]) -> Operator:
    """An Operator of another Block on the copies of its operands, still without Blocks."""
    made = Operator(
        operator.name,
        [values[v] for v in operator.operands],
        dict(operator.attributes),
        block,
        [],
        [],
        operator.location,
        operator.recompute_call,
    )
    for result in operator.results:
        copied = _copied(result, made)
        values[result] = copied
        made.results.append(copied)
    return made


def _copied(variable: Variable, maker: Operator | Block) -> Variable:
    copied = Variable(variable.type, maker, variable.name)
    copied.number, copied.held = variable.number, variable.held
    return copied


__all__ = ["clone", "copy_block", "copy_functions", "copy_operator"]
