"""Sources that are written for torch become sources for dy2st; what cannot be told is commented."""

import textwrap

import pytest

from dy2st.paddle.porting.of_torch.sources import read, rewritten


def ported(text, folder):
    path = folder / "source.py"
    path.write_text(text)
    return rewritten(read(path), path.read_bytes()).decode()


HEAD = "import torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n"
OURS = "import dy2st\nfrom dy2st import nn, optimizer as optim\nimport dy2st.nn.functional as F\n"


@pytest.mark.parametrize(
    "old, new",
    [
        ("import torch", "import dy2st"),
        ("import torch as th; th.cat(x)", "import dy2st as th; th.cat(x)"),
        ("import torch.nn", "import dy2st"),
        ("import torch.nn as nn", "import dy2st.nn as nn"),
        ("import os, torch.utils.data as data", "import os, dy2st.io as data"),
        ("from torch import nn", "from dy2st import nn"),
        ("from torch import optim as o", "from dy2st import optimizer as o"),
        (
            "from torch import nn, tensor, Tensor",
            "from dy2st import nn, to_tensor as tensor, Tensor",
        ),
        ("from torch.nn import Conv2d", "from dy2st.nn import Conv2d"),
        ("from torch.nn import BatchNorm2d", "from dy2st.nn import BatchNorm2D as BatchNorm2d"),
        ("from torch.nn.functional import *", "from dy2st.nn.functional import *"),
        (
            "from torch.optim.lr_scheduler import StepLR",
            "from dy2st.optimizer.lr import StepDecay as StepLR",
        ),
        (
            "if x:\n    from torch.nn import Linear, DataParallel",
            "if x:\n    from dy2st.nn import Linear\n    from dy2st import DataParallel",
        ),
        (
            "from torch.nn.modules.batchnorm import BatchNorm1d as Norm",
            "from dy2st.nn import BatchNorm1D as Norm",
        ),
        ("import numpy, torchvision", "import numpy, torchvision"),
        ("from .torch import x", "from .torch import x"),
    ],
)
def test_imports(old, new, tmp_path):
    assert ported(old, tmp_path) == new


@pytest.mark.parametrize(
    "old, new",
    [
        ("torch.cat([x, y], dim=-1)", "dy2st.cat([x, y], axis=-1)"),
        ("torch.cat([torch.zeros(2), y], 1)", "dy2st.cat([dy2st.zeros(2), y], 1)"),
        ("nn.Conv2d(3, 8, 3, bias=False)", "nn.Conv2d(3, 8, 3, bias=False)"),
        ("nn.Linear(3, 4, bias=False)", "nn.Linear(3, 4, bias_attr=False)"),
        (
            "nn.BatchNorm2d(8, 1e-3, 0.2)",
            "nn.BatchNorm2D(8, epsilon=1e-3, momentum=1 - 0.2)",
        ),
        ("nn.BatchNorm2d(8, momentum=a + b)", "nn.BatchNorm2D(8, momentum=1 - (a + b))"),
        ("nn.ReLU(inplace=True)", "nn.ReLU()"),
        ("F.relu(x, True)", "F.relu(x)"),
        ("F.dropout(x, 0.5, self.training)", "F.dropout(x, 0.5, training=self.training)"),
        ("nn.Softmax(dim=1)", "nn.Softmax(axis=1)"),
        ("nn.LSTM(3, 4, batch_first=True)", "nn.LSTM(3, 4, time_major=False)"),
        ("nn.GRU(3, 4)", "nn.GRU(3, 4, time_major=True)"),
        (
            "nn.LSTM(3, 4, bidirectional=two)",
            "nn.LSTM(3, 4, direction='bidirect' if two else 'forward', time_major=True)",
        ),
        ("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(axis=1)"),
        ("nn.AvgPool2d(2)", "nn.AvgPool2D(2, exclusive=False)"),
        (
            "optim.Adam(net.parameters(), lr=1e-3)",
            "optim.Adam(parameters=net.parameters(), learning_rate=1e-3)",
        ),
        (
            "optim.AdamW(p, 0.1, (0.9, 0.98))",
            "optim.AdamW(parameters=p, learning_rate=0.1, beta1=0.9, beta2=0.98)",
        ),
        (
            "torch.optim.SGD(p, 0.1, momentum=0.9)",
            "dy2st.optimizer.Momentum(parameters=p, learning_rate=0.1, momentum=0.9)",
        ),
        ("optim.SGD(p, lr=0.1)", "optim.SGD(parameters=p, learning_rate=0.1)"),
        (
            "optim.RMSprop(p)",
            "optim.RMSProp(parameters=p, learning_rate=0.01, rho=0.99, epsilon=1e-08)",
        ),
        (
            "torch.gather(x, 1, i)",
            "dy2st.take_along_axis(x, axis=1, indices=i, broadcast=False)",
        ),
        ("torch.tensor([1], requires_grad=True)", "dy2st.to_tensor([1], stop_gradient=False)"),
        ("torch.randint(9, (2, 3))", "dy2st.randint(high=9, shape=(2, 3))"),
        ("torch.linalg.svd(x)", "dy2st.linalg.svd(x, full_matrices=True)"),
        ("torch.special.expit(x)", "dy2st.nn.functional.sigmoid(x)"),
        ("x.view(x.size(0), -1)", "x.view(x.shape[0], -1)"),
        ("x.size()[1:]", "x.shape[1:]"),
        ("x.size(dim=-1)", "x.shape[-1]"),
        ("x.index_select(0, i)", "x.index_select(axis=0, index=i)"),
        ("x.gather(1, i)", "x.take_along_axis(axis=1, indices=i, broadcast=False)"),
        ("x.equal(y)", "x.equal_all(y)"),
        ("x.sum(dim=0).unsqueeze(0)", "x.sum(dim=0).unsqueeze(0)"),
        ("x.permute(0, 2, 1)", "x.permute(0, 2, 1)"),
        ("x.max()", "x.max()"),
        ("nn.TransformerEncoder(layer, 2)", "nn.TransformerEncoder(layer, 2)"),
        ("torch.float32", "dy2st.float32"),
        ("with torch.no_grad(): pass", "with dy2st.no_grad(): pass"),
        ("torch.max(x)", "dy2st.max(x)"),
        ("torch.add(*args, dim=1)", "dy2st.add(*args, dim=1)"),
    ],
)
def test_names_and_calls(old, new, tmp_path):
    assert ported(HEAD + old, tmp_path) == OURS + new


