"""`dy2st port`: what is missing, with places and advice; and rewritten imports."""

import subprocess
import sys

import pytest

from dy2st.cli import main

MODEL = """import paddle
import paddle.nn as nn

class Net(nn.Layer):
    def forward(self, x):
        return paddle.inference.create_predictor(x) + nn.functional.relu(x)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "broken.py").write_text("print 1")
    return tmp_path


def test_what_is_missing_is_listed_with_place_and_advice(folder, capsys):
    assert main(["port", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("paddle.inference.create_predictor: 1 use; Paddle Inference")
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


def test_imports_are_rewritten_if_asked_for(folder, capsys):
    (folder / "model.py").chmod(0o755)
    assert main(["port", str(folder), "--write"]) == 0
    assert capsys.readouterr().out.endswith("1 files import dy2st now\n")
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
