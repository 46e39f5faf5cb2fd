"""Operators that torch has and PaddlePaddle has not, or has otherwise: values and gradients."""

from __future__ import annotations

import pytest
import torch

from dy2st.importers.torch import from_torch
from tests.torch.test_from_torch import agree

F = torch.nn.functional


class Calling(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *tensors):
        return self.function(*tensors)


def segments(reduce, initial=None, axis=0, **named):
    parts = {key: torch.tensor(value) for key, value in named.items()}
    return lambda x: torch.segment_reduce(x, reduce, axis=axis, initial=initial, **parts)


def bags(weight):
    words = torch.tensor([[0, 2, 1], [2, 2, 2], [1, 3, 1]])
    return F.embedding_bag(words, weight, mode="max", padding_idx=2)


def at_grid(padding, corners):
    return lambda x, grid: F.grid_sample(x, grid, "bicubic", padding, corners)


IMAGES = torch.randn(2, 3, 4, 5, dtype=torch.float64), torch.randn(2, 3, 3, 2, dtype=torch.float64)
ROWS = torch.randn(5, 3, dtype=torch.float64)
CASES = {
    **{
        f"segment_reduce {how}": (segments(how, lengths=[2, 0, 3]), ROWS)
        for how in ("sum", "mean", "max", "min", "prod")
    },
    "segment_reduce offsets": (segments("mean", 1.0, offsets=[0, 2, 2, 4]), ROWS),
    "segment_reduce axis": (segments("max", axis=1, lengths=[[1, 2]] * 5), ROWS),
    "embedding_bag max padding_idx": (bags, torch.randn(4, 3) - 5),
    "grid_sample bicubic zeros": (at_grid("zeros", False), *IMAGES),
    "grid_sample bicubic border": (at_grid("border", True), *IMAGES),
    "grid_sample bicubic reflection": (at_grid("reflection", False), *IMAGES),
    "runs of a vector along its axis": (
        lambda x: torch.unique_consecutive(x, dim=0, return_counts=True),
        torch.tensor([1, 1, 2, 1]),
    ),
    "histogram": (lambda x: torch.histogram(x.detach(), 4, density=True), torch.randn(9)),
    "histogram of one number": (lambda x: torch.histogram(x.detach(), 2), torch.ones(3)),
    "histogram between edges": (
        lambda x, ends: torch.histogram(x.detach(), ends.detach()),
        torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0]),
        torch.tensor([0.5, 1.0, 3.0]),
    ),
    "histogramdd": (
        lambda x: torch.histogramdd(x.detach(), [2, 3], range=[-1.0, 1.0, -2.0, 2.0]),
        torch.randn(20, 2),
    ),
    "logsumexp of complex nothing": (
        lambda x: torch.logsumexp(torch.complex(x, torch.zeros(2, 2)).detach(), 0).real,
        torch.tensor([[1.0, -torch.inf], [2.0, -torch.inf]]),
    ),
    "diff of order 0": (lambda x: torch.diff(x, 0, append=x), ROWS),
    "logspace of integers": (lambda: torch.logspace(0.4, 3.9, 4, base=2.0, dtype=torch.int64),),
    "svd full_matrices": (lambda x: torch.linalg.svd(x)[0][:, :3].abs(), ROWS),
    "lu of a tall matrix": (lambda x: torch.linalg.lu_factor(x)[0], ROWS),
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_torch(name):
    function, *inputs = CASES[name]
    module = Calling(function)
    agree(module, from_torch(module, tuple(inputs)), inputs, 1e-6)
