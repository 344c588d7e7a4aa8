# %% [markdown]
# # Words as vectors
#
# What you will see, each with numbers that you can check by hand:
#
# 1. **one-hot** vectors, in which no two words are alike;
# 2. **co-occurrence**: what stands beside a word, and the ice/steam table of the GloVe paper;
# 3. **PPMI and LSA**: counts turned into short dense vectors;
# 4. **Word2Vec**: its training pairs, its negative samples, its loss;
# 5. **GloVe**: vectors whose differences are logarithms of ratios;
# 6. **FastText**: n-grams, typos and words that were never seen, with Korean letters too;
# 7. **analogies** and a map, with vectors trained on six billion words.
#
# Everything runs offline, in less than a minute. The packages:
# `pip install "malmoi[models,korean]" ipykernel`.

# %%
import json

import numpy as np
from IPython.display import SVG

import malmoi as mm
from malmoi.plots.heat_map import heat_map
from malmoi.plots.line_plot import line_plot
from malmoi.plots.scatter_plot import scatter_plot
from malmoi.table import Table

TOPICS = {
    "ice and steam": """
ice is solid water
solid ice is cold
in winter the lake is solid ice
ice is the solid form of cold water
cold water turns into solid ice
the solid ice on the lake is cold
ice melts into water in spring
ice floats on the water of the lake
snow and ice are cold
a block of ice is solid and cold
ice is not a gas but solid
ice cream came into fashion
steam is water as a gas
steam is a hot gas
hot water turns into steam
steam is the gas form of hot water
the gas above the kettle is steam
hot steam rises from the kettle
steam turns back into water when it cools
steam and other gas fill the hot room
the engine runs on hot steam
a hot gas such as steam fills the engine
steam is not solid but a gas
steam rooms came into fashion
""",
    "the lake": """
the fisher takes a boat to the lake for fishing
fishing on the lake the fisher catches trout and salmon
the fisher sells salmon and trout at the harbour
a boat with nets leaves the harbour for fishing
the fisher mends the nets beside the boat
trout and salmon swim into the nets
fishermen catch salmon and trout with nets from a boat
the boat returns to the harbour with trout
""",
    "the bakery": """
the baker bakes bread and cake in the oven
bread from the baker is fresh from the oven
flour and butter make a good cake
the baker kneads flour and butter for the bread
fresh bread and butter for breakfast
the cake rises in the oven of the baker
the bakery sells fresh bread and sweet cake
flour from the mill becomes bread in the oven
""",
    "electricity": """
electric current flows through the wire to the lamp
electricity lights the lamp and turns the electric motor
an electrician lays the wire for the electric current
the battery sends a current through the wire
the motor and the lamp need an electric current
the electrician repairs the wire of the lamp
a battery drives the electric motor
electricity flows from the battery to the motor
""",
}
TOKENIZER = "english"
split = mm.make_tokenizer(TOKENIZER)
sentences = [line for text in TOPICS.values() for line in text.strip().splitlines()]
Table(
    "Our text",
    ["topic", "sentences", "the first of them"],
    [
        [topic, len(text.strip().splitlines()), text.strip().splitlines()[0]]
        for topic, text in TOPICS.items()
    ],
)

# %% [markdown]
# ## 1. One-hot vectors
#
# The simplest vector of a word has one number per word of the vocabulary: a 1 in the word's own
# column and 0 everywhere else,
#
# $$x_i = (0, \dots, 0, \underset{i}{1}, 0, \dots, 0), \qquad x_i \cdot x_j = 0 \quad (i \ne j).$$
#
# It says which word it is, and nothing else: *bread* is as far from *cake* as from *electricity*, and
# a vocabulary of 400,000 words needs 400,000 numbers per word.

# %%
example = "the baker bakes the bread"
encoded = mm.one_hot([example], tokenizer=TOKENIZER)
Table(
    "One row per token",
    ["token", *encoded.index],
    [
        [token, *(int(number) for number in row)]
        for token, row in zip(split(example), encoded.dense(), strict=True)
    ],
)

# %% [markdown]
# ## 2. Co-occurrence
#
# *You shall know a word by the company it keeps* (Firth 1957). Go through the text with a *window*:
# $X_{ik}$ counts how often word $k$ stands at most so many words away from word $i$. Words with the
# same company have similar rows. Below, a window of 5; every word of it counts 1.
#
# ![The words up to two places away from sat are its context](../docs/word2vec-window.svg)

