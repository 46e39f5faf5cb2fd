"""`python -m dy2st`, and the command `dy2st`, which Ctrl-C may end while it is still loaded."""

import sys

from dy2st.command_ends import run_to_end
from dy2st_runtime.late import Late

cli = Late("dy2st.cli")


def main() -> int:
    """Run what the arguments say; the exit status."""
    return run_to_end(lambda: int(cli.main()))


if __name__ == "__main__":
    sys.exit(main())
