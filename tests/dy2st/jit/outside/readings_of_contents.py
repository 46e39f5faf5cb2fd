"""Ways in which code reads a dataclass, a dict or a list as a whole."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import operator
import pickle

import dy2st
from tests.dy2st.jit.outside.scenario import change


@dataclasses.dataclass
class Pair:
    left: float = 2.0
    right: float = 3.0


def pair(reads):
    """Register a scenario of a dataclass whose field `left` goes from 2 to 9.25."""

    @functools.wraps(reads)
    def make():
        held = Pair()
        return reads(held), lambda: setattr(held, "left", 9.25)

    return change(make)


def mapping(reads):
    """Register a scenario of a dict whose entry `a` goes from 2 to 9, beside a new one."""

    @functools.wraps(reads)
    def make():
        held = {"a": 2.0, "b": 3.0}
        return reads(held), lambda: held.update(a=9.0, c=1.0)

    return change(make)


def numbers(reads):
    """Register a scenario of a list of numbers of which one changes and one is added."""

    @functools.wraps(reads)
    def make():
        held = [2.0, 5.0]

        def turn():
            held[0] = 9.0
            held.append(4.0)

        return reads(held), turn

    return change(make)


@pair
def repr_of_a_dataclass(held):
    return lambda x: x * len(repr(held))


@pair
def str_of_a_dataclass(held):
    return lambda x: x * len(str(held))


@pair
def an_f_string_of_a_dataclass(held):
    return lambda x: x * len(f"{held} and {held!r}")


@pair
def asdict(held):
    return lambda x: x * dataclasses.asdict(held)["le" + "ft"]


@pair
def astuple_unpacked(held):
    def f(x):
        left, right = dataclasses.astuple(held)
        return x * left + right

    return f


@pair
def fields_of_a_dataclass(held):
    return lambda x: x * sum(getattr(held, field.name) for field in dataclasses.fields(held))


@pair
def replace_of_a_dataclass(held):
    return lambda x: x * dataclasses.replace(held, right=1.0).left


@pair
def equality_of_dataclasses(held):
    return lambda x: x * (2 if held == Pair() else 3)


@pair
def a_dataclass_in_a_list(held):
    return lambda x: x * (2 if Pair() in [held] else 3)


@pair
def a_match_by_position(held):
    def f(x):
        match held:
            case Pair(left, right):
                return x * left + right

    return f


@pair
def pickle_of_a_dataclass(held):
    return lambda x: x * pickle.loads(pickle.dumps(held)).left


@mapping
def an_entry(held):
    return lambda x: x * held["a"]


@mapping
def get_with_a_default(held):
    return lambda x: x * held.get("c", 5.0)


@mapping
def a_key_error_caught(held):
    def f(x):
        try:
            return x * held["c"]
        except KeyError:
            return x * 5

    return f


@mapping
def in_a_dict(held):
    return lambda x: x * 2 if "c" in held else x * 3


@mapping
def not_in_a_dict(held):
    return lambda x: x * 2 if "c" not in held else x * 3


@mapping
def len_of_a_dict(held):
    return lambda x: x * len(held)


@mapping
def a_loop_over_keys(held):
    def f(x):
        for key in held:
            x = x + held[key]
        return x

    return f


@mapping
def a_loop_over_items(held):
    def f(x):
        for number, (key, value) in enumerate(held.items()):
            x = x + value * number + len(key)
        return x

    return f


@mapping
def the_sum_of_values(held):
    return lambda x: x * sum(held.values())


@mapping
def a_dict_unpacked_in_a_call(held):
    def by(x, a, **others):
        return x * a + len(others)

    return lambda x: by(x, **held)


@mapping
def a_dict_unpacked_in_a_display(held):
    return lambda x: x * {**held, "b": 1.0}["a"]


@mapping
def a_dict_joined_with_another(held):
    return lambda x: x * (held | {"b": 1.0})["a"]


@mapping
def equality_of_dicts(held):
    return lambda x: x * 2 if held == {"a": 2.0, "b": 3.0} else x * 3


@mapping
def a_copy_of_a_dict(held):
    return lambda x: x * dict(held)["a"]


@mapping
def itemgetter(held):
    return lambda x: x * operator.itemgetter("a")(held)


@mapping
def a_dict_comprehension(held):
    return lambda x: x * {key: value + 1 for key, value in held.items()}["a"]


@mapping
def json_dumps(held):
    return lambda x: x * len(json.dumps(held))


@mapping
def json_there_and_back(held):
    return lambda x: x * json.loads(json.dumps(held, sort_keys=True))["a"]


@mapping
def a_match_of_a_mapping(held):
    def f(x):
        match held:
            case {"c": value}:
                return x * value
            case {"a": value, **rest}:
                return x * value + len(rest)

    return f


@mapping
def the_first_key(held):
    return lambda x: x * held[next(iter(held))]


@mapping
def sorted_of_a_dict(held):
    return lambda x: x * len(sorted(held, key=held.get))


@mapping
def max_of_a_dict_by_value(held):
    return lambda x: x * 2 if max(held, key=held.get) == "a" else x * 3


@mapping
def setdefault_of_what_is_there(held):
    return lambda x: x * held.setdefault("a", 7.0)


@numbers
def an_index(held):
    return lambda x: x * held[0]


@numbers
def the_last(held):
    return lambda x: x * held[-1]


@numbers
def a_slice(held):
    return lambda x: x * sum(held[1:])


@numbers
def len_of_a_list(held):
    return lambda x: x * len(held)


@numbers
def a_loop(held):
    def f(x):
        for number in held:
            x = x + number
        return x

    return f


@numbers
def a_loop_with_a_counter(held):
    def f(x):
        total, i = 0, 0
        while i < len(held):
            total += held[i] * i
            i += 1
        return x * total

    return f


@numbers
def unpacking_with_a_star(held):
    def f(x):
        first, *rest = held
        return x * first + len(rest)

    return f


@numbers
def arguments_by_a_star(held):
    def by(x, *numbers):
        return x * max(numbers)

    return lambda x: by(x, *held)


@numbers
def a_list_display(held):
    return lambda x: x * [1, *held][1]


@numbers
def in_a_list(held):
    return lambda x: x * 2 if 4.0 in held else x * 3


@numbers
def equality_of_lists(held):
    return lambda x: x * 2 if held == [2.0, 5.0] else x * 3


@numbers
def order_of_lists(held):
    return lambda x: x * 2 if held < [3.0] else x * 3


@numbers
def sorted_of_a_list(held):
    return lambda x: x * sorted(held, reverse=True)[0]


@numbers
def reversed_of_a_list(held):
    return lambda x: x * list(reversed(held))[0]


@numbers
def any_and_all(held):
    return lambda x: x * 2 if any(n > 8 for n in held) and all(held) else x * 3


@numbers
def zip_and_enumerate(held):
    def f(x):
        for i, (a, b) in enumerate(zip(held, held[1:])):
            x = x + a * b * (i + 1)
        return x

    return f


@numbers
def a_list_comprehension_with_a_condition(held):
    return lambda x: x * sum([n for n in held if n > 3])


@numbers
def a_generator_expression(held):
    return lambda x: x * max(n + 1 for n in held)


@numbers
def a_set_of_a_list(held):
    return lambda x: x * len({*held, 5.0})


@numbers
def index_and_count(held):
    return lambda x: x * held.index(5.0) + held.count(4.0)


@numbers
def reduce(held):
    return lambda x: x * functools.reduce(operator.mul, held)


@numbers
def chain_and_islice(held):
    return lambda x: x * sum(itertools.islice(itertools.chain(held, [1.0]), 2))


@numbers
def join_of_strings(held):
    return lambda x: x * len(",".join(str(n) for n in held))


@numbers
def repeated_and_added(held):
    return lambda x: x * sum((held + [1.0]) * 2)


@numbers
def a_match_of_a_sequence(held):
    def f(x):
        match held:
            case [a, b]:
                return x * a + b
            case [a, *rest]:
                return x * a + len(rest)

    return f


@numbers
def a_tensor_of_a_list(held):
    return lambda x: dy2st.to_tensor(held)[:2] * x


@numbers
def a_copy_by_its_method(held):
    return lambda x: x * held.copy()[0]


@numbers
def length_hint(held):
    return lambda x: x * operator.length_hint(held)


@numbers
def filter_and_min(held):
    return lambda x: x * min(filter(lambda n: n > 2.5, held))
