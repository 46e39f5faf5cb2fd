"""The table of PaddlePaddle's names: whole, and dy2st asked about each."""

import importlib.util

import pytest

from dy2st.paddle.porting import names
from dy2st.paddle.porting.absent import ABSENT, REFUSED


def test_the_file_is_read_as_it_is_written():
    spaces = names.names_of_paddle()
    assert names.written(spaces) == names._FILE.read_text()
    assert len(spaces) > 50 and sum(map(len, spaces.values())) > 2000
    assert {"relu", "cross_entropy"} <= set(spaces["nn.functional"])


@pytest.mark.skipif(not importlib.util.find_spec("paddle"), reason="PaddlePaddle is not installed")
def test_the_file_is_that_of_the_installed_release():
    assert names.names_of_installed_paddle() == names.names_of_paddle()


@pytest.mark.parametrize(
    "name",
    [
        "nn.Linear",
        "nn.functional.relu",
        "Tensor.reshape",
        "float32.name",
        "tensor.creation",
        "newaxis",
        "",
    ],
)
def test_what_is_here_is_found(name):
    assert names.is_here(name)


@pytest.mark.parametrize(
    "name",
    [
        "nn.NoLayer",
        "no_space.at_all",
        "Tensor.no_method",
        "CUDAPlace",
        "inference.Config.Precision",
    ],
)
def test_what_is_not_here_is_not_found(name):
    assert not names.is_here(name)


def test_advice_stands_for_all_that_is_under_a_name():
    assert names.why_not("inference.Config") == ABSENT["inference"]
    assert names.why_not("enable_static") == REFUSED["enable_static"]
    assert names.why_not("no_advice_for_this") == ""


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_refuses_exists(name):
    assert names.exists(name)
