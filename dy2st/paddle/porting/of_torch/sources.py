"""Reads what sources use of torch, and changes them: imports, names and calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dy2st.paddle.porting.edits import Edits
from dy2st.paddle.porting.names import exists
from dy2st.paddle.porting.of_torch.calls import Plan, plan
from dy2st.paddle.porting.of_torch.names import is_of_torch, names_of_torch, ours, why_not
from dy2st.paddle.porting.of_torch.tables import DIFFERENCES, ONE_ARGUMENT, SPACES
from dy2st.paddle.porting.uses import PLAIN, Reader

_INNER = re.compile(r"^nn\.modules\.\w+\.")
_COMMA = re.compile(rb"(\s*,)?")


class Use(NamedTuple):
    """One use of a name of torch, the statement that it is in, and what becomes of a call."""

    name: str
    node: ast.expr | ast.alias
    statement: ast.stmt
    call: ast.Call | None = None
    plan: Plan | None = None

    @property
    def is_here(self) -> bool:
        """Whether dy2st has it, under whatever name."""
        return bool(self.target) or is_space(self.name)

    @property
    def target(self) -> str:
        """What it is called here."""
        return self.plan.ours if self.plan is not None and self.plan.ours else ours(self.name)

    @property
    def remark(self) -> str:
        """What nobody can change but its author; empty where nothing is."""
        if not self.is_here:
            return f"torch.{self.name}: {why_not(self.name) or 'dy2st has nothing like it'}"
        about = DIFFERENCES.get(self.name, "") if isinstance(self.node, ast.expr) else ""
        if self.name in ONE_ARGUMENT and self.call is not None:
            given = len(self.call.args) + len(self.call.keywords)
            about = about if given > (not self.name.startswith("Tensor.")) else ""
        if not about and self.plan is not None and self.plan.lost:
            about = f"no argument {', '.join(self.plan.lost)} here"
        return about and f"torch.{self.name}: {about}"


class TorchSource(NamedTuple):
    """A file that imports torch: its uses, or why it cannot be read."""

    path: Path
    uses: list[Use]
    imports: list[ast.Import | ast.ImportFrom]
    bound: dict[str, str]
    error: str = ""


def is_space(name: str) -> bool:
    """Whether a name of torch is a name space that is here, under whatever name."""
    return bool(space(name)) or not name


@cache
def space(name: str) -> str:
    """The name space of ours that stands for one of torch's; empty where there is none."""
    if why_not(name):
        return ""
    for theirs, found in SPACES.items():
        if name == theirs or name.startswith(f"{theirs}."):
            name = f"{found}{name[len(theirs) :]}".lstrip(".") or "."
            break
    homes = filter(None, map(ours, names_of_torch()))
    is_one = any(home.startswith(f"{name}.") for home in homes) and exists(name)
    return name if is_one or name == "." else ""


def read(path: Path) -> TorchSource:
    """What a file uses of torch."""
    try:
        text = path.read_bytes()
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
        return TorchSource(path, [], [], {}, str(error))
    reader = _TorchReader(str(path), Edits(text).text)
    reader.visit(tree)
    return TorchSource(path, reader.found, reader.imports, reader.bound)


