"""Reading sources: which names they use, on which lines."""

import pytest

from dy2st.paddle.porting.uses import read, sources_of


def uses_of(tmp_path, text):
    path = tmp_path / "model.py"
    path.write_text(text)
    found = read(path)
    return [(use.name, use.line) for use in found.uses], [use.name for use in found.methods]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("import paddle\npaddle.nn.Linear(1, 2)", [("nn.Linear", 2)]),
        ("import paddle as p\np.add", [("add", 2)]),
        ("import paddle.nn as nn\nnn.Linear", [("nn", 1), ("nn.Linear", 2)]),
        ("import paddle.nn\npaddle.nn.Linear", [("nn", 1), ("nn.Linear", 2)]),
        ("from paddle import nn\nnn.Linear", [("nn", 1), ("nn.Linear", 2)]),
        (
            "from paddle.nn import functional as F\nF.relu(F.gelu)",
            [("nn.functional", 1), ("nn.functional.relu", 2), ("nn.functional.gelu", 2)],
        ),
        ("from paddle.nn import Linear\nLinear", [("nn.Linear", 1), ("nn.Linear", 2)]),
        ("from paddle.nn.layer import *", [("nn.layer", 1)]),
        ("def f():\n  return paddle.add\nimport paddle", [("add", 2)]),
        ("import paddleseg\npaddleseg.nn.x\nfrom paddleocr import y\ny", []),
        ("import paddle\npaddle.long = paddle.int64", [("int64", 2)]),
        ("from .paddle import nn\nnn.Linear", []),
        ("class Net(nn.Layer): pass\nimport paddle.nn as nn", [("nn", 2), ("nn.Layer", 1)]),
    ],
)
def test_uses_of_names(tmp_path, text, expected):
    assert uses_of(tmp_path, text)[0] == expected


def test_methods_count_where_only_tensors_have_them(tmp_path):
    text = (
        "import numpy as np\nimport paddle\n"
        "x.reshape([1]).unsqueeze(0)\nnp.linalg.inverse(x)\n'a'.join(b)\nl.append(1)\nx.data\n"
    )
    assert sorted(uses_of(tmp_path, text)[1]) == ["Tensor.reshape", "Tensor.unsqueeze"]


def test_a_file_that_is_no_python_is_told(tmp_path):
    (tmp_path / "old.py").write_text("print 'two'")
    assert "Missing parentheses" in read(tmp_path / "old.py").error


def test_folders_are_walked_in_order_past_hidden_ones(tmp_path):
    for name in ("b.py", "a/c.py", ".venv/d.py", "e.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert [path.name for path in sources_of(tmp_path)] == ["c.py", "b.py"]
    assert list(sources_of(tmp_path / "b.py")) == [tmp_path / "b.py"]
