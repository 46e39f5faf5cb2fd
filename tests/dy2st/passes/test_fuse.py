"""fusion_groups: the kinds of operators, which of them meet in a group, and which never do."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes.fuse import FusionGroup, Kind, fusion_groups, kind_of
from dy2st_runtime.ir import DEFINITIONS, F, apply
from dy2st_runtime.ops.control_flow import cond


def groups(t, function, *types, **options):
    """The groups as text, in order; they are checked to be a partition."""
    program = t.program_of(function, *types)
    before = str(program)
    found = fusion_groups(program, **options)
    assert str(program) == before
    members = [o for group in found for o in group.operators]
    wanted = [o for o in program.operators if o.name != "constant"]
    assert sorted(map(id, members)) == sorted(map(id, wanted))
    return [str(group) for group in found]


def conv(t, x, out=4, seed=0):
    return F.conv2d(x, t.array(out, x.shape[1], 3, 3, seed=seed), padding=1)


IMAGE = ("n", 4, 6, 6)


# -- kinds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda x, y: F.relu(x), Kind.ELEMENTWISE),
        (lambda x, y: x * 2.0, Kind.BROADCAST),
        (lambda x, y: x + F.exp(x), Kind.ELEMENTWISE),
        (lambda x, y: x + y, Kind.BROADCAST),
        (lambda x, y: F.transpose(x, [1, 0]), Kind.INJECTIVE),
        (lambda x, y: F.concat([x, x]), Kind.INJECTIVE),
        (lambda x, y: F.sum(x, axis=1), Kind.REDUCTION),
        (lambda x, y: F.matmul(x, F.transpose(x, [1, 0])), Kind.CONTRACTION),
        (lambda x, y: F.argsort(x), Kind.OPAQUE),
        (lambda x, y: cond(F.sum(x) > 0, lambda: [x], lambda: [y + x])[0], Kind.OPAQUE),
    ],
)
def test_the_kind_of_an_operator_depends_on_its_name_and_shapes(t, function, kind):
    program = t.program_of(function, t.floats("n", 3), t.floats(3))
    assert kind_of(program.operators[-1]) is kind


def test_all_operators_with_a_kind_exist():
    for name in ("print", "uniform", "cond", "while", "softmax"):
        assert DEFINITIONS[name].kind is Kind.OPAQUE


# -- what is fused --------------------------------------------------------------------------------

FUSED = {
    "a convolution with what follows": (
        lambda t, x: F.relu(conv(t, x) * 2.0 + t.array(4, 1, 1)),
        ["conv + multiply + add + relu"],
    ),
    "elementwise operators in a row": (
        lambda t, x: F.exp(F.relu(x) * 2.0) + 1.0,
        ["relu + multiply + exp + add"],
    ),
    "elementwise operators into a reduction": (
        lambda t, x: F.sum(F.exp(x) * 2.0, axis=[2, 3]),
        ["exp + multiply + sum"],
    ),
    "injective operators": (
        lambda t, x: F.flip(F.transpose(x, [0, 2, 3, 1]), axis=[1]),
        ["transpose + flip"],
    ),
    "injective operators into elementwise": (
        lambda t, x: F.exp(F.relu(F.transpose(x, [0, 2, 3, 1]))),
        ["transpose + relu + exp"],
    ),
    "a diamond": (
        lambda t, x: (lambda y: F.exp(y) * F.tanh(y))(F.relu(x)),
        ["relu + exp + tanh + multiply"],
    ),
    "a diamond after a convolution": (
        lambda t, x: (lambda y: F.sigmoid(y) * y)(conv(t, x)),
        ["conv + sigmoid + multiply"],
    ),
    "a residual": (
        lambda t, x: F.relu(conv(t, x) + x),
        ["conv + add + relu"],
    ),
    "a product with what follows": (
        lambda t, x: F.relu(F.matmul(x, t.array(6, 3)) + t.array(3)),
        ["matmul + add + relu"],
    ),
}


@pytest.mark.parametrize("batch", ["n", 2])
@pytest.mark.parametrize("kind", FUSED)
def test_what_belongs_together_is_one_group(t, kind, batch):
    function, expected = FUSED[kind]
    assert groups(t, lambda x: function(t, x), t.floats(batch, *IMAGE[1:])) == expected


APART = {
    "two convolutions": (lambda t, x: conv(t, F.relu(conv(t, x))), ["conv + relu", "conv"]),
    "elementwise before a convolution": (lambda t, x: conv(t, F.relu(x)), ["relu", "conv"]),
    "a convolution and a pool": (lambda t, x: F.max_pool2d(conv(t, x), 2), ["conv", "max_pool"]),
    "a convolution and a reduction": (
        lambda t, x: F.sum(F.relu(conv(t, x)), axis=[2, 3]),
        ["conv + relu", "sum"],
    ),
    "a convolution and a transpose": (
        lambda t, x: F.transpose(F.relu(conv(t, x)), [0, 2, 3, 1]),
        ["conv + relu", "transpose"],
    ),
    "an opaque operator": (
        lambda t, x: F.exp(F.cumsum(F.relu(x), axis=1)),
        ["relu", "cumsum", "exp"],
    ),
    "a reduction and what follows": (
        lambda t, x: F.exp(F.sum(x, axis=[2, 3])),
        ["sum", "exp"],
    ),
    "an output in between": (lambda t, x: [(y := F.relu(x)), F.exp(y)], ["relu", "exp"]),
    "a convolution that is an output": (
        lambda t, x: [(y := conv(t, x)), F.relu(y)],
        ["conv", "relu"],
    ),
    "two convolutions that meet": (
        lambda t, x: F.relu(conv(t, x) + conv(t, x, seed=1)),
        ["conv", "conv + add + relu"],
    ),
    "a branch that reads the value": (
        lambda t, x: (lambda y: cond(F.sum(y) > 0, lambda: [F.exp(y)], lambda: [y]))(F.relu(x)),
        None,
    ),
}


@pytest.mark.parametrize("kind", APART)
def test_what_does_not_belong_together_stays_apart(t, kind):
    function, expected = APART[kind]
    found = groups(t, lambda x: function(t, x), t.floats(*IMAGE))
    if expected is None:
        assert not any("cond +" in text or "+ cond" in text for text in found)
    else:
        assert found == expected


def test_a_group_can_be_computed_in_one_go(t):
    """No value goes out of a group and, through another group, back into it."""

    def build(x):
        y = F.relu(conv(t, x))
        z = F.cumsum(y, axis=1)
        return F.exp(y + z) * F.tanh(y)

    program = t.program_of(build, t.floats(*IMAGE))
    found = fusion_groups(program)
    place = {o: i for i, group in enumerate(found) for o in group.operators}
    for index, group in enumerate(found):
        for variable in group.inputs():
            assert place.get(variable.maker, -1) < index


@pytest.mark.parametrize("seed", range(20))
def test_groups_of_random_programs_can_be_computed_one_after_the_other(t, seed):
    rng = np.random.default_rng(seed)

    def step(values):
        x, y = (values[rng.integers(len(values))] for _ in range(2))
        choices = (
            lambda: F.relu(x),
            lambda: x + y,
            lambda: x * F.sum(y),
            lambda: F.matmul(x, t.array(4, 4)),
            lambda: F.transpose(F.transpose(x, [1, 0]), [1, 0]),
            lambda: F.cumsum(x, axis=0),
            lambda: F.concat([x[:2], y[2:]]),
        )
        return choices[rng.integers(len(choices))]()

    def build(x):
        values = [x]
        for _ in range(25):
            values.append(step(values))
        return values[-2:]

    program = t.program_of(build, t.floats(4, 4))
    found = fusion_groups(program)
    place = {o: i for i, group in enumerate(found) for o in group.operators}
    order = [o for o in program.operators if o.name != "constant"]
    assert len(place) == len(order) == sum(len(group.operators) for group in found)
    for index, group in enumerate(found):
        assert sum(kind_of(o) is Kind.CONTRACTION for o in group.operators) <= 1
        opaque = [o for o in group.operators if kind_of(o) is Kind.OPAQUE]
        assert not opaque or len(group.operators) == 1
        for variable in group.inputs():
            assert place.get(variable.maker, -1) < index


# -- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "sizes"), [(1, [1] * 6), (3, [3, 3]), (6, [6]), (256, [6])])
def test_a_group_has_at_most_so_many_operators(t, most, sizes):
    def build(x):
        for _ in range(6):
            x = F.relu(x)
        return x

    found = groups(t, build, t.floats("n"), most_operators=most)
    assert [text.count("relu") for text in found] == sizes


def test_a_target_keeps_operators_out_of_groups(t):
    def check(group, operator):
        return operator.name != "exp"

    found = groups(t, lambda x: F.exp(F.relu(conv(t, x))), t.floats(*IMAGE), check=check)
    assert found == ["conv + relu", "exp"]


def test_a_check_sees_the_group_so_far(t):
    seen = []

    def check(group, operator):
        seen.append((str(group), operator.name))
        return True

    groups(t, lambda x: F.relu(conv(t, x)), t.floats(*IMAGE), check=check)
    assert ("conv", "relu") in seen


# -- groups ---------------------------------------------------------------------------------------


def test_a_group_knows_its_anchor_kind_and_inputs(t):
    program = t.program_of(
        lambda x, y: F.relu(conv(t, x) * t.array(4, 1, 1) + y), t.floats(*IMAGE), t.floats(*IMAGE)
    )
    (group,) = fusion_groups(program)
    assert group.anchor.name == "conv" and group.kind is Kind.CONTRACTION
    assert [id(v) for v in group.inputs()] == [id(v) for v in program.inputs]
    assert isinstance(group, FusionGroup)


def test_constants_are_in_no_group(t):
    program = t.program_of(
        lambda x: [apply("constant", value=np.ones(2, "f4")), F.relu(x)], t.floats("n")
    )
    assert [str(group) for group in fusion_groups(program)] == ["relu"]


def test_a_program_without_operators_has_no_groups(t):
    assert groups(t, lambda x: x, t.floats("n")) == []


def test_the_groups_are_the_same_every_time(t):
    program = t.program_of(
        lambda x: F.relu(conv(t, F.relu(conv(t, x)) + x)) * F.sum(x), t.floats(*IMAGE)
    )
    texts = [[str(group) for group in fusion_groups(program)] for _ in range(3)]
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.parametrize("kind", ["a chain", "many users", "nested residuals"])
def test_every_operator_of_a_large_program_is_in_one_group(t, kind):
    def build(x, size):
        if kind == "many users":
            y = F.relu(x)
            return [F.exp(y) for _ in range(size)]
        if kind == "nested residuals":
            values = [x]
            for _ in range(size // 2):
                values.append(F.relu(values[-1]))
            for value in values[::-1]:
                x = x + value
            return x
        for _ in range(size):
            x = F.relu(x)
        return x

    program = t.program_of(lambda x: build(x, 8_000), t.floats(1))
    found = [operator for group in fusion_groups(program) for operator in group.operators]
    assert len(found) == len(set(found)) == len(program.operators)
