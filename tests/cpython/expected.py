"""What is lost when each test method runs by a trace, one by one, and why."""

from __future__ import annotations

from tests.cpython.modules import LANGUAGE, STDLIB

# The reason -> test module -> the tests, `Class.method`.
_LOST: dict[str, dict[str, str]] = {
    "it pickles an iterator, asks for its class, its length or its state: in a trace a "
    "generator stands for it": {
        "test_builtin": "BuiltinTest.test_filter_pickle",
        "test_collections": "TestOneTrickPonyABCs.test_Generator",
        "test_dict": "DictTest.test_itemiterator_pickling DictTest.test_iterator_pickling "
        "DictTest.test_valuesiterator_pickling",
        "test_enumerate": "TestReversed.test_len",
        "test_generators": "YieldFromTests.test_generator_gi_yieldfrom",
        "test_iter": "TestCase.test_iter_dict",
        "test_operator": "PyOperatorTestCase.test_length_hint",
    },
    "it waits for objects to go, which the trace holds until it ends": {
        "test_contextlib": "ContextManagerTestCase.test_nokeepref",
        "test_dict": "DictTest.test_container_iterator "
        "DictTest.test_oob_indexing_dictiter_iternextitem",
        "test_exceptions": "ExceptionTests.testExceptionCleanupState "
        "ExceptionTests.test_unraisable",
        "test_functools": "TestLRUC.test_lru_cache_weakrefable "
        "TestLRUPy.test_lru_cache_weakrefable",
        "test_iter": "TestCase.test_ref_counting_behavior",
        "test_raise": "TestContext.test_3611",
        "test_scope": "ScopeTests.testLeaks",
        "test_userlist": "UserListTest.test_free_after_iterating",
    },
    "it looks at frames or code objects, and those of the trace stand between": {
        "test_except_star": "TestExceptStarExceptionGroupSubclass.test_except_star_EG_subclass",
        "test_exceptions": "ExceptionTests.testSettingException "
        "PEP626Tests.test_lineno_after_other_except PEP626Tests.test_lineno_after_raise_in_except "
        "PEP626Tests.test_lineno_after_with PEP626Tests.test_lineno_in_finally_except "
        "PEP626Tests.test_lineno_in_finally_normal PEP626Tests.test_lineno_in_named_except "
        "PEP626Tests.test_lineno_in_try PEP626Tests.test_missing_lineno_shows_as_none",
        "test_generators": "GeneratorTest.test_name",
        "test_raise": "TestTracebackType.test_attrs",
    },
    "it looks at sys.exc_info() in a generator that is asked in a handler": {
        "test_generators": "ExceptionTest.test_except_gen_except ExceptionTest.test_except_throw "
        "ExceptionTest.test_except_throw_bad_exception "
        "ExceptionTest.test_except_throw_exception_context",
    },
    "it changes a list or dict while Python compares it or goes through it": {
        "test_dict": "DictTest.test_equal_operator_modifying_operand",
        "test_list": "ListTest.test_equal_operator_modifying_operand",
    },
    "it counts on Python's limit of recursion, which is higher in a trace": {
        "test_dict": "DictTest.test_repr_deep",
        "test_dictviews": "DictSetTest.test_deeply_nested_repr",
        "test_exceptions": "ExceptionTests.test_recursion_in_except_handler",
        "test_list": "ListTest.test_repr_deep",
        "test_richcmp": "MiscTest.test_recursion",
        "test_userdict": "UserDictTest.test_repr_deep",
        "test_userlist": "UserListTest.test_repr_deep",
    },
    "it counts how often Python asks for a hash": {
        "test_dict": "DictTest.test_setdefault_atomic DictTest.test_setitem_atomic_at_resize",
    },
    "it asks how much memory a dict takes": {
        "test_dict": "DictTest.test_splittable_popitem",
    },
    "it asks an iterator or generator while that asks it": {
        "test_yield_from": "TestPEP380Operation.test_attempted_yield_from_loop",
    },
    "it delegates to an object of its own that takes send() or fails when it is asked for it": {
        "test_yield_from": "TestPEP380Operation.test_broken_getattr_handling "
        "TestPEP380Operation.test_send_tuple_with_custom_generator",
    },
    "the test case keeps an object that a Program cannot make anew": {
        "test_builtin": "TestBreakpoint.test_breakpoint_with_args_and_keywords "
        "TestBreakpoint.test_breakpoint_with_breakpointhook_set "
        "TestBreakpoint.test_breakpoint_with_passthru_error "
        "TestBreakpoint.test_envar_ignored_when_hook_is_set "
        "TestBreakpoint.test_envar_unimportable",
        "test_global": "GlobalTests.test1 GlobalTests.test2 GlobalTests.test3 GlobalTests.test4",
    },
    "it names the debugger by a variable, which the trace stops at in its own way": {
        "test_builtin": "TestBreakpoint.test_envar_good_path_builtin "
        "TestBreakpoint.test_envar_good_path_empty_string "
        "TestBreakpoint.test_envar_good_path_noop_0 "
        "TestBreakpoint.test_envar_good_path_other",
    },
}


_SUITES = {"stdlib": STDLIB, "language": LANGUAGE}


def _flat() -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for reason, modules in _LOST.items():
        for module, names in modules.items():
            suites = [one for one, known in _SUITES.items() if module in known]
            for name in names.split():
                found.update({(suite, f"test.{module}.{name}"): reason for suite in suites})
    return found


# (suite, test): the reason.
LOST: dict[tuple[str, str], str] = _flat()

_MEASURED = {
    "stdlib": "abc bisect colorsys contextlib copy dataclasses defaultdict enum fractions functools "
    "operator reprlib stat string textwrap userdict userlist "
    "copyreg fnmatch graphlib hmac html netrc shlex",
    "language": "augassign baseexception binop bool builtin class compare contains decorators dict "
    "dictcomps dictviews dynamicclassattribute enumerate except_star exception_hierarchy "
    "exceptions format fstring funcattrs generator_stop generators genericclass "
    "global grammar hash index int isinstance iter keywordonlyarg list "
    "named_expressions opcodes patma positional_only_arg print property raise "
    "richcmp scope string_literals subclassinit super tuple type_annotations typechecks "
    "types unary unpack with yield_from",
}
# What is measured so. Modules that are doctests alone run none of their code by a trace.
MEASURED = tuple(
    (suite, f"test_{name}") for suite, names in _MEASURED.items() for name in names.split()
)
