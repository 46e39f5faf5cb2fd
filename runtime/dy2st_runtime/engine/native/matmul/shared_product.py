"""Divides a product into parts, of rows or of columns, that several threads work on."""

from __future__ import annotations

from dy2st_runtime.engine.native.matmul.shape import Shape
from dy2st_runtime.engine.native.matmul.sweeps import is_row
from dy2st_runtime.engine.native.text.code import Code

# From so many multiplications on a helper that sleeps is worth waking; below the other number one
# thread is done before a helper that is awake has its part. Between them it is chance whether there
# are parts: that is for panels only, of which sums have the same bits in any parts.
_WORTH_WAKING, _LEAST_WORK = 1 << 20, 1 << 17

_POINTERS = ("c", "a", "b", "packed", "scratch", "epilogue", "context")
_SIZES = ("m", "n", "k", "a_row", "a_column", "b_row", "b_column", "c_row")
_OWN = ("by_columns", "chunk", "room", "rest", "rest_rows", "swept")
_FIELDS = (*_POINTERS, *_SIZES, *_OWN)

Task = dict[str, str]


def shared_product(shape: Shape) -> str:
    """The product; its parts are of columns if there are enough, since each packs its own b.

    There are no more parts than there is scratch for: meanwhile the number of threads may change.
    """
    code = shape.code("shared_product", f"{' '.join(_POINTERS)} | {' '.join(_SIZES)} bytes")
    work = code.times(code.times("%m", "%n"), "%k")
    is_swept = is_row(code, shape)
    is_steady = code.either(code.let("icmp ne ptr %packed, null"), is_swept)
    least = code.choose(is_steady, _LEAST_WORK, _WORTH_WAKING)
    wanted = code.let(f"call i64 @threads_for(i64 {work}, i64 {least}, i64 {_WORTH_WAKING})")
    is_shared = code.compare("sgt", wanted, 1)
    with code.when(is_shared):
        room = code.let(f"call i64 @{shape.name('product_scratch')}(i64 %m, i64 %n, i64 %k)")
        room = code.most(_rounded(code, room), 64)
        parts = code.most(1, code.least(wanted, code.over("%bytes", room)))
        sizes = (parts, room)
        parts, room = sizes
        by_columns = code.compare("sge", "%n", code.times(parts, 2 * shape.columns))
        total = code.choose(by_columns, "%n", "%m")
        width = code.choose(is_swept, shape.lanes, shape.columns)
        unit = code.choose(by_columns, width, shape.rows)
        chunk = code.times(_shares(code, total, unit, parts), unit)
        has_rows = code.compare("sge", "%m", code.times(parts, shape.rows))
        even = code.times(code.over(code.over(total, unit), parts), unit)
        chunk = code.choose(code.both(by_columns, has_rows), even, chunk)
        rest = code.choose(by_columns, code.times(chunk, parts), "%n")
        rest_rows = code.times(_shares(code, "%m", shape.rows, parts), shape.rows)
        columns, swept = (code.let(f"zext i1 {one} to i64") for one in (by_columns, is_swept))
        values = [f"ptr %{name}" for name in _POINTERS] + [f"i64 %{name}" for name in _SIZES]
        values += [f"i64 {value}" for value in (columns, chunk, room, rest, rest_rows, swept)]
        task = code.alloca(f"[{len(_FIELDS)} x i64]")
        for index, value in enumerate(values):
            code.line(
                f"store {value}, ptr {code.let(f'getelementptr i64, ptr {task}, i64 {index}')}"
            )
        own = shape.name("part_of_product")
        code.line(f"call void @parallel(ptr @{own}, ptr {task}, i64 {parts})")
    with code.when(code.no(is_shared)):
        pointers = [f"%{name}" for name in _POINTERS]
        shape.call(code, "product", pointers, [f"%{name}" for name in _SIZES])
    return code.end()


def _shares(code: Code, total: str, unit: str | int, parts: str) -> str:
    """How many units, the last one perhaps not whole, each part has at most."""
    units = code.over(code.minus(code.plus(total, unit), 1), unit)
    return code.over(code.minus(code.plus(units, parts), 1), parts)


