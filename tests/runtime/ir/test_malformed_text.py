"""Every text that is no Program is refused, quickly, with the place and what was expected."""

import random
import time

import numpy as np
import pytest

from dy2st_runtime.dims import symbol
from dy2st_runtime.errors import FormatError, ParseError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.checks.verifier import findings
from dy2st_runtime.ir.text.attribute_parser import AttributeParser
from dy2st_runtime.ir.text.parser import parse, parse_one
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ops.control_flow import while_loop

FUZZ = 400
HEAD = '"dy2st.model"() <{format = 1 : i64, producer = "p"}> ({'
PROGRAM = '"dy2st.program"() <{name = "f", inputs = ["x"]}> ({\n^bb0(%x: tensor<2xf32>):\n'
TAIL = '"dy2st.return"(%x) : (tensor<2xf32>) -> ()\n}) : () -> ()\n}) : () -> ()'


def program_with(line):
    return f"{HEAD}\n{PROGRAM}{line}\n{TAIL}"


def attribute(text):
    parser = AttributeParser(text)
    value = parser.attribute()
    if parser.kind != "end":
        raise parser.expected("the end of the text")
    return value


@pytest.fixture(scope="module")
def text():
    return (
        HEAD
        + """
  "dy2st.program"() <{
    name = "f",
    symbols = {n = [0, 9]},
    inputs = ["x"],
    parameters = ["w"],
    trainable = ["w"],
    constraints = [
      {at = loc("a.py":1:2), condition = #dy2st.condition<"n > 1">, reason = "because"}
    ],
    structure = #dy2st.dict<[["a", #dy2st.list<[#dy2st.output<0>, 1.5, b]>]]>
  }> ({
  ^bb0(%x: tensor<?x2xf32, ["n"]>, %w: tensor<2xf32>):
    %0 = "dy2st.relu"(%x) : (tensor<?x2xf32, ["n"]>) -> tensor<?x2xf32, ["n"]> loc("a.py":1:2)
    %1 = "dy2st.constant"() {value = dense<[1, -2]> : tensor<2xi8>} : () -> tensor<2xi8>
    %2 = "dy2st.reshape"(%0) {shape = [#dy2st.dim<"2*n">]} : (tensor<?x2xf32, ["n"]>) -> tensor<?xf32, ["2*n"]>
    "dy2st.return"(%2) : (tensor<?xf32, ["2*n"]>) -> ()
  }) : () -> ()
}) : () -> ()
"""
    ).replace("1.5, b]", '1.5, "b"]')


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"dy2st.unheard"() : () -> ()', "line 4, column 1: there is no operator `unheard`"),
        ('"other.relu"(%x)', 'line 4, column 1: expected an operator such as "dy2st.add"'),
        ("relu", "line 4, column 1: expected an operator"),
        ('%0 = "dy2st.relu"(%y)', "line 4, column 19: `%y` is not defined so far"),
        ('"dy2st.relu"(%x', "line 5, column 1: expected `)`"),
        ('"dy2st.relu"(%x,)', "expected a value such as `%0`, found `)`"),
        ('%0 = "dy2st.relu"(%x) : () -> tensor<2xf32>', "1 values have 0 types"),
        (
            '%0 = "dy2st.relu"(%x) : (tensor<3xf32>) -> tensor<3xf32>',
            "a value of type float32[2] is used as float32[3]",
        ),
        (
            '%0, %1 = "dy2st.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>',
            "2 results are named, 1 have a type",
        ),
        (
            '%x = "dy2st.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>',
            "line 4, column 1: `%x` is defined twice",
        ),
        ('%0 = "dy2st.relu"(%x) : (tensor<2xf32>) -> f32', "expected a type such as `tensor<2x3"),
        ('%0 = "dy2st.relu"(%x) : (tensor<2xc64>) -> f32', "there is no element type `c64`"),
        ('%0 = "dy2st.relu"(%x) {a = 1, a = 2}', "column 31: `a` stands here twice"),
        ('%0 = "dy2st.relu"(%x) {a 1}', "expected `=`, found `1`"),
        ('%0 = "dy2st.relu"(%x) {a = }', "expected an attribute, found `}`"),
        ('%0 = "dy2st.relu"(%x) ({ ^bb1:', "expected `^bb0`"),
        (
            '%0 = "dy2st.relu"(%x) ({^bb0: "dy2st.yield"(%x) : (tensor<2xf32>) -> ()})',
            "`%x` is not a value of this Block",
        ),
    ],
)
def test_a_wrong_operator_is_named_with_its_place(line, message):
    with pytest.raises(ParseError) as caught:
        parse(program_with(line))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "f",', "", "the Program has no name"),
        ('inputs = ["x"],', "", "the Block has 2 parameters"),
        ('parameters = ["w"],', 'parameters = ["w", "w"],', "the Block has 2 parameters"),
        ('trainable = ["w"]', 'trainable = ["v"]', "there is no parameter or buffer `v`"),
        ('inputs = ["x"],', 'colour = "red",', "a Program has no property `colour`"),
        ('inputs = ["x"],', 'name = "g",', "`name` stands here twice"),
        ("[0, 9]", "[9, 0]", "has no value between"),
        ("[0, 9]", "[]", "`n` needs [least] or [least, largest]"),
        ("{n = [0, 9]}", "{m = [0, 9]}", "unknown size 'n'"),
        ('["n"]', '["n", "n"]', "one text for every `?`"),
        ('["n"]', '["n"', "expected"),
        ("producer", "author", "expected `producer`, found `author`"),
        ("format = 1", "format = 0", "the format is a number from 1"),
        ("format = 1 : i64", 'format = "1"', "the format is a number from 1"),
    ],
)
def test_a_wrong_property_is_named(text, old, new, message):
    assert old in text
    with pytest.raises(ParseError) as caught:
        parse(text.replace(old, new))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        "9223372036854775808",
        "1 : i8000000000",
        "300 : i8",
        "1.5 : i64",
        "1 : f64",
        "1.0e999",
        "0x1 : f64",
        "9" * 5000,
        "1.0e" + "9" * 5000,
        '"\\q"',
        '"\\FF"',
        '"open',
        "f31",
        "dense<[1, 2> : tensor<2xi8>",
        "dense<[1, 2]> : tensor<3xi8>",
        "dense<[[1], [2, 3]]> : tensor<2x1xi8>",
        "dense<[[1], 2]> : tensor<2xi8>",
        "dense<[]> : tensor<0xi8>",
        "dense<> : tensor<3xi8>",
        "dense<300> : tensor<i8>",
        "dense<-1> : tensor<ui8>",
        "dense<1.5> : tensor<i8>",
        "dense<true> : tensor<i8>",
        "dense<2> : tensor<i1>",
        "dense<0x7C> : tensor<f32>",
        'dense<"0x0000"> : tensor<3xi8>',
        'dense<"0xZZ"> : tensor<1xi8>',
        'dense<"0x02"> : tensor<1xi1>',
        'dense<"0x00"> : tensor<99999999999x99999999999xi8>',
        "dense<0> : tensor<4611686018427387904x4611686018427387904xi8>",
        "dense<> : tensor<4611686018427387904x4611686018427387904x0xi8>",
        "dense<0> : tensor<99999999999999999999xi8>",
        'dense<0> : tensor<?xi8, ["n"]>',
        "[" * 200 + "]" * 200,
        "[1, 2",
        "[1 2]",
        "#dy2st.unheard<1>",
        '#dy2st.dim<"1 +">',
        '#dy2st.dim<"' + "(" * 500 + '">',
        '#dy2st.dim<"' + "1+" * 5000 + '1">',
        '#dy2st.condition<"1">',
        "#dy2st.output<-1>",
        "#dy2st.output<0, name>",
        "#dy2st.dict<[[1]]>",
        '#dy2st.dict<["ab"]>',
        "#dy2st.dict<[[#dy2st.list<[]>, 1]]>",
        "#dy2st.dict<[[1, 1], [1, 2]]>",
        '#dy2st.bytes<"0">',
        "#dy2st.scalar<1>",
        '#dy2st.named<"class", ["x"], [1]>',
        '#dy2st.named<"P", ["_x"], [1]>',
        '#dy2st.named<"P", ["x=__import__(1)"], [1]>',
        '#dy2st.named<"P", ["x"], [1, 2]>',
        '#dy2st.named<"P", ["\ufb01", "fi"], [1, 2]>',
        '#dy2st.text<[[1, dense<0> : tensor<100000000000xi8>, ""]]>',
        '#dy2st.text<[[1, "", 2]]>',
        "!dy2st.array<none>",
        "@",
        "",
    ],
)
def test_a_wrong_attribute_is_refused(wrong):
    with pytest.raises(ParseError, match="line 1, column "):
        attribute(wrong)


