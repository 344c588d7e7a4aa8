"""Files as bytes: opened, unzipped, mapped, written whole. Knows nothing of what is in them."""
