"""Regions compute what NumPy's kernels do: all geometries, what follows, and what is unusual."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.static import InputSpec
from dy2st_runtime import ops
from dy2st_runtime.engine.native.convolution import regions
from dy2st_runtime.engine.native.machine.threads import quiet, set_num_threads
from dy2st_runtime.ir import apply
from tests.effort import effort

from .networks import assert_alike, assert_by_library, compiled, drawn, needs_library, regions_of

pytestmark = [needs_library, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def conv_of(rank):
    return {3: ops.conv1d, 4: ops.conv2d, 5: ops.conv3d}[rank]


def drawn_geometry(seed):
    """A convolution of any number of axes: shapes of x and of filters, and its options."""
    random = np.random.default_rng(seed)
    axes = int(random.choice([1, 2, 2, 2, 3]))
    groups = int(random.choice([1, 1, 2, 3, 8]))
    kernel, stride, dilation = (random.integers(1, top, axes) for top in (5, 4, 3))
    inside, outside = (int(random.choice([1, 2, 4, 16])) for _ in range(2))
    if random.random() < 0.3:
        inside, outside, groups = 1, int(random.integers(1, 3)), 8
    pads = random.integers(0, 4, axes)
    sizes = dilation * (kernel - 1) + 1 + random.integers(0, 9, axes)
    x = (int(random.integers(1, 4)), inside * groups, *map(int, sizes))
    w = (outside * groups, inside, *map(int, kernel))
    options = {"stride": stride, "padding": pads, "dilation": dilation}
    return x, w, {**{key: value.tolist() for key, value in options.items()}, "groups": groups}


@pytest.mark.parametrize("seed", range(effort(60, 600)))
def test_any_convolution_is_numpys(seed, monkeypatch):
    x, w, options = drawn_geometry(seed)
    names = [*"nchwd"][: len(x)] if seed % 2 else x
    names = [size if i == 1 else name for i, (name, size) in enumerate(zip(names, x))]
    bias = [(w[0],)] if seed % 3 else []
    executable = compiled(lambda x, w, *b: conv_of(x.ndim)(x, w, *b, **options), names, w, *bias)
    assert len(regions_of(executable)) == 1
    inputs = drawn(x, w, *bias, seed=seed)
    assert_alike(executable, inputs)
    assert_by_library(executable, inputs, monkeypatch)


@pytest.mark.parametrize("groups", [1, 4])
def test_a_filter_of_one_place_is_numpys(groups):
    def run(x, w, bias):
        y = ops.conv2d(x, w, bias, groups=groups)
        return y, ops.conv2d(ops.relu(y), w, groups=groups), ops.conv2d(x, w, None, 2, 1, 1, groups)

    executable = compiled(run, ("n", 8, 12, 13), (8, 8 // groups, 1, 1), (8,))
    assert_alike(executable, drawn((2, 8, 12, 13), (8, 8 // groups, 1, 1), (8,)))


@pytest.mark.parametrize("channels", range(1, 9))
def test_a_head_of_few_channels_is_computed_by_the_library(channels, monkeypatch):
    shapes = (2, 24, 13, 13), (channels, 24, 1, 1)
    executable = compiled(lambda x, w: ops.sigmoid(ops.conv2d(x, w)), *shapes)
    assert_alike(executable, drawn(*shapes))
    assert_by_library(executable, drawn(*shapes), monkeypatch)


@pytest.mark.parametrize("shape", [(7,), (5, 7), (8, 5, 7), (8, 1, 7), (8, 1, 1)])
def test_what_has_fewer_axes_lies_as_it_is_read(shape):
    """The library likes channels beside each other, and they are given row by row."""

    def run(x, w, other):
        return ops.max_pool2d(ops.relu(ops.conv2d(x, w, padding=1)) * other, 3, 1, 1)

    executable = compiled(run, ("n", 8, 5, 7), (8, 8, 3, 3), shape)
    assert regions_of(executable) == [["conv", "relu", "multiply", "max_pool"]]
    assert_alike(executable, drawn((2, 8, 5, 7), (8, 8, 3, 3), shape))


@pytest.mark.parametrize("keepdim", [False, True])
def test_images_of_one_spatial_axis_are_numpys(keepdim, monkeypatch):
    def run(x, w, v, *others):
        *norm, plane, row, column = others
        y = ops.relu(ops.batch_norm(ops.conv1d(x, w, padding=1, groups=4), *norm))
        y = ops.concat([ops.max_pool1d(y, 3, 1, 1) * plane, y + row, y - column], axis=1)
        y = ops.avg_pool1d(ops.conv1d_transpose(y, v, stride=2), 2)
        return y, ops.sigmoid(ops.mean(y, [2], keepdim=keepdim)), ops.relu(y)

    others = [*[(4,)] * 4, (4, 7), (7,), (4, 1)]
    executable = compiled(run, ("n", 4, 7), (4, 1, 3), (12, 5, 2), *others)
    assert len(regions_of(executable)) == 1
    inputs = [np.abs(one) for one in drawn((2, 4, 7), (4, 1, 3), (12, 5, 2), *others)]
    assert_alike(executable, inputs)
    assert_by_library(executable, inputs, monkeypatch)


def geometry_of(options):
    """The options as attributes of the operators."""
    names = {"strides": options["stride"], "dilations": options["dilation"]}
    pads = tuple((pad, pad) for pad in options["padding"])
    return {key: tuple(value) for key, value in names.items()} | {
        "pads": pads,
        "groups": options["groups"],
    }


def counts_of(x, w, options):
    """How many windows there are."""
    geometry = zip(x[2:], w[2:], options["stride"], options["padding"], options["dilation"])
    return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in geometry]


@pytest.mark.parametrize("seed", range(effort(40, 400)))
def test_any_transposed_convolution_is_numpys(seed, monkeypatch):
    x, w, options = drawn_geometry(seed)
    given, bias = (x[0], w[0], *counts_of(x, w, options)), [(x[1],)] if seed % 2 else []
    options = {**geometry_of(options), "sizes": x[2:]}
    names = ("n", *given[1:])
    executable = compiled(
        lambda g, w, *b: ops.relu(apply("conv_transpose", g, w, *b, **options)), names, w, *bias
    )
    inputs = drawn(given, w, *bias, seed=seed)
    assert_alike(executable, inputs)
    assert_by_library(executable, inputs, monkeypatch)


@pytest.mark.parametrize("seed", range(effort(40, 400)))
def test_any_gradient_of_filters_is_numpys(seed, monkeypatch):
    x, w, options = drawn_geometry(seed)
    given = (x[0], w[0], *counts_of(x, w, options))
    options = {**geometry_of(options), "kernel": w[2:]}
    executable = compiled(
        lambda x, g: apply("conv_weight", x, g, **options), ("n", *x[1:]), ("n", *given[1:])
    )
    inputs = drawn(x, given, seed=seed)
    assert_alike(executable, inputs)
    assert_by_library(executable, inputs, monkeypatch)


def test_infinite_gradients_are_numpys():
    """The library leaves out padding, which NumPy multiplies."""
    options = {"kernel": (3, 3), "strides": (1, 1), "pads": ((1, 1), (1, 1)), "dilations": (1, 1)}
    executable = compiled(
        lambda x, g: apply("conv_weight", x, g, groups=1, **options), (1, 2, 5, 5), (1, 3, 5, 5)
    )
    inputs = drawn((1, 2, 5, 5), (1, 3, 5, 5))
    inputs[1][0, 0, 0, 0] = np.inf
    assert_alike(executable, inputs)


def test_a_normalised_transposed_convolution_is_one():
    def run(x, w, *norm):
        return ops.relu(ops.batch_norm(ops.conv2d_transpose(x, w, stride=2, groups=2), *norm))

    norm = [(6,)] * 4
    executable = compiled(run, ("n", 8, 4, 5), (8, 3, 3, 3), *norm)
    inputs = [np.abs(one) for one in drawn((2, 8, 4, 5), (8, 3, 3, 3), *norm)]
    assert regions_of(executable) == [["conv_transpose", "batch_norm", "relu"]]
    assert_alike(executable, inputs)


FOLLOWING = {
    "relu": ops.relu,
    "relu6": ops.relu6,
    "clip": lambda y: ops.clip(y, -0.5, 0.75),
    "leaky relu": lambda y: ops.leaky_relu(y, 0.1),
    "sigmoid": ops.sigmoid,
    "silu": ops.silu,
    "tanh": ops.tanh,
    "hardswish": ops.hardswish,
    "hardsigmoid": ops.hardsigmoid,
    "scaled": lambda y: (y * 2.0 - 1.5) / 3.0 + 0.25,
    "twice": lambda y: ops.relu(ops.relu(y) - 0.5),
}


@pytest.mark.parametrize("name", FOLLOWING)
@pytest.mark.parametrize("is_pooled", [False, True])
def test_what_follows_is_numpys(name, is_pooled, monkeypatch):
    def run(x, w):
        y = ops.conv2d(x, w, padding=1)
        return FOLLOWING[name](ops.max_pool2d(y, 2) if is_pooled else y)

    executable = compiled(run, (2, 4, 9, 8), (24, 4, 3, 3))
    inputs = drawn((2, 4, 9, 8), (24, 4, 3, 3))
    assert len(regions_of(executable)) == 1
    assert_alike(executable, inputs)
    assert_by_library(executable, inputs, monkeypatch)


def block(x, first, second, *norms):
    """A block of a residual network."""
    y = ops.conv2d(x, first, padding=1)
    y = ops.relu(ops.batch_norm(y, *norms[:4]))
    y = ops.batch_norm(ops.conv2d(y, second, padding=1), *norms[4:])
    return ops.relu(x + y)


BLOCK = [("n", 16, "h", "w"), *[(16, 16, 3, 3)] * 2, *[(16,)] * 8]


def of_block(n=2, h=7, w=9, seed=0):
    inputs = drawn((n, 16, h, w), *BLOCK[1:], seed=seed)
    return [np.abs(x) if i in (4, 8) else x for i, x in enumerate(inputs)]


def test_a_residual_block_is_one_region(monkeypatch):
    executable = compiled(block, *BLOCK)
    names = "conv batch_norm relu conv batch_norm add relu".split()
    assert regions_of(executable) == [names]
    for n, h, w in ((1, 7, 9), (2, 8, 8), (1, 7, 9), (3, 1, 1)):
        assert_alike(executable, of_block(n, h, w))
        assert_by_library(executable, of_block(n, h, w), monkeypatch)


SECOND = {
    "a channel": lambda y, x: y + ops.reshape(x[0, :8, 0, 0], [8, 1, 1]),
    "a place": lambda y, x: y * x[:1, :1] + x[:, :1],
    "a row": lambda y, x: ops.relu(y + x[0, 0, 0]),
    "a sample": lambda y, x: y * ops.mean(y, [2, 3], keepdim=True),
    "itself": lambda y, x: y * ops.sigmoid(y),
    "behind": lambda y, x: x[:, :8] - y,
    "before": lambda y, x: y - x[:, :8],
    "largest": lambda y, x: ops.maximum(x[:, :8], y),
    "normed": lambda y, x: ops.relu(
        ops.batch_norm(y + 1.0, *[ops.abs(x[0, :8, 1, i]) for i in range(4)])
    ),
    "joined": lambda y, x: ops.concat([y, ops.relu(y), x], 1),
    "left": lambda y, x: ops.mean(ops.relu(y), [2, 3]) * 2.0,
    "one axis": lambda y, x: ops.mean(ops.mean(y, 2, keepdim=True), 3, keepdim=True),
    "one axis after the other": lambda y, x: ops.mean(ops.relu(ops.mean(ops.relu(y), 2)), 2),
    "one axis and others": lambda y, x: ops.mean(y, 2) + ops.mean(x[:, :8], 2),
    "both": lambda y, x: (y, ops.relu(y)),
    "padded mean": lambda y, x: ops.avg_pool2d(y, 3, 2, 1, exclusive=False),
    "mean inside": lambda y, x: ops.avg_pool2d(y, 3, 2, 1),
    "ceil": lambda y, x: ops.max_pool2d(y, 3, 2, 1, ceil_mode=True),
    "ceil mean": lambda y, x: ops.avg_pool2d(y, 2, 2, ceil_mode=True),
    "places": lambda y, x: ops.max_pool2d(y, 2, return_mask=True),
}


@pytest.mark.parametrize("name", SECOND)
@pytest.mark.parametrize("is_known", [False, True])
def test_what_is_done_with_other_tensors_is_numpys(name, is_known):
    def run(x, w):
        return SECOND[name](ops.conv2d(x, w, padding=1), x)

    shape = (4, 12, 7, 9)
    executable = compiled(run, shape if is_known else ("n", 12, "h", "w"), (8, 12, 3, 3))
    assert_alike(executable, drawn(shape, (8, 12, 3, 3)))


def test_a_mean_without_padding_stays_in_a_region():
    executable = compiled(
        lambda x, w: ops.relu(ops.avg_pool2d(ops.conv2d(x, w), 3, 2, 1)), (1, 4, 9, 9), (8, 4, 3, 3)
    )
    assert [len(names) for names in regions_of(executable)] == [5]
    assert_alike(executable, drawn((1, 4, 9, 9), (8, 4, 3, 3)))


@pytest.mark.parametrize("shape", [(0, 3, 5, 5), (2, 3, 0, 5)])
def test_tensors_without_elements_are_left_to_numpy(shape):
    executable = compiled(
        lambda x, w: ops.relu(ops.conv2d(x, w, padding=1)), ("n", 3, "h", "w"), (4, 3, 2, 2)
    )
    assert_alike(executable, drawn(shape, (4, 3, 2, 2)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("name", ["relu", "relu6", "sigmoid", "scaled"])
@pytest.mark.parametrize("where", [0, 1])
def test_numbers_that_are_none_stay_so(value, name, where):
    """The library's activations make 0 of NaN."""
    executable = compiled(
        lambda x, w: ops.max_pool2d(FOLLOWING[name](ops.conv2d(x, w)), 2),
        (1, 16, 9, 9),
        (16, 16, 3, 3),
    )
    inputs = drawn((1, 16, 9, 9), (16, 16, 3, 3))
    inputs[where][0, 3, 1, 1] = value
    assert_alike(executable, inputs)


