# %% [markdown]
# # ELMo: vectors of words in context
#
# In the notebook *Words as vectors*, *bank* has one vector, whether it is a bank of a river or one with
# money. ELMo (Peters et al. 2018) gives every **occurrence** of a word a vector of its own. What you
# will see:
#
# 1. **the character CNN**: a word is read letter by letter, so that no word is unknown;
# 2. **the bidirectional language model** (biLM), pretrained here in some seconds;
# 3. **the three layers**: what each of them knows of *bank*;
# 4. **the weights $s_j$ and $\gamma$**: the weighted sum of the layers, checked with NumPy;
# 5. **a task**: advertising or not, with weights that the task learns.
#
# The model is tiny and reads some hundred sentences, so that you can watch all of it. The sentences are
# made of patterns: the same words around two kinds of *bank*. Everything runs offline, in a minute. The packages: `pip install "malmoi[train]" ipykernel`.

# %%
import itertools
import random
import warnings
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from IPython.display import SVG

import malmoi as mm
from malmoi.plots.heat_map import heat_map
from malmoi.plots.line_plot import line_plot
from malmoi.table import Table
from malmoi.text.character_ids import character_ids, word_ids

warnings.simplefilter("ignore", mm.MalmoiWarning)  # "the corpus is too small": it is, on purpose

# Words that may replace each other are separated by |.
PATTERNS = """
the fisher|child|woman sits|sleeps|waits on|near the bank of the river|lake|stream
the fisher|child|woman rows|swims from the bank to the boat|raft|island
the muddy|green|steep bank is near the river|lake|stream
the clerk|teller|manager sits|works|waits in|near the bank of the city|town|country
the clerk|teller|manager walks|runs from the bank to the shop|office|station
the rich|new|old bank is near the shop|office|station
the cat|dog|horse is sleeping|eating|walking in the kitchen|garden|field
the cat|dog|horse walked|jumped|walks|jumps to the river|lake|stream
she|he walks|walked|talks|talked with the farmer|fisher|teller
"""
WORD = "bank"
SENSED = {  # kept out of the text
    "the woman waits near the bank of the stream": "river",
    "the child sits near the bank of the lake": "river",
    "the fisher sleeps near the bank of the river": "river",
    "the teller works near the bank of the town": "money",
    "the manager sits near the bank of the city": "money",
    "the clerk waits near the bank of the country": "money",
}


def sentences_of(pattern):
    """All sentences of a pattern."""
    slots = [slot.split("|") for slot in pattern.split()]
    return [" ".join(words) for words in itertools.product(*slots)]


lines = [line for pattern in PATTERNS.strip().splitlines() for line in sentences_of(pattern)]
text = [line for line in lines if line not in SENSED]
random.Random(1).shuffle(text)
Table("Some sentences of our text", ["", "sentence"], list(enumerate(text[:6], 1)))

# %% [markdown]
# ## 1. Characters
#
# ELMo has no table with a row per word. It reads the **bytes** of a word, between marks for its
# begin (258) and its end (259), and fills the rest with 260. Korean may be read by letters (`jamo`)
# instead: 강아지 (*puppy*) is then seven letters rather than nine bytes that mean nothing alone.

# %%
Table(
    "Words as ids of characters",
    ["word", "read as", "ids", "as the network sees them"],
    [
        [
            word,
            units,
            str(word_ids(word, units)),
            str(character_ids([word], 14, units)[0].tolist()),
        ]
        for word, units in [("cat", "bytes"), ("강아지", "bytes"), ("강아지", "jamo")]
    ],
)

