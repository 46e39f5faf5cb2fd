"""Follows every link of a built site: to pages and places in them, pictures, styles, scripts."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


class _Page(HTMLParser):
    """What a page links to, what it loads, and the places that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places.update(value for name, value in given.items() if name in ("id", "name"))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in _LOADED and _LOADED[tag] in given and given.get("rel") != "canonical":
            self.loaded.append(given[_LOADED[tag]])


def wrong(folder: Path) -> list[str]:
    """A line for each link that leads nowhere, and for each page that loads from elsewhere."""
    files = sorted(folder.rglob("*.html"))
    pages = {path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        shown = path.relative_to(folder.resolve())
        if shown.name == "404.html":  # it is shown at any address
            continue
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    found.append(f"{shown}: it loads {link}")
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{shown}: there is no {link}")
            elif target in pages and parts.fragment:
                places = pages[target].places
                found += [f"{shown}: no place is {link}"] * (unquote(parts.fragment) not in places)
    return found


__all__ = ["wrong"]
