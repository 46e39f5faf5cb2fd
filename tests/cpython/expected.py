"""What is lost when each test method runs by a trace, one by one, and why."""

from __future__ import annotations

_PICKLED = "it pickles an iterator, or sets its state: in a trace a generator stands for it"
_HELD = "it waits for objects to go, which the trace holds until it ends"
_FRAMES = "it looks at frames or code objects, and those of the trace stand between"
_THROWN = "it looks at sys.exc_info() in a generator that is asked in a handler"
_COMPARED = "it changes a list while Python compares it"
_DEEP = "it is deeper than the recursion limit, which the look at arguments meets first"
_CLASS = "it deletes a method of its class while that runs"
_REENTRANT = "it asks an iterator while that asks it"

# (suite, test): the reason.
LOST: dict[tuple[str, str], str] = {
    ("language", "test.test_list.ListTest.test_iterator_pickle"): _PICKLED,
    ("language", "test.test_list.ListTest.test_reversed_pickle"): _PICKLED,
    ("language", "test.test_iter.TestCase.test_iter_callable"): _PICKLED,
    ("language", "test.test_iter.TestCase.test_iter_empty"): _PICKLED,
    ("language", "test.test_iter.TestCase.test_iter_neg_setstate"): _PICKLED,
    ("language", "test.test_iter.TestCase.test_iter_overflow"): _PICKLED,
    ("language", "test.test_iter.TestCase.test_mutating_seq_class_iter_pickle"): _PICKLED,
    ("language", "test.test_iter.TestCase.test_seq_class_for"): _PICKLED,
    ("language", "test.test_iter.TestCase.test_seq_class_iter"): _PICKLED,
    ("language", "test.test_generators.FinalizationTest.test_frame_resurrect"): _HELD,
    ("language", "test.test_generators.FinalizationTest.test_refcycle"): _HELD,
    ("language", "test.test_iter.TestCase.test_ref_counting_behavior"): _HELD,
    ("language", "test.test_scope.ScopeTests.testLeaks"): _HELD,
    ("language", "test.test_generators.GeneratorStackTraceTest.test_send_with_yield_from"): _FRAMES,
    (
        "language",
        "test.test_generators.GeneratorStackTraceTest.test_throw_with_yield_from",
    ): _FRAMES,
    ("language", "test.test_generators.GeneratorTest.test_name"): _FRAMES,
    ("language", "test.test_generators.ExceptionTest.test_except_gen_except"): _THROWN,
    ("language", "test.test_generators.ExceptionTest.test_except_throw"): _THROWN,
    ("language", "test.test_generators.ExceptionTest.test_except_throw_bad_exception"): _THROWN,
    ("language", "test.test_generators.ExceptionTest.test_except_throw_exception_context"): _THROWN,
    ("language", "test.test_list.ListTest.test_equal_operator_modifying_operand"): _COMPARED,
    ("language", "test.test_list.ListTest.test_repr_deep"): _DEEP,
    ("language", "test.test_iter.TestCase.test_3720"): _CLASS,
    (
        "language",
        "test.test_iter.TestCase.test_iter_function_concealing_reentrant_exhaustion",
    ): _REENTRANT,
}

# What is measured so; `test_grammar` ends at its KeyboardInterrupt, which no handler gets in a trace.
MEASURED = (
    *(("stdlib", name) for name in ("test_string", "test_textwrap")),
    *(("language", name) for name in ("test_bool", "test_generators", "test_iter")),
    *(("language", name) for name in ("test_list", "test_scope")),
)
