"""ELMo's layers: words in context, and SMS spam beside random weights, TF-IDF and minilm.

Spam: five stratified splits of 80 to 20, without texts that are in both parts. Layer weights and a
logistic regression are learned on the larger part; its penalty is chosen inside that part.
"""

import json
import os
import shutil
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from bench.data import Data
from bench.measure import Figure, say
from bench.text import CORPORA
from malmoi.arrays import Int64Array
from malmoi.encode.loading import load_contextual
from malmoi.errors import MalmoiWarning
from malmoi.files.hdf5.writer import write_hdf5
from malmoi.reporting.reporter import SilentReporter
from malmoi.tune.data.labelled_set import LabelledSet
from malmoi.tune.data.splits import split_texts, stratified_sample
from malmoi.tune.elmo.network.bilm import BidirectionalLm
from malmoi.tune.elmo.network.export import hdf5_weights
from malmoi.tune.elmo.settings import Elmo
from malmoi.tune.layers.learning import (
    VALIDATION_SHARE,
    classify_layers,
    layer_rows,
    read_classes,
)
from malmoi.tune.layers.settings import LayerSettings
from malmoi.vectors import l2_normalize

SPAM = CORPORA.parent / "spam" / "spam.csv"
COLUMNS = ("v2", "v1")
ELMO = "MALMOI_ELMO"  # environment: where `bench pretraining` has written its model `en`
SEEDS = range(1, 6)
TEST_SHARE = 0.2
ASKED, BOOK = 98.4, 98.03  # the book's is one split, by the original weights
SENSES = {  # three texts of one sense, then three of another
    "bank": (
        "He robbed the bank in the city.",
        "The bank raised its interest rates.",
        "She works at a bank in London.",
        "They walked along the bank of the river.",
        "The river bank was covered with trees.",
        "Fish swim near the southern bank of the lake.",
    ),
    "play": (
        "The play opened at the theatre in New York.",
        "Shakespeare wrote the play in 1599.",
        "The play was directed by her brother.",
        "The children play in the park.",
        "They play football for the national team.",
        "He began to play professionally in 1998.",
    ),
}
KOREAN_SENSES = {
    "배": (
        "항구에 배 한 척이 들어왔다.",
        "그는 배 위에서 바다를 보았다.",
        "큰 배 한 척이 바다에 침몰하였다.",
        "그는 사과와 배 하나를 먹었다.",
        "사과와 배 등의 과일을 판다.",
        "이 지역은 배 농사로 유명하다.",
    ),
}
PENALTIES = (1.0, 10.0, 100.0, 1000.0)


def run(data: Data) -> Iterator[Figure]:
    """Mean and standard deviation of the accuracy, in percent."""
    folder = Path(os.environ.get(ELMO, data.folder / "elmo")) / "en"
    if not SPAM.is_file() or not folder.is_dir():
        say(f"no {SPAM} (set MALMOI_DATA), or no {ELMO}: spam is left out")
        return
    warnings.simplefilter("ignore", MalmoiWarning)
    yield from senses(str(folder), SENSES)
    if (korean := folder.parent / "ko").is_dir():
        yield from senses(str(korean), KOREAN_SENSES)
    texts = read_classes(SPAM, COLUMNS, SilentReporter())
    start = time.perf_counter()
    trained = accuracies(str(folder), texts)
    took = time.perf_counter() - start
    random = accuracies(str(random_control(folder, data.folder / "control")), texts)
    ours, theirs = trained["learned"], random["learned"]
    gains = np.array(ours) - np.array(theirs)
    noise = gains.std(ddof=1) / len(gains) ** 0.5
    alone = ", ".join(f"{name} {shown(values)}" for name, values in trained.items())
    yield Figure(
        name="spam, ELMo, learned weights",
        ours=shown(ours),
        peer=f"{BOOK} (book)",
        asked=f"≥ {ASKED}",
        met=bool(np.mean(ours) >= ASKED),
        remark=f"{len(SEEDS)} splits in {took:.0f} s. By layer: {alone}.",
    )
    yield Figure(
        name="gain over random weights",
        ours=f"{gains.mean():+.2f}",
        peer=f"± {noise:.2f}",
        asked="> 2 standard errors",
        met=bool(gains.mean() > 2 * noise),
        remark=f"The same network with random weights: {shown(theirs)}.",
    )
    yield Figure(name="spam, TF-IDF of characters", ours=shown(tf_idf(texts)))
    yield Figure(name="spam, minilm, learned", ours=shown(accuracies("minilm", texts)["learned"]))


