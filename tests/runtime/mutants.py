"""Saved models with random changes: refused by a Dy2stError, or loaded and run; nothing else happens.

    python -m tests.runtime.mutants 100000 --processes 2      # progress, and what fails, by seed
    python -m tests.runtime.mutants 1 --from 4711 --show      # one mutant, as a diff

Each seed is one mutant of one of twelve models. A worker process loads it and runs all its methods on
ordinary inputs; it may open no file but the pair, compute for 2 seconds, and take 400 MB more. An
exception is in order if it is a Dy2stError, if the Program raises it (`raise`, `assert`), or if the
record of the operator names its class. A `while` that never ends and a result that the text says is
huge are what the file asks for; both are counted apart.

What NumPy's engine runs or refuses, engine native does, too, on inputs beside pages that may not be
touched: it gives the same, or refuses as well. So nothing is in its results that is not the model's.
"""

import contextlib
import difflib
import io as streams
import os
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from dy2st_runtime import io, ops
from dy2st_runtime.errors import Dy2stError, EngineError
from dy2st_runtime.ir import DEFINITIONS, TensorType
from dy2st_runtime.ir.choice import text_of
from dy2st_runtime.ir.tensor import Tensor
from tests.runtime.guarded import guarded
from tests.runtime.mutant_models import MODELS, save_all
from tests.runtime.workers import TooLong, command_line, limit

SECONDS = 2
NATIVE_SECONDS = 10  # LLVM takes most of them
BYTES = 400 * 2**20
# A Program whose text says results of more than this asks for it.
HUGE = 20 * 2**20
TOKEN = re.compile(r'"[^"\n]*"|%?[A-Za-z_#!][\w.$]*|-?\d+(?:\.\d+)?|->|[^\s]')
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
VALUES = [
    "unit", "true", "0", "-1", "3", "4611686018427387904", "99999999999", "-9223372036854775808",
    "1.5", "0x7FF8000000000000 : f64", '"stdout"', '"modules"', '"a"', '"\\00"', "f32", "i1", "i64",
    "[]", "[0]", "[1, 0]", "[-1]", "[[0, 1], [2, 3]]", "[1.5]", '["a"]', "[true]", "[99999999999]",
    "dense<0.0> : tensor<100000000000xf32>", "dense<1> : tensor<i64>", "dense<[1, 2]> : tensor<2xi64>",
    "#dy2st.output<0>", "#dy2st.output<7>", "#dy2st.output<0, number>", "#dy2st.list<[1]>",
    '#dy2st.dict<[["a", 1]]>', '#dy2st.bytes<"61">', '#dy2st.named<"P", ["x"], [1]>',
    '#dy2st.named<"P", ["\ufb01", "fi"], [1, 2]>', "#dy2st.choice<#dy2st.output<0>, [unit, 1]>",
    "#dy2st.rows<#dy2st.output<0>, #dy2st.output<0>>",
    '#dy2st.rows<#dy2st.output<0>, [#dy2st.output<0, number>, 1], "dict">',
    '#dy2st.text<[[#dy2st.rows<#dy2st.output<0>, #dy2st.output<0>>, "chr", ""]]>', "#dy2st.only<#dy2st.output<0>>",
    '#dy2st.text<["a", [#dy2st.output<0, number>, "", "2000000000.2f"]]>',
    '#dy2st.text<["a", [#dy2st.output<0>, "%", "%s %s"]]>', '#dy2st.dim<"batch">',
    '#dy2st.condition<"2 > 1">', "#dy2st.scalar<dense<1.0> : tensor<f32>>",
]  # fmt: skip
SIZES = ["0", "1", "2", "5", "64", "1000", "100000000000", "-1", "9223372036854775807"]


# -- mutants ----------------------------------------------------------------------------------


def mutant(seed, originals):
    """The name of a model, its text and its arrays, changed."""
    source = random.Random(seed)
    name = source.choice(sorted(originals))
    text, arrays = originals[name]
    if source.random() < 0.15:
        return name, text, changed_arrays(arrays, source)
    for _ in range(source.choice([1, 1, 1, 1, 2, 3])):
        text = source.choice(MEANING if source.random() < 0.7 else WORDS)(text, source)
    return name, text, arrays


