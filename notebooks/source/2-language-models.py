# %% [markdown]
# # Language models
#
# A language model answers one question: which word comes next? What you will see:
#
# 1. **n-gram counts** and the probabilities that follow from them;
# 2. **the zero-count problem**: a sentence that is possible, and has the probability 0;
# 3. **smoothing**: add-k, interpolation and Kneser–Ney, with numbers to check;
# 4. **perplexity**: how good a model is, in one number;
# 5. **generation** at several temperatures;
# 6. **a neural language model** (Bengio et al. 2003), and its look-up table, from which word vectors
#    came.
#
# Everything runs offline, in less than a minute. The packages:
# `pip install "malmoi[train]" ipykernel`.

# %%
import itertools
import random
import warnings

import numpy as np
from IPython.display import SVG

import malmoi as mm
from malmoi.plots.heat_map import heat_map
from malmoi.plots.scatter_plot import scatter_plot
from malmoi.table import Table

warnings.simplefilter("ignore", mm.MalmoiWarning)  # "the corpus is too small": it is, on purpose

STORY = """
the cat drinks milk in the kitchen
the cat sleeps on the sofa
the cat sleeps in the garden
the cat sees a bird in the garden
the cat sees the dog in the park
the dog drinks water in the garden
the dog drinks water in the kitchen
the dog sleeps in the garden
the dog sleeps on the sofa
the dog sees the cat in the garden
the dog runs in the park
the dog runs in the garden in the morning
my sister drinks tea in the kitchen
my sister drinks coffee in the morning
my sister reads a book on the sofa
my sister reads a book in the morning
my sister reads the news in the kitchen
my sister likes hot coffee
my sister runs in the park
my brother drinks coffee in the kitchen
my brother drinks tea in the morning
my brother reads a book in the park
my brother reads the news on the sofa
my brother runs in the park in the morning
my brother sees a bird in the park
my brother buys coffee in the park
a bird sings in the garden
a bird sings in the morning
a bird drinks water in the park
a bird sleeps in the garden
we like coffee and tea
we drink coffee in san francisco
we drink tea in the kitchen
we read the news in san francisco
we run in the park in san francisco
we see a bird in san francisco
my sister lives in san francisco
my brother lives in san francisco
the dog lives in san francisco
the cat lives in the kitchen
"""
HELD_OUT = """
the dog drinks milk in the kitchen
my sister sees a bird in the park
my brother drinks water in the morning
the cat sleeps in the kitchen
a bird sings in the park
we read a book in the garden
"""
lines = STORY.strip().splitlines()
held_out = [line.split() for line in HELD_OUT.strip().splitlines()]
counts = mm.count_ngrams(lines, order=3)
Table(
    "Our text",
    ["", "number"],
    [
        ["sentences to learn from", len(lines)],
        ["sentences held out", len(held_out)],
        ["distinct words", len(counts.trie.words) - 3],
        ["distinct pairs of words", counts.trie.sizes[1]],
        ["distinct triples", counts.trie.sizes[2]],
    ],
)

# %% [markdown]
# ## 1. Counting n-grams
#
# An *n-gram* is a sequence of n words. `<s>` and `</s>` mark the ends of a sentence. These are the most
# frequent pairs (bigrams), and how often the words of the columns follow those of the rows:

# %%
Table(
    "The most frequent bigrams",
    ["bigram", "count"],
    [[" ".join(ngram), times] for ngram, times in counts.most_common(8, order=2)],
)

# %%
BEFORE = ["<s>", "the", "my", "sister", "cat", "in"]
AFTER = ["the", "my", "sister", "cat", "drinks", "reads", "park"]
SVG(
    heat_map(
        [[float(counts.count([first, then])) for then in AFTER] for first in BEFORE],
        BEFORE,
        AFTER,
        title="Bigram counts",
        digits=0,
    )
)

# %% [markdown]
# The probability of a word after the words before it is, in the simplest case, its share of what
# followed them (**maximum likelihood**),
#
# $$P(w \mid h) = \frac{C(h\,w)}{C(h)},$$
#
# and a sentence is the product of its words. With bigrams, $h$ is one word:

# %%
unsmoothed = mm.train_ngram(lines, mm.NGram(order=2, smoothing="none"))
SENTENCE = "my sister drinks tea in the kitchen".split()
path = ["<s>", *SENTENCE, "</s>"]
rows = [
    [
        f"P({then} | {first})",
        f"{counts.count([first, then])} / {counts.count([first])}",
        unsmoothed.probability(then, [first]),
    ]
    for first, then in itertools.pairwise(path)
]
product = float(np.prod([row[2] for row in rows]))
Table("A sentence, word by word", ["", "counts", "P"], [*rows, ["product", "", product]])

# %% [markdown]
# ## 2. The zero-count problem
#
# *my sister sees a bird in the park* is a fine sentence, and all of its words are known. But *sister
# sees* does not occur in our text, and one factor of 0 makes the whole product 0. Most pairs and nearly
# all triples of a language are rare: more text helps, but never ends the problem.

