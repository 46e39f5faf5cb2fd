"""Single functions that are tried out: against softmax by hand."""

import numpy as np
import pytest

import dy2st
from dy2st import incubate

X = np.random.default_rng(0).standard_normal((2, 3, 4, 4)).astype("float32")


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_a_mask_is_added_before_softmax():
    mask = np.where(np.random.default_rng(1).random((2, 1, 4, 4)) > 0.5, 0, -1e4).astype("float32")
    found = incubate.softmax_mask_fuse(dy2st.to_tensor(X), dy2st.to_tensor(mask))
    np.testing.assert_allclose(found.numpy(), softmax(X + mask), rtol=1e-5)


def test_what_is_above_the_diagonal_is_not_seen():
    call = dy2st.jit.to_static(
        incubate.softmax_mask_fuse_upper_triangle,
        input_spec=[dy2st.static.InputSpec([None, 3, None, None], "float32", "x")],
    )
    seen = np.where(np.tri(4, dtype=bool), X, -np.inf)
    np.testing.assert_allclose(call(dy2st.to_tensor(X)).numpy(), softmax(seen), rtol=1e-5)


def test_messages_have_an_older_name():
    index = dy2st.to_tensor([0, 1])
    found = incubate.graph_send_recv(dy2st.to_tensor([1.0, 2.0]), index, index[[1, 0]], "max")
    assert found.tolist() == [2, 1]


@pytest.mark.parametrize("ways, expected", [((2, "none"), X), ((0, "sum"), X.sum())])
def test_a_loss_is_taken_as_it_is(ways, expected):
    for way in ways:
        found = incubate.identity_loss(dy2st.to_tensor(X), way).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-4)
    with pytest.raises(dy2st.errors.ArgumentError, match="none, sum or mean"):
        incubate.identity_loss(dy2st.to_tensor(X), 3)
