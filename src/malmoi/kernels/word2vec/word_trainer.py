"""Where Python enters the training of word vectors: what it reads and writes is checked here.

What stays the same is checked when a trainer is made, and what differs with each call then. The
loops of `word_training` check nothing, and vector instructions cannot.
"""

import numpy as np

from malmoi.arrays import Float64Array, UInt32Array, UInt64Array
from malmoi.kernels.core.checks import ArrayOf, Offsets, Sizes, check_each, require, require_ids
from malmoi.kernels.word2vec.rows import PER_LINE
from malmoi.kernels.word2vec.tiles import LANES, TILE
from malmoi.kernels.word2vec.train_words import (
    SENTENCE,
    Plan,
    Targets,
    WordNetwork,
    Words,
    Workspace,
    train_words,
)

FLOATS, ROWS = np.float32, np.int32
NETWORK = {
    "inputs": ArrayOf(FLOATS, "inputs", "width"),
    "outputs": ArrayOf(FLOATS, "outputs", "width"),
}
WORDS = {
    "keep": ArrayOf(np.uint32, "words"),
    "starts": Offsets("words", into="rows"),
    "rows": ArrayOf(ROWS, "rows", below="inputs"),
    "moves": ArrayOf(FLOATS, "words"),
}
NEGATIVES = {"table": ArrayOf(np.uint32, "drawn", 2)}
PATHS = {
    "starts": Offsets("words", into="nodes"),
    "nodes": ArrayOf(ROWS, "nodes", below="outputs"),
    "codes": ArrayOf(np.uint8, "nodes"),
}
ROOM = {
    "slots": ArrayOf(ROWS, "words"),
    "different": ArrayOf(ROWS, SENTENCE),
    "line": ArrayOf(ROWS, SENTENCE),
    "places": ArrayOf(ROWS, SENTENCE),
    "hidden": ArrayOf(FLOATS, SENTENCE, "width"),
    "before": ArrayOf(FLOATS, SENTENCE, "width"),
    "contexts": ArrayOf(ROWS, "contexts"),
    "shares": ArrayOf(FLOATS, "contexts"),
    "mean": ArrayOf(FLOATS, "width"),
    "targets": ArrayOf(ROWS, 2, "targets"),
    "goals": ArrayOf(FLOATS, 2, "targets"),
    "weights": ArrayOf(FLOATS, 2, "targets"),
    "scores": ArrayOf(FLOATS, "contexts", LANES),
    "moves": ArrayOf(FLOATS, TILE, "width"),
}
STATE, RESULT, STREAM = ArrayOf(np.uint64, 1), ArrayOf(np.float64, 2), ArrayOf(np.uint32, "ids")


class Word2VecKernel:
    """A network, its words and their targets, which fit each other."""

    def __init__(self, words: Words, network: WordNetwork, targets: Targets) -> None:
        self._words, self._network, self._targets = words, network, targets
        self._sizes: Sizes = {}
        self._check(network, NETWORK)
        self._check(words, WORDS)
        sizes = self._sizes
        width, count = sizes["width"], sizes["words"]
        require(width % PER_LINE == 0, f"rows are {width} wide, not a multiple of {PER_LINE}")
        # CBOW may move input rows by the words' own numbers, and outputs are words' or nodes'.
        require(count <= sizes["inputs"], f"there are {sizes['inputs']} inputs for {count} words")
        rows = np.diff(words.starts)
        require(bool(np.all(rows > 0)), "a word has no input row")
        self._longest = self._check_targets(count)

    def train(
        self,
        ids: UInt32Array,
        plan: Plan,
        state: UInt64Array,
        room: Workspace,
        result: Float64Array,
    ) -> None:
        """Learn from a part of the stream; see `train_words`."""
        sizes = self._sizes.copy()
        STREAM.check("ids", ids, sizes)
        require_ids("ids", ids, sizes["words"])
        STATE.check("state", state, sizes)
        RESULT.check("result", result, sizes)
        require(plan.window > 0 and plan.watched > 0, f"{plan} has a window or a share of 0")
        for name, rule in ROOM.items():
            rule.check(name, getattr(room, name), sizes)
        contexts, targets = sizes["contexts"], sizes["targets"]
        require(contexts >= 2 * plan.window, f"there is room for {contexts} contexts: too few")
        require(targets >= self._longest + TILE + LANES, f"there is room for {targets} targets")
        train_words(
            ids,
            0,
            len(ids),
            self._words,
            self._network,
            self._targets,
            plan,
            state,
            room,
            result,
        )

    def _check(self, values: object, rules: dict[str, ArrayOf]) -> None:
        named = [(name, getattr(values, name), rule) for name, rule in rules.items()]
        check_each(named, self._sizes)

    def _check_targets(self, words: int) -> int:
        """Refuse targets that have no output row; how many a word has at most."""
        targets, outputs = self._targets, self._sizes["outputs"]
        if not len(targets.table):
            self._check(targets, PATHS)
            return int(np.diff(targets.starts).max(initial=0))
        self._check(targets, NEGATIVES)
        drawn = max(len(targets.table), int(targets.table[:, 1].max()) + 1, words)
        require(drawn <= outputs, f"there are {outputs} outputs for {drawn} words")
        require(targets.negatives >= 0, f"negatives is {targets.negatives}, below 0")
        return 1 + targets.negatives
