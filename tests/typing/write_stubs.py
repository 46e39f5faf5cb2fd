"""Writes what type checkers and editors see of the package: `python -m tests.typing.write_stubs`.

Functions of operators take and give `Any` in the code, methods of tensors are attached to their
class, and many names are loaded late: no checker can follow that. The files in `runtime/dy2st-stubs`
and `runtime/dy2st_runtime-stubs` say it with signatures, from the functions themselves and from
`meanings.py`. What is not in a file there is read in the code.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import dy2st
from dy2st.paddle.spaces import home, space_of
from dy2st_runtime import tensor
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layers.function_layer import OfFunction
from dy2st_runtime.ops.inplace import MADE
from dy2st_runtime.ops.lazy import load_all
from dy2st_runtime.tensor import EagerTensor, Parameter
from tests.test_docstrings import public_modules
from tests.typing import meanings
from tests.typing.tensor_parts import HEAD, HIDDEN, OPERATORS

ROOT = Path(__file__).parents[2]
FOLDERS = {name: ROOT / "runtime" / f"{name}-stubs" for name in ("dy2st", "dy2st_runtime")}
_EMPTY = inspect.Parameter.empty
_VAGUE = ("Any", "object", _EMPTY)

# What annotations say in the code, and what is said here.
_WORDS = {
    "EagerTensor": "Tensor",
    "Variable": "Tensor",
    "Value": "Tensor",
    "Size": "int",
    "Sizes": "int | Sequence[int]",
    "Axes": "int | Sequence[int] | None",
    "Array": "np.ndarray[Any, Any]",
    "ndarray": "np.ndarray[Any, Any]",
    "DType": "np.dtype[Any]",
    "Number": "float | None",
    "AnyFile": "Any",
}
_ABC = "Callable Iterable Iterator Mapping Sequence MutableMapping".split()
_TYPING = "Any NoReturn Literal".split()
_TENSOR_TYPES = "Tensor TensorLike ShapeLike Index".split()
_HOMES = {
    **dict.fromkeys(_ABC, "collections.abc"),
    **dict.fromkeys(_TYPING, "typing"),
    **dict.fromkeys(_TENSOR_TYPES, "dy2st_runtime.ir.tensor"),
    "DTypeLike": "dy2st_runtime.ir.types",
    "Initializer": "dy2st_runtime.nn.initializer",
    "Layer": "dy2st_runtime.nn.layer",
    "ParamAttr": "dy2st_runtime.nn.parameters",
    "Parameter": "dy2st_runtime.tensor",
    "Place": "dy2st_runtime.place",
}
# The functions of tensors, of which the code says little; all others are read in the code.
_OF_TENSORS = (
    "dy2st.nn.init",
    "dy2st.nn.utils",
    "dy2st.paddle.audio.functional",
    "dy2st.paddle.distribution",
    "dy2st.paddle.fft",
    "dy2st.paddle.geometric",
    "dy2st.paddle.incubate",
    "dy2st.paddle.linalg",
    "dy2st.paddle.second_names",
    "dy2st.paddle.signal",
    "dy2st.paddle.tensor",
    "dy2st.paddle.text",
    "dy2st.paddle.vision.ops",
    "dy2st_runtime.autograd",
    "dy2st_runtime.nn.functions",
    "dy2st_runtime.nn.parameters",
    "dy2st_runtime.ops",
    "dy2st_runtime.tensor",
)
_MODELS = "dy2st.paddle.vision.models"
_CLASSES = ("dy2st.paddle.distribution",)  # whose methods take and give tensors
_MAKERS = "form_of from_dlpack from_numpy is_tensor to_tensor".split()  # of the runtime, too
_BUILTIN_TYPES = (
    "bool int float complex str bytes list tuple dict set slice range type object".split()
)


class Stub:
    """One file: what it takes from elsewhere, and what it says."""

    def __init__(self, module: str, doc: str | None) -> None:
        """Take the name of the module."""
        self.module, self.doc = module, doc
        self.plain: set[str] = set()  # `import numpy as np`
        self.imports: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        self.body: list[str] = []
        self.is_read_in_code = False  # the module has things that are

    def take(self, name: str, home: str, shown: str = "") -> None:
        """Import a name, and show it to who imports from here if it goes by `shown`."""
        if shown not in ("", name) and shown[0] != "_":  # only one's own name is shown by `as`
            self.body.append(f"{shown} = _{shown}")
            shown = f"_{shown}"
        self.imports[home].add((name, shown))

    def types(self, text: str, scope: set[str], code: Mapping[str, Any]) -> str:
        """A type as this file writes it, with the imports that it needs; `code` has its names."""
        for word in sorted({*re.findall(r"[A-Za-z_]\w*", re.sub(r"'.*?'", "", text))}):
            known = code.get(word)
            if word in _HOMES and self.module == _HOMES[word]:
                pass
            elif word in _HOMES:
                self.take(word, _HOMES[word])
            elif word == "np":
                self.plain.add("import numpy as np")
            elif word in _BUILTIN_TYPES and word in scope:
                self.plain.add("import builtins")
                text = re.sub(rf"(?<![.\w]){word}\b", f"builtins.{word}", text)
            elif word[0].isupper() and word not in ("None", "True", "False"):
                if word in scope:
                    pass
                elif inspect.isclass(known) and known.__module__.startswith("dy2st"):
                    self.take(word, known.__module__)
                else:
                    self.take("Any", "typing")
                    text = re.sub(rf"\b{word}\b", "Any", text)
        return text

    def text(self) -> str:
        """The file."""
        lines = [f'"""{self.doc}"""', "", *sorted(self.plain)]
        for source, names in sorted(self.imports.items()):
            shown = {as_name for _, as_name in names}
            parts = [
                f"{name} as {as_name}" if as_name else name
                for name, as_name in sorted(names)
                if as_name or name not in shown
            ]
            whole = f"from {source} import {', '.join(parts)}"
            inner = [f"    {part}," for part in parts]
            lines += [whole] if len(whole) < 100 else [f"from {source} import (", *inner, ")"]
        return "\n".join([*lines, "", *self.body, ""])


# -- one function ------------------------------------------------------------------------------


def said(annotation: Any, vague: str = "Any") -> str:
    """An annotation as text, "" where it says nothing; `vague` stands for parts that say nothing."""
    if annotation in _VAGUE:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = re.sub(r"\b\w+\.(?=[A-Z])", "", text.strip("'\""))
    text = re.sub(r"\bAny\b", vague, text)
    return re.sub(r"\w+", lambda word: _WORDS.get(word[0], word[0]), text)


def of_argument(function: str, parameter: inspect.Parameter) -> str:
    """The type of an argument."""
    text = said(parameter.annotation)
    name, default = parameter.name, parameter.default
    if not text:
        known = meanings.OF_FUNCTION.get((function, name))
        known = known or meanings.ARGUMENTS.get(name)
        if known is None:
            simple = isinstance(default, (bool, int, float, str))
            known = type(default).__name__ if simple else "Any"
            known = "float" if known == "int" else known
        text = known
    if default is None and not text.endswith("None") and text not in ("Any", "object"):
        text = f"{text} | None"
    return text


def of_result(function: str, annotation: Any) -> str:
    """The type of a result: one tensor, unless something else is said."""
    return meanings.RESULTS.get(function) or said(annotation, "Tensor") or "Tensor"


def default_of(parameter: inspect.Parameter) -> str:
    """` = 1` where that is short, else ` = ...`."""
    value = parameter.default
    if value is _EMPTY:
        return ""
    plain = value is None or isinstance(value, (bool, int, str))
    plain = plain or (isinstance(value, float) and np.isfinite(value))
    return f" = {value!r}" if plain and not isinstance(value, np.generic) else " = ..."


def arguments(
    stub: Stub,
    function: str,
    signature: inspect.Signature,
    scope: set[str],
    code: Mapping[str, Any],
) -> str:
    """What stands between the brackets."""
    parts, kinds = [], [one.kind for one in signature.parameters.values()]
    for place, parameter in enumerate(signature.parameters.values()):
        kind = parameter.kind
        if kind is parameter.KEYWORD_ONLY and kinds[place - 1 : place] not in (
            [kind],
            [parameter.VAR_POSITIONAL],
        ):
            parts.append("*")
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
        type = stub.types(of_argument(function, parameter), scope, code)
        parts.append(f"{star}{parameter.name}: {type}{default_of(parameter)}")
        if kind is parameter.POSITIONAL_ONLY and kinds[place + 1 : place + 2] != [kind]:
            parts.append("/")
    return ", ".join(parts)


def first_lines(doc: str | None) -> str:
    """What a docstring says first."""
    text = inspect.cleandoc(doc or "").partition("\n\n")[0].replace("\\", "\\\\")
    return " ".join(text.split()).replace('"""', "'''")


