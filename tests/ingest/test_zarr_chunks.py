"""Chunks decoded from their files are those that zarr reads, whatever the array is made of."""

import numcodecs
import numpy as np
import pytest
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

from srs.errors import SourceError
from srs.ingest.zarr_chunks import ZarrChunks

SHAPE, CHUNKS = (33, 17, 2), (10, 6, 2)
KINDS = {  # what zarr is told -> whether its files are read here
    "zstd": ({"compressors": ZstdCodec()}, True),
    "blosc": ({"compressors": BloscCodec(typesize=1, shuffle="bitshuffle")}, True),
    "flat keys": ({"chunk_key_encoding": {"name": "default", "separator": "."}}, True),
    "old keys": ({"chunk_key_encoding": {"name": "v2", "separator": "/"}}, True),
    "one chunk": ({"chunks": (40, 40, 2)}, True),
    "v2": ({"zarr_format": 2, "compressors": numcodecs.Blosc("zstd", shuffle=2)}, True),
    "gzip": ({"compressors": GzipCodec()}, False),
    "plain": ({"compressors": None}, False),
    "two codecs": ({"compressors": [ZstdCodec(), GzipCodec()]}, False),
    "shards": ({"shards": (20, 12, 2)}, False),
    "wide": ({"dtype": "int16"}, False),
    "alleles apart": ({"chunks": (10, 6, 1)}, False),
    "v2 filters": ({"zarr_format": 2, "filters": [numcodecs.Delta("i1")]}, False),
    "v2 columns": ({"zarr_format": 2, "order": "F"}, False),
}


def make(folder, **options):
    """Calls of which the first chunks hold the fill value alone, so that zarr writes no file."""
    calls = np.random.default_rng(0).integers(-2, 3, size=SHAPE)
    calls[:20, :12] = -1
    group = zarr.create_group(folder, zarr_format=options.pop("zarr_format", 3))
    settings = {"dtype": "int8", "chunks": CHUNKS, "fill_value": -1, **options}
    array = group.create_array("calls", shape=SHAPE, **settings)
    array[:] = calls
    return array, calls


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_are_those_of_zarr(kind, tmp_path):
    options, direct = KINDS[kind]
    array, calls = make(tmp_path, **options)
    chunks = ZarrChunks(array, tmp_path)
    assert (chunks.n_threads == 2) == direct
    assert chunks.held > 0
    read = np.full(SHAPE, 99)
    for row in range(0, SHAPE[0], chunks.rows):
        for column in range(0, SHAPE[1], chunks.columns):
            here = read[row : row + chunks.rows, column : column + chunks.columns]
            here[:] = chunks.read(row, column)[: here.shape[0], : here.shape[1]]
    np.testing.assert_array_equal(read, calls)


@pytest.mark.parametrize("damage", [b"", b"no zstd frame", "short", "long"])
@pytest.mark.parametrize("codec", [ZstdCodec(), GzipCodec()])
def test_damaged_chunks_are_told(damage, codec, tmp_path):
    array, _ = make(tmp_path, compressors=codec)
    if isinstance(damage, str):
        values = np.zeros(100 if damage == "short" else 1000, np.int8)
        damage = numcodecs.get_codec({"id": codec.to_dict()["name"]}).encode(values)
    (tmp_path / "calls" / "c" / "3" / "0" / "0").write_bytes(damage)
    with pytest.raises(SourceError, match=r"calls cannot be read: \w"):
        ZarrChunks(array, tmp_path).read(30, 0)
