"""Every public name says what it means, and shows it by an example that the doctests run."""

from __future__ import annotations

import inspect
import re
from functools import cache
from types import ModuleType

import dy2st
import dy2st_runtime

EAGER = type(dy2st.to_tensor(0))  # the tensors that users hold are of a class without a public name
OURS = ("dy2st.", "dy2st_runtime.")
ROOTS = (dy2st, dy2st_runtime)


def is_ours(value):
    return f"{getattr(value, '__module__', '')}.".startswith(OURS)


def public_names(module):
    """What a module says that it has."""
    return [name for name in dir(module) if not name.startswith("_")]


def public_modules():
    """The packages, and the modules that are public names of a public module, near ones first."""
    found, new = {}, list(ROOTS)
    while new:
        module = new.pop(0)
        if module.__name__ not in found and f"{module.__name__}.".startswith(OURS):
            found[module.__name__] = module
            values = [getattr(module, name) for name in public_names(module)]
            new += [value for value in values if isinstance(value, ModuleType)]
    return found


def own_methods(kind):
    """The public methods and properties of a class which none of its bases has, under one name."""
    bases = {name for base in kind.__mro__[1:] for name in vars(base)}
    if issubclass(kind, dy2st.Tensor) and kind is not EAGER:
        bases |= {*vars(EAGER)}  # a traced tensor has the methods of one with data
    for name in sorted(vars(kind)):
        value = getattr(kind, name)
        kinds = (property, classmethod, staticmethod)
        is_method = inspect.isroutine(value) or isinstance(vars(kind)[name], kinds)
        if is_method and not name.startswith("_") and name not in bases:
            yield name, value


def has_example(doc):
    return ">>> " in (doc or "")


def shows(doc, name):
    """Whether the example of a class calls or reads the method."""
    lines = re.findall(r"^ *(?:>>>|\.\.\.) (.*)", doc or "", re.MULTILINE)
    return any(re.search(rf"\.{name}\b", line) for line in lines)


def family(value):
    """The package that has the code: `dy2st_runtime.ops`, `dy2st.paddle.vision`."""
    parts = value.__module__.split(".")
    return ".".join(parts[: 3 if parts[:2] == ["dy2st", "paddle"] else 2])


@cache
def described():
    """What is public: the full names of each family, and whether there is an example."""
    values = {}
    for where, module in public_modules().items():
        for name in public_names(module):
            value = getattr(module, name)
            if is_ours(value) and (inspect.isfunction(value) or inspect.isclass(value)):
                values.setdefault(value, f"{where}.{name}")
    values[EAGER] = "dy2st.EagerTensor"
    found = {}
    for value, name in values.items():
        names = found.setdefault(family(value), {})
        names[name] = has_example(value.__doc__)
        for method, member in own_methods(value) if inspect.isclass(value) else ():
            if not (inspect.isfunction(member) and member in values):
                has = has_example(member.__doc__) or shows(value.__doc__, method)
                names[f"{name}.{method}"] = has
    return found


def test_every_public_name_has_an_example():
    missing = [name for names in described().values() for name, has in names.items() if not has]
    assert not missing, "write one: an example of a result that a reader can check in his head"


def test_what_is_public_is_met():
    names = described()
    assert {"dy2st.abs", "dy2st.abs_", "dy2st.condition_number"} <= {*names["dy2st_runtime.ops"]}
    assert {"dy2st.Tensor.T", "dy2st.Tensor.stride"} <= {*names["dy2st_runtime.ir"]}
    assert {"dy2st.EagerTensor.numpy"} <= {*names["dy2st_runtime.eager_tensor"]}
    assert sum(map(len, names.values())) > 1500


def test_every_public_module_says_what_it_is_for():
    assert all(inspect.getdoc(module) for module in public_modules().values())
