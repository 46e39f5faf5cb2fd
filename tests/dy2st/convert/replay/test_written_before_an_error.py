"""What a call has written before it raises is written."""

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable


class Model(nn.Layer):
    def __init__(self, way):
        super().__init__()
        self.register_buffer("p", dy2st.zeros([3]))
        self.log, self.count, self.way = [], 0, way

    def forward(self, x):
        return self.way(self, x)


def before_a_branch(model, x):
    model.count += 1
    model.log.append(x.sum())
    if x.sum() > 4:
        raise ValueError("too much")
    return x


def in_the_branch_that_raises(model, x):
    if x.sum() > 4:
        model.log.append("raised")
        raise ValueError("too much")
    return x


def in_place_in_the_branch_that_raises(model, x):
    if x.sum() > 4:
        model.p[0] = x[1]
        raise ValueError("too much")
    return x


def before_what_an_operator_raises(model, x):
    model.p = model.p + x
    model.count += 1
    rows = []
    for v in x:
        if v > 0:
            rows.append(v)
    return rows[1]


def before_an_error_on_all_paths(model, x):
    model.count += 1
    raise KeyError(model.count)


def before_a_wrong_type(model, x):
    model.log.append(1)
    return x + model.missing


def before_random_numbers(model, x):
    model.count += 1
    model.log.append(dy2st.rand([1]))
    if x.sum() > 4:
        raise ValueError("too much")
    return x


def outcome(function, x):
    try:
        return comparable(function(x))
    except Exception as error:
        return type(error), str(error)


WAYS = [
    before_a_branch,
    in_the_branch_that_raises,
    in_place_in_the_branch_that_raises,
    before_what_an_operator_raises,
    before_an_error_on_all_paths,
    before_a_wrong_type,
    before_random_numbers,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("spec", [None, [InputSpec([None], "float32")]], ids=["", "spec"])
def test_what_is_written_before_an_error_stays(way, spec):
    if spec is not None and way is before_what_an_operator_raises:
        spec = [InputSpec([3], "float32")]
    found = []
    for convert in (lambda model: model, lambda model: to_static(model, input_spec=spec)):
        dy2st.seed(3)
        model = Model(way)
        function, own = convert(model), []
        for row in ([1.0, 1.0, 0.0], [4.0, 2.0, 1.0], [-1.0, 2.0, -3.0], [5.0, -1.0, 3.0]):
            result = outcome(function, dy2st.to_tensor(row))
            own.append((result, model.count, comparable((model.log, model.p))))
        found.append(own)
    assert found[0] == found[1]


def test_what_has_printed_is_not_run_again_which_a_warning_says(capsys):
    model = Model(None)

    def f(x):
        model.count += 1
        print("called")
        if x.sum() > 4:
            raise ValueError("too much")
        return x

    static = to_static(f)
    static(dy2st.ones([2]))
    with pytest.warns(UserWarning, match="is lost"), pytest.raises(ValueError, match="too much"):
        static(dy2st.ones([2]) * 3)
    assert capsys.readouterr().out == "called\ncalled\n"


def test_a_dict_of_its_own_that_a_branch_changes_is_nothing_outside(recwarn):
    def run(x):
        own = {"k": x}
        if x.sum() > 4:
            print("high")
            own["k"] = x + 1
        else:
            own.pop("z", None)
        if x.sum() < 0:
            raise ValueError("low")
        return own

    static = to_static(run, input_spec=[InputSpec([2], "float32")])
    with pytest.raises(ValueError, match="low"):
        static(dy2st.to_tensor([-1.0, 0.0]))
    assert not recwarn.list