def test_a_newer_format_is_refused_before_anything_else_is_read():
    with pytest.raises(FormatError, match="format 7 and was written by a newer dy2st"):
        parse('"dy2st.model"() <{format = 7 : i64, whatever @@@')


def test_parse_one_wants_exactly_one_program():
    with pytest.raises(ParseError, match="expected one Program, found 0"):
        parse_one(f"{HEAD}}}) : () -> ()")


def test_nothing_may_follow_the_text(text):
    with pytest.raises(ParseError, match="expected the end of the text"):
        parse(text + " 1")


def test_comments_and_blanks_are_skipped(text):
    spaced = text.replace("({", "( // a comment }\n{\t")
    assert to_text(parse(spaced)) == to_text(parse(text))


def test_a_text_that_ends_too_early_is_refused(text):
    end = text.rindex(")")
    for length in range(end):
        with pytest.raises(ParseError):
            parse(text[:length])


def big_text(trace):
    n = symbol("n")

    def model(x):
        y = F.where(F.greater_than(x, 0.0), x, np.arange(3, dtype="float32"))
        i, y = while_loop(
            lambda i, y: [F.less_than(i, 3)],
            lambda i, y: [F.add(i, 1), F.multiply(y, 2.0)],
            [F.cast(0, "int64"), y],
        )
        return F.reshape(y, [n * 3]), i

    return to_text(trace(model, x=("float32", (n, 3))))


