"""What every pass needs: Module, PassContext, instruments, registry."""
