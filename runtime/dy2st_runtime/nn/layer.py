"""Layer: parameters, buffers and sublayers under one roof, called like a function.

Settings of our Layers are kept under PaddlePaddle's names, `_stride`, `_epsilon`: models read them,
and classes that are derived from ours have a `stride` or `padding` of their own. `class
Conv2D(Layer, private="_stride ...")` lets `stride` be read too, and written on our own classes
alone. The guards of a Program know both as settings.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from dy2st_runtime import unique_name
from dy2st_runtime.errors import (
    ConversionError,
    DTypeError,
    MissingAttribute,
    PlaceError,
    ShapeError,
    WrongKind,
)
from dy2st_runtime.ir import Tensor, current_tracer
from dy2st_runtime.ir.arguments import as_dtype
from dy2st_runtime.ir.dispatch import stack
from dy2st_runtime.ir.location import (
    hide_own_frames,
    warn_user,
    with_methods_without_own_frames,
    without_own_frames,
)
from dy2st_runtime.ir.spelling import checked
from dy2st_runtime.ir.tracing.changes import state_made
from dy2st_runtime.ir.tracing.tracer import converted
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.nn.initializer import Initializer
from dy2st_runtime.nn.layer_tree import LayerTree, attribute_changes, note_change
from dy2st_runtime.nn.parameters import ParamAttr, make_parameter
from dy2st_runtime.nn.tables import Table
from dy2st_runtime.ops.creation import get_default_dtype
from dy2st_runtime.tensor import EagerTensor, Parameter

_html_page = Lazy("dy2st_runtime.html_page")

Hook = Callable[..., Any]
Convert = Callable[[Callable[..., Any]], Callable[..., Any]]
P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
_MISFITS = (ShapeError, DTypeError, PlaceError)


class HasForward(Protocol[P, R_co]):
    """What a call of a Layer takes and gives: that of its `forward`."""

    @property
    def forward(self) -> Callable[P, R_co]:
        """What computes the outputs: a method, or a converted one."""


class Descriptor(Protocol[P, R_co]):
    """A converted function, bound to its Layer or not yet."""

    @property
    def dygraph_function(self) -> Any:
        """The function as it was."""

    def __get__(self, instance: Layer, owner: type | None = None) -> Callable[P, R_co]:
        """Bind it."""


class HasConvertedForward(Protocol[P, R_co]):
    """A Layer whose `forward` is a converted function."""

    @property
    def forward(self) -> Descriptor[P, R_co]:
        """What computes the outputs."""


class HookRemover:
    """Takes a hook away again.

    >>> net = dy2st.nn.ReLU()
    >>> hook = net.register_forward_post_hook(lambda layer, inputs, y: y + 1.0)
    >>> net(dy2st.ones([1])).item(), hook.remove(), net(dy2st.ones([1])).item()
    (2.0, None, 1.0)
    """

    def __init__(self, hooks: OrderedDict[int, Hook], key: int, layer: Layer | None = None):
        """Remember where the hook is."""
        self._hooks, self._key, self._layer = hooks, key, layer

    def remove(self) -> None:
        """Remove the hook; a second time does nothing."""
        if self._key in self._hooks:
            note_change(self._layer)
            del self._hooks[self._key]


class LayerHelper:
    """Makes parameters for a Layer, and knows the default dtype."""

    def __init__(self, layer: Layer):
        """Take the Layer."""
        self._layer = layer
        self.name = layer.full_name()

    def get_default_dtype(self) -> str:
        """The name of the dtype of floats made without one."""
        return get_default_dtype()

    def create_parameter(
        self,
        attr: Any,
        shape: Any,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Parameter | None:
        """`create_parameter` of the Layer, with its arguments in another order."""
        made: Parameter | None = self._layer.create_parameter(
            shape, attr, dtype, is_bias, default_initializer
        )
        return made


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@with_methods_without_own_frames
class Layer(LayerTree):
    """Base of all layers and models.

    A model makes its parts in `__init__`, behind `super().__init__()`, and writes `forward`.
    Assigning a Parameter, a Layer or a tensor to an attribute registers it: as parameter, sublayer
    or buffer. Such a buffer is not part of `state_dict`; see `register_buffer`.

    >>> class Net(dy2st.nn.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = dy2st.nn.Linear(4, 8)
    ...         self.last = dy2st.nn.Linear(8, 2)
    ...     def forward(self, x):
    ...         return self.last(dy2st.relu(self.hidden(x)))
    >>> net = Net()
    >>> net(dy2st.ones([3, 4])).shape, len(net.parameters())
    ([3, 2], 4)
    >>> net
    Net(
      (hidden): Linear(in_features=4, out_features=8)
      (last): Linear(in_features=8, out_features=2)
    )
    """

    training: bool
    _full_name: str
    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_post_hooks: OrderedDict[int, Hook]
    _hooks_with_kwargs: set[int]

    # Other names of attributes: `stride` reads `_stride`. PaddlePaddle's are the private ones, so
    # classes derived from our Layers may have a `stride` of their own: only ours rename on writing.
    _aliases: ClassVar[dict[str, str]] = {}
    _renamed: ClassVar[dict[str, str]] = {}

    def __init_subclass__(cls, private: str = "", **others: Any) -> None:
        """Take settings of a Layer: `_stride` is `stride` too; `weight:scale` is another name."""
        super().__init_subclass__(**others)
        pairs = [entry.partition(":") for entry in private.split()]
        own = {(name if real else name[1:]): (real or name) for name, _, real in pairs}
        cls._aliases = {**cls._aliases, **own}
        is_ours = cls.__module__.startswith("dy2st_runtime.")
        cls._renamed = cls._aliases if is_ours else {}
        if is_ours and "__init__" in vars(cls):
            cls.__init__ = checked(cls.__init__)  # type: ignore[method-assign]

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32"):
        """Start empty and in training mode."""
        tracer = current_tracer()
        if tracer is not None:
            tracer.made[id(self)] = self, tracer.block
        set_plain = object.__setattr__
        set_plain(self, "_parameters", Table())
        set_plain(self, "_buffers", Table())
        set_plain(self, "_sub_layers", Table())
        set_plain(self, "_non_persistable_buffer_names_set", set())
        set_plain(self, "_forward_pre_hooks", Table())
        set_plain(self, "_forward_post_hooks", Table())
        set_plain(self, "_state_dict_hooks", Table())
        set_plain(self, "_hooks_with_kwargs", set())
        set_plain(self, "_hook_count", 0)
        is_default = dtype == "float32"
        set_plain(self, "_dtype", as_dtype(get_default_dtype() if is_default else dtype))
        scope = name_scope or unique_name.snake_case(type(self).__name__)
        set_plain(self, "_full_name", unique_name.generate(scope))
        set_plain(self, "training", True)

    # -- calling -----------------------------------------------------------------------------

    if TYPE_CHECKING:
        forward: Any  # each has its own arguments, and a converted function may take its place
    else:

        def forward(self, *inputs: Any, **kwargs: Any) -> Any:
            """Compute the outputs; every model writes its own.

            >>> class Double(dy2st.nn.Layer):
            ...     def forward(self, x):
            ...         return x * 2
            >>> Double()(3)
            6
            """
            raise NotImplementedError(f"{type(self).__name__} has no forward()")

    @overload
    def __call__(
        self: HasConvertedForward[P, R_co], *inputs: P.args, **kwargs: P.kwargs
    ) -> R_co: ...

    @overload
    def __call__(self: HasForward[P, R_co], *inputs: P.args, **kwargs: P.kwargs) -> R_co: ...

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Run the pre hooks, `forward`, and the post hooks."""
        tracer = current_tracer() if stack.interpreters else None
        if tracer is not None:
            if tracer.host is None:
                return self._call(inputs, kwargs, converted)
            return tracer.host.call(Layer.__call__, self, *inputs, **kwargs)
        try:
            # What `_call` does for most layers, without a step more: they are called all the time.
            if self._forward_pre_hooks:
                return self._call(inputs, kwargs)
            forward = self.forward
            outputs = forward(*inputs, **kwargs) if kwargs else forward(*inputs)
            return self._after(inputs, kwargs, outputs) if self._forward_post_hooks else outputs
        except BaseException as error:  # goes on, without our frames
            hide_own_frames(error)
            note_layer(error, self)
            raise

    def _call(
        self,
        inputs: tuple[Any, ...],
        kwargs: dict[str, Any],
        convert: Convert = _unchanged,
    ) -> Any:
        for key, hook in _entries(self._forward_pre_hooks):
            inputs, kwargs = self._before(key, convert(hook), inputs, kwargs)
        return self._after(inputs, kwargs, convert(self.forward)(*inputs, **kwargs), convert)

    def _after(
        self,
        inputs: tuple[Any, ...],
        kwargs: dict[str, Any],
        outputs: Any,
        convert: Convert = _unchanged,
    ) -> Any:
        """The outputs after the hooks of `register_forward_post_hook`."""
        for key, hook in _entries(self._forward_post_hooks):
            given = (inputs, kwargs) if key in self._hooks_with_kwargs else (inputs,)
            changed = convert(hook)(self, *given, outputs)
            if changed is not None:
                outputs = changed
        return outputs

    def _before(
        self, key: int, hook: Hook, inputs: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The inputs after a hook of `register_forward_pre_hook`."""
        if key not in self._hooks_with_kwargs:
            changed = hook(self, inputs)
            if changed is None:
                return inputs, kwargs
            return (changed if isinstance(changed, tuple) else (changed,)), kwargs
        changed = hook(self, inputs, kwargs)
        if changed is None:
            return inputs, kwargs
        if not isinstance(changed, tuple) or len(changed) != 2:
            raise WrongKind("a pre hook with kwargs returns None or (inputs, kwargs)")
        return changed

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemover:
        """Call `hook(layer, inputs)` before forward; what it returns replaces the inputs.

        `prepend` puts it before the other hooks. With `with_kwargs` it is called as
        `hook(layer, inputs, kwargs)` and returns None or (inputs, kwargs).

        >>> net = dy2st.nn.Identity()
        >>> _ = net.register_forward_pre_hook(lambda layer, inputs: (inputs[0] * 10,))
        >>> net(7)
        70
        """
        return self._register(self._forward_pre_hooks, hook, prepend, with_kwargs)

    def register_forward_post_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemover:
        """Call `hook(layer, inputs, outputs)` after; what it returns replaces the outputs.

        `prepend` puts it before the other hooks. With `with_kwargs` it is called as
        `hook(layer, inputs, kwargs, outputs)`.

        >>> net = dy2st.nn.Identity()
        >>> _ = net.register_forward_post_hook(lambda layer, inputs, outputs: outputs + 1)
        >>> net(7)
        8
        """
        return self._register(self._forward_post_hooks, hook, prepend, with_kwargs)

    register_forward_hook = register_forward_post_hook

    def register_state_dict_hook(self, hook: Hook) -> HookRemover:
        """Call `hook(state)` at the end of `state_dict`; what it returns replaces the state.

        >>> net = dy2st.nn.Linear(2, 3)
        >>> _ = net.register_state_dict_hook(lambda state: {f"net.{n}": state[n] for n in state})
        >>> list(net.state_dict())
        ['net.weight', 'net.bias']
        """
        return self._register(self._state_dict_hooks, hook, False, False)

    def _register(
        self, hooks: OrderedDict[int, Hook], hook: Hook, prepend: bool, with_kwargs: bool
    ) -> HookRemover:
        note_change(self)
        key = self._hook_count + 1
        object.__setattr__(self, "_hook_count", key)
        hooks[key] = hook
        if prepend:
            hooks.move_to_end(key, last=False)
        if with_kwargs:
            self._hooks_with_kwargs.add(key)
        return HookRemover(hooks, key, self)

    # -- attributes --------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Tensor:
        """Parameters, buffers and sublayers by name.

        To type checkers what is never assigned is a tensor: a class whose Layers are registered by
        `add_sublayer` says `block1: nn.Layer`.
        """
        found: Tensor
        for store in ("_parameters", "_buffers", "_sub_layers"):
            entries = self.__dict__.get(store)
            if entries is not None and name in entries:
                found = entries[name]
                return found
        if name in self._aliases:
            found = getattr(self, self._aliases[name])
            return found
        kind = type(self).__name__
        try:
            if "_parameters" not in self.__dict__:
                raise MissingAttribute(
                    f"{kind}.__init__ has not called super().__init__(): write it first there",
                    name=name,
                )
            reason = f"{kind!r} object has no attribute {name!r}"
            raise MissingAttribute(reason, name=name, known=partial(dir, self))
        except AttributeError as error:  # goes on, without this frame
            hide_own_frames(error)
            raise

    @without_own_frames
    def __setattr__(self, name: str, value: Any) -> None:
        """Register Parameters, Layers and tensors; keep everything else as it is."""
        name = self._renamed.get(name, name)
        is_property = isinstance(getattr(type(self), name, None), property)
        # Nothing is to do where a plain attribute holds just this object.
        own = self.__dict__
        is_held = name in own and own[name] is value and not isinstance(value, (Tensor, Layer))
        if is_held and not is_property:
            return  # nothing changes: who traces has nothing to do at each call
        note_change(self)
        if is_property:
            object.__setattr__(self, name, value)
            return
        # Where a value of this kind is registered, None for plain attributes.
        if not isinstance(value, (EagerTensor, Layer)):
            store = None
        else:
            if "_parameters" not in self.__dict__:
                raise AttributeError(
                    f"{type(self).__name__}.__init__ assigns a tensor or Layer before "
                    "super().__init__() is called"
                )
            if isinstance(value, Parameter):
                store = self._parameters
            else:
                store = self._sub_layers if isinstance(value, Layer) else self._buffers
        tracer = current_tracer()
        if tracer is not None and id(self) not in tracer.made:
            self._set_while_tracing(name, value)
            return
        is_lost = value is not None and not isinstance(value, (Parameter, Layer))
        if is_lost and name in self.__dict__.get("_parameters", ()):
            # A parameter is not lost by an assignment that was to change its numbers.
            raise WrongKind(
                f"{type(self).__name__}.{name} is a Parameter and is set to "
                f"{type(value).__name__}, which would be trained no more: change its numbers by "
                f"layer.{name}.set_value(...), or write del layer.{name} first"
            )
        if store is None and not (value is None and name in self._buffers):
            self._forget(name)
            object.__setattr__(self, name, value)
            return
        if value is None:
            self._buffers[name] = None
            return
        if store is not self._store_of(name):
            self._forget(name)
        self.__dict__.pop(name, None)
        assert store is not None
        if store is self._buffers and name not in store:
            self._non_persistable_buffer_names_set.add(name)
        store[name] = value
        if hasattr(type(self), name):  # the user's `self.half = ...` comes before our method half
            self.__dict__[name] = value

    @without_own_frames
    def __delattr__(self, name: str) -> None:
        """Remove an attribute or what is registered under the name."""
        note_change(self)
        if self._store_of(name) is None:
            object.__delattr__(self, name)
        else:
            self._forget(name)

    def __dir__(self) -> list[str]:
        """Registered names too."""
        return [
            *super().__dir__(),
            *self._parameters,
            *self._buffers,
            *self._sub_layers,
        ]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes of a copied or loaded Layer; its converted methods become mine."""
        note_change(self)
        for name, value in state.items():
            if hasattr(type(value), "bound_to"):  # of the type: an attribute may answer all names
                is_own = getattr(value.class_instance, "__dict__", {}).get(name) is value
                value = value.bound_to(self) if is_own else value
            self.__dict__[name] = value

    def _store_of(self, name: str) -> dict[str, Any] | None:
        """Where a name is registered now."""
        for store in (self._parameters, self._buffers, self._sub_layers):
            if name in store:
                return store
        return None

    def _forget(self, name: str) -> None:
        note_change(self)
        store = self._store_of(name) if "_parameters" in self.__dict__ else None
        if store is None:
            return
        del store[name]
        self.__dict__.pop(name, None)
        self._non_persistable_buffer_names_set.discard(name)

    def _set_while_tracing(self, name: str, value: Any) -> None:
        """Buffers take traced tensors; anything else needs a trace for every call: say so."""
        is_tensor = isinstance(value, Tensor) and getattr(value, "number", None) is None
        if name in self._buffers and (is_tensor or value is None):
            self._buffers[name] = value
            return
        if isinstance(value, (Tensor, Layer)) or name in self._buffers:
            kind = "Layer" if isinstance(value, Layer) else "tensor" if is_tensor else "number"
            raise ConversionError(
                f"the attribute {name!r} of {type(self).__name__} is set to a {kind} while the "
                "function is traced",
                why="a Program keeps values between calls only in registered buffers",
                hint=f"register_buffer({name!r}, ...) in __init__, or return the value",
            )
        warn_user(
            f"the attribute {name!r} of {type(self).__name__} is set while the "
            "function is traced, so every call traces it anew, which takes long. "
            "Keep the value in a buffer (register_buffer) if it must change at every call."
        )
        object.__setattr__(self, name, value)

    # -- registering -------------------------------------------------------------------------

    @overload
    def create_parameter(
        self,
        shape: Any,
        attr: Literal[False],
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> None: ...

    @overload
    def create_parameter(
        self,
        shape: Any,
        attr: ParamAttr | Initializer | str | bool | None = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Parameter: ...

    def create_parameter(
        self,
        shape: Any,
        attr: Any = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Parameter | None:
        """A new Parameter, not yet registered; None if `attr` is False.

        `attr` is a ParamAttr or a name. Without an initializer weights are Xavier-uniform and
        biases zero.

        >>> net = dy2st.nn.Layer()
        >>> net.weight = net.create_parameter([2, 3])
        >>> net.weight.shape, net.create_parameter([3], attr=False)
        ([2, 3], None)
        """
        wanted = self._dtype if dtype is None else as_dtype(dtype)
        return make_parameter(shape, wanted, attr, is_bias, default_initializer, self._full_name)

    def create_tensor(
        self, name: str | None = None, persistable: bool | None = None, dtype: Any = None
    ) -> EagerTensor:
        """A tensor with no elements, not yet registered; `persistable` has no effect.

        >>> dy2st.nn.Layer().create_tensor().shape
        [0]
        """
        wanted = self._dtype if dtype is None else as_dtype(dtype)
        return EagerTensor(np.empty([0], wanted), name=name or "")

    create_variable = create_tensor

    @property
    def _helper(self) -> LayerHelper:
        """What PaddlePaddle's layers ask for the default dtype."""
        return LayerHelper(self)

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Register a Parameter under a name, and give it back; TypeError for anything else.

        >>> net = dy2st.nn.Layer()
        >>> _ = net.add_parameter("w", net.create_parameter([2]))
        >>> [name for name, _ in net.named_parameters()]
        ['w']
        """
        if parameter is not None and not isinstance(parameter, Parameter):
            raise WrongKind(f"add_parameter takes a Parameter, not {type(parameter).__name__}")
        if parameter is None:
            note_change(self)
            object.__setattr__(self, name, None)
        else:
            setattr(self, name, parameter)
        return parameter

    register_parameter = add_parameter

    def add_sublayer(self, name: str, sublayer: Layer | None) -> Layer | None:
        """Register a Layer under a name; None keeps the name for one that may come.

        >>> net = dy2st.nn.Layer()
        >>> _ = net.add_sublayer("act", dy2st.nn.ReLU())
        >>> net.act
        ReLU()
        """
        if not isinstance(sublayer, (Layer, type(None))):
            given = f"{sublayer!r:.80}"
            if isinstance(sublayer, type):
                given = f"the class {sublayer.__name__}: write {sublayer.__name__}()"
            raise WrongKind(f"{type(self).__name__} takes Layers, not {given}")
        note_change(self)
        if name not in self._sub_layers:  # the place among the others stays
            self._forget(name)
        self._sub_layers[name] = sublayer
        return sublayer

    add_module = register_module = add_sublayer

    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Put a Layer in the place of a dotted name, which must be there if it is `strict`.

        >>> net = dy2st.nn.Sequential(dy2st.nn.Sequential(dy2st.nn.ReLU()))
        >>> net.set_sublayer("0.0", dy2st.nn.Tanh())
        >>> net[0][0]
        Tanh()
        """
        if strict:
            self.get_sublayer(target)
        path, _, name = target.rpartition(".")
        self.get_sublayer(path).add_sublayer(name, layer)

    set_submodule = set_sublayer

    def register_buffer(
        self, name: str, tensor: EagerTensor | None, persistable: bool = True
    ) -> None:
        """Register a tensor that is part of the model but not trained.

        With `persistable=False` it is not part of `state_dict`. KeyError if the name is taken.

        >>> net = dy2st.nn.Layer()
        >>> net.register_buffer("count", dy2st.zeros([]))
        >>> net.count.item(), list(net.state_dict())
        (0.0, ['count'])
        """
        if tensor is not None and not isinstance(tensor, EagerTensor):
            # Say what is no buffer; a traced tensor may become one that has its place already, or
            # one of a Layer that ends with the trace.
            if not isinstance(tensor, Tensor):
                raise WrongKind(f"register_buffer takes a tensor, not {type(tensor).__name__}")
            tracer = current_tracer()
            assert tracer is not None
            if id(self) not in tracer.made:
                what = f"the buffer {name!r} is registered with what a Program computes"
                raise state_made(tracer, what)
        if name in self.__dict__ or self._store_of(name) not in (None, self._buffers):
            raise KeyError(f"{type(self).__name__} has an attribute {name!r} already")
        note_change(self)
        self._buffers[name] = tensor
        if persistable:
            self._non_persistable_buffer_names_set.discard(name)
        else:
            self._non_persistable_buffer_names_set.add(name)

    # -- reading -----------------------------------------------------------------------------

    def full_name(self) -> str:
        """The name given to the Layer, or its class's, with a number of its own: `linear_0`.

        >>> dy2st.nn.Layer("block").full_name().startswith("block_")
        True
        """
        return str(self._full_name)

    def extra_repr(self) -> str:
        """What `repr` shows of a Layer's own settings; classes of one's own write it.

        >>> dy2st.nn.Linear(2, 3).extra_repr()
        'in_features=2, out_features=3'
        """
        return ""

    def _get_name(self) -> str:
        """What `repr` calls the Layer."""
        return type(self).__name__

    def __repr__(self) -> str:
        """The tree of Layers."""
        lines = [
            f"({name}): {layer!r}".replace("\n", "\n  ") for name, layer in self.named_children()
        ]
        head = f"{self._get_name()}({self.extra_repr()}"
        if not lines:
            return head + ")"
        return "\n  ".join([head, *lines]) + "\n)"

    def _repr_html_(self) -> str:
        """What a notebook shows: the Layers as a table."""
        return str(_html_page.of_layer(self))


def note_layer(error: BaseException, layer: Layer) -> None:
    """Say which Layer of ours got what does not fit it: its own lines are in no traceback.

    Only Layers without Layers in them are named: others may run the user's.
    """
    is_ours = type(layer).__module__.partition(".")[0] in ("dy2st", "dy2st_runtime")
    is_named = is_ours and not layer._sub_layers and isinstance(error, _MISFITS)
    if sys.version_info >= (3, 11) and is_named:  # 3.10 has no notes
        error.add_note(f"in the layer {layer!r}")


def _entries(hooks: Mapping[int, Hook]) -> tuple[tuple[int, Hook], ...]:
    """Those that there are now: a hook may take others away."""
    return tuple(hooks.items()) if hooks else ()


__all__ = [
    "Hook",
    "HookRemover",
    "Layer",
    "ParamAttr",
    "attribute_changes",
    "note_layer",
]
