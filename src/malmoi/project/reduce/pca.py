"""Principal components: the directions along which vectors spread most, exactly.

By the covariance of all dimensions, summed in double precision block after block, so that
hundreds of thousands of rows take seconds and no copy of them is made.
"""

import numpy as np

from malmoi.arrays import Float32Array, Float64Array

ROWS = 16_384  # a block


def principal_components(matrix: Float32Array, count: int) -> Float32Array:
    """Where each row lies along the first `count` components, [rows, count].

    Components that there are not are zeros. Of a component's two directions, the one whose
    largest part is positive is taken, as scikit-learn does.
    """
    mean = matrix.mean(axis=0, dtype=np.float64)
    axes = np.zeros((count, matrix.shape[1]))  # [count, dim]
    found = _wide_axes(matrix, mean) if len(matrix) < matrix.shape[1] else _axes(matrix, mean)
    axes[: len(found)] = found[:count]
    largest = axes[np.arange(count), np.abs(axes).argmax(axis=1)]
    axes *= np.where(largest < 0, -1.0, 1.0)[:, np.newaxis]
    blocks = [(matrix[rows] - mean) @ axes.T for rows in _blocks(len(matrix))]
    return np.concatenate(blocks).astype(np.float32)


def _axes(matrix: Float32Array, mean: Float64Array) -> Float64Array:
    """All components, the widest first, from the covariance."""
    covariance = np.zeros((matrix.shape[1], matrix.shape[1]))
    for rows in _blocks(len(matrix)):
        block = matrix[rows] - mean
        covariance += block.T @ block
    _, axes = np.linalg.eigh(covariance)  # the widest last
    return np.ascontiguousarray(axes.T[::-1])


def _wide_axes(matrix: Float32Array, mean: Float64Array) -> Float64Array:
    """The same where there are fewer rows than dimensions."""
    _, _, axes = np.linalg.svd(matrix - mean, full_matrices=False)
    return axes


def _blocks(rows: int) -> list[slice]:
    return [slice(start, start + ROWS) for start in range(0, rows, ROWS)]
