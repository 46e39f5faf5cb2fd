"""Running Programs, against the same NumPy calls written by hand."""

from __future__ import annotations

import numpy as np
from measuring import in_turns, seconds_above, times

import dy2st
from dy2st.jit import to_static
from dy2st.nn import functional as F
from dy2st.static import InputSpec

CALLS = 200  # of what takes microseconds


def runner(function, *shapes):
    """What the engine runs for a function, without the call around it."""
    specs = [InputSpec(shape, "float32", f"x{i}") for i, shape in enumerate(shapes)]
    executable = to_static(function, input_spec=specs).concrete_program.executable
    return lambda *arrays: executable.run(arrays, [])[0]


def repeated(function, *arguments):
    return lambda: [function(*arguments) for _ in range(CALLS)]


# -- a loop of 1,000 turns --------------------------------------------------------------------


def grow(x, c):
    while x.mean() < c:
        x = x * 1.01 + 0.1
    return x


def grow_by_hand(x, c):
    while np.mean(x) < c:
        x = x * np.float32(1.01) + np.float32(0.1)
    return x


def grow_with_the_fewest_calls(x, c):
    rate, step, size = np.float32(1.01), np.float32(0.1), np.float32(64)
    while np.add.reduce(x) / size < c:
        x = x * rate + step
    return x


def against_static(by_hand):
    """The converted loop against one of these, which must agree with it."""
    static = runner(grow, [64], [])
    x = np.zeros(64, "float32")
    # x grows to (1.01**n - 1) * 10: 1,000 turns
    limit = np.float32((1.01**1000 - 1) * 10 * 0.999)
    np.testing.assert_allclose(static(x, limit), by_hand(x, limit), rtol=1e-5)
    return times(lambda: static(x, limit), lambda: by_hand(x, limit))


def test_loop_against_numpy(figure):
    what = "loop of 1,000 turns on (64,), against NumPy by hand"
    figure(what, lambda: against_static(grow_by_hand), "times", 1.3)


def test_loop_against_the_fewest_calls(figure):
    what = "the same loop, against NumPy without `np.mean`"
    figure(what, lambda: against_static(grow_with_the_fewest_calls), "times", None)


# -- ten branches -----------------------------------------------------------------------------


def ten_ifs(x):
    for i in range(10):
        if x.mean() > i:
            x = x - 1.0
        else:
            x = x + 2.0
    return x


def ten_ifs_by_hand(x):
    for i in range(10):
        if np.mean(x) > np.float32(i):
            x = x - np.float32(1.0)
        else:
            x = x + np.float32(2.0)
    return x


def test_ten_tensor_ifs(figure):
    static = runner(ten_ifs, [64])
    x = np.ones(64, "float32")
    np.testing.assert_array_equal(static(x), ten_ifs_by_hand(x))
    what = "ten tensor ifs on (64,), against NumPy by hand"
    figure(what, lambda: times(repeated(static, x), repeated(ten_ifs_by_hand, x)), "times", 1.3)


# -- what an operator and a call cost ---------------------------------------------------------


def test_one_operator_repeated(figure):
    def chain(x):
        for _ in range(1000):
            x = x.tanh()
        return x

    def by_hand(x):
        for _ in range(1000):
            x = np.tanh(x)
        return x

    chain.__dy2st_ignore__ = True
    static, x = runner(chain, [8]), np.ones(8, "float32")
    np.testing.assert_array_equal(static(x), by_hand(x))

    def measure():
        return seconds_above(lambda: static(x), lambda: by_hand(x)) / 1000 * 1e6

    figure("engine, above the NumPy call of an operator (tanh)", measure, "us", 1)


def test_small_layers(figure):
    def layers(x, w, b):
        for _ in range(300):
            x = F.relu(dy2st.matmul(x, w) + b)
        return x

    def by_hand(x, w, b):
        zero = np.float32(0)
        for _ in range(300):
            x = np.maximum(np.add(np.matmul(x, w), b), zero)
        return x

    layers.__dy2st_ignore__ = True
    static = runner(layers, [4, 8], [8, 8], [8])
    values = np.random.default_rng(0)
    arrays = [values.normal(size=s).astype("float32") / 3 for s in ((4, 8), (8, 8), (8,))]
    np.testing.assert_allclose(static(*arrays), by_hand(*arrays), rtol=1e-5)

    def measure():
        return seconds_above(lambda: static(*arrays), lambda: by_hand(*arrays)) / 900 * 1e6

    figure("engine, above the NumPy call of an operator (small layers)", measure, "us", 1)


# -- greedy decoding --------------------------------------------------------------------------

STEPS, WIDTH, WORDS = 40, 128, 1000


def decode(h, token, table, w, out):
    tokens = []
    for _ in range(STEPS):
        h = dy2st.tanh(dy2st.matmul(h, w) + table[token])
        token = dy2st.argmax(dy2st.matmul(h, out), axis=-1)
        tokens.append(token)
        if token == 0:
            break
    return dy2st.stack(tokens)


def decode_by_hand(h, token, table, w, out):
    tokens = []
    for _ in range(STEPS):
        h = np.tanh(np.matmul(h, w) + table[token])
        token = np.argmax(np.matmul(h, out), axis=-1)
        tokens.append(token)
        if token == 0:
            break
    return np.stack(tokens)


def test_greedy_decoding(figure):
    values = np.random.default_rng(1)
    shapes = ((WIDTH,), (WORDS, WIDTH), (WIDTH, WIDTH), (WIDTH, WORDS))
    h, *weights = (values.normal(size=shape).astype("float32") for shape in shapes)
    arrays = [h, np.int64(3), *weights]
    tensors = [dy2st.to_tensor(array) for array in arrays]
    static = to_static(decode)
    np.testing.assert_array_equal(static(*tensors).numpy(), decode_by_hand(*arrays))

    def measure():
        rounds = in_turns(lambda: static(*tensors), lambda: decode_by_hand(*arrays), rounds=200)
        # The best of each: what disturbs so short a run only ever makes it slower.
        return min(a for a, _ in rounds) / min(b for _, b in rounds)

    figure("greedy decoding of 40 steps, against NumPy by hand", measure, "times", 1.5)