# %%
counts = mm.count_cooccurrences(
    sentences, mm.Cooccurrence(window=5, weighting="flat"), tokenizer=TOKENIZER
)
WORDS = ["ice", "steam", "trout", "salmon", "bread", "cake", "lamp", "motor"]
CONTEXTS = ["solid", "gas", "water", "nets", "oven", "flour", "wire", "electric"]
SVG(
    heat_map(
        [[float(counts.value(word, context)) for context in CONTEXTS] for word in WORDS],
        WORDS,
        CONTEXTS,
        title="How often the words of the columns stand near those of the rows",
        digits=0,
    )
)

# %% [markdown]
# ### The ice/steam table
#
# Which contexts tell *ice* from *steam*? Not the frequent ones. Divide the counts by the sum of their
# row, which gives the probability of a context, and compare the two words by the **ratio**
#
# $$P(k \mid i) = \frac{X_{ik}}{\sum_m X_{im}}, \qquad
# \frac{P(k \mid \text{ice})}{P(k \mid \text{steam})}.$$
#
# The ratio is large where $k$ belongs to ice (*solid*), small where it belongs to steam (*gas*), and
# near 1 where it belongs to both (*water*) or to neither (*fashion*). On six billion words Pennington
# et al. (2014) found 8.9, 0.085, 1.36 and 0.96. Ours is the same picture on a page of text.

# %%
PAIR = ["ice", "steam"]
PROBES = ["solid", "gas", "water", "fashion"]
table = mm.probability_table(counts, PAIR, PROBES)
table

# %% [markdown]
# ## 3. PPMI and LSA
#
# *the* stands beside every word and tells nothing. Pointwise mutual information asks how much **more**
# often than by chance two words stand together, and PPMI keeps what is above 0:
#
# $$\mathrm{PPMI}(i, k) = \max\left(0,\ \log \frac{P(k \mid i)}{P(k)}\right).$$
#
# *the* stands near our eight words 46 times, more often than any other word, and its PPMI is low.

# %%
ppmi = mm.mutual_information(counts)
COMMON = ["the", "a", *CONTEXTS]
SVG(
    heat_map(
        [[float(ppmi.value(word, context)) for context in COMMON] for word in WORDS],
        WORDS,
        COMMON,
        title="PPMI: natural logarithms; 0 is chance or less",
        digits=1,
    )
)

# %% [markdown]
# The rows are still as long as the vocabulary, and mostly 0. **LSA** takes the singular value
# decomposition $M = U \Sigma V^\top$ and keeps the $d$ largest singular values: row $i$ of
# $U_d \Sigma_d^{1/2}$ is the dense vector of word $i$. Words with similar companies come together, even
# if they never stand in the same sentence.

# %%
lsa = mm.train_lsa(
    sentences, mm.LSA(matrix="ppmi", dim=8, window=5, min_count=1), tokenizer=TOKENIZER
)
QUERIES = ["ice", "salmon", "bread", "lamp"]
Table(
    f"LSA, {lsa.matrix.shape[1]} numbers per word",
    ["word", "its neighbours"],
    [
        [word, ", ".join(f"{near.key} {near.score:.2f}" for near in mm.neighbours(lsa, word, k=4))]
        for word in QUERIES
    ],
)

# %% [markdown]
# ## 4. Word2Vec: predict instead of counting
#
# Word2Vec (Mikolov et al. 2013) goes through the same windows, but counts nothing. Each word predicts
# the words around it, and its vector is corrected a little whenever it predicts badly.
#
# **Skip-gram** makes one training pair of a word and each word of its window:

# %%
tokens = split("the baker bakes fresh bread")
pairs = mm.window_pairs(tokens, window=2)
Table(
    "Skip-gram: input → output",
    ["input", "outputs"],
    [[word, ", ".join(pair.output for pair in pairs if pair.input == word)] for word in tokens],
)

# %% [markdown]
# **CBOW** (a continuous bag of words) turns it round: the mean of the window predicts the word in
# the middle.
#
# ![CBOW predicts a word from its context, skip-gram the context from the word](../docs/word2vec-architectures.svg)

# %%
Table(
    "CBOW: window → word in the middle",
    ["window", "predicts"],
    [[" + ".join(pair.input for pair in pairs if pair.output == word), word] for word in tokens],
)

# %% [markdown]
# A softmax over the whole vocabulary would be slow. So the network only learns to tell real pairs
# (label 1) from **negative samples**, words drawn at random (label 0). With the input vector $v$ of the
# word and the output vectors $u$, a pair and its $K$ negative samples cost
#
# $$-\log \sigma(u_{o} \cdot v_{i}) - \sum_{k=1}^{K} \log \sigma(-u_{k} \cdot v_{i}),
# \qquad \sigma(x) = \frac{1}{1 + e^{-x}}.$$

# %%
labelled = mm.labelled_pairs(tokens, window=2, negative_samples=2, seed=1)
Table(
    "The first two pairs, each with two negative samples",
    ["input", "output", "label"],
    [list(pair) for pair in labelled[:6]],
)

