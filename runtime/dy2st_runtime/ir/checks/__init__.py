"""What must hold in a Program, and what to say where it does not."""
