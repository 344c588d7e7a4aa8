"""HDF5 files without the HDF5 library: float arrays in groups, as ELMo's weights need them."""
