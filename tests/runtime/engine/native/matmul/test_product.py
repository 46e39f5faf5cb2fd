"""Matrix products by machine code give what NumPy gives, for any sizes, strides and numbers."""

from __future__ import annotations

import ctypes
import itertools
import os

import numpy as np
import pytest

from dy2st_runtime.engine.native.machine.llvm import Processor, compile_object
from dy2st_runtime.engine.native.matmul import product
from dy2st_runtime.engine.native.matmul.product_call import Call, emit
from dy2st_runtime.engine.native.matmul.shape import Shape
from dy2st_runtime.engine.native.text.function import Function
from tests.runtime.engine.native.products import Products, Room, address, epilogue, loaded, strides

SIZES = (0, 1, 2, 7, 8, 9, 16, 25, 33, 48, 49, 100)
FULL = os.environ.get("DY2ST_TESTS") == "full"
DTYPES = ("float32", "float64")


@pytest.fixture(params=["host", "haswell"], scope="module")
def processor(request):
    """What code is made for: this machine, and one with vectors of 32 bytes."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "host":
            patch.setenv("DY2ST_NATIVE_CPU", request.param)
        yield Processor.host()


@pytest.fixture(params=DTYPES, scope="module")
def products(request, processor):
    return Products(request.param)


def rows_first(random, m, n, dtype):
    return random.standard_normal((m, n)).astype(dtype)


def transposed(random, m, n, dtype):
    return random.standard_normal((n, m)).astype(dtype).T


def strided(random, m, n, dtype):
    return random.standard_normal((2 * m + 1, 3 * n + 1)).astype(dtype)[: 2 * m : 2, : 3 * n : 3]


LAYOUTS = (rows_first, transposed, strided)


def assert_product(have, a, b):
    """Equal to NumPy's product in float64, by what sums of that length may lose."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    want, size = a @ b, np.abs(a) @ np.abs(b)
    limit = 2 * (a.shape[1] + 1) * np.finfo(have.dtype).eps * size
    assert (np.abs(have - want) <= limit).all()


def check(products, sizes, layouts, random):
    """Both ways; what lies behind the rows of c is left alone."""
    m, k, n = sizes
    a = layouts[0](random, m, k, products.dtype)
    b = layouts[1](random, k, n, products.dtype)
    for run in (products.plain, products.packed):
        c = np.full((m, n + 3), 7, products.dtype)
        run(a, b, c[:, :n])
        assert_product(c[:, :n], a, b)
        assert (c[:, n:] == 7).all()


@pytest.mark.parametrize("m", SIZES)
def test_products_of_all_sizes_and_strides(products, m):
    random = np.random.default_rng(m)
    ways = list(itertools.product(LAYOUTS, LAYOUTS))
    for number, (k, n) in enumerate(itertools.product(SIZES, SIZES)):
        chosen = ways if FULL else [ways[0], ways[1 + number % 8]]
        for layouts in chosen:
            check(products, (m, k, n), layouts, random)


LARGE = [
    *((1, 1000, 1), (130, 600, 1), (1, 1300, 130), (1, 70, 1030), (3, 1025, 70)),
    *((25, 2000, 33), (97, 513, 1100), (200, 300, 90), (50, 5, 2070)),
    *((140, 520, 1300), (1, 7, 2100), (2, 9, 2100)),
]


@pytest.mark.parametrize("sizes", LARGE, ids=str)
def test_products_of_several_blocks(products, sizes):
    random = np.random.default_rng(0)
    for layouts in itertools.product(LAYOUTS, LAYOUTS):
        check(products, sizes, layouts, random)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_few_rows_sweep_rows_that_begin_anywhere(products, m):
    random = np.random.default_rng(m)
    for k, n, start in itertools.product((0, 1, 4, 7, 16, 33), (128, 131, 1030), (0, 1, 5, 16)):
        a = rows_first(random, m, k, products.dtype)
        for width in (n + start, 1088):
            b = rows_first(random, k, max(width, n + start), products.dtype)[:, start : start + n]
            c = np.full((m, n + 3), 7, products.dtype)
            products.plain(a, b, c[:, :n])
            assert_product(c[:, :n], a, b)
            assert (c[:, n:] == 7).all()


def test_three_rows_sweep_what_is_far(products):
    check(products, (3, 1100, 2000), (rows_first, rows_first), np.random.default_rng(5))


def test_of_panels_and_what_they_were_made_of_the_faster_one_is_read(products):
    """Rows that are swept are read as they are; more of them are multiplied by panels."""
    k, n = 5, 200
    b, other = (np.full((k, n), value, products.dtype) for value in (1, 2))
    with Room(products.packed_bytes(n, k)) as panels, Room(products.product_scratch(9, n, k)) as s:
        products.pack(panels, address(other), n, k, n, 1)
        for m, is_as_it_is in ((1, True), (2, True), (3, False), (9, False)):
            a, c = np.ones((m, k), products.dtype), np.empty((m, n), products.dtype)
            pointers = (address(c), address(a), address(b), panels, s, None, None)
            products.product(*pointers, m, n, k, k, 1, n, 1, n)
            assert (c == (k if is_as_it_is else 2 * k)).all()


