"""Axes 0 and -1 of a tensor without axes: PaddlePaddle and torch give the tensor itself."""

from __future__ import annotations

import pytest

import dy2st as P
from dy2st_runtime.errors import ArgumentError

F = P.nn.functional
ITSELF = (
    "sum max min prod mean amax amin sort cumsum median nanmedian logsumexp squeeze flip nansum "
    "nanmean logcumsumexp"
).split()
FIRST = ("argmax", "argmin", "argsort")
BOTH = ("cummax", "cummin", "mode")
CALLS = {
    **{name: (getattr(P, name), 3.0) for name in ITSELF},
    **{name: (getattr(P, name), 0) for name in FIRST},
    **{name: (getattr(P, name), (3.0, 0)) for name in BOTH},
    "softmax": (F.softmax, 1.0),
    "log_softmax": (F.log_softmax, 0.0),
    "any": (P.any, True),
    "all": (P.all, True),
    "cumprod": (lambda x, axis: P.cumprod(x, axis), 3.0),
    "norm": (lambda x, axis: P.norm(x, 2, axis), 3.0),
    "quantile": (lambda x, axis: P.quantile(x, 0.5, axis), 3.0),
    "kthvalue": (lambda x, axis: P.kthvalue(x, 1, axis), (3.0, 0)),
    "topk": (lambda x, axis: P.topk(x, 1, axis), (3.0, 0)),
    "count_nonzero": (P.count_nonzero, 1),
}


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("name", CALLS)
def test_a_number_is_a_vector_of_itself(name, axis, engine):
    function, wanted = CALLS[name]
    call = lambda x: function(x, axis=axis)  # noqa: E731
    call = call if engine == "eager" else P.to_static(call, engine=engine)
    found = call(P.to_tensor(3.0))
    found = found if isinstance(wanted, tuple) else (found,)
    for one, right in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
        assert (one.shape, one.item()) == ([], right)


@pytest.mark.parametrize("name", [n for n in CALLS if n not in ("any", "all")])
def test_other_axes_do_not_exist(name):
    with pytest.raises(ArgumentError, match="axis"):
        CALLS[name][0](P.to_tensor(3.0), axis=1)


def test_gradients_go_through():
    x = P.to_tensor(3.0, stop_gradient=False)
    (P.cumsum(x, 0) * P.sort(x, -1) + F.softmax(x, 0)).backward()
    assert x.grad.tolist() == 6.0


def test_the_sum_of_no_powers_has_a_logarithm():
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert P.logsumexp(P.zeros([2, 0]), 1).tolist() == [-float("inf")] * 2