def definition(
    stub: Stub,
    name: str,
    value: Any,
    scope: set[str],
    self_type: str = "",
) -> list[str]:
    """A function, or a method if it has a `self`; sizes may be given one by one, too."""
    signature = inspect.signature(value)
    if name.endswith("_") and "kwargs" in signature.parameters:  # `abs_(*args, **kwargs)`
        stem = name.removesuffix("_")
        signature = inspect.signature(MADE.get(stem) or getattr(dy2st, stem))
    own = [*signature.parameters.values()]
    before = ""
    if self_type:
        own, before = own[1:], "self"
    title, code = getattr(value, "__name__", name), vars(inspect.getmodule(value))
    doc = f'    """{first_lines(value.__doc__)}"""' if value.__doc__ else "    ..."

    def line(parameters: list[inspect.Parameter], gives: str) -> str:
        text = arguments(stub, title, signature.replace(parameters=parameters), scope, code)
        whole = ", ".join(part for part in (before, text) if part)
        return f"def {name}({whole}) -> {stub.types(gives, scope, code)}:"

    result = of_result(title, signature.return_annotation)
    forms = [line(own, result)]
    names = [one.name for one in own]
    if "shape" in names[:2] and names[names.index("shape") + 1 :][:1] in (["dtype"], ["name"]):
        at = names.index("shape")
        sizes = own[at].replace(kind=own[at].VAR_POSITIONAL, annotation=_SIZE, default=_EMPTY)
        rest = [one.replace(kind=one.KEYWORD_ONLY) for one in own[at + 1 :]]
        forms.append(line([*own[:at], sizes, *rest], result))
    if title in meanings.ALONE:
        given = [one.replace(default=_EMPTY) if one.name in "xy" else one for one in own]
        forms = [line(own[: not self_type], meanings.ALONE[title]), line(given, result)]
    flags, gives = meanings.FLAGS.get(title, ("", ""))
    for flag in flags.split():
        at = names.index(flag)
        asked = own[at].replace(
            kind=own[at].KEYWORD_ONLY, annotation="Literal[True]", default=_EMPTY
        )
        rest = [one.replace(kind=one.KEYWORD_ONLY) for one in own[at + 1 :]]
        forms.append(line([*own[:at], asked, *rest], gives))
    if flags:
        others = [_fixed(one) if one.name in flags.split() else one for one in own]
        forms[0] = line(others, result)
    if len(forms) == 1:
        return [*forms, doc]
    stub.take("overload", "typing")
    return [part for form in forms for part in ("@overload", form, doc)]


