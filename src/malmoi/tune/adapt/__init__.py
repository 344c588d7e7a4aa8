"""Domain adaptation: an encoder learns from the raw text of a domain, without labels."""
