"""Text: `print`, f-strings and formatting of values known only when the Program runs."""
