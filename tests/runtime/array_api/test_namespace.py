"""The array API beside its functions: the namespace of a tensor, dtypes, devices, copies, masks."""

import array
import copy
import pickle
import sys

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static
from dy2st_runtime import array_api as xp
from dy2st_runtime.errors import Dy2stError

DTYPES = xp.__array_namespace_info__().dtypes()
KINDS = (
    *("bool", "signed integer", "unsigned integer", "integral", "real floating"),
    *("complex floating", "numeric"),
)


def test_a_tensor_gives_the_namespace_of_its_version():
    x = dy2st.ones([2])
    assert x.__array_namespace__() is xp is dy2st.array_api
    assert x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ValueError, match="version 2024.12, not 1999.01"):
        x.__array_namespace__(api_version="1999.01")


def test_the_namespace_is_a_module_of_dy2st():
    from dy2st.array_api import linalg

    assert linalg is xp.linalg


def test_the_sizes_of_a_tensor_go_with_tuples_and_lists():
    sizes = dy2st.ones([2, 3]).shape
    assert sizes == (2, 3) == sizes
    assert sizes == [2, 3] and sizes != (2, 4)
    assert (1, *sizes) == (1,) + sizes == [1] + sizes
    assert sizes[:1] + (7,) == (2, 7)
    assert {(2, 3): "found"}[sizes] == "found"
    assert isinstance(sizes, list) and isinstance(sizes, tuple)
    copied = pickle.loads(pickle.dumps(copy.deepcopy(sizes)))
    assert copied == sizes and type(copied) is type(sizes)
    assert np.zeros(sizes).shape == (2, 3)


@to_static
def _reshaped(x, sizes):
    if x.sum() > 3:
        sizes = sizes[::-1]
    rows, columns = sizes
    for size in sizes:
        x = x * size
    return dy2st.reshape(x, [1, *sizes]) + rows - columns


def test_sizes_go_into_converted_functions():
    x = dy2st.to_tensor(np.arange(6.0).reshape(2, 3))
    for value in (x, -x):
        wanted = _reshaped(value, [3, 2])
        assert _reshaped(value, dy2st.ones([3, 2]).shape).tolist() == wanted.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_dtypes_are_those_of_numpy(kind):
    assert {name for name, one in DTYPES.items() if xp.isdtype(one, kind)} == {
        name for name, one in DTYPES.items() if np.isdtype(one, kind)
    }
    info = xp.__array_namespace_info__()
    assert all(xp.isdtype(one, kind) for one in info.dtypes(kind=kind).values())


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="a kind of dtypes is one of bool"):
        xp.isdtype(xp.int8, "number")


def test_limits_of_dtypes_are_numbers_of_python():
    found = xp.finfo(xp.ones(2, dtype=xp.complex64))
    assert [type(one) for one in found[:5]] == [int, float, float, float, float]
    assert (found.dtype, found.eps) == (xp.float32, 2.0**-23)
    assert xp.iinfo(xp.uint64)[:3] == (64, 2**64 - 1, 0)


def test_dtypes_are_brought_to_one():
    assert xp.result_type(xp.float32, 1j) == xp.complex64
    assert xp.result_type(xp.int8, 300) == xp.int8
    assert xp.result_type(xp.ones(2, dtype=xp.int16), xp.uint8) == xp.int16
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.ones(2), xp.int8)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(True, "bool"), (3, "int64"), (2**63, "uint64"), (2.5, "float32"), (1j, "complex64")],
)
def test_numbers_of_python_have_default_dtypes(value, dtype):
    assert xp.asarray(value).dtype == xp.full((2,), value).dtype == np.dtype(dtype)


def test_default_dtypes_follow_that_of_dy2st():
    dy2st.set_default_dtype("float64")
    try:
        found = xp.__array_namespace_info__().default_dtypes()
        assert (found["real floating"], found["complex floating"]) == (xp.float64, xp.complex128)
        assert xp.ones(2).dtype == xp.asarray(1.5).dtype == xp.linspace(0, 1, 3).dtype == xp.float64
    finally:
        dy2st.set_default_dtype("float32")


def test_there_is_one_device():
    info = xp.__array_namespace_info__()
    x = xp.ones(2, device=info.default_device())
    assert x.device in info.devices()
    assert x.to_device(x.device) is x
    with pytest.raises(Dy2stError, match="the device 'cpu', not 'gpu'"):
        xp.zeros(2, device="gpu")


def test_copies_are_made_where_they_are_asked_for():
    x = xp.asarray([1, 2])
    shared, own = xp.asarray(x, copy=False), xp.asarray(x, copy=True)
    x[0] = 7
    assert (int(shared[0]), int(own[0])) == (7, 1)
    for value, options in (([1], {}), (x, {"dtype": xp.float32})):
        with pytest.raises(ValueError, match="by a copy alone"):
            xp.asarray(value, copy=False, **options)