def test_the_largest_of_infinite_numbers_is_one():
    executable = compiled(lambda x: ops.max_pool2d(x, 2), (1, 2, 4, 4))
    x = drawn((1, 2, 4, 4))[0]
    x[0, 0] = -np.inf
    assert_alike(executable, [x])


def test_a_new_array_of_weights_is_read_anew():
    executable = compiled(block, *BLOCK)
    inputs = of_block()
    for seed in range(3):
        inputs[1] = drawn((16, 16, 3, 3), seed=seed)[0]
        assert_alike(executable, inputs)
        assert_alike(executable, inputs)


CHANNELS = (2, 6, 5, 5), (8, 6, 3, 3), (8,), (8, 1, 1), (1, 8, 1, 1)
SCALED = {
    "bias, then factor": lambda y, a, b, c: (y + a.reshape([1, 8, 1, 1])) * b,
    "factor, then bias": lambda y, a, b, c: y * a.reshape([8, 1, 1]) + c,
    "difference and quotient": lambda y, a, b, c: (y - b) / (a.reshape([1, 8, 1, 1]) + 4.0) / c,
    "bias of the left": lambda y, a, b, c: ops.relu(b + y) * 2.0 + c,
    "norm, then bias": lambda y, a, b, c: ops.batch_norm(y, a, a * a, a, a) + b,
    "bias, norm and factor": lambda y, a, b, c: ops.batch_norm(y + b, a, a * a, a, a) * c,
    "vector minus image": lambda y, a, b, c: c - y,
    "computed bias": lambda y, a, b, c: y + ops.exp(a).reshape([1, 8, 1, 1]),
    "used twice": lambda y, a, b, c: (y + b, a.reshape([1, 8, 1, 1]) + y + b),
}


