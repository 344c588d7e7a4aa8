"""What several commands share: options, output, tables, progress."""
