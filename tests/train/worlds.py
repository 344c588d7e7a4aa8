"""Small corpora that word vectors can be learnt from in a moment."""

import numpy as np

ANIMALS = ["cat", "dog", "horse", "mouse", "sheep", "wolf"]
METALS = ["iron", "gold", "silver", "copper", "tin", "lead"]


def lines(count: int = 600, seed: int = 1) -> list[str]:
    """Lines about animals and lines about metals; words of one kind stand together."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(ANIMALS if i % 2 else METALS, 8).tolist()) for i in range(count)]


def inflected(count: int, seed: int = 1) -> list[str]:
    """Lines of Korean-like words, stems by Zipf's law with one of six endings.

    The words of every window share the n-grams of their endings, as in real text.
    """
    random = np.random.default_rng(seed)
    syllables = list("가나다라마바사아자차카타파하고노도로모보소오")
    stems = np.array(["".join(random.choice(syllables, 2)) for _ in range(300)], object)
    endings = np.array(["는", "에서", "습니다", "하였다", "으로", "까지"], object)
    shares = 1 / np.arange(1, 301)
    return [
        " ".join(random.choice(stems, 20, p=shares / shares.sum()) + random.choice(endings, 20))
        for _ in range(count)
    ]
