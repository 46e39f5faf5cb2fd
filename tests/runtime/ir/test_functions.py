"""Functions of a Program: their text, what the verifier says, what calls give, and inlining."""

from __future__ import annotations

import re
import traceback

import numpy as np
import pytest

from dy2st_runtime import engine
from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import LimitExceeded, ParseError, ShapeError
from dy2st_runtime.ir import F, TensorType, current_tracer
from dy2st_runtime.ir.checks.verifier import findings, verify
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.dead_code import drop_dead
from dy2st_runtime.ir.functions import MOST, inlined, recursive
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.metering import metered
from dy2st_runtime.ir.rebuild import rebuild
from dy2st_runtime.ir.text.difference import difference
from dy2st_runtime.ir.text.parser import parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ops import zeros
from dy2st_runtime.ops.control_flow import call, cond, function
from dy2st_runtime.tensor import EagerTensor
from tests.effort import effort
from tests.random_programs import Calling, random_program
from tests.recorded import program_of

ROWS = ("float32", ("n", 2))
X = np.arange(6, dtype="float32").reshape(3, 2) - 2


def kept(x, y):
    """Two calls, whose sizes the data decides, of a function that reads a size from outside."""
    n = x.shape[0]

    def body(v):
        return [v * 2 + zeros([n, 2]), F.nonzero(v > 0)]

    operands = function("kept", body, [y])
    a, m = call("kept", operands)
    b, k = call("kept", [x, *operands[1:]])
    return [a + b, m, k]


def powers(depth):
    """Functions that call the one before twice."""

    def record(x):
        operands = function("f0", lambda v: [v * 2], [x])
        for index in range(1, depth):
            operands = function(
                f"f{index}", lambda v, i=index: call(f"f{i - 1}", call(f"f{i - 1}", [v])), [x]
            )
        return call(f"f{depth - 1}", operands)

    return record


def factorial():
    """n! by a function that calls itself: declared by the types of the call's results."""

    def record(x):
        def body(n):
            def more():
                # What a call gives is known before the function is: it is of the type of n.
                tracer = current_tracer()
                less = tracer.variable(n - 1)
                operator = tracer.append("call", [less], {"function": "factorial"}, [less.type])
                return [n * operator.results[0]]

            return cond(n > 1, more, lambda: [n * 1])

        return call("factorial", function("factorial", body, [x]))

    return program_of(record, TensorType("int64", ()))


def run(program, *arrays):
    """What NumPy's engine computes, after a look at the interpreter."""
    arrays = [np.asarray(array) for array in arrays]
    found = engine.compile(program, "numpy").run(arrays, [])
    slow, _ = interpret(program, [EagerTensor(array) for array in arrays], {})
    for left, right in zip(found, slow, strict=True):
        np.testing.assert_array_equal(left, right.array, strict=True)
    return found


# -- what calls give --------------------------------------------------------------------------


def test_a_call_gives_what_its_function_gives():
    program = program_of(kept, ROWS, ROWS)
    assert [one.name for one in program.operators] == ["call", "call", "add"]
    total, first, second = run(program, X, -X)
    np.testing.assert_array_equal(total, X * 0)
    assert first.tolist() == np.argwhere(-X > 0).tolist()
    assert second.tolist() == np.argwhere(X > 0).tolist()


def test_a_function_is_called_with_other_sizes_than_it_was_made_for():
    def record(x, y):
        operands = function("twice", lambda v: [v * 2], [x])
        return [*call("twice", operands), *call("twice", [y])]

    program = program_of(record, ROWS, ("float32", (5, 2)))
    assert [str(one.type) for one in program.outputs] == [
        "float32[n, 2]",
        "float32[5, 2]",
    ]
    y = np.ones((5, 2), "float32")
    assert [one.tolist() for one in run(program, X, y)] == [(X * 2).tolist(), (y * 2).tolist()]
    verify(inlined(program))


def test_a_function_calls_itself():
    program = factorial()
    assert recursive(program) == {"factorial"}
    assert inlined(program) is program
    assert [run(program, np.int64(n))[0].item() for n in (1, 2, 5, 20)] == [
        1,
        2,
        120,
        2432902008176640000,
    ]
    with pytest.raises(RecursionError):
        run(program, np.int64(100_000))


def test_two_functions_that_call_each_other_are_recursive_and_their_callees_are_not():
    program = factorial()
    text = to_text(program).replace(
        'functions = ["factorial"]', 'functions = ["factorial", "leaf"]'
    )
    leaf = '}, {\n  ^bb0(%z: tensor<i64>):\n    "dy2st.return"(%z) : (tensor<i64>) -> ()\n  }) : () -> ()\n}'
    text = re.sub(r"\}\) : \(\) -> \(\)\n\}", leaf, text)
    program = parse_one(text)
    assert recursive(verify(program)) == {"factorial"}


