"""Functions that are held: partials, bound methods, caches, decorators, generators."""

from __future__ import annotations

import contextlib
import functools
import types

from tests.dy2st.jit.outside.scenario import Box, change, opaque


def times(x, by=2.0):
    return x * by


@change
def the_keywords_of_a_partial():
    held = functools.partial(times, by=2.0)
    return lambda x: held(x), lambda: held.keywords.__setitem__("by", 9.0)


@change
def a_partial_replaced():
    held = Box(scale=functools.partial(times, by=2.0))
    return lambda x: held.scale(x), lambda: setattr(held, "scale", functools.partial(times, by=9.0))


@change
def a_list_given_to_a_partial():
    levels = [2.0]
    held = functools.partial(lambda levels, x: x * levels[0], levels)
    return lambda x: held(x), lambda: levels.__setitem__(0, 9.0)


@change
def the_state_of_a_partial():
    held = functools.partial(times, by=2.0)
    return lambda x: held(x), lambda: held.__setstate__((times, (), {"by": 9.0}, {}))


@change
def an_attribute_of_a_partial():
    held = functools.partial(times)
    held.by = 2.0
    return lambda x: held(x, held.by), lambda: setattr(held, "by", 9.0)


@change
def a_partial_method():
    class Local:
        by = 2.0

        def scale(self, sign, x):
            return x * self.by * sign

        minus = functools.partialmethod(scale, -1)

    held = Local()

    return lambda x: held.minus(x), lambda: setattr(held, "by", 9.0)


@change
def a_bound_method_held():
    class Local:
        by = 2.0

        def scale(self, x):
            return x * self.by

    owner = Local()
    held = owner.scale

    return lambda x: held(x), lambda: setattr(owner, "by", 9.0)


@change
def a_bound_method_of_c_held():
    numbers = {"a": 2.0}
    held = numbers.get
    return lambda x: x * held("a"), lambda: numbers.update(a=9.0)


@change
def a_method_made_by_hand():
    owner = Box(by=2.0)
    held = types.MethodType(lambda self, x: x * self.by, owner)
    return lambda x: held(x), lambda: setattr(owner, "by", 9.0)


@change
def what_a_cache_has_kept():
    @functools.lru_cache
    def config():
        return {"scale": 2.0}

    return lambda x: x * config()["scale"], lambda: config().update(scale=9.0)


@change
def a_cache_cleared():
    level = Box(now=2.0)

    @functools.cache
    def scale(name):
        return level.now

    def turn():
        level.now = 9.0
        scale.cache_clear()

    return lambda x: x * scale("a"), turn


@change
def a_cached_method():
    class Local:
        by = 2.0

        @functools.cache  # noqa: B019
        def scale(self):
            return [self.by]

    held = Local()

    return lambda x: x * held.scale()[0], lambda: held.scale().__setitem__(0, 9.0)


@change
def the_size_of_a_cache():
    @functools.lru_cache
    def config(name):
        return len(name)

    return lambda x: x * (config.cache_info().currsize + 1), lambda: config("a")


@opaque
def a_function_that_is_registered_later():
    @functools.singledispatch
    def scale(value):
        return 2.0

    return lambda x: x * scale("a"), lambda: scale.register(str, lambda value: 9.0)


@change
def what_a_decorator_closes_over():
    levels = {"by": 2.0}

    def scaled(function):
        @functools.wraps(function)
        def wrapper(x):
            return function(x) * levels["by"]

        return wrapper

    @scaled
    def helper(x):
        return x + 1

    return lambda x: helper(x), lambda: levels.update(by=9.0)


@change
def a_generator_function():
    levels = [2.0, 3.0]

    def numbers():
        for level in levels:
            yield level * 2

    def f(x):
        for number in numbers():
            x = x + number
        return x

    return f, lambda: levels.append(9.0)


@change
def a_context_manager_of_a_generator():
    levels = [2.0]

    @contextlib.contextmanager
    def scaled():
        yield levels[0]

    def f(x):
        with scaled() as by:
            return x * by

    return f, lambda: levels.__setitem__(0, 9.0)


@change
def a_recursive_function():
    tree = {"value": 2.0, "children": [{"value": 3.0, "children": []}]}

    def total(node):
        return node["value"] + sum(total(child) for child in node["children"])

    def f(x):
        return x * total(tree)

    return f, lambda: tree["children"][0]["children"].append({"value": 4.0, "children": []})


@change
def a_callback_that_is_set():
    held = Box(callback=None)

    def f(x):
        return x if held.callback is None else held.callback(x)

    return f, lambda: setattr(held, "callback", lambda x: x * 9)


@change
def a_list_of_callbacks():
    held = [lambda x: x * 2]

    def f(x):
        for callback in held:
            x = callback(x)
        return x

    return f, lambda: held.append(lambda x: x + 9)


@change
def a_strategy_object_replaced():
    class Two:
        def __call__(self, x):
            return x * 2

    class Nine:
        def __call__(self, x):
            return x * 9

    held = Box(strategy=Two())

    return lambda x: held.strategy(x), lambda: setattr(held, "strategy", Nine())


@change
def a_function_reached_by_its_attribute():
    def helper(x):
        return x * 2

    helper.inner = lambda x: x * 3

    return lambda x: helper.inner(x), lambda: setattr(helper, "inner", lambda x: x * 9)


@change
def annotations_of_a_function():
    def helper(x: float):
        return x

    def f(x):
        return x * len(helper.__annotations__)

    return f, lambda: helper.__annotations__.update(y="int", z="int")


@change
def the_doc_of_a_function():
    def helper(x):
        """Two."""

    return lambda x: x * len(helper.__doc__), lambda: setattr(helper, "__doc__", "Longer.")


@change
def the_wrapped_function_replaced():
    def helper(x):
        return x * 2

    @functools.wraps(helper)
    def wrapper(x):
        return wrapper.__wrapped__(x)

    return lambda x: wrapper(x), lambda: setattr(wrapper, "__wrapped__", lambda x: x * 9)


@change
def a_key_function_that_reads():
    order = {"a": 1, "b": 2}

    def f(x):
        return x * 2 if sorted(order, key=order.__getitem__)[0] == "a" else x * 3

    return f, lambda: order.update(a=5)


@change
def sorted_by_a_lambda_that_reads():
    held = Box(sign=1)

    def f(x):
        return x * sorted([1.0, 2.0, 3.0], key=lambda v: v * held.sign)[0]

    return f, lambda: setattr(held, "sign", -1)


@change
def a_deferred_value():
    class Lazy:
        def __init__(self, make):
            self.make = make

        def __float__(self):
            return self.make()

    level = Box(now=2.0)
    held = Lazy(lambda: level.now)

    return lambda x: x * float(held), lambda: setattr(level, "now", 9.0)
