"""Empty tensors, ranks 0 and 1, and equations at the edge: a result or a Dy2stError with its line."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import dy2st
from dy2st.nn import functional as F
from dy2st.static import InputSpec
from dy2st_runtime.errors import ArgumentError, Dy2stError, ShapeError
from tests.effort import effort
from tests.runtime.ops.edge_calls import NAMES, findings

EQUATIONS = {
    "...": [(2, 3)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "iii->i": [(3, 3, 3)],
    "iij->j": [(3, 3, 2)],
    "ii,i->i": [(3, 3), (3,)],
    "...ii->...i": [(2, 3, 3)],
    "...ij,...jk->...ik": [(2, 1, 3, 4), (5, 4, 5)],
    "b...,b...->...": [(2, 3), (2, 3)],
    "...,...": [(3,), (1,)],
    "...ij": [(4, 3, 2)],
    "i,->i": [(3,), ()],
    ",": [(), ()],
    "->": [()],
    "i,j,k->ijk": [(2,), (3,), (4,)],
    "ij,jk,kl->il": [(2, 3), (3, 4), (4, 5)],
    "i,i,i->": [(3,), (3,), (3,)],
    "ij,jk->ik": [(2, 0), (0, 3)],
    "bij,bjk->bik": [(2, 3, 4), (2, 4, 5)],
    "bhld,bhsd->bhls": [(2, 3, 4, 5), (2, 3, 6, 5)],
    "ij->ji": [(2, 3)],
    "ij->i": [(2, 3)],
}


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_is_numpys(equation, is_static):
    rng = np.random.default_rng(0)
    arrays = [np.asarray(rng.standard_normal(s), "float32") for s in EQUATIONS[equation]]

    def function(*operands):
        return dy2st.einsum(equation, *operands)

    if is_static:
        function = dy2st.to_static(function, [InputSpec([None] * a.ndim) for a in arrays])
    found = function(*map(dy2st.to_tensor, arrays)).numpy()
    wanted = np.einsum(equation, *arrays)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij", [(3,)]), ("i->j", [(3,)]), ("...i->i", [(2, 3)]), ("i,j", [(3,)])]
    + [("i1", [(2, 3)]), ("ii", [(2, 3)]), ("i,i", [(2,), (3,)]), ("..i", [(3, 3, 3)])],
)
def test_einsum_refuses_what_does_not_fit(equation, shapes):
    with pytest.raises((ArgumentError, ShapeError), match="einsum"):
        dy2st.einsum(equation, *[dy2st.zeros(shape) for shape in shapes])


def test_gradients_go_through_a_diagonal():
    x = dy2st.to_tensor(np.ones((3, 3), "float32"), stop_gradient=False)
    dy2st.einsum("ii->", x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.eye(3))


@pytest.mark.parametrize("size", [[2, 2], None])
@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
@pytest.mark.parametrize("shape", [[0, 1, 3, 3], [1, 0, 3, 3], [1, 1, 0, 3]], ids=str)
def test_empty_images_are_resized_unless_pixels_would_come_from_nowhere(shape, mode, size):
    how = {"size": size, "scale_factor": None if size else 2, "mode": mode}
    static = dy2st.to_static(lambda x: F.interpolate(x, **how), [InputSpec([None] * 4)])
    for function in (lambda x: F.interpolate(x, **how), static):
        if size and shape[2] == 0:
            with pytest.raises(ShapeError, match="no pixels"):
                function(dy2st.zeros(shape))
        else:
            wanted = [*shape[:2], *(size or [2 * n for n in shape[2:]])]
            assert function(dy2st.zeros(shape)).shape == wanted


@pytest.mark.parametrize("name", ["batch_norm", "group_norm"])
@pytest.mark.parametrize("shape", [[3], []], ids=str)
def test_normalisation_without_channels_is_refused(name, shape):
    one = dy2st.ones([3])
    others = (one, one) if name == "batch_norm" else (1,)
    with pytest.raises(ShapeError, match=r"\(n, c, ...\)"):
        getattr(F, name)(dy2st.zeros(shape), *others)


@pytest.mark.parametrize("name", ["stack", "concat"])
def test_a_list_that_is_empty_when_it_runs_is_refused_with_its_line(name):
    @dy2st.to_static
    def kept(x):
        out = [x]
        out.pop()
        for v in x:
            if v > 0:
                out.append(x)
        return getattr(dy2st, name)(out)

    assert kept(dy2st.to_tensor([1.0, -1.0])).numpy().ravel().tolist() == [1, -1]
    with pytest.raises(ArgumentError, match=f"{name} of an empty list") as caught:
        kept(dy2st.to_tensor([-1.0, -2.0]))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.filename == __file__ and "getattr(dy2st, name)(out)" in last.line


REFUSED = {
    "a negative size": lambda: dy2st.broadcast_to(dy2st.ones([1]), [-1]),
    "a slice without an end": lambda: dy2st.slice(dy2st.ones([3]), [0], [1], []),
    "a step of zero": lambda: dy2st.ones([3])[::0],
    "a stride of zero": lambda: F.avg_pool2d(dy2st.ones([1, 1, 4, 4]), 2, stride=0),
    "a negative padding": lambda: F.avg_pool2d(dy2st.ones([1, 1, 4, 4]), 2, padding=-1),
    "negative groups": lambda: F.group_norm(dy2st.ones([2, 3]), -1),
    "a triangle of a row": lambda: dy2st.tril(dy2st.ones([3])),
    "no tensors": lambda: dy2st.broadcast_tensors([]),
    "no probabilities": lambda: dy2st.multinomial(dy2st.zeros([3])),
    "a negative permutation": lambda: dy2st.randperm(-1),
    "too many axes": lambda: F.layer_norm(dy2st.ones([3]), [2, 3]),
    "no image": lambda: F.pixel_shuffle(dy2st.ones([4, 4]), 2),
    "two factors for one axis": lambda: F.interpolate(dy2st.ones([1, 1, 2]), scale_factor=[2, 2]),
    "a kernel without axes": lambda: F.conv2d(
        dy2st.ones([1, 1, 2, 2]), dy2st.ones([1, 1]), padding="same"
    ),
    "a bias without channels": lambda: F.conv1d(
        dy2st.ones([1, 1, 2]), dy2st.ones([1, 1, 1]), dy2st.ones([])
    ),
    "several axes for one": lambda: dy2st.swapaxes(dy2st.ones([2, 3]), dy2st.to_tensor([0, 1]), 1),
    "negative repeats": lambda: dy2st.repeat_interleave(dy2st.ones([1]), [-1]),
    "a flat kernel": lambda: F.conv2d_transpose(dy2st.ones([1, 1, 2, 2]), dy2st.ones([1, 1, 2])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_means_nothing_is_refused(name):
    with pytest.raises(Dy2stError):
        REFUSED[name]()


def test_pixel_shuffle_takes_channels_last():
    x = dy2st.to_tensor(np.arange(48, dtype="float32").reshape(1, 12, 2, 2))
    wanted = F.pixel_shuffle(x, 2).transpose([0, 2, 3, 1])
    found = F.pixel_shuffle(x.transpose([0, 2, 3, 1]), 2, data_format="NHWC")
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_public_functions_give_a_result_or_a_refusal():
    seeds = range(0, 3 * len(NAMES), effort(13, 7))
    found = [finding for seed in seeds for finding in findings(seed)]
    assert not found, "\n".join(found)
