"""How long work reports to its caller: progress, losses, memory, warnings with counts."""