# %% [markdown]
# Every character has a vector. A **filter** of width $w$ slides over the word and looks at $w$
# characters at a time; the maximum over all positions says how well the filter fits the word anywhere:
#
# $$f_k = \max_i\ g\bigl(W_k \cdot [c_i, \dots, c_{i+w-1}] + b_k\bigr).$$
#
# A filter of width 4 may come to recognize *-ing>*, another *walk*. Many filters together, a highway
# layer and a projection make the vector of the word: **layer 0**.
#
# ## 2. The bidirectional language model
#
# Above the characters, one LSTM reads the sentence from left to right and predicts the next word, another
# reads it from right to left and predicts the previous one. Both are trained together:
#
# $$\sum_{k=1}^{N} \Bigl(\log P(t_k \mid t_1, \dots, t_{k-1}) + \log P(t_k \mid t_{k+1}, \dots, t_N)\Bigr).$$
#
# ![LSTMs read a sentence forward and backward, in two layers above a character CNN](../docs/elmo-bilm.svg)
#
# Nobody has to label anything: the text itself says which word comes next. That is why it is called
# *pre*training. Ours has 2 × 48 units per layer; the published model has 2 × 512 and read a billion
# words.

# %%
settings = mm.Elmo(
    characters="bytes",
    dim=48,
    filters=((1, 16), (2, 16), (3, 32), (4, 32)),
    min_count=1,
    held_out=0.1,
    epochs=40,
    batch_size=256,
    eval_steps=30,
    learning_rate=0.01,
    seed=1,
    threads=1,
)
pretrained = mm.train_elmo(text, settings, tokenizer="english")
folder = Path(mkdtemp()) / "tiny-elmo"
mm.save_elmo(pretrained, folder)
elmo = mm.load_contextual(folder)
steps, perplexities = zip(*pretrained.history, strict=True)
SVG(
    line_plot(
        steps,
        {"perplexity of held-out sentences, mean of both directions": perplexities},
        title="Pretraining: steps",
    )
)

# %%
Table(
    "Perplexity of the held-out sentences",
    ["model", "perplexity"],
    [
        ["Kneser–Ney bigrams", pretrained.ngrams.bigram],
        ["Kneser–Ney trigrams", pretrained.ngrams.trigram],
        ["ELMo, forward", pretrained.perplexity.forward],
        ["ELMo, backward", pretrained.perplexity.backward],
    ],
)

# %% [markdown]
# Trigrams see two words. When the sentence comes to *of the …*, they have forgotten whether it began with a
# fisher or with a clerk; the LSTM has not.
#
# ### Words that were never seen
#
# Layer 0 knows spelling. The words on the left do not occur in the text; the nearest words of the
# text look like them, or end like them. That is not meaning, but it is a start, and the layers above add
# the context.

# %%
vocabulary = sorted({word for line in text for word in line.split()})


def layer_0(words):
    """The vectors of words by their characters alone, of length 1, [words, dim]."""
    rows = [one.matrix[0] for one in elmo.activations([[word] for word in words]).words(layers=0)]
    return np.stack([row / np.linalg.norm(row) for row in rows])


known = layer_0(vocabulary)
UNSEEN = ["jumping", "fishers", "walker", "talking", "lakes"]
rows = []
for word, cosines in zip(UNSEEN, layer_0(UNSEEN) @ known.T, strict=True):
    best = np.argsort(-cosines)[:3]
    rows.append([word, ", ".join(f"{vocabulary[i]} {cosines[i]:.2f}" for i in best)])
Table("Nearest words by layer 0", ["never seen", "nearest"], rows)

# %% [markdown]
# ## 3. Three layers
#
# A word in a sentence has three vectors: $h_0$ from its characters, $h_1$ and $h_2$ from the LSTMs, each the
# output of both directions side by side. In layer 0 every *bank* is the same. Above it, occurrences
# of one sense should be nearer to each other than to those of the other.
#
# We ask six sentences that were kept out of the text. They are built alike, so that only the sense of
# *bank* differs:

# %%
texts, senses = list(SENSED), list(SENSED.values())
layers = [mm.occurrences(elmo, WORD, texts, layers=layer).matrix for layer in (0, 1, 2)]
unit = [matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in layers]
same = np.array(senses)[:, None] == np.array(senses)[None]
others = ~np.eye(len(texts), dtype=bool)
Table(
    f"Mean cosines between occurrences of {WORD}",
    ["layer", "same sense", "other sense"],
    [
        [str(j), float((rows @ rows.T)[same & others].mean()), float((rows @ rows.T)[~same].mean())]
        for j, rows in enumerate(unit)
    ],
)