_SIZE = "int | Tensor"


def _fixed(flag: inspect.Parameter) -> inspect.Parameter:
    return flag.replace(annotation="Literal[False]")


# -- the class of tensors ----------------------------------------------------------------------


def indented(lines: list[str]) -> list[str]:
    """Lines of the body of a class."""
    return [f"    {line}" if line else line for line in lines]


def tensor_stub() -> Stub:
    """`dy2st_runtime.ir.tensor`: the class with all methods, those of eager tensors too."""
    stub = Stub("dy2st_runtime.ir.tensor", "Tensor, as users see it.")
    names = sorted({n for n in {*dir(Tensor), *dir(EagerTensor)} if n[0] != "_"} - HIDDEN)
    scope = {*names}
    for source, taken in HEAD[0].items():
        for one in taken.split():
            stub.take(one, source)
    stub.plain |= {"import builtins", "import numpy as np"}
    stub.body += HEAD[1]
    for name in names:
        value = getattr(EagerTensor, name)
        if isinstance(value, property):
            lines = property_lines(stub, name, value, scope)
        elif inspect.isfunction(value):
            lines = definition(stub, name, value, scope, "Tensor")
        else:
            lines = [f"{name}: {stub.types(meanings.ATTRIBUTES[name], scope, {})}"]
        stub.body += indented(lines)
    stub.body += indented(OPERATORS)
    return stub


