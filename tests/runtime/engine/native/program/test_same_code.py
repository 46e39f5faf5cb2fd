"""The machine code of a Program is the same text in every process: the disk keeps it by that."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.effort import effort

SCRIPT = """\
import sys
junk = [bytearray(size % 300) for size in range(int(sys.argv[1]))]
del junk[::3]
import hashlib
from dy2st_runtime import engine
from dy2st_runtime.dims import symbol
from dy2st_runtime.ir import F, TensorType, Tracer
from tests.random_programs import random_program


def show(program):
    source = engine.compile(program, "native").source
    print(program.name, hashlib.sha256(source.encode()).hexdigest()[:12])


def of_many_sizes(count):
    tracer = Tracer()
    program, product = tracer.program, None
    for number in range(count):
        type = TensorType("float32", [symbol(f"s{number}"), symbol(f"t{number}")])
        program.inputs.append(program.block.add_parameter(type, f"x{number}"))
    with tracer.tracing():
        for x in program.inputs:
            last = F.reshape(x, [1] * product.ndim + x.shape) if product is not None else x
            product = last if product is None else F.unsqueeze(product, [-1, -2]) * last
        program.block.yields = [F.transpose(product, [*range(product.ndim)][::-1])]
    return program


for count in (1, 2, 3):
    show(of_many_sizes(count))
for seed in range(int(sys.argv[2])):
    show(random_program(seed).program)
"""


def texts(junk: int) -> str:
    """Digests of the code of random Programs, by a process whose memory lies otherwise."""
    environment = {**os.environ, "PYTHONHASHSEED": str(junk)}
    command = [sys.executable, "-c", SCRIPT, str(junk), str(effort(12, 60))]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=500
    ).stdout


@pytest.mark.parametrize("junk", [1000, 54321])
def test_code_is_the_same_wherever_the_sizes_lie_in_memory(junk: int) -> None:
    assert texts(junk) == texts(0)
