"""`dy2st port` against torch: its names and arguments are torch's, and ported sources compute the same."""

from __future__ import annotations

import inspect
from importlib import import_module

import numpy as np
import pytest
import torch
import torch.nn.utils.rnn

import dy2st
from dy2st.paddle.porting.of_torch.names import names_of_torch, signature
from dy2st.paddle.porting.of_torch.sources import read, rewritten

OWNERS = {"Tensor": torch.Tensor, "Module": torch.nn.Module, "Optimizer": torch.optim.Optimizer}


def thing(name):
    owner, _, last = name.rpartition(".")
    if owner in OWNERS:
        return getattr(OWNERS[owner], last)
    return getattr(import_module(f"torch.{owner}" if owner else "torch"), last)


def test_all_names_are_torch_s():
    missing = [name for name in names_of_torch() if not _exists(name)]
    assert missing == []


def _exists(name):
    try:
        thing(name)
    except AttributeError:
        return False
    return True


def test_arguments_are_those_that_torch_tells():
    differing = {}
    for name in names_of_torch():
        ours, value = signature(name), thing(name)
        if ours is None or name.startswith("torch."):
            continue
        try:
            told = inspect.signature(value.__init__ if isinstance(value, type) else value)
        except (ValueError, TypeError):
            continue
        kinds = [one for one in told.parameters.values() if one.name != "self"]
        if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in kinds):
            continue
        if tuple(one.name for one in kinds) != ours.names:
            differing[name] = [one.name for one in kinds]
    assert differing == {}


SCRIPT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width, eps=1e-3, momentum=0.2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
        )
        self.rnn = nn.LSTM(width, 4, batch_first=True, bidirectional=True)
        self.square = nn.Linear(8, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.body(x)
        x = x.view(x.size(0), x.size(1), -1).permute(0, 2, 1)
        y, _ = self.rnn(x)
        y = torch.cat([y.mean(dim=1, keepdim=True), y], dim=1).sum(dim=1)
        y = F.dropout(torch.tanh(self.square(y)), 0.5, self.training and False)
        return self.head(y)


def trained(net, x, labels, steps=5):
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(net(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        probabilities = F.softmax(net(x), dim=1)
    return losses, torch.gather(probabilities, 1, labels.unsqueeze(1)).tolist()
"""


@pytest.fixture
def spaces(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    theirs, ours = {"__name__": "theirs"}, {"__name__": "ours"}
    exec(compile(SCRIPT, "script", "exec"), theirs)
    text = rewritten(read(path), path.read_bytes()).decode()
    assert "# dy2st" not in text and "torch" not in text
    exec(compile(text, str(path), "exec"), ours)
    return theirs, ours


def test_a_ported_script_trains_a_network_as_torch_does(spaces, tmp_path):
    theirs, ours = spaces
    torch.manual_seed(0)
    net = theirs["Net"]()
    torch.save(net.state_dict(), tmp_path / "net.pt")
    mine = ours["Net"]()
    mine.load_state_dict(dy2st.load(str(tmp_path / "net.pt")))
    x, labels = torch.randn(4, 3, 6, 6), torch.tensor([0, 1, 4, 2])
    losses, chosen = theirs["trained"](net, x, labels)
    found, places = ours["trained"](
        mine, dy2st.to_tensor(x.numpy()), dy2st.to_tensor(labels.numpy())
    )
    np.testing.assert_allclose(found, losses, 1e-4, 1e-5)
    np.testing.assert_allclose(places, chosen, 1e-3, 1e-4)
