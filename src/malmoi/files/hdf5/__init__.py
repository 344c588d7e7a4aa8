"""HDF5 files of float32 arrays in groups, without a library: what ELMo's weights need."""
