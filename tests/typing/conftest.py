"""Programs that checkers read are not run."""

collect_ignore = ["revealed.py", "right.py", "wrong.py"]
