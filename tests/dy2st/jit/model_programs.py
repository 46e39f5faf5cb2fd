"""Random models in the manner of real code, run by Python and converted, over several calls.

python -m tests.dy2st.jit.model_programs 3000          # seeds 0 to 2999, with a summary
python -m tests.dy2st.jit.model_programs 1 --from 77   # prints program 77

A model has state, helpers and methods; its forward is made of the idioms of `model_idioms.py`: loops
over tensors of unknown lengths, lists and objects that tensors fill, early returns. Results and
state are compared after each call. "Loosely" means that a Python number may be a tensor.
"""

from __future__ import annotations

import contextlib
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dy2st
from dy2st.errors import Dy2stError
from dy2st.jit import to_static
from dy2st.static import InputSpec
from tests.campaign import campaign, define, reason
from tests.dy2st.catalogue.comparing import comparable
from tests.dy2st.jit.model_idioms import (
    BLOCKS,
    CHECKED,
    EXPRESSIONS,
    HELPERS,
    JUMPS,
    NEW,
    PRELUDE,
    RAISES,
    STATEMENTS,
    STATES,
    WHOLE,
    Helper,
    Idiom,
    State,
)

Choose = Callable[[Sequence[Any]], Any]

INPUTS = (
    ([1, 5, 2], [[1, 2, 3], [4, 0, -1]]),
    ([-4, 1, -2], [[0, 0, 0], [3, 3, 1]]),
    ([5, 0, 7, 3, 1], [[2, 1, 6], [5, -2, 4], [1, 1, 1], [0, 3, 2]]),
    ([2, 2], [[7, 1, 0]]),
    ([0, 6, -1, 4], [[-3, 2, 2], [1, 0, 4]]),
)
SIMPLEST = {
    **{"vec": "x", "part": "x", "row": "rows[0]", "rows": "rows", "scalar": "x[0]"},
    **{"number": "2", "list": "[]", "items": "[]", "maybe": "None", "stats": "Stats()"},
    "groups": "{'low': [], 'high': []}",
}
# How often a variable of a kind is returned.
RESULTS = {
    **{"vec": 4, "scalar": 6, "number": 8, "row": 4, "list": 3, "maybe": 3},
    **{"items": 1, "stats": 1, "groups": 1},
}
SECONDS = 60
HELD = "cache count hidden limit log mean memory state stats steps".split()
"""The attributes of models that a call may change."""


# Between these an expression needs no brackets.
OPENING = ("(", "[", ", ", "= ", " in ", "return ", "if ", "while ", "else ")
CLOSING = (")", "]", ",", ":", " if ", " else ", "\n")


# `v - v`, `where(v > 1, v, v)`, `v if v > 1 else v`: nobody writes these.
SILLY = re.compile(r"\b(\w+) [-<] \1\b|, (\w+), \2\)|\((\w+) if [^()]* else \3\)")


class NothingFits(Exception):
    """A text needs a variable of a kind that there is none of."""


def is_atom(text: str) -> bool:
    """Whether an expression binds closer than any operator."""
    inner = re.sub(r"\s", "", re.sub(r"'[^']*'", "", text))
    while (less := re.sub(r"\([^()\[\]]*\)|\[[^()\[\]]*\]", "", inner)) != inner:
        inner = less
    return re.fullmatch(r"[\w.]*", inner) is not None and " " not in re.sub(r"\(.*\)", "", text)


