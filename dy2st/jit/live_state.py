"""The tensors that a Program reads when it runs, and what becomes of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st.convert.joining import describe
from dy2st.convert.outer import Buffer, Change
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Program, Tensor, Tracer, Variable
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.nn.layer import note_other_buffers
from dy2st_runtime.tensor import EagerTensor

Places = Mapping[str, tuple[dict[str, Any], str]]
State = Mapping[str, EagerTensor]


class LiveState:
    """Tensors by name. A registered buffer is whichever tensor its Layer holds at that moment."""

    def __init__(self, tensors: State, places: Places):
        """`places` says where the buffers among the tensors are registered."""
        self._tensors = dict(tensors)
        self.places = {name: place for name, place in places.items() if name in tensors}

    def now(self) -> dict[str, EagerTensor]:
        """The tensors of this moment."""
        known = self._tensors
        for name, (store, attribute) in self.places.items():
            held = store.get(attribute)
            if held is not known[name] and isinstance(held, EagerTensor):
                known[name] = held
        return known

    def last(self) -> dict[str, EagerTensor]:
        """The tensors of the last call, which it may have replaced."""
        return self._tensors

    def only(self, names: Iterable[str]) -> LiveState:
        """Those of some names."""
        return LiveState({name: self._tensors[name] for name in names}, self.places)


@dataclass(frozen=True)
class Apart:
    """The buffers of Layers are other tensors than those that something else holds."""

    live: LiveState

    def holds(self) -> bool:
        """Whether they still are."""
        places = self.live.places
        now = self.live.now()
        others = {id(now[name]) for name in now if name not in places}
        return others.isdisjoint(id(now[name]) for name in places)


@dataclass(eq=False)
class Rebinding:
    """The buffers that become other tensors at every call, by name.

    changes   what the trace has done to them.
    ends      what they are at the end of the Program.
    others    the tensors of the state, or other buffers, one of which they are then, or may be.
    sources   which tensors they surely are, if a caller knows those: of the inputs, the outputs,
              the state, or the other buffers.
    in_place  the tensors of the state that are changed in place.
    cut       those of them that `set_value` changes: no gradient flows through them any more.
    contents  those of them that are no longer the buffers of their names: whoever holds them
              sees the change.
    unknown   as contents, but a branch or loop decides whether they are changed, and where.
    kept      the buffers whose tensors something else holds, too.
    retyped   what becomes of buffers that change their dtype or shape, and where.
    """

    changes: dict[str, Change] = field(default_factory=dict)
    ends: dict[str, Variable] = field(default_factory=dict)
    others: dict[str, list[str]] = field(default_factory=dict)
    sources: dict[str, tuple[str, Any]] = field(default_factory=dict)
    in_place: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    contents: list[str] = field(default_factory=list)
    unknown: dict[str, Location] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    retyped: list[tuple[str, Location | None]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        changes: Sequence[Change],
        tracer: Tracer,
        program: Program,
        state: State,
        elsewhere: Container[int],
    ) -> Rebinding:
        """Those changes after which a buffer is a tensor of the type that it had before.

        `elsewhere` are the tensors that something else holds than one buffer.
        """
        found = cls()
        for change in changes:
            if not isinstance(change.place, Buffer):
                continue
            if not _keeps_type(change):
                types = f"{describe(change.before)}, become {describe(change.after)}"
                found.retyped.append((f"`{change.place.name}`, {types}", change.at))
            else:
                tracer.captured(change.before)
                found.changes.setdefault(_name_of(change.before, state), change)
        found.kept = [name for name in found.changes if id(state[name]) in elsewhere]
        found._follow(tracer, program, state)
        return found

    def _follow(self, tracer: Tracer, program: Program, state: State) -> None:
        """Find out which buffers may be one tensor at the end."""
        self.ends = {name: tracer.variable(c.after) for name, c in self.changes.items()}
        now = {name: tracer.captured(tensor) for name, tensor in state.items()}
        self.in_place = {
            name
            for name, variable in now.items()
            if variable is not program.state[name] or variable.overwritten is not None
        }
        self.cut = {name for name in self.in_place if id(state[name]) in tracer.flags.cut}
        for name, change in self.changes.items():
            if isinstance(change.after, EagerTensor):
                self.sources[name] = ("state", _name_of(change.after, state))
            same = frozenset(tracer.aliases.of(self.ends[name]))
            self.others[name] = [other for other in now if now[other] in same]
            earlier = list(self.changes)[: list(self.changes).index(name)]
            self.others[name] += [other for other in earlier if self.ends[other] in same]
        changed = {name: now[name] for name in self.changes if name in self.in_place}
        self.contents = [name for name in changed if changed[name].overwritten is None]
        places = {name: variable.overwritten for name, variable in changed.items()}
        self.unknown = {name: at for name, at in places.items() if at is not None}

    def places(self) -> Places:
        """Where the buffers are registered."""
        found = {name: change.place for name, change in self.changes.items()}
        return {n: (p.store, p.attribute) for n, p in found.items() if isinstance(p, Buffer)}

    @property
    def needs_objects(self) -> bool:
        """Whether a run has to tell tensors apart that a branch chooses: arrays do not suffice."""
        shared = {*self.kept, *(other for others in self.others.values() for other in others)}
        return bool(self.retyped) or not shared.isdisjoint(self.contents)

    def find_sources(self, program: Program) -> None:
        """Find out which buffers are inputs or outputs of the Program, or each other."""
        known: dict[Variable, tuple[str, Any]] = {}
        for kind, variables in (("outputs", program.block.yields), ("inputs", program.inputs)):
            known.update((variable, (kind, i)) for i, variable in enumerate(variables))
        for name, variable in self.ends.items():
            if variable in known:
                self.sources.setdefault(name, known[variable])
            known.setdefault(variable, ("updates", name))

    def put(self, values: State, known: dict[str, Any]) -> None:
        """Let the buffers be the values of a call, whose inputs, outputs and state are `known`."""
        state = known["state"]
        known["updates"] = made = dict(values)
        for name in self.changes:
            kind, index = self.sources.get(name, ("updates", name))
            made[name] = known[kind][index]
            if kind != "state":
                others = self.others[name]
                chosen = [
                    *(made[o] for o in others if o in self.changes and o != name),
                    *(state[o] for o in others),
                ]
                found = known_tensor(values[name], chosen)
                made[name] = made[name] if found is values[name] else found
        for name, (store, attribute) in self.places().items():
            store[attribute] = made[name]
        if self.kept or any({name} != {name, *others} for name, others in self.others.items()):
            note_other_buffers()

    def check_call(self) -> None:
        """Refuse a call after which nobody knows what a tensor holds that a buffer was before."""
        for name, at in self.unknown.items():
            buffer = self.changes[name].place.name
            raise ConversionError(
                f"the buffer `{buffer}` is changed in place after a branch or loop that depends on "
                "a tensor may have made it another tensor",
                at=at,
                why="whether the tensor that it was before the call is changed, is known only when "
                "the Program runs, and whoever else holds it would see that",
                hint=f"begin with a copy: let `{buffer}` be its own clone()",
            )

    def alone(self, program: Program) -> Program:
        """The Program without its Layer: nobody holds what its buffers were before.

        Refused if it gives a buffer another type, or lets two become one tensor that is changed in
        place: it keeps a value of one type for each name.
        """
        for what, at in self.retyped:
            raise ConversionError(
                f"{program.name}() lets the buffer {what}",
                at=at,
                why="a buffer of a Program that is saved or compiled has one dtype and shape",
                hint="register it as what it becomes, or cast and reshape what is assigned; if it "
                "keeps its type after a call, call the function once before",
            )
        for name, others in self.others.items():
            is_shared = {name} != {name, *others} and self.in_place & {name, *others}
            if is_shared or name in self.kept:
                change = self.changes[name]
                raise ConversionError(
                    f"{program.name}() assigns the buffer `{change.place.name}`, and something "
                    "else holds one of its tensors, too",
                    at=change.at,
                    why="a Program that is saved or compiled has a value of its own for each name",
                    hint="give the other a copy: clone()",
                )
        if not self.contents:
            return program
        made, end = clone(program), len(program.outputs)
        made.structure = program.structure[0]
        del made.block.yields[end - len(self.contents) : end]
        return made


def known_tensor(value: Any, known: Iterable[EagerTensor]) -> Any:
    """The tensor that a branch has chosen of those that are known already, or the value itself."""
    if not isinstance(value, EagerTensor):
        return value
    return next((tensor for tensor in known if tensor.array is value.array), value)


def take_in_place(tensor: EagerTensor, value: EagerTensor, may_be_cut: bool) -> None:
    """A tensor that the call has changed in place; `set_value` cuts it off what it was made of.

    Under `no_grad` gradients go on flowing to that.
    """
    if not may_be_cut and not is_grad_enabled():
        tensor.array = value.array
        return
    is_cut = may_be_cut and tensor.node is not None and value.node is None
    tensor.stopped = value.stopped and (tensor.stopped or is_cut)
    tensor.array, tensor.node, tensor.index = value.array, value.node, value.index


def _keeps_type(change: Change) -> bool:
    before, after = change.before, change.after
    if not isinstance(before, EagerTensor) or not isinstance(after, Tensor):
        return False
    return before.tensor_type == after.tensor_type


def _name_of(tensor: Any, state: State) -> str:
    return next(name for name, known in state.items() if known is tensor)


__all__ = ["Apart", "LiveState", "Places", "Rebinding", "take_in_place"]
