"""When an index is searched through clusters, and when they are made anew."""

from dataclasses import replace

import numpy as np

from malmoi.errors import warn
from malmoi.search.storage.clusters import FEWEST, WORTH, can_cluster, make_clusters
from malmoi.search.storage.state import State, compacted

STALE = 0.2  # of the rows: so many that clusters do not know are too many


def clustered(state: State, approximate: bool | None = None) -> State:
    """The same with clusters where they are worth it, or where they are asked for.

    Rows are written anew into one segment for that. Clusters that know most rows are kept.
    """
    if approximate is None:
        approximate = state.vector_count > WORTH
        if approximate and not can_cluster():
            warn(
                f"{state.count:,} texts are searched one by one: pip install 'malmoi[search]'"
                " finds them faster"
            )
            return state
    if not approximate or state.count == 0:
        return replace(state, clusters=None)
    if state.clusters and state.count - state.counts[0] <= STALE * state.count:
        return state
    state = compacted(state)
    made = make_clusters(vectors := state.segments[0].vectors)
    if made is None:
        count = np.count_nonzero(vectors.norms)
        warn(
            f"{count:,} vectors that are not zero are too few for clusters, which need"
            f" {FEWEST:,}: every vector is searched"
        )
    return replace(state, clusters=made)
