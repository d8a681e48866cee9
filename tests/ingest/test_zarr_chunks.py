"""Chunks decoded from their files are those that zarr reads, whatever the array is made of."""

import threading

import numcodecs
import numpy as np
import pytest
import zarr
from zarr.codecs import BloscCodec, BytesCodec, GzipCodec, ZstdCodec

from srs.errors import SourceError
from srs.ingest.formats.arrays.in_memory import ZarrMatrix, zarr_matrix
from srs.ingest.readers.zarr_chunks import ZarrChunks

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
    "wide": ({"dtype": "int16"}, True),
    "floats": ({"dtype": "float32"}, True),
    "v2 floats": ({"zarr_format": 2, "dtype": "<f8", "compressors": numcodecs.Blosc()}, True),
    "turned bytes": ({"dtype": "float64", "serializer": BytesCodec(endian="big")}, False),
    "v2 turned bytes": ({"zarr_format": 2, "dtype": ">i4"}, False),
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
    chunks = ZarrChunks(array, tmp_path / "calls")
    assert chunks.decodes == direct
    n_bytes = 2 * chunks.rows * chunks.columns * array.dtype.itemsize
    assert chunks.held == (4 if direct else 3) * n_bytes  # two threads, or all columns
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
        ZarrChunks(array, tmp_path / "calls").read(30, 0)


@pytest.mark.parametrize("kind", ["zstd", "gzip"])
def test_parts_are_handed_out_by_several_threads(kind, tmp_path):
    array, calls = make(tmp_path, **KINDS[kind][0])
    chunks = ZarrChunks(array, tmp_path / "calls")
    read, threads = np.full(SHAPE, 99), set()
    all_there = threading.Barrier(2 if chunks.decodes else 1, timeout=60)

    def take(part, row, column):
        all_there.wait()
        threads.add(threading.get_ident())
        here = read[row : row + len(part), column : column + part.shape[1]]
        here[:] = part[: len(here), : here.shape[1]]

    chunks.hand_out(slice(12, 25), slice(7, 9), take)
    wide = slice(6, 12) if chunks.decodes else slice(0, 17)
    np.testing.assert_array_equal(read[10:30, wide], calls[10:30, wide])
    assert (read[:10] == 99).all()
    assert (read[30:] == 99).all()
    assert threading.get_ident() not in threads
    assert len(threads) == (2 if chunks.decodes else 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", ">f4"])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("codec", ["blosc", "gzip"])
def test_rectangles_of_a_matrix(dtype, zarr_format, codec, tmp_path):
    values = np.random.default_rng(1).normal(scale=100, size=(70, 90)).astype(dtype)
    values[:16, :20] = 0  # no file
    codecs = {"blosc": (BloscCodec(), numcodecs.Blosc()), "gzip": (GzipCodec(), numcodecs.GZip())}
    array = zarr.create_array(
        tmp_path / "x.zarr",
        data=values,
        chunks=(16, 20),
        zarr_format=zarr_format,
        fill_value=0,
        compressors=codecs[codec][zarr_format == 2],
        config={"write_empty_chunks": False},
    )
    matrix, native = zarr_matrix(array), dtype[0] != ">"
    decodes = codec == "blosc" and (native or zarr_format == 3)
    assert isinstance(matrix, ZarrMatrix) == decodes
    room = np.empty(70 * 90, matrix.dtype)
    for rows, columns in ((slice(0, 70), slice(0, 90)), (slice(3, 40), slice(19, 61))):
        for out in (None, room[: values[rows, columns].size]):
            fetched = matrix.fetch(rows, columns, out)
            np.testing.assert_array_equal(fetched, values[rows, columns])
            assert fetched.dtype.isnative == (native or decodes)
    lines = np.array([5, 69, 5])
    np.testing.assert_array_equal(matrix.pick(lines, 0), values[lines])
    np.testing.assert_array_equal(matrix.pick(lines, 1), values[:, lines].T)
