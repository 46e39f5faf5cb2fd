"""`dy2st port`: what of PaddlePaddle some sources use that is not here, and imports of dy2st."""

from __future__ import annotations

import argparse
from pathlib import Path

from dy2st.paddle.porting.report import lines, report
from dy2st.paddle.porting.rewrite import rewritten
from dy2st.paddle.porting.uses import read, sources_of
from dy2st_runtime.errors import MissingFile
from dy2st_runtime.files import naming, replacing


def port(options: argparse.Namespace) -> int:
    """Print the report; with `--write` change the imports, too."""
    folder = Path(options.folder)
    if not folder.exists():
        raise MissingFile(2, "there is no such file or folder", str(folder))
    sources = [read(path) for path in sources_of(folder)]
    print("\n".join(lines(report(sources), options.all)))
    if options.write:
        changed = [source.path for source in sources if not source.error and _write(source.path)]
        print(f"{len(changed)} files import dy2st now")
    return 0


def _write(path: Path) -> bool:
    """Rewrite one file; whether it has changed."""
    with naming(path):
        source = path.read_bytes()
        new = rewritten(source)
        if new == source:
            return False
        mode = path.stat().st_mode
        with replacing(path) as (temporary,):
            temporary.write_bytes(new)
        path.chmod(mode)
    return True
