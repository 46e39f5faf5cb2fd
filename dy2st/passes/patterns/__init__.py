"""Rules written as expressions over operators, and the driver that applies them."""
