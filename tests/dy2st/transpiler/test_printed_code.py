"""The text of converted functions: the forms of the design, the same on every run."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dy2st
import dy2st_runtime
from dy2st.transpiler.lower import code_of
from dy2st.transpiler.rewrites import REWRITES

GOLDEN = [
    (
        """
def forward(self, x, y):
    out = self.my_fc(x)
    out = add_two(out, y)
    return out
""",
        """
def forward(self, x, y):
    out = convert_call(self.my_fc)(x)
    out = convert_call(add_two)(out, y)
    return out
""",
    ),
    (
        """
def not_depend_tensor_if(x, label=None):
    out = x + 1
    if label is not None:
        out = paddle.nn.functional.cross_entropy(out, label)
    return out
""",
        """
def not_depend_tensor_if(x, label=None):
    out = x + 1
    def true_fn_0(label, out):
        out = convert_call(paddle.nn.functional.cross_entropy)(out, label)
        return out
    def false_fn_0(out):
        return out
    out = convert_ifelse(label is not None, true_fn_0, false_fn_0, (label, out), (out,), (out,))
    return out
""",
    ),
    (
        """
def depend_tensor_if(x):
    if paddle.mean(x) > 5.:
        out = x - 1
    else:
        out = x + 1
    return out
""",
        """
def depend_tensor_if(x):
    out = undefined('out')
    def true_fn_0(x):
        out = x - 1
        return out
    def false_fn_0(x):
        out = x + 1
        return out
    out = convert_ifelse(convert_call(paddle.mean)(x) > 5.0, true_fn_0, false_fn_0, (x,), (x,), (out,))
    return out
""",  # noqa: E501
    ),
    (
        """
def not_depend_tensor_while(x):
    a = 1
    while a < 10:
        x = x + 1
        a += 1
    return x
""",
        """
def not_depend_tensor_while(x):
    a = 1
    def while_condition_0(a, x):
        return a < 10
    def while_body_0(a, x):
        x = x + 1
        a += 1
        return a, x
    [a, x] = convert_while_loop(while_condition_0, while_body_0, [a, x])
    return x
""",
    ),
    (
        """
def depend_tensor_while(x):
    bs = paddle.shape(x)[0]
    for i in range(bs):
        x = x + 1
    return x
""",
        """
def depend_tensor_while(x):
    bs = convert_call(paddle.shape)(x)[0]
    def for_loop_body_0(i, x):
        x = x + 1
        return (x,)
    [x] = convert_for_loop(convert_call(range)(bs), None, for_loop_body_0, [x])
    return x
""",
    ),
    (
        """
def early(x):
    if x > 0:
        return x
    for y in x:
        if y:
            break
    return -1
""",
        """
def early(x):
    return_value_0 = undefined('return_value_0')
    def true_fn_0(x):
        return_value_0 = x
        return return_value_0
    def false_fn_0(x):
        break_0 = False
        def for_loop_condition_0(break_0):
            return not break_0
        def for_loop_body_0(y, break_0):
            def true_fn_1():
                break_0 = True
                return break_0
            def false_fn_1(break_0):
                return break_0
            break_0 = convert_ifelse(y, true_fn_1, false_fn_1, (), (break_0,), (break_0,))
            return (break_0,)
        [break_0] = convert_for_loop(x, for_loop_condition_0, for_loop_body_0, [break_0])
        return_value_0 = -1
        return return_value_0
    return_value_0 = convert_ifelse(x > 0, true_fn_0, false_fn_0, (x,), (x,), (return_value_0,))
    return return_value_0
""",
    ),
]


@pytest.mark.parametrize(("source", "expected"), GOLDEN, ids=range(len(GOLDEN)))
def test_printed_code_has_the_form_of_the_design(source, expected, define):
    name = source.split("(")[0].split()[-1]
    function = define(source.replace(f"def {name}(", "def f(", 1).lstrip())
    text = code_of(function)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(expected.replace(name, "f", 1)))


def test_code_after_each_rewrite_is_python(define):
    function = define(
        "def f(xs):\n    for x in xs:\n        if x > 1 and x < 9:\n            return x\n"
    )
    texts = [code_of(function, steps) for steps in range(1, len(REWRITES) + 1)]
    for text in texts:
        ast.parse(text)
    single_exit = texts[[name for name, _ in REWRITES].index("early_return")]
    assert "return_value_0 = x" in single_exit and "convert_ifelse" not in single_exit
    assert texts[-1] == code_of(function)


@pytest.mark.parametrize(
    "body",
    [
        "match a:\n        case 1:\n            return 2",
        "return f'{ {1: a} }'",
        "return f'{a!r:>{10}}'",
        "return [*a, -1][1:], {**a}, (yes := 1)",
    ],
)
def test_printed_code_parses_to_what_runs(body, define):
    text = code_of(define(f"def f(a):\n    {body}\n"))
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(ast.unparse(ast.parse(text))))


def test_decorators_are_not_printed_and_not_applied_again(define, convert):
    applied = []
    source = "def f(x):\n    return g(x)\n"
    function = define(source)
    function.__globals__["g"] = lambda x: applied.append(x) or x
    assert convert(function)(3) == 3 and applied == [3]
    assert "@" not in code_of(function)


def test_code_does_not_depend_on_the_hash_seed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "def f(alpha, beta, xs):\n"
        "    for gamma, delta in xs:\n"
        "        with alpha:\n"
        "            if gamma:\n"
        "                beta, epsilon, zeta = delta, gamma, alpha\n"
        "                del gamma\n"
        "            while beta or zeta:\n"
        "                eta, beta = 1, zeta\n"
        "                if eta: return epsilon\n"
        "    return eta, zeta, gamma\n"
        "from dy2st.transpiler.lower import code_of\n"
        "print(code_of(f))\n"
    )
    paths = [str(Path(next(iter(p.__path__))).parent) for p in (dy2st, dy2st_runtime)]
    texts = []
    for seed in ("0", "1", "77"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(paths),
        }
        result = subprocess.run(
            [sys.executable, str(program)], env=environment, capture_output=True, check=True
        )
        texts.append(result.stdout)
    assert texts[0] and texts[0] == texts[1] == texts[2]
