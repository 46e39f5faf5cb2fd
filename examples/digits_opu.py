"""Handwritten digits in 8 bits: train a model, and run it as instructions of the OPU.

The model is trained in floats and converted. Its layers are quantised with some of the training
images and compiled to a binary, which a simulator of the machine runs on all test images.

    python examples/digits_opu.py              # about a quarter of a minute
    python examples/digits_opu.py --epochs 5 --machine opu512 --folder somewhere
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from digits import progress, sparkline, train
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from dy2st.static import InputSpec
from dy2st.targets.opu.compiled import CompiledModel, compile_network
from dy2st.targets.opu.gen_ir import gen_ir
from dy2st.targets.opu.host import as_images
from dy2st.targets.opu.interpreter import interpret
from dy2st.targets.opu.network import Network
from dy2st.targets.opu.quantiser import quantised_inputs

MOST = 0.005
"""How much of the accuracy 8 bits may cost."""


class DigitNet(nn.Layer):
    """Two convolutions, the second beside a shortcut, and a classifier."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2D(1, 32, 3, padding=1)
        self.norm = nn.BatchNorm2D(32)
        self.second = nn.Conv2D(32, 32, 3, padding=1)
        self.dropout = nn.Dropout(0.5)
        self.fc = nn.Linear(32 * 4 * 4, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.first(x)))
        x = F.max_pool2d(x + F.relu(self.second(x)), 2)
        return self.fc(self.dropout(dy2st.flatten(x, 1)))


def main() -> None:
    """Train, quantise, compile, run, compare."""
    options = parse_arguments()
    start = time.perf_counter()
    dy2st.seed(0)
    images, labels = load_digits(return_X_y=True)
    x = (images / 16).reshape(-1, 1, 8, 8).astype("float32")
    train_x, test_x, train_y, test_y = train_test_split(
        x, labels.astype("int64"), test_size=360, random_state=0, stratify=labels
    )
    net = DigitNet()
    losses = train(net, train_x, train_y, options.epochs)
    print(f"loss      {sparkline(losses)}  {losses[0]:.3f} -> {losses[-1]:.3f}")
    net.eval()
    with dy2st.no_grad():
        floats = net(dy2st.to_tensor(test_x)).numpy().argmax(1)

    static = dy2st.jit.to_static(net, input_spec=[InputSpec([1, 1, 8, 8], name="x")])
    folder = Path(options.folder) / "digits_opu"
    network, report = gen_ir(static, train_x[:200, None], folder=folder, on=options.machine)
    print(f"saved     {folder}: {len(network.layers)} layers\n\n{report}\n")
    model = compile_network(network, options.machine)
    integers = run(model, network, test_x)
    print_table(model, floats == test_y, integers == test_y)
    print(f"\nfinished  in {time.perf_counter() - start:.1f} s")
    lost = float((floats == test_y).mean() - (integers == test_y).mean())
    if lost > MOST:
        sys.exit(f"8 bits cost {lost:.2%} of the accuracy")


def run(model: CompiledModel, network: Network, x: np.ndarray) -> np.ndarray:
    """The classes that the binary finds, image by image; the layers' interpreter finds the same."""
    inputs = quantised_inputs(network, as_images(network, [x]))[0]
    parts = progress(np.array_split(inputs, 36), "simulating")
    made = np.concatenate([model.run([part])[0] for part in parts])
    if not np.array_equal(made, interpret(network, [inputs])[network.outputs[0]]):
        sys.exit("the binary and the interpreter of its layers differ")
    return made.reshape(len(x), -1).argmax(1)


def print_table(model: CompiledModel, floats: np.ndarray, integers: np.ndarray) -> None:
    """Accuracies, and what an image takes."""
    cycles = model.time().cycles
    rows = [
        ("accuracy in floats", f"{floats.mean():.2%}"),
        ("accuracy in 8 bits, by the binary", f"{integers.mean():.2%}"),
        ("test images", f"{len(floats)}"),
        ("words of instructions", f"{len(model.words)}"),
        (f"cycles of an image on {model.machine.name}", f"{cycles}"),
        ("images a second", f"{model.machine.clock_hz / cycles:.0f}"),
    ]
    for name, value in rows:
        print(f"{name:40} {value:>8}")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=20, help="passes over the data (20)")
    parser.add_argument("--machine", default="opu1024", help="preset or TOML file (opu1024)")
    parser.add_argument("--folder", default="saved", help="where the layers are saved (saved)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
