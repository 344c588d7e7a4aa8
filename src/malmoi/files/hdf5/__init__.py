"""HDF5 files without the HDF5 library: arrays in groups, read as views of the mapped file."""
