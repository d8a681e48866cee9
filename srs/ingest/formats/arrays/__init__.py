"""Sources that are matrices: in memory, .npy, .npz, HDF5, MATLAB, zarr, dask."""