@pytest.mark.parametrize("batch", [2, "n"])
@pytest.mark.parametrize("name", SCALED)
def test_factors_and_shifts_of_channels_are_numpys(name, batch, monkeypatch):
    scaled = SCALED[name]
    shapes = [(batch, *CHANNELS[0][1:]), *CHANNELS[1:]]
    executable = compiled(lambda x, w, *others: scaled(ops.conv2d(x, w), *others), *shapes)
    for seed in range(3):
        inputs = drawn(*CHANNELS, seed=seed)
        assert_alike(executable, inputs)
        inputs[2] = drawn((8,), seed=9)[0]
        assert_alike(executable, inputs)
    assert_by_library(executable, inputs, monkeypatch)


def test_a_bias_of_a_transposed_convolution_is_numpys():
    def run(x, w, b):
        return ops.relu(ops.conv2d_transpose(x, w, b, stride=2))

    executable = compiled(run, ("n", 6, 5, 5), (6, 8, 3, 3), (8,))
    assert regions_of(executable) == [["conv_transpose", "add", "relu"]]
    for seed in range(3):
        assert_alike(executable, drawn((2, 6, 5, 5), (6, 8, 3, 3), (8,), seed=seed))


def test_an_image_of_one_element_is_no_vector_of_factors():
    executable = compiled(
        lambda x, w, b: ops.conv2d(x, w) + b, (1, 6, 3, 3), CHANNELS[1], (8, 1, 1)
    )
    for seed in range(2):
        assert_alike(executable, drawn((1, 6, 3, 3), CHANNELS[1], (8, 1, 1), seed=seed))


