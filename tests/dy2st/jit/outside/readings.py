"""Ways in which code reads an attribute of an object."""

# ruff: noqa: UP030, UP031, UP032
from __future__ import annotations

import copy
import functools
import inspect
import math
import operator
import string

from tests.dy2st.jit.outside.scenario import Box, change

NAMES = ["scale", "shift"]


def attribute(reads):
    """Register a scenario of an object whose attribute `scale` goes from 2 to 9."""

    @functools.wraps(reads)
    def make():
        held = Box(scale=2.0, shift=1.0, inner=Box(scale=2.0))

        def turn():
            held.scale = held.inner.scale = 9.0

        return reads(held), turn

    return change(make)


@attribute
def getattr_by_a_computed_name(held):
    return lambda x: x * getattr(held, "sca" + NAMES[0][3:])


@attribute
def getattr_in_a_loop_over_a_list(held):
    def f(x):
        for name in NAMES:
            x = x * getattr(held, name)
        return x

    return f


@attribute
def getattr_in_a_loop_over_a_tuple(held):
    def f(x):
        for name in ("shift", "scale"):
            x = x + getattr(held, name)
        return x

    return f


@attribute
def getattr_in_map(held):
    return lambda x: x * sum(map(lambda name: getattr(held, name), NAMES))


@attribute
def getattr_in_map_as_a_partial(held):
    return lambda x: x * sum(map(functools.partial(getattr, held), NAMES))


@attribute
def object_getattribute(held):
    return lambda x: x * object.__getattribute__(held, "scale")


@attribute
def attrgetter(held):
    return lambda x: x * operator.attrgetter("scale")(held)


@attribute
def attrgetter_of_a_path(held):
    return lambda x: x * operator.attrgetter("inner.scale")(held)


@attribute
def attrgetter_made_before(held):
    read = operator.attrgetter("scale", "shift")
    return lambda x: x * read(held)[0]


@attribute
def attrgetter_as_a_key(held):
    others = [held, Box(scale=5.0)]
    return lambda x: x * max(others, key=operator.attrgetter("scale")).scale


@attribute
def vars_of_an_object(held):
    return lambda x: x * vars(held)["sca" + "le"]


@attribute
def the_values_of_its_dict(held):
    return lambda x: x * sum(v for v in held.__dict__.values() if isinstance(v, float))


@attribute
def the_items_of_its_dict(held):
    def f(x):
        for name, value in held.__dict__.items():
            if name == "scale":
                x = x * value
        return x

    return f


@attribute
def an_f_string(held):
    return lambda x: x * float(f"{held.scale:.2f}")


@attribute
def str_format_with_a_field(held):
    return lambda x: x * float("{0.scale}".format(held))


@attribute
def str_format_with_a_path_by_name(held):
    return lambda x: x * float("{held.inner.scale:.1f}".format(held=held))


@attribute
def str_format_map(held):
    return lambda x: x * float("{scale}".format_map(vars(held)))


@attribute
def a_string_formatter(held):
    return lambda x: x * float(string.Formatter().format("{0.scale}", held))


@attribute
def percent(held):
    return lambda x: x * float("%.1f" % held.scale)


@attribute
def percent_of_a_dict(held):
    return lambda x: x * float("%(scale)s" % held.__dict__)


@attribute
def a_template(held):
    return lambda x: x * float(string.Template("$scale").substitute(vars(held)))


@attribute
def a_comparison(held):
    return lambda x: x * 2 if held.scale > 5 else x * 3


@attribute
def a_chained_comparison(held):
    return lambda x: x * 2 if 0 < held.scale < 5 else x * 3


@attribute
def a_walrus(held):
    return lambda x: x * scale if (scale := held.scale) else x


@attribute
def a_conditional_expression_inside(held):
    return lambda x: x * (held.scale if x.ndim == 1 else 1)


@attribute
def an_argument(held):
    def by(x, scale):
        return x * scale

    return lambda x: by(x, held.scale)


