"""The interfaces of other packages, so that programs written for them run with another import."""
