"""Has what every pass needs: Module, PassContext, instruments, registry."""
