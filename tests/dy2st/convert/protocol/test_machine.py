"""The functions of a trace stand in one typed table: each is bound, and forms call no others."""

import inspect
import sys
from typing import Concatenate, get_args, get_origin, get_type_hints

import pytest

from dy2st.convert.dy2static import STATEMENTS, TRACED_CALLS, VOCABULARY, Vocabulary
from dy2st.convert.protocol.machine import Machine
from dy2st.convert.trace import Trace
from dy2st_runtime.ir import Tracer

NAMES = {*VOCABULARY, *STATEMENTS}


def test_every_name_of_the_table_is_bound():
    machine = Machine(Tracer())
    assert [name for name in sorted(NAMES) if not hasattr(machine, name)] == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 knows no Concatenate[..., ...]")
@pytest.mark.parametrize("name", sorted(VOCABULARY))
def test_what_is_bound_takes_what_the_table_says(name):
    signature = inspect.signature(getattr(Machine(Tracer()), name))
    if hasattr(Vocabulary, name):  # an operator
        signature.bind(*list(inspect.signature(getattr(Vocabulary, name)).parameters)[1:])
        return
    given, _ = (*get_args(get_type_hints(Vocabulary)[name]), None)[:2]
    if isinstance(given, list):
        signature.bind(*given)
    else:  # it takes any number, or some and then any number
        assert given is ... or get_origin(given) is Concatenate


def test_a_machine_binds_nothing_beside_the_table():
    bound = {*vars(Machine), *vars(Machine(Tracer()))} - vars(Trace(Tracer())).keys()
    assert {name for name in bound - NAMES if not name.startswith("__")} == set()


def test_what_forms_call_is_bound_or_given_to_them():
    assert {name for name in TRACED_CALLS - NAMES if not hasattr(Trace, name)} == {"push"}