def runtime_stub() -> Stub:
    """`dy2st_runtime.tensor`: there is one class of tensors to users, and that of parameters."""
    stub = Stub("dy2st_runtime.tensor", "Tensors and parameters, as users see them.")
    stub.take("Tensor", "dy2st_runtime.ir.tensor", "Tensor")
    made = arguments(stub, "Parameter", inspect.signature(Parameter), set(), {})
    stub.body += [
        "EagerTensor = Tensor",
        "class Parameter(Tensor):",
        f'    """{first_lines(Parameter.__doc__)}"""',
        *(f"    {name}: {type}" for name, type in meanings.OF_PARAMETERS.items()),
        f"    def __init__(self, {made}) -> None: ...",
        "    @classmethod",
        "    def from_tensor(cls, tensor: Tensor, **options: Any) -> Parameter: ...",
    ]
    for name in sorted(set(vars(Parameter)) - set(dir(EagerTensor)) - HIDDEN):
        value = vars(Parameter)[name]
        if isinstance(value, property):
            stub.body += indented(property_lines(stub, name, value, set()))
    for name in _MAKERS:
        stub.body += definition(stub, name, getattr(tensor, name), set())
    return stub


def property_lines(stub: Stub, name: str, value: property, scope: set[str]) -> list[str]:
    """A property, which may be written to if it has a setter."""
    assert value.fget is not None
    annotation = getattr(value.fget, "__annotations__", {}).get("return", "Any")
    type = meanings.ATTRIBUTES.get(name) or said(annotation) or "Tensor"
    type = stub.types(type, scope, getattr(value.fget, "__globals__", {}))
    doc = f'    """{first_lines(value.__doc__)}"""' if value.__doc__ else "    ..."
    lines = ["@property", f"def {name}(self) -> {type}:", doc]
    if value.fset is not None:
        lines += [f"@{name}.setter", f"def {name}(self, value: {type}) -> None: ..."]
    return lines


# -- modules -----------------------------------------------------------------------------------


def is_precise(value: Any) -> bool:
    """Whether the annotations of a function say all, so that checkers may read them in the code."""
    module = inspect.getmodule(value)
    if getattr(module, value.__name__, None) is not value:
        return False
    if value.__module__.startswith(_MODELS):
        return False  # it gives a network that is said here
    if not value.__module__.startswith(_OF_TENSORS):
        return True
    signature = inspect.signature(value)
    named = [p for p in signature.parameters.values() if p.kind not in (p.VAR_KEYWORD,)]
    given = [signature.return_annotation, *(one.annotation for one in named)]
    text = " ".join(str(one) for one in given)
    vague = any(one in ("Any", _EMPTY) for one in given)
    return not vague and not re.search(r"\b(EagerTensor|Variable|Value)\b|\[.*Any", text)


