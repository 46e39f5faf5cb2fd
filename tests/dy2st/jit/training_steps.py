"""Whole steps of training: models, optimizers, and what compares a converted step with eager's."""

from __future__ import annotations

import numpy as np

import dy2st
from dy2st import nn, to_static
from dy2st import optimizer as o
from dy2st.nn import functional as F

STEPS = 10


def _mlp():
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


class Convolutional(nn.Layer):
    """Convolution, batch norm whose buffers move, pooling."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2D(1, 3, 3, padding=1, bias_attr=False), nn.BatchNorm2D(3)
        self.head = nn.Linear(3, 3)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x.reshape([-1, 1, 2, 2]))))
        return self.head(x.mean(axis=[2, 3]))


class Words(nn.Layer):
    """An embedding whose rows are used again and again."""

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(7, 4), nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.table((x * 10).cast("int64") % 7).mean(axis=1))


class Shared(nn.Layer):
    """One weight in two places, and one that nobody uses."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.unused = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(2, 2)
        self.second.weight = self.first.weight
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(F.tanh(self.second(F.tanh(self.first(x)))))


def _frozen():
    model = _mlp()
    model[0].weight.stop_gradient = True
    return model


def _dropping():
    return nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.5), nn.ReLU(), nn.Linear(16, 3))


MODELS = {
    "mlp": _mlp,
    "convolutional": Convolutional,
    "words": Words,
    "shared": Shared,
    "frozen": _frozen,
    "dropping": _dropping,
}
OPTIMIZERS = {
    "SGD": lambda p: o.SGD(0.1, p),
    "SGD_l2": lambda p: o.SGD(0.1, p, weight_decay=0.1),
    "SGD_l1": lambda p: o.SGD(0.1, p, weight_decay=o.L1Decay(0.1)),
    "Momentum": lambda p: o.Momentum(
        0.1, 0.9, p, use_nesterov=True, grad_clip=o.ClipGradByGlobalNorm(0.1), rescale_grad=0.5
    ),
    "Adam": lambda p: o.Adam(0.1, parameters=p, grad_clip=o.ClipGradByNorm(0.1)),
    "Adam_ams": lambda p: o.Adam(
        0.1, parameters=p, amsgrad=True, grad_clip=o.ClipGradByValue(0.05)
    ),
    "AdamW": lambda p: o.AdamW(
        0.1, parameters=p, lr_ratio=lambda q: 0.5, apply_decay_param_fun=lambda name: "w" in name
    ),
    "AdamW_groups": lambda p: o.AdamW(
        0.1,
        parameters=[
            {"params": p[:2], "learning_rate": 0.1},
            {"params": p[2:], "weight_decay": 0.5},
        ],
    ),
    "Adagrad": lambda p: o.Adagrad(0.1, parameters=p, initial_accumulator_value=0.1),
    "Adadelta": lambda p: o.Adadelta(0.1, parameters=p),
    "Adamax": lambda p: o.Adamax(0.1, parameters=p, weight_decay=0.01),
    "RMSProp": lambda p: o.RMSProp(0.1, parameters=p, centered=True, momentum=0.5),
    "Lamb": lambda p: o.Lamb(
        0.1, parameters=p, exclude_from_weight_decay_fn=lambda q: len(q.shape) == 1
    ),
    "NAdam": lambda p: o.NAdam(0.1, parameters=p),
    "RAdam": lambda p: o.RAdam(0.1, parameters=p, beta2=0.9),
    "Rprop": lambda p: o.Rprop(0.1, parameters=p),
    "ASGD": lambda p: o.ASGD(0.1, 3, parameters=p),
}


def model_of(make=_mlp):
    """A model in float64, the same at each call."""
    dy2st.seed(5)
    return make().to(dtype="float64")


def batch(turn):
    """Data whose number of samples differs from turn to turn."""
    random = np.random.default_rng(turn)
    size = 3 + turn % 3
    return (
        dy2st.to_tensor(random.normal(size=(size, 4))),
        dy2st.to_tensor(random.normal(size=(size, 3))),
    )


def loss_of(model, x, y):
    return ((model(x) - y) ** 2).mean()


def descended(model, optimizer, x, y):
    """The loss of a plain step, which is made."""
    loss = loss_of(model, x, y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def numbers(value):
    """All arrays and numbers in a value, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [one for entry in value for one in numbers(entry)]
    if value is None or isinstance(value, str):
        return [np.array(repr(value))]
    return [value.numpy() if isinstance(value, dy2st.Tensor) else np.asarray(value)]


def run(make, is_converted, steps=STEPS):
    """Results of all steps, the state at the end, and the step; `make` gives step and state."""
    step, state, *after = make()
    function = to_static(step) if is_converted else step
    results = []
    dy2st.seed(3)
    for turn in range(steps):
        results.append(numbers(function(*batch(turn))))
        for one in after:
            one()
    return results, numbers(state()), function


def check(make, programs=2, steps=STEPS):
    """A converted step does what the eager one does, in so many Programs; gives it."""
    wanted, state, _ = run(make, False, steps)
    found, after, function = run(make, True, steps)
    for turn, (one, other) in enumerate(zip(wanted, found, strict=True)):
        for left, right in zip(one, other, strict=True):
            np.testing.assert_allclose(right, left, 1e-10, 1e-12, err_msg=f"step {turn}")
    for left, right in zip(state, after, strict=True):
        if left.dtype.kind == "U":
            assert left == right
        else:
            np.testing.assert_allclose(right, left, 1e-10, 1e-12)
    assert 0 < len(function.program_cache) <= programs
    return function


def plain(make_model, make_optimizer):
    """A step of a model and an optimizer."""

    def make():
        model = model_of(make_model)
        optimizer = make_optimizer(model.parameters())

        def step(x, y):
            loss = loss_of(model, x, y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return step, lambda: (
            model.state_dict(),
            optimizer.state_dict(),
            [parameter.grad for parameter in model.parameters()],
        )

    return make