@pytest.mark.parametrize("sizes", [(1, 5, 40), (3, 20, 3), (9, 33, 40), (60, 600, 1), (64, 70, 70)])
def test_what_is_not_finite_goes_where_numpy_has_it(products, sizes):
    m, k, n = sizes
    random = np.random.default_rng(1)
    for layouts in itertools.product(LAYOUTS, LAYOUTS):
        a, b = layouts[0](random, m, k, products.dtype), layouts[1](random, k, n, products.dtype)
        a[m // 2, k // 2], b[k - 1, n - 1], b[0, 0] = np.nan, np.inf, -np.inf
        with np.errstate(invalid="ignore"):
            want = a @ b
        for run in (products.plain, products.packed):
            c = np.empty((m, n), products.dtype)
            run(a, b, c)
            np.testing.assert_array_equal(np.isnan(c), np.isnan(want))
            np.testing.assert_array_equal(np.isposinf(c), np.isposinf(want))
            np.testing.assert_array_equal(np.isneginf(c), np.isneginf(want))


@pytest.mark.parametrize("sizes", [(1, 40, 300), (3, 33, 9), (64, 600, 70)], ids=str)
def test_a_row_or_column_may_be_the_same_one_again_and_again(products, sizes):
    m, k, n = sizes
    random = np.random.default_rng(4)
    whole = [rows_first(random, m, k, products.dtype), rows_first(random, k, n, products.dtype)]
    ways = [[np.broadcast_to(x[:1], x.shape), np.broadcast_to(x[:, :1], x.shape), x] for x in whole]
    for a, b in itertools.product(*ways):
        for run in (products.plain, products.packed):
            c = np.empty((m, n), products.dtype)
            run(a, b, c)
            assert_product(c, a, b)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_panels_are_columns_side_by_side_filled_up_with_zeros(products, layout):
    width = Shape.of(products.dtype, Processor.host()).columns
    for k, n in [(3, 1), (8, width), (9, width + 1), (17, 3 * width - 1)]:
        b = layout(np.random.default_rng(0), k, n, products.dtype)
        count = -(-n // width)
        assert products.packed_bytes(n, k) == count * k * width * b.itemsize
        panels = np.empty((count, k, width), b.dtype)
        products.pack(address(panels), address(b), n, k, *strides(b))
        full = np.zeros((k, count * width), b.dtype)
        full[:, :n] = b
        np.testing.assert_array_equal(panels, full.reshape(k, count, width).swapaxes(0, 1))


def test_a_module_takes_only_what_it_asks_for():
    processor = Processor.host()
    text = product.library(processor, ["packed_bytes_f32"])
    assert text.count("define") == 1
    text = product.library(processor, ["pack_f32"])
    assert "@pack_f32(" in text and "@dots_f32(" not in text and "_f64" not in text
    compile_object(text, processor)


def biased(processor, dtype):
    """An epilogue: what a bias, given by the context, and relu make of a product."""

    def hook(lanes, value, row, column, mask):
        function = lanes.function
        place = function.let(f"getelementptr {function.element}, ptr %context, i64 {column}")
        total = lanes.add(value, lanes.load(place, dtype, mask))
        return lanes.maximum(total, lanes.constant(0.0, dtype))

    text = epilogue("biased", dtype, processor, hook)
    return loaded(text.replace("define internal", "define"), "biased", [])


FORMS = [(1, 5, 300), (2, 40, 30), (9, 33, 40), (100, 600, 40), (40, 30, 1), (64, 530, 1100)]


@pytest.mark.parametrize("sizes", FORMS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_epilogue_is_done_once_to_each_element(products, sizes, layout):
    m, k, n = sizes
    random = np.random.default_rng(2)
    library, function = biased(Processor.host(), products.dtype)
    a, b = rows_first(random, m, k, products.dtype), layout(random, k, n, products.dtype)
    bias = rows_first(random, 1, n, products.dtype)
    c = np.empty((m, n), products.dtype)
    pointer = ctypes.cast(function, ctypes.c_void_p)
    products.plain(a, b, c, pointer, address(bias))
    tolerance = {"float32": 2e-4, "float64": 1e-12}[products.dtype.name]
    np.testing.assert_allclose(c, np.maximum(a @ b + bias, 0), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("by_threads", [False, True])
@pytest.mark.parametrize("is_shared", [False, True])
def test_batch_axes_are_loops_over_products(products, is_shared, by_threads):
    """Of shapes (2, 3, 4, 5) and (3, 5, 7), or (5, 7): b is the same along the first axis."""
    random = np.random.default_rng(3)
    dtype, suffix = products.dtype, f"f{8 * products.dtype.itemsize}"
    a = random.standard_normal((2, 3, 4, 5)).astype(dtype)
    b = random.standard_normal((5, 7) if is_shared else (3, 5, 7)).astype(dtype)
    c = np.empty((2, 3, 4, 7), dtype)
    own = "0" if is_shared else "35"
    batch = (("%n", "84", "60", "0"), ("3", "28", "20", own))
    call = Call(dtype, ("4", "7", "5"), ("5", "1"), ("7", "1"), "7", batch, is_shared=by_threads)
    assert call.function == f"{'shared_' * by_threads}product_{suffix}"
    parameters = [("ptr", f"%{name}") for name in ("c", "a", "b", "scratch")]
    function = Function("all", [*parameters, ("i64", "%n")], linkage="")
    room = products.shared_scratch(4, 7, 5)
    emit(function, call, ("%c", "%a", "%b"), "%scratch", str(room))
    function.line("ret void")
    types = [ctypes.c_void_p] * 4 + [ctypes.c_int64]
    library, run = loaded(function.text(), "all", types)
    with Room(room) as scratch:
        run(address(c), address(a), address(b), scratch, 2)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5, atol=1e-5)
