"""Sizes that branches and loops decide: right on every engine, and refused where they are wrong."""

from __future__ import annotations

import pytest

import dy2st
from dy2st import to_static
from dy2st.errors import ShapeError
from dy2st.static import InputSpec

ENGINES = pytest.mark.parametrize("engine", ["numpy", "native"])


def reshaped_in_both(x):
    x = x * 1
    if x.sum() > 0:
        x = x.reshape([x.shape[1], x.shape[1]])
    else:
        x = x.reshape([x.shape[1], x.shape[1]])
    return x


def masked_in_both(x):
    x = x * 1
    if x.sum() > 0:
        x[x[0] > 0] = 5.0
    else:
        x[x[0] > 0] = 0.0
    return x


@ENGINES
@pytest.mark.parametrize("function", [reshaped_in_both, masked_in_both])
def test_nothing_is_written_before_a_branch_checks_its_sizes(function, engine):
    # Made in the memory of the result, which is as large as the sizes should be, not as they are.
    converted = to_static(function, input_spec=[InputSpec([None, None])], engine=engine)
    for _ in range(30):
        with pytest.raises(ShapeError):
            converted(dy2st.ones([37, 2] if function is reshaped_in_both else [3, 40]))
    assert converted(dy2st.ones([4, 4])).tolist() == function(dy2st.ones([4, 4])).tolist()


@ENGINES
@pytest.mark.parametrize("is_view", [True, False])
def test_a_part_that_a_branch_changes_has_a_size_of_its_own(is_view, engine):
    def run(x):
        x = x * 1
        part = x[1:] if is_view else x[1:] * 2
        if x.sum() > 0:
            part[0] = 50.0
        return x if is_view else part

    converted = to_static(run, input_spec=[InputSpec([None])], engine=engine)
    for numbers in ([1.0, 2.0, 3.0, 4.0], [-1.0, -2.0]):
        assert (
            converted(dy2st.to_tensor(numbers)).tolist() == run(dy2st.to_tensor(numbers)).tolist()
        )


def halved(x):
    h = x[:, ::2]
    if x.mean() < 100:
        h = dy2st.zeros_like(x)
    return dy2st.concat([h, x], axis=0)[-2:] * 0.5


@ENGINES
def test_a_size_that_a_branch_told_is_that_of_a_value_of_a_loop(engine):
    def run(x, limit):
        x = halved(x)
        while x.mean() > limit:
            x = halved(x)
        return x

    specs = [InputSpec([2, None]), InputSpec([])]
    converted = to_static(run, input_spec=specs, engine=engine)
    for size, limit in ((8, 0.1), (3, 1000.0), (11, 0.01)):
        given = dy2st.ones([2, size]), dy2st.to_tensor(limit)
        assert converted(*given).tolist() == run(*given).tolist()


@ENGINES
def test_a_shape_of_one_of_several_tensors_is_known_outside_of_their_branches(engine):
    def run(x):
        if x.sum() > 0:
            y = x
        elif x.sum() < 0:
            y = x[:2]
        else:
            y = x.unsqueeze(0)
        return y.shape

    converted = to_static(run, input_spec=[InputSpec([None])], engine=engine)
    for value in (1.0, -1.0, 0.0):
        assert converted(dy2st.full([3], value)) == run(dy2st.full([3], value))


@ENGINES
def test_gradients_of_a_recursion_have_the_sizes_of_each_turn(engine):
    weight = dy2st.create_parameter([4, 4], "float32")

    def likelihood(x, mask):  # the forward recursion of a conditional random field
        a = x[:, 0]
        for t in range(1, x.shape[1]):
            new = dy2st.logsumexp(a.unsqueeze(2) + weight + x[:, t].unsqueeze(1), axis=1)
            a = dy2st.where(mask[:, t : t + 1], new, a)
        return a.sum()

    specs = [InputSpec([None, None, 4]), InputSpec([None, None], "bool")]
    converted = to_static(likelihood, input_spec=specs, engine=engine)
    for batch, length in ((2, 5), (3, 8), (1, 2)):
        given = dy2st.randn([batch, length, 4]), dy2st.rand([batch, length]) < 0.7
        found = []
        for function in (converted, likelihood):
            weight.clear_gradient()
            loss = function(*given)
            loss.backward()
            found.append([loss.item(), (weight.grad * 1).tolist()])
        assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
        assert sum(found[0][1], []) == pytest.approx(sum(found[1][1], []), rel=1e-4, abs=1e-5)


@ENGINES
def test_the_sizes_of_matrices_may_be_numbers_that_the_data_decides(engine):
    def run(x):
        kept = [v for v in x if v > 0]
        n = int((x < 0).sum())
        if not kept:
            return dy2st.eye(n), dy2st.linspace(0, 1, n), x.sum()
        values = dy2st.stack(kept)
        gram = values.unsqueeze(1) * values + dy2st.eye(len(kept))
        return gram, dy2st.linspace(0, 1, n), dy2st.eye(n, len(kept)).sum()

    converted = to_static(run, input_spec=[InputSpec([None])], engine=engine)
    for values in ([1.0, -1.0, 2.0], [-1.0, -2.0], [3.0]):
        for found, wanted in zip(converted(dy2st.to_tensor(values)), run(dy2st.to_tensor(values))):
            assert repr(found) == repr(wanted)
