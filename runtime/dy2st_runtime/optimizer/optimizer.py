"""What all optimizers share: groups of parameters, limits, weight decay, steps and their state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, DTypeError, ParameterMismatch
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ir.types import is_floating
from dy2st_runtime.nn.clip import ClipGradBase
from dy2st_runtime.optimizer.lr import LRScheduler
from dy2st_runtime.regularizer import L2Decay, WeightDecayRegularizer
from dy2st_runtime.tensor import EagerTensor, Parameter

Array = np.ndarray[Any, Any]
State = dict[str, Array]
Rate = float | LRScheduler
Decay = float | WeightDecayRegularizer | None
Parameters = Iterable[Parameter] | Iterable[dict[str, Any]] | None

_HALF = 2  # bytes


class Optimizer:
    """Base: limits gradients, adds weight decay to them, and updates every parameter.

    learning_rate   a number or a schedule, times the parameter's own `learning_rate`.
    parameters      the Parameters to train, or groups of them: dicts with `params` and settings
                    that stand before the optimizer's, `learning_rate` being a factor.
    weight_decay    a coefficient of L2Decay, or a regulariser. A parameter's own stands before it.
    grad_clip       a limit on the gradients, before weight decay is added.

    With `multi_precision` parameters of 16 bits are updated in float32, of which a copy is kept.
    """

    # What the optimizer remembers of each parameter: arrays of its shape, zeros at first.
    slots: tuple[str, ...] = ()

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        multi_precision: bool = False,
        **settings: Any,
    ):
        """Check and keep; ArgumentError without parameters. `settings` are those of the rule."""
        call = f"{type(self).__name__}(learning_rate, parameters=layer.parameters())"
        if isinstance(learning_rate, (list, tuple, dict, Iterator)):
            raise ArgumentError(
                "the first argument of an optimizer is its learning rate, and parameters were "
                f"given: write {call}"
            )
        if isinstance(parameters, (dict, EagerTensor)):
            raise TypeError(f"parameters is a list of parameters, or of dicts: write {call}")
        self._parameter_list: list[Any] = list(parameters or ())
        if not self._parameter_list:
            raise ArgumentError(f"an optimizer needs parameters to move: write {call}")
        self._learning_rate = learning_rate
        self.regularization = _as_decay(weight_decay)
        self._grad_clip, self._name = grad_clip, name
        self._multi_precision = multi_precision
        self._default_dict = {"weight_decay": weight_decay, "grad_clip": grad_clip, **settings}
        self._states: dict[int, State] = {}
        self._master_weights: dict[int, Array] = {}
        self._param_groups: list[Any] = self._parameter_list
        if isinstance(self._parameter_list[0], dict):
            self._param_groups = []
            for group in self._parameter_list:
                self._add_param_group(dict(group))
        for parameter in self._parameters:
            if not isinstance(parameter, EagerTensor):
                raise TypeError(f"parameters are tensors, not {type(parameter).__name__}")

    # -- parameters --------------------------------------------------------------------------

    def _add_param_group(self, param_group: dict[str, Any]) -> None:
        """One more group; ValueError if a parameter of it is in another one."""
        given = param_group["params"]
        members = [given] if isinstance(given, EagerTensor) else list(given)
        known = {id(parameter) for parameter in self._parameters}
        if any(id(parameter) in known for parameter in members):
            raise ValueError("a parameter is in more than one group")
        self._param_groups.append({**param_group, "params": members})

    @property
    def _groups(self) -> list[dict[str, Any]]:
        """Groups of parameters, one if none were made."""
        is_grouped = self._param_groups and isinstance(self._param_groups[0], dict)
        return self._param_groups if is_grouped else [{"params": self._param_groups}]

    @property
    def _parameters(self) -> list[Any]:
        """All parameters."""
        return [parameter for group in self._groups for parameter in group["params"]]

    # -- the learning rate -------------------------------------------------------------------

    def get_lr(self) -> float:
        """The learning rate now."""
        rate = self._learning_rate
        return rate() if isinstance(rate, LRScheduler) else float(rate)

    def set_lr(self, value: float) -> None:
        """Set the learning rate; TypeError if a schedule decides it."""
        if isinstance(self._learning_rate, LRScheduler):
            raise TypeError("the learning rate is decided by a schedule: set_lr_scheduler")
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let a schedule decide the learning rate."""
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(f"a schedule is expected, not {type(scheduler).__name__}")
        self._learning_rate = scheduler

    # -- steps -------------------------------------------------------------------------------

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        for group in self._groups:
            pairs = [
                (parameter, parameter.grad)
                for parameter in group["params"]
                if parameter.grad is not None and not parameter.stop_gradient
            ]
            self._step(pairs, {**self._default_dict, **group}, group)

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> list[Any]:
        """Update the parameters by the gradients that are given with them; an empty list."""
        self._step(params_grads, self._default_dict, {})
        return []

    def _apply_optimize(
        self, loss: Any, startup_program: Any, params_grads: list[tuple[Any, Any]]
    ) -> list[Any]:
        """`apply_gradients`, as optimizers around an optimizer call it."""
        return self.apply_gradients(params_grads)

    def _step(
        self, pairs: list[tuple[Any, Any]], settings: dict[str, Any], group: dict[str, Any]
    ) -> None:
        if settings["grad_clip"] is not None:
            with no_grad():
                pairs = settings["grad_clip"](pairs)
        rate = self.get_lr()
        for parameter, gradient in pairs:
            factor = group.get("learning_rate", _own_factor(parameter))
            self._move(parameter, gradient.array, rate * factor, settings, group)

    def _move(
        self, parameter: Any, gradient: Array, rate: float, settings: Any, group: Any
    ) -> None:
        """One step of one parameter."""
        weight = parameter.array
        half = weight.dtype
        if half.kind == "c":
            raise DTypeError(
                f"an optimizer takes no parameter of {half}: keep both parts in a real one, "
                "(..., 2), and compute with as_complex(it)"
            )
        is_short = self._multi_precision and is_floating(half) and half.itemsize == _HALF
        if is_short:
            weight = self._master_weights.get(id(parameter), weight.astype(np.float32))
        if gradient.dtype != weight.dtype:
            gradient = gradient.astype(weight.dtype)
        decay = self._decay_of(parameter, settings, group)
        if decay is not None:
            gradient = gradient + _decay_term(decay, weight)
        state = self._states.get(id(parameter))
        if state is None:
            state = self._states[id(parameter)] = self.first_state(weight, settings)
        weight = self.update(weight, gradient, rate, state, {**settings, "parameter": parameter})
        if is_short:
            self._master_weights[id(parameter)] = weight
        parameter.array = weight.astype(half) if is_short else weight

    def _decay_of(self, parameter: Any, settings: dict[str, Any], group: dict[str, Any]) -> Any:
        """What is added to a gradient: the group's, the parameter's own, or the optimizer's."""
        if "weight_decay" in group:
            return _as_decay(group["weight_decay"])
        own = getattr(parameter, "regularizer", None)
        return self.regularization if own is None else own

    def first_state(self, weight: Array, settings: dict[str, Any]) -> State:
        """What the optimizer remembers of a parameter before its first step."""
        return {slot: np.zeros_like(weight) for slot in self.slots}

    def update(
        self, weight: Array, gradient: Array, rate: float, state: State, settings: dict[str, Any]
    ) -> Array:
        """The new weight; puts new arrays into `state`.

        `settings` holds what the optimizer or the group was given, and the `parameter`.
        """
        raise NotImplementedError

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients to zero, or forget them."""
        for parameter in self._parameters:
            if not parameter.stop_gradient:
                parameter.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        self.clear_grad(not set_to_none)

    def backward(self, loss: Any, *ignored: Any, **named: Any) -> list[tuple[Any, Any]]:
        """`loss.backward()` unless that was done; pairs of parameters and gradients."""
        if loss.node is None or loss.node.edges is not None:
            loss.backward()
        return [(p, p.grad) for p in self._parameters if p.grad is not None]

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: list[Any] | None = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """`loss.backward()` unless that was done, and `step()`, of all or the given parameters.

        Gives an empty list, and pairs of parameters and gradients.
        """
        left_out = {id(p) for p in no_grad_set or ()}
        wanted = None if parameters is None else {id(p) for p in parameters}
        pairs = [
            (p, gradient)
            for p, gradient in self.backward(loss)
            if id(p) not in left_out and (wanted is None or id(p) in wanted)
        ]
        if parameters is None and not left_out:
            self.step()
        else:
            self.apply_gradients(pairs)
        return [], pairs

    # -- state -------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """A name for each parameter, its own if no other has it."""
        own = [parameter.name for parameter in self._parameters]
        return [
            name if name and own.count(name) == 1 else f"{name or 'parameter'}_{i}"
            for i, name in enumerate(own)
        ]

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later: what is remembered of each parameter, the schedule.

        Entries are called after the parameter: `linear_0.w_0_moment1_0`.
        """
        state: dict[str, Any] = {}
        masters: dict[str, Any] = {}
        for name, parameter in zip(self._names(), self._parameters, strict=True):
            for slot, array in self._states.get(id(parameter), {}).items():
                state[f"{name}_{slot}_0"] = EagerTensor(array.copy())
            if id(parameter) in self._master_weights:
                masters[name] = EagerTensor(self._master_weights[id(parameter)].copy())
        if masters:
            state["master_weights"] = masters
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a `state_dict`; ParameterMismatch if it belongs to other parameters.

        Where the names are those of another model, parameters are taken in their order.
        """
        rest = dict(state_dict)
        schedule = rest.pop("LR_Scheduler", None)
        masters = rest.pop("master_weights", {})
        found: dict[int, State] = {}
        for slot in self._all_slots():
            for parameter, array in self._entries(slot, rest).items():
                found.setdefault(parameter, {})[slot] = array
        if rest:
            raise ParameterMismatch(f"{next(iter(rest))!r} does not fit this optimizer")
        by_id = {id(parameter): parameter for parameter in self._parameters}
        for key, arrays in found.items():
            first = self.first_state(_long(by_id[key], self._multi_precision), self._default_dict)
            for slot, array in arrays.items():
                if array.shape != first[slot].shape:
                    raise ParameterMismatch(
                        f"{by_id[key].name}_{slot} has shape {list(array.shape)} in the state, "
                        f"{list(first[slot].shape)} here: it does not fit this optimizer"
                    )
                first[slot] = array.astype(first[slot].dtype)
            self._states[key] = first
        for name, parameter in zip(self._names(), self._parameters, strict=True):
            if name in masters:
                self._master_weights[id(parameter)] = np.array(masters[name], np.float32)
        if isinstance(self._learning_rate, LRScheduler) and schedule is not None:
            self._learning_rate.set_state_dict(schedule)

    load_state_dict = set_state_dict

    def _all_slots(self) -> list[str]:
        first = self._parameters[0]
        return list(self.first_state(_long(first, self._multi_precision), self._default_dict))

    def _entries(self, slot: str, rest: dict[str, Any]) -> dict[int, Array]:
        """The arrays of one slot by the identity of their parameter; they leave `rest`."""
        ending = re.compile(rf"(.*)_{slot}_\d+")
        parameters = dict(zip(self._names(), self._parameters, strict=True))
        named = {m[1]: key for key in rest if (m := ending.fullmatch(key))}
        if not named.keys() <= parameters.keys():
            if len(named) != len(parameters):
                unknown = next(key for name, key in named.items() if name not in parameters)
                raise ParameterMismatch(f"{unknown!r} does not fit this optimizer")
            named = dict(zip(parameters, named.values(), strict=True))
        arrays: dict[int, Array] = {}
        for name, key in named.items():
            arrays[id(parameters[name])] = np.array(rest.pop(key))
        return arrays


def _as_decay(decay: Any) -> Any:
    """A regulariser for a coefficient, None for zero."""
    if not isinstance(decay, (int, float, np.floating)):
        return decay
    return L2Decay(float(decay)) if decay else None


def _decay_term(decay: Any, weight: Array) -> Array:
    term = decay(weight)
    return np.asarray(term.array if isinstance(term, EagerTensor) else term)


def _own_factor(parameter: Any) -> float:
    return float(getattr(parameter, "optimize_attr", {}).get("learning_rate", 1.0))


def _long(parameter: Any, multi_precision: bool) -> Array:
    array: Array = parameter.array
    is_short = multi_precision and is_floating(array.dtype) and array.dtype.itemsize == _HALF
    return array.astype(np.float32) if is_short else array


__all__ = ["Array", "Decay", "Optimizer", "Parameters", "Rate", "State"]
