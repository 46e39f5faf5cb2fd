"""Names: globals, closure cells, default arguments, names of classes and modules, builtins."""

from __future__ import annotations

import builtins
import importlib
import math
import sys
import types

import dy2st
from tests.dy2st.jit.outside.scenario import Box, change, opaque

LEVEL = 2.0
OTHER = 3.0
CONFIG = {"scale": 2.0}


def factor():
    return 2.0


def uses_level():
    return LEVEL


class Held:
    level = 2.0


@change
def a_global_number():
    globals()["LEVEL"] = 2.0

    def turn():
        global LEVEL
        LEVEL = 9.0

    return lambda x: x * LEVEL, turn


@change
def a_global_of_another_type():
    globals()["LEVEL"] = 2

    def turn():
        global LEVEL
        LEVEL = 2.0

    return lambda x: x * (3 if isinstance(LEVEL, float) else 4), turn


@change
def a_global_that_a_helper_reads():
    globals()["LEVEL"] = 2.0
    return lambda x: x * uses_level(), lambda: globals().update(LEVEL=9.0)


@change
def a_global_by_globals():
    globals()["LEVEL"] = 2.0
    return lambda x: x * globals()["LEV" + "EL"], lambda: globals().update(LEVEL=9.0)


@change
def a_global_dict():
    CONFIG["scale"] = 2.0
    return lambda x: x * CONFIG["scale"], lambda: CONFIG.update(scale=9.0)


@change
def a_global_dict_replaced():
    globals()["CONFIG"] = {"scale": 2.0}
    return lambda x: x * CONFIG["scale"], lambda: globals().update(CONFIG={"scale": 9.0})


@change
def a_global_function_replaced():
    kept = factor
    yield lambda x: x * factor(), lambda: globals().update(factor=lambda: 9.0)
    globals()["factor"] = kept


@change
def a_global_deleted():
    globals()["OTHER"] = 3.0
    yield lambda x: x * OTHER, lambda: globals().pop("OTHER")
    globals()["OTHER"] = 3.0


@change
def a_global_that_comes_to_be():
    globals().pop("LATE", None)

    def f(x):
        try:
            return x * LATE  # noqa: F821
        except NameError:
            return x

    yield f, lambda: globals().update(LATE=9.0)
    globals().pop("LATE", None)


@change
def a_builtin_shadowed():
    yield lambda x: x * max(2, 3), lambda: globals().update(max=min)
    globals().pop("max", None)


@change
def a_name_put_into_builtins():
    builtins.outside_level = 2.0

    def f(x):
        return x * outside_level  # noqa: F821

    yield f, lambda: setattr(builtins, "outside_level", 9.0)
    del builtins.outside_level


@change
def a_closure_number():
    level = 2.0

    def turn():
        nonlocal level
        level = 9.0

    return lambda x: x * level, turn


@change
def a_closure_of_a_closure():
    level = 2.0

    def inner():
        def innermost():
            return level

        return innermost()

    def turn():
        nonlocal level
        level = 9.0

    return lambda x: x * inner(), turn


@change
def a_cell_set_from_outside():
    level = 2.0

    def f(x):
        return x * level

    return f, lambda: setattr(f.__closure__[0], "cell_contents", 9.0)


@change
def a_cell_that_is_emptied():
    level = 2.0

    def turn():
        nonlocal level
        del level

    return lambda x: x * level, turn


@change
def a_function_of_a_closure_replaced():
    def scale(x):
        return x * 2

    def turn():
        nonlocal scale
        scale = abs

    return lambda x: scale(x), turn, dy2st.to_tensor([-1.0, 4.0])


@change
def a_list_of_a_closure():
    levels = [2.0]
    return lambda x: x * levels[0], lambda: levels.__setitem__(0, 9.0)


@change
def a_mutable_default():
    def f(x, levels=[2.0]):
        return x * levels[0]

    return f, lambda: f.__defaults__[0].__setitem__(0, 9.0)


@change
def the_defaults_of_a_helper():
    def helper(x, by=2.0):
        return x * by

    return lambda x: helper(x), lambda: setattr(helper, "__defaults__", (9.0,))


