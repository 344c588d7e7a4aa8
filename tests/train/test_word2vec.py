import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from malmoi.errors import InvalidArgumentError, InvalidFileError, MalmoiWarning
from malmoi.query.compare import similarity
from malmoi.query.neighbours import neighbours
from malmoi.train.common import memory
from malmoi.train.common.options import TrainOptions
from malmoi.train.word2vec import trainer as word_learning
from malmoi.train.word2vec.word2vec import Word2Vec, train_word2vec
from malmoi.vectors import Vectors
from tests.reporters import CallbackReporter
from tests.train.worlds import ANIMALS, METALS, lines

SMALL = Word2Vec(dim=20, window=3, epochs=4, min_count=1, subsample=0, learning_rate=0.05)
ALONE = replace(SMALL, threads=1)
KINDS = [
    {"architecture": "skip-gram"},
    {"architecture": "cbow"},
    {"loss": "hierarchical-softmax"},
    {"architecture": "cbow", "loss": "hierarchical-softmax"},
]


@pytest.fixture(autouse=True)
def _many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_learning, "CHUNK_TOKENS", 500)


def assert_equal(one: Vectors, other: Vectors) -> None:
    assert list(one.keys) == list(other.keys)
    np.testing.assert_array_equal(one.matrix, other.matrix)
    if one.context_matrix is not None and other.context_matrix is not None:
        np.testing.assert_array_equal(one.context_matrix, other.context_matrix)
    assert one.meta["losses"] == other.meta["losses"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_words_that_stand_together_come_together(kind: dict[str, str], threads: int) -> None:
    settings = replace(SMALL, epochs=15, threads=threads, **kind)  # type: ignore[arg-type]
    vectors = train_word2vec(lines(), settings)
    for word in ANIMALS + METALS:
        kin = ANIMALS if word in ANIMALS else METALS
        assert {near.key for near in neighbours(vectors, word, k=5)} <= set(kin)


@pytest.mark.parametrize("kind", KINDS)
def test_one_thread_and_a_seed_give_the_same_bits(kind: dict[str, str]) -> None:
    settings = replace(ALONE, **kind)  # type: ignore[arg-type]
    assert_equal(train_word2vec(lines(), settings), train_word2vec(lines(), settings))
    other = train_word2vec(lines(), replace(settings, seed=2))
    assert not np.array_equal(other.matrix, train_word2vec(lines(), settings).matrix)


def test_the_loss_falls_and_begins_where_nothing_is_known() -> None:
    losses = json.loads(train_word2vec(lines(), SMALL).meta["losses"])
    assert len(losses) == SMALL.epochs
    assert losses[-1] < losses[0]
    still = replace(
        SMALL, learning_rate=1e-12, min_learning_rate=0, loss="hierarchical-softmax", epochs=1
    )
    # With an output of zeros every turn is a coin's: a path of n turns costs n · log 2.
    vectors = train_word2vec(["a b"] * 50 + ["c d"] * 50, still)
    assert json.loads(vectors.meta["losses"]) == [pytest.approx(2 * np.log(2), rel=1e-4)]


def test_threads_that_have_no_part_of_a_small_text_do_not_learn_another_epoch() -> None:
    few = lines(40)  # one part
    one, many = (train_word2vec(few, replace(SMALL, threads=n)) for n in (1, 1000))
    np.testing.assert_array_equal(one.matrix, many.matrix)


def test_an_epoch_without_a_pair_has_no_loss() -> None:
    vectors = train_word2vec(["a b"] * 10, replace(ALONE, subsample=0.05, epochs=20))
    losses = json.loads(vectors.meta["losses"])
    assert None in losses
    assert all(loss is None or loss > 0 for loss in losses)
    assert any(losses)


def test_that_hardly_a_word_stays_is_told() -> None:
    with pytest.warns(MalmoiWarning, match=r"subsample is 0.001: only 8.35% of the words"):
        train_word2vec(["a b c d e f"] * 60, replace(ALONE, subsample=1e-3))


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_overflow_in_the_last_step_are_told(kind: dict[str, str]) -> None:
    steep = replace(ALONE, learning_rate=1e25, epochs=1, **kind)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match=r"lower learning_rate \(now 1e\+25"):
        train_word2vec(["a b"], steep)