@pytest.mark.parametrize(
    "line, remark",
    [
        ("y = torch.max(x, dim=1)", "torch.max: with an axis torch gives values and places"),
        ("y = x.split(2, dim=1)", "torch.Tensor.split: a number is the size of a part"),
        ("y = x.max(1)", "torch.Tensor.max: with an axis torch gives values and places"),
        ("y = x.median()", "torch.Tensor.median: torch gives the lower of two"),
        ("y = torch.vmap(f)", "torch.vmap: a loop, or an axis more"),
        ("y = torch.split(x, 2)", "torch.split: a number is the size of a part in torch"),
        ("y = nn.GRUCell(3, 4, bias=False)", "torch.nn.GRUCell: no argument bias here"),
    ],
)
def test_what_cannot_be_told_is_commented(line, remark, tmp_path):
    text = f"{HEAD}def f(x):\n    {line}\n"
    comment, _ = ported(text, tmp_path).splitlines()[-2:]
    assert comment.startswith(f"    # dy2st: {remark}")


def test_what_is_not_here_stays_torch_s(tmp_path):
    made = ported("from torch.nn import Linear, LazyLinear\n", tmp_path)
    assert made.splitlines()[1:] == [
        "from dy2st.nn import Linear",
        "from torch.nn import LazyLinear",
    ]


def test_calls_over_several_lines_keep_their_lines(tmp_path):
    text = HEAD + textwrap.dedent(
        """
        net = nn.Sequential(
            nn.BatchNorm1d(4, eps=1e-3),  # é
            nn.ReLU(
                inplace=True,
            ),
        )
        """
    )
    made = ported(text, tmp_path)
    assert "    nn.BatchNorm1D(4, epsilon=1e-3),  # é\n    nn.ReLU(\n" in made
    compile(made, "made", "exec")


def test_what_was_ported_is_left_alone(tmp_path):
    once = ported(HEAD + "x = torch.cat([x], dim=0)\n", tmp_path)
    assert ported(once, tmp_path) == once


def test_a_file_that_is_no_python_is_said(tmp_path):
    (tmp_path / "broken.py").write_text("import torch\nprint 1")
    assert read(tmp_path / "broken.py").error