# -- inlining ---------------------------------------------------------------------------------


def test_inlining_gives_the_same_with_sizes_of_its_own():
    program = program_of(kept, ROWS, ROWS)
    without = verify(inlined(program))
    assert not without.functions and [*program.functions] == ["kept"]
    assert "call" not in [one.name for one in without.walk()]
    for left, right in zip(run(program, X, -X), run(without, X, -X), strict=True):
        np.testing.assert_array_equal(left, right, strict=True)


def test_sizes_of_a_call_decide_what_is_a_number_then():
    def record(x, y):
        operands = function("size", lambda v: [v * F.assign(v.shape[0])], [x])
        return [*call("size", operands), *call("size", [y])]

    program = verify(inlined(program_of(record, ("int64", ("n",)), ("int64", (5,)))))
    names = [one.name for one in program.operators]
    assert names.count("from_dim") == 1 and names.count("constant") == 1
    assert run(program, np.array([1, 2]), np.arange(5))[1].tolist() == [0, 5, 10, 15, 20]


def test_programs_grow_with_their_source_and_are_not_written_out_without_end():
    program = program_of(powers(40), ("float32", (2,)))
    assert sum(1 for _ in program.walk()) == 81
    with pytest.raises(LimitExceeded, match=f"more than {MOST}"):
        inlined(program)
    short = program_of(powers(6), ("float32", (2,)))
    assert run(inlined(short), np.float32([1, 2]))[0].tolist() == [2.0**32, 2.0**33]
    assert run(short, np.float32([1, 2]))[0].tolist() == [2.0**32, 2.0**33]


def test_a_layer_of_the_call_goes_before_that_of_the_function():
    program = program_of(
        lambda x: call("f", function("f", lambda v: [v * 2], [x])), ("float32", (2,))
    )
    (called,) = program.operators
    called.location = type(called.location)("net.py", 3, layer="blocks.1")
    for one, path in zip(program.functions["f"].operators, ("", "norm"), strict=True):
        one.location = type(called.location)("net.py", 9, layer=path)
    assert [one.layer for one in inlined(program).operators] == ["blocks.1", "blocks.1.norm"]


# -- the text ---------------------------------------------------------------------------------


def test_the_text_is_read_back_in_the_order_of_definition():
    program = program_of(powers(3), ("float32", (2,)))
    text = to_text(program)
    assert 'functions = ["f0", "f1", "f2"]' in text and "format = 5" in text
    again = verify(parse_one(text))
    assert to_text(again) == text and [*again.functions] == ["f0", "f1", "f2"]
    assert difference(program, again) == ""
    assert to_text(clone(program)) == text


def test_a_text_with_a_function_too_few_is_refused():
    text = to_text(program_of(powers(2), ("float32", (2,))))
    with pytest.raises(ParseError, match="expected `,`"):
        parse_one(text.replace('["f0", "f1"]', '["f0", "f1", "f2"]'))
    with pytest.raises(ParseError, match="two functions have one name"):
        parse_one(text.replace('["f0", "f1"]', '["f0", "f0"]'))


# -- the verifier -----------------------------------------------------------------------------


def test_the_verifier_finds_calls_that_do_not_fit():
    def broken(change):
        program = program_of(kept, ROWS, ROWS)
        change(program, program.operators[0])
        return [found.text for found in findings(program) if "call" in found.rule]

    def other_operand(program, called):
        called.operands = [program.operators[1].results[1]]

    def other_type(program, called):
        called.results[0].type = TensorType("float64", called.results[0].type.shape)

    assert "there is no function" in broken(lambda p, o: o.attributes.update(function="g"))[0]
    assert "operands do not fit" in broken(lambda p, o: o.operands.clear())[0]
    assert "operands do not fit" in broken(other_operand)[0]
    assert "'kept' gives" in broken(other_type)[0]
    assert "'kept' gives" in broken(lambda p, o: o.results.pop())[0]


def test_the_verifier_wants_functions_closed():
    program = program_of(kept, ROWS, ROWS)
    body = program.functions["kept"]
    body.yields = [program.inputs[0], body.yields[1]]
    assert "is not made in this Block" in findings(program)[0].text
    program = program_of(kept, ROWS, ROWS)
    program.functions["kept"].parent = program.block
    assert "in another Block" in findings(program)[0].text


def test_the_size_of_the_same_name_around_a_call_is_another_one():
    def record(x, y):
        operands = function("sum", lambda v, w: [v + w], [x, x])
        return call("sum", [operands[0], y])

    program = program_of(record, ROWS, ROWS)
    operands = program.operators[0].operands
    operands[1] = program.inputs[1]
    verify(program)
    program.inputs[1].type = TensorType("float32", (symbol("m"), 2))
    assert any("operands do not fit" in one.text for one in findings(program))


