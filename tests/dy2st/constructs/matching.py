"""`match`: patterns and guards."""
