"""The vectors of a whole vocabulary, beside a twin that cuts and hashes word by word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from malmoi.arrays import Float32Array
from malmoi.kernels.word2vec.subword_rows import find, step, word_vectors
from malmoi.keys import Keys
from tests import naive

DIM = 3

texts = st.one_of(
    st.text(max_size=8).map(lambda word: word.encode("utf-8", "surrogatepass")),
    st.binary(max_size=8),
    st.sampled_from([b"</s>", "한국".encode(), "각".encode(), b"a", b"\x80\x80"]),
)
words = st.lists(texts, min_size=1, max_size=4)
sizes = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda size: (size[0], sum(size)))


def computed(
    vocabulary: list[bytes],
    own: Float32Array,
    ngrams: Float32Array,
    size: tuple[int, int],
    buckets: int,
    kept: list[int] | None = None,
) -> Float32Array:
    keys = Keys.of_bytes(vocabulary)
    out = np.full(own.shape, np.nan, np.float32)
    word_vectors(
        keys.packed, keys.offsets, own, ngrams, *size, buckets,
        np.array(kept or [], np.int32), kept is not None, out, 0, len(keys),
    )  # fmt: skip
    return out


def random_rows(count: int, seed: int) -> Float32Array:
    return np.random.default_rng(seed).normal(size=(count, DIM)).astype(np.float32)


@given(words, sizes, st.sampled_from([1, 2, 7, 1000]))
def test_a_vector_is_the_mean_of_the_own_row_and_the_ngrams(
    vocabulary: list[bytes], size: tuple[int, int], buckets: int
) -> None:
    own, ngrams = random_rows(len(vocabulary), 1), random_rows(buckets, 2)
    expected = naive.word_vectors(vocabulary, own, ngrams, *size, buckets)
    np.testing.assert_allclose(
        computed(vocabulary, own, ngrams, size, buckets), expected, atol=1e-5
    )


@given(words, sizes, st.sets(st.integers(0, 9)))
def test_ngrams_without_a_row_do_not_count(
    vocabulary: list[bytes], size: tuple[int, int], chosen: set[int]
) -> None:
    kept = sorted(chosen)
    own, ngrams = random_rows(len(vocabulary), 3), random_rows(len(kept), 4)
    expected = naive.word_vectors(vocabulary, own, ngrams, *size, 10, kept)
    found = computed(vocabulary, own, ngrams, size, 10, kept)
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("size", [(3, 0), (1, 0), (0, 0), (3, -1)])
def test_without_ngrams_a_vector_is_the_own_row_bit_for_bit(size: tuple[int, int]) -> None:
    own = random_rows(2, 5)
    found = computed([b"eating", "한국".encode()], own, random_rows(0, 6), size, 0)
    assert found.tobytes() == own.tobytes()


def test_the_end_of_a_line_has_no_ngrams() -> None:
    own = random_rows(1, 7)
    found = computed([b"</s>"], own, random_rows(10, 8), (1, 6), 10)
    assert found.tobytes() == own.tobytes()


def test_only_the_words_asked_for_are_computed() -> None:
    keys = Keys.of(["a", "b", "c"])
    out = np.zeros((3, DIM), np.float32)
    own, ngrams = random_rows(3, 9), random_rows(5, 10)
    kept = np.empty(0, np.int32)
    word_vectors(keys.packed, keys.offsets, own, ngrams, 2, 3, 5, kept, False, out, 1, 2)
    assert not out[0].any()
    assert out[1].any()
    assert not out[2].any()


def test_memory_mapped_rows_are_taken_as_they_are() -> None:
    own, ngrams = random_rows(1, 11), random_rows(5, 12)
    expected = computed([b"word"], own, ngrams, (3, 6), 5)
    own.flags.writeable = ngrams.flags.writeable = False
    assert computed([b"word"], own, ngrams, (3, 6), 5).tobytes() == expected.tobytes()


@given(st.binary(max_size=12))
def test_hashing_step_by_step_is_hashing_the_whole(text: bytes) -> None:
    value = np.uint32(2166136261)
    for byte in text:
        value = np.uint32(step(value, byte))
    assert int(value) == naive.fasttext_hash(text)


@given(st.sets(st.integers(0, 30)), st.integers(0, 30))
def test_a_bucket_is_found_where_it_is_kept(kept: set[int], bucket: int) -> None:
    ordered = sorted(kept)
    place = ordered.index(bucket) if bucket in kept else -1
    assert find(np.array(ordered, np.int32), bucket) == place