class Writer:
    """The files of all public modules: each thing is said once, and shown from elsewhere."""

    def __init__(self) -> None:
        """Find the modules."""
        load_all()
        modules = public_modules()
        names = sorted(modules, key=lambda name: (name.count("."), name))
        first = ["dy2st", "dy2st.nn.functional", "dy2st.nn"]
        order = [*first, *(name for name in names if name not in first)]
        self.modules = {name: modules[name] for name in order if self.has_stub(modules[name])}
        # By the identity of what is said.
        self.homes = {id(getattr(tensor, name)): (tensor.__name__, name) for name in _MAKERS}

    @staticmethod
    def has_stub(module: ModuleType) -> bool:
        """Whether a module is one of the users', with a list of names."""
        name = module.__name__
        is_users = not name.startswith(("dy2st_runtime.", "dy2st.passes", "dy2st.convert"))
        is_users |= name == "dy2st_runtime.ir"  # in which editors look for tensors
        return is_users and bool(dir(module)) and bool(vars(module).get("__file__"))

    def write_module(self, name: str) -> Stub:
        """One file."""
        module = self.modules[name]
        stub = Stub(name, first_lines(module.__doc__))
        names = [n for n in dir(module) if n.isidentifier()]
        own = [n for n in names if not isinstance(getattr(module, n), ModuleType)]
        scope = {*own}
        for entry in names:
            value = getattr(module, entry)
            stub.body += self.entry(stub, entry, value, scope)
        return stub

    def entry(self, stub: Stub, name: str, value: Any, scope: set[str]) -> list[str]:
        """What a file says of one name."""
        if isinstance(value, ModuleType):
            outer, _, last = value.__name__.rpartition(".")
            if vars(value).get("__file__") and outer:
                stub.take(last, outer, name)
            elif not outer:
                stub.plain.add(f"import {last} as {name}")
            return []
        known = self.homes.get(id(value))
        if known is not None:
            home, there = known
            # What is said of a class derives from the class, which stands here.
            stub.is_read_in_code |= inspect.isclass(value) and value.__module__ == stub.module
            if home == stub.module:
                stub.is_read_in_code |= there == name
                return [f"{name} = {there}"]
            stub.take(there, home, name)
            return []
        if inspect.isfunction(value):
            if is_precise(value):
                self.show(stub, name, value)
                return []
            self.homes[id(value)] = (stub.module, name)
            return definition(stub, name, value, scope)
        if inspect.isclass(value):
            if (
                issubclass(value, Layer)
                and is_library(value)
                and value.forward is not Layer.forward
            ):
                self.homes[id(value)] = (stub.module, name)
                return layer_lines(stub, name, value, scope)
            is_own = value.__module__ == stub.module or issubclass(value, Enum)
            if value.__module__.startswith(_CLASSES) and not is_own:
                self.homes[id(value)] = (stub.module, name)
                return class_lines(stub, name, value, scope)
            self.show(stub, name, value)
            return []
        home = imported_from(self.modules[stub.module], name)
        if home:
            stub.take(name, home, name)
            return []
        return [f"{name}: {stub.types(type_of(value), scope, {})}"]

    def show(self, stub: Stub, name: str, value: Any) -> None:
        """Show something that is read in the code."""
        home = value.__module__
        stub.is_read_in_code |= home == stub.module
        if getattr(__import__(home, fromlist=["_"]), value.__name__, None) is value:
            stub.take(value.__name__, home, name)
        else:
            stub.take("Any", "typing")
            stub.body.append(f"{name}: Any")
        self.homes[id(value)] = (home, value.__name__)


def imported_from(module: ModuleType, name: str) -> str:
    """The module that a module takes a name from, "" if it does not say so."""
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            if any(alias.name == name and not alias.asname for alias in node.names):
                return node.module
    return ""


def is_library(kind: type) -> bool:
    """Whether a Layer is one of `nn`, not a network that is made of some."""
    return kind.__module__.startswith(("dy2st_runtime.nn", _MODELS))


def type_of(value: Any) -> str:
    """The type of a value that a module has."""
    if isinstance(value, np.dtype):
        return f"np.dtype[np.{value.name}]" if hasattr(np, value.name) else "np.dtype[Any]"
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else "Any"


def class_lines(stub: Stub, name: str, kind: type, scope: set[str]) -> list[str]:
    """A class: that of the code, with what its methods take and give."""
    stub.take(kind.__name__, kind.__module__, f"_{name}")
    bases = [base.__name__ for base in kind.__mro__[1:] if base.__name__ in scope][:1]
    lines = [f'"""{first_lines(kind.__doc__)}"""']
    inner = scope | {entry for entry in dir(kind) if entry[0] != "_"}
    for entry in ["__init__", *sorted(entry for entry in dir(kind) if entry[0] != "_")]:
        value = getattr(kind, entry)
        if isinstance(value, property):
            lines += property_lines(stub, entry, value, inner)
        elif inspect.isfunction(value):
            lines += definition(stub, entry, value, inner, name)
    return [f"class {name}({', '.join([f'_{name}', *bases])}):", *indented(lines)]


