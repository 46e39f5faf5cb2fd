"""Processes that save are killed, or save all at once, while others load.

    python -m tests.runtime.kills 400                # kills
    python -m tests.runtime.kills 400 --writers 3    # loads while three processes save
    python -m tests.runtime.kills 99 --steps         # a kill before every single step of a save

Every load gives a pair of one save, or names the mixture. A model is its number: `w` of the arrays is
the number in the text.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from dy2st_runtime import io
from dy2st_runtime.errors import ParameterMismatch
from dy2st_runtime.ir import F, Output, Program, TensorType, Tracer

SIZE = 20_000
WRITER = """
import sys
from tests.runtime.kills import save
numbers = range(int(sys.argv[2]), 10**6, int(sys.argv[3]))
print("begun", flush=True)
for number in numbers:
    save(sys.argv[1], number)
"""


def save(path, number):
    """A model that returns its parameters and, as a constant, its number."""
    program = Program("forward")
    weights = program.block.add_parameter(TensorType("float32", (SIZE,)), "w")
    program.parameters, program.trainable = {"w": weights}, {"w": True}
    with Tracer(program).tracing():
        program.block.yields = [weights, F.full([], float(number), "float32")]
    program.structure = (Output(0), Output(1))
    io.save_programs(path, {"forward": program}, {"w": np.full(SIZE, number, "float32")})


def number_of(path):
    """The number of the model; None for a mixture that is named."""
    try:
        weights, number = io.load(path)()
    except ParameterMismatch as error:
        assert f"{path}.mlir" in str(error) and f"{path}.safetensors" in str(error)
        return None
    found = set(np.unique(weights.numpy()).tolist())
    assert found == {number.item()}, f"{path}: a mixture of {number.item()} and {found} was loaded"
    return number.item()


def begun(path, first, step):
    """A process that saves one model after the other, and has begun."""
    arguments = [sys.executable, "-c", WRITER, str(path), str(first), str(step)]
    writer = subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
    assert writer.stdout.readline() == b"begun\n"
    return writer


def killed(folder, count, seed=0):
    """How often a load after a kill gave a model or named a mixture; the folder is swept."""
    path, source, found = Path(folder) / "net", random.Random(seed), Counter()
    save(path, 0)
    for turn in range(count):
        writer = begun(path, 1 + turn * 1_000, 1)
        time.sleep(source.random() * 0.05)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        found["mixture named" if number_of(path) is None else "one save"] += 1
        found["left by the killed"] += len(os.listdir(folder)) > 2
    save(path, 7)
    assert number_of(path) == 7
    assert sorted(os.listdir(folder)) == ["net.mlir", "net.safetensors"], os.listdir(folder)
    return found


def written_at_once(folder, writers, loads):
    """How many loads gave a model or named a mixture while processes save."""
    path, found = Path(folder) / "net", Counter()
    save(path, 0)
    processes = [begun(path, turn, writers) for turn in range(writers)]
    for _ in range(loads):
        found["mixture named" if number_of(path) is None else "one save"] += 1
    for process in processes:
        assert process.poll() is None
        process.kill()
        process.wait()
        process.stdout.close()
    return found


def killed_at_every_step(folder, most):
    """A kill before the first, the second, ... thing that a save asks of the system."""
    path, found = Path(folder) / "net", Counter()
    save(path, 0)
    for step in range(most):
        child = os.fork()
        if not child:
            die_after(step)
            save(path, step + 1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        number = number_of(path)
        assert number is not None, f"step {step} leaves a mixture"
        found["new" if number == step + 1 else "old"] += 1
        if status == 0:
            assert number == step + 1
            found["steps"] = step
            return found
    return found


def die_after(count):
    """Kill this process at its next-but-`count` call of the system."""
    left = [count]

    def hook(event, arguments):
        if event.startswith(("os.", "open", "shutil.")):
            left[0] -= 1
            if left[0] == -1:  # os.kill comes by here too
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--writers", type=int, default=0)
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--from", type=int, default=0, dest="seed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.steps:
            found = killed_at_every_step(folder, options.count)
        elif options.writers:
            found = written_at_once(folder, options.writers, options.count)
        else:
            found = killed(folder, options.count, options.seed)
    print(dict(found))


if __name__ == "__main__":
    main()
