"""Which Variables may be one tensor: groups that only grow together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dy2st_runtime.ir import Program, TensorType, Variable
from dy2st_runtime.ir.tracing.aliases import Aliases

COUNT = 12
PAIRS = st.lists(st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1)), max_size=20)


def variables() -> list[Variable]:
    block = Program().block
    return [block.add_parameter(TensorType("float32", (1,)), str(k)) for k in range(COUNT)]


@given(PAIRS)
def test_a_group_is_all_that_a_chain_of_notes_reaches(pairs):
    made, aliases = variables(), Aliases()
    reached = [{k} for k in range(COUNT)]
    for one, other in pairs:
        aliases.note(made[one], made[other])
        joined = reached[one] | reached[other]
        for k in joined:
            reached[k] = joined
    for variable, expected in zip(made, reached, strict=True):
        assert {int(one.name) for one in aliases.of(variable)} == expected


def test_a_parameter_of_a_nested_block_stands_for_the_variable_around_it():
    (inner, outer, result, *_), aliases = variables(), Aliases()
    aliases.imported(inner, outer)
    aliases.note(result, inner)
    assert {int(one.name) for one in aliases.of(outer)} == {1, 2}
