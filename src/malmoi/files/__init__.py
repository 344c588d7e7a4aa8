"""Reading and writing files: mapped, compressed, atomic, with checksums, locks, checkpoints."""