def layer_lines(stub: Stub, name: str, kind: type[Layer], scope: set[str]) -> list[str]:
    """A Layer: that of the code, with what its call takes and gives."""
    stub.take(kind.__name__, kind.__module__, f"_{name}")
    lines = [f"class {name}(_{name}):"]
    if kind.__doc__:
        lines.append(f'    """{first_lines(kind.__doc__)}"""')
    ours = [base for base in kind.__mro__ if is_library(base) and base is not Layer]
    code = "".join(map(inspect.getsource, ours))
    for entry in ("weight", "bias"):  # None only where somebody asked for none
        if f"self.{entry} = self.create_parameter" in code:
            lines.append(f"    {entry}: {stub.types('Parameter', scope, {})}")
    # Settings that the code keeps under private names.
    lines += [f"    {entry}: {stub.types('Any', scope, {})}" for entry in sorted(kind._aliases)]
    made, names_there = inspect.signature(kind), vars(inspect.getmodule(kind))
    text = arguments(stub, name, made, scope, names_there)
    lines.append(f"    def __init__(self, {text}) -> None: ..." if text else "")
    forward = inspect.signature(kind.forward)
    own = [*forward.parameters.values()][1:]
    if issubclass(kind, OfFunction):
        given = inspect.signature(kind._function).parameters.values()
        own = [one for one in given if one.name not in kind.takes.parameters]
        own = [one.replace(kind=one.POSITIONAL_OR_KEYWORD) for one in own if one.name != "training"]
    own = [one.replace(annotation=_tensor_of(one)) for one in own]
    text = arguments(stub, name, forward.replace(parameters=own), scope, names_there)
    result = meanings.RESULTS_OF_LAYERS.get(name) or of_result(name, forward.return_annotation)
    lines.append(f"    def forward(self, {text}) -> {stub.types(result, scope, names_there)}: ...")
    return lines


def _tensor_of(parameter: inspect.Parameter) -> Any:
    """Layers are given tensors: no numbers and arrays, which a class of the user's need not take."""
    known = meanings.ARGUMENTS.get(parameter.name)
    is_vague = parameter.annotation in _VAGUE and known in ("TensorLike", "Sequence[Tensor]")
    return "Tensor" if is_vague else parameter.annotation


def other_names() -> dict[Path, str]:
    """The modules that are there by a second name: `dy2st.vision`, `dy2st.paddle.nn`."""
    found = {}
    for name, module in public_modules().items():
        space = space_of(name)
        is_here = name.startswith("dy2st.paddle.")
        if vars(module).get("__file__") and (is_here or home(space) == name != "dy2st"):
            parts = space.split(".") if is_here else ["paddle", *space.split(".")]
            folder = FOLDERS["dy2st"].joinpath(*parts)
            is_package = hasattr(module, "__path__")
            path = folder / "__init__.pyi" if is_package else folder.with_suffix(".pyi")
            found[path] = f'"""Another name of {name}."""\n\nfrom {name} import *\n'
    return found


def files() -> dict[Path, str]:
    """The text of every file."""
    writer, found = Writer(), other_names()
    stubs = [tensor_stub(), runtime_stub(), *map(writer.write_module, writer.modules)]
    for stub in stubs:
        if stub.is_read_in_code:
            continue
        top, *inner = stub.module.split(".")
        folder = FOLDERS[top].joinpath(*inner)
        is_package = stub.module in writer.modules and hasattr(
            writer.modules[stub.module], "__path__"
        )
        path = folder / "__init__.pyi" if is_package else folder.with_suffix(".pyi")
        found[path] = stub.text()
    for folder in FOLDERS.values():
        found[folder / "py.typed"] = "partial\n"
    return found


def there() -> set[Path]:
    """The files that are there now."""
    return {path for top in FOLDERS.values() for path in top.rglob("*") if path.is_file()}


if __name__ == "__main__":
    written = files()
    for path in there() - {*written}:
        path.unlink()
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
