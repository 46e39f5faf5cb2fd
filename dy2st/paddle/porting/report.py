"""Reports what sources use of PaddlePaddle that dy2st has not, or does less of, with advice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from dy2st.paddle.porting.names import is_here, why_not
from dy2st.paddle.porting.stubs import what_it_does
from dy2st.paddle.porting.uses import Source, Use
from dy2st_runtime.errors import counted

_PLACES = 3
_NONE = "neither PaddlePaddle's names nor torch's are imported"


@dataclass(slots=True)
class Count:
    """How many uses there are, and how many of them of names that are here."""

    all: int = 0
    here: int = 0

    def add(self, is_here: bool) -> None:
        """Count one more."""
        self.all += 1
        self.here += is_here

    def __str__(self) -> str:
        """`97 of 100 (97.0 %)`."""
        share = f" ({100 * self.here / self.all:.1f} %)" if self.all else ""
        return f"{self.here} of {self.all}{share}"


@dataclass(slots=True)
class Report:
    """Counts of names and of methods of tensors, and the places of those that are not here.

    `hollow`: the places of those that are here and do less than they say.
    """

    files: int = 0
    names: Count = field(default_factory=Count)
    methods: Count = field(default_factory=Count)
    missing: dict[str, list[Use]] = field(default_factory=lambda: defaultdict(list))
    hollow: dict[str, list[Use]] = field(default_factory=lambda: defaultdict(list))
    unread: list[Source] = field(default_factory=list)

    def by_space(self) -> list[tuple[str, int]]:
        """How many uses are missing under each first part of a name, the most first."""
        counts: Counter[str] = Counter()
        for name, places in self.missing.items():
            counts[name.partition(".")[0]] += len(places)
        return counts.most_common()


def report(sources: Iterable[Source]) -> Report:
    """Count what the sources use."""
    result = Report()
    for source in sources:
        result.files += 1
        if source.error:
            result.unread.append(source)
        for count, uses in ((result.names, source.uses), (result.methods, source.methods)):
            for use in uses:
                known = _is_here(use.name)
                count.add(known)
                if not known:
                    result.missing[use.name].append(use)
                elif what_it_does(use.name):
                    result.hollow[use.name].append(use)
    return result


@cache
def _is_here(name: str) -> bool:
    return is_here(name)


def lines(found: Report, every_place: bool = False) -> list[str]:
    """The report for people: names that are missing, and those that do less than they say."""
    shown = _paragraphs(found.missing, why_not, every_place)
    if found.hollow:
        shown.append("names that are here and do less than they say:")
        shown += _paragraphs(found.hollow, what_it_does, every_place)
    shown += [f"not read: {source.path}: {source.error}" for source in found.unread]
    used = f"names that are here: {found.names} of uses" if found.names.all else _NONE
    shown.append(f"{counted(found.files, 'file')}; {used}")
    shown.append(f"methods of tensors, known by their name alone: {found.methods}")
    return shown


def _paragraphs(
    uses: dict[str, list[Use]], about: Callable[[str], str], every_place: bool
) -> list[str]:
    """A paragraph for each name, the most used first."""
    shown: list[str] = []
    for name, places in sorted(uses.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        written = name if name.startswith("Tensor.") else f"paddle.{name}"
        where = [(use.file, use.line) for use in places]
        shown += paragraph(written, about(name), where, every_place)
    return shown


def paragraph(
    name: str, text: str, places: Sequence[tuple[str, int]], every_place: bool
) -> Iterator[str]:
    """What is to be said of a name, and where it is used: some places, or all."""
    times = f"{len(places)} use{'s' * (len(places) > 1)}"
    yield f"{name}: {times}{text and f'; {text}'}"
    listed = places if every_place else places[:_PLACES]
    yield from (f"    {file}:{line}" for file, line in listed)
    if len(listed) < len(places):
        yield f"    and {len(places) - len(listed)} more; --all shows them"
