"""Numbers that the thesis prints (Sutera 2019), and the problems that they belong to."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

BESIDE = Path(__file__).resolve().parents[3] / "shared"
TABLES = Path(os.environ.get("SRS_REFERENCE_DATA", BESIDE)) / "reference" / "tables.json"

# Table 7.3.1: p, q, r, RS, SRS, with more digits than the print, which gives some magnitudes only.
# In the text of the marginal rows, 506 and 2797 changed places, and 516 (RS, r = 100) is lost.
ITERATIONS = {
    "chain": [
        (10_000, 100, 1, 100, 100),
        (10_000, 100, 2, 10_100, 200),
        (10_000, 100, 3, 1_030_406.12, 301.02),
        (10_000, 100, 5, 11_057_613_421.5, 506.207),
        (100_000, 100, 3, 1_030_684_395.2, 3028.479),
    ],
    "clique": [
        (10_000, 100, 1, 100, 100),
        (10_000, 100, 2, 30_300, 10_302),
        (10_000, 100, 3, 5_667_233.67, 1_046_168.28),
        (10_000, 100, 4, 884_963_058.9, 107_632_949),
        (10_000, 1000, 4, 83_785.13, 11_635.79),
    ],
    "marginal": [
        (10_000, 100, 10, 291.94, 312.58),
        (10_000, 100, 50, 448.18, 757.03),
        (10_000, 100, 90, 506.23, 2797.97),
        (10_000, 100, 100, 516.66, 16_187.66),
        (25_000, 100, 50, 1123.07, 1900.34),
    ],
}

# The seven segments of each digit, 0 to 9 (thesis Appendix C).
DIGITS = np.array(
    [
        [int(segment) for segment in row]
        for row in (
            "1110111",
            "0010010",
            "1011101",
            "1011011",
            "0111010",
            "1101011",
            "1101111",
            "1010010",
            "1111111",
            "1111011",
        )
    ]
)

# Table 5.1: rows X1..X7, columns k = 0..6.
DIGITS_BY_DEGREE = np.array(
    [
        [0.103, 0.085, 0.068, 0.053, 0.042, 0.033, 0.029],
        [0.139, 0.126, 0.105, 0.082, 0.060, 0.042, 0.029],
        [0.103, 0.091, 0.081, 0.073, 0.066, 0.061, 0.057],
        [0.126, 0.114, 0.097, 0.077, 0.058, 0.042, 0.029],
        [0.139, 0.123, 0.106, 0.090, 0.076, 0.065, 0.057],
        [0.067, 0.056, 0.043, 0.031, 0.020, 0.010, 0.000],
        [0.126, 0.098, 0.070, 0.045, 0.025, 0.010, 0.000],
    ]
)
DIGITS_BY_FEATURE = np.array([0.413, 0.582, 0.531, 0.542, 0.657, 0.226, 0.372])
DIGITS_ALL_BY_DEGREE = np.array([0.802, 0.692, 0.568, 0.450, 0.347, 0.262, 0.200])


def noisy_xor(copied: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Example 5.1: Y = X1 xor X2; X3 is Y with chance `copied` and a coin otherwise."""
    X = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    y = X[:, 0] ^ X[:, 1]
    return X, y, np.where(X[:, 2] == y, (1 + copied) / 2, (1 - copied) / 2)


# Example 5.2: Table 5.2.
EXAMPLE_5_2 = np.array([[0, 0], [1, 1], [2, 1]]), np.array([0, 1, 1])


def read_tables() -> dict[str, Any] | None:
    """The reference tables, if they are at hand."""
    return json.loads(TABLES.read_text()) if TABLES.is_file() else None


# Thesis, Table 6.E.1: Imp, Imp given female and male, Imp^|xc| and Imp_s^xc in both.
TABLE_6_E_1 = {
    "age": (0.2958, 0.3386, 0.2885, 0.1382, 0.1505, -0.0095, -0.0156),
    "histologic-type": (0.3522, 0.1389, 0.4366, 0.2087, 0.1140, 0.1988, -0.0569),
    "degree-of-diffe": (0.4413, 0.4175, 0.4208, 0.1653, 0.1580, 0.0561, 0.0157),
    "bone": (0.2429, 0.2502, 0.2367, 0.0933, 0.0755, -0.0043, 0.0165),
    "bone-marrow": (0.0192, 0.0201, 0.0148, 0.0126, 0.0101, 0.0009, 0.0041),
    "lung": (0.1627, 0.2059, 0.1370, 0.1038, 0.0949, -0.0259, 0.0172),
    "pleura": (0.1485, 0.1496, 0.1015, 0.0590, 0.0900, 0.0313, 0.0234),
    "peritoneum": (0.3184, 0.3459, 0.1979, 0.0861, 0.1380, 0.0147, 0.0956),
    "liver": (0.2285, 0.2138, 0.2630, 0.0786, 0.1279, 0.0375, -0.0602),
    "brain": (0.0465, 0.0349, 0.0548, 0.0378, 0.0254, 0.0114, -0.0104),
    "skin": (0.0677, 0.0362, 0.0923, 0.0314, 0.0403, 0.0252, -0.0133),
    "neck": (0.2215, 0.0690, 0.2582, 0.1466, 0.0692, 0.1316, -0.0081),
    "supraclavicular": (0.1676, 0.1915, 0.1448, 0.0845, 0.0670, -0.0198, 0.0269),
    "axillar": (0.1393, 0.1457, 0.1068, 0.0655, 0.0629, -0.0067, 0.0447),
    "mediastinum": (0.1838, 0.2050, 0.1716, 0.1016, 0.0806, -0.0059, 0.0140),
    "abdominal": (0.2553, 0.3296, 0.1372, 0.1346, 0.1379, -0.0330, 0.0898),
}
