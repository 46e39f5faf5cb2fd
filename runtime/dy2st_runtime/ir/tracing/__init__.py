"""The tracer, and what a trace knows of its Variables."""