@change
def the_keyword_defaults_of_a_helper():
    def helper(x, *, by=2.0):
        return x * by

    return lambda x: helper(x), lambda: helper.__kwdefaults__.__setitem__("by", 9.0)


@change
def the_defaults_of_the_function_itself():
    def f(x, by=2.0):
        return x * by

    return f, lambda: setattr(f, "__defaults__", (9.0,))


@change
def the_code_of_a_helper():
    def helper(x):
        return x * 2

    def other(x):
        return x * 9

    return lambda x: helper(x), lambda: setattr(helper, "__code__", other.__code__)


@change
def an_attribute_of_a_function():
    def helper(x):
        return x * helper.by

    helper.by = 2.0

    return lambda x: helper(x), lambda: setattr(helper, "by", 9.0)


@change
def an_attribute_of_a_module():
    module = types.ModuleType("outside_state")
    module.level = 2.0
    return lambda x: x * module.level, lambda: setattr(module, "level", 9.0)


@change
def an_import_inside():
    module = types.ModuleType("outside_state")
    module.level = 2.0
    sys.modules["outside_state"] = module

    def f(x):
        import outside_state

        return x * outside_state.level

    yield f, lambda: setattr(module, "level", 9.0)
    del sys.modules["outside_state"]


@change
def a_name_imported_inside():
    module = types.ModuleType("outside_state")
    module.level = 2.0
    sys.modules["outside_state"] = module

    def f(x):
        from outside_state import level

        return x * level

    yield f, lambda: setattr(module, "level", 9.0)
    del sys.modules["outside_state"]


@change
def a_module_replaced_in_sys_modules():
    sys.modules["outside_state"] = Box(level=2.0)

    def f(x):
        import outside_state

        return x * outside_state.level

    yield f, lambda: sys.modules.update(outside_state=Box(level=9.0))
    del sys.modules["outside_state"]


@change
def import_module_by_name():
    sys.modules["outside_state"] = Box(level=2.0)

    def f(x):
        return x * importlib.import_module("outside_" + "state").level

    yield f, lambda: setattr(sys.modules["outside_state"], "level", 9.0)
    del sys.modules["outside_state"]


@change
def a_module_attribute_by_getattr():
    module = types.ModuleType("outside_state")
    module.__getattr__ = lambda name: {"level": 2.0}[name]
    return lambda x: x * module.level, lambda: setattr(module, "__getattr__", lambda name: 9.0)


@change
def a_constant_of_the_library_patched():
    kept = math.pi
    yield lambda x: x * math.pi, lambda: setattr(math, "pi", 3.0)
    math.pi = kept


@change
def a_function_of_the_library_patched():
    kept = math.sqrt
    yield lambda x: x * math.sqrt(4), lambda: setattr(math, "sqrt", lambda v: v)
    math.sqrt = kept


@change
def an_attribute_of_a_global_class():
    Held.level = 2.0
    return lambda x: x * Held.level, lambda: setattr(Held, "level", 9.0)


@change
def a_global_class_replaced():
    kept = Held
    Held.level = 2.0
    yield lambda x: x * Held.level, lambda: globals().update(Held=Box(level=9.0))
    globals()["Held"] = kept


@change
def a_class_made_of_a_global_base():
    Held.level = 2.0

    class Derived(Held):
        pass

    return lambda x: x * Derived().level, lambda: setattr(Held, "level", 9.0)


@change
def what_a_lambda_captures():
    level = 2.0
    scale = lambda x: x * level  # noqa: E731

    def turn():
        nonlocal level
        level = 9.0

    return lambda x: scale(x), turn


@change
def what_exec_defines():
    scope = {"level": 2.0}
    exec("def level_of():\n    return level", scope)
    return lambda x: x * scope["level_of"](), lambda: scope.update(level=9.0)


@opaque
def what_eval_reads():
    scope = {"level": 2.0}
    return lambda x: x * eval("level", scope), lambda: scope.update(level=9.0)
