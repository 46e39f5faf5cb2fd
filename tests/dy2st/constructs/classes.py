"""Classes: methods, properties, operators, `super()`, dataclasses, enums."""
