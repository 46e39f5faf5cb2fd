"""A global that is assigned by its name and by `globals()` is one variable."""

import types

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec

count = 0


def test_what_is_set_last_is_what_the_variable_holds():
    def f(x):
        global count
        count = 1
        if x.sum() > 3:
            globals()["count"] = 3
        return x + count

    converted = to_static(f, input_spec=[InputSpec([2], "float32", "x")])
    for row, wanted in (([1.0, 1.0], 1), ([2.0, 3.0], 3), ([0.0, 0.0], 1)):
        assert converted(dy2st.to_tensor(row)).tolist() == [one + wanted for one in row]
        assert count == wanted


def test_methods_of_the_dict_see_what_is_assigned_by_name():
    def f(first):
        global count
        count = first
        seen = globals().get("count"), dict(globals())["count"]
        del globals()["count"]
        return seen, "count" in globals(), globals().setdefault("count", 7), count

    assert to_static(f)(2) == f(2) == ((2, 2), False, 7, 7)


def test_a_module_that_has_run_no_code_keeps_its_names_too():
    module = types.ModuleType("module")

    def f(x):
        vars(module)["held"] = x + 1
        return module.held, vars(module)["held"]

    assert to_static(f)(1) == (2, 2)
    assert module.held == 2
    assert to_static(f)(2) == (3, 3)
