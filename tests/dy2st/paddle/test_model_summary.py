"""summary and flops: the counts are those that PaddlePaddle gives."""

import pytest

import dy2st
from dy2st import nn


def small():
    return nn.Sequential(
        nn.Conv2D(3, 8, 3, padding=1),
        nn.BatchNorm2D(8),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Linear(2048, 10),
    )


def test_parameters_are_counted_and_layers_printed(capsys):
    net = small()
    found = dy2st.summary(net, (1, 3, 32, 32))
    assert found == {"total_params": 20746, "trainable_params": 20730}
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["Conv2D-1", "[1,", "8,", "32,", "32]", "224"]
    assert len(lines) == 8 and lines[-1] == "20746 parameters, 20730 of them trained"
    assert net.training and not net[1]._forward_post_hooks


@pytest.mark.parametrize(
    "options",
    [
        {"input_size": (2, 4)},
        {"input_size": [(None, 4)]},
        {"input_size": dy2st.static.InputSpec([None, 4])},
        {"input": dy2st.ones([3, 4])},
        {"input_size": (2, 4), "dtypes": "float32"},
    ],
)
def test_inputs_are_shapes_or_tensors(options, capsys):
    assert dy2st.summary(nn.Linear(4, 2), **options)["total_params"] == 10


def test_without_an_input_it_is_refused():
    with pytest.raises(dy2st.errors.ArgumentError, match="input_size"):
        dy2st.summary(nn.Linear(4, 2))


@pytest.mark.parametrize(
    "make, shape, count",
    [
        (lambda: nn.Linear(4, 5), [2, 4], 40),
        (lambda: nn.Linear(4, 5, bias_attr=False), [2, 3, 4], 120),
        (lambda: nn.BatchNorm2D(4), [1, 4, 8, 8], 512),
        (lambda: nn.BatchNorm1D(4), [2, 4], 0),
        (lambda: nn.ReLU(), [2, 4], 0),
        (lambda: nn.LeakyReLU(), [2, 4], 8),
        (lambda: nn.AvgPool2D(2), [1, 4, 8, 8], 64),
        (lambda: nn.MaxPool2D(2), [1, 4, 8, 8], 0),
        (lambda: nn.AdaptiveAvgPool2D(2), [1, 4, 8, 8], 272),
        (lambda: nn.AdaptiveAvgPool2D(3), [1, 4, 8, 8], 180),
        (lambda: nn.Conv2DTranspose(3, 8, 3), [1, 3, 8, 8], 22400),
        (lambda: nn.Conv1D(2, 3, 3), [1, 2, 8], 126),
        (lambda: nn.LayerNorm(4), [2, 4], 0),
        (small, [1, 3, 32, 32], 266240),
    ],
)
def test_operations_are_counted(make, shape, count):
    assert dy2st.flops(nn.Sequential(make()), shape) == count


def test_groups_and_rules_of_ones_own():
    net = nn.Sequential(nn.Conv2D(4, 8, 3, groups=2, bias_attr=False), nn.ReLU())
    assert dy2st.flops(net, [1, 4, 8, 8]) == 8 * 36 * 2 * 9
    own = {nn.ReLU: lambda layer, inputs, output: 1000}
    assert dy2st.flops(net, [1, 4, 8, 8], custom_ops=own) == 8 * 36 * 2 * 9 + 1000


def test_details_are_printed_if_asked_for(capsys):
    dy2st.flops(nn.Sequential(nn.Linear(4, 5)), [2, 4], print_detail=True)
    assert capsys.readouterr().out.split() == ["Linear-1", "[2,", "5]", "40"]
