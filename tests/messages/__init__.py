"""Tools that keep the Korean messages complete."""
