"""The read log of a trace as one function: whether all that was read is still so.

Each place is asked for no more than was read. What must hold is a row: a condition, the lines that
find its owner, and the number that tells what differs. The rows are compiled to one flat function:

    def holds():
      global seen
      if not (d['scale'] is k2 or same(d['scale'], k2)): return guards().differs(3)  # all others
      ...
      if (version := changes()) == seen: return True
      if not k9(o4): return guards().differs(7)                                        # Layers
      ...
      seen = version
      return True

All Layers count their changes together, so 200 Linear take 1 us a call. An attribute of a Layer of
the user's is asked at each call, in 0.06 us: who sets it past `Layer.__setattr__` (`__dict__`,
`object.__setattr__`, a method of his own) is not counted, and Python tells nobody that a dict has
changed (from 3.12 on only C code may watch one). Half of that time goes to reach the Layer, which
guards must not keep alive, and its `__dict__`.
"""

from __future__ import annotations

import weakref
from abc import get_cache_token
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from operator import eq, is_
from types import FunctionType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import Any, TypeAlias, cast

import numpy as np

from dy2st.convert.objects import cell_value, fields_in, is_namespace, is_users, layer_value
from dy2st.convert.replay.places import (
    PLACES,
    AnyNumber,
    Path,
    ReadKey,
    Varied,
    fields_of,
    finder_of,
    first_reads,
    is_kept,
    is_plain_tensor,
    item_value,
    like,
    mro_of,
    path_of,
    same_answer,
    same_as,
    state_as,
    text_of,
    value_at,
    weak,
)
from dy2st.convert.trace import EACH_CALL
from dy2st.convert.types import info, same, same_items
from dy2st.convert.types.values import read_state, same_state
from dy2st.convert.values.special import MISSING
from dy2st_runtime.lazy import cached_property
from dy2st_runtime.nn.layer import Layer, attribute_changes
from dy2st_runtime.nn.layer_tree import hooks_of, stores_of
from dy2st_runtime.tensor import EagerTensor

Read: TypeAlias = "tuple[Any, str, Any, Any]"
Row: TypeAlias = "tuple[list[str], str, int]"
"""The lines before a condition, the condition, and the number of what it asks."""

# What may become an input.
_GONE = -2  # an attribute is not there any more
_MOST_ITEMS = 32  # of a list whose numbers may become inputs
_FEW_NAMES = 3  # for which `in` is faster than one call
_CALLED: tuple[Any, ...] = (
    *(is_, mro_of, fields_of, same, same_items, same_answer, like, cell_value, item_value),
    *(layer_value, hooks_of, text_of, read_state, same_state),
)
_HELPERS = {
    **{one.__name__: one for one in _CALLED},
    **{"M": MISSING, "changes": attribute_changes, "seen": -1, "token": get_cache_token},
}