@dataclass
class Scope:
    """The variables of each kind that are bound, and where the lines stand."""

    names: dict[str, list[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    depth: int = 0
    in_loop: bool = False

    def inner(self, in_loop: bool) -> Scope:
        """That of a nested block."""
        names = {kind: list(held) for kind, held in self.names.items()}
        return Scope(names, set(self.used), self.depth + 1, self.in_loop or in_loop)

    def add(self, kind: str, name: str) -> None:
        """Bind a name."""
        self.names.setdefault(kind, []).append(name)

    def fresh(self, stem: str) -> str:
        """A name that no variable has which is bound here."""
        name, number = stem, 2
        while name in self.used:
            name, number = f"{stem}{number}", number + 1
        self.used.add(name)
        return name

    def leave(self, kind: str, name: str) -> None:
        """Keep a name from being used."""
        self.names[kind] = [held for held in self.names.get(kind, ()) if held != name]


class Writer:
    """Writes the text of one program."""

    def __init__(self, choose: Choose):
        """Take all decisions from `choose`."""
        self.choose = choose
        self.helpers: list[Helper] = self.several(HELPERS, (0, 1, 2, 2, 3))
        self.states: list[State] = self.several(STATES, (0, 1, 1, 1, 2, 2, 3))
        self.returns: list[Scope] = []
        self.budget = choose(range(4, 14))

    def several(self, of: Sequence[Any], counts: Sequence[int]) -> list[Any]:
        """Some of them, each once."""
        return list(dict.fromkeys(self.choose(of) for _ in range(self.choose(counts))))

    def often(self, one_in: int) -> bool:
        """True once in that many times."""
        return bool(self.choose(range(one_in)) == 0)

    def weighted(self, idioms: Sequence[Idiom]) -> Idiom:
        """One of them, the usual ones more often."""
        return self.choose([idiom for idiom in idioms for _ in range(idiom.often)])  # type: ignore[no-any-return]

    def program(self) -> str:
        """The whole text."""
        scope = Scope({"vec": ["x"], "rows": ["rows"]})
        body = list[str]()
        for _ in range(self.choose(range(3, 7))):
            body += self.statement(scope)
        body += self.result(scope)
        body = self.with_returns(body, scope)
        starts = [state.start for state in self.states] or ["pass"]
        lines = [
            *(helper.text + "\n" for helper in self.helpers),
            "class Model(nn.Layer):",
            "    def __init__(self):",
            "        super().__init__()",
            *(f"        {start}" for start in starts),
            "",
            *(state.methods for state in self.states if state.methods),
            "    def forward(self, x, rows):",
            *(f"        {line}" for line in body),
        ]
        return PRELUDE + CHECKED + "\n\n" + "\n".join(lines) + "\n"

    # -- expressions -------------------------------------------------------------------------

    def expression(self, kind: str, scope: Scope, depth: int = 0) -> str:
        """An expression of a kind; NothingFits if there is none."""
        if kind == "c":
            return str(self.choose([1, 2, 3, 4]))
        names = scope.names.get(kind, [])
        if depth > 1 or (names and self.often(2)):
            if not names and kind not in (*SIMPLEST, "test"):
                raise NothingFits(kind)
            names = names if self.often(3) else names[-2:]
            return str(self.choose(names or [SIMPLEST.get(kind, "x[0] > 1")]))
        forms = [*EXPRESSIONS[kind], *names]
        forms += [text for s in self.states for read, text in s.reads if read == kind] * 2
        forms += [helper.call for helper in self.helpers if helper.kind == kind] * 2
        for _ in range(4):
            if forms:
                with contextlib.suppress(NothingFits):
                    return self.filled(self.choose(forms), scope, depth + 1)
        raise NothingFits(kind)

    def filled(
        self, text: str, scope: Scope, depth: int = 0, chosen: dict[str, str] | None = None
    ) -> str:
        """A text with its places filled in; `chosen` says what `@kind` is."""
        chosen = {} if chosen is None else chosen

        def of_name(match: re.Match[str]) -> str:
            kind = match[1]
            if kind not in chosen:
                if not scope.names.get(kind):
                    raise NothingFits(kind)
                chosen[kind] = self.choose(scope.names[kind])
            return chosen[kind]

        def of_kind(match: re.Match[str]) -> str:
            made = self.expression(match[1], scope, depth)
            before, after = text[: match.start()], text[match.end() :]
            opens = not before or before.endswith(OPENING)
            stands_alone = opens and (not after or after.startswith(CLOSING))
            return made if stands_alone or is_atom(made) else f"({made})"

        text = re.sub(r"@(\w+)", of_name, text)
        filled = re.sub(r"<(\w+)>", of_kind, text)
        if SILLY.search(filled):
            raise NothingFits(text)
        return filled

    # -- statements --------------------------------------------------------------------------

    def statement(self, scope: Scope) -> list[str]:
        """The lines of a statement that fits."""
        self.budget -= 1
        for _ in range(20):
            with contextlib.suppress(NothingFits):
                return self.written(self.drawn(scope), scope)
        return self.written(Idiom("x = x + 1"), scope)

    def drawn(self, scope: Scope) -> Idiom:
        """An idiom that may stand there."""
        simple = [
            *STATEMENTS,
            *(Idiom(text, often=4) for s in self.states for text in s.statements),
        ]
        if scope.in_loop and self.often(6):
            return self.weighted(JUMPS)
        if scope.depth and self.often(12):
            return Idiom("if <test>:\n    <return>")
        if self.often(40):
            return self.weighted(RAISES)
        if self.budget < 0 or scope.depth > 2:
            return self.weighted(simple)
        tables = [simple, simple, BLOCKS] if scope.depth else [NEW, WHOLE, WHOLE, BLOCKS, BLOCKS]
        return self.weighted(self.choose(tables))

    def written(self, idiom: Idiom, scope: Scope) -> list[str]:
        """The lines of an idiom; its new variables are bound from there on."""
        fresh: dict[str, str] = {}
        chosen: dict[str, str] = {}

        def new(match: re.Match[str]) -> str:
            if match[1] not in fresh:
                fresh[match[1]] = scope.fresh(match[1])
            return fresh[match[1]]

        in_loop, lines = False, list[str]()
        for line in re.sub(r"\$(\w+)", new, idiom.text).split("\n"):
            indent, text = re.match(r"( *)(.*)", line).groups()  # type: ignore[union-attr]
            in_loop = in_loop or text.startswith(("for ", "while "))
            if text.startswith("<do"):
                inner = self.inner_scope(text, scope.inner(in_loop), fresh, chosen)
                block = [
                    more for _ in range(self.choose([1, 1, 2])) for more in self.statement(inner)
                ]
            elif text == "<return>":
                block = self.result(scope)
            else:
                block = [self.filled(text, scope, 0, chosen)]
                if re.fullmatch(r"(.+) = \1", block[0]):
                    raise NothingFits(text)
            lines += [indent + more for more in block]
        for pair in idiom.gives.split():
            name, _, kind = pair.partition(":")
            scope.add(kind, fresh[name])
        return lines

    def inner_scope(
        self, hint: str, scope: Scope, fresh: dict[str, str], chosen: dict[str, str]
    ) -> Scope:
        """What `<do v:scalar -list>` asks for."""
        for word in hint.strip("<>").split()[1:]:
            if word.startswith("-"):
                scope.leave(word[1:], chosen[word[1:]])
            else:
                name, _, kind = word.partition(":")
                scope.add(kind, fresh[name])
        return scope

    def result(self, scope: Scope) -> list[str]:
        """A `return`, whose kinds are known when all variables are."""
        self.returns.append(scope.inner(False))
        return [f"return {len(self.returns) - 1}"]

    def with_returns(self, lines: list[str], scope: Scope) -> list[str]:
        """The same lines, where every `return` gives the same kinds."""
        left = [
            (k, r) for k, names in scope.names.items() if k in RESULTS for r in range(len(names))
        ]
        kinds = list[str]()
        for _ in range(self.choose([1, 2, 2, 3, 4])):
            weighted = [(kind, r) for kind, r in left for _ in range(RESULTS[kind])]
            if weighted:
                kinds.append(self.choose(weighted)[0])
                left.remove((kinds[-1], kinds.count(kinds[-1]) - 1))

        def texts(match: re.Match[str]) -> str:
            place = self.returns[int(match[1])]
            parts = list[str]()
            for kind in kinds:
                parts.append(self.returned(kind, place, parts))
            return "return " + ", ".join(parts)

        return [re.sub(r"\breturn (\d+)$", texts, line) for line in lines]

    def returned(self, kind: str, scope: Scope, before: Sequence[str]) -> str:
        """A variable of a kind that is not returned yet, or something else that is one."""
        names = [name for name in scope.names.get(kind, ()) if name not in before]
        if names and not self.often(4):
            return str(self.choose(names[-2:]))
        try:
            return self.expression(kind, scope)
        except NothingFits:
            return SIMPLEST[kind]


def program_of(seed: int) -> str:
    """The text of the program of a seed."""
    return Writer(random.Random(seed).choice).program()


# -- running it both ways --------------------------------------------------------------------


def shown(value: Any) -> Any:
    """A value as what == compares, with what objects hold."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(entry) for entry in value]
    if isinstance(value, dict):
        return "dict", [(key, shown(entry)) for key, entry in value.items()]
    if type(value).__name__ in ("Item", "Stats"):
        return type(value).__name__, shown(vars(value))
    return comparable(value)


def loosely(value: Any) -> Any:
    """What was shown, with numbers in place of numbers and tensors of no axes."""
    if isinstance(value, tuple) and value[0] == "tensor" and value[2] == []:
        return float(value[3])
    if isinstance(value, tuple) and value[0] in ("int", "float", "bool"):
        return float(value[1])
    if isinstance(value, (list, tuple)):
        return [loosely(entry) for entry in value]
    return value


def outcome(model: Any, layer: Any, inputs: Any) -> Any:
    """The result or the exception of a call, and the state that it leaves."""
    tensors = [dy2st.to_tensor(np.array(values, "float32")) for values in inputs]
    try:
        result = shown(model(*tensors))
    except Dy2stError:
        raise
    except Exception as error:
        result = ("raised", type(error).__name__, str(error).splitlines()[:1])
    held = {name: getattr(layer, name) for name in HELD if hasattr(layer, name)}
    try:
        return result, shown(held)
    except Dy2stError as error:
        return result, f"a placeholder is left: {error}"


def compare(text: str, name: str = "<random model>", has_spec: bool = True) -> str:
    """Run a program both ways: "equal", or what is refused; AssertionError if they differ."""
    kind = define(text, name, "Model")
    eager, layer = kind(), kind()
    expected = [outcome(eager, eager, inputs) for inputs in INPUTS]
    specs = [InputSpec([None], "float32", "x"), InputSpec([None, 3], "float32", "rows")]
    found = list[Any]()
    try:
        static = to_static(layer, input_spec=specs if has_spec else None)
        found += [outcome(static, layer, inputs) for inputs in INPUTS]
    except Dy2stError as error:
        return f"refused: {type(error).__name__}: {reason(error)}"
    if found == expected:
        return "equal"
    for number, (wanted, got) in enumerate(zip(expected, found, strict=True), start=1):
        if got != wanted and got[0] == wanted[0] and got[0][0] == "raised":
            return "the state after an error differs"
        assert loosely(got) == loosely(wanted), (
            f"{text}\ncall {number}, {INPUTS[number - 1]}\nPython  {wanted}\nProgram {got}"
        )
    return "equal loosely"


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """TimeoutError if what is inside takes longer."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def compare_seed(seed: int, text: str, name: str) -> str:
    """Compare a program; every third is traced for its sizes first."""
    with within(SECONDS):
        return compare(text, name, has_spec=seed % 3 != 0)


def main() -> int:
    """Compare many programs; print the first differences and why others were refused."""
    return campaign(__doc__, program_of, compare_seed)


if __name__ == "__main__":
    sys.exit(main())
