"""Hard negatives: texts that are near a query and are not its answer."""
