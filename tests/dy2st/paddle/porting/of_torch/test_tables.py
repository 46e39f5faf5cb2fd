"""The tables about torch: every name is one of torch's or of ours, and what is said is so."""

import ast
from pathlib import Path

import pytest

import dy2st
from dy2st.paddle.porting import page
from dy2st.paddle.porting.names import exists
from dy2st.paddle.porting.of_torch import tables
from dy2st.paddle.porting.of_torch.calls import plan
from dy2st.paddle.porting.of_torch.names import (
    is_of_torch,
    names_of_torch,
    ours,
    signature,
    why_not,
)

PAGE = Path(__file__).parents[5] / "docs" / "from_torch.md"
SPACES = {"distributed", "torchvision", "utils.checkpoint", "utils.tensorboard"}


def test_what_is_said_is_said_of_names_of_torch():
    told = [tables.RENAMED, tables.DIFFERENCES, tables.NOTES, tables.FORMS, tables.ADDED]
    unknown = {name for table in told for name in table if not is_of_torch(name)}
    assert unknown | {name for name in tables.WHY_NOT if not is_of_torch(name)} == SPACES


def test_names_are_called_by_names_that_are_here():
    assert [name for name in tables.RENAMED.values() if not exists(name)] == []


def test_what_is_not_here_is_not_found():
    assert [name for name in tables.WHY_NOT if ours(name)] == []
    assert why_not("distributed.all_reduce") == tables.WHY_NOT["distributed"]


def test_most_names_are_here():
    known = [name for name in names_of_torch() if not name.startswith("Tensor.")]
    assert sum(bool(ours(name)) for name in known) > 0.7 * len(known)


@pytest.mark.parametrize("given", ["()", "(1)", "(x, 1, dim=2)"])
def test_a_call_of_every_name_has_a_plan(given):
    call = ast.parse(f"f{given}", mode="eval").body
    for name in names_of_torch():
        assert plan(name, call, ast.unparse).ours in (ours(name), "optimizer.Momentum")


def test_all_signatures_are_read():
    found = [signature(name) for name in names_of_torch()]
    assert sum(one is not None for one in found) > 900
    assert signature("optim.Adam").by_position[:3] == ("params", "lr", "betas")
    assert signature("optim.Adam").defaults["lr"] == "0.001"


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_arguments_mean_what_the_tables_say(beta):
    x = dy2st.to_tensor([0.3, -2.0])
    huber = dy2st.nn.functional.smooth_l1_loss(x, dy2st.zeros([2]), delta=beta, is_huber=False)
    below = [0.5 * 0.09 / beta if beta > 0.3 else 0.3 - beta / 2, 2 - beta / 2]
    assert abs(huber.item() - sum(below) / 2) < 1e-6
    assert dy2st.median(dy2st.to_tensor([1.0, 2.0, 3.0, 4.0]), mode="min").item() == 2


def test_the_page_says_what_the_tables_do():
    text = PAGE.read_text(encoding="utf-8")
    assert "<!-- torch -->" in text
    assert page.renewed(text) == text, (
        "write it again: python -m dy2st.paddle.porting.page docs/from_torch.md"
    )
