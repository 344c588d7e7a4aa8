"""Vectors as bytes: small enough for a page, fine enough to ask with."""

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.project.scene import Int8Vectors

STEPS = 127


def coarse_rows(matrix: Float32Array) -> Int8Vectors:
    """Each row in steps of a 127th of its largest number: off by half a step at most."""
    largest = np.abs(matrix).max(axis=1)
    scales = (largest / np.float32(STEPS)).astype(np.float32)
    steps = np.where(scales == 0, np.float32(1), scales)
    rounded = np.rint(matrix / steps[:, np.newaxis])
    return Int8Vectors(np.clip(rounded, -STEPS, STEPS).astype(np.int8), scales)
