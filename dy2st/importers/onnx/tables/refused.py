"""Operators that no Program has, with the reason; some only with some attributes."""

from __future__ import annotations

from collections.abc import Callable

from dy2st.importers.onnx.graphs import Node

_TEXTS = "a Program has no tensors of texts"
_STRING = 8  # ONNX's number of that element type


REFUSED: dict[tuple[str, str], str | Callable[[Node], str]] = {
    **dict.fromkeys(
        [
            ("", name)
            for name in (
                "RegexFullMatch",
                "StringConcat",
                "StringNormalizer",
                "StringSplit",
                "TfIdfVectorizer",
            )
        ],
        _TEXTS,
    ),
    ("", "ImageDecoder"): "a Program decodes no images: decode them before, and give arrays",
    ("", "Cast"): lambda node: _TEXTS if node.attributes.get("to") == _STRING else "",
    ("", "Constant"): lambda node: (
        _TEXTS if any(name.startswith("value_string") for name in node.attributes) else ""
    ),
    ("ai.onnx.preview.training", "Gradient"): "call backward() on what the model gives",
}