def changed_arrays(data, source):
    """A change in the header, in which lengths may be made right again, or anywhere."""
    length = int.from_bytes(data[:8], "little")
    header, body = data[8 : 8 + length].decode(), data[8 + length :]
    kind = source.randrange(4)
    if kind == 0:
        place = source.randrange(len(data))
        return data[:place] + bytes([source.randrange(256)]) + data[place + 1 :]
    if kind == 1:
        return data[: source.randrange(len(data))]
    change = source.choice([numbers, swapped, dropped, copied])
    header = change(header, source).encode("utf-8", "replace")
    return (len(header) if kind == 2 else length).to_bytes(8, "little") + header + body


def flipped(text, source):
    place = source.randrange(len(text))
    return text[:place] + chr(ord(text[place]) ^ 1 << source.randrange(7)) + text[place + 1 :]


def numbers(text, source):
    """Another number in place of one."""
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    match = source.choice(found)
    new = source.choice([*SIZES, str(int(float(match[0])) + source.choice([-1, 1])), "9" * 30])
    return text[: match.start()] + new + text[match.end() :]


def tokens(text, source, count):
    """Some words with their places, in order."""
    found = list(TOKEN.finditer(text))
    return sorted(source.sample(found, min(count, len(found))), key=lambda match: match.start())


def swapped(text, source):
    """Two words exchanged, or one in place of another."""
    words = tokens(text, source, 2)
    if len(words) < 2:
        return text
    first, second = words
    other = first[0] if source.random() < 0.5 else second[0]
    middle = text[first.end() : second.start()]
    return text[: first.start()] + second[0] + middle + other + text[second.end() :]


def dropped(text, source):
    """A word or a line less."""
    if source.random() < 0.3:
        lines = text.split("\n")
        del lines[source.randrange(len(lines))]
        return "\n".join(lines)
    (word,) = tokens(text, source, 1)
    return text[: word.start()] + text[word.end() :]


def copied(text, source):
    """A line again, there or elsewhere."""
    lines = text.split("\n")
    line = source.choice(lines)
    place = lines.index(line) if source.random() < 0.3 else source.randrange(len(lines))
    lines.insert(place, line)
    return "\n".join(lines)


def retyped(text, source):
    """Another value for an attribute."""
    places = list(re.finditer(r"(?<=[{,] )(\w+) = ", text))
    if not places:
        return text
    start = source.choice(places).end()
    return text[:start] + source.choice(VALUES) + text[end_of_value(text, start) :]


def everywhere(text, source):
    """A word is another one wherever it stands: types may fit again."""
    old, new = (word[0] for word in (tokens(text, source, 1) + tokens(text, source, 1)))
    if source.random() < 0.6:
        pairs = [
            ("f32", "i64"),
            ("f32", "f16"),
            ("f32", "i1"),
            ("i64", "i8"),
            ("i1", "i64"),
            ("i64", "f64"),
        ]
        old, new = source.choice([*pairs, *((f"{a}x", f"{b}x") for a in "23468" for b in "01357")])
    return re.sub(
        rf"(?<!\w){re.escape(old)}(?!\w)" if len(old) > 2 else re.escape(old), lambda _: new, text
    )


def renamed(text, source):
    """Another operator."""
    places = list(re.finditer(r'"dy2st\.(\w+)"\(%', text))
    if not places:
        return text
    match = source.choice(places)
    old = DEFINITIONS.get(match[1])
    alike = [
        n for n, d in DEFINITIONS.items() if old and list(d.attributes) == list(old.attributes)
    ]
    name = source.choice(alike or sorted(DEFINITIONS))
    return text[: match.start(1)] + name + text[match.end(1) :]


def exchanged(text, source):
    """The value of an attribute is that of another one of its name, or its last number is near it."""
    places = list(re.finditer(r"(?<=[{,] )(\w+) = ", text))
    if not places:
        return text
    match = source.choice(places)
    start, end = match.end(), end_of_value(text, match.end())
    others = [text[m.end() : end_of_value(text, m.end())] for m in places if m[1] == match[1]]
    value = source.choice(others)
    if value == text[start:end]:
        value = {"true": "false", "false": "true"}.get(value) or numbers(value, source)
    return text[:start] + value + text[end:]


