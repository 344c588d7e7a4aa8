"""Analogies: `king - man + woman`, by adding unit vectors (3CosAdd) or multiplying cosines.

3CosAdd: the words nearest to the weighted sum of unit vectors. 3CosMul (Levy & Goldberg
2014, eq. 4): the product of the cosines with the added words over the product of the cosines
with the subtracted ones, cosines shifted to 0 … 1 and weights as exponents.
"""

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from malmoi.arguments import expect
from malmoi.arrays import Float32Array
from malmoi.errors import InvalidArgumentError
from malmoi.nearest.top_k import all_scores, rank_rows, top_k
from malmoi.query.directions import check_k, make_query, restrict, rows_of
from malmoi.query.neighbours import Neighbour, Neighbours
from malmoi.reporting.reporter import DEFAULT_REPORTER, Reporter, expect_reporter
from malmoi.vectors import Vectors, expect_vectors, l2_normalize

AnalogyMethod = Literal["add", "multiply"]
EPSILON = 1e-6  # avoids division by zero

MINUS = "-−–"  # hyphen, minus sign, dash: people paste all three
OPERATOR = rf"[+{re.escape(MINUS)}]"
# An operator stands between spaces; a word may be quoted and may have a weight.
TOKEN = re.compile(
    rf"""\s*(?:(?P<sign>{OPERATOR})(?:\s+|$)|(?:(?P<weight>\d+(?:\.\d*)?|\.\d+)\s*[*×]\s*)?"""
    r"""(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'(?=\s|$)|(?P<word>\S+)))"""
)


@dataclass(frozen=True)
class Term:
    """A word and its weight."""

    word: str
    weight: float = 1.0


def parse_expression(text: str) -> list[Term]:
    """Parse `"2*king - man + 'New York'"`; the first sign is optional.

    Without spaces (`한국-서울+도쿄`) every + and - is an operator. With spaces only those between
    spaces are, so that words may contain hyphens.
    """
    expect(text, str, "expression", "a string such as 'king - man + woman'")
    spaced = text.strip()
    if not re.search(r"\s", spaced) and not spaced.startswith(('"', "'")):
        spaced = re.sub(rf"({OPERATOR})", r" \1 ", spaced)
    terms: list[Term] = []
    sign: float | None = 1.0  # None: an operator must follow
    for token in TOKEN.finditer(spaced):
        if token["sign"]:
            if sign is not None and terms:
                raise InvalidArgumentError(f"two operators follow each other in '{text}'")
            sign = -1.0 if token["sign"] in MINUS else 1.0
            continue
        if sign is None:
            raise InvalidArgumentError(
                f"there is no + or - before '{token[0].strip()}' in '{text}'"
            )
        word = token["double"] or token["single"] or token["word"]
        if not word:
            raise InvalidArgumentError(f"there is an empty word in '{text}'")
        terms.append(Term(word, sign * float(token["weight"] or 1)))
        sign = None
    if not terms or sign is not None:
        raise InvalidArgumentError(f"'{text}' is not an expression such as king - man + woman")
    return terms


def analogy(
    vectors: Vectors,
    expression: str,
    k: int = 10,
    *,
    method: AnalogyMethod = "add",
    restrict_vocab: int | None = None,
    reporter: Reporter = DEFAULT_REPORTER,
) -> Neighbours:
    """The k words nearest to an expression of words, without its own words.

    Args:
        vectors: The vectors that hold the words.
        expression: Such as "king - man + woman"; terms may have weights: "2*king".
        k: How many words to return.
        method: "add" (3CosAdd) or "multiply" (3CosMul).
        restrict_vocab: Search only the most frequent words, this many.
        reporter: Called with an `Explanation` of each word that has no row of its own.

    Returns:
        Words with scores, best first.

    Raises:
        UnknownWordError: A word has no row and cannot be corrected or built from n-grams.
        InvalidArgumentError: The expression, the method, k or restrict_vocab is not valid.
    """
    expect_reporter(reporter)
    expect_vectors(vectors)
    check_k(k)
    terms = parse_expression(expression)
    queries = [make_query(vectors, term.word, reporter) for term in terms]
    directions = l2_normalize(np.stack([query.direction for query in queries]))
    weights = np.array([term.weight for term in terms], dtype=np.float32)
    candidates = restrict(vectors, restrict_vocab)
    own = rows_of(candidates, [word for query in queries for word in query.words])
    depth = k + len(own)
    if method == "add":
        total = weights @ directions
        if not np.any(total):
            raise InvalidArgumentError(f"the words of '{expression}' cancel out to zero")
        ranking = rank_rows(
            candidates, l2_normalize(make_query(vectors, total).direction)[np.newaxis], depth
        )
        rows, scores = ranking.rows[0], ranking.scores[0]
    elif method == "multiply":
        products = cosine_products(candidates, directions, weights)
        rows = top_k(products, min(depth, len(candidates)))
        scores = products[rows]
    else:
        raise InvalidArgumentError(f"method must be add or multiply; got '{method}'")
    pairs = zip(rows.tolist(), scores.tolist(), strict=True)
    near = [Neighbour(candidates.keys[row], score) for row, score in pairs if row not in own]
    return Neighbours(near[:k], expression)


def cosine_products(
    vectors: Vectors, directions: Float32Array, weights: Float32Array
) -> Float32Array:
    """The score of every row by 3CosMul."""
    numerator = np.ones(len(vectors), dtype=np.float32)
    denominator = np.ones(len(vectors), dtype=np.float32)
    for direction, weight in zip(directions, weights, strict=True):
        cosines = np.maximum((1 + all_scores(vectors, direction)) / 2, 0) ** abs(weight)
        if weight >= 0:
            numerator *= cosines
        else:
            denominator *= cosines
    ratio: Float32Array = numerator / (denominator + np.float32(EPSILON))
    return ratio