def test_weights_that_others_can_change_are_read_at_each_call():
    executable, inputs = compiled(block, *BLOCK), of_block()
    whole = drawn((17, 16, 3, 3), seed=5)[0]
    inputs[1] = whole[1:]
    assert_alike(executable, inputs)
    whole *= 2
    assert_alike(executable, inputs)


def test_weights_that_are_computed_are_right():
    executable = compiled(lambda x, w: ops.conv2d(x, w * 2.0), ("n", 8, 6, 6), (8, 8, 3, 3))
    for seed in range(3):
        assert_alike(executable, drawn((2, 8, 6, 6), (8, 8, 3, 3), seed=seed))


def test_weights_of_another_shape_are_right():
    executable = compiled(
        lambda x, w: ops.conv2d(x, ops.reshape(w, [8, 8, 3, 3])), (1, 8, 6, 6), (64, 9)
    )
    assert_alike(executable, drawn((1, 8, 6, 6), (64, 9)))


def test_a_region_in_a_loop_is_right():
    def run(x, w):
        for _ in range(3):
            x = ops.relu(ops.conv2d(x, w, padding=1)) * 0.1
        return x

    def iterations(x, w):
        return ops.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, run(x, w)), [ops.full([], 0, "int64"), x]
        )

    executable = compiled(iterations, ("n", 8, 6, 6), (8, 8, 3, 3))
    assert_alike(executable, drawn((2, 8, 6, 6), (8, 8, 3, 3)))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_several_threads_call_with_several_sizes(count):
    executable, wrong = compiled(block, *BLOCK), []
    set_num_threads(count)

    def calls(seed):
        sets = [of_block(n, h, 9, seed) for n, h in ((1, 5), (2, 7), (1, 9))]
        wanted = [executable.reference.run(inputs, [])[0] for inputs in sets]
        for iteration in range(effort(20, 200)):
            have = executable.run(sets[iteration % 3], [])[0]
            if not np.allclose(have, wanted[iteration % 3], rtol=1e-4, atol=1e-3):
                wrong.append((seed, iteration))

    threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    set_num_threads(1)
    assert not wrong


