"""Moves what a region has recorded behind the operators of the Block around it."""

from __future__ import annotations

from dy2st.convert.trace import Region, Trace


def splice(trace: Trace, region: Region) -> None:
    """Let a region count as run in the frame around it: the only side of a branch that goes on."""
    tracer, outer = trace.tracer, trace.tracer.block
    own = {inner: known for known, inner in tracer.captured_by(region.block).items()}
    for operator in region.block.operators:
        operator.operands[:] = [own.get(operand, operand) for operand in operator.operands]
        operator.block = outer
        for block in operator.blocks:
            block.parent = outer
    outer.operators += region.block.operators
    for inner, known in own.items():
        tracer.forward(inner, known)  # the user's values may hold it
    # What the region made and wrote, and what is known in it, is that of the frame around.
    if trace.is_nested:
        trace.frame.born.update(region.frame.born)
    trace.alias_tracker.marks.take(region.marks)
    trace.frame.known_cases.update(region.frame.known_cases)
    for place in region.changes.values():
        trace.take_place(place)
    for tensor, variable in region.tensors.values():
        tracer.assign(tensor, own.get(variable, variable))
    for variable in region.overwritten:
        tracer.overwrite(variable)
