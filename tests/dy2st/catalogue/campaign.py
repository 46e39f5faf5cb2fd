"""Run the functions of the catalogue by Python and in the other ways; count.

python -m tests.dy2st.catalogue.campaign                       # all as Programs, with counts by theme
python -m tests.dy2st.catalogue.campaign --way in_native_code  # in another way of `drivers.WAYS`
python -m tests.dy2st.catalogue.campaign --refused             # also says why each is refused
python -m tests.dy2st.catalogue.campaign model_code.lists.add  # those whose names begin so
python -m tests.dy2st.catalogue.campaign --table               # the tables of `not_yet.py` as they would be
"""

from __future__ import annotations

import argparse
import collections
import sys
import time

from tests.dy2st.catalogue.drivers import WAYS, Verdict, verdict
from tests.dy2st.catalogue.themes import CASES

KINDS = ("equal", "refused", "different", "error")


def main() -> int:
    """Compare the chosen cases; the result is 0 if none is different and none fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("start", nargs="?", default="", help="how the names begin")
    parser.add_argument("--way", choices=WAYS, default="program")
    parser.add_argument("--refused", action="store_true", help="say why")
    parser.add_argument("--table", action="store_true", help="print the tables of not_yet.py")
    parser.add_argument("--times", type=float, default=1e9, help="say which take more seconds")
    options = parser.parse_args()
    found: dict[str, Verdict] = {}
    for case in CASES:
        if case.way != options.way or not case.name.startswith(options.start):
            continue
        begun = time.process_time()
        said = found[case.name] = verdict(case)
        taken = time.process_time() - begun
        if said.kind in ("different", "error") or (options.refused and said.kind == "refused"):
            print(f"{case.name}: {said.kind}: {said.says}"[:400], flush=True)
        if taken > options.times:
            print(f"{case.name}: {taken:.1f} s", flush=True)
    if not found:
        parser.error(f"no name begins with {options.start!r}")
    _summary(found)
    if options.table:
        _table(found)
    return int(any(said.kind in ("different", "error") for said in found.values()))


def _summary(found: dict[str, Verdict]) -> None:
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for name, said in found.items():
        for row in (name.rpartition(".")[0], "all"):
            counts[row][said.kind] += 1
    print(f"{'':32}", *(f"{kind:>10}" for kind in KINDS))
    for row, count in counts.items():
        if row != "all":
            print(f"{row:32}", *(f"{count[kind]:10}" for kind in KINDS))
    print(f"{'all':32}", *(f"{counts['all'][kind]:10}" for kind in KINDS))


def _table(found: dict[str, Verdict]) -> None:
    for kinds in (("refused",), ("different", "error")):
        print("\n".join(f'    "{n}",' for n, said in found.items() if said.kind in kinds), "\n")


if __name__ == "__main__":
    sys.exit(main())
