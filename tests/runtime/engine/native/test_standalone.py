"""Programs as code for C give what NumPy's engine gives, and need nothing but the C library."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import threading

import numpy as np
import pytest

from dy2st_runtime import ops
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.standalone import packed, write
from dy2st_runtime.engine.numpy.executable import compile_program
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.sizes import input_sizes
from dy2st_runtime.ops import matrices
from dy2st_runtime.ops.control_flow import cond, while_loop
from tests.effort import effort
from tests.random_programs import random_program
from tests.recorded import program_of as traced
from tests.runtime.engine.exactly import flat

LIBRARY = ("aligned_alloc", "malloc", "free", "memcpy", "memset")
CC = shutil.which("cc")
pytestmark = [
    pytest.mark.skipif(CC is None, reason="there is no compiler for C"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


class Linked:
    """A Program in a shared library, called with arrays."""

    def __init__(self, standalone, folder):
        (folder / "net.o").write_bytes(standalone.code())
        command = [CC, "-shared", "-o", folder / "net.so", folder / "net.o", "-lm"]
        subprocess.run(command, check=True)
        self.standalone, self.library = standalone, ctypes.CDLL(folder / "net.so")
        self.library.net_workspace_bytes.restype = ctypes.c_int64
        self.library.net_error.restype = ctypes.c_char_p
        self.library.net_bytes.restype = ctypes.c_int64

    def sizes(self, inputs):
        found = input_sizes(self.standalone.program, [array.shape for array in inputs])
        return [ctypes.c_int64(found[symbol]) for symbol in self.standalone.sizes]

    def __call__(self, inputs, parameters=None):
        program, sizes = self.standalone.program, self.sizes(inputs)
        room = self.library.net_workspace_bytes(*sizes)
        first = len(inputs)
        made = [
            np.full(self.library.net_bytes(first + index, *sizes), 77, np.uint8)
            for index in range(len(program.block.yields))
        ]
        given = [*map(np.ascontiguousarray, inputs)]
        state = [] if parameters is None else [np.frombuffer(parameters, np.uint8)]
        workspace = np.full(max(room, 0) + 1, 77, np.uint8)
        number = self.library.net_run(
            *map(pointer, [*given, *state]), *sizes, *map(pointer, [*made, workspace])
        )
        if number:
            return self.library.net_error(number).decode()
        assert workspace[-1] == 77
        return [array.view(variable.dtype) for array, variable in zip(made, program.block.yields)]


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def assert_alike(have, want):
    assert not isinstance(have, str), have
    for left, right in zip(have, want, strict=True):
        left = left.reshape(right.shape)
        if right.dtype.kind == "f":
            rtol = 2e-5 if right.dtype.itemsize == 4 else 1e-12
            np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)
        else:
            np.testing.assert_array_equal(left, right)


def network(x, w):
    y = ops.matmul(ops.gelu(x), w)
    z = while_loop(
        lambda v, i: i < 5, lambda v, i: [ops.tanh(ops.matmul(v, x) + x), i + 1], [x, 0]
    )[0]
    (c,) = cond(x.sum() > 0, lambda: [ops.exp(y) * 2], lambda: [y + 1])
    return ops.softmax(z), c, y.sum(axis=0), x, c.argmax(axis=1), x.mean(), x > 0, x


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    program = traced(network, ("float32", ("n", "n")), ("float32", ("n", 33)))
    return Linked(write(program, "net"), tmp_path_factory.mktemp("linked"))


def given(n):
    random = np.random.default_rng(n)
    return [random.normal(size=shape).astype(np.float32) for shape in ((n, n), (n, 33))]


@pytest.mark.parametrize("n", [1, 2, 7, 33, 150])
def test_it_gives_what_numpys_engine_gives(linked, n):
    assert_alike(linked(given(n)), compile_program(linked.standalone.program).run(given(n), []))


def test_several_threads_may_call(linked):
    wanted, wrong = {n: linked(given(n)) for n in (3, 20, 40)}, []

    def work(n):
        for _ in range(50):
            results = linked(given(n))
            if not all(map(np.array_equal, results, wanted[n])):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=[n]) for n in (3, 20, 40, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_it_needs_the_c_library_alone(linked, tmp_path):
    (tmp_path / "net.o").write_bytes(linked.standalone.code())
    symbols = subprocess.run(
        ["nm", "-u", tmp_path / "net.o"], capture_output=True, text=True, check=True
    )
    assert set(symbols.stdout.split()) <= {"U", *LIBRARY}


def test_sizes_that_do_not_fit_are_told(linked):
    minus = ctypes.c_int64(-1)
    assert linked.library.net_workspace_bytes(minus) == -1
    assert linked.library.net_bytes(0, minus) == -1
    assert linked.library.net_bytes(100, ctypes.c_int64(1)) == -1
    assert linked.library.net_error(1) == b"the sizes do not fit the Program"
    assert linked.library.net_error(0) is None


def test_values_that_do_not_fit_are_told(tmp_path):
    def function(x, i):
        return ops.gather(x * 2, i)

    program = traced(function, ("float32", (5, "n")), ("int64", ("m",)))
    linked = Linked(write(program, "net"), tmp_path)
    x = np.ones((5, 2), np.float32)
    assert_alike(linked([x, np.array([4, 0])]), [x[[4, 0]] * 2])
    assert "the values do not allow it" in linked([x, np.array([4, 5])])


@pytest.mark.parametrize("name", ["haswell", "nehalem"])
def test_code_for_other_processors(name, tmp_path, monkeypatch):
    monkeypatch.setenv("DY2ST_NATIVE_CPU", name)
    program = traced(network, ("float32", ("n", "n")), ("float32", ("n", 33)))
    standalone = write(program, "net")
    assert Processor.host().name == name
    assert_alike(
        Linked(standalone, tmp_path)(given(20)), compile_program(program).run(given(20), [])
    )


def test_what_asks_numpy_is_listed_with_its_lines():
    def function(x, axis):
        one = ops.squeeze(ops.sum(x, keepdim=True)[0], axis)
        return matrices.det(x) + 1, ops.nonzero(x), ops.softmax(x), one

    with pytest.raises(ArgumentError) as caught:
        write(traced(function, ("float32", ("n", "n")), ("int64", ())), "net")
    first, *lines = str(caught.value).splitlines()
    assert first == "'main' cannot run without Python:"
    assert {line.split()[0] for line in lines[:3]} == {"det", "nonzero", "dynamic_squeeze"}
    assert all("(line " in line for line in lines[:3])
    assert lines[3].startswith("write these with elementwise operators")


def test_random_programs_that_need_no_python_run_in_c(tmp_path):
    count = 0
    for seed in range(effort(14, 600)):
        made = random_program(seed, 4)
        yields, updates = made.program.block.yields, made.program.updates
        del yields[len(yields) - len(updates) :]
        updates.clear()
        try:
            standalone = write(made.program, "net")
        except ArgumentError:
            continue
        try:
            wanted = flat(compile_program(made.program).run(made.inputs, list(made.state.values())))
        except Exception:
            continue
        parameters = packed(made.program, made.state) if made.state else None
        folder = tmp_path / str(seed)
        folder.mkdir()
        have = Linked(standalone, folder)(made.inputs, parameters)
        for left, right in zip(have, wanted, strict=True):
            np.testing.assert_allclose(
                left.reshape(right.shape), right, rtol=1e-3, atol=1e-3, err_msg=str(seed)
            )
        count += 1
    assert count > 2
