"""What cannot be rewritten exactly stays Python and says why."""

from __future__ import annotations

import pytest

from dy2st.transpiler import REASONS, transpile

LEFT = {
    "yield": "for i in xs:\n        yield i",
    "jump": "for x in xs:\n        try:\n            a()\n        finally:\n            break",
    "super": "if a:\n        super().f()",
    "namespace": "locals()\n    if a:\n        pass",
    "depth": "".join(" " * k + "if a:\n    " for k in range(92)) + " " * 92 + "pass",
}


@pytest.mark.parametrize("code", sorted(LEFT))
def test_statement_is_left_with_its_reason(code, define):
    conversion = transpile(define(f"def f(a, xs):\n    {LEFT[code]}\n"))
    assert code in [left.code for _, left in conversion.left]
    assert code in REASONS


def test_async_code_keeps_its_statements(define):
    conversion = transpile(
        define(
            "async def f(a):\n"
            "    if a:\n"
            "        await a\n"
            "    if a:\n"
            "        return [x async for x in a]\n"
        )
    )
    assert [left.code for _, left in conversion.left] == ["yield", "async"]


COMPREHENSIONS = {
    "comprehension-scope": "[lambda: x for x in xs if x]",
    "comprehension-keys": "{x: a for x in xs if x}",
    "comprehension-lazy": "(x for x in xs if x)",
}


@pytest.mark.parametrize("code", sorted(COMPREHENSIONS))
def test_comprehension_is_left_with_its_reason(code, define):
    text = transpile(define(f"def f(a, xs):\n    return {COMPREHENSIONS[code]}\n")).code
    assert f"in convert_python_iter(xs, '{code}') if convert_python_bool(x, '{code}')" in text


def test_every_reason_has_a_case():
    assert {*LEFT, *COMPREHENSIONS, "async"} == set(REASONS)


def test_conditions_left_as_python_carry_the_reason(define):
    text = transpile(define("def f(a):\n    if a > 1:\n        yield a\n")).code
    assert "if convert_python_bool(a > 1, 'yield'):" in text


def test_reasons_are_full_sentences():
    for reason in REASONS.values():
        assert reason.why and reason.hint
        assert reason.why.format(name="x") and reason.hint.format(name="x")
