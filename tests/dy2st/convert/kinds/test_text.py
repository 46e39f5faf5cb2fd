"""Texts of what only the run knows are what Python writes."""

# ruff: noqa: UP030, UP031, UP032
from __future__ import annotations

import contextlib
import io
import sys
from collections import UserDict, UserList, UserString, deque

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.dy2st.convert.kinds.same import refused, same


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({self.x}, {self.y})"


class Shown(Point):
    def __str__(self):
        return f"<{self.x}>"

    def __format__(self, spec):
        return f"{spec}:{self.x}"


def f_strings(x):
    n, v = x.shape[0], float(x[0])
    return f"{n} rows", f"{v:.2f}", f"{n:>5}|{'a':<3}|{n!r}", f"{x[0]}", f"{n + 1}{'b'}"


def strings(x):
    n = x.shape[0]
    return str(n), repr(n), str(float(x[0])), format(n, "04d"), "a", repr("a"), str([n, "a"])


def formats(x):
    n, point = x.shape[0], Point(x.shape[0], [1, 2])
    return (
        f"{n} {n:>4}",
        "{0} {a} {0}".format(n, a="b"),
        f"{point.x}{point.y[1]}",
        "{:{w}}".format("a", w=3),
    )


def percents(x):
    n, v = x.shape[0], float(x[0])
    return "%d of %s" % (n, "a"), "%.2f" % v, "%s" % n, "%(n)d%%" % {"n": n}, "%5s|" % "a"


def joined(x):
    n = x.shape[0]
    return (
        ", ".join([f"{n}", "a"]),
        "".join(str(i) for i in range(3)),
        "-".join(["a", str(n)]) + "!",
    )


def objects(x):
    p, s = Point(x.shape[0], 1), Shown(x.shape[0], 2)
    return f"{p}", str(p), repr(p), f"{s}", str(s), f"{s:abc}", f"{s!r}"


def lists_with_tensors(x):
    n = x.shape[0]
    return f"{[n, 1]}", str({"n": n}), f"{(n, 'a')}"


def methods_of_str(x):
    return (
        "a b".split(),
        "abc".upper(),
        "abc".startswith("a"),
        "a,b".replace(",", ";"),
        "abc"[::-1],
        "b" in "abc",
        len("abc"),
    )


def raises_with_a_text(x):
    if x.sum() > 3:
        raise ValueError(f"{x.shape[0]} is too large")
    return x


def one_of_two_texts(x):
    name, count = ("abc", 2) if x[0] > 0 else ("xy", None)
    return (
        *("{} {:>6}".format(name, name), "{a!r:^9}{b}".format(a=name, b=count)),
        *("{n}".format_map({"n": name}), "{:{w}}|{}".format(name, x[0], w=5)),
        *(name in "xyz", "b" in name, name not in "abcd"),
    )


def asserts_with_one_of_two_texts(x):
    name = "positive" if x[0] > 0 else "negative"
    assert x.sum() > 3, name
    return x


def fails_in_words_of_its_own(x):
    return ("abc" if x[0] > 0 else [1]) + 1


FUNCTIONS = (
    *(one_of_two_texts, asserts_with_one_of_two_texts, fails_in_words_of_its_own),
    *(f_strings, strings, formats, percents, joined, objects, lists_with_tensors, methods_of_str),
    raises_with_a_text,
)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_text_is_what_python_writes(function):
    same(function)


def printing(x):
    n = x.shape[0]
    print("rows", n, x.sum() > 3, sep="|")
    if x.sum() > 3:
        print(f"large: {n}", end=".\n")
    for v in x:
        if v > 1:
            print("v", [float(v)], Point(n, 1))
    mark = "-" if x.sum() > 3 else "+"
    print("a", n, mark, sep=mark, end=mark * 2)
    print("b", "c", sep=f"{n}", end=None if x.sum() > 3 else "|")
    print(Point(1, 2), {"a": 1}, file=sys.stdout)
    return x


@pytest.mark.parametrize("unknown", [False, True])
def test_a_program_prints_when_it_runs(unknown):
    from dy2st.static import InputSpec

    one, other = dy2st.to_tensor([1.0, 2.0, 3.0]), dy2st.to_tensor([1.0, -2.0, 3.0])
    static = to_static(printing, input_spec=[InputSpec([None] if unknown else [3], "float32")])
    written = []
    for function in (printing, static, static):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            function(one)
            function(other)
        written.append(out.getvalue())
    assert written[1:] == [written[0]] * 2


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: f"{[v for v in x if v > 0]}", "the text of a list whose length depends"),
        (lambda x: f"{x.shape[0]:{x.shape[0]}}", "a format depends on a tensor"),
        (lambda x: "{:{}}".format("a", x.shape[0]), "a format depends on a tensor"),
        (lambda x: f"{x[0]}" in "123", "a text with values of tensors"),
    ],
)
def test_a_text_that_no_program_writes_is_refused(function, words):
    refused(function, words)


