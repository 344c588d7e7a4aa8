"""The scene of a page that a server serves: it requests neighbours, so that it opens at once.

It is drawn by PCA first. The picture by t-SNE or PaCMAP takes up to minutes: it is computed in
another process, kept in the cache folder, and put into the scene when it is there.
"""

from dataclasses import dataclass, replace

import numpy as np

from malmoi.arrays import Float32Array, Int64Array
from malmoi.project.neighbour_preservation import preserved_share, sample_points
from malmoi.project.picture_cache import picture_path, read_picture
from malmoi.project.points.point_clusters import cluster_field
from malmoi.project.points.points import Points, drawable
from malmoi.project.points.telling_field import telling_field
from malmoi.project.reduce.nearest_points import nearest_of
from malmoi.project.reduce.pca import principal_components
from malmoi.project.reduce.reduction import Coordinates, by_pca, choose_method
from malmoi.project.scene import Scene, Space
from malmoi.project.scene_builder import DEFAULT, ordered_fields
from malmoi.vectors import l2_normalize


@dataclass(frozen=True, eq=False)
class LiveScene:
    """A scene, and what a better picture of it needs.

    `method` is the reduction that is still to be computed; None once it is there, or where PCA
    is the best.
    """

    scene: Scene
    matrix: Float32Array  # [points, dim], unit vectors
    sample_rows: Int64Array  # [sample]
    sample_near: Int64Array  # [sample, k]
    method: str | None

    def with_picture(self, picture: Coordinates) -> "LiveScene":
        """The same scene with the coordinates of another picture."""
        (space,) = self.scene.spaces
        drawn = replace(
            space,
            coords_2d=picture.coords_2d,
            coords_3d=picture.coords_3d,
            reduction=picture.method,
            neighbour_preservation=preserved_share(
                self.sample_rows, self.sample_near, picture.coords_2d
            ),
            notes=(*space.notes, *picture.notes),
        )
        return replace(self, scene=replace(self.scene, spaces=(drawn,)), method=None)

    def with_notes(self, *notes: str) -> "LiveScene":
        """The same scene, which stays as it is drawn, with more notes."""
        (space,) = self.scene.spaces
        noted = replace(space, notes=(*space.notes, *notes))
        return replace(self, scene=replace(self.scene, spaces=(noted,)), method=None)


def make_live_scene(points: Points) -> LiveScene:
    """A scene by the picture that is kept in the cache folder, or else by PCA.

    Raises:
        InvalidArgumentError: There are fewer than three points, or all vectors are equal.
    """
    points = drawable(points)
    vectors, matrix = points.vectors, l2_normalize(points.vectors.matrix)
    sample_rows = sample_points(len(vectors))
    sample_near = nearest_of(vectors, sample_rows, DEFAULT.neighbours)
    picture = by_pca(principal_components(matrix, 3))
    count = DEFAULT.cluster_count(len(vectors))
    clusters = cluster_field(vectors.keys, matrix, count, texts=points.texts)
    first = points.first or telling_field(points.fields, sample_rows, sample_near)
    space = Space(
        name=points.name,
        keys=vectors.keys,
        coords_2d=picture.coords_2d,
        coords_3d=picture.coords_3d,
        reduction=picture.method,
        neighbour_preservation=preserved_share(sample_rows, sample_near, picture.coords_2d),
        near={},
        fields=ordered_fields(points.with_fields(clusters).fields, first),
        details=points.details,
        notes=points.notes,
        labelled_by=points.labelled_by,
    )
    method = choose_method(len(vectors))
    live = LiveScene(
        Scene(points.name, (space,)),
        np.ascontiguousarray(matrix),
        sample_rows,
        sample_near,
        None if method == "pca" else method,
    )
    if live.method is None:
        return live
    kept = read_picture(picture_path(live.matrix))
    return live if kept is None else live.with_picture(kept)
