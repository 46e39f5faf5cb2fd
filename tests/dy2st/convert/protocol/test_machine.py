"""The functions of a trace stand in one typed table: each is bound, and forms call no others."""

from dy2st.convert.dy2static import STATEMENTS, TRACED_CALLS, TracedCalls, Vocabulary
from dy2st.convert.protocol.machine import Machine
from dy2st.convert.trace import Trace
from dy2st_runtime.ir import Tracer

NAMES = {*TracedCalls.__annotations__, *Vocabulary.__annotations__, *STATEMENTS}


def test_every_name_of_the_table_is_bound():
    machine = Machine(Tracer())
    assert [name for name in sorted(NAMES) if not hasattr(machine, name)] == []


def test_a_machine_binds_nothing_beside_the_table():
    tracer = Tracer()
    bound = vars(Machine(tracer)).keys() - vars(Trace(tracer)).keys()
    assert {name for name in bound if name not in NAMES} == set()


def test_what_forms_call_is_bound_or_given_to_them():
    assert {name for name in TRACED_CALLS - NAMES if not hasattr(Trace, name)} == {"push"}
