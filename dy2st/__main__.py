"""`python -m dy2st`, and the command `dy2st`, which Ctrl-C may end while it is still loaded."""

import sys

from dy2st.cli.exit_status import run_to_end
from dy2st_runtime.lazy import Lazy

commands = Lazy("dy2st.cli.commands")


def main() -> int:
    """Run what the arguments say; the exit status."""
    return run_to_end(lambda: int(commands.main()))


if __name__ == "__main__":
    sys.exit(main())
