"""Other libraries' names for programs that were written for them: one package per library."""
