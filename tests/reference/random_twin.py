"""The random numbers of `srs.trees.random` in Python integers, masked to their width by hand."""

M32, M64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
CUT, MISSING_SIDE, SUBSET, TIE, COLUMNS = 1, 2, 3, 4, 5


def mix32(x: int) -> int:
    x ^= x >> 16
    x = (x * 0x85EBCA6B) & M32
    x ^= x >> 13
    x = (x * 0xC2B2AE35) & M32
    return x ^ (x >> 16)


def mix64(x: int) -> int:
    x ^= x >> 30
    x = (x * 0xBF58476D1CE4E5B9) & M64
    x ^= x >> 27
    x = (x * 0x94D049BB133111EB) & M64
    return x ^ (x >> 31)


def node_key(tree_key: int, node: int, domain: int) -> int:
    x = mix64((tree_key + (node + 1) * 0x9E3779B97F4A7C15) & M64)
    return mix64((x + domain * 0xD1B54A32D192ED03) & M64) >> 32


def random_u32(key: int, counter: int) -> int:
    return mix32(((counter * 0x9E3779B9) & M32) ^ key)


def scale_u32(random: int, n: int) -> int:
    return ((random >> 8) * n) >> 24


def random_below(key: int, counter: int, n: int) -> int:
    return (random_u32(key, counter) * n) >> 32
