"""`dy2st port`: what is missing, with places and advice; and rewritten imports, every other byte as it was."""

import subprocess
import sys

import pytest

from dy2st.cli import main
from dy2st.paddle.porting.command import rewritten

MODEL = """import paddle
import paddle.nn as nn

class Net(nn.Layer):
    def forward(self, x):
        return paddle.inference.convert_to_mixed_precision(x) + nn.functional.relu(x)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "broken.py").write_text("print 1")
    return tmp_path


def test_what_is_missing_is_listed_with_place_and_advice(folder, capsys):
    assert main(["port", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("paddle.inference.convert_to_mixed_precision: 1 use; engines run")
    assert lines[1] == f"    {folder / 'model.py'}:6"
    assert "not read: " in lines[2] and "broken.py" in lines[2]
    assert lines[3] == "2 files; names that are here: 3 of 4 (75.0 %) of uses"
    assert (folder / "model.py").read_text() == MODEL


def test_places_beyond_three_are_shown_if_asked_for(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import paddle\n" + "paddle.nothing\n" * 5)
    main(["port", str(tmp_path)])
    assert "and 2 more; --all shows them" in capsys.readouterr().out
    main(["port", str(tmp_path), "--all"])
    assert "a.py:6" in capsys.readouterr().out


def test_sources_that_import_neither_are_told_so(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import dy2st.paddle as paddle\npaddle.ones([2]).exp()\n")
    assert main(["port", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 file; neither PaddlePaddle's names nor torch's are imported\n")


def test_imports_are_rewritten_if_asked_for(folder, capsys):
    (folder / "model.py").chmod(0o755)
    assert main(["port", str(folder), "--write"]) == 0
    assert capsys.readouterr().out.endswith("1 file imports dy2st now\n")
    expected = MODEL.replace("import paddle.nn as", "import dy2st.paddle.nn as")
    expected = expected.replace("import paddle\n", "import dy2st.paddle as paddle\n")
    assert (folder / "model.py").read_text() == expected
    assert (folder / "model.py").stat().st_mode & 0o777 == 0o755
    main(["port", str(folder), "--write"])
    assert "0 files import dy2st now" in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_told(tmp_path, capsys):
    assert main(["port", str(tmp_path / "none")]) == 2
    assert "there is no such file or folder" in capsys.readouterr().err


def test_nothing_of_it_is_loaded_before_it_is_called():
    code = "import dy2st.cli.commands, sys; print([n for n in sys.modules if 'porting' in n])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert shown.stdout.strip() == "[]"


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
