"""Run all scenarios of state outside, or those whose names have a text in them.

python -m tests.dy2st.jit.outside.campaign
python -m tests.dy2st.jit.outside.campaign layers -v      # shows the differences
"""

from __future__ import annotations

import argparse
import collections
import sys
import warnings

from tests.dy2st.jit.outside.catalogue import SCENARIOS
from tests.dy2st.jit.outside.scenario import Found, run

LEGEND = {
    "follows": "as Python, and no call without a change traced anew",
    "retraced": "as Python, but a call without a change traced anew",
    "refused": "an error of dy2st",
    "WRONG": "another answer than Python's, silently",
    "error": "an exception that Python does not raise",
}


def main() -> int:
    """Print a line for each scenario, and how often each verdict came."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", default="", help="part of the names")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what differs")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found: collections.Counter[str] = collections.Counter()
    traces = 0
    for name, scenario in SCENARIOS.items():
        if options.part not in name:
            continue
        try:
            result = run(scenario)
        except Exception as error:  # the scenario is at fault, or the machine before its first call
            result = Found("error", (), f"{type(error).__name__}: {error}")
        found[result.verdict] += 1
        traces += sum(result.traces)
        print(f"{result.verdict:9}{' '.join(map(str, result.traces)):9} {name}")
        if options.verbose and result.detail:
            print(f"          {result.detail[:400]}")
    if not found:
        parser.error(f"no scenario has {options.part!r} in its name")
    print(f"{sum(found.values())} scenarios, {traces} traces")
    for verdict, text in LEGEND.items():
        print(f"{found[verdict]:5} {verdict:9} {text}")
    return int(found["WRONG"] + found["error"] > 0)


if __name__ == "__main__":
    sys.exit(main())
