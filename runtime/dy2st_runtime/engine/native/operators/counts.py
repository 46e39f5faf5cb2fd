"""Writes results whose number of elements only the data decides: they are counted, then written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.operators.list_parts import cutting
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, writer
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import BOOL, INT64, DType, Lanes
from dy2st_runtime.ir.program import Operator, Variable


@writer(
    lambda operator: operator.name == "nonzero" and abi.is_native(operator.operands[0].dtype),
    holds=True,
)
def _nonzero(body: Body, step: Step, operator: Operator) -> None:
    """The places of all elements that are not 0, one a row."""
    x, result = operator.operands[0], operator.results[0]
    dtype, shape = x.dtype, x.tensor_type.shape
    parameters = [("ptr", "%x"), ("i64", "%total")]
    code = Code(f"count_{dtype.name}", parameters, stored(dtype), "i64", "noinline nounwind")
    count = code.alloca("i64")
    code.line(f"store i64 0, ptr {count}")
    with code.loop("0", "%total") as at:
        one = code.let(f"zext i1 {_is_set(code, at, dtype)} to i64")
        before = code.let(f"load i64, ptr {count}")
        code.line(f"store i64 {code.plus(before, one)}, ptr {count}")
    code.line(f"ret i64 {code.let(f'load i64, ptr {count}')}")
    body.module.add(f"count_{dtype.name}", code.text())
    body.module.add(f"places_{dtype.name}_{len(shape)}", _places(dtype, len(shape)))
    address, sizes = body.places.address(x), [body.sizes.value(size) for size in shape]
    total = body.sizes.value(product(shape))
    found = body.function.let(f"call i64 @count_{dtype.name}(ptr {address}, i64 {total})")
    made = body.places.sized(result.dtype, [found, str(len(shape))])
    body.calls.check_made(made)
    numbers = "".join(f", i64 {size}" for size in (found, *sizes))
    data = body.places.data(made)
    written = body.function.let(
        f"call i64 @places_{dtype.name}_{len(shape)}(ptr {address}, ptr {data}{numbers})"
    )
    body.calls.take(made, result)
    # Another thread may have changed the elements since they were counted.
    body.unless(body.function.let(f"icmp eq i64 {written}, {found}"), [operator])


def _is_set(code: Code, at: str, dtype: DType) -> str:
    """Whether an element is not 0; what is no number is not."""
    lanes = Lanes(code, 1)
    value = lanes.load(code.at("%x", at), dtype)
    return lanes.cast(value, BOOL).text


def _places(dtype: DType, rank: int) -> str:
    sizes = [f"%size{axis}" for axis in range(rank)]
    numbers = [("i64", name) for name in ("%found", *sizes)]
    name = f"places_{dtype.name}_{rank}"
    parameters = [("ptr", "%x"), ("ptr", "%out"), *numbers]
    code = Code(name, parameters, stored(dtype), "i64", "noinline nounwind")
    end, count = code.alloca("ptr"), code.alloca("i64")
    code.line(f"store ptr %out, ptr {end}")
    code.line(f"store i64 0, ptr {count}")
    with _loops(code, sizes) as iterations:
        at = "0"
        for iteration, size in zip(iterations, sizes, strict=True):
            at = code.plus(code.times(at, size), iteration)
        before = code.let(f"load i64, ptr {count}")
        has_room = code.compare("slt", before, "%found")
        with code.when(code.both(_is_set(code, at, dtype), has_room)):
            code.line(f"store i64 {code.plus(before, 1)}, ptr {count}")
            row = code.let(f"load ptr, ptr {end}")
            for axis, iteration in enumerate(iterations):
                entry = code.let(f"getelementptr i64, ptr {row}, i64 {axis}")
                code.line(f"store i64 {iteration}, ptr {entry}")
            following = code.let(f"getelementptr i64, ptr {row}, i64 {rank}")
            code.line(f"store ptr {following}, ptr {end}")
    code.line(f"ret i64 {code.let(f'load i64, ptr {count}')}")
    return code.text()


@contextmanager
def _loops(code: Code, sizes: Sequence[str]) -> Iterator[list[str]]:
    with ExitStack() as loops:
        yield [loops.enter_context(code.loop("0", size)) for size in sizes]


@writer(
    lambda operator: (
        operator.name == "slice_places"
        and all(
            abi.is_native(end.dtype) and end.dtype.kind in "iub" and end.dtype != "uint64"
            for end in operator.operands
        )
    ),
    holds=True,
)
def _slice(body: Body, step: Step, operator: Operator) -> None:
    """The places that Python's slice takes."""
    ends = [_number(body, end) for end in operator.operands]
    size, by = body.sizes.value(operator.attributes["size"]), operator.attributes["step"]
    numbers = ", ".join(f"i64 {number}" for number in (*ends, by))
    first = body.function.alloca("i64")
    called = f"@{cutting(body.module)}({numbers}, i1 true, i1 true, i64 {size}, ptr {first})"
    count = body.function.let(f"call i64 {called}")
    made = body.places.sized(INT64, [count])
    body.calls.check_made(made)
    # The function that writes start, start + step, ...
    parameters = [("ptr", "%out"), ("i64", "%count"), ("i64", "%start"), ("i64", "%step")]
    code = Code("steps", parameters, "i64", attributes="noinline nounwind")
    with code.loop("0", "%count") as iteration:
        place = code.let(f"add i64 %start, {code.let(f'mul i64 {iteration}, %step')}")
        code.line(f"store i64 {place}, ptr {code.at('%out', iteration)}")
    body.module.add("steps", code.end())
    start = body.function.let(f"load i64, ptr {first}")
    arguments = f"ptr {body.places.data(made)}, i64 {count}, i64 {start}, i64 {by}"
    body.function.line(f"call void @steps({arguments})")
    body.calls.take(made, operator.results[0])


def _number(body: Body, variable: Variable) -> str:
    lanes = Lanes(body.function, 1)
    return lanes.cast(lanes.load(body.places.address(variable), variable.dtype), INT64).text


COUNTS = (
    _nonzero,
    _slice,
)

__all__ = ["COUNTS"]