# -- what else works on Programs --------------------------------------------------------------


def test_dead_functions_go_and_dead_operators_in_functions():
    def record(x):
        def body(v):
            F.exp(v)
            return [v * 2]

        operands = function("used", body, [x])
        function("unused", body, [x])
        call("used", operands)
        return call("used", operands)

    program = program_of(record, ("float32", (2,)))
    drop_dead(program)
    assert [*program.functions] == ["used"] and len(program.operators) == 1
    assert [one.name for one in program.functions["used"].operators] == ["constant", "multiply"]


def test_what_no_call_of_a_function_reads_goes():
    def record(x, y):
        def body(v, w):
            return [v * 2, F.exp(w), F.nonzero(v)]

        operands = function("three", body, [x, y])
        return [call("three", operands)[0], call("three", [y, x])[0]]

    program = program_of(record, ROWS, ROWS)
    before = run(program, X, X + 1)
    drop_dead(program)
    body = verify(program).functions["three"]
    # The places bind a size that somebody may read.
    assert [len(body.parameters), len(body.yields)] == [1, 2]
    assert "exp" not in [one.name for one in body.operators]
    for left, right in zip(before, run(program, X, X + 1), strict=True):
        np.testing.assert_array_equal(left, right)


def test_a_call_that_may_not_end_is_not_dead():
    program = factorial()
    program.block.yields = [program.inputs[0]]
    drop_dead(program)
    assert len(program.operators) == 1


def test_sizes_are_put_into_programs_with_functions():
    program = program_of(kept, ROWS, ROWS)
    made = verify(rebuild(program, {symbol("n"): 3}))
    assert "call" not in [one.name for one in made.walk()]
    for left, right in zip(run(program, X, -X), run(made, X, -X), strict=True):
        np.testing.assert_array_equal(left, right, strict=True)
    verify(rebuild(factorial()))


def test_limits_are_held_in_functions_and_refuse_what_calls_itself():
    program = metered(program_of(kept, ROWS, ROWS))
    assert not program.functions and "spend" in [one.name for one in program.operators]
    with pytest.raises(LimitExceeded, match="functions that call themselves"):
        metered(factorial())


def test_an_error_in_a_function_shows_where_it_is_called():
    program = program_of(
        lambda x, i: call("pick", function("pick", lambda v, k: [v[k]], [x, i])),
        ("float32", (3,)),
        ("int64", ()),
    )
    called, inner = program.operators[0], program.functions["pick"].operators[0]
    called.location, inner.location = (type(called.location)("net.py", n) for n in (3, 9))
    for compute in (engine.compile(program, "numpy").run, None):
        with pytest.raises(IndexError) as caught:
            if compute is None:
                arrays = np.zeros(3, "float32"), np.int64(7)
                interpret(program, [EagerTensor(np.asarray(one)) for one in arrays], {})
            else:
                compute([np.zeros(3, "float32"), np.array(7)], [])
        lines = [
            (e.filename, e.lineno, e.name) for e in traceback.extract_tb(caught.value.__traceback__)
        ]
        places = [one for one in lines if one[0] == "net.py"]
        assert places == [("net.py", 3, "main"), ("net.py", 9, "pick")]


def test_what_a_function_requires_is_held_for_each_call():
    def record(x, y):
        operands = function("half", lambda v: [F.reshape(v, [2, v.shape[0] // 2])], [x])
        return [*call("half", operands), *call("half", [y])]

    program = program_of(record, ("float32", ("n",)), ("float32", ("m",)))
    even, odd = np.zeros(4, "float32"), np.zeros(5, "float32")
    assert [one.shape for one in run(program, even, even)] == [(2, 2), (2, 2)]
    for arrays in ((odd, even), (even, odd)):
        with pytest.raises(ShapeError, match="5"):
            engine.compile(program, "numpy").run(arrays, [])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(effort(40, 400)))
def test_random_programs_with_calls_equal_those_without(seed):
    made = random_program(seed, 15, Calling)
    text = to_text(made.program)
    assert to_text(parse_one(text)) == text
    without = verify(inlined(made.program))
    assert not without.functions
    state = list(made.state.values())
    outcomes = []
    for program in (made.program, without):
        try:
            outcomes.append(engine.compile(program, "numpy").run(made.inputs, state))
        except Exception as error:
            outcomes.append(type(error))
    if isinstance(outcomes[0], type):
        assert outcomes[0] is outcomes[1]
        return
    for left, right in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(left, right)