# %% [markdown]
# Training on our text takes a second. The text is tiny, so the training reads it 400 times; one of some
# million words needs 5 to 15 epochs. Frequent words such as *the* are skipped at random (`subsample`),
# because they would take part in most pairs and say little.

# %%
SMALL = dict(dim=30, window=5, min_count=1, seed=1, threads=1)
word2vec = mm.train_word2vec(sentences, mm.Word2Vec(**SMALL, epochs=400), tokenizer=TOKENIZER)
losses = json.loads(word2vec.meta["losses"])[9::10]
SVG(
    line_plot(
        range(10, 401, 10),
        {"mean loss of a pair and its negative samples": losses},
        title="Word2Vec: the loss falls, epoch by epoch",
    )
)

# %%
mm.neighbours(word2vec, QUERIES, k=3)

# %% [markdown]
# Thirty dimensions cannot be drawn, but the two directions in which the words differ most can
# (principal components, by a singular value decomposition). Each topic has a region of its own.


# %%
def plane(vectors, words):
    """The first two principal components of the vectors of words, [words, 2]."""
    rows = np.stack([vectors[word] / np.linalg.norm(vectors[word]) for word in words])
    centred = rows - rows.mean(axis=0)
    directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
    directions *= np.sign(directions.sum(axis=1, keepdims=True))
    return centred @ directions.T


SHOWN = {
    "ice and steam": "ice steam water solid gas cold hot",
    "the lake": "fisher boat lake trout salmon nets harbour",
    "the bakery": "baker bread cake oven flour butter",
    "electricity": "electric current wire lamp motor battery",
}
words = [word for several in SHOWN.values() for word in several.split()]
groups = [topic for topic, several in SHOWN.items() for _ in several.split()]
SVG(
    scatter_plot(
        plane(word2vec, words), words, groups, title=f"Word2Vec of {len(sentences)} sentences"
    )
)

# %% [markdown]
# ## 5. GloVe: count, then predict the counts
#
# GloVe (Pennington et al. 2014) trains vectors on the table of counts itself, so that their products
# are logarithms of counts:
#
# $$J = \sum_{i,k} f(X_{ik}) \left(w_i \cdot c_k + b_i + d_k - \log X_{ik}\right)^2,
# \qquad f(x) = \min\left(1, (x / x_{\max})^{\alpha}\right).$$
#
# Then differences of vectors are logarithms of **ratios**: subtract the equation of *steam* from that
# of *ice*, and what is left says which of the two a context belongs to,
#
# $$(w_{\text{ice}} - w_{\text{steam}}) \cdot c_k + b_{\text{ice}} - b_{\text{steam}}
# \approx \log \frac{X_{\text{ice},k}}{X_{\text{steam},k}}.$$
#
# The weight f gives rare pairs, whose counts are mostly chance, less influence:
#
# ![f(x) rises to 1 at x_max and stays there](../docs/glove-weight.svg)
#
# The last two columns below should agree.

# %%
from malmoi.train.glove.glove import train_glove_tables

trained = train_glove_tables(counts, mm.GloVe(dim=20, x_max=5, iterations=200, seed=1, threads=1))
first, second = (counts.vocabulary.id(word) for word in PAIR)
difference = trained.words[first] - trained.words[second]
bias = trained.word_biases[first] - trained.word_biases[second]
rows = []
for context in PROBES:
    times = [float(counts.value(word, context)) for word in PAIR]
    predicted = difference @ trained.contexts[counts.vocabulary.id(context)] + bias
    rows.append([context, *times, float(np.log(times[0] / times[1])), float(predicted)])
Table("GloVe fits the logarithms of ratios", ["k", *PAIR, "log ratio", "by the vectors"], rows)

# %% [markdown]
# ## 6. FastText: words are made of n-grams
#
# To Word2Vec *fisher* and *fishing* are two rows of a table, as different as any two. FastText
# (Bojanowski et al. 2017) gives every n-gram of three to six characters a vector, too. The vector of a
# word is the mean of its own row and the rows of its n-grams $G_w$,
#
# $$v_w = \frac{1}{1 + |G_w|}\Bigl(z_w + \sum_{g \in G_w} z_g\Bigr),$$
#
# and that of a word which was never seen is the mean of its n-grams that are known. `<` and `>` mark the
# ends of a word. malmoi says where a vector comes from, and it does not invent one: *zzz* has none.
#
# ![electrofishing shares n-grams with electric and fishing](../docs/fasttext-ngrams.svg)

