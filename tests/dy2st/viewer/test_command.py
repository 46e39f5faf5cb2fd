"""The command `dy2st view`."""

import pytest

import dy2st
from dy2st.cli.commands import main
from dy2st.static import InputSpec


def half(x):
    return x.exp() * 0.5


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dy2st.jit.save(half, "net", input_spec=[InputSpec(["n", 3], name="x")])


def test_the_page_lies_beside_the_model(saved, tmp_path, capsys):
    assert main(["view", "net"]) == 0
    assert capsys.readouterr().out == "net.html\n"
    text = (tmp_path / "net.html").read_text()
    assert text.startswith("<!doctype html>") and '"exp"' in text


def test_two_models_are_compared(saved, tmp_path, capsys):
    assert main(["opt", "net", "-p", "DecomposeOps", "-o", "other"]) == 0
    options = ["--compare", "other", "-o", "page.html", "--size", "n=4", "--sources", "."]
    assert main(["view", "net", *options]) == 0
    assert "for n = 4;" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nothing"], "there is no file nothing"),
        (["net", "--size", "m=4"], "no unknown size 'm'; it has: n"),
        (["net", "--compare", "nothing"], "there is no file nothing"),
        (["-", "--compare", "-"], "standard input can be compared with a file only"),
        (["net", "-o", "nowhere/page.html"], "nowhere"),
    ],
)
def test_what_cannot_be_shown_is_said(saved, capsys, options, said):
    assert main(["view", *options]) == 2
    assert said in capsys.readouterr().err


def test_a_size_is_a_name_and_a_number(saved, capsys):
    with pytest.raises(SystemExit):
        main(["view", "net", "--size", "n"])
    assert "as batch=8, not 'n'" in capsys.readouterr().err
