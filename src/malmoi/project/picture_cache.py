"""Pictures kept in the cache folder, by the content of the vectors they are drawn from.

`python -m malmoi.project.picture_cache MATRIX.npy PICTURE.npz` computes one: a process of its own,
because PaCMAP would block all threads of a server.
"""

import os
import sys
import zlib
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import MalmoiError
from malmoi.files.cache_folder import cache_folder
from malmoi.files.output import open_output
from malmoi.project.reduce.nearest_points import near_lists
from malmoi.project.reduce.reduction import Coordinates, choose_method, reduce
from malmoi.project.reduce.tsne import NEIGHBOURS
from malmoi.reporting.reporter import SilentReporter
from malmoi.vectors import Vectors

VERSION = 1  # of the pictures: another one is not read
NICENESS = 10  # of the process: a server that runs beside it goes first


def picture_path(matrix: Float32Array) -> Path:
    """The file for the picture of a matrix [points, dim]; it may not exist yet."""
    digest = sha256(f"{VERSION} {matrix.shape}".encode())
    digest.update(np.ascontiguousarray(matrix).data)
    return cache_folder("pictures") / f"picture-{digest.hexdigest()[:32]}.npz"


def read_picture(path: Path) -> Coordinates | None:
    """The picture in a file; None if there is none, or if it is damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            plane, solid = arrays["coords_2d"], arrays["coords_3d"]
            method, notes = str(arrays["method"]), tuple(map(str, arrays["notes"]))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None
    if plane.shape[1:] != (2,) or solid.shape != (len(plane), 3):
        return None
    return Coordinates(plane.astype(np.float32), solid.astype(np.float32), method, notes)


def write_picture(path: Path, picture: Coordinates) -> None:
    """Write a picture to a file, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_output(path) as [stream]:
        np.savez_compressed(
            stream,
            coords_2d=picture.coords_2d,
            coords_3d=picture.coords_3d,
            method=np.array(picture.method),
            notes=np.array(picture.notes, dtype=np.str_),
        )


def draw_picture(matrix: Float32Array) -> Coordinates:
    """The picture of unit vectors [points, dim], by the method that suits their number."""
    vectors = Vectors([str(row) for row in range(len(matrix))], matrix)
    near = near_lists(vectors, NEIGHBOURS)["cosine"]
    method = choose_method(len(matrix))  # by name: a missing package is an error, not PCA
    return reduce(vectors.matrix, near, method, reporter=SilentReporter())


def main(matrix_path: str, picture_file: str) -> int:
    """Compute the picture of a matrix in a file; returns the exit code of the process."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    try:
        write_picture(Path(picture_file), draw_picture(np.load(matrix_path, allow_pickle=False)))
    except MalmoiError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