# %%
fasttext = mm.train_fasttext(sentences, mm.FastText(**SMALL, epochs=400, units="characters"))
UNSEEN = ["electrofishing", "breadmaker", "fihsing", "zzz"]
Table(
    "Words that the text does not have",
    ["word", "where its vector is from"],
    [[word, str(fasttext.explain(word))] for word in UNSEEN],
)

# %%
mm.neighbours(fasttext, UNSEEN[0], k=5)

# %% [markdown]
# ### Korean: letters inside the syllables
#
# A Hangul syllable block is one character, and most Korean words have two to four of them: n-grams of
# three characters are nearly whole words, and one slip of the finger changes all of them. But a block
# is made of letters, the *jamo*. With `units="jamo"` the n-grams are those of letters, and a mistyped
# word keeps most of them (Park et al. 2018). Below, 강이지 is 강아지 (*puppy*) with one wrong vowel,
# 고앵이 is 고양이 (*cat*), and 산책길 (*a path for walks*) is a new word made of 산책 (*a walk*).

# %%
KOREAN = """
강아지가 공원에서 산책을 한다
강아지는 마당에서 공을 물고 논다
강아지와 고양이가 마당에서 논다
고양이는 창가에서 낮잠을 잔다
고양이가 생선을 먹고 낮잠을 잔다
아침마다 강아지와 공원으로 산책을 간다
은행에서 돈을 찾아 시장에 간다
시장에서 생선을 사고 돈을 낸다
은행은 돈을 빌려주고 이자를 받는다
""".strip().splitlines()
by_syllable = mm.train_fasttext(KOREAN, mm.FastText(**SMALL, epochs=400))
by_jamo = mm.train_fasttext(KOREAN, mm.FastText(**SMALL, epochs=400, units="jamo"))


def known(vectors, word):
    """How many n-grams of a word are known."""
    explained = vectors.explain(word)
    return f"{len(explained.ngrams)} / {explained.all_ngrams}"


header = ["word", "letters", "n-grams of syllables", "n-grams of jamo", "nearest by jamo"]
Table(
    "Known n-grams",
    header,
    [
        [
            word,
            mm.split_jamo(word),
            known(by_syllable, word),
            known(by_jamo, word),
            mm.neighbours(by_jamo, word, k=1)[0].key,
        ]
        for word in ["강이지", "고앵이", "산책길"]
    ],
)

# %% [markdown]
# ## 7. Analogies, with real vectors
#
# Our text is a page. `glove-6b-50d` was trained by the authors of GloVe on six billion words of
# Wikipedia and news; it comes with a package. If differences of vectors are relations, then
#
# $$v_{\text{king}} - v_{\text{man}} + v_{\text{woman}} \approx v_{\text{queen}},$$
#
# and the nearest word to the sum, other than the three themselves, completes the analogy.

# %%
glove = mm.load("glove-6b-50d")
EXPRESSIONS = [
    "king - man + woman",
    "korea - seoul + tokyo",
    "paris - france + italy",
    "swimming - swim + walk",
    "worse - bad + good",
]
Table(
    "Analogies",
    ["", "nearest", "then"],
    [
        [
            expression,
            *(f"{near.key} {near.score:.3f}" for near in mm.analogy(glove, expression, k=2)),
        ]
        for expression in EXPRESSIONS
    ],
)

# %% [markdown]
# Not every analogy works, and some that work should not: the vectors repeat what the text says,
# prejudices included. The first word below is what newspapers wrote, not a fact about doctors.

# %%
mm.analogy(glove, "doctor - man + woman", k=3)

# %% [markdown]
# A map of countries and their capitals. The lines from a country to its capital have similar
# directions: that is what the analogy uses.

# %%
CAPITALS = {
    "korea": "seoul",
    "japan": "tokyo",
    "china": "beijing",
    "france": "paris",
    "italy": "rome",
    "germany": "berlin",
    "spain": "madrid",
    "russia": "moscow",
}
words = [*CAPITALS, *CAPITALS.values()]
groups = ["country"] * len(CAPITALS) + ["capital"] * len(CAPITALS)
SVG(scatter_plot(plane(glove, words), words, groups, title="GloVe: countries and capitals"))

# %% [markdown]
# ## Try it on your own text
#
# Put a text file beside this notebook, one or more sentences per line, write its name below, and run
# the cell again. The settings are those of our page of text. For a million words take the default ones,
# `mm.FastText()`; for Korean add `units="jamo"`, and write `tokenizer="korean"`.

# %%
from pathlib import Path

MY_FILE = "my-text.txt"
text = MY_FILE if Path(MY_FILE).exists() else sentences
settings = mm.FastText(**SMALL, epochs=400)
mine = mm.train_fasttext(text, settings, tokenizer=TOKENIZER)
frequent = [word for word in mine.keys if len(word) > 1][8:13]
mm.neighbours(mine, frequent, k=4)
