"""Functions under `functools.lru_cache` and `cache`: while a function is traced, too, the user's
own cache answers.

Python computes what is not there yet, outside of the trace. A tensor of a Program must not get
into a cache that outlives the trace: what has to do with one is computed anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.convert.effects import effects_of
from dy2st.convert.heap import reached
from dy2st.convert.once import Done, OneCall, call_of
from dy2st.convert.outward import in_a_branch
from dy2st.convert.traced import is_a, is_traced
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Block, Operator, Tracer, current_tracer, user_location
from dy2st_runtime.ir.dispatch import eagerly
from dy2st_runtime.ir.grad_mode import set_grad_enabled
from dy2st_runtime.ir.structure import flatten, is_container
from dy2st_runtime.tensor import EagerTensor

Convert = Callable[[Any], Any]


def cached_call(cached: Any, convert: Convert) -> Any:
    """What to call instead of what lru_cache and cache have made."""
    tracer = current_tracer()
    if tracer is None:
        return cached

    def call(*arguments: Any, **options: Any) -> Any:
        given = flatten([arguments, options], is_traced)[0]
        if any(is_a(value, EagerTensor) for value in given):
            raise _refused(
                cached,
                "gets a parameter or buffer",
                "the cache keeps what it computed of the tensor's first value",
            )
        if given:
            return _computed_anew(tracer, cached, convert, arguments, options)
        return _asked(tracer, cached, arguments, options)

    return call


def _asked(tracer: Tracer, cached: Any, arguments: Any, options: Any) -> Any:
    """What the user's cache gives."""
    call = call_of(tracer)
    before = reached(cached.__wrapped__, (*arguments, *options.values()))
    with eagerly(), set_grad_enabled(tracer.is_grad_wanted):
        answer: Done = call.ask(cached, arguments, options)
    if answer.is_new and tracer.block.parent is not None:
        raise in_a_branch(
            f"{_name(cached)}() has a cache and is called for the first time",
            "call it once before the `if` or loop",
        )
    _note_lasting(call, effects_of(before, user_location() or Location("?", 0)))
    return answer.given()


def _note_lasting(call: OneCall, effects: list[str]) -> None:
    for effect in effects:
        call.lasts(effect.partition(":")[0])


def _computed_anew(
    tracer: Tracer, cached: Any, convert: Convert, arguments: Any, options: Any
) -> Any:
    """The result for tensors, by which Python's cache finds nothing: they are other objects at
    every call. What would last until the next call is refused."""
    heap = reached(cached.__wrapped__, (*arguments, *options.values()))
    known, mark = len(tracer.effects), len(tracer.block.operators)
    result = convert(cached.__wrapped__)(*arguments, **options)
    lasting = [*effects_of(heap, user_location() or Location("?", 0)), *tracer.effects[known:]]
    if any(map(_writes, tracer.block.operators[mark:])):
        lasting.append("it prints")
    if lasting:
        raise _refused(cached, "gets a tensor", lasting[0].partition(":")[0])
    if _has_state(result):
        raise _refused(
            cached,
            f"gets a tensor and gives a {type(result).__name__}",
            "what is put into it lasts until the next call with the same tensor",
        )
    return result


def _writes(operator: Operator) -> bool:
    return operator.name in ("print", "write") or any(map(_has_writes, operator.blocks))


def _has_writes(block: Block) -> bool:
    return any(map(_writes, block.operators))


def _has_state(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_has_state, value))
    plain = (type(None), bool, int, float, complex, str, bytes)
    return is_container(value) or not (is_traced(value) or isinstance(value, plain))


def _refused(cached: Any, what: str, why: str) -> ConversionError:
    name = _name(cached)
    return ConversionError(
        f"{name}(), which is under lru_cache or cache, {what}",
        at=user_location(),
        why=f"Python finds tensors in a cache by which object they are, a Program has none; {why}",
        hint=f"call the function without its cache: {name}.__wrapped__(...)",
    )


def _name(cached: Any) -> str:
    return str(getattr(cached, "__name__", "a function"))
