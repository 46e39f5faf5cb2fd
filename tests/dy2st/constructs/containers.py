"""Lists, dicts, tuples and attributes that change."""
