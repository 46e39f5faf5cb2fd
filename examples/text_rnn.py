"""A recurrent network learns the Zen of Python, letter by letter, and goes on from a beginning.

How many letters a step reads is a number in a tensor: the step is one static Program for all
lengths, and the gradient goes back through as many turns as the loop has taken.

    python examples/text_rnn.py                     # about a minute
    python examples/text_rnn.py --steps 50 --folder somewhere
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the matrices are small: threads would cost time

import numpy as np
from showing import picture, progress, sparkline, zen

import dy2st
from dy2st import nn
from dy2st.nn import functional as F

WIDTH, LONGEST, BATCH = 96, 24, 16
PROMPT = "Beautiful"


class Letters(nn.Layer):
    """A letter and a state in, what comes next and the next state out."""

    def __init__(self, letters: int):
        super().__init__()
        self.letters, self.cell = nn.Embedding(letters, 32), nn.GRUCell(32, WIDTH)
        self.head = nn.Linear(WIDTH, letters)

    def forward(self, letter, state):
        _, state = self.cell(self.letters(letter), state)
        return self.head(state), state

    def write(self, tokens, count):
        """`count` more letters, each the likeliest."""
        state, logits = dy2st.zeros([1, WIDTH]), dy2st.zeros([1, 1])
        for i in range(tokens.shape[1]):
            logits, state = self(tokens[:, i], state)
        for _ in range(count):
            letter = logits.argmax(-1)
            tokens = dy2st.concat([tokens, letter.reshape([1, 1])], axis=1)
            logits, state = self(letter, state)
        return tokens


def training(letters: int):
    """A model and a step of its training."""
    dy2st.seed(0)
    model = Letters(letters)
    limit = nn.ClipGradByGlobalNorm(1.0)
    adam = dy2st.optimizer.Adam(0.01, parameters=model.parameters(), grad_clip=limit)

    def step(tokens, length):
        state, total = dy2st.zeros([tokens.shape[0], WIDTH]), dy2st.zeros([])
        for i in range(length):
            logits, state = model(tokens[:, i], state)
            total = total + F.cross_entropy(logits, tokens[:, i + 1])
        loss = total / length
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return model, step


def run(step, data: np.ndarray, steps: int, title: str) -> tuple[list[float], float]:
    """The losses, and the milliseconds of a step without the first three."""
    random, losses, times = np.random.default_rng(0), [], []
    for _ in progress(range(steps), title):
        length = int(random.integers(LONGEST // 2, LONGEST))
        starts = random.integers(0, len(data) - LONGEST, BATCH)
        batch = dy2st.to_tensor(np.stack([data[i : i + LONGEST] for i in starts]))
        start = time.perf_counter()
        losses.append(step(batch, dy2st.to_tensor(length)).item())
        times.append(time.perf_counter() - start)
    return losses, float(np.median(times[3:])) * 1000


def main() -> None:
    """Train, compare with eager steps, and write."""
    options = parse_arguments()
    text = zen()
    letters = sorted(set(text))
    data = np.array([letters.index(letter) for letter in text])

    model, step = training(len(letters))
    converted = dy2st.jit.to_static(step)
    losses, static_ms = run(converted, data, options.steps, "training")
    _, step = training(len(letters))
    eager, eager_ms = run(step, data, 10, "eagerly, to compare")
    print(f"loss      {sparkline(losses)}  {losses[0]:.3f} -> {losses[-1]:.3f}")
    print(f"a step    {static_ms:.1f} ms as one Program, {eager_ms:.1f} ms eagerly")
    print(f"Programs  {len(converted.program_cache)} for {options.steps} steps")
    picture(losses, Path(options.folder) / "text_rnn.svg", "loss of text_rnn.py")
    if not np.allclose(losses[:10], eager, rtol=1e-3):
        sys.exit("the losses of the Program are not those of eager steps")

    tokens = dy2st.to_tensor([[letters.index(letter) for letter in PROMPT]])
    write = dy2st.jit.to_static(model.write)
    with dy2st.no_grad():
        found = write(tokens, dy2st.to_tensor(60)).numpy()[0]
        same = np.array_equal(found, model.write(tokens, 60).numpy()[0])
    print("".join(letters[i] for i in found))
    print(f"eagerly   same text: {same}")
    if not same:
        sys.exit("the converted loop writes something else")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=300, help="steps of the training (300)")
    parser.add_argument("--folder", default="saved", help="where files are written (saved)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