def mutated(text, random):
    """The text with one to three random changes."""
    for _ in range(random.randint(1, 3)):
        place, other = random.randrange(len(text)), random.randrange(len(text))
        length = random.choice([1, 1, 1, 5, 40])
        piece = random.choice(
            [
                "",
                random.choice('<>{}[]()",:=-?#!%^x019 \n\\'),
                text[other : other + length],
                random.choice(
                    ["9" * 30, "[" * 99, "tensor<9999999x9999999xf64>", "nan", "\x00", "é"]
                ),
            ]
        )
        text = text[:place] + piece + text[place + random.choice([0, length]) :]
    return text


@pytest.mark.parametrize("seed", range(4))
def test_mutated_texts_are_refused_or_read_but_never_crash(trace, text, seed):
    source = random.Random(seed)
    for original in (text, big_text(trace)):
        for _ in range(FUZZ):
            changed = mutated(original, source)
            try:
                programs = parse(changed)
            except (ParseError, FormatError):
                continue
            for program in programs:
                findings(program)
            assert to_text(parse(to_text(programs))) == to_text(programs)


@pytest.mark.parametrize(
    "hostile",
    [
        "(" * 200_000,
        '"' + "a" * 2_000_000,
        "tensor<" + "1x" * 500_000,
        "%" + "0" * 2_000_000,
        "//" * 500_000,
        HEAD * 2_000,
        program_with('"dy2st.relu"(%x) ({^bb0: ' * 50_000),
        program_with('"dy2st.constant"() {value = dense<' + "[" * 300_000),
        program_with('"dy2st.constant"() {value = dense<' + "[1, " * 100_000),
        program_with('"dy2st.constant"() {value = ' + "#dy2st.list<[" * 100_000),
        program_with('"dy2st.relu"(' + "%x, " * 200_000),
        program_with('"dy2st.relu"(%x) : (tensor<?x' + '?xf32, ["a", "' * 100_000),
    ],
    ids=range(12),
)
def test_hostile_texts_are_refused_in_time(hostile):
    start = time.process_time()
    with pytest.raises(ParseError):
        parse(hostile)
    assert time.process_time() - start < 3
