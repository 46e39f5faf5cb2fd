"""Legalize: rules and decompositions of a target, applied until only its operators are left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dy2st.passes.legalize import LEGALIZATIONS, Legalizations, Legalize
from dy2st.passes.patterns.pattern import op, value
from dy2st.passes.patterns.rule import rule
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import DEFINITIONS, F, apply
from dy2st_runtime.ir.checks.verifier import verify
from dy2st_runtime.ops.control_flow import cond

_x, _y = value(), value()


@pytest.fixture
def target(monkeypatch):
    """Registers rules and names for the target `test`, for one test."""
    monkeypatch.setattr(LEGALIZATIONS, "rules", dict(LEGALIZATIONS.rules))
    monkeypatch.setattr(LEGALIZATIONS, "apart", dict(LEGALIZATIONS.apart))

    def add(*rules, apart=()):
        LEGALIZATIONS.add("test", rules, apart)
        return Legalize("test")

    return add


def made_of(monkeypatch, name, decompose):
    """Let an operator be made of something else, for one test."""
    monkeypatch.setitem(DEFINITIONS, name, replace(DEFINITIONS[name], decompose=decompose))


# -- the target `primitive` -----------------------------------------------------------------------

COMPOSITES = {
    "gelu": lambda t, x: F.gelu(x),
    "gelu, by tanh": lambda t, x: F.gelu(x, approximate=True),
    "softplus": lambda t, x: F.softplus(x),
    "stack": lambda t, x: F.stack([x, F.exp(x)], axis=1),
    "batch_norm": lambda t, x: F.batch_norm(
        x, t.array(3), t.array(3, low=0.5), t.array(3), t.array(3)
    ),
    "layer_norm": lambda t, x: F.layer_norm(x, [3], t.array(3), t.array(3)),
    "searchsorted": lambda t, x: F.searchsorted(np.array([-1.0, 0.0, 1.0], "f4"), x),
}


@pytest.mark.parametrize("batch", ["n", 4])
@pytest.mark.parametrize("kind", COMPOSITES)
def test_a_composite_operator_becomes_what_it_is_made_of(t, kind, batch):
    program = t.program_of(lambda x: F.relu(COMPOSITES[kind](t, x)), t.floats(batch, 3))
    after = t.settled(Legalize(), program, rtol=1e-5)
    assert all(DEFINITIONS[name].decompose is None for name in t.names(after))
    assert after.outputs[0].type == program.outputs[0].type


def test_operators_with_tensors_for_shapes_are_left_to_dynamic_to_static(t):
    def build(x, places):
        return F.gelu(apply("dynamic_unsqueeze", x, places))

    program = t.program_of(build, t.floats("n", 3), t.floats(1, dtype="int64"))
    found = t.names(t.settled(Legalize(), program))
    assert found[0] == "dynamic_unsqueeze" and "erf" in found


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_dtypes_stay(t, dtype):
    program = t.program_of(lambda x: F.softplus(F.gelu(x)), t.floats("n", dtype=dtype))
    after = t.settled(Legalize(), program, rtol=1e-2)
    assert after.outputs[0].dtype == np.dtype(dtype)


def test_a_program_of_primitive_operators_stays(t):
    program = t.program_of(lambda x: F.relu(F.matmul(x, t.array(3, 3))), t.floats("n", 3))
    t.untouched(Legalize(), program)


def test_decompositions_inside_branches_and_loops_are_done(t):
    program = t.program_of(
        lambda x: t.nested(lambda x: F.gelu(x) + F.softplus(x), x, *x.shape), t.floats("n", 3)
    )
    assert not {"gelu", "softplus"} & set(t.names(t.settled(Legalize(), program)))


def test_values_with_several_users_and_outputs_are_replaced_everywhere(t):
    def build(x):
        y = F.gelu(x)
        return [y, y * 2.0, *cond(F.sum(y) > 0, lambda: [y], lambda: [F.exp(y)])]

    after = t.settled(Legalize(), t.program_of(build, t.floats("n", 3)))
    assert "gelu" not in t.names(after) and t.names(after).count("erf") == 1


def test_one_composite_operator_after_the_other(t):
    program = t.program_of(lambda x: F.gelu(F.softplus(F.gelu(x))), t.floats("n"))
    assert not {"gelu", "softplus"} & set(t.names(t.settled(Legalize(), program)))


# -- a target of one's own ------------------------------------------------------------------------


def test_only_what_the_target_does_not_know_is_taken_apart(t, target):
    pass_ = target(apart=["gelu"])
    program = t.program_of(lambda x: F.gelu(F.softplus(x)), t.floats("n"))
    found = t.names(t.settled(pass_, program))
    assert "softplus" in found and "gelu" not in found


def test_rules_replace_operators(t, target):
    @rule(op.conv(_x, _y))
    def doubled(m):
        """conv(x, w) -> conv(x, 2 w) / 2."""
        m.require(not getattr(m[_y].maker, "name", "") == "multiply", "done")
        geometry = m.operators[doubled.patterns[0]].attributes
        return apply("conv", m[_x], m[_y] * 2.0, **geometry) / 2.0

    program = t.program_of(lambda x: F.conv2d(x, t.array(2, 3, 1, 1)), t.floats("n", 3, 4, 4))
    after = t.settled(target(doubled), program)
    assert t.names(after) == ["multiply", "conv", "divide"]


def test_a_rule_that_gives_nothing_is_asked_and_changes_nothing(t, target):
    asked = []

    @rule(op.relu(_x))
    def nothing(m):
        """Looks and leaves."""
        asked.append(m[_x])

    t.untouched(target(nothing), t.program_of(F.relu, t.floats("n")))
    assert asked


def test_several_rules_are_all_applied(t, target):
    @rule(op.relu(_x))
    def relu_by_maximum(m):
        """relu(x) -> max(x, 0)."""
        return F.maximum(m[_x], 0.0)

    @rule(op.concat(_x, _y))
    def concat_of_negated(m):
        """concat(x, y) -> -concat(-x, -y)."""
        m.require(not getattr(m[_x].maker, "name", "") == "neg", "done")
        return -F.concat([-m[_x], -m[_y]])

    program = t.program_of(lambda x: F.concat([F.relu(x), x]), t.floats(3))
    after = t.settled(target(relu_by_maximum, concat_of_negated), program)
    assert t.names(after) == ["maximum", "neg", "neg", "concat", "neg"]


def test_what_a_rule_makes_is_taken_apart_in_turn(t, target):
    @rule(op.relu(_x))
    def relu_by_gelu(m):
        """Not the same numbers: relu(x) -> gelu(x)."""
        return F.gelu(m[_x])

    program = t.program_of(F.relu, t.floats("n"))
    found = t.names(target(relu_by_gelu, apart=["gelu"])(program))
    assert "erf" in found and not {"relu", "gelu"} & set(found)


def test_decompositions_of_decompositions_are_taken_apart(t, target, monkeypatch):
    made_of(monkeypatch, "gelu", lambda x, **_: F.softplus(x * 2.0))
    program = t.program_of(lambda x: [F.exp(F.gelu(x)), F.gelu(x)], t.floats("n"))
    after = verify(target(apart=["gelu", "softplus"])(program))
    assert not {"gelu", "softplus"} & set(t.names(after))
    x = t.array(5)
    softplus = np.log1p(np.exp(2 * x))
    t.compare([np.exp(softplus), softplus], t.run(after, [x]))


def test_a_decomposition_that_never_ends_is_refused(t, target, monkeypatch):
    made_of(monkeypatch, "gelu", lambda x, **_: F.gelu(x))
    program = t.program_of(F.gelu, t.floats("n"))
    with pytest.raises(ArgumentError, match="does not come to an end"):
        target(apart=["gelu"])(program)


def test_an_unknown_target_is_refused_with_a_near_one():
    with pytest.raises(ArgumentError, match="did you mean 'primitive'"):
        Legalize("primitiv")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("geluu", "did you mean 'gelu'"),
        ("relu", "primitive: write a rule"),
        ("dynamic_tile", "DynamicToStatic"),
    ],
)
def test_names_that_cannot_be_taken_apart_are_refused(name, message):
    table = Legalizations()
    with pytest.raises(ArgumentError, match=message):
        table.add("new", apart=[name])
    assert "new" not in table.rules