def end_of_value(text, start):
    """Where the value ends that begins at a place: at a comma or bracket of its own depth."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in "[{<(":
            depth += 1
        elif text[place] in "]}>)":
            depth -= 1
        if depth < 0 or (depth == 0 and text[place] in ",\n"):
            return place
    return len(text)


def revalued(text, source):
    """One part of an attribute is something else."""
    words = [
        word for word in TOKEN.finditer(text) if word[0][0] in '0123456789"-' or word[0] == "unit"
    ]
    word = source.choice(words)
    return text[: word.start()] + source.choice(VALUES) + text[word.end() :]


def resized(text, source):
    """A size formula is another one, some of them long or deep."""
    places = list(re.finditer(r'(?<=")[a-z_][a-z0-9_ +*/()]*(?=")', text))
    if not places:
        return text
    match = source.choice(places)
    name = match[0]
    new = source.choice(
        [
            f"2*{name}", f"{name} - 1", f"{name}//2", f"{name}*{name}", f"min({name}, 3)", f"-{name}",
            f"{name} % 0", f"broadcast({name}, 2)", "*".join([f"({name} + 1)"] * source.choice([3, 60])),
            "+".join([name] * 200), "(" * 50 + name + ")" * 50, f"max({name}, " * 40 + "1" + ")" * 40,
            f"{name} // {name}", f"{name} > 3", "9" * 20 + f"*{name}",
        ]
    )  # fmt: skip
    return text[: match.start()] + new + text[match.end() :]


def placed(text, source):
    """A location that names a file of this machine, or a line that no file has."""
    new = source.choice(
        [
            'loc("/etc/passwd":1:1)',
            'loc("/dev/zero":1:1)',
            'loc("a":99999999999:1)',
            'loc("\\00":1:1)',
        ]
    )
    found = list(re.finditer(r'loc\("[^"]*":\d+:\d+\)', text))
    if not found:
        return text
    match = source.choice(found)
    return text[: match.start()] + new + text[match.end() :]


# What changes a Program, and what mostly leaves none.
MEANING = [everywhere, renamed, exchanged, exchanged, numbers, retyped, resized, placed]
WORDS = [flipped, swapped, dropped, copied, revalued]


# -- one mutant in a worker -------------------------------------------------------------------


def outcome(path, inputs, opened):
    """What became of a mutant; what begins with "!" must not be."""
    opened.clear()
    limit(SECONDS)
    model = None
    try:
        model = io.load(path, engine="numpy")
        said = {method: called(model, method, inputs) for method in model.programs}
        wrong = [text for text, _ in said.values() if text.startswith("!")]
        wrong = wrong or native_faults(path, said, inputs)
        texts = Counter(text for text, _ in said.values())
        result = wrong[0] if wrong else "runs" if "runs" in texts else "fails as it should"
    except Dy2stError:
        result = "refused"
    except TooLong:
        result = "! load takes too long"
    except MemoryError:
        result = "! load takes too much memory"
    except Exception as error:
        result = f"! load raises {described(error)}"
    finally:
        limit(0)
    other = [file for file in opened if not str(file).startswith(str(path))]
    return f"! opens {other[0]}" if other else result


def called(model, name, inputs):
    """What becomes of the call of one method, and what it gives."""
    method = getattr(model, name)
    program = method.program
    try:
        ops.seed(0)  # a mutant may draw random numbers, and both engines are to draw the same
        return "runs", numbers_of(method(*inputs))
    except Dy2stError:
        return "refused when it runs", None
    except TooLong:
        return "loops" if loops(method, inputs) else "! a call takes too long", None
    except MemoryError:
        is_asked = is_huge(program) or loops(method, inputs)
        return "huge" if is_asked else "! too much memory", None
    except Exception as error:
        return "raises" if is_its_own(error) else f"! a call raises {described(error)}", None


def numbers_of(value):
    """All arrays in nested results, and how many other values there are."""
    if isinstance(value, Tensor):
        return [value.numpy()]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [array for entry in value for array in numbers_of(entry)]
    return [np.array(value)] if isinstance(value, (bool, int, float)) else []


# -- the same on engine native ----------------------------------------------------------------


def native_faults(path, said, inputs):
    """What engine native does that NumPy's engine did not, where that came to an end."""
    return [
        fault
        for method, (text, wanted) in said.items()
        if text in ("runs", "raises", "refused when it runs")
        for at_end in (True, False)
        for fault in native_fault(path, method, wanted, [guarded(x, at_end) for x in inputs])
    ]


