"""Writes rules as expressions over operators, and applies them.

A pattern is matched backwards from its last operator. The driver first looks up which rules may fit
at all, by the names of the operators that make the operands: so a pass costs a microsecond an
operator where nothing fits. What a rule records goes through the same shape rules as a user's code,
so a rule that needs an unknown size to satisfy something that is not known to hold does not fire. A
failed match is put into words only where `explain` asks.
"""
