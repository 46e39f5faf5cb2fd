"""A saved model gives for a dataset what it gives for its samples, in any number of processes."""

import numpy as np
import pytest
from safetensors.numpy import load_file

import dy2st
import dy2st.distributed as dist
from dy2st import nn
from dy2st.errors import ArgumentError
from tests.dy2st.paddle.distributed.several import run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("model") / "net")
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1D(4), nn.Softmax())
    net.eval()
    dy2st.jit.save(net, path, [dy2st.static.InputSpec([None, 3], "float32")])
    return path


def samples(count):
    return np.random.default_rng(count).standard_normal((count, 3)).astype("float32")


@pytest.mark.parametrize("count", [1, 4, 7, 8])
def test_each_sample_has_its_row(model, count):
    found = dist.predict(model, samples(count), batch_size=4)
    wanted = dy2st.jit.load(model)(dy2st.to_tensor(samples(count)))
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-6)


def test_all_batches_have_one_size():
    sizes = []

    def double(x):
        sizes.append(x.shape[0])
        return x * 2

    assert dist.predict(double, np.arange(7.0), batch_size=3).tolist() == [*range(0, 14, 2)]
    assert sizes == [3, 3, 3]


def test_several_inputs_and_nested_results_come_back(tmp_path):
    def both(x, y):
        return {"sum": x + y, "pair": (x, [y])}

    data = dy2st.io.TensorDataset([dy2st.to_tensor(samples(5)), dy2st.to_tensor(samples(5) + 1)])
    found = dist.predict(both, data, batch_size=2)
    np.testing.assert_array_equal(found["sum"], samples(5) + (samples(5) + 1))
    np.testing.assert_array_equal(found["pair"][1][0], samples(5) + 1)
    (file,) = dist.predict(both, data, batch_size=2, output_dir=str(tmp_path / "new"))
    assert sorted(load_file(file)) == ["pair.0", "pair.1.0", "sum"]
    np.testing.assert_array_equal(load_file(file)["pair.0"], samples(5))


class Endless(dy2st.io.IterableDataset):
    def __iter__(self):
        yield from samples(3)


@pytest.mark.parametrize(
    ("model_of", "data", "size", "words"),
    [
        (lambda x: x, Endless(), 2, "a dataset with a length"),
        (lambda x: x, [], 2, "this one has none"),
        (lambda x: x, samples(3), 0, "it is 1 or more"),
        (lambda x: x.sum(), samples(3), 2, r"an array of shape \[\]; it has one row for each"),
    ],
)
def test_what_cannot_be_predicted_is_refused(model_of, data, size, words):
    with pytest.raises(ArgumentError, match=words):
        dist.predict(model_of, data, size)


def test_processes_share_the_samples(model, tmp_path):
    pytest.importorskip("jax")
    lines = run("predict.py", model, tmp_path, processes=2).splitlines()
    assert lines == [f"[0] equal {count}" for count in ("1 1", "2 2", "11 2")]
