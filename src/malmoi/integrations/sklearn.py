"""scikit-learn: TextVectorizer, a transformer of texts for pipelines; also `malmoi.sklearn`."""

from collections.abc import Iterable
from typing import Any, Self

from malmoi.arrays import Float32Array
from malmoi.encode.loading import default_model
from malmoi.encode.static.average import AverageEncoder, average_encoder
from malmoi.encode.static.word_weights import WordWeighting
from malmoi.errors import InvalidArgumentError
from malmoi.extras import required
from malmoi.integrations.text_embedder import ModelLike, TextEmbedder, load_model
from malmoi.text_inputs import TextLike, strings

with required("scikit-learn"):
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted


class TextVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Texts to vectors, in the place of a TfidfVectorizer.

    A model that is named is loaded by `fit`, and again in another process (`n_jobs`) or after a
    pipeline was pickled.

    Args:
        model: A name that `load_encoder` takes, such as `minilm`, `use`, a folder or a file of
            word vectors; or an encoder, or `Vectors`. Without one, `fit` chooses `use` for texts
            with Hangul, else `minilm`.
        weighting: For word vectors: `mean`, `idf` or `sif`, with weights learnt from the texts of
            `fit`. Without it, word vectors are averaged as by `load_encoder`.
        normalize: Scale each vector to length one.
        prompt: Text before each text, for models that were trained with one; without it, the
            model's own for documents.

    Attributes:
        encoder_: The encoder.
    """

    def __init__(
        self,
        model: ModelLike | None = None,
        *,
        weighting: WordWeighting | None = None,
        normalize: bool = False,
        prompt: str | None = None,
    ) -> None:
        self.model, self.weighting = model, weighting
        self.normalize, self.prompt = normalize, prompt

    def fit(self, X: Iterable[TextLike], y: object = None) -> Self:  # noqa: N803
        """Load the model; with `weighting`, learn the weights of words.

        Args:
            X: Texts: a list, a Series, a NumPy array or an Arrow column.
            y: Ignored.

        Returns:
            The vectorizer itself.

        Raises:
            InvalidArgumentError: `X` is empty, a value is not a text, or `weighting` is set
                for a model that is not word vectors.
            InvalidFileError: There is no such model.
        """
        texts = list(strings(X))
        if not texts:
            raise InvalidArgumentError("there are no texts to fit: X has 0 samples")
        encoder = load_model(default_model(texts) if self.model is None else self.model)
        if self.weighting is not None:
            if not isinstance(encoder, AverageEncoder):
                raise InvalidArgumentError(
                    f"weighting '{self.weighting}' is for word vectors, and '{encoder.name}' is"
                    " another kind of model: leave it out"
                )
            encoder = average_encoder(
                encoder.vectors, weighting=self.weighting, texts=texts, name=encoder.name
            )
        self.encoder_ = encoder
        return self

    def transform(self, X: Iterable[TextLike]) -> Float32Array:  # noqa: N803
        """One vector per text.

        Args:
            X: Texts, as for `fit`.

        Returns:
            float32 [texts, dim]; a DataFrame after `set_output`.

        Raises:
            InvalidArgumentError: A value is not a text.
        """
        check_is_fitted(self)
        embedder = TextEmbedder(
            model=self.encoder_, document_prompt=self.prompt, normalize=self.normalize
        )
        return embedder.documents(X)

    @property
    def _n_features_out(self) -> int:
        """The number of columns, for `get_feature_names_out`."""
        return int(self.encoder_.dim)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []  # float32 always
        return tags
