"""What cannot be rewritten exactly stays Python and says why."""

from __future__ import annotations

import pytest

from dy2st.transpiler.lower import REASONS, left_as_python

LEFT = {
    "yield": "for i in xs:\n        yield i",
    "jump": "for x in xs:\n        try:\n            a()\n        finally:\n            break",
    "super": "if a:\n        super().f()",
    "namespace": "locals()\n    if a:\n        pass",
    "depth": "if a:\n        pass\n" + "    elif a:\n        pass\n" * 302,
}


@pytest.mark.parametrize("code", sorted(LEFT))
def test_statement_is_left_with_its_reason(code, define):
    left = left_as_python(define(f"def f(a, xs):\n    {LEFT[code]}\n"))
    assert code in [one for _, one in left]
    assert code in REASONS


def test_async_code_keeps_its_statements(define):
    left = left_as_python(
        define(
            "async def f(a):\n"
            "    if a:\n"
            "        await a\n"
            "    if a:\n"
            "        return [x async for x in a]\n"
        )
    )
    assert [one for _, one in left] == ["async", "async"]


def test_every_reason_has_a_case():
    assert {*LEFT, "async"} == set(REASONS)


def test_reasons_are_full_sentences():
    for reason in REASONS.values():
        assert reason.why and reason.hint
        assert reason.why.format(name="x") and reason.hint.format(name="x")
