"""Training in one call: against the same steps by NumPy, and callbacks by what they see."""

import os

import numpy as np
import pytest

import dy2st
from dy2st.paddle.callbacks import Callback, EarlyStopping, LRScheduler, ReduceLROnPlateau

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((20, 4)).astype("float32")
Y = (X.sum(1) > 0).astype("int64")[:, None]
START = RANDOM.standard_normal((4, 2)).astype("float32")


class Data(dy2st.io.Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return X[index], Y[index]


class Seen(Callback):
    def __init__(self):
        super().__init__()
        self.events = []

    def on_epoch_begin(self, epoch, logs=None):
        self.events.append(f"epoch {epoch}")

    def on_train_batch_end(self, step, logs=None):
        self.events.append((step, logs["loss"][0], logs["acc"], logs["batch_size"]))

    def on_eval_end(self, logs=None):
        self.events.append("eval")

    def on_train_end(self, logs=None):
        self.events.append("end")


def made(rate=0.5):
    net = dy2st.nn.Linear(4, 2, bias_attr=False)
    net.weight.set_value(START)
    model = dy2st.Model(net)
    sgd = dy2st.optimizer.SGD(rate, parameters=model.parameters())
    model.prepare(sgd, dy2st.nn.CrossEntropyLoss(), dy2st.metric.Accuracy())
    return model


def step(weight, rows, gradient=0.0):
    """The loss, whether each is right, and the gradient added up."""
    scores = X[rows] @ weight
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    of_labels = np.take_along_axis(shares, Y[rows], 1)
    slope = X[rows].T @ (shares - np.eye(2)[Y[rows, 0]]) / len(X[rows])
    return -np.log(of_labels).mean(), scores.argmax(1) == Y[rows, 0], gradient + slope


BATCHES = [slice(0, 8), slice(8, 16), slice(16, 20)]


def fit(model, **options):
    options = {"batch_size": 8, "shuffle": False, "verbose": 0, **options}
    model.fit(Data(), **options)


def test_fit_takes_the_steps_of_the_optimizer():
    model, seen, weight = made(), Seen(), START.astype("float64")
    fit(model, eval_data=Data(), epochs=2, callbacks=seen)
    events = iter(seen.events)
    for epoch in range(2):
        assert next(events) == f"epoch {epoch}"
        right = []
        for index, rows in enumerate(BATCHES):
            loss, hits, slope = step(weight, rows)
            weight = weight - 0.5 * slope
            right += hits.tolist()
            expected = (index, loss, np.mean(right), len(hits))
            assert next(events) == pytest.approx(expected, rel=1e-4)
        assert next(events) == "eval"
    assert [*events] == ["end"]
    np.testing.assert_allclose(model.network.weight.numpy(), weight, rtol=1e-4, atol=1e-5)


def test_gradients_are_added_up_over_batches():
    model, weight = made(), START.astype("float64")
    fit(model, accumulate_grad_batches=2)
    _, _, slope = step(weight, BATCHES[0])
    _, _, slope = step(weight, BATCHES[1], slope)
    weight = weight - 0.5 * slope
    weight = weight - 0.5 * step(weight, BATCHES[2])[2]
    np.testing.assert_allclose(model.network.weight.numpy(), weight, rtol=1e-4, atol=1e-5)


def test_training_ends_after_so_many_steps():
    seen = Seen()
    fit(made(), epochs=5, num_iters=4, callbacks=[seen])
    assert sum(isinstance(event, tuple) for event in seen.events) == 4


def test_a_model_is_judged_and_asked():
    model = made()
    found = model.evaluate(Data(), batch_size=8, verbose=0)
    loss, _, _ = step(START, BATCHES[2])
    assert found["loss"] == pytest.approx([loss], rel=1e-5)
    assert found["acc"] == pytest.approx(step(START, slice(0, 20))[1].mean())
    (batches,) = model.predict(Data(), batch_size=8, verbose=0)
    assert [batch.shape for batch in batches] == [(8, 2), (8, 2), (4, 2)]
    (whole,) = model.predict(Data(), batch_size=8, stack_outputs=True)
    np.testing.assert_allclose(whole, X @ START, rtol=1e-5, atol=1e-5)


def test_a_model_goes_on_where_it_was_saved(tmp_path):
    first = made()
    fit(first, epochs=3, save_dir=str(tmp_path), save_freq=2)
    names = [f"{name}.{kind}" for name in ("0", "2", "final") for kind in ("pdopt", "pdparams")]
    assert sorted(os.listdir(tmp_path)) == names
    second = made()
    second.load(str(tmp_path / "final"))
    np.testing.assert_array_equal(second.network.weight.numpy(), first.network.weight.numpy())
    specs = [dy2st.static.InputSpec([None, 4], "float32", "x")]
    deployed = dy2st.Model(first.network, specs)
    deployed.save(str(tmp_path / "net"), training=False)
    loaded = dy2st.jit.load(str(tmp_path / "net"))
    np.testing.assert_allclose(
        loaded(dy2st.to_tensor(X)).numpy(), X @ first.network.weight.numpy(), rtol=1e-5, atol=1e-5
    )


def test_rates_go_on_by_steps_or_by_epochs():
    for given, expected in ((None, 6), (LRScheduler(by_step=False, by_epoch=True), 2)):
        rate = dy2st.optimizer.lr.StepDecay(0.1, 3)
        fit(made(rate), epochs=2, callbacks=given)
        assert rate.last_epoch == expected


# Epochs that PaddlePaddle trains where the loss falls all the time.
@pytest.mark.parametrize("mode, patience, epochs", [("min", 1, 6), ("max", 0, 1), ("max", 2, 3)])
def test_training_ends_where_nothing_gets_better(tmp_path, mode, patience, epochs):
    seen, stop = Seen(), EarlyStopping("loss", mode, patience, verbose=0)
    options = {"callbacks": [seen, stop], "save_dir": str(tmp_path)}
    fit(made(0.1), eval_data=Data(), epochs=6, **options)
    assert sum(event == "eval" for event in seen.events) == epochs
    assert (tmp_path / "best_model.pdparams").exists()


# The rates that PaddlePaddle has before each epoch, where the loss falls all the time.
@pytest.mark.parametrize(
    "patience, cooldown, expected",
    [(1, 0, [1, 1, 0.5, 0.25, 0.125]), (2, 0, [1, 1, 1, 0.5, 0.5]), (1, 2, [1, 1, 0.5, 0.5, 0.25])],
)
def test_the_rate_falls_where_nothing_gets_better(patience, cooldown, expected):
    rates = []

    class Rates(Callback):
        def on_epoch_begin(self, epoch, logs=None):
            rates.append(self.model._optimizer.get_lr())

    watching = ReduceLROnPlateau("loss", 0.5, patience, 0, "max", cooldown=cooldown)
    fit(made(0.1), eval_data=Data(), epochs=5, callbacks=[watching, Rates()])
    np.testing.assert_allclose(rates, np.array(expected) * 0.1)


def test_lines_are_printed_where_they_are_asked_for(capsys):
    fit(made(), eval_data=Data(), verbose=2, log_freq=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Epoch 1/1" and lines[1].startswith("step 2/3 - loss: ")
    assert "Eval begin..." in lines and lines[-1] == "Eval samples: 20"
    fit(made())
    assert capsys.readouterr().out == ""


def test_the_last_step_of_an_epoch_and_of_an_evaluation_has_a_line(capsys):
    fit(made(), eval_data=dy2st.io.DataLoader(Data(), batch_size=10), verbose=2, log_freq=50)
    lines = [line.partition(" - loss: ")[0] for line in capsys.readouterr().out.splitlines()]
    assert lines == ["Epoch 1/1", "step 3/3", "Eval begin...", "step 2/2", "Eval samples: 20"]


def test_what_is_missing_is_said():
    model = dy2st.Model(dy2st.nn.Linear(4, 2))
    with pytest.raises(dy2st.errors.ArgumentError, match="call prepare"):
        model.train_batch([dy2st.ones([1, 4])])
    with pytest.raises(dy2st.errors.ArgumentError, match="no amp_configs"):
        model.prepare(amp_configs="O1")
    with pytest.raises(dy2st.errors.ArgumentError, match="no evaluation gives 'f1'"):
        fit(made(), eval_data=Data(), callbacks=EarlyStopping("f1"))
    with pytest.raises(dy2st.errors.ArgumentError, match="mode is auto"):
        EarlyStopping(mode="best")
