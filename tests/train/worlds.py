"""Small corpora that word vectors can be learnt from in a moment."""

import numpy as np

ANIMALS = ["cat", "dog", "horse", "mouse", "sheep", "wolf"]
METALS = ["iron", "gold", "silver", "copper", "tin", "lead"]


def lines(count: int = 600, seed: int = 1) -> list[str]:
    """Lines about animals and lines about metals; words of one kind stand together."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(ANIMALS if i % 2 else METALS, 8).tolist()) for i in range(count)]
