"""`dy2st port` for torch: what is missing, differs, has another name, or is written otherwise."""

import pytest

from dy2st.cli import main

MODEL = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4, eps=1e-3)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        values, places = torch.max(self.norm(x), 1)
        return torch.vmap(self.act)(values).unsqueeze(0)
"""
REPORT = """torch.vmap: 1 use; a loop, or an axis more: operators broadcast
    {path}:12
names that do something else here:
torch.max: 1 use; with an axis torch gives values and places, here the values alone: argmax gives places
    {path}:11
names that are called otherwise here:
torch.nn.BatchNorm1d: 1 use; dy2st.nn.BatchNorm1D
    {path}:7
calls that are written otherwise here:
torch.nn.BatchNorm1d: 1 use; write epsilon=1e-3 for eps=1e-3
    {path}:7
torch.nn.ReLU: 1 use; leave out inplace=True
    {path}:8
1 file; names of torch that are here: 5 of 6 (83.3 %) of uses, 3 of all uses as they are
methods of tensors, known by their name alone: 1 of 1 (100.0 %)
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path / "model.py"


def test_the_report_says_of_each_line_what_becomes_of_it(path, capsys):
    assert main(["port", str(path.parent)]) == 0
    assert capsys.readouterr().out == REPORT.format(path=path)
    assert path.read_text() == MODEL


def test_sources_are_written_if_asked_for(path, capsys):
    path.chmod(0o755)
    assert main(["port", str(path.parent), "--write"]) == 0
    assert capsys.readouterr().out.endswith("1 file imports dy2st now\n")
    text = path.read_text()
    assert text.startswith("import dy2st\nfrom dy2st import nn\n")
    assert "# dy2st: torch.vmap: a loop" in text and path.stat().st_mode & 0o777 == 0o755
    compile(text, "model", "exec")


def test_a_folder_of_both_libraries_has_both_reports(path, capsys):
    (path.parent / "other.py").write_text("import paddle\npaddle.add(1, 2)\n")
    main(["port", str(path.parent), "--write"])
    out = capsys.readouterr().out
    assert "1 file; names of torch" in out and "1 file; names that are here: 1 of 1" in out
    assert out.endswith("2 files import dy2st now\n")
