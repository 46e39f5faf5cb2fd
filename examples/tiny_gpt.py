"""A small transformer learns the Zen of Python, and writes it down with a cache.

Each step of the training is one static Program: forward, loss, gradients, the limit on them,
AdamW and its learning rate. The loop that writes is one, too: its caches grow from turn to turn.

    python examples/tiny_gpt.py                     # about half a minute
    python examples/tiny_gpt.py --steps 100 --folder somewhere
    python examples/tiny_gpt.py --engine xla --mesh dp=4,mp=2   # on eight devices
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the matrices are small: threads would cost time

import numpy as np
from showing import picture, progress, sparkline, zen

import dy2st
import dy2st.distributed as dist
from dy2st import nn
from dy2st.nn import functional as F
from dy2st.static import InputSpec

CONTEXT, WIDTH, HEADS, DEPTH = 48, 64, 4, 2
PROMPT = "Beautiful"


class Block(nn.Layer):
    """Attention to what comes before, and two products, each behind a norm."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, keys=None, values=None):
        """The next x, with all keys and values, those of before among them."""
        count = x.shape[1]
        parts = self.queries(self.norm1(x)).reshape([-1, count, 3, HEADS, WIDTH // HEADS])
        query, key, value = dy2st.unbind(parts.transpose([2, 0, 3, 1, 4]))
        if keys is not None:
            key = dy2st.concat([keys, key], axis=2)
            value = dy2st.concat([values, value], axis=2)
        scores = query @ key.transpose([0, 1, 3, 2]) / (WIDTH // HEADS) ** 0.5
        if keys is None:  # nobody looks ahead
            scores = scores + dy2st.triu(dy2st.full([count, count], -1e9), 1)
        mixed = (F.softmax(scores) @ value).transpose([0, 2, 1, 3]).reshape([-1, count, WIDTH])
        x = x + self.out(mixed)
        return x + self.down(F.gelu(self.up(self.norm2(x)))), key, value


class TinyGPT(nn.Layer):
    """Characters in, what comes next out."""

    def __init__(self, characters: int):
        super().__init__()
        self.characters = nn.Embedding(characters, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.LayerList([Block() for _ in range(DEPTH)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters)

    def embedded(self, tokens, start):
        return self.characters(tokens) + self.places(start + dy2st.arange(tokens.shape[1]))

    def forward(self, tokens):
        x = self.embedded(tokens, 0)
        for block in self.blocks:
            x, _, _ = block(x)
        return self.head(self.norm(x))

    def write(self, tokens, count):
        """`count` more tokens, each the likeliest, with keys and values kept from turn to turn."""
        x, cache = self.embedded(tokens, 0), []
        for block in self.blocks:
            x, keys, values = block(x)
            cache.append((keys, values))
        last = self.head(self.norm(x[:, -1:])).argmax(-1)
        for _ in range(count):
            tokens = dy2st.concat([tokens, last], axis=1)
            x = self.embedded(last, tokens.shape[1] - 1)
            for i, block in enumerate(self.blocks):
                x, keys, values = block(x, *cache[i])
                cache[i] = keys, values
            last = self.head(self.norm(x)).argmax(-1)
        return tokens


def cut(name, layer, mesh):
    """The products of a block, along `mp`: columns of the first one, rows of the second."""
    along = [dist.Replicate() for _ in mesh.shape]
    if "mp" in mesh.dim_names and name.endswith((".up", ".down")):
        along[mesh.axis_of("mp")] = dist.Shard(1 if name.endswith(".up") else 0)
        dist.shard_tensor(layer.weight, mesh, along)


def make_step(model, optimizer, rate, mesh=None):
    """One step of training, whose batch is cut along `dp` of a mesh."""

    def step(tokens):
        if mesh is not None:
            cuts = [dist.Shard(0) if name == "dp" else dist.Replicate() for name in mesh.dim_names]
            tokens = dist.reshard(tokens, mesh, cuts)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape([-1, logits.shape[-1]]), tokens[:, 1:].reshape([-1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        return loss

    return step


def training(characters: int, steps: int, mesh=None):
    """A model and its step."""
    dy2st.seed(0)
    model = TinyGPT(characters)
    if mesh is not None:
        dist.shard_layer(model, mesh, cut)
    rate = dy2st.optimizer.lr.CosineAnnealingDecay(0.003, T_max=steps)
    limit = nn.ClipGradByGlobalNorm(1.0)
    optimizer = dy2st.optimizer.AdamW(rate, parameters=model.parameters(), grad_clip=limit)
    if mesh is not None:
        dist.shard_optimizer(optimizer)
    return model, make_step(model, optimizer, rate, mesh)


def mesh_of(text: str):
    """The mesh of `dp=4,mp=2`. Where jax has no other devices it makes as many of the CPU."""
    sizes = {name: int(count) for name, count in (axis.split("=") for axis in text.split(","))}
    count = int(np.prod([*sizes.values()]))
    os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={count}")
    return dist.ProcessMesh(np.arange(count).reshape([*sizes.values()]), dim_names=[*sizes])


def run(step, data: np.ndarray, steps: int, title: str) -> tuple[list[float], float]:
    """The losses, and the milliseconds of a step without the first three."""
    random, losses, times = np.random.default_rng(0), [], []
    for _ in progress(range(steps), title):
        starts = random.integers(0, len(data) - CONTEXT, 8)
        batch = dy2st.to_tensor(np.stack([data[i : i + CONTEXT] for i in starts]))
        start = time.perf_counter()
        losses.append(step(batch).item())
        times.append(time.perf_counter() - start)
    return losses, float(np.median(times[3:])) * 1000


RUN_ELSEWHERE = """
import sys
import numpy as np
import dy2st_runtime
model = dy2st_runtime.load(sys.argv[1])
tokens = np.array([[int(i) for i in sys.argv[2].split()]])
print(*model(tokens, int(sys.argv[3])).numpy()[0])
assert not any(name.split(".")[0] in ("dy2st", "gast", "astor") for name in sys.modules)
"""


def main() -> None:
    """Train, write, save, and write elsewhere."""
    options = parse_arguments()
    text = zen()
    letters = sorted(set(text))
    data = np.array([letters.index(letter) for letter in text])

    mesh = mesh_of(options.mesh) if options.mesh else None
    model, step = training(len(letters), options.steps, mesh)
    converted = dy2st.jit.to_static(step, engine=options.engine)
    losses, static_ms = run(converted, data, options.steps, "training")
    _, step = training(len(letters), options.steps)
    eager, eager_ms = run(step, data, 13, "eagerly, to compare")
    print(f"loss      {sparkline(losses)}  {losses[0]:.3f} -> {losses[-1]:.3f}")
    print(f"a step    {static_ms:.1f} ms as one Program, {eager_ms:.1f} ms eagerly")
    print(f"Programs  {len(converted.program_cache)} for {options.steps} steps")
    picture(losses, Path(options.folder) / "tiny_gpt.svg", "loss of tiny_gpt.py")
    if not np.allclose(losses[:13], eager, rtol=1e-3):
        sys.exit("the losses of the Program are not those of eager steps")

    model.eval()
    count = CONTEXT - len(PROMPT) - 1
    tokens = dy2st.to_tensor([[letters.index(letter) for letter in PROMPT]])
    spec = [InputSpec([1, "length"], "int64"), InputSpec([], "int64")]
    write = dy2st.jit.to_static(model.write, input_spec=spec)
    start = time.perf_counter()
    with dy2st.no_grad():
        plain = model.write(tokens, count).numpy()[0]
        eager_s = time.perf_counter() - start
        write(tokens, dy2st.to_tensor(count))
        start = time.perf_counter()
        found = write(tokens, dy2st.to_tensor(count)).numpy()[0]
    print(f"written   {time.perf_counter() - start:.3f} s in one Program, {eager_s:.3f} s eagerly")
    print("".join(letters[i] for i in found))

    path = str(Path(options.folder) / "tiny_gpt")
    dy2st.jit.save(write, path)
    given = " ".join(map(str, tokens.numpy()[0]))
    command = [sys.executable, "-c", RUN_ELSEWHERE, path, given, str(count)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    same = [*map(int, shown.split())] == [*found] == [*plain]
    print(f"elsewhere same text: {same}")
    if not same:
        sys.exit("the saved model writes something else")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=250, help="steps of the training (250)")
    parser.add_argument("--folder", default="saved", help="where files are written (saved)")
    parser.add_argument("--engine", help="the engine that trains, such as xla, which needs jax")
    parser.add_argument("--mesh", help="devices that train together, with --engine xla: dp=4,mp=2")
    return parser.parse_args()


if __name__ == "__main__":
    main()
