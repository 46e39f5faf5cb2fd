"""What is made of parameters is kept as long as they are the same arrays, and never longer."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from dy2st_runtime import exported_buffers, ops
from dy2st_runtime.dims import symbol
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.engine.native.machine.threads import set_num_threads
from dy2st_runtime.engine.native.program.prepacked import Keeper
from dy2st_runtime.engine.native.program.recipes import Recipe
from dy2st_runtime.ir import Program, TensorType, Tracer
from dy2st_runtime.nn import functional as F
from dy2st_runtime.ops.control_flow import while_loop
from dy2st_runtime.tensor import EagerTensor

K, N = 40, 50


def of_weights(function, *shapes, updates=(), dtype="float32", dtypes=()):
    """An executable of `function(x, weights...)`, x of any number of rows."""
    program = Program()
    x = program.block.add_parameter(TensorType(dtype, [symbol("m"), K]), "x")
    program.inputs.append(x)
    for index, shape in enumerate(shapes):
        name = f"w{index}"
        kind = program.buffers if name in updates else program.parameters
        own = dtypes[index] if dtypes else dtype
        kind[name] = program.block.add_parameter(TensorType(own, shape), name)
    program.updates = list(updates)
    with Tracer(program).tracing():
        results = function(x, *program.state.values())
    program.block.yields = list(results) if isinstance(results, tuple) else [results]
    return Executable(program)


def linear():
    return of_weights(lambda x, w: x @ w, (K, N))


def drawn(seed, *shape, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def keeper_of(executable):
    (keeper,) = [one for one in executable._linked._held if isinstance(one, Keeper)]
    return keeper


def sources(executable):
    """Of each recipe the array whose result is kept; one without elements if none is."""
    return keeper_of(executable).cell[0][2::2]


def assert_right(executable, x, *weights):
    have, want = executable.run([x], weights), executable.reference.run([x], weights)
    for one, other in zip(have, want, strict=True):
        tolerance = {"float32": 2e-5, "float64": 1e-12}[one.dtype.name]
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [0, 1, 2, 5, 8, 33])
def test_a_weight_is_packed_when_it_comes_the_second_time(rows, dtype):
    executable = of_weights(lambda x, w: x @ w, (K, N), dtype=dtype)
    x, w = drawn(0, rows, K, dtype=dtype), drawn(1, K, N, dtype=dtype)
    for is_kept in (False, True, True):
        assert_right(executable, x, w)
        assert (sources(executable)[0] is w) is is_kept


@pytest.mark.parametrize("rows", [1, 9])
def test_a_transposed_weight_is_packed_too(rows):
    executable = of_weights(lambda x, w, v: (x @ w.t() @ w, x @ v), (N, K), (K, N))
    x, w, v = drawn(0, rows, K), drawn(1, N, K), drawn(2, K, N)
    for _ in range(3):
        assert_right(executable, x, w, v)
    assert [one is w for one in sources(executable)] == [True, True, False]


def test_weights_of_loops_and_branches_are_kept():
    def function(x, w):
        def iteration(i, y):
            return [i + 1, (y @ w).tanh()]

        return while_loop(lambda i, y: i < 3, iteration, [x.shape[0] * 0, x])[1]

    executable = of_weights(function, (K, K))
    x, w = drawn(0, 4, K), drawn(1, K, K)
    for _ in range(3):
        assert_right(executable, x, w)
    assert sources(executable)[0] is w


def test_new_weights_at_each_call_are_never_packed():
    executable, x = linear(), drawn(0, 3, K)
    for seed in range(5):
        assert_right(executable, x, drawn(seed, K, N))
        assert sources(executable)[0].size == 0


def test_weights_that_are_replaced_are_let_go():
    executable, x, w = linear(), drawn(0, 3, K), drawn(1, K, N)
    for _ in range(3):
        assert_right(executable, x, w)
    gone = weakref.ref(w)
    del w
    for seed in range(2, 4):
        assert_right(executable, x, drawn(seed, K, N))
    gc.collect()
    assert gone() is None


def test_two_sets_of_weights_that_alternate_are_packed_more_and_more_seldom():
    executable, x = linear(), drawn(0, 3, K)
    sets, packed, before = [drawn(1, K, N), drawn(2, K, N)], [], None
    for iteration in range(200):
        w = sets[iteration // 2 % 2]
        assert_right(executable, x, w)
        if sources(executable)[0] is not before:
            before = sources(executable)[0]
            packed.append(iteration)
    assert len(packed) < 10


def test_without_memory_nothing_is_kept(monkeypatch):
    def make(recipe, arrays):
        raise MemoryError

    executable, x, w = linear(), drawn(0, 3, K), drawn(1, K, N)
    monkeypatch.setattr(Recipe, "make", make)
    for _ in range(5):
        assert_right(executable, x, w)
    assert sources(executable)[0].size == 0


def test_weights_that_a_program_changes_are_not_kept():
    executable = of_weights(lambda x, w: (x @ w, w + 1.0), (K, N), updates=["w0"])
    assert "keeper" not in executable.source


def test_small_weights_are_read_as_they_are():
    executable = of_weights(lambda x, w, v: x @ w + (x @ v).sum(), (K, 4), (K,))
    assert "keeper" not in executable.source


def test_an_array_that_looks_into_memory_of_others_is_not_kept():
    executable, x = linear(), drawn(0, 3, K)
    whole = drawn(1, 2 * K, N)
    view = whole[:K]
    view.flags.writeable = False
    for _ in range(4):
        assert_right(executable, x, whole[:K])
        assert_right(executable, x, view)
        whole += 1
    assert sources(executable)[0].size == 0


def test_a_read_only_array_over_bytes_is_kept():
    executable, x = linear(), drawn(0, 3, K)
    w = np.frombuffer(drawn(1, K, N).tobytes(), np.float32).reshape(K, N)
    for _ in range(3):
        assert_right(executable, x, w)
    assert sources(executable)[0] is w


def test_a_mapped_file_is_kept(tmp_path):
    executable, x = linear(), drawn(0, 3, K)
    drawn(1, K, N).tofile(tmp_path / "w")
    w = np.memmap(tmp_path / "w", np.float32, "r", shape=(K, N)).view(np.ndarray)
    for _ in range(3):
        assert_right(executable, x, w)
    assert sources(executable)[0] is w


@pytest.mark.parametrize("is_view", [False, True])
def test_what_dlpack_hands_out_may_be_written_to(is_view):
    executable, x, tensor = linear(), drawn(0, 3, K), EagerTensor(drawn(1, K, N))
    for _ in range(3):
        assert_right(executable, x, tensor.array)
    assert sources(executable)[0] is tensor.array
    capsule = (EagerTensor(tensor.array[1:]) if is_view else tensor).__dlpack__()
    for _ in range(3):
        tensor.array[:] += 1
        assert_right(executable, x, tensor.array)
    assert sources(executable)[0].size == 0
    del capsule


def test_memory_that_is_lent_says_nothing_of_other_memory():
    executable, x, w = linear(), drawn(0, 3, K), drawn(1, K, N)
    for _ in range(3):
        assert_right(executable, x, w)
    other = drawn(2, K, N)
    exported_buffers.note_export(other)
    assert exported_buffers.is_constant(w) and not exported_buffers.is_constant(other)
    for _ in range(2):
        assert_right(executable, x, w)
    assert sources(executable)[0] is w


def test_threads_with_weights_of_their_own_get_their_own_results():
    executable, wrong = linear(), []

    def work(seed):
        x, w = drawn(seed, 6, K), drawn(seed + 10, K, N)
        want = x @ w
        for iteration in range(300):
            if iteration % 40 == 0:
                w = w.copy()
            if not np.allclose(executable.run([x], [w])[0], want, rtol=1e-4, atol=1e-4):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_helpers_work_on_panels_too():
    set_num_threads(3)
    try:
        executable = of_weights(lambda x, w: x @ w, (K, 1000))
        for rows in (70, 300):
            x, w = drawn(0, rows, K), drawn(1, K, 1000)
            for _ in range(3):
                assert_right(executable, x, w)
            assert sources(executable)[0] is w
    finally:
        set_num_threads(1)


def test_what_is_kept_is_not_finite_where_the_weight_is_not():
    executable, x, w = linear(), drawn(0, 3, K), drawn(1, K, N)
    w[3, 4], w[5, 6] = np.nan, np.inf
    for _ in range(3):
        have, want = executable.run([x], [w])[0], x @ w
        np.testing.assert_array_equal(np.isnan(have), np.isnan(want))
        np.testing.assert_array_equal(np.isinf(have), np.isinf(want))


def test_equal_programs_that_keep_have_equal_texts():
    assert linear().source == linear().source


# -- what is computed of weights ---------------------------------------------------------------


def whole(executable):
    """Of each recipe what was made and the arrays of which; None while nothing is."""
    (keeper,) = [one for one in executable._linked._held if isinstance(one, Keeper)]
    return [slot.kept if slot.kept[0].size else None for slot in keeper._slots]


def small_integers(x, w, scale):
    return x @ (ops.cast(w, "float32") * scale)


def test_a_weight_of_small_integers_is_computed_once():
    executable = of_weights(small_integers, (K, N), (N,), dtypes=["int8", "float32"])
    x, scale = drawn(0, 3, K), drawn(1, N)
    w = np.random.default_rng(2).integers(-128, 128, (K, N)).astype(np.int8)
    for _ in range(3):
        assert_right(executable, x, w, scale)
    (kept,) = whole(executable)
    assert kept[1] is w and kept[2] is scale
    assert "anew" in executable.source  # a branch around the steps that compute it
    for _ in range(3):  # another scale, the same integers
        assert_right(executable, x, w, scale * 2)
        scale = scale * 2
    assert_right(executable, x, w + np.int8(1), scale)


def test_products_of_weights_are_kept():
    def adapted(x, w, down, up):
        return x @ (w + down @ up * 0.5)

    executable = of_weights(adapted, (K, N), (K, 4), (4, N))
    x, weights = drawn(0, 3, K), [drawn(1, K, N), drawn(2, K, 4), drawn(3, 4, N)]
    for iteration in range(4):
        assert_right(executable, x, *weights)
        assert (whole(executable)[0] is not None) is (iteration > 0)
    for place in range(3):
        weights[place] = weights[place] * 2
        for _ in range(3):
            assert_right(executable, x, *weights)


def test_what_others_read_too_is_computed_at_each_call():
    def function(x, w):
        own = ops.tanh(w)
        return x @ own, own * 2.0, ops.sum(own)

    executable = of_weights(function, (K, N))
    for _ in range(4):
        assert_right(executable, drawn(0, 3, K), drawn(1, K, N))
    x, w = drawn(0, 3, K), drawn(1, K, N)
    for _ in range(4):
        assert_right(executable, x, w)
    assert whole(executable)[0] is not None


@pytest.mark.parametrize("iterations", [0, 2])
def test_what_is_computed_of_weights_serves_loops(iterations):
    def function(x, w):
        own = ops.reshape(ops.tanh(w), [K, K])

        def iteration(i, y):
            return [i + 1, ops.tanh(y @ own) @ (w.reshape([K, K]) * 2.0)]

        return while_loop(lambda i, y: i < iterations, iteration, [x.shape[0] * 0, x])[1]

    executable = of_weights(function, (K * K,))
    x, w = drawn(0, 4, K), drawn(1, K * K)
    for _ in range(4):
        assert_right(executable, x, w)
    assert all(kept is not None for kept in whole(executable))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_row_is_right_whether_a_computed_weight_is_made_or_kept(rows):
    """The few rows would read the weight as it is, but its memory has served something else."""

    def function(x, w, v):
        product = x @ (ops.cast(w, "float32") * 0.5)
        return product, ops.cumsum(v, axis=0)[-1:] + product[:1]

    wide = (K, 200)
    executable = of_weights(function, wide, wide, dtypes=["int8", "float32"])
    x, v = drawn(0, rows, K), drawn(1, *wide)
    w = np.random.default_rng(2).integers(-128, 128, wide).astype(np.int8)
    for _ in range(3):
        assert_right(executable, x, w, v)
    assert whole(executable)[0] is not None


def test_of_few_rows_a_parameter_of_long_rows_is_read_as_it_is():
    executable = of_weights(lambda x, w: x[:1].reshape([1, K]) @ w, (K, 200))
    x, w = drawn(0, 4, K), drawn(1, K, 200)
    for _ in range(3):
        assert_right(executable, x, w)
    assert not [one for one in executable._linked._held if isinstance(one, Keeper)]


def test_what_is_drawn_at_random_is_not_kept():
    executable = of_weights(lambda x, w: x @ F.dropout(w, 0.5, training=True), (K, N))
    assert "keeper" not in executable.source


def test_a_matrix_much_larger_than_its_parameters_is_not_kept():
    executable = of_weights(lambda x, w: x @ ops.broadcast_to(w * 2.0, [K, N]), (1, N))
    assert "keeper" not in executable.source


def test_a_constant_matrix_is_packed_where_code_is_linked():
    constant = drawn(1, K, N)
    executable = of_weights(lambda x, b: x @ ops.tanh(constant) + x @ constant + b, (N,))
    assert "keeper" not in executable.source
    for rows in (0, 1, 7):
        assert_right(executable, drawn(0, rows, K), drawn(2, N))


def test_what_raises_for_some_weights_is_computed_at_each_call():
    def function(x, w, index):
        return x @ ops.index_select(w, index, axis=0)

    executable = of_weights(function, (2 * K, N), (K,), dtypes=["float32", "int64"])
    x, w = drawn(0, 3, K), drawn(1, 2 * K, N)
    index = np.arange(K)
    for _ in range(3):
        assert_right(executable, x, w, index)
    with pytest.raises(IndexError):
        executable.run([x], [w, index + 2 * K])


def test_how_much_is_kept_is_told():
    executable, weight = linear(), drawn(0, K, N)
    assert "made of parameters and kept: 0" in executable.explain()
    for _ in range(3):
        assert_right(executable, drawn(1, 3, K), weight)
    kept = int(executable.explain().partition("and kept: ")[2].split()[0])
    assert weight.nbytes <= kept <= 2 * weight.nbytes


def test_where_weights_are_always_new_most_calls_do_not_ask(monkeypatch):
    executable, x = linear(), drawn(0, 8, K)
    asked, call = [], Keeper.__call__
    monkeypatch.setattr(Keeper, "__call__", lambda *all: asked.append(1) or call(*all))
    for seed in range(200):
        assert_right(executable, x, drawn(seed, K, N))
    assert 8 < len(asked) < 40


def test_weights_that_stay_are_kept_after_many_that_did_not():
    executable, x = linear(), drawn(0, 8, K)
    for seed in range(100):
        executable.run([x], [drawn(seed, K, N)])
    weight = drawn(100, K, N)
    for _ in range(50):
        assert_right(executable, x, weight)
    assert sources(executable)[0] is weight
    assert keeper_of(executable).pause == 0
