"""Small vectors whose answers are known, and random ones to compare with the peers."""

import numpy as np

from malmoi.vectors import Vectors

# Countries east, capitals north of them: capital = country + (0, 1), each pair turned apart.
CAPITALS = {
    "한국": (1.0, 0.0, 0.2),
    "서울": (1.0, 1.0, 0.2),
    "일본": (0.2, 0.0, 1.0),
    "도쿄": (0.2, 1.0, 1.0),
    "사과": (-1.0, 0.6, -0.3),
    "new york": (-0.5, 0.9, 0.4),
    "x-ray": (-0.6, 0.8, -0.9),
}


def capitals() -> Vectors:
    return Vectors(CAPITALS, list(CAPITALS.values()))


def random_vectors(rows: int = 500, dim: int = 12, seed: int = 0) -> Vectors:
    numbers = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    return Vectors([f"w{i}" for i in range(rows)], numbers)
