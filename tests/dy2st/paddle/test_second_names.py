"""Names beside the usual ones: they do what the usual ones do."""

import numpy as np
import pytest

import dy2st


def test_a_tensor_stays_itself_where_it_fits():
    x = dy2st.ones([2])
    assert dy2st.as_tensor(x) is x and dy2st.as_tensor(x, "float64").dtype == np.float64
    assert dy2st.as_tensor([1, 2]).tolist() == [1, 2]
    assert not dy2st.as_tensor([1.0], requires_grad=True).stop_gradient
    with pytest.raises(dy2st.errors.ArgumentError, match="CPU"):
        dy2st.as_tensor([1], device="gpu")


def test_an_array_is_copied_if_asked_for():
    x = dy2st.ones([2])
    assert dy2st.asarray(x) is x and dy2st.asarray(x, copy=True) is not x
    assert dy2st.asarray([1.0], dtype="float64", requires_grad=True).dtype == np.float64


def test_random_numbers_begin_anew():
    dy2st.manual_seed(3)
    first = dy2st.rand([2]).tolist()
    dy2st.seed(3)
    assert dy2st.tolist(dy2st.rand([2])) == first
    assert dy2st.get_cuda_rng_state() == [] and dy2st.set_cuda_rng_state([]) is None
    with pytest.raises(ValueError, match="no GPU"):
        dy2st.set_cuda_rng_state([1])


def test_the_default_device_is_the_cpu():
    dy2st.set_default_device("cpu")
    assert dy2st.get_default_device() == "cpu"


def test_saving_is_done_when_it_returns(tmp_path):
    path = str(tmp_path / "a.pdparams")
    dy2st.async_save({"a": dy2st.ones([2])}, path)
    dy2st.clear_async_save_task_queue()
    assert np.asarray(dy2st.load(path)["a"]).tolist() == [1.0, 1.0]