def _rounded(code: Code, bytes: str) -> str:
    """Up to whole cache lines."""
    return code.times(code.over(code.plus(bytes, 63), 64), 64)


def part_of_product(shape: Shape) -> str:
    """One part, with scratch of its own; then the epilogue, which knows where the part is."""
    code = shape.code("part_of_product", "task | part")
    task = {
        name: code.let(
            f"load {'ptr' if name in _POINTERS else 'i64'}, ptr "
            f"{code.let(f'getelementptr i64, ptr %task, i64 {index}')}"
        )
        for index, name in enumerate(_FIELDS)
    }
    by_columns = code.compare("ne", task["by_columns"], 0)
    start, count = _range(code, task["chunk"], code.choose(by_columns, task["n"], task["m"]))
    row, rows = code.choose(by_columns, 0, start), code.choose(by_columns, task["m"], count)
    column, columns = code.choose(by_columns, start, 0), code.choose(by_columns, count, task["n"])
    _piece(code, shape, task, (row, rows, column, columns))
    with code.when(code.compare("slt", task["rest"], task["n"])):
        row, rows = _range(code, task["rest_rows"], task["m"])
        left = code.minus(task["n"], task["rest"])
        _piece(code, shape, task, (row, rows, task["rest"], left))
    return code.end()


def _range(code: Code, chunk: str, total: str) -> tuple[str, str]:
    """Where a part begins, and how much it has."""
    start = code.least(code.times("%part", chunk), total)
    return start, code.least(chunk, code.minus(total, start))


def _piece(code: Code, shape: Shape, task: Task, where: tuple[str, str, str, str]) -> None:
    """Some rows and columns of the product, if there are any."""
    _, rows, _, columns = where
    is_some = code.both(code.compare("sgt", rows, 0), code.compare("sgt", columns, 0))
    has_epilogue = code.let(f"icmp ne ptr {task['epilogue']}, null")
    with code.when(is_some):
        # The form was chosen for the whole: of few rows a part would be swept, though the whole is
        # not, and have other bits.
        row, rows, column, columns = where
        c = code.at(task["c"], code.plus(code.times(row, task["c_row"]), column))
        a = code.at(task["a"], code.times(row, task["a_row"]))
        b = code.at(task["b"], code.times(column, task["b_column"]))
        sizes = [rows, columns, task["k"], task["a_row"], task["a_column"], task["b_row"]]
        is_swept = code.compare("ne", task["swept"], 0)
        with code.when(is_swept):
            shape.call(code, "swept", (c, a, b), (*sizes, task["c_row"]))
        with code.when(code.no(is_swept)):
            panels = code.at(task["packed"], code.times(column, task["k"]))
            is_packed = code.let(f"icmp ne ptr {task['packed']}, null")
            sides = [
                code.choose(is_packed, *pair, "ptr") for pair in (("null", b), (panels, "null"))
            ]
            offset = code.times("%part", task["room"])
            room = code.let(f"getelementptr i8, ptr {task['scratch']}, i64 {offset}")
            strides = (task["b_column"], task["c_row"])
            shape.call(code, "product", (c, a, *sides, room, "null", "null"), (*sizes, *strides))
        with code.when(has_epilogue):
            placed = ", ".join(f"i64 {size}" for size in (task["c_row"], *where))
            given = f"ptr {task['context']}, ptr {task['c']}, {placed}"
            code.line(f"call void {task['epilogue']}({given})")


def shared_scratch(shape: Shape) -> str:
    """The bytes of scratch of all parts."""
    code = shape.code("shared_scratch", "| m n k", "i64")
    room = code.let(f"call i64 @{shape.name('product_scratch')}(i64 %m, i64 %n, i64 %k)")
    bytes = code.most(_rounded(code, room), 64)
    # There may be as many parts as threads, or 1 if there is little to do.
    threads = code.let("load i64, ptr @threads")
    work = code.times(code.times("%m", "%n"), "%k")
    parts = code.choose(code.compare("sge", work, _LEAST_WORK), threads, 1)
    total = code.times(bytes, parts)
    code.line(f"ret i64 {total}")
    return code.text()


__all__ = ["part_of_product", "shared_product", "shared_scratch"]