def senses(model: str, examples: Mapping[str, Sequence[str]]) -> Iterator[Figure]:
    """Mean cosines of a word in texts of the same sense and of different senses, by layer."""
    encoder = load_contextual(model)
    is_same = np.equal.outer(np.arange(6) // 3, np.arange(6) // 3) & ~np.eye(6, dtype=bool)
    for word, texts in examples.items():
        states, same, other = encoder.activations(texts), [], []
        for layer in range(encoder.config.num_states):
            words = states.words(layers=layer)
            rows = [each.matrix[each.keys.index(word)] for each in words]
            vectors = l2_normalize(np.array(rows))
            cosines = vectors @ vectors.T
            same.append(f"{cosines[is_same].mean():.2f}")
            other.append(f"{cosines[:3, 3:].mean():.2f}")
        yield Figure(
            name=f"{word}, same | other sense",
            ours=" ".join(same),
            peer=" ".join(other),
            remark="Mean cosines by layer, 0 first; not a peer, but the other sense.",
        )


def random_control(folder: Path, target: Path) -> Path:
    """The same network with the random weights that pretraining begins with."""
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    settings = Elmo(
        characters=options["malmoi"]["characters"],
        dim=options["lstm"]["dim"],
        layers=options["lstm"]["n_layers"],
        filters=tuple((width, number) for width, number in options["char_cnn"]["filters"]),
    )
    target.mkdir()
    shutil.copy(folder / "options.json", target)
    torch.manual_seed(0)
    write_hdf5(target / "weights.hdf5", hdf5_weights(BidirectionalLm(settings)))
    return target


def accuracies(model: str, texts: LabelledSet) -> dict[str, list[float]]:
    """Percent of each split, by each layer, by the mean of all, and by learned weights."""
    say(f"spam by {model}")
    rows = layer_rows(load_contextual(model), texts, LayerSettings(), SilentReporter())
    found: dict[str, list[float]] = {}
    for seed in SEEDS:
        split = split_texts(texts, TEST_SHARE, seed)
        each = classify_layers(rows.take(split.train), rows.take(split.test), seed)
        named = {f"layer {i}": hits for i, hits in enumerate(each.single)}
        for name, hits in {**named, "mean": each.average, "learned": each.learned}.items():
            found.setdefault(name, []).append(100 * float(hits.mean()))
    return found


def tf_idf(texts: LabelledSet) -> list[float]:
    """Accuracy of TF-IDF of two to five characters, in percent, for each seed."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    say("spam by TF-IDF")
    labels, shares = texts.first_labels, []
    for seed in SEEDS:
        split = split_texts(texts, TEST_SHARE, seed)
        held_out = split.train[stratified_sample(labels[split.train], VALIDATION_SHARE, seed)]
        fitted = np.setdiff1d(split.train, held_out)

        def accuracy(penalty: float, train: Int64Array, test: Int64Array) -> float:
            table = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
            rows = table.fit_transform([texts.texts[i] for i in train])
            model = LogisticRegression(C=penalty, max_iter=1000).fit(rows, labels[train])
            tested = table.transform([texts.texts[i] for i in test])
            return float(model.score(tested, labels[test]))

        best = max(PENALTIES, key=lambda each: accuracy(each, fitted, held_out))
        shares.append(100 * accuracy(best, split.train, split.test))
    return shares


def shown(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"
