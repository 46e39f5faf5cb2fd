"""Fills templates of pages, with data that scripts of the page read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with a text in place of each `<!--NAME-->`; what the texts hold stays as it is.

    >>> filled("<p><!--SAID--></p>", {"SAID": "<!--SAID-->"})
    '<p><!--SAID--></p>'
    """
    return re.sub("<!--([A-Z]+)-->", lambda found: values[found[1]], template)


def as_json(data: Any) -> str:
    """Short JSON, which cannot end the script that it is in.

    >>> as_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


__all__ = ["as_json", "filled"]
