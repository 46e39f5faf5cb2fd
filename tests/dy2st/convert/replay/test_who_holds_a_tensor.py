"""A place that only some paths give another tensor keeps its own on the others."""

from functools import partial

import pytest

import dy2st
from dy2st import nn
from dy2st.errors import TensorAsPython
from dy2st.jit import to_static
from tests.dy2st.catalogue.comparing import comparable


class Model(nn.Layer):
    def __init__(self, step):
        super().__init__()
        self.register_buffer("p", dy2st.zeros([3]))
        self.q = dy2st.ones([3])
        self.step = step

    def forward(self, x):
        self.step(self, x)
        return self.p + x


def changed_and_replaced(model, x):
    if x.sum() > 4:
        model.p[0] = x[0]
        model.p = model.p * 2


def changed_or_replaced(model, x):
    if x.sum() > 4:
        model.p[0] = x[0]
    else:
        model.p = model.p * 2


def replaced_by_another_dtype_or_changed(model, x):
    if x.sum() > 4:
        model.p = model.p.astype("float64")
    else:
        model.p[1] = x[1]


def given_to_another_name_or_changed(model, x):
    if x.sum() > 4:
        model.q = model.p
    else:
        model.p[1] = x[1]


@pytest.mark.parametrize(
    "step",
    [
        changed_and_replaced,
        changed_or_replaced,
        replaced_by_another_dtype_or_changed,
        given_to_another_name_or_changed,
    ],
)
@pytest.mark.parametrize("stop_gradient", [True, False])
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_who_holds_a_tensor_sees_what_becomes_of_it(step, stop_gradient, engine):
    found = []
    for convert in (lambda model: model, partial(to_static, engine=engine)):
        model = Model(step)
        function, held = convert(model), [model.p, model.q]
        for values in ([1.0, 2.0, 3.0], [1.0, 0.0, 2.0], [-5.0, 2.0, 1.0], [4.0, 5.0, 6.0]):
            result = function(dy2st.to_tensor(values, stop_gradient=stop_gradient))
            names = [[one is own for one in held] for own in (model.p, model.q)]
            held += [model.p, model.q]
            found.append((comparable((result, held)), names))
    assert found[:4] == found[4:]


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_tensors_of_a_list_are_those_that_were_put_in(engine):
    model = Model(None)

    def f(x):
        rows = []
        for v in x:
            rows.append(model.p if v > 1 else model.q)
        return rows

    spec = [dy2st.static.InputSpec([None], "float32")]
    static = to_static(f, input_spec=spec, engine=engine)
    found = static(dy2st.to_tensor([1.0, 2.0]))
    assert found[0] is model.q and found[1] is model.p


def test_two_buffers_that_become_one_tensor_are_told_apart_until_then():
    model = Model(None)
    static = to_static(lambda x: x * 2 if model.p is model.q else x)
    assert static(dy2st.ones([1])).tolist() == [1.0]
    model.p = model.q
    assert static(dy2st.ones([1])).tolist() == [2.0]


def test_whether_an_element_of_a_list_is_a_tensor_is_refused():
    def f(x):
        y, rows = x * 2, []
        for _ in x:
            rows.append(y)
        return rows[0] is y

    with pytest.raises(TensorAsPython, match="between two tensors"):
        to_static(f, input_spec=[dy2st.static.InputSpec([None], "float32")])(dy2st.ones([2]))