class _TorchReader(Reader):
    """Keeps the nodes of uses, and the calls that they are part of."""

    def __init__(self, file: str, text: Callable[[ast.expr], str]) -> None:
        """`text` gives the source of an expression."""
        super().__init__(file, "torch", _methods())
        self.found: list[Use] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self._text, self._calls = text, dict[ast.expr, ast.Call]()
        self._statement: ast.stmt = ast.Pass()

    def visit_Module(self, node: ast.Module) -> None:
        """Remember which statement an alias is of, and which call a function."""
        self._owners = {
            alias: entry
            for entry in ast.walk(node)
            if isinstance(entry, (ast.Import, ast.ImportFrom))
            for alias in entry.names
        }
        self._calls = {one.func: one for one in ast.walk(node) if isinstance(one, ast.Call)}
        super().visit_Module(node)

    def visit_Call(self, node: ast.Call) -> None:
        """`x.split(2)` too, which texts have: by arguments that only tensors take."""
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("split", "sort"):
            named = {one.arg for one in node.keywords} & {"dim", "descending", "stable"}
            first = node.args[0] if node.args else None
            is_number = isinstance(first, ast.Constant) and isinstance(first.value, int)
            if (named or is_number) and self.dotted(function) is None:
                self.use_method(function.attr, node, function.lineno)
        super().visit_Call(node)

    def visit(self, node: ast.AST) -> None:
        """Know the innermost statement."""
        before = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node
            is_own = isinstance(node, ast.Import) and any(
                self.is_inside(alias.name) for alias in node.names
            )
            if is_own or (
                isinstance(node, ast.ImportFrom)
                and not node.level
                and self.is_inside(node.module or "")
            ):
                assert isinstance(node, (ast.Import, ast.ImportFrom))
                self.imports.append(node)
        super().visit(node)
        self._statement = before

    def use(self, name: str, node: ast.expr | ast.alias) -> None:
        """Note a name, with what becomes of the call; what hangs on a value is not looked at."""
        name = _INNER.sub("nn.", name)
        super().use(name, node)
        while isinstance(node, ast.Attribute) and _is_value(name) and not is_of_torch(name):
            name, node = name.rpartition(".")[0], node.value
        if isinstance(node, ast.alias):
            self.found.append(Use(name, node, self._owners[node]))
            return
        call = self._calls.get(node)
        made = None if call is None else plan(name, call, self._text)
        self.found.append(Use(name, node, self._statement, call, made))

    def use_method(self, name: str, node: ast.Call, line: int) -> None:
        """Note a call of a method, whatever it is a method of: but `self.norm(x)` calls a Layer."""
        assert isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "self":
            return
        super().use_method(name, node, line)
        made = plan(f"Tensor.{name}", node, self._text)
        self.found.append(Use(f"Tensor.{name}", node.func, self._statement, node, made))


def _is_value(name: str) -> bool:
    """Whether a name hangs on one of torch's: `float32.itemsize`."""
    owner = name.rpartition(".")[0]
    return is_of_torch(owner) or _is_value(owner) if owner else False


@cache
def _methods() -> frozenset[str]:
    known = (name.partition(".") for name in names_of_torch())
    owners: dict[str, set[str]] = {"Tensor": set(), "Module": set(), "Optimizer": set()}
    for owner, _, name in known:
        owners.get(owner, set()).add(name)
    shared = owners["Module"] | owners["Optimizer"]
    return frozenset(owners["Tensor"] - PLAIN - shared | {"cuda"})


# -- changes ----------------------------------------------------------------------------------


def rewritten(source: TorchSource, text: bytes) -> bytes:
    """The source for dy2st: imports, names and calls; a comment where its author must look."""
    edits = Edits(text)
    for statement in source.imports:
        _change_import(edits, statement)
    said: set[tuple[int, str]] = set()
    for use in source.uses:
        if isinstance(use.node, ast.expr):
            _change_use(edits, use, source)
        at = (use.statement.lineno, use.remark)
        if use.remark and at not in said:
            said.add(at)
            start = edits.line(use.statement.lineno)
            indent = text[start : edits.start(use.statement)]
            if not indent.strip():
                edits.replace(start, start, indent + f"# dy2st: {use.remark}\n".encode())
    return edits.result()


def _change_import(edits: Edits, statement: ast.Import | ast.ImportFrom) -> None:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name != "torch" and not alias.name.startswith("torch."):
                continue
            name = alias.name.partition(".")[2]
            if alias.asname is None:
                edits.replace(edits.start(alias), edits.end(alias), b"dy2st")
            elif is_space(name):
                found = f"dy2st.{space(name)}".rstrip(".") if name else "dy2st"
                new = f"{found} as {alias.asname}"
                edits.replace(edits.start(alias), edits.end(alias), new.encode())
        return
    start = edits.start(statement)
    before = edits.source[edits.line(statement.lineno) : start]
    apart = "; " if before.strip() else "\n" + before.decode()
    edits.replace(start, edits.end(statement), apart.join(_imports(statement)).encode())


