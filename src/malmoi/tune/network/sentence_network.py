"""The network of the BERT family for training, from the weights that encoders use.

Linear layers run on packed tokens; only attention is padded. All texts of a batch, such as both
sides of its pairs, run together. The lowest layers can be frozen: they run without gradients.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from malmoi.arrays import Float32Array, Int32Array
from malmoi.encode.checkpoint.config import Config
from malmoi.encode.checkpoint.sentence_transformers import SentenceModules
from malmoi.encode.checkpoint.weights import Weights
from malmoi.encode.runtime.relative_positions import distance_buckets
from malmoi.tune.network.linear import new_linear
from malmoi.tune.network.packing import PackedTexts, pack
from malmoi.tune.network.sentence_head import SentenceHead

PROJECTIONS = ("query", "key", "value")  # one matrix `qkv` here
LINEAR = ("attn_out", "ffn_up", "ffn_down")
NORMS = ("attn_norm", "ffn_norm")
APPROXIMATIONS = {"exact": "none", "tanh": "tanh"}  # of GELU, by torch's names
SEPARATOR = "/"  # in names of parameters, where torch allows no dot
ENCODE_TOKENS = 2048  # of a batch without gradients


class TransformerLayer(nn.Module):
    """Attention and the feed-forward network, each with its residual and layer norm."""

    def __init__(self, weights: Weights, number: int, config: Config, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = config.heads, dropout
        self.approximation = APPROXIMATIONS[config.gelu]
        own = {
            name: [weights[f"layer.{number}.{name}.{kind}"] for kind in ("weight", "bias")]
            for name in (*PROJECTIONS, *LINEAR, *NORMS)
        }
        weight, bias = (np.concatenate([own[name][i] for name in PROJECTIONS]) for i in (0, 1))
        self.qkv = new_linear(weight, bias)
        self.attn_out, self.ffn_up, self.ffn_down = (new_linear(*own[name]) for name in LINEAR)
        self.attn_norm, self.ffn_norm = (_norm(config.epsilon, *own[name]) for name in NORMS)

    def forward(self, rows: Tensor, texts: PackedTexts, bias: Tensor | None) -> Tensor:
        """[tokens, dim] to [tokens, dim]; `bias` is added to the attention scores."""
        return self.feed_forward(self.attention(rows, texts, bias))

    def attention(self, rows: Tensor, texts: PackedTexts, bias: Tensor | None) -> Tensor:
        """Attention with its residual and layer norm."""
        mixed = self._drop(self.attn_out(self._attend(rows, texts, bias)))
        normed: Tensor = self.attn_norm(rows + mixed)
        return normed

    def feed_forward(self, rows: Tensor) -> Tensor:
        """The feed-forward network with its residual and layer norm."""
        inner = functional.gelu(self.ffn_up(rows), approximate=self.approximation)
        normed: Tensor = self.ffn_norm(rows + self._drop(self.ffn_down(inner)))
        return normed

    def _attend(self, rows: Tensor, texts: PackedTexts, bias: Tensor | None) -> Tensor:
        grid = texts.to_grid(self.qkv(rows))
        split = grid.view(len(texts.lengths), texts.longest, 3, self.heads, -1)
        query, key, value = split.permute(2, 0, 3, 1, 4)  # each [texts, heads, longest, head dim]
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return texts.from_grid(mixed.transpose(1, 2))

    def _drop(self, rows: Tensor) -> Tensor:
        return functional.dropout(rows, self.dropout, self.training) if self.dropout else rows

    def weights(self, number: int) -> Weights:
        """The weights under the names of `encode.checkpoint.weights`."""
        named: Weights = {}
        for kind in ("weight", "bias"):
            joined = getattr(self.qkv, kind).detach().numpy()
            parts = zip(PROJECTIONS, np.split(joined, 3), strict=True)
            named |= {f"layer.{number}.{name}.{kind}": part for name, part in parts}
            for name in (*LINEAR, *NORMS):
                tensor = getattr(getattr(self, name), kind)
                named[f"layer.{number}.{name}.{kind}"] = tensor.detach().numpy()
        return named


class SentenceNetwork(nn.Module):
    """An encoder for training: token ids to one vector per text.

    The embeddings are trained only if `train_embeddings`, and never below frozen layers.
    """

    def __init__(
        self,
        weights: Weights,
        config: Config,
        modules: SentenceModules,
        *,
        freeze_layers: int = 0,
        train_embeddings: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.config, self.freeze_layers, self.dropout = config, freeze_layers, dropout
        self.sparse_rows = False  # whether the gradient of the table of tokens is sparse
        self.embeddings = nn.ParameterDict(
            {
                name.replace(".", SEPARATOR): _parameter(array)
                for name, array in weights.items()
                if not name.startswith("layer.")
            }
        )
        self.layers = nn.ModuleList(
            TransformerLayer(weights, number, config, dropout if number >= freeze_layers else 0.0)
            for number in range(config.layers)
        )
        self.head = SentenceHead(modules)
        self.embeddings.requires_grad_(train_embeddings and freeze_layers == 0)
        self.layers[:freeze_layers].requires_grad_(False)

    def forward(self, texts: Sequence[Int32Array], states: Tensor | None = None) -> Tensor:
        """Token ids to vectors [texts, dim]; `states` are the outputs of the frozen layers."""
        packed = pack(texts, self.config)
        vectors: Tensor = self.head(self.hidden_states(packed, states)[-1], packed)
        return vectors

    def hidden_states(self, texts: PackedTexts, states: Tensor | None = None) -> list[Tensor]:
        """The outputs of the layers, [tokens, dim] each, after those that are frozen."""
        bias = self.attention_bias(texts)
        if states is None:
            states = self._frozen_states(texts, bias)
        outputs = [states]
        for layer in self.layers[self.freeze_layers :]:
            outputs.append(layer(outputs[-1], texts, bias))
        return outputs

    @torch.no_grad()
    def frozen_states(self, texts: Sequence[Int32Array]) -> Tensor:
        """The output of the highest frozen layer, or the embeddings, [tokens, dim]."""
        packed = pack(texts, self.config)
        return self._frozen_states(packed, self.attention_bias(packed))

    @torch.no_grad()
    def encode(
        self, texts: Sequence[Int32Array], states: Sequence[Tensor] | None = None
    ) -> Float32Array:
        """The vectors of many texts without gradients or dropout, [texts, dim]."""
        was_training = self.training
        self.eval()
        vectors: dict[int, Float32Array] = {}
        for some in length_batches([len(text) for text in texts], ENCODE_TOKENS):
            own = None if states is None else torch.cat([states[i] for i in some])
            rows = self([texts[i] for i in some], own).numpy()
            vectors |= dict(zip(some, rows, strict=True))
        self.train(was_training)
        return np.stack([vectors[i] for i in range(len(texts))])

    def weights(self) -> Weights:
        """All weights of the transformer under the names of `encode.checkpoint.weights`."""
        named = {
            name.replace(SEPARATOR, "."): table.detach().numpy()
            for name, table in self.embeddings.items()
        }
        for number, layer in enumerate(self.layers):
            named |= layer.weights(number)  # type: ignore[operator]
        return named

    def _frozen_states(self, texts: PackedTexts, bias: Tensor | None) -> Tensor:
        if not self.freeze_layers:
            return self.embed(texts)
        with torch.no_grad():
            rows = self.embed(texts, is_frozen=True)
            for layer in self.layers[: self.freeze_layers]:
                rows = layer(rows, texts, bias)
        return rows

    def embed(self, texts: PackedTexts, is_frozen: bool = False) -> Tensor:
        """The embeddings of tokens and positions, [tokens, dim]."""
        tables = self.embeddings
        rows = functional.embedding(texts.ids, tables["word_embeddings"], sparse=self.sparse_rows)
        rows = rows + functional.embedding(texts.position_ids, tables["position_embeddings"])
        if "token_type_embeddings" in tables:
            rows = rows + tables["token_type_embeddings"][0]
        scale, shift = tables["embedding_norm/weight"], tables["embedding_norm/bias"]
        rows = functional.layer_norm(rows, scale.shape, scale, shift, self.config.epsilon)
        if self.dropout and not is_frozen:
            rows = functional.dropout(rows, self.dropout, self.training)
        if "embedding_projection/weight" in tables:
            projection = tables["embedding_projection/weight"], tables["embedding_projection/bias"]
            rows = functional.linear(rows, *projection)
        return rows

    def attention_bias(self, texts: PackedTexts) -> Tensor | None:
        """The mask of padding, with MPNet's bias by distance: [texts or 1, heads or 1, …]."""
        if "relative_position_bias" not in self.embeddings:
            return texts.mask
        tokens = np.arange(texts.longest, dtype=np.int32)
        buckets = torch.from_numpy(distance_buckets(tokens - tokens[:, np.newaxis]))
        bias: Tensor = self.embeddings["relative_position_bias"][buckets].permute(2, 0, 1)[None]
        return bias if texts.mask is None else bias + texts.mask


def length_batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Numbers of texts in batches of similar length and at most `tokens` tokens, if padded."""
    batches: list[list[int]] = [[]]
    for number in np.argsort(lengths, kind="stable").tolist():
        if batches[-1] and (len(batches[-1]) + 1) * lengths[number] > tokens:
            batches.append([])
        batches[-1].append(number)
    return batches if lengths else []


def _parameter(array: Float32Array) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(np.array(array, np.float32)))


def _norm(epsilon: float, weight: Float32Array, bias: Float32Array) -> nn.LayerNorm:
    norm = nn.LayerNorm(len(weight), eps=epsilon, device="meta")
    norm.weight, norm.bias = _parameter(weight), _parameter(bias)
    return norm
