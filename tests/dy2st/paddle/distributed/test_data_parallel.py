"""Data-parallel training in 2 processes is training on whole batches in one."""

import pickle

import numpy as np
import pytest

from tests.dy2st.paddle.distributed.scripts.training import cnn, mlp, train
from tests.dy2st.paddle.distributed.several import run

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    run("training.py", folder)
    return folder


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("make", [mlp, cnn])
def test_parameters_are_those_of_one_process(folder, make, is_static):
    expected = train(make, False)
    for rank in range(2):
        path = folder / f"{make.__name__}-{is_static}-{rank}.pickle"
        found = pickle.loads(path.read_bytes())
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            assert np.abs(found[name] - array).max() < 1e-5, name