def _imports(statement: ast.ImportFrom) -> Iterator[str]:
    """The lines that import the same names from dy2st; what is not here stays torch's."""
    home = (statement.module or "").partition(".")[2]
    lines: dict[str, list[str]] = {}
    for alias in statement.names:
        name = _INNER.sub("nn.", f"{home}.{alias.name}" if home else alias.name)
        local = alias.asname or alias.name
        if alias.name == "*":
            lines.setdefault(f"dy2st.{space(home)}".rstrip("."), []).append("*")
            continue
        found = space(name) or ours(name)
        if not found or found == ".":
            kept = alias.name if local == alias.name else f"{alias.name} as {local}"
            lines.setdefault(statement.module or "", []).append(kept)
            continue
        owner, _, last = found.rpartition(".")
        text = last if last == local else f"{last} as {local}"
        lines.setdefault(f"dy2st.{owner}".rstrip("."), []).append(text)
    for owner, names in lines.items():
        yield f"from {owner} import {', '.join(names)}"


def _change_use(edits: Edits, use: Use, source: TorchSource) -> None:
    assert isinstance(use.node, ast.expr)
    if use.name == "Tensor.size" and use.call is not None:
        _change_size(edits, use.call)
        return
    if not use.is_here:
        return
    if use.name.startswith("Tensor."):
        end, old = edits.end(use.node), use.name.removeprefix("Tensor.")
        edits.replace(end - len(old), end, use.target.removeprefix("Tensor.").encode())
    else:
        new = _expression(use, source)
        if new is not None:
            edits.replace(edits.start(use.node), edits.end(use.node), new.encode())
    if use.call is not None and use.plan is not None and not use.plan.lost:
        _change_arguments(edits, use.call, use.plan)


def _change_size(edits: Edits, call: ast.Call) -> None:
    """`x.size()` becomes `x.shape`, `x.size(0)` `x.shape[0]`."""
    values = [*call.args, *(one.value for one in call.keywords)]
    end = edits.end(call.func)
    edits.replace(end - len("size"), end, b"shape")
    if not values:
        edits.replace(end, edits.end(call), b"")
        return
    edits.replace(end, edits.start(values[0]), b"[")
    edits.replace(edits.end(values[0]), edits.end(call), b"]")


def _expression(use: Use, source: TorchSource) -> str | None:
    """How a name is written in its file; None where it stays."""
    node, parts = use.node, []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    assert isinstance(node, ast.Name)
    found = use.target or space(use.name).rstrip(".")
    if not parts and node.id != "torch":
        return None  # an import has bound it
    home = source.bound[node.id]
    root = "dy2st" if node.id == "torch" and not home else node.id
    mine = space(home).rstrip(".")
    if not home or found.startswith(f"{mine}."):
        return f"{root}.{found.removeprefix(f'{mine}.') if home else found}".rstrip(".")
    return f"dy2st.{found}" if "torch" in source.bound else None


def _change_arguments(edits: Edits, call: ast.Call, made: Plan) -> None:
    kept_any, count = False, len(made.arguments)
    for place, one in enumerate(made.arguments):
        whole: ast.expr | ast.keyword = one.keyword or one.node
        start, end = edits.start(whole), edits.end(whole)
        if one.form is None:
            following = made.arguments[place + 1] if place + 1 < count else None
            if kept_any:
                last = made.arguments[place - 1]
                start = edits.end(last.keyword or last.node)
            elif following is not None:
                end = edits.start(following.keyword or following.node)
            else:
                end += len(_COMMA.match(edits.source, end)[0])  # type: ignore[index]
            edits.replace(start, end, b"")
            continue
        kept_any = True
        if one.new == one.old:
            continue
        before, mark, after = one.form.partition("{}")
        if mark:
            edits.replace(start, edits.start(one.node), before.encode())
            edits.replace(edits.end(one.node), edits.end(one.node), after.encode())
        else:
            edits.replace(start, end, (one.new or "").encode())
    if made.added:
        place = edits.end(call) - 1
        text = ", ".join(made.added)
        if made.arguments:
            last = made.arguments[-1]
            place = edits.end(last.keyword or last.node)
        edits.replace(place, place, (f", {text}" if kept_any else text).encode())