class Guards:
    """Whether a Program still fits what is outside of it.

    `varied` notes the numbers that the code has written, if they are others than were read.
    """

    def __init__(
        self,
        reads: Iterable[Read],
        skipped: Container[int] = (),
        varied: Varied | None = None,
        written: Container[ReadKey] = (),
        changed: Container[int] = (),
        live: Collection[ReadKey] = (),
        asked: Sequence[Callable[[], bool]] = (),
    ):
        """Take the reads of a trace, but for those of objects that are `skipped`, by id.

        written  the places that the trace has written.
        changed  the containers whose content it has changed, by id.
        live     the places whose tensors are found at each call: their types count.
        asked    what else must hold.
        """
        # Nobody can change an attribute of a dtype that has no fields.
        left = [read for read in reads if id(read[0]) not in skipped]
        of_dtypes = [read for read in left if read[1] == "attr" and isinstance(read[0], np.dtype)]
        fixed = {id(read) for read in of_dtypes if read[0].names is None}
        left = [read for read in left if id(read) not in fixed]
        left = [read for read in left if read[1] == EACH_CALL] or left  # these never hold
        write = _Writer(left, changed, live)
        # Weak, since the function would hold what holds it.
        self._compile = write.compiled(asked, weakref.ref(self))
        self._varied = varied
        self._failed = -1
        self._words = [_in_words(*read[:3]) for read in left]
        self._tensors: dict[int, Path] = {}
        self._numbers: list[tuple[Callable[[], Any], str, Any, Any, AnyNumber, bool]] = []
        # Lists of numbers alone: nothing else is kept alive.
        self._contents = {
            index: (finder_of(owner), [*owner], id(owner) in changed)
            for index, (owner, kind, *_) in enumerate(left)
            if kind == "content"
            and type(owner) in (list, deque)
            and 0 < len(owner) <= _MOST_ITEMS
            and all(map(AnyNumber.like, owner))
        }
        for index, (owner, kind, name, value) in enumerate(left):
            if kind not in PLACES or type(value) not in (int, float, tuple, EagerTensor):
                continue
            is_written = write.is_written(left[index], written)
            form = AnyNumber.like(value)
            if form is not None:
                self._numbers.append((finder_of(owner), kind, name, value, form, is_written))
            elif is_written:
                self._tensors[index] = path_of(left[index], write.parents)

    @cached_property
    def holds(self) -> Callable[[], bool]:
        """The function of all rows, made when it is asked for the first time."""
        return self._compile()

    def differs(self, failed: int) -> bool:
        """Note which place holds something else, and give False."""
        self._failed = failed
        if self._varied is None:
            return False
        # Say what differs, if the next trace can take it as an input.
        if failed in self._tensors:
            self._varied.tensors.add(self._tensors[failed])
        if failed in self._contents:
            reference, items, is_changed = self._contents[failed]
            now = reference()
            if now is not None and len(now) == len(items):
                self._note_items(now, items, is_changed, self._varied)
        for reference, kind, name, number, form, is_written in self._numbers:
            owner = reference()
            now = MISSING if owner is None else value_at(owner, kind, name)
            if not form.fits(now) or now == number:
                continue
            if is_written:
                self._varied.note(owner, kind, name)
            else:
                self._varied.see(owner, kind, name, (number, now))
        return False

    def _note_items(self, owner: Any, items: list[Any], is_changed: bool, varied: Varied) -> None:
        """All numbers of a list may be inputs where one is another than before."""
        for place, (item, now) in enumerate(zip(items, owner, strict=True)):
            form = AnyNumber.like(item)
            if form is not None and form.fits(now):
                if is_changed:
                    varied.note(owner, "item", place)
                elif now != item:
                    varied.see(owner, "item", place, (item, now))

    @property
    def why(self) -> str:
        """What has made it hold no more, in words; nothing if it has held so far."""
        if self._failed == _GONE:
            return "an attribute that it read is gone"
        return self._words[self._failed] if self._failed >= 0 else ""


def _body(rows: Iterable[Row]) -> dict[str, None]:
    """The lines of rows, each once."""
    body: dict[str, None] = {}
    for before, holds, index in rows:
        body |= dict.fromkeys([*before, f"  if not ({holds}): return guards().differs({index})"])
    return body


def _in_words(owner: Any, kind: str, name: Any) -> str:
    """What a read was of."""
    of = f"a {type(owner).__name__}"
    if kind == "item" and isinstance(owner, dict) and is_namespace(owner):
        return f"the global variable `{name}` is another one"
    if kind == "cell":
        return "a variable of a function around it is another one"
    if kind == "attr":
        return f"the attribute `{name}` of {of} is another one"
    if kind == "item":
        return f"the entry {name!r:.60} of {of} is another one"
    if kind in ("content", "length", "has", "names"):
        return f"{of} holds other items"
    return f"what it read of {of} is another one"


