"""Data-parallel training in 2 processes is training on whole batches in one."""

import pickle

import numpy as np
import pytest

from tests.dy2st.paddle.distributed.scripts.training import cnn, mlp, own_cnn, train
from tests.dy2st.paddle.distributed.several import run

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    return folder, run("training.py", folder)


@pytest.mark.parametrize("is_static", [False, True])
@pytest.mark.parametrize("make", [mlp, cnn])
def test_parameters_are_those_of_one_process(trained, make, is_static):
    folder, _ = trained
    expected = train(make, False)
    for rank in range(2):
        path = folder / f"{make.__name__}-{is_static}-{rank}.pickle"
        found = pickle.loads(path.read_bytes())
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            assert np.abs(found[name] - array).max() < 1e-5, name


@pytest.mark.parametrize("is_static", [False, True])
def test_a_norm_that_is_not_synchronised_is_over_the_batch_of_a_process(trained, is_static):
    """Parameters are those of one process that takes both batches in turn; statistics are not."""
    folder, _ = trained
    expected = train(own_cnn, False, turns=2)
    found = [
        pickle.loads((folder / f"own_cnn-{is_static}-{rank}.pickle").read_bytes())
        for rank in range(2)
    ]
    for name in [name for name in expected if not name.split(".")[-1].startswith("_")]:
        for one in found:
            assert np.abs(one[name] - expected[name]).max() < 1e-5, name
    assert not np.array_equal(found[0]["1._mean"], found[1]["1._mean"])


def test_gradients_are_means_of_what_is_summed_up(trained):
    """Of 1 and 2 by three batches, then of one more; and where one process has no gradient."""
    sums = [[4.5 + 1.5]] * 2
    expected = f"summed {sums} {sums} one of two [0.5, 0.5, None]"
    assert sorted(trained[1].splitlines()) == [f"[{rank}] {expected}" for rank in range(2)]
