"""Makes the Program for one image of a Program for several; the host runs it image by image.

The batch becomes a size of its own, and it is proved that no image's result depends on the others;
then the size is 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.static.padding import NotIndifferent, proof_of
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import Program, apply
from dy2st_runtime.ir.rebuild import Call, rebuild


def batch_of(program: Program) -> int:
    """The batch that all inputs have in common; 1 if there is none, or if it is no number."""
    sizes = {size for v in program.inputs for size in v.tensor_type.shape[:1]}
    count = sizes.pop() if len(sizes) == 1 else 1
    is_common = all(v.tensor_type.shape for v in program.inputs)
    return count if isinstance(count, int) and count > 1 and is_common else 1


def one_image(program: Program) -> Program:
    """The Program for a batch of 1, if all its inputs have the same batch of another known size.

    ShapeError with the reason if images are not computed each for itself.
    """
    count = batch_of(program)
    if count == 1:
        return program
    images = symbol("images", 1)
    inputs = {
        v: v.tensor_type.with_shape((images, *v.tensor_type.shape[1:])) for v in program.inputs
    }
    try:
        general = rebuild(program, rewrite=_by_image(images, count), inputs=inputs)
        every = all(set(axes) == {0} for axes in proof_of(general, images).outputs)
        reason = "" if every else "an output is not of one image each"
    except (NotIndifferent, ShapeError) as error:
        reason = str(error).partition("\n")[0]
    if reason:
        raise ShapeError(
            f"the inputs have a batch of {count}, and images are not computed each for itself: "
            f"{reason}; the OPU takes one image at a time: trace it for a batch of 1"
        )
    return rebuild(general, {images: 1})


def _by_image(images: Any, count: int) -> Callable[[Call], Callable[[], Any] | None]:
    """Shapes, and ends of slices, that have the batch for the batch's axis, have its size instead.

    Whether that is what was meant, the proof says.
    """

    def rewrite(call: Call) -> Callable[[], Any] | None:
        first = call.operands[0].tensor_type.shape[:1] if call.operands else ()
        if not first or first[0] is not images:
            return None
        changed = {}
        for name in ("shape", "stops"):
            value = call.attributes.get(name)
            if value and type(value[0]) is int and value[0] == count:
                changed[name] = (images, *value[1:])
        attributes = {**call.attributes, **changed}
        return (lambda: apply(call.name, *call.operands, **attributes)) if changed else None

    return rewrite


__all__ = ["batch_of", "one_image"]
