"""Two bits a code, where no feature has more than four codes, the missing one included.

A code is 0, 1 or 2, or 3 for the last: the level 3 of features that have four levels, and MISSING
of all others. On disk a byte holds four neighbouring features of a sample, so that unpacking is one
look at a table for each byte; in spill files it holds four samples of a feature.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from srs.store.layout import MISSING, TILE

PACKED_TILE = TILE // 4
_BYTES = np.arange(256, dtype=np.uint32)
_TABLE = np.stack([(_BYTES >> (2 * k)) & 3 for k in range(4)], axis=1).astype(np.uint8)
_TABLE[_TABLE == 3] = MISSING
# Four codes of a byte as one word, in the order of the machine.
_WORDS = np.ascontiguousarray(_TABLE).view(np.uint32)[:, 0].copy()


@njit(nogil=True, cache=True)
def pack_rows(codes, packed):  # type: ignore[no-untyped-def]
    """packed (k, ceil(n / 4)) from codes (k, n) of few levels; what is left over is missing."""
    n = codes.shape[1]
    for f in range(codes.shape[0]):
        for b in range(n // 4):
            i = 4 * b
            packed[f, b] = (
                min(codes[f, i], 3)
                | (min(codes[f, i + 1], 3) << 2)
                | (min(codes[f, i + 2], 3) << 4)
                | (min(codes[f, i + 3], 3) << 6)
            )
        if n % 4:
            last = 255
            for i in range(n - n % 4, n):
                shift = 2 * (i % 4)
                last = (last & ~(3 << shift)) | (min(codes[f, i], 3) << shift)
            packed[f, n // 4] = last


@njit(nogil=True, cache=True)
def tile_rows(rows, tiles):  # type: ignore[no-untyped-def]
    """tiles (k, n, 16) from packed rows of 64 k features: each 4 x 4 codes are turned in a word.

    Words are made along a row and cut into bytes along a tile, both by wide instructions (0.11 ns
    a code; byte by byte 0.33).
    """
    n, n_words = tiles.shape[1], rows.shape[1]
    line = np.empty(n_words, np.uint32)
    words = np.empty((n_words, 16), np.uint32)
    for at in range(tiles.shape[0]):
        tile = tiles[at]
        for g in range(16):
            f = TILE * at + 4 * g
            r0, r1, r2, r3 = rows[f], rows[f + 1], rows[f + 2], rows[f + 3]
            for b in range(n_words):
                x = (
                    np.uint32(r0[b])
                    | (np.uint32(r1[b]) << np.uint32(8))
                    | (np.uint32(r2[b]) << np.uint32(16))
                    | (np.uint32(r3[b]) << np.uint32(24))
                )
                t = (x ^ (x >> np.uint32(6))) & np.uint32(0x00CC00CC)
                x = x ^ t ^ (t << np.uint32(6))
                t = (x ^ (x >> np.uint32(12))) & np.uint32(0x0000F0F0)
                line[b] = x ^ t ^ (t << np.uint32(12))
            for b in range(n_words):
                words[b, g] = line[b]
        for b in range(n_words):
            for k in range(min(4, n - 4 * b)):
                for g in range(16):
                    tile[4 * b + k, g] = np.uint8(words[b, g] >> np.uint32(8 * k))


@njit(nogil=True, cache=True)
def _look_up(packed, words, out):  # type: ignore[no-untyped-def]
    for i in range(packed.shape[0]):
        out[i] = words[packed[i]]


def unpack(packed: np.ndarray, out: np.ndarray) -> None:
    """Codes of packed bytes into `out`, four times as many; 3 becomes MISSING."""
    _look_up(packed.reshape(-1), _WORDS, out.reshape(-1).view(np.uint32))


def unpack_rows(packed: np.ndarray, n_samples: int, four: np.ndarray) -> np.ndarray:
    """Codes (k, n_samples) of packed rows; `four` tells those of four levels."""
    wide = np.empty((len(packed), 4 * packed.shape[1]), np.uint8)
    unpack(packed, wide)
    codes = np.ascontiguousarray(wide[:, :n_samples])
    restore_fours(codes, four)
    return codes


def restore_fours(lines: np.ndarray, four: np.ndarray) -> None:
    """Make MISSING the level 3 again in the lines that have four levels."""
    for line in np.flatnonzero(four):
        one = lines[line]
        one[one == MISSING] = 3