# %%
names = [f"{sense} {number}" for number, sense in enumerate(senses, 1)]
SVG(
    heat_map(
        (unit[2] @ unit[2].T).tolist(),
        names,
        names,
        title=f"Cosines between the six occurrences of {WORD}, layer 2",
        digits=2,
    )
)

# %% [markdown]
# ## 4. The weighted sum
#
# Lower layers know more of form, upper ones more of meaning. ELMo leaves the choice to the task and takes
# a weighted sum (equation 1 of the paper),
#
# $$\mathrm{ELMo}_k = \gamma \sum_{j=0}^{2} s_j\, h_{k,j}, \qquad s = \mathrm{softmax}(w),$$
#
# with three numbers $w$, which the softmax turns into shares, and one number $\gamma$, which scales all.
#
# ![The vector of a word is γ times the weighted sum of its three layers](../docs/elmo-layers.svg)
#
# The same sum, once by a `Recipe` and once by NumPy:

# %%
weights, gamma = (0.0, 1.0, 0.5), 1.2
recipe = mm.Recipe(layers="all", layer_pooling="weighted", weights=weights, scale=gamma)
by_recipe = mm.occurrences(elmo, WORD, texts, recipe=recipe).matrix
shares = np.exp(weights) / np.exp(weights).sum()
by_hand = gamma * sum(share * layer for share, layer in zip(shares, layers, strict=True))
Table(
    "γ = 1.2, w = (0, 1, 0.5)",
    ["", ""],
    [
        ["shares s", ", ".join(f"{share:.3f}" for share in shares)],
        ["by the recipe, first numbers", ", ".join(f"{x:.4f}" for x in by_recipe[0, :4])],
        ["by hand", ", ".join(f"{x:.4f}" for x in by_hand[0, :4])],
        ["equal to 1e-5", str(bool(np.allclose(by_recipe, by_hand, atol=1e-5)))],
    ],
)

# %% [markdown]
# ## 5. A task: advertising or not
#
# The 240 messages that come with malmoi are advertising (`ad`) or not (`other`), in English and Korean.
# `learn_layer_weights` learns $s$ and $\gamma$ together with a linear classifier, and then tests every
# layer alone, their mean and the learned sum on messages that it has not seen.

# %%
table = (files("malmoi.cli.demo") / "messages.tsv").read_text("utf-8").splitlines()[1:]
messages = [tuple(line.split("\t")) for line in table]
Table("Some messages", ["text", "label"], [list(message) for message in messages[:6]])

# %%
result = mm.learn_layer_weights(
    elmo, messages, mm.LayerSettings(test_share=0.3, seed=1), reporter=mm.SilentReporter()
)
result

# %% [markdown]
# Look at the intervals before you look at the differences: with 72 test messages most of them could be
# chance. And remember what the model has read: patterns about banks, not one message and no Korean. A
# linear classifier on n-grams of characters needs no pretraining, and is the score to beat:

# %%
baseline = mm.train_classifier(
    messages, mm.NgramClassifier(test_share=0.3, seed=1), reporter=mm.SilentReporter()
)
Table(
    "Accuracy in percent",
    ["classifier", "accuracy"],
    [
        ["ELMo, learned weights", f"{100 * result.learned.value:.1f}"],
        ["n-grams of characters", f"{100 * baseline.scores.accuracy.value:.1f}"],
    ],
)

# %% [markdown]
# What ELMo is good for: words that no vocabulary has, a language model of your own domain after half an
# hour of pretraining on some million words, and understanding what came after it: BERT replaced the LSTMs
# by attention and kept the idea, to pretrain on raw text and to let the task choose the layers.
#
# ## Try it on your own text
#
# Put a text file beside this notebook, one sentence per line, some thousand lines or more, write its
# name below, and run the cell again. `minutes` ends the training by time.

# %%
MY_FILE = "my-text.txt"
my_text = MY_FILE if Path(MY_FILE).exists() else text
mine = mm.train_elmo(
    my_text,
    mm.Elmo(dim=32, epochs=10, batch_size=512, held_out=0.1, seed=1, threads=1),
    tokenizer="english",
)
mine
