"""The Python entry to the training of word vectors: checks shapes, types and ranges.

The constructor checks what stays the same, `train` what differs with each call. The loops of
`train_words` check nothing.
"""

import numpy as np

from malmoi.arrays import Float64Array, UInt32Array, UInt64Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, Sizes, check_each, require, require_ids
from malmoi.kernels.word2vec.rows import FLOATS_PER_LINE
from malmoi.kernels.word2vec.tiles import LANES, TILE
from malmoi.kernels.word2vec.train_words import (
    MAX_SENTENCE_WORDS,
    Plan,
    Targets,
    WordNetwork,
    Words,
    Workspace,
    train_words,
)

FLOAT, ROW_INDEX = np.float32, np.int32
NETWORK = {
    "inputs": ArrayOf(FLOAT, "inputs", "width"),
    "outputs": ArrayOf(FLOAT, "outputs", "width"),
}
WORDS = {
    "keep": ArrayOf(np.uint32, "words"),
    "starts": Offsets("words", into="rows"),
    "rows": ArrayOf(ROW_INDEX, "rows", below="inputs"),
    "moves": ArrayOf(FLOAT, "words"),
}
NEGATIVES = {"table": ArrayOf(np.uint32, "samples", 2)}
PATHS = {
    "starts": Offsets("words", into="nodes"),
    "nodes": ArrayOf(ROW_INDEX, "nodes", below="outputs"),
    "codes": ArrayOf(np.uint8, "nodes"),
}
WORKSPACE = {
    "slots": ArrayOf(ROW_INDEX, "words"),
    "distinct": ArrayOf(ROW_INDEX, MAX_SENTENCE_WORDS),
    "line": ArrayOf(ROW_INDEX, MAX_SENTENCE_WORDS),
    "hidden_rows": ArrayOf(ROW_INDEX, MAX_SENTENCE_WORDS),
    "hidden": ArrayOf(FLOAT, MAX_SENTENCE_WORDS, "width"),
    "before": ArrayOf(FLOAT, MAX_SENTENCE_WORDS, "width"),
    "contexts": ArrayOf(ROW_INDEX, "contexts"),
    "row_counts": ArrayOf(FLOAT, "contexts"),
    "mean": ArrayOf(FLOAT, "width"),
    "targets": ArrayOf(ROW_INDEX, 2, "targets"),
    "labels": ArrayOf(FLOAT, 2, "targets"),
    "weights": ArrayOf(FLOAT, 2, "targets"),
    "scores": ArrayOf(FLOAT, "contexts", LANES),
    "moves": ArrayOf(FLOAT, TILE, "width"),
}
STATE, RESULT, STREAM = ArrayOf(np.uint64, 1), ArrayOf(np.float64, 2), ArrayOf(np.uint32, "ids")


class Word2VecKernel:
    """The kernel with a network, its words and their targets."""

    def __init__(self, words: Words, network: WordNetwork, targets: Targets) -> None:
        self._words, self._network, self._targets = words, network, targets
        self._sizes: Sizes = {}
        self._check(network, NETWORK)
        self._check(words, WORDS)
        sizes = self._sizes
        width, count = sizes["width"], sizes["words"]
        require(
            width % FLOATS_PER_LINE == 0,
            f"rows are {width} wide, not a multiple of {FLOATS_PER_LINE}",
        )
        # CBOW may update input row w of word w; output rows belong to words or to Huffman nodes.
        require(
            count <= sizes["inputs"],
            f"{count} words need as many input rows, not {sizes['inputs']}",
        )
        rows = np.diff(words.starts)
        require(bool(np.all(rows > 0)), "a word has no input row")
        self._max_targets = self._check_targets(count)

    def train(
        self,
        ids: UInt32Array,
        plan: Plan,
        state: UInt64Array,
        workspace: Workspace,
        result: Float64Array,
    ) -> None:
        """Train on a part of the stream; see `train_words`."""
        sizes = self._sizes.copy()
        STREAM.check("ids", ids, sizes)
        require_ids("ids", ids, sizes["words"])
        STATE.check("state", state, sizes)
        RESULT.check("result", result, sizes)
        require(
            plan.window > 0 and plan.loss_interval > 0,
            f"{plan} has a window or a loss interval of 0",
        )
        for name, rule in WORKSPACE.items():
            rule.check(name, getattr(workspace, name), sizes)
        contexts, targets = sizes["contexts"], sizes["targets"]
        require(
            contexts >= 2 * plan.window,
            f"the workspace has {contexts} contexts, fewer than 2 * window",
        )
        require(
            targets >= self._max_targets + TILE + LANES,
            f"the workspace has {targets} targets: too few",
        )
        train_words(
            ids,
            0,
            len(ids),
            self._words,
            self._network,
            self._targets,
            plan,
            state,
            workspace,
            result,
        )

    def _check(self, values: object, rules: dict[str, ArrayOf]) -> None:
        named = [(name, getattr(values, name), rule) for name, rule in rules.items()]
        check_each(named, self._sizes)

    def _check_targets(self, words: int) -> int:
        """Check that every target has an output row; returns the largest number of targets."""
        targets, outputs = self._targets, self._sizes["outputs"]
        if not len(targets.table):
            self._check(targets, PATHS)
            return int(np.diff(targets.starts).max(initial=0))
        self._check(targets, NEGATIVES)
        needed = max(len(targets.table), int(targets.table[:, 1].max()) + 1, words)
        require(needed <= outputs, f"{needed} words need as many output rows, not {outputs}")
        samples = targets.negative_samples
        require(samples >= 0, f"negative_samples is {samples}, below 0")
        return 1 + samples