@pytest.mark.parametrize("count", [1, 2])
def test_helpers_leave_the_cores_to_the_threads_of_the_library(count):
    executable = compiled(block, *BLOCK)
    set_num_threads(count)
    try:
        quiet().value = 0
        for _ in range(2):  # the first call may be NumPy's
            executable.run(of_block(), [])
        assert quiet().value == count - 1
    finally:
        set_num_threads(1)


def test_plans_of_many_sizes_are_not_all_kept():
    executable = compiled(block, *BLOCK)
    for h in range(1, 30):
        assert_alike(executable, of_block(1, h, 5))


def test_errors_are_those_of_the_kernels():
    """A tensor that has too many channels comes from a kernel whose shape nobody can tell."""
    executable = compiled(block, *BLOCK)
    inputs = of_block()
    inputs[0] = drawn((2, 17, 5, 5))[0]
    with pytest.raises(Exception) as have:
        executable.run(inputs, [])
    with pytest.raises(Exception) as want:
        executable.reference.run(inputs, [])
    assert str(have.value) == str(want.value)


def test_without_the_library_numpy_computes(monkeypatch):
    monkeypatch.setattr(regions, "find", lambda: None)
    executable = compiled(block, *BLOCK)
    assert regions_of(executable) == []
    assert_alike(executable, of_block())