# %%
Table(
    "Held-out sentences by unsmoothed bigrams",
    ["sentence", "pairs never seen", "P"],
    [
        [
            " ".join(words),
            ", ".join(
                f"{first} {then}"
                for first, then in itertools.pairwise(["<s>", *words, "</s>"])
                if not counts.count([first, then])
            ),
            float(np.exp(unsmoothed.sentence_log_probability(words))),
        ]
        for words in held_out
    ],
)

# %% [markdown]
# ## 3. Smoothing
#
# Take a little from what was seen, and give it to what was not.
#
# - **Add-k** pretends that every n-gram was seen $k$ times more. $V$ is the number of words:
#   $P(w \mid h) = \dfrac{C(h\,w) + k}{C(h) + kV}$.
# - **Interpolation** mixes the probabilities of all orders: a pair that was never seen still has the
#   probability of its second word.
# - **Kneser–Ney** subtracts a discount $D$ from every count and spreads it by how many *different* words
#   a word follows, not by how often it occurs:
#
# $$P(w \mid h) = \frac{\max(C(h\,w) - D, 0)}{C(h)} + \lambda(h)\, P_{\mathrm{cont}}(w),
# \qquad P_{\mathrm{cont}}(w) = \frac{|\{h' : C(h'\,w) > 0\}|}{|\{(h', w') : C(h'\,w') > 0\}|}.$$
#
# The classic example is *francisco*. It occurs 7 times here, *coffee* 6 times, but *francisco* only ever
# follows *san*, and *coffee* five different words. After a word that neither was seen with, such as *sees*,
# *coffee* should be the more probable of the two. Only Kneser–Ney knows that.

# %%
SMOOTHINGS = {
    "none": mm.NGram(order=2, smoothing="none"),
    "add-1": mm.NGram(order=2, smoothing="add-k", k=1.0),
    "add-0.1": mm.NGram(order=2, smoothing="add-k", k=0.1),
    "interpolated": mm.NGram(order=2, smoothing="interpolated"),
    "Kneser–Ney": mm.NGram(order=2, smoothing="kneser-ney"),
}
models = {name: mm.train_ngram(lines, settings) for name, settings in SMOOTHINGS.items()}
EVENTS = ["sister reads", "san francisco", "sees francisco", "sees coffee", "sister sees"]
Table(
    "P(second word | first word)",
    ["pair", "count", *models],
    [
        [
            event,
            counts.count(event.split()),
            *(model.probability(event.split()[1], event.split()[:1]) for model in models.values()),
        ]
        for event in EVENTS
    ],
)

# %% [markdown]
# ## 4. Perplexity
#
# How good is a model? Ask it about sentences that it has not seen, and take the mean of the negative
# logarithms of their words:
#
# $$\mathrm{PP} = \exp\Bigl(-\frac{1}{N} \sum_{i=1}^{N} \log P(w_i \mid h_i)\Bigr).$$
#
# A perplexity of 10 means: as uncertain as a choice among 10 words with equal chances. Lower is better,
# and a single probability of 0 makes it infinite.

# %%
orders = [1, 2, 3]
perplexities = {
    name: [
        mm.train_ngram(
            lines, mm.NGram(order=order, smoothing=settings.smoothing, k=settings.k)
        ).perplexity(held_out)
        for order in orders
    ]
    for name, settings in SMOOTHINGS.items()
}
Table(
    "Perplexity of the held-out sentences",
    ["smoothing", *(f"order {order}" for order in orders)],
    [[name, *(f"{value:.1f}" for value in values)] for name, values in perplexities.items()],
)

# %% [markdown]
# ## 5. Generation
#
# Draw the next word by its probability, append it, and go on until `</s>`. The **temperature** $T$
# changes how daring the draw is:
#
# $$P_T(w) = \frac{P(w)^{1/T}}{\sum_{w'} P(w')^{1/T}}.$$
#
# Near 0 the most probable word wins every time, 1 is the model itself, and above 1 rare words catch up.


# %%
def generate(model, temperature, seed, max_words=12):
    """Draw a sentence word by word."""
    drawn, words = np.random.default_rng(seed), []
    while len(words) < max_words:
        probabilities = model.distribution(["<s>", *words])
        probabilities[[model.trie.unknown, model.trie.begin]] = 0
        weights = (probabilities / probabilities.max()) ** (1 / temperature)
        row = int(drawn.choice(len(weights), p=weights / weights.sum()))
        if row == model.trie.end:
            break
        words.append(model.trie.words[row])
    return " ".join(words)


trigrams = mm.train_ngram(lines, mm.NGram(order=3))
Table(
    "Sentences by trigrams with Kneser–Ney smoothing",
    ["temperature", "sentence"],
    [
        [str(temperature), generate(trigrams, temperature, seed)]
        for temperature in (0.1, 0.5, 1.0, 2.0)
        for seed in range(3)
    ],
)