def test_a_list_or_dict_with_tensors_is_written_in_a_branch_or_loop():
    def run(x):
        last, rows, words = "none", [], [f"{[v.item(), 'a']}" for v in x]
        for v in x:
            try:
                if v > 0:
                    last = f"{(v.item(), 1)} { ({'a': v.item()}) } {(v.item(),)!r} {[]} "
                    last = last + "%s" % [int(v)]
                    raise ValueError("bad", [v.item(), [Shown(1, 2), int(v)]])
            except ValueError as error:
                rows.append(str(error))
        text = f"{[x[0].item()]}" if x[0] > 1 else f"{[x[0].item(), x.shape[0]]}"
        kinds = [f"{[at, v.item() if at else v]}" for at, v in enumerate([x[0], x[-1]])]
        if x[0] > 0:
            kinds = [f"{(1, x[0])}", f"{ ({'b': x[0]}) }"]
        return last, rows, words, text, kinds

    same(run)


def test_a_list_of_integers_of_a_length_is_written():
    def run(x):
        places = [at for at, v in enumerate(x) if v > 0]
        if len(places) > 2:
            raise ValueError(f"too many: {places!r}")
        return f"{places} and {len(places)}", str(places[1:]), "{}".format(places)

    same(run)


def test_texts_of_both_paths_are_one_text_of_other_values():
    def run(x):
        label = f"{x.sum():.2f} of {x.max():.1f}"
        if x.sum() > 0:
            label = f"{x.max():.2f} of {x.min():.1f}"
        return label

    same(run)


@pytest.mark.parametrize("sizes", ["known", "unknown"])
def test_many_texts_that_differ_between_their_places_are_one(sizes):
    """As code writes what goes wrong at each place."""

    def run(x):
        faults, last = [], None
        for place in range(8):
            value = x[place % x.shape[0]] + place / 2
            try:
                if value > 3:
                    raise ValueError(f"joint {place} at {value.item():.2f} ({place})")
                if value > 1:
                    faults.append((place, "it is low"))
            except ValueError as error:
                faults.append((place, str(error)))
                last = f"{error}, after {len(faults) - 1} others"
        return faults, last

    same(run, sizes=sizes)


def test_a_text_grows_by_integers():
    def run(x):
        text, names = f"<{int(x[0])}>", [f"s{place}" for place in range(x.shape[0])]
        for place, v in enumerate(x):
            if v > 1:
                text += f", {place}:{int(v)}"
            elif v < 0:
                text = f"{place}"
            if len(names[-1]) < 5:
                names[-1] = names[-1] + "+" + names[place]
        return text, len(text), text == "0", names

    same(run, sizes="unknown")


def test_one_of_many_names_may_be_none():
    def run(x):
        names, found = ["a", "bc", "", "def", "gh", "i", "jk", "lmn"], []
        for value in x:
            name = None
            for place, one in enumerate(names):
                if value > 3 - place:
                    name = one
                    break
            found.append(name)
        return found, found[0] is None, found[-1] == "bc"

    same(run)


def test_a_text_that_each_turn_writes_anew():
    def run(x):
        label, turns = "none", 0
        for v in x:
            if v > 0:
                turns = turns + 1
                label = f"{v:.2f} at {turns}"
        return label, [label]

    same(run)


def test_a_number_and_a_tensor_are_written_as_each_is():
    def run(x):
        label = f"<{2}>"
        if x.sum() > 0:
            label = f"<{x.sum():.1f}>"
        elif x.min() > -3:
            label = f"<{int(x.max())}>"
        return label

    same(run)


def test_what_is_printed_to_a_redirected_stream_stands_in_it():
    def run(x):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            print("known", 1)
        return out.getvalue(), x

    assert to_static(run)(dy2st.ones([1]))[0] == "known 1\n"


def test_the_text_of_an_object_that_a_branch_has_changed():
    def run(x):
        text, other = UserString("a"), UserString("b")
        if x.sum() > 0:
            text = UserString("c")
            other += "d"
        return str(text), f"<{other}>", len(other), other.upper().data

    same(run)


SHOWN = {
    "percent": lambda point: "%s|%r|%12s" % (point, point, point),
    "one percent": lambda point: "%s" % point,
    "a named percent": lambda point: "%(a)s" % {"a": point},
    "a width": lambda point: f"{point!r:>20}|{point!s:<20}|",
    "a list": lambda point: str([point]),
    "a tuple": lambda point: f"{(point,)} {(point, 1)}",
    "a dict": lambda point: "%s" % {"a": [point]},
}


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN)
@pytest.mark.parametrize("value", [lambda x: 7, lambda x: int(x[0])], ids=["constant", "number"])
def test_the_text_of_what_holds_an_object_is_of_the_object_as_it_is_now(shown, value):
    def run(x):
        point, before = Shown(1, [2]), ""
        if x.sum() > 0:
            point.x = value(x)
            before = shown(point)
        point.y = value(x)
        return before, shown(point)

    same(run)


