"""What all trainers share: text as ids, options, memory, and the loop over epochs."""
