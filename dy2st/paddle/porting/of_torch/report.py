"""Reports what sources use of torch: what is here, under which name, and what differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from dy2st.paddle.porting.of_torch.names import why_not
from dy2st.paddle.porting.of_torch.sources import TorchSource, Use, is_space
from dy2st.paddle.porting.of_torch.tables import NOTES
from dy2st.paddle.porting.report import Count, paragraph
from dy2st_runtime.errors import counted

Places = Mapping[tuple[str, str], Sequence[tuple[str, int]]]


class Found:
    """The uses of all sources by what is to be said of them: name and words, and the places."""

    def __init__(self, sources: Iterable[TorchSource]) -> None:
        """Sort all uses."""
        self.names, self.methods, self.same = Count(), Count(), 0
        self.missing: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
        self.differing: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
        self.renamed: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
        self.rewritten: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
        for source in sources:
            for use in source.uses:
                self._sort(use, (str(source.path), use.node.end_lineno or use.node.lineno))

    def _sort(self, use: Use, place: tuple[str, int]) -> None:
        count = self.methods if use.name.startswith("Tensor.") else self.names
        count.add(use.is_here)
        if not use.is_here:
            self.missing[use.name, why_not(use.name)].append(place)
            return
        about = use.remark.partition(": ")[2]
        note = NOTES.get(use.name, "") if use.plan is not None or "Tensor." in use.name else ""
        words = use.plan.words if use.plan is not None and not about else ""
        is_renamed = not is_space(use.name) and use.target != use.name
        if about or note:
            self.differing[use.name, about or note].append(place)
        prefix = "" if use.target.startswith("Tensor.") else "dy2st."
        if is_renamed:
            self.renamed[use.name, f"{prefix}{use.target}"].append(place)
        if words:
            self.rewritten[use.name, words].append(place)
        if not (about or note or is_renamed or words):
            self.same += 1


def lines(sources: Sequence[TorchSource], every_place: bool = False) -> list[str]:
    """The report for people: what is missing, differs, has another name or is written otherwise."""
    found = Found(sources)
    shown = _paragraphs(found.missing, every_place)
    for title, places in (
        ("names that do something else here:", found.differing),
        ("names that are called otherwise here:", found.renamed),
        ("calls that are written otherwise here:", found.rewritten),
    ):
        if places:
            shown += [title, *_paragraphs(places, every_place)]
    shown += [f"not read: {one.path}: {one.error}" for one in sources if one.error]
    shown.append(
        f"{counted(len(sources), 'file')}; names of torch that are here: {found.names} of uses, "
        f"{found.same} of all uses as they are"
    )
    shown.append(f"methods of tensors, known by their name alone: {found.methods}")
    return shown


def _paragraphs(uses: Places, every_place: bool) -> list[str]:
    ordered = sorted(uses.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    shown: list[str] = []
    for (name, text), places in ordered:
        title = name if name.startswith("Tensor.") else f"torch.{name}".rstrip(".")
        shown += paragraph(title, text, places, every_place)
    return shown