def test_arrays_of_other_kinds_become_tensors():
    assert xp.asarray(array.array("d", [1.0, 2.0])).tolist() == [1.0, 2.0]
    assert xp.asarray(b"ab").dtype == xp.uint8
    assert xp.asarray(memoryview(b"ab")).tolist() == [97, 98]
    assert xp.asarray([xp.asarray(1), xp.asarray(2)]).shape == (2,)
    assert xp.asarray(np.float64(1.5)).dtype == xp.float64


@pytest.mark.parametrize("name", DTYPES)
def test_dlpack_keeps_dtypes_and_memory(name):
    x = xp.ones((2, 3), dtype=DTYPES[name])
    assert xp.from_dlpack(x).dtype == np.from_dlpack(x).dtype == DTYPES[name]
    assert x.__dlpack_device__() == (1, 0)
    options = {"stream": None, "max_version": (1, 0), "dl_device": (1, 0), "copy": True}
    assert x.__dlpack__(**options) is not None


def test_numpy_gets_a_copy_only_where_the_protocol_has_one():
    x = xp.ones(2)
    assert np.shares_memory(np.asarray(x, copy=False), np.asarray(x))
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, np.float64, copy=False)


def test_the_memory_is_there_as_bytes():
    x = xp.asarray([[1, 2], [3, 4]], dtype=xp.uint16)
    assert bytes(x) == np.asarray(x).tobytes()
    if sys.version_info >= (3, 12):
        view = memoryview(x)
        assert (view.shape, view.readonly) == ((2, 2), True)


@pytest.mark.parametrize("order", "<>")
def test_arrays_of_either_order_of_bytes_become_tensors(order):
    for dtype in ("f4", "u2", "u4", "u8", "i2", "c8"):
        x = dy2st.to_tensor(np.arange(3).astype(f"{order}{dtype}"))
        assert x.dtype == np.dtype(dtype)
        assert complex(dy2st.sum(x)) == 3


@pytest.mark.parametrize("name", DTYPES)
def test_numbers_leave_as_those_of_python(name):
    x = xp.asarray(1, dtype=DTYPES[name])
    assert bool(x) and complex(x) == 1
    if name.startswith("complex"):
        return
    assert int(x) == float(x) == 1
    if name[0] in "iu":
        assert x.__index__() == 1
    else:
        with pytest.raises(TypeError):
            x.__index__()


SAMPLE = np.arange(24).reshape(2, 3, 4)
INDICES = [
    *(0, (0, 1), (..., 0), slice(None, None, -1), (None, 0), (0, None, ..., 1), (), ...),
    *((slice(2, 0, -1), slice(0, 0)), np.array(1), (np.array([0, 1]), np.array([1, 2]))),
    *((0, np.array([1, 0])), SAMPLE > 3, np.array(True), np.array(False)),
    (slice(None), np.array([True, False, True])),
]


@pytest.mark.parametrize("index", INDICES, ids=lambda one: type(one).__name__)
def test_elements_are_taken_and_set_as_by_numpy(index):
    def own(one):
        return xp.asarray(one) if isinstance(one, np.ndarray) else one

    place = tuple(map(own, index)) if isinstance(index, tuple) else own(index)
    x, y = xp.asarray(SAMPLE.copy()), SAMPLE.copy()
    np.testing.assert_array_equal(np.asarray(x[place]), y[index])
    x[place], y[index] = x[place] * 2, y[index] * 2
    np.testing.assert_array_equal(np.asarray(x), y)
    x[place], y[index] = -1, -1
    np.testing.assert_array_equal(np.asarray(x), y)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: xp.expand_dims(x, axis=5), IndexError),
        (lambda x: xp.squeeze(x, 0), ValueError),
        (lambda x: xp.take(x, xp.asarray([0])), ValueError),
        (lambda x: xp.broadcast_to(x, (4, 4)), ValueError),
        (lambda x: xp.nonzero(xp.asarray(1)), ValueError),
        (lambda x: xp.cumulative_sum(x), ValueError),
        (lambda x: xp.linalg.cross(x, x, axis=0), ValueError),
        (lambda x: xp.max(xp.ones((0,))), ValueError),
        (lambda x: xp.searchsorted(x[0], x, side="middle"), ValueError),
        (lambda x: xp.meshgrid(x, indexing="zz"), ValueError),
        (lambda x: xp.astype(x * 1j, xp.float64), TypeError),
        (lambda x: xp.astype(x * 1j, xp.int64), TypeError),
    ],
)
def test_what_does_not_fit_is_refused(call, kind):
    with pytest.raises(kind) as caught:
        call(xp.ones((2, 3)))
    assert isinstance(caught.value, Dy2stError)
