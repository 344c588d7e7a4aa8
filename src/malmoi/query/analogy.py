"""Analogies: `king - man + woman`, by adding directions (3CosAdd) or multiplying closeness.

3CosAdd: the words nearest to the weighted sum of unit vectors. 3CosMul (Levy & Goldberg
2014, eq. 4): the product of the closeness to each added word over the product of the
closeness to each subtracted one, cosines moved to 0 … 1 and weights as exponents.
"""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.nearest.top_k import closeness, rank_rows, top
from malmoi.query.directions import OnReading, check_count, question_of, rows_of, unheard
from malmoi.query.neighbours import Neighbour
from malmoi.vectors import Vectors, l2_normalize

Method = Literal["add", "multiply"]
EPSILON = 1e-6  # so that nothing is divided by zero

MINUS = "-−–"  # hyphen, minus sign, dash: people paste all three
OPERATOR = rf"[+{re.escape(MINUS)}]"
# An operator stands alone between spaces; a word may be quoted and may have a weight.
PIECE = re.compile(
    rf"""\s*(?:(?P<sign>{OPERATOR})(?:\s+|$)|(?:(?P<weight>\d+(?:\.\d*)?|\.\d+)\s*[*×]\s*)?"""
    r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'(?=\s|$)|(?P<word>\S+)))"""
)


@dataclass(frozen=True)
class Term:
    """A word and how much of it."""

    word: str
    weight: float = 1.0


def parse_expression(text: str) -> list[Term]:
    """`"2*king - man + 'New York'"` as terms; the first sign may be left out.

    Without any space (`한국-서울+도쿄`) every + and - is an operator; otherwise only those that
    stand alone are, so that words may contain hyphens.
    """
    spaced = text.strip()
    if not re.search(r"\s", spaced) and not spaced.startswith(('"', "'")):
        spaced = re.sub(rf"({OPERATOR})", r" \1 ", spaced)
    terms: list[Term] = []
    sign: float | None = 1.0  # None: an operator is due
    for piece in PIECE.finditer(spaced):
        if piece["sign"]:
            if sign is not None and terms:
                raise InvalidArgumentError(f"two operators follow each other in '{text}'")
            sign = -1.0 if piece["sign"] in MINUS else 1.0
            continue
        if sign is None:
            raise InvalidArgumentError(
                f"there is no + or - before '{piece[0].strip()}' in '{text}'"
            )
        word = piece["double"] or piece["single"] or piece["word"]
        if not word:
            raise InvalidArgumentError(f"there is an empty word in '{text}'")
        terms.append(Term(word, sign * float(piece["weight"] or 1)))
        sign = None
    if not terms or sign is not None:
        raise InvalidArgumentError(f"'{text}' is no expression: write it like king - man + woman")
    return terms


def analogy(
    vectors: Vectors,
    expression: str,
    k: int = 10,
    *,
    method: Method = "add",
    most_frequent: int | None = None,
    on_reading: OnReading = unheard,
) -> list[Neighbour]:
    """The k words that `expression` comes closest to, its own words left out.

    `on_reading` is called with the explanation of each word that has no row of its own.
    """
    check_count(k)
    terms = parse_expression(expression)
    questions = [question_of(vectors, term.word, on_reading) for term in terms]
    directions = l2_normalize(np.stack([question.direction for question in questions]))
    weights = np.array([term.weight for term in terms], dtype=np.float32)
    among = vectors if most_frequent is None else vectors.most_frequent(most_frequent)
    own = rows_of(among, [word for question in questions for word in question.words])
    wanted = k + len(own)
    if method == "add":
        total = weights @ directions
        if not np.any(total):
            raise InvalidArgumentError(f"nothing is left of '{expression}': its words cancel out")
        ranking = rank_rows(
            among, l2_normalize(question_of(vectors, total).direction)[np.newaxis], wanted
        )
        rows, scores = ranking.rows[0], ranking.scores[0]
    elif method == "multiply":
        closest = _products(among, directions, weights)
        rows = top(closest, min(wanted, len(among)))
        scores = closest[rows]
    else:
        raise InvalidArgumentError(f"'{method}' is no method: choose add or multiply")
    found = zip(rows.tolist(), scores.tolist(), strict=True)
    return [Neighbour(among.keys[row], score) for row, score in found if row not in own][:k]


def _products(vectors: Vectors, directions: Float32Array, weights: Float32Array) -> Float32Array:
    above = np.ones(len(vectors), dtype=np.float32)
    below = np.ones(len(vectors), dtype=np.float32)
    for direction, weight in zip(directions, weights, strict=True):
        near = np.maximum((1 + closeness(vectors, direction)) / 2, 0) ** abs(weight)
        if weight >= 0:
            above *= near
        else:
            below *= near
    ratio: Float32Array = above / (below + np.float32(EPSILON))
    return ratio