class _Writer:
    """Writes the function: a line for each place, and what the lines refer to.

    A list, dict or set is what its place holds at the call; other owners are those of the trace.
    """

    def __init__(self, reads: list[Read], changed: Container[int], live: Collection[ReadKey]):
        self.names: dict[str, Any] = dict(_HELPERS)
        self.owners: dict[int, tuple[str, str]] = {}
        self.met: set[int] = set()  # the owners that the function has found
        self.shown = ""  # the owner whose `__dict__` is in `d` where the next line stands
        self.changed = changed
        self.live, self.is_live = live, False
        layers = [owner for owner, *_ in reads if isinstance(owner, Layer)]
        self.stores = {id(store) for layer in layers for store in stores_of(layer)}
        firsts = first_reads(reads).items()
        self.parents = {key: one for key, one in firsts if key not in self.stores}
        self.numbers: dict[int, tuple[Any, ...]] = {}  # the names of numbers that may be any
        for owner, kind, name, value in reads:
            if kind == "item" and type(value) is AnyNumber:
                self.numbers[id(owner)] = (*self.numbers.get(id(owner), ()), name)
        self.found: dict[int, tuple[str, Any]] = {}
        self.of_layers: list[tuple[int, Read]] = []
        # Classes in which names were looked up, each with those that it does not have.
        looked_up: dict[int, tuple[type, list[str]]] = {}
        for owner, kind, name, value in reads:
            if kind == "class":
                missing = looked_up.setdefault(id(owner), (owner, []))[1]
                missing += [name] if value is MISSING else []
        self.classes = list(looked_up.values())
        self.others: list[tuple[int, Read]] = []
        whole = {id(owner) for owner, kind, name, _ in reads if (kind, name) == ("layer", "all")}
        for index, read in enumerate(reads):
            is_of_layer = isinstance(read[0], Layer) or id(read[0]) in self.stores
            is_of_layer = is_of_layer and id(read[3]) not in self.parents and not _is_plain(read)
            if read[1] == "class" and read[3] is MISSING:
                continue
            if not is_of_layer:
                self.others.append((index, read))
                continue
            if id(read[0]) not in whole or read[2] == "all" or _has_changed(read):
                self.of_layers.append((index, read))
            # Whatever it registers under the name, its `__dict__` would come first.
            if read[1] == "attr" and is_users(read[0]) and read[2] not in read[0].__dict__:
                self.others.append((index, (read[0], "own", read[2], MISSING)))

    def outside(self) -> list[Row]:
        """What must hold of all but Layers."""
        lines = [self.line(index, read) for index, read in sorted(self.others, key=self.cost)]
        # Of the classes that are no bases of others among them: their MROs hold the bases.
        bases = {id(base) for kind, _ in self.classes for base in kind.__mro__[1:]}
        ends = [kind for kind, _ in self.classes if id(kind) not in bases]
        lines += [([], self.mro_as_it_was(kind), -1) for kind in ends]
        lines += [([], self.has_none(*one), -1) for one in self.classes if one[1]]
        # A container that the trace changes must not be another one that it knows: the change would
        # have to show there, too.
        changed = [name for key, (name, _) in self.found.items() if key in self.changed]
        for name in changed:
            others = [other for other, _ in self.found.values() if other != name]
            lines += [([], f"{name} is not {other}", -1) for other in others]
        return lines

    def cost(self, entry: tuple[int, Read]) -> tuple[int, int]:
        """Numbers and texts that need no other line come first."""
        index, (owner, kind, _, value) = entry
        is_free = id(owner) not in self.parents and kind in ("attr", "cell")
        return (0, index) if is_free and info(type(value)).same is eq else (1, index)

    def compiled(
        self, asked: Sequence[Callable[[], bool]], guards: Callable[[], Guards | None]
    ) -> Callable[[], Callable[[], bool]]:
        """What makes the function, in which what several rows have in common is asked once."""
        rows = [*self.outside(), *(([], f"{self.constant(one)}()", -1) for one in asked)]
        first = [f" {line}" for line in _body(rows)] or ["   pass"]
        layers = _body([self.line(index, read) for index, read in self.of_layers])
        text = "\n".join(
            (
                *("def holds():", "  global seen", "  try:", *first),
                f"  except KeyError: return guards().differs({_GONE})",
                "  if (version := changes()) == seen: return True",
                *(line for line in layers if f" {line}" not in first),
                *("  seen = version", "  return True"),
            )
        )
        scope = self.names | {"guards": guards}

        def made() -> Callable[[], bool]:
            found: dict[str, Any] = {}  # not in the scope, which it would hold
            exec(compile(text, "<dy2st guards>", "exec"), scope, found)
            return cast("Callable[[], bool]", found["holds"])

        return made

    # -- one place ------------------------------------------------------------------------------

    def line(self, index: int, read: Read) -> Row:
        """The row of a read."""
        owner, kind, name, value = read
        if kind == "code":
            return [], self.code(owner, value), index
        if kind not in _CONDITIONS:  # nobody knows to ask it again, so its owner may go
            return [], "False", index
        self.is_live = (id(owner), kind, name) in self.live
        before, own = self.owner(owner, index)
        return before, _CONDITIONS[kind](self, owner, own, name, value), index

    def owner(self, owner: Any, index: int) -> tuple[list[str], str]:
        """An expression for an owner, which must not be kept alive if that can be helped."""
        if id(owner) in self.found:
            return [], self.found[id(owner)][0]
        known = self.owners.get(id(owner))
        if known is None:
            reference = weak(owner)
            name = self.constant(owner if reference is None else reference)
            kind = "" if reference is None else self.kind(type(owner))
            known = self.owners[id(owner)] = name, kind
        name, kind = known
        if not kind:
            return [], name
        # A weak reference to an owner that is gone gives None, which is of another type.
        own = f"o{name}"
        if id(owner) in self.met:
            return [], own
        self.met.add(id(owner))
        return [
            f"  {own} = {name}()",
            f"  if type({own}) is not {kind}: return guards().differs({index})",
        ], own

    def constant(self, value: Any) -> str:
        """A name for a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def equal(self, found: str, value: Any) -> str:
        """The condition that an expression gives what was read."""
        kind = type(value)
        if id(value) in self.parents:
            return self.container(found, value)
        if self.is_live:
            return self.of_type(found, value)
        if kind is AnyNumber:
            return f"{self.constant(value.fits)}({found})"
        if value is MISSING:
            return f"{found} is M"
        row = info(kind)
        if row.is_single:
            return f"{found} is {self.constant(value)}"
        known = self.constant(value)
        if row.same is eq:
            sort = self.constant(kind)
            # Identity first, which most calls have; then the type, since 1 == True.
            return f"{found} is {known} or type(v := {found}) is {sort} and v == {known}"
        reference = weak(value)
        if reference is None:
            return f"{found} is {known} or same({found}, {known})"
        self.names[known] = reference
        # A reference to what is gone gives None, which the place may hold by now.
        return f"{found} is {known}() is not None"

    def container(self, found: str, value: Any) -> str:
        """The first place gives the container its name; all others must hold the same one."""
        known = self.found.get(id(value))
        if known is not None:
            return f"{found} is {known[0]}"
        name = f"c{len(self.found)}"
        self.found[id(value)] = name, value
        return f"type({name} := {found}) is {self.constant(type(value))}"

    def kind(self, value: type) -> str:
        """An expression for a class."""
        reference = weak(value)
        return f"{self.constant(reference or value)}" + ("()" if reference else "")

    # -- conditions, by the kind of the read ------------------------------------------------------

    def item(self, owner: Any, own: str, name: Any, value: Any) -> str:
        if isinstance(owner, dict):
            get = f"{own}.get" if id(owner) in self.found else self.constant(owner.get)
            return self.equal(f"{get}({self.constant(name)}, M)", value)
        return self.equal(f"item_value({own}, {self.constant(name)})", value)

    def attr(self, owner: Any, own: str, name: str, value: Any) -> str:
        if name == "__class__":  # found in the class where the object has none of its own
            return f"type({own}) is {self.kind(type(owner) if value is MISSING else value)}"
        if isinstance(owner, Layer) and id(value) not in self.parents:
            return self.of_layer(owner, own, name, value)
        if isinstance(owner, ModuleType) and name in vars(owner):
            return self.equal(f"{self.constant(vars(owner).get)}({name!r}, M)", value)
        held = fields_in(owner)
        slot = getattr(type(owner), name, None)
        is_slot = isinstance(slot, MemberDescriptorType)
        if name == "__dict__":
            return "True"
        if value is MISSING and not isinstance(held, dict) and not is_slot:
            return "True"  # it has no attributes of its own
        is_own = isinstance(held, dict) and held.get(name, MISSING) is value
        if isinstance(owner, type) or is_slot or not is_own:
            return self.equal(f"getattr({own}, {name!r}, M)", value)
        return self.own(owner, own, name, value)

    def own(self, owner: Any, own: str, name: str, value: Any) -> str:
        """What the `__dict__` of an owner holds; rows that follow each other find it once."""
        found = "d" if self.shown == own else f"(d := {own}.__dict__)"
        self.shown = own
        if value is MISSING:
            return f"{name!r} not in {found}"
        return self.equal(f"{found}[{name!r}]", value)

    def of_layer(self, owner: Layer, own: str, name: str, value: Any) -> str:
        found = f"layer_value({own}, {name!r})"
        if _is_plain((owner, "attr", name, value)):
            return self.own(owner, own, name, value)
        if is_plain_tensor(value):
            return self.of_type(found, value)
        return self.equal(found, value)

    def is_written(self, read: Read, written: Container[ReadKey]) -> bool:
        """Whether the trace has written a place, or one through which it is reached."""
        owner, kind, name, _ = read
        above = self.parents.get(id(owner))
        is_above = above is not None and self.is_written(above, written)
        return is_above or (id(owner), kind, name) in written

    def of_type(self, found: str, value: Any) -> str:
        """The condition that an expression gives a tensor of the type of one, or such a tuple."""
        if isinstance(value, tuple):
            kind, own = self.constant(type(value)), f"t{len(self.names)}"
            holds = [f"type({own} := {found}) is {kind} and len({own}) == {len(value)}"]
            for at, one in enumerate(value):
                part, is_one = f"{own}[{at}]", is_plain_tensor(one)
                other = f"same({part}, {self.constant(one)})"
                holds.append(self.of_type(part, one) if is_one else other)
            return " and ".join(holds)
        dtype, shape = self.constant(value.array.dtype), self.constant(value.array.shape)
        return f"like({found}, {dtype}, {shape})"

    def mro_as_it_was(self, kind: type) -> str:
        """A class has its bases, and these have theirs: Python makes a new MRO if any changes."""
        if all(map(is_kept, kind.__mro__)):
            return f"{self.kind(kind)}.__mro__ is {self.constant(kind.__mro__)}"
        return f"{self.constant(same_as(kind.__mro__))}(mro_of({self.kind(kind)}))"

    def has_none(self, kind: type, missing: list[str]) -> str:
        """A class has none of the names that were looked for in vain."""
        held = f"fields_of({self.kind(kind)}).keys()"
        if is_kept(kind):
            held = self.constant(vars(kind).keys())
        if len(missing) > _FEW_NAMES:
            return f"{held}.isdisjoint({self.constant(frozenset(missing))})"
        return " and ".join(f"{name!r} not in {held}" for name in missing)

    def names_(self, owner: type, own: str, name: Any, value: Any) -> str:
        """All that a class holds itself."""
        held = self.constant(tuple(vars(owner)))
        known = self.constant(same_as(vars(owner).values()))
        fields = f"fields_of({self.kind(owner)})"
        return f"tuple({fields}) == {held} and {known}({fields}.values())"

    def class_(self, owner: type, own: str, name: str, value: Any) -> str:
        get = self.constant(vars(owner).get) if is_kept(owner) else ""
        return self.equal(f"{get or f'fields_of({self.kind(owner)}).get'}({name!r}, M)", value)

    def subclass(self, owner: type, own: str, name: type, value: bool) -> str:
        """What an abstract class says of a class: asked again once any class was registered."""
        kind, token = self.kind(name), self.constant(get_cache_token())
        return f"(token() == {token} or {kind} is None or issubclass({kind}, {own}) is {value})"

    def code(self, owner: FunctionType, value: Any) -> str:
        """A function that is gone was made in the trace, or is called no more."""
        reference = weak(owner)
        own = "f" if reference else self.constant(owner)
        code = f"{own}.__code__ is {self.constant(value)}"
        default = f"{own}.__defaults__ is {self.constant(owner.__defaults__)}"
        named = f"{own}.__kwdefaults__ is {self.constant(owner.__kwdefaults__)}"
        if owner.__kwdefaults__:
            held = self.content(owner.__kwdefaults__, f"{own}.__kwdefaults__", None, None)
            named += f" and {held}"
        holds = f"{code} and {default} and {named}"
        return f"(f := {self.constant(reference)}()) is None or {holds}" if reference else holds

    def array(self, owner: Any, own: str, name: Any, value: Any) -> str:
        self.constant(owner.tolist() if owner.dtype.hasobject else None)  # so that ids stay theirs
        return f"text_of({own}) == {self.constant(text_of(owner))}"

    def layer(self, owner: Layer, own: str, name: str, value: Any) -> str:
        if name == "all":
            return f"{self.constant(state_as(owner, value))}({own})"
        return f"same(hooks_of({own}), {self.constant(hooks_of(owner))})"

    def again(self, own: str, name: Any) -> str:
        """The call of a function that is asked once more: its arguments are the name."""
        return f"{own}(*{self.constant(name[0])}, **{self.constant(dict(name[1]))})"

    def content(self, owner: Any, own: str, name: Any, value: Any) -> str:
        """All of it: the owner has not changed since it was read."""
        # What is found at each call: their own reads ask for its kind.
        others = self.numbers.get(id(owner), ())
        others += tuple(key[2] for key in self.live if key[:2] == (id(owner), "item"))
        holds = f"len({own}) == {len(owner)} and "
        if not isinstance(owner, (dict, MappingProxyType)):
            pairs: Iterable[tuple[Any, Any]] = enumerate(owner)
            found = f"[v for k, v in enumerate({own}) if k not in {others}]" if others else own
        else:
            pairs = owner.items()
            holds += f"{self.all_same(own, tuple(owner))} and "
            found = f"{own}.values()"
            if others:
                found = f"[v for k, v in {own}.items() if k not in {self.constant(others)}]"
        return holds + self.all_same(found, tuple(v for k, v in pairs if k not in others))

    def all_same(self, own: str, known: tuple[Any, ...]) -> str:
        if not known:
            return "True"
        if any(map(weak, known)):
            return f"{self.constant(same_as(known))}({own})"
        name = self.constant(known)
        return f"(all(map(is_, {own}, {name})) or same_items({own}, {name}))"


_CONDITIONS: dict[str, Callable[..., str]] = {
    name.rstrip("_"): getattr(_Writer, name)
    for name in ("item", "attr", "class_", "layer", "content", "array", "names_", "subclass", "own")
} | {
    "cell": lambda w, owner, own, name, value: w.equal(f"cell_value({own})", value),
    # Native code may have changed it since.
    "length": lambda w, owner, own, name, value: f"len({own}) == {value}",
    "has": lambda w, owner, own, name, value: f"({w.constant(name)} in {own}) is {bool(value)}",
    # No attribute has come or gone.
    "fields": lambda w, owner, own, *_: f"len({own}.__dict__) == {len(owner.__dict__)}",
    "all": lambda w, owner, own, *_: f"dir({own}) == {w.constant(dir(owner))}",
    "state": lambda w, owner, own, *_: (
        f"same_state(read_state({own}), {w.constant(read_state(owner))})"
    ),
    # Of a function with a cache of its own; of the process a new list or dict by what it holds.
    "cached": lambda w, owner, own, name, value: w.equal(w.again(own, name), value),
    "volatile": lambda w, owner, own, name, value: (
        f"same_answer({w.again(own, name)}, {w.constant(value)})"
    ),
}


def _is_plain(read: Read) -> bool:
    """Whether it is an attribute that the user may set past the Layer: `layer.__dict__[name]`."""
    owner, kind, name, value = read
    is_one = kind == "attr" and isinstance(owner, Layer) and is_users(owner)
    is_one = is_one and owner.__dict__.get(name, MISSING) is not MISSING
    return is_one and not isinstance(value, (Layer, EagerTensor))


def _has_changed(read: Read) -> bool:
    """Whether an attribute of a Layer that was read holds something else since."""
    owner, kind, name, value = read
    return kind == "attr" and layer_value(owner, name) is not value
