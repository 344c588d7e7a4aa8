"""What all trainers share: inputs, memory estimates, epochs."""