def test_what_threads_do_does_not_depend_on_their_number() -> None:
    one, two = (train_word2vec(lines(), replace(SMALL, threads=n)) for n in (1, 2))
    first, second = (json.loads(each.meta["losses"]) for each in (one, two))
    np.testing.assert_allclose(first, second, rtol=0.02)


class Interrupted:
    """Progress that presses Ctrl-C after some calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self, done: int, total: int) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("calls", [1, 2, 7, 20])
def test_a_resumed_training_ends_as_if_it_had_never_stopped(
    kind: dict[str, str], calls: int, tmp_path: Path
) -> None:
    settings = replace(ALONE, **kind)  # type: ignore[arg-type]
    place = tmp_path / "x.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        train_word2vec(
            lines(),
            settings,
            options=TrainOptions(checkpoint=place),
            reporter=CallbackReporter(progress=Interrupted(calls)),
        )
    resumed = train_word2vec(lines(), settings, options=TrainOptions(checkpoint=place, resume=True))
    assert_equal(resumed, train_word2vec(lines(), settings))


def test_what_is_another_training_is_not_resumed(tmp_path: Path) -> None:
    place = tmp_path / "x.checkpoint"
    with pytest.raises(InvalidFileError, match="to resume from"):
        train_word2vec(lines(), ALONE, options=TrainOptions(checkpoint=place, resume=True))
    with pytest.raises(KeyboardInterrupt):
        train_word2vec(
            lines(),
            ALONE,
            options=TrainOptions(checkpoint=place),
            reporter=CallbackReporter(progress=Interrupted(3)),
        )
    with pytest.raises(InvalidArgumentError, match="window 3, not 2"):
        train_word2vec(
            lines(), replace(ALONE, window=2), options=TrainOptions(checkpoint=place, resume=True)
        )
    start = train_word2vec(lines(), ALONE)
    with pytest.raises(InvalidArgumentError, match=r"with init_vectors none, not [0-9a-f]{32}:"):
        train_word2vec(
            lines(), ALONE, options=TrainOptions(checkpoint=place, resume=True, init_vectors=start)
        )
    with pytest.raises(InvalidArgumentError, match="another corpus"):
        train_word2vec(lines(seed=2), ALONE, options=TrainOptions(checkpoint=place, resume=True))
    with pytest.warns(MalmoiWarning, match="left over"):
        train_word2vec(lines(), ALONE, options=TrainOptions(checkpoint=place))
    train_word2vec(
        lines(), SMALL, options=TrainOptions(checkpoint=place, resume=True)
    )  # more threads are no matter


@pytest.mark.parametrize("kind", KINDS)
def test_words_begin_with_the_vectors_given_and_keep_them_if_frozen(kind: dict[str, str]) -> None:
    start = Vectors(["cat", "gold", "unicorn"], np.eye(3, 20))
    settings = replace(ALONE, **kind)  # type: ignore[arg-type]
    still = replace(settings, learning_rate=1e-12, min_learning_rate=0)
    begun = train_word2vec(lines(), still, options=TrainOptions(init_vectors=start))
    np.testing.assert_allclose(begun["cat"], start["cat"], atol=1e-6)
    assert "unicorn" not in begun
    frozen = train_word2vec(
        lines(), settings, options=TrainOptions(init_vectors=start, freeze=True)
    )
    for word in ("cat", "gold"):
        np.testing.assert_array_equal(frozen[word], start[word])
    assert not np.array_equal(
        train_word2vec(lines(), settings, options=TrainOptions(init_vectors=start))["cat"],
        start["cat"],
    )


def test_that_no_word_has_a_vector_to_begin_with_is_told() -> None:
    with pytest.warns(MalmoiWarning, match="none of the 12 words is in init_vectors"):
        train_word2vec(
            lines(),
            ALONE,
            options=TrainOptions(init_vectors=Vectors(["unicorn"], np.eye(1, 20)), freeze=True),
        )


def test_going_on_with_words_that_were_cut_otherwise_is_told() -> None:
    old = train_word2vec(lines(), ALONE)
    with pytest.warns(
        MalmoiWarning, match=r"from the tokenizer .*whitespace.*, those .* from .*english"
    ):
        train_word2vec(
            lines(), ALONE, tokenizer="english", options=TrainOptions(init_vectors=old, update=True)
        )


def test_an_update_keeps_old_words_and_learns_new_ones() -> None:
    old = train_word2vec(lines(), replace(SMALL, epochs=15))
    more = [line.replace("mouse", "kitten") for line in lines(seed=3)[1::2]]
    new = train_word2vec(
        more, replace(SMALL, epochs=15), options=TrainOptions(init_vectors=old, update=True)
    )
    assert set(new.keys) == {*ANIMALS, *METALS, "kitten"}
    assert old.counts is not None
    assert new.counts is not None
    again = sum(line.split().count("cat") for line in more)
    assert new.counts[new.row("cat")] == old.counts[old.row("cat")] + again
    np.testing.assert_array_equal(new["silver"], old["silver"])
    assert similarity(new, "kitten", "cat") > similarity(new, "kitten", "gold")


def test_memory_is_told_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    train_word2vec(lines(), SMALL, reporter=CallbackReporter(on_memory=told.append))
    assert told[0] >= 2 * 4 * 12 * 20
    train_word2vec(
        lines(), replace(SMALL, epochs=8), reporter=CallbackReporter(on_memory=told.append)
    )
    assert told[1] > told[0]  # the losses of each epoch
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    with pytest.raises(InvalidArgumentError, match=r"needs .* MB of memory"):
        train_word2vec(lines(), SMALL)


def test_progress_is_told_in_words() -> None:
    told: list[tuple[int, int]] = []
    losses: list[float] = []
    train_word2vec(
        lines(),
        SMALL,
        reporter=CallbackReporter(
            progress=lambda done, total: told.append((done, total)), on_loss=losses.append
        ),
    )
    assert told[-1][0] == told[-1][1] == 4 * 600 * 9
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert 0 < losses[-1] < losses[0]


def test_settings_and_the_tokenizer_are_kept() -> None:
    vectors = train_word2vec(["Don't stop, now! Don't go."] * 5, SMALL, tokenizer="english")
    assert "don't" in vectors
    assert json.loads(vectors.meta["settings"])["window"] == 3
    assert "english" in vectors.meta["tokenizer"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"dim": 0},
        {"window": 0},
        {"window": 1001},
        {"negative_samples": 0},
        {"epochs": 0},
        {"threads": 0},
        {"architecture": "dbow"},
        {"loss": "full"},
        {"subsample": -1.0},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"seed": -1},
        {"min_count": 0},
        {"negative_samples": 10**12},
        {"epochs": 10**12},
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
        Word2Vec(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda: train_word2vec(["a a a"], SMALL), "single word"),
        (lambda: train_word2vec([["a", "b"], "a b"], SMALL), "sentence number 2 is a string"),
        (lambda: train_word2vec([["a"]], SMALL, tokenizer="english"), "need no tokenizer"),
        (lambda: train_word2vec(["a", "b", "c"], SMALL), "no line keeps two words"),
        (
            lambda: train_word2vec(lines(), SMALL, options=TrainOptions(freeze=True)),
            "freeze needs init_vectors",
        ),
        (
            lambda: train_word2vec(lines(), SMALL, options=TrainOptions(update=True)),
            "update needs init_vectors",
        ),
        (
            lambda: train_word2vec(
                lines(), SMALL, options=TrainOptions(init_vectors=Vectors(["cat"], np.eye(1, 7)))
            ),
            "set dim to 7",
        ),
    ],
)
def test_what_cannot_be_learnt_is_refused(run: Callable[[], Vectors], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        run()


def test_a_long_line_is_learnt_in_pieces() -> None:
    vectors = train_word2vec([" ".join(lines(400))], SMALL)
    assert len(vectors) == len(ANIMALS + METALS)


def test_without_vector_instructions_the_same_is_learnt(tmp_path: Path) -> None:
    """Plain loops, in a process for which Numba knows of no special processor."""
    script = (
        "import sys, numpy as np\n"
        "from malmoi.kernels.word2vec import tiles, train_words\n"
        "assert train_words.score_tile is tiles.score_tile\n"
        "from tests.train.test_word2vec import ALONE, lines, train_word2vec, word_learning\n"
        "word_learning.CHUNK_TOKENS = 500\n"
        "np.save(sys.argv[1], train_word2vec(lines(), ALONE).matrix)\n"
    )
    environment = os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    out = tmp_path / "plain.npy"
    subprocess.run([sys.executable, "-c", script, str(out)], check=True, env=environment)
    np.testing.assert_allclose(np.load(out), train_word2vec(lines(), ALONE).matrix, atol=1e-3)
