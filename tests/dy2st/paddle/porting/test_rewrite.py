"""Imports of dy2st in place of paddle: the same names bound, every other byte as it was."""

import pytest

from dy2st.paddle.porting.rewrite import rewritten


@pytest.mark.parametrize(
    "old, new",
    [
        ("import paddle", "import dy2st.paddle as paddle"),
        ("import paddle as pd", "import dy2st.paddle as pd"),
        ("import paddle.nn", "import dy2st.paddle as paddle"),
        ("import paddle.nn as nn", "import dy2st.paddle.nn as nn"),
        ("import paddle . nn  as nn", "import dy2st.paddle . nn  as nn"),
        (
            "import os, paddle, paddle.nn.functional as F",
            "import os, dy2st.paddle as paddle, dy2st.paddle.nn.functional as F",
        ),
        ("from paddle import nn  # é", "from dy2st.paddle import nn  # é"),
        (
            "from paddle.nn import (\n    Linear,\n)",
            "from dy2st.paddle.nn import (\n    Linear,\n)",
        ),
        ("from \\\n  paddle import nn", "from \\\n  dy2st.paddle import nn"),
        ("if x: import paddle; y = 1", "if x: import dy2st.paddle as paddle; y = 1"),
        ("'é'; import paddle", "'é'; import dy2st.paddle as paddle"),
        ("\tx = 1".strip() + "\r\nimport paddle\r\n", "x = 1\r\nimport dy2st.paddle as paddle\r\n"),
        ("\ufeffimport paddle\n", "\ufeffimport dy2st.paddle as paddle\n"),
        ("x = 1\r\x0cimport paddle", "x = 1\r\x0cimport dy2st.paddle as paddle"),
    ],
)
def test_imports_change(old, new):
    assert rewritten(old.encode()).decode() == new


@pytest.mark.parametrize(
    "text",
    [
        "import paddleseg",
        "from paddleseg import models",
        "from .paddle import nn",
        "from . import paddle",
        "text = 'import paddle'  # import paddle\n\n\n",
        "paddle = 1\nx = paddle.nn",
        "",
    ],
)
def test_all_else_stays(text):
    assert rewritten(text.encode()) == text.encode()


def test_what_is_no_python_is_refused():
    with pytest.raises(SyntaxError):
        rewritten(b"import paddle as")