# %% [markdown]
# ## 6. A neural language model
#
# To an n-gram model, words are names: what it learns about *cat* says nothing about *dog*. Bengio et
# al. (2003) gave every word a vector, a row of a **look-up table** $C$, and let a network predict from
# the vectors:
#
# $$x = [C(w_{t-n+1}), \dots, C(w_{t-1})], \qquad h = \tanh(H x + d), \qquad
# P(w_t \mid \cdot) = \mathrm{softmax}(U h + W x + b).$$
#
# The table is learned together with the network. Words that are followed by the same words get similar
# rows, and then what is learned about one of them holds for the other.
#
# To see it, we need a text with a rule. In ours, pets live in a house and cattle on a farm, and the place
# is five words behind the animal: trigrams cannot see so far. A quarter of all combinations is held out.
# There are 288 of them, each of 7 words and an end, so whoever knows the rule has a perplexity of
# $288^{1/8} = 2.03$.

# %%
PATTERNS = [
    [
        "the a",
        "cat dog hamster",
        "is was",
        "sleeping eating walking waiting",
        "in",
        "the",
        "kitchen bedroom hallway",
    ],
    [
        "the a",
        "horse cow sheep",
        "is was",
        "sleeping eating walking waiting",
        "in",
        "the",
        "meadow stable field",
    ],
]
texts = [
    list(words)
    for pattern in PATTERNS
    for words in itertools.product(*(slot.split() for slot in pattern))
]
random.Random(1).shuffle(texts)
unseen, seen = texts[: len(texts) // 4], texts[len(texts) // 4 :]
Table(
    "Combinations",
    ["", "number", "the first of them"],
    [
        ["to learn from", len(seen), " ".join(seen[0])],
        ["held out", len(unseen), " ".join(unseen[0])],
    ],
)

# %%
settings = mm.NNLM(
    context=5, dim=12, hidden=24, tied=False, dropout=0.0, softmax="full", epochs=60,
    batch_size=64, learning_rate=0.01, seed=1, threads=1,
)  # fmt: skip
nnlm = mm.train_nnlm(seen, settings)
Table(
    "The network",
    ["", "", "shape"],
    [
        ["C", "look-up table: words × dim", str(nnlm.layers.lookup.shape)],
        ["H", "hidden layer: units × (context · dim)", str(nnlm.layers.hidden.shape)],
        ["U, W", "output: words × (units + context · dim)", str(nnlm.layers.output.shape)],
    ],
)

# %%
rows = [
    [f"Kneser–Ney, order {order}", mm.train_ngram(seen, mm.NGram(order=order)).perplexity(unseen)]
    for order in (2, 3, 6)
]
Table(
    "Perplexity of combinations that were never seen",
    ["model", "perplexity"],
    [
        *rows,
        ["NNLM, 5 words of context", nnlm.perplexity(unseen)],
        ["the rule itself", len(texts) ** (1 / (len(texts[0]) + 1))],
    ],
)

# %% [markdown]
# Where may an animal be? After *the cow is waiting in the*, trigrams see *in the* alone and give every
# place the same chance. The neural model still sees the animal.

# %%
CONTEXT = "the cow is waiting in the".split()
by_trigrams = mm.train_ngram(seen, mm.NGram(order=3))
PLACES = "kitchen bedroom hallway meadow stable field".split()
Table(
    f"P(place | {' '.join(CONTEXT)})",
    ["place", "trigrams", "NNLM"],
    [
        [place, by_trigrams.probability(place, CONTEXT), nnlm.probability(place, CONTEXT)]
        for place in PLACES
    ],
)

# %% [markdown]
# ### The look-up table
#
# Nobody told the network which words are animals, places or verbs. The rows of its look-up table know:

# %%
lookup = nnlm.vectors()
mm.neighbours(lookup, ["cat", "cow", "sleeping", "is"], k=3)

# %%
KINDS = {
    "pets": "cat dog hamster",
    "cattle": "horse cow sheep",
    "verbs": "sleeping eating walking waiting",
    "other": "the a is was in",
}
words = [word for several in KINDS.values() for word in several.split()]
groups = [kind for kind, several in KINDS.items() for _ in several.split()]
table = np.stack([lookup[word] for word in words])
centred = table - table.mean(axis=0)
directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
directions *= np.sign(directions.sum(axis=1, keepdims=True))
SVG(scatter_plot(centred @ directions.T, words, groups, title="Rows of the look-up table"))

# %% [markdown]
# Word2Vec, ten years later, is this network without its hidden layer: only the table is kept. See the
# notebook *Words as vectors*.
#
# ## Try it on your own text
#
# Put a text file beside this notebook, one sentence per line, write its name below, and run the cell
# again. Lyrics, recipes or a diary make the best sentences.

# %%
from pathlib import Path

MY_FILE = "my-text.txt"
my_lines = Path(MY_FILE).read_text("utf-8").splitlines() if Path(MY_FILE).exists() else lines
mine = mm.train_ngram(my_lines, mm.NGram(order=3))
Table(
    "My sentences", ["seed", "sentence"], [[seed, generate(mine, 0.5, seed)] for seed in range(5)]
)
