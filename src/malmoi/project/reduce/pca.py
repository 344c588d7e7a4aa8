"""Principal components, exactly.

The covariance is summed in double precision block by block, so that hundreds of thousands of rows
take seconds and are not copied.
"""

import numpy as np

from malmoi.arrays import Float32Array, Float64Array

BLOCK_ROWS = 16_384


def principal_components(matrix: Float32Array, count: int) -> Float32Array:
    """The coordinates of each row on the first `count` components, [rows, count].

    Missing components are zeros. The sign of a component makes its largest entry positive, as
    scikit-learn does.
    """
    mean = matrix.mean(axis=0, dtype=np.float64)
    axes = np.zeros((count, matrix.shape[1]))  # [count, dim]
    components = _wide_axes(matrix, mean) if len(matrix) < matrix.shape[1] else _axes(matrix, mean)
    axes[: len(components)] = components[:count]
    largest = axes[np.arange(count), np.abs(axes).argmax(axis=1)]
    axes *= np.where(largest < 0, -1.0, 1.0)[:, np.newaxis]
    blocks = [(matrix[rows] - mean) @ axes.T for rows in _blocks(len(matrix))]
    return np.concatenate(blocks).astype(np.float32)


def _axes(matrix: Float32Array, mean: Float64Array) -> Float64Array:
    """All components, the largest variance first, from the covariance."""
    covariance = np.zeros((matrix.shape[1], matrix.shape[1]))
    for rows in _blocks(len(matrix)):
        block = matrix[rows] - mean
        covariance += block.T @ block
    _, axes = np.linalg.eigh(covariance)  # ascending variance
    return np.ascontiguousarray(axes.T[::-1])


def _wide_axes(matrix: Float32Array, mean: Float64Array) -> Float64Array:
    """All components of fewer rows than dimensions, by SVD."""
    _, _, axes = np.linalg.svd(matrix - mean, full_matrices=False)
    return axes


def _blocks(rows: int) -> list[slice]:
    return [slice(start, start + BLOCK_ROWS) for start in range(0, rows, BLOCK_ROWS)]