@attribute
def arguments_by_stars(held):
    def by(x, inner, scale, shift):
        return x * scale + shift

    return lambda x: by(x, **vars(held))


@attribute
def arguments_of_a_dict_made_there(held):
    def by(x, scale, shift):
        return x * scale + shift

    return lambda x: by(x, **{name: getattr(held, name) for name in NAMES})


@attribute
def a_match_of_a_class(held):
    def f(x):
        match held:
            case Box(scale=2.0):
                return x * 2
            case Box(scale=scale):
                return x * scale

    return f


@attribute
def a_match_of_a_value(held):
    def f(x):
        match held.scale:
            case 2.0:
                return x
            case other:
                return x * other

    return f


@attribute
def copy_of_an_object(held):
    return lambda x: x * copy.copy(held).scale


@attribute
def deepcopy_of_an_object(held):
    return lambda x: x * copy.deepcopy(held).inner.scale


@attribute
def hasattr_of_what_is_there(held):
    return lambda x: x * (held.scale if hasattr(held, "scale") else 3)


@change
def hasattr_of_what_comes():
    held = Box()

    def f(x):
        return x * (2 if hasattr(held, "mis" + "sing") else 3)

    return f, lambda: setattr(held, "missing", 9.0)


@change
def getattr_with_a_default():
    held = Box()
    return lambda x: x * getattr(held, "missing", 3.0), lambda: setattr(held, "missing", 9.0)


@change
def an_attribute_error_caught():
    held = Box()

    def f(x):
        try:
            return x * held.missing
        except AttributeError:
            return x

    return f, lambda: setattr(held, "missing", 9.0)


@change
def dir_of_an_object():
    held = Box()

    def f(x):
        return x * len([name for name in dir(held) if name[0] != "_"] + [1])

    return f, lambda: setattr(held, "new", 9.0)


@change
def getmembers_of_an_object():
    held = Box(a=2.0)

    def f(x):
        return x * sum(v for k, v in inspect.getmembers(held) if k in "abc")

    return f, lambda: setattr(held, "b", 9.0)


@change
def identity_with_none():
    held = Box(scale=None)

    def f(x):
        return x if held.scale is None else x * held.scale

    return f, lambda: setattr(held, "scale", 9.0)


@change
def identity_of_two_objects():
    held = Box(one=Box(), two=Box())

    def f(x):
        return x * 2 if held.one is held.two else x * 3

    return f, lambda: setattr(held, "two", held.one)


@change
def truth_of_an_attribute():
    held = Box(on=0)
    return lambda x: x * 2 if held.on else x * 3, lambda: setattr(held, "on", 1)


@change
def not_and_or():
    held = Box(on=False, name="")

    def f(x):
        name = held.name or "a"
        return x * len(name) if not held.on and name else x

    return f, lambda: setattr(held, "name", "abc")


@change
def the_type_of_a_value():
    held = Box(scale=2)
    return lambda x: x * (3 if type(held.scale) is int else 4), lambda: setattr(held, "scale", 2.0)


@change
def a_bool_in_place_of_a_number():
    held = Box(scale=1)
    return lambda x: x * (3 if held.scale is True else 4), lambda: setattr(held, "scale", True)


@change
def the_sign_of_zero():
    held = Box(scale=0.0)
    return lambda x: x * math.copysign(1, held.scale), lambda: setattr(held, "scale", -0.0)


@change
def methodcaller():
    class Local:
        scale = 2.0

        def factor(self, by):
            return self.scale * by

    held = Local()

    def f(x):
        return x * operator.methodcaller("factor", 3)(held)

    return f, lambda: setattr(held, "scale", 9.0)


@change
def getattr_of_a_method():
    class Local:
        def factor(self):
            return 2.0

    held = Local()

    def f(x):
        return x * getattr(held, "fac" + "tor")()

    return f, lambda: setattr(held, "factor", lambda: 9.0)