def test_a_region_is_explained_by_a_line_for_each_convolution():
    lines = compiled(block, *BLOCK).explain().splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("oneDNN"))
    shown = [line.partition("  (line ")[0] for line in lines[head : head + 3]]
    assert shown == ["oneDNN 7 operators", "  conv batch_norm relu", "  conv batch_norm add relu"]
    assert all("(line " in line for line in lines[head : head + 3])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_child_computes_alone():
    """OpenMP's threads are not there any more; to wait for them would be for ever."""
    executable, inputs = compiled(block, *BLOCK), of_block()
    set_num_threads(2)
    try:
        want = executable.run(inputs, [])[0]
        assert exit_code(lambda: np.allclose(executable.run(inputs, [])[0], want)) == 0
    finally:
        set_num_threads(1)


def exit_code(holds):
    """Of a child that asks whether something holds."""
    child = os.fork()
    if child == 0:
        os._exit(0 if holds() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


# -- transposed convolutions of any sizes ----------------------------------------------------------


pytest.importorskip("llvmlite")

SETTINGS = [
    (1, {}),
    (4, {"stride": 2, "padding": 1}),
    (4, {"stride": 2, "padding": 1, "output_padding": 1}),
    (2, {"stride": 3, "dilation": 2}),
    (2, {"stride": (2, 1), "padding": (1, 0), "bias_attr": False}),
]


@pytest.mark.parametrize(("groups", "settings"), SETTINGS)
@pytest.mark.parametrize("axes", [1, 2])
def test_one_program_enlarges_images_of_all_sizes(groups, settings, axes):
    settings = {k: v[0] if axes == 1 and isinstance(v, tuple) else v for k, v in settings.items()}
    make = (nn.Conv1DTranspose, nn.Conv2DTranspose)[axes - 1]
    net = make(4, 8, 4, groups=groups, **settings)
    unknown = InputSpec([None, 4, *[None] * axes])
    fast = dy2st.to_static(lambda x: net(x * 2), input_spec=[unknown], engine="native")
    for sizes in ((5, 6), (5, 6), (20, 30), (1, 1), (7, 3)):
        x = dy2st.rand([2, 4, *sizes[:axes]])
        np.testing.assert_allclose(fast(x).numpy(), net(x * 2).numpy(), rtol=1e-4, atol=1e-5)
    text = fast.concrete_program.executable.explain()
    assert "conv_transpose" not in text.partition("computed by NumPy")[2]


def test_a_chain_of_them_keeps_its_gradients():
    net = nn.Sequential(
        nn.Conv2DTranspose(2, 2, 4, 2, 1, groups=2), nn.ReLU(), nn.Conv2DTranspose(2, 1, 2, 2)
    )
    fast = dy2st.to_static(
        lambda x: net(x), input_spec=[InputSpec([None, 2, None, None])], engine="native"
    )
    for size in (3, 3, 4, 5):
        found = []
        for called in (net, fast):
            x = dy2st.to_tensor(np.linspace(-1, 1, 2 * size * size).reshape(1, 2, size, size))
            x = x.astype("float32").detach()
            x.stop_gradient = False
            (called(x) ** 2).sum().backward()
            found.append([x.grad.numpy(), *(one.grad.numpy() for one in net.parameters())])
            net.clear_gradients()
        for ours, wanted in zip(*found, strict=True):
            np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-4)