def native_fault(path, name, wanted, inputs):
    limit(NATIVE_SECONDS)
    given = [array.copy() for array in inputs]
    try:
        method = getattr(io.load(path, engine="native"), name)
        ops.seed(0)
        found = numbers_of(method(*inputs))
    except EngineError as error:
        yield f"! native cannot compile: {described(error)}"
        return
    except Dy2stError as error:
        if wanted is not None:
            yield f"! native refuses: {described(error)}"
        return
    except TooLong:
        yield "! native takes too long"
        return
    except MemoryError:
        return
    except Exception as error:
        if wanted is not None or not is_its_own(error):
            yield f"! native raises {described(error)}"
        return
    if wanted is None:
        yield "! native alone gives a result"
    elif not are_close(found, wanted):
        yield "! native gives other numbers"
    if not are_close(inputs, given):
        yield "! native writes into its inputs"


def are_close(found, wanted):
    """Whether arrays are equal up to rounding, in the way of both engines."""
    return len(found) == len(wanted) and all(
        (a.dtype, a.shape) == (b.dtype, b.shape)
        and np.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True)
        for a, b in zip(found, wanted, strict=True)
    )


def described(error):
    notes = "; ".join(getattr(error, "__notes__", ()))
    return f"{type(error).__name__}: {error!s:.120} [{notes}]".replace("\n", " ")


def is_its_own(error):
    """Whether the Program raises this, its operator says that it may, or Python's formatting does."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    if trace.tb_frame.f_code is text_of.__code__:
        return True
    for note in getattr(error, "__notes__", ()):
        if note.startswith("raised by the Program at"):
            return True
        match = re.match("in the operator '(.*)' of", note)
        raises = match and DEFINITIONS[match[1]].raises
        if raises and isinstance(error, raises):
            return True
    return False


def is_huge(program):
    """Whether the text says so: results, or symbols that any input may make large, are counted."""
    most = 0
    for operator in program.walk():
        for variable in operator.results:
            if isinstance(variable.type, TensorType):
                sizes = [s if isinstance(s, int) else 4 for s in variable.type.shape]
                most = max(most, int(np.prod(sizes, dtype=float)) * variable.type.dtype.itemsize)
    return most > HUGE


def loops(method, inputs):
    """Whether the generated code goes on and on."""
    lines = [0]

    def count(frame, event, _):
        if not frame.f_code.co_filename.startswith("<dy2st"):
            return None
        lines[0] += event == "line"
        if lines[0] > 5_000:
            raise TooLong
        return count

    limit(SECONDS)
    sys.settrace(count)
    try:
        method(*inputs)
    except (TooLong, MemoryError):
        pass
    finally:
        sys.settrace(None)
    return lines[0] > 1_000


def trial(run):
    """What `run` makes of a function that tries one mutant: its name, and what became of it."""
    inputs = {name: given for name, _, _, given in MODELS}
    opened, watched = [], [False]

    def hook(event, arguments):
        if watched[0] and event == "open":
            opened.append(arguments[0])

    os.environ["DY2ST_CACHE"] = "off"
    sys.addaudithook(hook)
    with tempfile.TemporaryDirectory() as folder:
        originals = originals_in(folder)

        def try_one(seed):
            path = Path(folder) / f"mutant{os.getpid()}"
            name, text, arrays = mutant(seed, originals)
            Path(f"{path}.mlir").write_bytes(text.encode("utf-8", "surrogatepass"))
            Path(f"{path}.safetensors").write_bytes(arrays)
            watched[0] = True
            result = outcome(path, inputs[name], opened)
            watched[0] = False
            return name, result

        return run(try_one, BYTES)


# -- many -------------------------------------------------------------------------------------


def originals_in(folder):
    """The texts and arrays of the models, by name; what is imported late is imported."""
    save_all(folder)
    with contextlib.redirect_stdout(streams.StringIO()):
        for name, _, _, inputs in MODELS:
            for engine in ("numpy", "native"):
                io.load(f"{folder}/{name}", engine=engine)(*inputs)
    return {
        name: (
            Path(f"{folder}/{name}.mlir").read_text(encoding="utf-8"),
            Path(f"{folder}/{name}.safetensors").read_bytes(),
        )
        for name, *_ in MODELS
    }


def shown(seed):
    """A mutant as a diff."""
    with tempfile.TemporaryDirectory() as folder:
        originals = originals_in(folder)
    name, text, arrays = mutant(seed, originals)
    old, old_arrays = originals[name]
    lines = difflib.unified_diff(
        old.splitlines(), text.splitlines(), name, str(seed), "", "", 0, ""
    )
    return "\n".join([*lines, *([f"{old_arrays}\n{arrays}"] if arrays != old_arrays else [])])


if __name__ == "__main__":
    command_line(__doc__.splitlines()[0], shown, trial)
