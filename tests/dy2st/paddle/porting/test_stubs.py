"""Names that are here and do less than they say are all in one table, which reports show."""

import ast
import inspect
import textwrap

import pytest

import dy2st.paddle as paddle
from dy2st.cli import main
from dy2st.paddle.porting.names import exists, is_here, names_of_paddle
from dy2st.paddle.porting.stubs import HOLLOW, what_it_does


def found(name):
    value = paddle
    for part in name.split("."):
        value = getattr(value, part)
    return value


def does_nothing(value):
    """Whether a function only gives a constant, or what it was given."""
    given = set(inspect.signature(value).parameters)
    tree = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        return False
    body = [one for one in tree.body if not (isinstance(one, ast.Expr) and is_text(one.value))]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return not body
    gives = body[0].value
    return isinstance(gives, (ast.Constant, ast.List, ast.Dict)) or (
        isinstance(gives, ast.Name) and gives.id in given
    )


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


# What they answer is all that there is to say.
ANSWERS = {
    "distributed.is_available",
    "amp.is_float16_supported",
    "inference.get_version",
    "nn.Layer.cpu",
}
ANSWERS |= {f"version.{name}" for name in ("cuda", "cudnn", "nccl", "tensorrt", "xpu")}
ANSWERS |= {"nn.Layer.extra_repr"}
NAMES = sorted(
    name
    for space, names in names_of_paddle().items()
    if space != "Tensor"
    for name in (one if space == "paddle" else f"{space}.{one}" for one in names)
    if is_here(name) and inspect.isfunction(found(name))
)


def test_every_function_that_does_nothing_is_in_the_table():
    assert len(NAMES) > 900
    # A module may have taken the name of a function since: `distributed.launch`, when it was run.
    functions = {one: found(one) for one in NAMES if inspect.isfunction(found(one))}
    silent = {
        one for one, value in functions.items() if does_nothing(value) and not what_it_does(one)
    }
    assert silent == ANSWERS


@pytest.mark.parametrize("name", HOLLOW)
def test_every_row_names_something_that_is_here(name):
    assert exists(name)


def test_what_does_its_work_is_not_in_the_table():
    for name in ("nn.Linear", "distributed.fleet.utils.recompute", "io.DataLoader", "devices"):
        assert what_it_does(name) == ""


MODEL = """
import paddle

def step(x):
    paddle.device.empty_cache()
    return paddle.distributed.fleet.utils.recompute(step, x)
"""


def test_the_report_shows_what_they_do(tmp_path, capsys):
    (tmp_path / "model.py").write_text(MODEL)
    assert main(["port", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("names that are here and do less than they say:")
    shown = "\n".join(lines[start:])
    assert "paddle.device.empty_cache: 1 use; nothing: jax keeps its own count and memory" in shown
    assert "model.py:5" in shown and "recompute" not in shown
