"""Random changes of models: `python -m tests.dy2st.importers.onnx.mutants N [SEED]`.

Each is read, or refused with a Dy2stError, within seconds and little memory; no file but the model
is opened.
"""

from __future__ import annotations

import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from typing import Any

from dy2st.errors import Dy2stError
from dy2st.importers.onnx import program_of
from tests.dy2st.importers.onnx.backend_suite import cases
from tests.dy2st.importers.onnx.models import onnx

SECONDS = 10
MEMORY = 2 << 30
NUMBERS = (0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**40, -(2**63), 2**63 - 1)


def seeds(count: int = 150) -> list[bytes]:
    """Models of the suite that are read, small ones."""
    chosen = [case.model for case in cases().values() if len(case.model) < 20_000]
    return chosen[:: max(1, len(chosen) // count)]


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Other bytes, or another field of the model."""
    if draw.random() < 0.4:
        changed = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(changed)) if changed else 0
            kind = draw.randrange(3)
            if kind == 0 and changed:
                changed[place] = draw.randrange(256)
            elif kind == 1:
                del changed[place : place + draw.randint(1, 8)]
            else:
                changed[place:place] = draw.randbytes(draw.randint(1, 4))
        return bytes(changed)
    proto = onnx.ModelProto.FromString(data)
    for _ in range(draw.randint(1, 3)):
        _change(proto, draw)
    return proto.SerializeToString()


def _change(message: Any, draw: random.Random) -> None:
    """Change a field of a message, or of one in it."""
    fields = message.ListFields()
    while fields:
        field, value = draw.choice(fields)
        inner = value
        if (
            field.is_repeated
            if hasattr(field, "is_repeated")
            else field.label == field.LABEL_REPEATED
        ):
            if not len(value):
                return
            place = draw.randrange(len(value))
            if draw.random() < 0.2:
                del value[place]
                return
            if field.message_type is not None and draw.random() < 0.1:
                value.add().CopyFrom(value[place])
                return
            inner = value[place]
            if field.message_type is None:
                value[place] = _other(inner, draw)
                return
        elif field.message_type is None:
            try:
                setattr(message, field.name, _other(value, draw))
            except (ValueError, TypeError):
                pass  # a number that the field does not hold
            return
        if draw.random() < 0.03:
            message.ClearField(field.name)
            return
        message, fields = inner, inner.ListFields()


def _other(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        number = draw.choice([*NUMBERS, value + 1, value - 1, value * 2])
        return number if -(2**31) <= number < 2**31 else draw.randrange(20)
    if isinstance(value, float):
        return draw.choice([0.0, -1.0, 1e30, float("nan"), float("inf"), value * 2])
    if isinstance(value, str):
        known = [
            "",
            "x",
            "y",
            "../x",
            "/etc/passwd",
            "Add",
            "Loop",
            "Reshape",
            "Resize",
            value + "a",
        ]
        return draw.choice(known)
    return draw.choice([b"", value[:-1], value + b"\0", draw.randbytes(len(value))])


def main(count: int, seed: int) -> None:
    """Read so many mutants, and print what came of them."""
    start = seeds()
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for data in start:  # loads what is loaded late
        try:
            program_of(data)
        except Dy2stError:
            pass
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
    opened: list[str] = []
    is_own = ("site-packages", "/dy2st", "/lib/python", ".pyc")
    sys.addaudithook(
        lambda event, details: (
            opened.append(str(details[0]))
            if event == "open" and not any(part in str(details[0]) for part in is_own)
            else None
        )
    )
    draw, read, slowest, faults = random.Random(seed), 0, 0.0, 0
    for number in range(count):
        data = mutated(draw.choice(start), draw)
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program_of(data)
            read += 1
        except Dy2stError:
            pass
        except BaseException as error:
            faults += 1
            print(f"{number}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            with tempfile.NamedTemporaryFile(suffix=".onnx", delete=False) as file:
                file.write(data)
                print(f"  the model is {file.name}", flush=True)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, time.process_time() - began)
    print(
        f"{count} mutants: {read} read, {faults} faults, slowest {slowest:.1f} s, opened {opened}"
    )


def _too_long(*_: Any) -> None:
    raise TimeoutError("it takes too long")


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, _too_long)
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
