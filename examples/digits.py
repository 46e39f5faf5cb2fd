"""Handwritten digits: train a model eagerly, convert it, save it, and run it elsewhere.

The model is plain Python. Its forward has an `if` that depends on a tensor and a `for` over a
number that is a tensor; both become operators of one static Program.

    python examples/digits.py                  # about a quarter of a minute
    python examples/digits.py --epochs 5 --folder somewhere
    python examples/digits.py --train-static   # each step of the training as one static Program
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the matrices are small: threads would cost time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from dy2st.static import InputSpec

BARS = " ▁▂▃▄▅▆▇█"
EPOCHS = 20  # so many reach 97 %


class DigitNet(nn.Layer):
    """Two convolutions; the second block is repeated as often as `repeats` says."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(1, 32, 3, padding=1)
        self.norm = nn.BatchNorm2D(32)
        self.second = nn.Conv2D(32, 32, 3, padding=1)
        self.dropout = nn.Dropout(0.5)
        self.fc = nn.Linear(32 * 4 * 4, 10)
        self.repeats = dy2st.to_tensor(2)  # a tensor of the model: a buffer, saved with it

    def forward(self, x):
        if x.max() > 1.0:  # pixels from 0 to 16: decided by the data, at every call
            x = x / 16.0
        x = F.relu(self.norm(self.first(x)))
        for _ in range(self.repeats):  # the number of turns is in the saved file
            x = x + F.relu(self.second(x))
        x = F.max_pool2d(x, 2)
        logits = self.fc(self.dropout(dy2st.flatten(x, 1)))
        return logits if self.training else F.softmax(logits)  # Python decides, as ever


RUN_ELSEWHERE = """
import sys

import numpy as np

import dy2st_runtime

model = dy2st_runtime.load(sys.argv[1])
assert not any(name.split(".")[0] in ("dy2st", "gast", "astor") for name in sys.modules)
data = np.load(sys.argv[2])
results = {}
for size in (1, 7, 360):
    parts = [data["x"][i : i + size] for i in range(0, len(data["x"]), size)]
    results[str(size)] = np.concatenate([model(part).numpy() for part in parts])
np.savez(sys.argv[3], **results)
"""


def main() -> None:
    """Run the tour."""
    options = parse_arguments()
    start = time.perf_counter()
    dy2st.seed(0)
    images, labels = load_digits(return_X_y=True)
    x = images.reshape(-1, 1, 8, 8).astype("float32")
    train_x, test_x, train_y, test_y = train_test_split(
        x, labels.astype("int64"), test_size=360, random_state=0, stratify=labels
    )
    net = DigitNet()
    losses = train(net, train_x, train_y, options.epochs, options.train_static)
    print(f"loss      {sparkline(losses)}  {losses[0]:.3f} -> {losses[-1]:.3f}")

    net.eval()
    with dy2st.no_grad():
        eager = net(dy2st.to_tensor(test_x)).numpy()
    accuracy = float((eager.argmax(1) == test_y).mean())
    print(f"trained   test accuracy {accuracy:.2%} on {len(test_y)} images")

    static = dy2st.jit.to_static(net, input_spec=[InputSpec(["batch", 1, 8, 8], name="x")])
    print("\nthe rewritten forward:\n")
    print(static.forward.code)
    path = str(Path(options.folder) / "digits")
    dy2st.jit.save(static, path)
    program = static.forward.main_program
    print(f"saved     {path}.mlir, {path}.safetensors: {len(program.operators)} operators")

    compare_elsewhere(path, test_x, eager)
    print(f"finished  in {time.perf_counter() - start:.1f} s")
    if accuracy < 0.97 and options.epochs >= EPOCHS:
        sys.exit(f"the test accuracy {accuracy:.2%} is below 97 %")


def train(
    net: nn.Layer, x: np.ndarray, y: np.ndarray, epochs: int, is_static: bool = False
) -> list[float]:
    """Adam on batches of 64; the mean loss of every epoch."""
    rate = dy2st.optimizer.lr.CosineAnnealingDecay(0.004, T_max=epochs)
    adam = dy2st.optimizer.Adam(rate, parameters=net.parameters())
    order = np.random.default_rng(0)
    losses = []

    def step(images, labels):
        loss = F.cross_entropy(net(images), labels)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    if is_static:  # the gradient goes back through the loop, as often as it has turned
        step = dy2st.jit.to_static(step)
    begun = time.perf_counter()
    for _ in progress(range(epochs), "training"):
        shuffled = order.permutation(len(x))
        total = 0.0
        for start in range(0, len(x), 64):
            chosen = shuffled[start : start + 64]
            loss = step(dy2st.to_tensor(x[chosen]), dy2st.to_tensor(y[chosen]))
            total += loss.item() * len(chosen)
        rate.step()
        losses.append(total / len(x))
    how = f"as {len(step.program_cache)} Programs" if is_static else "eagerly"
    print(f"steps     {how}, {(time.perf_counter() - begun) / epochs:.2f} s for each epoch")
    return losses


def compare_elsewhere(path: str, x: np.ndarray, eager: np.ndarray) -> None:
    """Load the model in a process that has only the runtime, for three batch sizes."""
    with tempfile.TemporaryDirectory() as folder:
        given, taken = Path(folder) / "given.npz", Path(folder) / "taken.npz"
        np.savez(given, x=x)
        command = [sys.executable, "-c", RUN_ELSEWHERE, path, str(given), str(taken)]
        subprocess.run(command, check=True)
        with np.load(taken) as results:
            for size, found in results.items():
                difference = float(np.abs(found - eager).max())
                same = bool((found.argmax(1) == eager.argmax(1)).all())
                print(
                    f"elsewhere batch {size:>3}: same predictions: {same}, "
                    f"largest difference {difference:.1e}"
                )
                if not same or difference > 1e-5:
                    sys.exit("the loaded model differs from the trained one")


def sparkline(values: list[float]) -> str:
    """A curve in one line of text, on a logarithmic scale."""
    heights = np.log(values) - np.log(min(values))
    steps = np.round(heights / heights.max() * (len(BARS) - 2)).astype(int)
    return "".join(BARS[step + 1] for step in steps)


def progress(values, title: str):
    """A progress bar, if tqdm is there."""
    try:
        from tqdm import tqdm
    except ImportError:
        return values
    return tqdm(values, title, leave=False)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="passes over the data (20)")
    parser.add_argument("--train-static", action="store_true", help="train converted steps")
    parser.add_argument("--folder", default="saved", help="where the model is saved (saved)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
