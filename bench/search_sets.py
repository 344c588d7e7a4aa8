"""Questions with the texts that answer them: paraKQC's paraphrases, paragraphs of Wikipedia.

Knows nothing of indexes.
"""

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

SENTENCES = re.compile(r"(?<=[.!?])\s+")
GROUP = 10  # paraphrases of the same question stand together in paraKQC
ASKED = 2  # paraphrases of each text that are asked for
PARAGRAPHS, SHORTEST, LONGEST, SENTENCES_NEEDED = 1000, 300, 1500, 4
LEFT_OUT, CUT, MOST_WORDS = 0.55, 0.4, 9
ENDINGS = ("은 무엇인가?", "는 누구인가?", "는 언제인가?", "곳은 어디인가?", "의 이름은?")


@dataclass(frozen=True)
class Questions:
    """`queries[i]` is answered by `texts[wanted[i]]`."""

    texts: Sequence[str]
    queries: Sequence[str]
    wanted: Sequence[int]


def paraphrases(path: Path) -> Questions:
    """One question of each group is a text, two others are asked for."""
    lines = path.read_text(encoding="utf-8").splitlines()
    questions, random = [line.split("\t")[2] for line in lines], Random(2)
    texts, queries = [], []
    for start in range(0, len(questions), GROUP):
        text, *asked = random.sample(questions[start : start + GROUP], 1 + ASKED)
        texts.append(text)
        queries += asked
    return Questions(texts, queries, [i // ASKED for i in range(len(queries))])


def paragraphs(path: Path) -> Questions:
    """Korean paragraphs, and of each a sentence made a question.

    More than half of its words are left out, others lose their last syllable, which is often a
    particle, and a question's ending is put behind: what is left are the words of the paragraph.
    """
    random, found = Random(3), list[list[str]]()
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        for line in file:
            sentences = SENTENCES.split(line.strip())
            if len(sentences) >= SENTENCES_NEEDED and SHORTEST <= len(line) <= LONGEST:
                found.append(sentences)
    chosen = random.sample(found, PARAGRAPHS)
    queries = [_question(sentences, random) for sentences in chosen]
    return Questions([" ".join(each) for each in chosen], queries, range(PARAGRAPHS))


def _question(sentences: Sequence[str], random: Random) -> str:
    words = max(random.sample(sentences, 2), key=len).split()
    kept = [word for word in words if random.random() > LEFT_OUT][:MOST_WORDS] or words[:3]
    cut = [word[:-1] if len(word) > 2 and random.random() < CUT else word for word in kept]
    return " ".join(cut).rstrip(".,") + random.choice(ENDINGS)
