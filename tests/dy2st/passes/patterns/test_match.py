"""What a rule can ask of a match."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st.passes import explain, rule
from dy2st.passes.patterns.pattern import constant, op, through, value
from dy2st_runtime.errors import PassError
from dy2st_runtime.ir import F

X, Y, C = value(), value(), constant()


@pytest.fixture
def seen(t, as_pass):
    """What a function of the match gives at the place where a pattern is found."""

    def ask(function, pattern, question):
        answers = []

        @rule(pattern)
        def look(m):
            answers.append(question(m))
            m.fail("it only looks")

        as_pass(look)(t.program_of(function, t.floats(2, 3)))
        assert len(answers) == 1
        return answers[0]

    return ask


def test_values_arrays_and_attributes_by_their_patterns(seen):
    w = np.float32([1, 2, 3])
    total = op.sum(op.multiply(X, C), axis=(1,))

    def question(m):
        return m[X].type.shape, m.array(C).tolist(), m.attributes(total)["keepdim"], m.has(X)

    found = seen(lambda x: F.sum(F.tanh(x) * w, axis=1), total, question)
    assert found == ((2, 3), [1, 2, 3], False, True)


def test_whether_an_optional_operator_is_there(seen):
    relu = op.relu(X).optional()
    assert seen(lambda x: F.tanh(F.relu(x)), op.tanh(relu), lambda m: m.has(relu)) is True
    assert seen(lambda x: F.tanh(x), op.tanh(relu), lambda m: m.has(relu)) is False


def test_which_alternative_it_is(seen):
    relu, absolute = op.relu(X), op.abs(X)
    pattern = op.tanh(relu | absolute)
    found = seen(lambda x: F.tanh(F.abs(x)), pattern, lambda m: (m.has(relu), m.has(absolute)))
    assert found == (False, True)


def test_the_operators_on_a_way_the_last_first(seen):
    way = through("neg exp", op.relu(X))

    def build(x):
        return F.tanh(F.exp(F.neg(F.relu(x))))

    assert seen(build, op.tanh(way), lambda m: [o.name for o in m.path(way)]) == ["exp", "neg"]


def test_whether_a_value_is_used_once(seen):
    def question(m):
        return m.is_used_once(m[X]), m.is_used_once(m[Y])

    def build(x):
        twice = F.relu(x)
        return F.pow(F.abs(x), twice) - twice

    assert seen(build, op.pow(X, Y), question) == (True, False)


def test_an_optional_part_that_is_not_there_has_no_value(t, as_pass):
    relu = op.relu(X).optional()

    @rule(op.tanh(relu))
    def careless(m):
        return m[relu]

    program = t.program_of(lambda x: F.tanh(x), t.floats(3))
    with pytest.raises(
        PassError, match="careless .*the match has nothing for this pattern: it is opt"
    ):
        as_pass(careless)(program)


@pytest.mark.parametrize("question", ["__getitem__", "array", "attributes"])
def test_the_pattern_that_was_shared_is_another_one(t, as_pass, question):
    relu = op.relu(X)

    @rule(op.tanh(relu.shared()))
    def confused(m):
        return getattr(m, question)(relu)

    program = t.program_of(lambda x: F.tanh(F.relu(x)), t.floats(3))
    with pytest.raises(PassError, match="`.shared\\(\\)` makes a new one"):
        as_pass(confused)(program)


@pytest.mark.parametrize("condition, fires", [(True, True), (False, False), (None, False)])
def test_what_is_required_must_be_known_to_hold(t, as_pass, condition, fires):
    @rule(op.relu(X))
    def careful(m):
        m.require(condition, "it is not known")
        return F.abs(m[X])

    program = t.program_of(lambda x: F.relu(x), t.floats(3))
    applied = as_pass(careful)
    assert t.names(applied(program)) == (["abs"] if fires else ["relu"])
    reasons = [entry.reason for entry in explain(applied, program)]
    assert reasons == ([] if fires else ["it is not known"])


def test_what_was_recorded_before_a_rule_gives_up_leaves_no_trace(t, as_pass):
    @rule(op.relu(X))
    def undecided(m):
        F.exp(m[X]) + F.tanh(m[X])
        m.fail("no")

    program = t.program_of(lambda x: F.relu(x), t.floats("n"))
    assert str(as_pass(undecided)(program)) == str(program)
