"""What a call does with a finished trace: guards, the run, effects, the result."""
