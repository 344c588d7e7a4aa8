"""Modified Kneser–Ney straight from its definition: dictionaries, no back-off weights.

Chen & Goodman (1998), section 3: P(w | h) = (c(hw) - D(c(hw))) / c(h·) + γ(h) P(w | shorter h),
ending in an even distribution over the words, `</s>` and `<unk>`.
"""

from collections import Counter, defaultdict

Ngram = tuple[str, ...]


class KneserNey:
    def __init__(self, sentences: list[list[str]], order: int) -> None:
        self.order = order
        seen: dict[int, Counter[Ngram]] = {m: Counter() for m in range(1, order + 1)}
        for sentence in sentences:
            line = ("<s>", *sentence, "</s>")
            for m in seen:
                seen[m].update(line[i : i + m] for i in range(len(line) - m + 1))
        self.words = {word for (word,) in seen[1]} - {"<s>"} | {"<unk>"}
        self.counts = {m: self.adjusted(seen, m) for m in seen}
        self.discounts = {m: discounts(self.counts[m]) for m in seen}
        self.after: dict[Ngram, dict[str, int]] = defaultdict(dict)
        for counts in self.counts.values():
            for ngram, count in counts.items():
                self.after[ngram[:-1]][ngram[-1]] = count

    def adjusted(self, seen: dict[int, Counter[Ngram]], m: int) -> dict[Ngram, int]:
        before: dict[Ngram, set[str]] = defaultdict(set)
        for longer in seen.get(m + 1, ()):
            before[longer[1:]].add(longer[0])
        keeps = {g: c for g, c in seen[m].items() if m == self.order or g[0] == "<s>"}
        keeps.pop(("<s>",), None)
        return {ngram: len(words) for ngram, words in before.items()} | keeps

    def probability(self, word: str, context: Ngram) -> float:
        context = context[max(0, len(context) - self.order + 1) :]
        shorter = self.probability(word, context[1:]) if context else 1 / len(self.words)
        after = self.after.get(context)
        if not after:
            return shorter
        discount = self.discounts[len(context) + 1]
        total = sum(after.values())
        count = after.get(word, 0)
        kept = max(count - discount[min(count, 3)], 0)
        return (kept + sum(discount[min(c, 3)] for c in after.values()) * shorter) / total


def discounts(counts: dict[Ngram, int]) -> tuple[float, ...]:
    n = Counter(counts.values())
    if not all(n[times] for times in range(1, 5)):
        return 0, 0.5, 1, 1.5
    y = n[1] / (n[1] + 2 * n[2])
    found = 0.0, *(j - (j + 1) * y * n[j + 1] / n[j] for j in (1, 2, 3))
    in_bounds = all(0 <= discount <= j for j, discount in enumerate(found))
    return found if in_bounds else (0, 0.5, 1, 1.5)
