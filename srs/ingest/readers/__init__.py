"""What formats share when they read: matrices, sparse data, text lines and fields, zarr chunks,
guards.

A module here knows how bytes become blocks of values; which file is which format is
`srs.ingest.formats`.
"""
