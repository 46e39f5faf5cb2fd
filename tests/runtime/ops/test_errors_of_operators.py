"""What an operator raises for some data is a Dy2stError and of Python's class, on all engines."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st as P
from dy2st_runtime.errors import Dy2stError, VerifyError
from dy2st_runtime.ir import apply
from dy2st_runtime.ir.checks.verifier import verify

F = P.nn.functional
FIVE = P.to_tensor([5])

CALLS = {
    "inverse of a singular matrix": (lambda x: P.linalg.inv(x * 0), np.linalg.LinAlgError),
    "solve with a singular matrix": (lambda x: P.linalg.solve(x * 0, x), np.linalg.LinAlgError),
    "cholesky": (lambda x: P.linalg.cholesky(-x), np.linalg.LinAlgError),
    "gather": (lambda x: P.gather(x, FIVE), IndexError),
    "index_select": (lambda x: P.index_select(x, FIVE), IndexError),
    "x[i]": (lambda x: x[FIVE], IndexError),
    "take_along_axis": (lambda x: P.take_along_axis(x, FIVE.reshape([1, 1]), 0), IndexError),
    "scatter": (lambda x: P.scatter(x, FIVE, P.ones([1, 2])), IndexError),
    "index_add": (lambda x: P.index_add(x, FIVE, 0, P.ones([1, 2])), IndexError),
    "put_along_axis": (
        lambda x: P.put_along_axis(x, FIVE.reshape([1, 1]), 1.0, 0, "amax"),
        IndexError,
    ),
    "one_hot": (lambda x: F.one_hot(FIVE, 3), IndexError),
    "embedding": (lambda x: F.embedding(FIVE, x), IndexError),
    "cross_entropy": (lambda x: F.cross_entropy(x[:1], FIVE), IndexError),
    "negative power of integers": (lambda x: P.pow(FIVE, -FIVE), ValueError),
    "full": (lambda x: P.full([2], 2**62, "int32"), ValueError),
    "full of computed sizes": (lambda x: P.full(x[0].astype("int64"), -1, "uint8"), ValueError),
    "bincount": (lambda x: P.bincount(-FIVE), ValueError),
}


@pytest.mark.parametrize("engine", ["eager", "numpy", "native"])
@pytest.mark.parametrize("call", CALLS)
def test_the_error_has_two_classes_and_names_the_operator(call, engine):
    function, kind = CALLS[call]
    function = function if engine == "eager" else P.to_static(function, engine=engine)
    with pytest.raises(kind, match=r"\w+: \S") as caught:
        function(P.to_tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert isinstance(caught.value, Dy2stError)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: x[5], IndexError),
        (lambda x: x[0, 0, 0], IndexError),
        (lambda x: x["a"], IndexError),
        (lambda x: P.to_tensor([1, 2]) + P.to_tensor([1, 2, 3]), ValueError),
    ],
)
def test_what_an_index_may_not_be_is_refused_in_both_classes(call, kind):
    with pytest.raises(kind) as caught:
        call(P.ones([2, 2]))
    assert isinstance(caught.value, Dy2stError)


def test_nan_to_num_takes_all_numbers():
    assert P.nan_to_num(P.to_tensor([1, 2])).tolist() == [1, 2]
    assert P.nan_to_num(P.to_tensor([True])).tolist() == [True]
    x = P.to_tensor([float("nan"), float("inf"), -float("inf")], "bfloat16")
    assert P.nan_to_num(x).tolist() == [0.0, 3.3895313892515355e38, -3.3895313892515355e38]


def test_functions_of_numpy_that_call_methods_take_tensors():
    x = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]])
    tensor = P.to_tensor(x)
    for name, options in [("std", {}), ("var", {"axis": 0}), ("var", {"ddof": 1})]:
        found = getattr(np, name)(tensor, **options)
        np.testing.assert_allclose(np.asarray(found), getattr(np, name)(x, **options))
    np.testing.assert_array_equal(np.asarray(np.transpose(tensor)), x.T)
    with pytest.raises(ValueError, match="without a copy|avoid copy"):
        np.asarray(tensor, np.float32, copy=False)
    assert complex(P.to_tensor(1 + 2j)) == 1 + 2j
    assert complex(P.to_tensor(3.0)) == 3


@pytest.mark.parametrize("ranks", [(), (0, 0)])
def test_ranks_of_a_collective_are_some_each_once(ranks):
    gathered = P.to_static(lambda x: apply("all_gather", x, ranks=ranks))
    with pytest.raises(VerifyError, match="each once"):
        verify(gathered.get_concrete_program(P.ones([2])).main_program)
