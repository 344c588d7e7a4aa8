"""Static students: token vectors that imitate a teacher, and that are tuned on scored pairs."""
