"""Operators that no Program has, with the reason; some only with some attributes."""

from __future__ import annotations

from collections.abc import Callable

from dy2st.importers.onnx.graphs import Node

_TEXTS = "a Program has no tensors of texts"
_STRING = 8  # ONNX's number of that element type


def _to_texts(node: Node) -> str:
    return _TEXTS if node.attributes.get("to") == _STRING else ""


def _texts_among(node: Node) -> str:
    is_text = any(name.startswith("value_string") for name in node.attributes)
    return _TEXTS if is_text else ""


ROWS: dict[tuple[str, str], str | Callable[[Node], str]] = {
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
    ("", "Cast"): _to_texts,
    ("", "Constant"): _texts_among,
    ("ai.onnx.preview.training", "Gradient"): "call backward() on what the model gives",
}
