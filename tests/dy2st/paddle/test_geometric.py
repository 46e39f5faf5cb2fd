"""Messages along edges: against loops over the edges."""

import numpy as np
import pytest

import dy2st
from dy2st import geometric
from dy2st.static import InputSpec

X = np.random.default_rng(0).standard_normal((5, 3)).astype("float32")
SRC, DST = np.array([0, 1, 2, 0, 4, 3]), np.array([1, 3, 1, 1, 3, 0])
EDGES = np.random.default_rng(1).standard_normal((6, 3)).astype("float32")
HOW = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}
MESSAGES = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


def joined(rows, places, size, how):
    found = np.zeros((size, *rows.shape[1:]), rows.dtype)
    for place in set(places.tolist()):
        found[place] = HOW[how](rows[places == place], axis=0)
    return found


@pytest.mark.parametrize("how", HOW)
def test_segments_are_joined(how):
    ids = np.array([0, 0, 2, 3, 3])
    function = getattr(geometric, f"segment_{how}")
    found = function(dy2st.to_tensor(X), dy2st.to_tensor(ids))
    np.testing.assert_allclose(found.numpy(), joined(X, ids, 4, how), rtol=1e-5)
    whole = np.array([-7, 2, 3, 4, 6])
    found = function(dy2st.to_tensor(whole), dy2st.to_tensor(ids))
    np.testing.assert_array_equal(found.numpy(), joined(whole, ids, 4, how))
    assert getattr(dy2st.incubate, f"segment_{how}") is function


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("size", [None, 4, 8])
def test_nodes_receive_what_others_send(how, size):
    given = (dy2st.to_tensor(value) for value in (X, SRC, DST))
    found = geometric.send_u_recv(*given, how, out_size=size)
    np.testing.assert_allclose(found.numpy(), joined(X[SRC], DST, size or 5, how), rtol=1e-5)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("message", MESSAGES)
def test_messages_are_of_nodes_and_edges(how, message):
    x, y, src, dst = (dy2st.to_tensor(value) for value in (X, EDGES, SRC, DST))
    expected = joined(MESSAGES[message](X[SRC], EDGES), DST, 5, how)
    found = geometric.send_ue_recv(x, y, src, dst, message, how)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-6)
    one = geometric.send_ue_recv(x, y[:, 0], src, dst, message, how)
    expected = joined(MESSAGES[message](X[SRC], EDGES[:, :1]), DST, 5, how)
    np.testing.assert_allclose(one.numpy(), expected, rtol=1e-4, atol=1e-6)
    found = geometric.send_uv(x, x + 3, src, dst, message)
    np.testing.assert_allclose(found.numpy(), MESSAGES[message](X[SRC], X[DST] + 3), rtol=1e-5)


@pytest.mark.parametrize("how", HOW)
def test_gradients_go_back_along_the_edges(how):
    x = dy2st.to_tensor(X, stop_gradient=False)
    src, dst = dy2st.to_tensor(SRC), dy2st.to_tensor(DST)
    (geometric.send_u_recv(x, src, dst, how) * dy2st.to_tensor(X)).sum().backward()
    expected, step = np.zeros_like(X, "float64"), 1e-5
    for index in np.ndindex(X.shape):
        for sign in (1, -1):
            moved = X.astype("float64")
            moved[index] += sign * step
            expected[index] += sign * (joined(moved[SRC], DST, 5, how) * X).sum() / (2 * step)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("how", HOW)
def test_graphs_of_unknown_size_are_converted(how):
    def layer(x, src, dst):
        return geometric.send_u_recv(x, src, dst, how), getattr(geometric, f"segment_{how}")(
            x, x[:, 0].astype("int64") * 0
        )

    specs = [InputSpec([None, 3], "float32", "x")]
    specs += [InputSpec([None], "int64", name) for name in ("src", "dst")]
    call = dy2st.jit.to_static(layer, input_spec=specs)
    for count in (6, 3):
        given = [dy2st.to_tensor(value) for value in (X, SRC[:count], DST[:count])]
        for found, expected in zip(call(*given), layer(*given), strict=True):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)


def test_unknown_ways_are_refused():
    x, index = dy2st.ones([2, 2]), dy2st.to_tensor([0, 1])
    with pytest.raises(dy2st.errors.ArgumentError, match="sum, mean, max or min"):
        geometric.send_u_recv(x, index, index, "prod")
    with pytest.raises(dy2st.errors.ArgumentError, match="add, sub, mul or div"):
        geometric.send_uv(x, x, index, index, "pow")
