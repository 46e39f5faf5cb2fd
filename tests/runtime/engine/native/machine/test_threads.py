"""Several threads work on a large product: the result is that of one, whoever calls, and when."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.machine.threads import (
    get_num_threads,
    pool,
    quiet,
    set_num_threads,
)
from dy2st_runtime.errors import ArgumentError
from tests.recorded import program_of
from tests.runtime.engine.native.products import Products, Room, address, epilogue, loaded

SIZES = [
    *((1, 1000, 2000), (200, 300, 90), (64, 512, 512), (1500, 100, 30), (1300, 900, 1)),
    *((97, 513, 1100), (3, 4, 5)),
]


@pytest.fixture(autouse=True)
def one_thread_after():
    yield
    set_num_threads(1)


@pytest.fixture(params=["float32", "float64"])
def products(request):
    return Products(request.param)


def matrices(m, k, n, dtype):
    random = np.random.default_rng(m)
    return [random.integers(-4, 5, shape).astype(dtype) for shape in ((m, k), (k, n))]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_products_are_those_of_one_thread(products, count):
    """Of small integers: their sums are exact in any order."""
    set_num_threads(count)
    assert get_num_threads() == count
    for m, k, n in SIZES:
        a, b = matrices(m, k, n, products.dtype)
        c = np.full((m, n + 2), 7, products.dtype)
        products.shared(a, b, c[:, :n])
        np.testing.assert_array_equal(c[:, :n], a @ b)
        assert (c[:, n:] == 7).all()


def test_a_product_with_scratch_for_fewer_parts_has_fewer(products):
    """The number of threads may change between the two calls."""
    sizes = m, k, n = 64, 512, 512
    a, b = matrices(*sizes, products.dtype)
    c = np.empty((m, n), products.dtype)
    set_num_threads(2)
    bytes = products.shared_scratch(m, n, k)
    set_num_threads(5)
    with Room(bytes) as scratch:
        numbers = (m, n, k, k, 1, n, 1, n, bytes)
        pointers = (address(c), address(a), address(b), None, scratch, None, None)
        products.shared_product(*pointers, *numbers)
    np.testing.assert_array_equal(c, a @ b)


SHARED = [
    *((1, 784, 512), (3, 300, 241), (150, 97, 33), (64, 90, 500), (37, 90, 500)),
    *((1, 1400, 200), (2, 700, 300), (1, 700, 600), (2, 600, 401), (17, 500, 150), (33, 90, 720)),
]


@pytest.mark.parametrize("sizes", SHARED, ids=str)
def test_panels_give_the_same_bits_whether_a_helper_is_awake_or_not(products, sizes):
    random = np.random.default_rng(1)
    m, k, n = sizes
    a, b = (random.standard_normal(shape).astype(products.dtype) for shape in ((m, k), (k, n)))
    found = set()
    with Room(products.packed_bytes(n, k)) as panels:
        products.pack(panels, address(b), n, k, n, 1)
        for count in (1, *[2] * 40, *[3] * 20, *[4] * 20):
            set_num_threads(count)
            c, bytes = np.empty((m, n), products.dtype), products.shared_scratch(m, n, k)
            with Room(bytes) as scratch:
                pointers = (address(c), address(a), address(b), panels, scratch, None, None)
                products.shared_product(*pointers, m, n, k, k, 1, n, 1, n, bytes)
            found.add(c.tobytes())
    assert len(found) == 1
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)


def test_a_little_work_wakes_nobody_unless_it_comes_all_the_time():
    ask = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(pool(Processor.host()).addresses["threads_for"])
    set_num_threads(1)
    assert ask(1000, 10, 100) == 1
    set_num_threads(2)
    assert [ask(9, 10, 100), ask(100, 10, 100)] == [1, 2]
    while ask(99, 10, 100) == 2:  # until the helper sleeps
        sleep(0.001)
    assert 2 in {ask(99, 10, 100) for _ in range(100_000)}


def numbered(processor, dtype):
    """An epilogue that adds to each element a thousand times its row, and its column."""

    def hook(lanes, value, row, column, mask):
        function = lanes.function
        start = function.plus(function.times(row, 1000), column)
        first = function.let(f"sitofp i64 {start} to {function.element}")
        wide, one = lanes.type(dtype), function.element
        start = function.let(f"insertelement {wide} poison, {one} {first}, i64 0")
        zeros = f"<{lanes.lanes} x i32> zeroinitializer"
        start = function.let(f"shufflevector {wide} {start}, {wide} poison, {zeros}")
        steps = ", ".join(f"{one} {lane}.0" for lane in range(lanes.lanes))
        total = function.let(f"fadd {wide} {start}, <{steps}>")
        return lanes.add(value, lanes.constant(0.0, dtype)._replace(text=total))

    text = epilogue("numbered", dtype, processor, hook).replace("define internal", "define")
    return loaded(text, "numbered", [])


@pytest.mark.parametrize("sizes", [(40, 300, 200), (1500, 100, 30)])
def test_an_epilogue_is_told_which_rows_and_columns_a_part_has(products, sizes):
    set_num_threads(3)
    m, _, n = sizes
    library, function = numbered(Processor.host(), products.dtype)
    a, b = matrices(*sizes, products.dtype)
    c = np.empty((m, n), products.dtype)
    products.shared(a, b, c, ctypes.cast(function, ctypes.c_void_p), address(c))
    places = 1000 * np.arange(m)[:, None] + np.arange(n)
    np.testing.assert_array_equal(c, (a @ b + places).astype(products.dtype))


@pytest.mark.parametrize("count", [1, 3])
def test_the_products_of_a_program_are_shared(count):
    set_num_threads(count)
    m, k, n = 64, 512, 512
    types = ("float32", (m, k)), ("float32", (k, n))
    program = program_of(lambda x, y: x @ y + 1.0, *types)
    executable = engine.compile(program, "native")
    assert "@shared_product_f32" in executable.source
    a, b = matrices(m, k, n, "float32")
    np.testing.assert_array_equal(executable.run([a, b], [])[0], a @ b + 1)


def test_several_threads_of_python_may_call_at_once():
    set_num_threads(3)
    products, wrong = Products("float32"), []
    a, b = matrices(64, 512, 512, "float32")
    want = a @ b

    def work():
        c = np.empty_like(want)
        for _ in range(30):
            products.shared(a, b, c)
            wrong.extend([1] * (not np.array_equal(c, want)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_python_knows_nothing_of_the_helpers():
    before = threading.active_count()
    set_num_threads(4)
    assert threading.active_count() == before


FORK = """
import os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from products import Products
from dy2st_runtime.engine.native.machine.threads import set_num_threads
set_num_threads(3)
products, a = Products("float32"), np.ones((256, 256), "float32")
def check():
    c = np.empty_like(a)
    products.shared(a, a, c)
    return 0 if (c == 256).all() else 1
assert check() == 0
child = os.fork()
if child == 0:
    os._exit(check())
assert os.waitpid(child, 0)[1] == 0 and check() == 0
"""


def test_a_forked_child_computes_without_helpers(tmp_path):
    file = tmp_path / "fork.py"
    file.write_text(FORK)
    here = str(Path(__file__).parents[1])
    command = [sys.executable, "-W", "ignore::DeprecationWarning", str(file), here]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", 1000])
def test_a_number_of_threads_is_a_small_positive_integer(count):
    with pytest.raises(ArgumentError, match="a number of threads is from 1 to 256"):
        set_num_threads(count)


def test_their_number_is_set_where_engines_are():
    engine.set_num_threads(2)
    assert (engine.get_num_threads(), get_num_threads()) == (2, 2)


def test_helpers_that_were_sent_to_sleep_come_back_for_the_next_job(products):
    set_num_threads(2)
    a, b = matrices(200, 300, 90, products.dtype)
    c = np.empty((200, 90), products.dtype)
    for value in (1, 0):
        quiet().value = value
        products.shared(a, b, c)
        np.testing.assert_array_equal(c, a @ b)
        assert quiet().value == 0