def test_the_text_of_a_deque_sees_what_a_branch_has_changed():
    def run(x):
        points, text = deque([Point(1, 2)]), ""
        if x.sum() > 0:
            points[0].x = 5
            text = str(points)
        return text

    same(run)


def test_what_holds_itself_is_written_with_dots():
    def run(x):
        point = Shown(1, [2])
        a, b, c = [point], UserDict(), UserList([1])
        a += [a, (a, point)]
        b[1], c[0:] = b, [c, point]
        if x.sum() > 0:
            point.x = int(x[0])
        return str(a), repr(b), f"{c}", "%s %r" % (a, b)

    same(run)


def test_a_float_of_a_text_with_tensors_in_it_is_refused():
    refused(lambda x: float(f"{int(x[0])}"), "of a text with values of tensors")


def checksum(n):
    total = 0
    for place, one in enumerate(reversed(str(abs(n)))):
        digit = int(one) * (1 + place % 2)
        total += digit - 9 if digit > 9 else digit
    return total % 10 == 0


def number_or_words(text):
    try:
        return int(text)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    "function",
    [
        lambda n: [int(one) for one in str(n).zfill(4).replace("-", "0")],
        checksum,
        lambda n: (str(n) == str(n)[::-1], "3" in str(n), str(n) < "2"),
        lambda n: (bin(n), hex(n), oct(n), bin(n).count("1"), bin(n ^ (n >> 1))[2:]),
        lambda n: (len(f"{n:05d}"), f"{n:05b}"[1:], f"{n}-{n + 1}".split("-")),
        lambda n: (int(f" {n} "), int(f"{n:b}", 2), int(f"{n:o}", base=8), int(f"{n}0_1")),
        lambda n: number_or_words(f"{n}x"),
        lambda n: (
            str(n).startswith(("1", "-")),
            str(n).endswith(("1", "4"), 1),
            str(n).count("1", 1),
        ),
        lambda n: (
            f"{n},{n}1".split(",", 1),
            f" {n} a b ".split(maxsplit=1),
            f"{n}1".replace("1", "x", 1),
        ),
    ],
)
def test_the_digits_of_an_integer_of_the_program(function):
    calls = [1.0], [-2.0], [0.0], [123.0], [34.0]
    same(lambda x: function(int(x[0] * 7)), *calls, sizes="unknown")


def test_the_text_of_a_text_of_the_program():
    def run(x):
        text = "".join(chr(48 + int(abs(v))) for v in x)
        return f"{text!r} {[text, 1]}", "%s|%r" % (text, text), str([text])

    same(run)


@pytest.mark.parametrize("template", ["l", "%s", "%%", "%s %s"])
@pytest.mark.parametrize(
    "values",
    [
        lambda x: (x, x),
        lambda x: (x, 1, 2),
        lambda x: x,
        lambda x: [x, x],
        lambda x: {"a": x},
        lambda x: float(x[0]),
        lambda x: x.shape[0],
        lambda x: f"{x}",
        lambda x: Point(1, 2),
    ],
    ids="pair three tensor list dict number size text object".split(),
)
def test_percent_takes_as_many_values_as_it_has_places(template, values):
    def function(x):
        return template % values(x)

    x = dy2st.to_tensor([1.0, 2.0])
    static = to_static(function, input_spec=[InputSpec([None], "float32", "x")])
    try:
        expected = function(x)
    except TypeError as error:
        with pytest.raises(TypeError, match=str(error)):
            static(x)
    else:
        assert static(x) == expected


def test_a_method_of_a_text_takes_one_of_several_texts():
    def parted(x):
        first, text = "," if x.sum() > 0 else "_", "a,b_c"
        found = text.find(first), text.count(first), text.startswith(first), text.strip(first)
        return text.split(first), text.replace(first, "-"), found

    def parted_text(x):
        text, first = ("yes", "y") if x.max() > 0 else ("no", "o")
        return text.split(first), text.endswith(first), text.replace(first, "-")

    for function in (parted, parted_text):
        static = to_static(function)
        for values in ([1.0, 2.0], [-1.0, -2.0], [1.0, -2.0]):
            x = dy2st.to_tensor(values)
            assert static(x) == function(x)


@pytest.mark.parametrize(
    "write",
    [
        lambda one: f"{one:d}",
        lambda one: "{:s}".format(one),
        lambda one: "%d" % one,
        lambda one: "%x" % one,
        lambda one: f"{one!s:d}",
    ],
)
def test_a_format_that_a_number_has_not_is_an_exception_that_is_caught(write):
    def words(one):
        try:
            return write(one)
        except (TypeError, ValueError) as error:
            return type(error).__name__, str(error)

    same(lambda x: (words(float(x[0])), words(int(x[0]))))
